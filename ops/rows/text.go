package rows

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/ops/internal/ngram"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var joinOp = op.Register(&op.Op{
	Name: "ragged.reduce_join", Statement: op.Statement{Axes: op.Reduce, By: op.ByRows, Monoid: op.Joins, Control: two, Missing: op.Refuse}, Doc: "The strings of each row joined into one.", Nondifferentiable: true,
	Params: append(valuesOf(op.StringsOnly), op.Param{Name: "separator", Kind: op.Attr, Type: op.StringType, Default: ""}), Results: 1,
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Strings(0)
		splits := rowSplits(c, 1, lead(x))
		s, inner := outer(len(splits)-1, x.Shape().Tail(1)), innerSize(x)
		if inner == 1 {
			return results(move.Tensor(str.JoinRows(move.Column(x), splits, c.Str(2)), s))
		}
		order, at := columns(splits, int64(inner)) // the elements of an item are joined separately
		return results(move.Tensor(str.JoinAt(move.Column(x), order, at, c.Str(2)), s))
	},
})

// ReduceJoin returns the strings of each row joined into one, with a separator
// between them. An empty row gives the empty string.
//
//	values: string[nvals, a], splits → string[rows, a]. No gradient.
func ReduceJoin(values, splits any, separator string) tensor.Tensor {
	return op.Eval(joinOp, values, splits, separator)
}

var ngramsOp = op.Register(&op.Op{
	Name: "ragged.ngrams", Statement: op.Statement{Axes: op.Window, By: op.ByRows, Control: two, Missing: op.Refuse}, Doc: "The n-grams of each row.", Nondifferentiable: true,
	Params: append(valuesOf(op.StringsOnly), ngram.Params()...), Results: 2,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		return specs(spec(dtype.String, shape.Of(shape.Unknown)), ends(c, 1, vectorRows(c)))
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Strings(0)
		splits := rowSplits(c, 1, lead(x))
		to, ends := fresh(len(splits))
		grams := tenon.Must(ngram.Of(c, 2, ends, x, splits))
		return results(grams, splitsIn(c, c.Tensor(1).DType(), to))
	},
})

// NGrams returns the n-grams of each row, sequences of adjacent strings that are joined into one
// string each, and their row splits; see ops.NGramOptions.
//
//	values: string[nvals], splits → string[m], int[rows+1]. No gradient.
func NGrams(values, splits any, widths []int, o ops.NGramOptions) (grams, outSplits tensor.Tensor) {
	a := ngram.Args(o, widths)
	out := op.EvalN(ngramsOp, values, splits, a[0], a[1], a[2], a[3], a[4], a[5])
	return out[0], out[1]
}
