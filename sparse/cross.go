package sparse

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// Cross returns, for each row, all combinations of one value from each input, as strings joined by
// a separator ("_X_" if it is empty); integers are written in decimal. Inputs are sparse or dense
// matrices of strings or integers.
//
//	inputs: [n, mₖ] each → sparse string[n, most combinations]
func Cross(inputs []tensor.Tensor, separator string) (t *Tensor, err error) {
	defer tenon.Catch(&err)
	return FromRagged(tenon.Must(ragged.FromRowSplits(crossed(inputs, separator))))
}

// CrossHashed is [Cross] with a number below buckets instead of each string. The
// numbers differ from those of TensorFlow, which hashes the parts one by one.
func CrossHashed(inputs []tensor.Tensor, buckets int, o ops.HashOptions) (t *Tensor, err error) {
	defer tenon.Catch(&err)
	t = tenon.Must(Cross(inputs, ""))
	return t.withValues(ops.StringHash(t.values, buckets, o)), nil
}

func crossed(inputs []tensor.Tensor, separator string) (values, splits any) {
	if len(inputs) == 0 {
		tenon.Throw(bad("Cross", tenon.ErrInvalid, "", "there are no inputs"))
	}
	vs, ss := make([]tensor.Tensor, len(inputs)), make([]tensor.Tensor, len(inputs))
	for i, x := range inputs {
		switch x := x.(type) {
		case *Tensor:
			s := x.matrix("Cross").sorted()
			vs[i], ss[i] = s.values, rows.FromRowIDs(s.column(0), s.size(0))
		default:
			if x.Shape().Rank() != 2 {
				tenon.Throw(bad("Cross", tenon.ErrShape, "", "input %d has the shape %v, want a matrix", i, x.Shape()))
			}
			n := ops.Shape(x)
			vs[i], ss[i] = ops.Reshape(x, []int{-1}), rows.Uniform(ops.Index(n, 1), ops.Index(n, 0))
		}
	}
	return rows.Cross(vs, ss, separator)
}
