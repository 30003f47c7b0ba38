package rows

import (
	"strings"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/reduce"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/internal/reducing"
	"github.com/tenonml/tenon/tensor"
)

// A rowKernel says how a reduction runs on rows of some element types; others run row by row
// through the kernel for axes. Reductions to positions have one for all types, since a row may be
// empty.
type rowKernel struct {
	of    func(k *kernels) rowLoop
	loops loops // for some rows at a time
}

// rowKernels holds the kernels of reductions that have one, by their name in this
// package.
var rowKernels = map[string]rowKernel{
	"sum":           {func(k *kernels) rowLoop { return k.sum }, sumLoops},
	"prod":          {func(k *kernels) rowLoop { return k.prod }, prodLoops},
	"mean":          {func(k *kernels) rowLoop { return k.mean }, meanLoops},
	"var":           {func(k *kernels) rowLoop { return k.variance }, nil},
	"max":           {func(k *kernels) rowLoop { return k.max }, maxLoops},
	"min":           {func(k *kernels) rowLoop { return k.min }, minLoops},
	"any":           {func(k *kernels) rowLoop { return k.any }, anyLoops},
	"all":           {func(k *kernels) rowLoop { return k.all }, allLoops},
	"count_nonzero": {func(k *kernels) rowLoop { return k.countNonzero }, nil},
	"argmax":        {func(k *kernels) rowLoop { return k.argMax }, nil},
	"argmin":        {func(k *kernels) rowLoop { return k.argMin }, nil},
	"logsumexp":     {func(k *kernels) rowLoop { return k.logSumExp }, logSumExpLoops},
}

// formName returns the name of the row form of an operation along axes, without "ragged.".
func formName(o *op.Op) string {
	name := strings.TrimPrefix(strings.TrimPrefix(o.Name, "strings."), "reduce_")
	if name == "variance" {
		return "var"
	}
	return name
}

// Every reduction over axes has a row form, which is derived from its
// description.
func init() {
	for _, r := range reducing.All {
		ofRows(r)
	}
}

// reductions are the operations by their names in this package.
var reductions = map[string]*op.Op{}

// ofRows registers the row form of a reduction over axes.
func ofRows(r *reducing.Reduction) {
	k, special := rowKernels[formName(r.Op)]
	if !special {
		k.of = func(*kernels) rowLoop { return nil }
	}
	has := func(d dtype.DType) bool {
		return k.of(&byType[d]) != nil || r.Op.Places == 0 && r.Kernel(noAttributes, d) != nil
	}
	says := r.Op.Statement
	says.By, says.Control = op.ByRows, two
	o := &op.Op{
		Name: "ragged." + formName(r.Op), Statement: says, Doc: r.Op.Doc + ", for each row", Nondifferentiable: r.Gradient == nil,
		Params:  append(valuesOf(reducing.Elements(has)), r.Op.Params[3:]...), // after axis and keepdims
		Results: 1, Rows: k.loops.of,
		Elem: func(_ *op.Call, d dtype.DType) dtype.DType { return r.Result(d) },
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			x := c.Dense(0)
			splits := rowSplits(c, 1, lead(x))
			out := tensor.Uninit(r.Result(x.DType()), x.Shape().With(0, len(splits)-1))
			switch run := k.of(&byType[x.DType()]); {
			case out.Len() == 0:
			case run != nil:
				ddof, _ := c.Attr("ddof").(int)
				run(out, x, splits, innerSize(x), ddof)
			default:
				rowByRow(r.Kernel(c, x.DType()), out, x, splits)
			}
			return results(out)
		},
	}
	if r.Gradient != nil {
		o.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
			return []tensor.Tensor{r.Gradient(c, rowGroups{c}, c.Tensor(0), out[0], ct[0]), nil}
		}
	}
	reductions[formName(r.Op)] = op.Register(o)
}

// noAttributes is a call without attributes, to find out which element types are supported.
var noAttributes = &op.Call{Op: &op.Op{}}

// rowByRow reduces each row by itself.
func rowByRow(f reduce.Func, out, x *tensor.Dense, splits []int64) {
	inner := innerSize(x)
	size, to := inner*x.DType().Size(), inner*out.DType().Size()
	par.For(len(splits)-1, 1<<10, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			row, n := x.Raw(), int(splits[r+1]-splits[r])
			if n > 0 { // the start of an empty row may be past the end of memory
				row = unsafe.Add(row, int(splits[r])*size)
			}
			f(unsafe.Add(out.Raw(), r*to), row, 1, n, inner)
		}
	})
}

// rowGroups are the values that a reduction of rows combines.
type rowGroups struct{ c *op.Call }

func (g rowGroups) Spread(y tensor.Tensor) tensor.Tensor { return spread(g.c, y) }

func (g rowGroups) Count() any {
	d := g.c.Tensor(0).DType()
	if d.IsInteger() {
		d = dtype.Float64
	}
	return perRow(g.c, ops.Cast(Lengths(g.c.Value(1)), d))
}

func (g rowGroups) Reduce(by *op.Op, x tensor.Tensor) tensor.Tensor {
	return op.Eval(reductions[formName(by)], x, g.c.Value(1))
}

