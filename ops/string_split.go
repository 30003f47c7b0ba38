package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// splitting registers an operation that splits strings into pieces.
func splitting(name, doc string, params []op.Param, kernel func(c *op.Call, splits []int64, x str.Column) str.Column) *op.Op {
	o := op.Register(&op.Op{
		Name: name, Statement: opaque("the number of pieces depends on the strings"), GoName: stringNames[name], Doc: doc, Nondifferentiable: true,
		Params: append(unaryOf(op.StringsOnly), params...), Results: 2,
		Infer: func(c *op.Call) ([]tenon.Spec, error) {
			return []tenon.Spec{tensor.NewSpec(dtype.String, shape.Of(shape.Unknown)), splitsSpec(c)}, nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			x := c.Strings(0)
			splits, ends := tensor.Make[int64](shape.Of(x.Len() + 1))
			pieces := kernel(c, ends, move.Column(x))
			return []tensor.Tensor{move.Tensor(pieces, shape.Of(pieces.Len())), splits}, nil
		},
	})
	return o
}

var stringSplitOp = splitting("strings.split", "The pieces of each string between separators.",
	[]op.Param{{Name: "separator", Kind: op.Attr, Type: op.StringType, Default: ""}, {Name: "max_split", Kind: op.Attr, Type: op.IntType, Default: -1}},
	func(c *op.Call, splits []int64, x str.Column) str.Column {
		return str.Split(splits, x, c.Str(1), c.Int(2))
	})

// SplitOptions says how [StringSplit] splits. The zero value splits at white
// space.
type SplitOptions struct {
	Separator string // "": runs of ASCII white space, which are also dropped at both ends
	MaxSplit  int    // maximum number of splits, the last piece being the rest; 0: unlimited
}

// StringSplit returns the pieces of all strings one after the other, and the row
// splits that assign them to their strings in row-major order.
//
//	x: string[n…] → string[m], int64[size+1]. No gradient.
func StringSplit(x any, o SplitOptions) (pieces, splits tensor.Tensor) {
	limit := o.MaxSplit
	if limit <= 0 {
		limit = -1
	}
	out := op.EvalN(stringSplitOp, x, o.Separator, limit)
	return out[0], out[1]
}

var stringBytesOp = splitting("strings.bytes_split", "The bytes of each string.", nil,
	func(_ *op.Call, splits []int64, x str.Column) str.Column { return str.SplitBytes(splits, x) })

// StringBytes returns the bytes of all strings one after the other, each as a string, and the row
// splits that assign them to their strings in row-major order.
//
//	x: string[n…] → string[m], int64[size+1]. No gradient.
func StringBytes(x any) (bytes, splits tensor.Tensor) {
	out := op.EvalN(stringBytesOp, x)
	return out[0], out[1]
}

// uniformSplits returns the row splits of n rows of equal length.
func uniformSplits(n, length int) []int64 {
	splits := make([]int64, n+1)
	segment.UniformSplits(splits, int64(length))
	return splits
}

// checkedSplits checks and returns argument i of a kernel's call, row splits.
func checkedSplits(c *op.Call, i, nvals int) ([]int64, error) {
	splits := wide(c.Dense(i))
	if err := segment.CheckSplits(splits, int64(nvals)); err != nil {
		return nil, rowError(c, i, err)
	}
	return splits, nil
}

// inferredShape returns the shape of a result with one element for each of argument 0's, unless
// Infer found a different one.
func inferredShape(c *op.Call) shape.Shape {
	if c.Out == nil {
		return c.Tensor(0).Shape()
	}
	return outShape(c, 0)
}

var stringSubstrOp = op.Register(&op.Op{
	Name: "strings.substr", Statement: mapped, GoName: "ops.StringSubstr", Doc: "A part of each string.", Nondifferentiable: true,
	Params: []op.Param{{Name: "x", Takes: op.StringsOnly}, {Name: "position", Takes: op.Indices}, {Name: "length", Takes: op.Indices}, unitParam}, Results: 1,
	Check: func(c *op.Call) error { _, err := unitOf(c, 3); return err },
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		s := inferredShape(c)
		u, _ := unitOf(c, 3)
		var bounds [2][]int64
		for i := range bounds {
			d := c.Dense(i + 1)
			if d.Len() != 1 {
				d = move.RowMajor(move.Stretched(d, s))
			}
			bounds[i] = wide(d)
		}
		x := c.Strings(0)
		if !x.Shape().Equal(s) {
			x = move.Apply(x, func(d *tensor.Dense) *tensor.Dense { return move.Stretched(d, s) }).(*tensor.Strings)
		}
		out, err := str.Substr(move.Column(x), bounds[0], bounds[1], u)
		if err != nil {
			return nil, stringError(c, 0, err)
		}
		return c.Result(move.Tensor(out, s))
	},
})

// StringSubstr returns the part of each string that begins at a position and has at most the given
// length. A negative position counts from the end, and a negative length means the rest of the
// string. The three operands broadcast. A position beyond either end of its string is an error.
//
//	x: string[n…], position, length: int[n…] → string[n…]. No gradient.
func StringSubstr(x, position, length any, u Unit) tensor.Tensor {
	return op.Eval(stringSubstrOp, x, position, length, string(u))
}
