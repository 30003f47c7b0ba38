package onnx

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func trilu(c *call) []any {
	k := int(c.scalar(1, 0))
	x := c.x(0)
	band := int(math.MaxInt32)
	k = min(max(k, -band), band)
	if c.int("upper", 1) != 0 {
		return one(ops.Triu(x, k))
	}
	return one(ops.Tril(x, k))
}

func eyeLike(c *call) []any {
	x := c.x(0)
	d := dims(x)
	if len(d) != 2 {
		refuse(tenon.ErrShape, "want a matrix, got %s", tenon.String(x.Spec()))
	}
	k := c.int("k", 0)
	i := ops.Reshape(ops.Range(int64(0), int64(d[0]), int64(1)), []int{-1, 1})
	j := ops.Range(int64(0), int64(d[1]), int64(1))
	return one(ops.Cast(ops.Equal(ops.Add(i, int64(k)), j), c.dtype("dtype", x.DType())))
}

func ranges(c *call) []any {
	scalar := func(i int) T { return ops.Reshape(c.x(i), []int{}) }
	return one(ops.Range(scalar(0), scalar(1), scalar(2)))
}

func constant(c *call) []any {
	for name, a := range c.n.attrs {
		a = c.attr(name)
		if a == nil {
			refuse(tenon.ErrInvalid, "the attribute %s is missing", name)
		}
		switch name {
		case "value":
			return one(tensorOf(a.t))
		case "sparse_value":
			t, err := a.sparse.value(nil)
			if err != nil {
				refuse(tenon.ErrInvalid, "%v", err)
			}
			return one(t)
		case "value_int":
			return one(tensor.Scalar(a.i))
		case "value_ints":
			return one(tensor.Of(a.ints, len(a.ints)))
		case "value_float":
			return one(tensor.Scalar(a.f))
		case "value_floats":
			return one(tensor.Of(a.floats, len(a.floats)))
		case "value_string":
			return one(tensor.Scalar(string(a.s)))
		case "value_strings":
			return one(tensor.Of(textsOf(a), len(a.texts)))
		}
	}
	refuse(tenon.ErrInvalid, "it has no value")
	return nil
}

func textsOf(a *protoAttr) []string {
	out := make([]string, len(a.texts))
	for i, s := range a.texts {
		out[i] = string(s)
	}
	return out
}

func tensorOf(p *protoTensor) T {
	if p == nil {
		refuse(tenon.ErrInvalid, "a tensor is missing")
	}
	t, err := p.value(nil)
	if err != nil {
		refuse(tenon.ErrInvalid, "%v", err)
	}
	return t
}

func constantOfShape(c *call) []any {
	value := T(tensor.Scalar(float32(0)))
	if a := c.attr("value"); a != nil {
		value = ops.Reshape(tensorOf(a.t), []int{})
	}
	if c.isKnown(0) {
		return one(ops.Fill(c.known(0), value))
	}
	return one(ops.Fill(c.x(0), value))
}

// constInts returns the elements of a vector if they are known.
func constInts(t T) ([]int, bool) {
	c := &call{in: []any{t}, given: []bool{true}, n: &protoNode{inputs: []string{"shape"}}}
	if !c.isKnown(0) {
		return nil, false
	}
	return c.known(0), true
}