// Others works from both sides, so that zeros need no special case.
func (g rowGroups) Others() tensor.Tensor {
	x, splits := g.c.Value(0), g.c.Value(1)
	return ops.Mul(CumProd(x, splits, CumOptions{Exclusive: true}), CumProd(x, splits, CumOptions{Exclusive: true, Reverse: true}))
}

// spread gives each value the entry of its row.
func spread(c *op.Call, perRow tensor.Tensor) tensor.Tensor {
	return Repeat(perRow, c.Value(1), c.Tensor(0).Shape().Dim(0))
}

// perRow appends axes of size 1, for the axes of an item, to a vector with an entry for each row.
func perRow(c *op.Call, v tensor.Tensor) tensor.Tensor {
	rank := c.Tensor(0).Shape().Rank()
	if rank < 0 {
		tenon.Throw(c.Errorf(tenon.ErrUnsupported, "the gradient needs to know the rank of the values"))
	}
	for range rank - 1 {
		v = ops.ExpandDims(v, -1)
	}
	return v
}

func conj(x tensor.Tensor) tensor.Tensor {
	if !x.DType().IsComplex() {
		return x
	}
	return ops.Conj(x)
}

// Sum returns the sum of each row; booleans are counted in int64. Integers wrap.
//
//	values: [nvals, a], splits → [rows, a]. Gradient: each value gets its row's cotangent.
func Sum(values, splits any) tensor.Tensor { return op.Eval(reductions["sum"], values, splits) }

// Prod returns the product of each row. Integers wrap.
//
//	values: [nvals, a], splits → [rows, a], numbers.
//	Gradient: each value gets its row's cotangent times the product of the other values.
func Prod(values, splits any) tensor.Tensor { return op.Eval(reductions["prod"], values, splits) }

// Mean returns the mean of each row, in float64 for integers.
//
//	values: [nvals, a], splits → [rows, a], real numbers.
//	Gradient: each value gets its row's cotangent, divided by the row's length.
func Mean(values, splits any) tensor.Tensor { return op.Eval(reductions["mean"], values, splits) }

// Var returns the variance of each row, the mean squared distance from its mean
// with the divisor length-ddof, in float64 for integers. It makes two passes.
//
//	values: [nvals, a], splits → [rows, a], real numbers.
//	Gradient: 2(x-mean)/(length-ddof) times the row's cotangent.
func Var(values, splits any, ddof int) tensor.Tensor {
	return op.Eval(reductions["var"], values, splits, ddof)
}

// Std returns the square root of [Var].
//
//	values: [nvals, a], splits → [rows, a], numbers.
//	Gradient: (x-mean)/((length-ddof)·y) times the row's cotangent, 0 where y is 0.
func Std(values, splits any, ddof int) tensor.Tensor {
	return op.Eval(reductions["std"], values, splits, ddof)
}

// Max returns the largest value of each row.
//
//	values: [nvals, a], splits → [rows, a], real numbers.
//	Gradient: the largest values share their row's cotangent equally.
func Max(values, splits any) tensor.Tensor { return op.Eval(reductions["max"], values, splits) }

// Min returns the smallest value of each row.
//
//	values: [nvals, a], splits → [rows, a], real numbers.
//	Gradient: the smallest values share their row's cotangent equally.
func Min(values, splits any) tensor.Tensor { return op.Eval(reductions["min"], values, splits) }

// Any reports whether any value of each row is true.
//
//	values: bool[nvals, a], splits → bool[rows, a]. No gradient.
func Any(values, splits any) tensor.Tensor { return op.Eval(reductions["any"], values, splits) }

// All reports whether all values of each row are true.
//
//	values: bool[nvals, a], splits → bool[rows, a]. No gradient.
func All(values, splits any) tensor.Tensor { return op.Eval(reductions["all"], values, splits) }

// CountNonzero returns the number of nonzero values of each row. NaN counts as nonzero.
//
//	values: [nvals, a], splits → int64[rows, a], numbers and booleans. No gradient.
func CountNonzero(values, splits any) tensor.Tensor {
	return op.Eval(reductions["count_nonzero"], values, splits)
}

// ArgMax returns the position within the row of each row's largest value: the first of equal ones,
// the first NaN if there is one, or -1 for an empty row.
//
//	values: [nvals, a], splits → int64[rows, a], real numbers. No gradient.
func ArgMax(values, splits any) tensor.Tensor { return op.Eval(reductions["argmax"], values, splits) }

// ArgMin returns the position within the row of each row's smallest value, as [ArgMax] does for the
// largest.
//
//	values: [nvals, a], splits → int64[rows, a], real numbers. No gradient.
func ArgMin(values, splits any) tensor.Tensor { return op.Eval(reductions["argmin"], values, splits) }

// LogSumExp returns log Σ exp(x) of each row without overflow.
//
//	values: [nvals, a], splits → [rows, a], floating-point numbers.
//	Gradient: the softmax of the row times its cotangent.
func LogSumExp(values, splits any) tensor.Tensor {
	return op.Eval(reductions["logsumexp"], values, splits)
}
