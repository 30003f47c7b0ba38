package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/ops/internal/ngram"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var stringJoinOp = op.Register(&op.Op{
	Name: "strings.join", Statement: mapped, GoName: "ops.StringJoin", Doc: "Strings of several tensors joined element by element.", Nondifferentiable: true,
	Params: []op.Param{{Name: "values", Kind: op.Tensors, Takes: op.StringsOnly}, {Name: "separator", Kind: op.Attr, Type: op.StringType, Default: ""}}, Results: 1,
	Check: func(c *op.Call) error {
		if len(c.List(0)) == 0 {
			return c.Errorf(tenon.ErrInvalid, "there is no tensor to join")
		}
		return nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		list := c.List(0)
		s := list[0].(*tensor.Strings).Shape()
		if c.Out != nil {
			s = outShape(c, 0)
		}
		var room [4]str.Column
		columns := room[:0]
		for _, v := range list {
			x := v.(*tensor.Strings)
			if x.Len() != 1 && !x.Shape().Equal(s) {
				x = move.Apply(x, func(d *tensor.Dense) *tensor.Dense { return move.Stretched(d, s) }).(*tensor.Strings)
			}
			columns = append(columns, move.Column(x))
		}
		return c.Result(move.Tensor(str.Join(columns, s.Size(), c.Str(1)), s))
	},
})

// StringJoin joins the strings of the tensors in values, a slice, element by element with a
// separator between them. The tensors broadcast.
//
//	values: string[n…] each → string[n…]. No gradient.
func StringJoin(values any, separator string) tensor.Tensor {
	return op.Eval(stringJoinOp, values, separator)
}

var stringReduceJoinOp = op.Register(&op.Op{
	Name: "strings.reduce_join", Statement: op.Statement{Axes: op.Reduce, Monoid: op.Joins, Missing: op.Refuse}, GoName: "ops.StringReduceJoin", Doc: "The strings along some axes joined into one.", Nondifferentiable: true,
	Params: []op.Param{{Name: "x", Takes: op.StringsOnly}, {Name: "axis", Kind: op.Attr, Type: op.IntsType, Optional: true},
		{Name: "keepdims", Kind: op.Attr, Type: op.BoolType, Default: false}, {Name: "separator", Kind: op.Attr, Type: op.StringType, Default: ""}}, Results: 1,
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x, s := c.Strings(0), outShape(c, 0)
		axes, _, err := c.SortedAxes(x.Shape())
		if err != nil {
			return nil, err
		}
		order, _ := axesLast(axes, x.Shape().Rank())
		at := move.Copied(permuted(move.Positions(0, x.Shape()), order))
		n := 1
		for _, a := range axes {
			n *= x.Shape().Dim(a)
		}
		out := str.JoinAt(move.Column(x), tensor.Elems[int64](at), uniformSplits(s.Size(), n), c.Str(3))
		return c.Result(move.Tensor(out, s))
	},
})

// StringReduceJoin joins the strings along some axes, or along all if none is given, in row-major
// order and with a separator between them. Without strings it is the empty string.
//
//	x: string[a, n], axes -1 → string[a]. No gradient.
func StringReduceJoin(x any, separator string, axes ...int) tensor.Tensor {
	return op.Eval(stringReduceJoinOp, x, axesAttr(axes), false, separator)
}

// StringReduceJoinKeep is [StringReduceJoin] with the reduced axes kept with size 1.
func StringReduceJoinKeep(x any, separator string, axes ...int) tensor.Tensor {
	return op.Eval(stringReduceJoinOp, x, axesAttr(axes), true, separator)
}

// NGramOptions says how n-grams are formed. The zero value joins with a space and does not pad.
type NGramOptions = ngram.Options

var stringNGramsOp = op.Register(&op.Op{
	Name: "strings.ngrams", Statement: op.Statement{Axes: op.Window, Core: 1, Missing: op.Refuse}, GoName: "ops.StringNGrams", Doc: "The n-grams of each row along the last axis.", Nondifferentiable: true,
	Params: append([]op.Param{{Name: "x", Takes: op.StringsOnly, Rank: 1}}, ngram.Params()...), Results: 1,
	Shape: func(c *op.Call) (shape.Shape, error) {
		s := c.Tensor(0).Shape()
		if !s.HasRank() || s.Dim(-1) < 0 {
			return s, nil
		}
		// A single row shows how many n-grams each row has.
		n := s.Dim(-1)
		one, err := str.NGrams(make([]int64, 2), str.Fill(n, nil), []int64{0, int64(n)}, ngram.Read(c, 1))
		if err != nil {
			return s, c.Errorf(tenon.ErrInvalid, "%v", err)
		}
		return s.With(-1, one.Len()), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x, s := c.Strings(0), outShape(c, 0)
		rows := product(x.Shape().Dims()[:x.Shape().Rank()-1])
		splits := uniformSplits(rows, x.Shape().Dim(-1))
		grams, err := ngram.Of(c, 1, make([]int64, len(splits)), x, splits)
		if err != nil {
			return nil, err
		}
		return c.Result(grams.Reshaped(s))
	},
})

// StringNGrams returns the n-grams of each row along the last axis: sequences of adjacent strings,
// for each of the given widths in turn, joined into one string each.
//
//	x: string[a, n] → string[a, m]. No gradient.
func StringNGrams(x any, widths []int, o NGramOptions) tensor.Tensor {
	a := ngram.Args(o, widths)
	return op.Eval(stringNGramsOp, x, a[0], a[1], a[2], a[3], a[4], a[5])
}
