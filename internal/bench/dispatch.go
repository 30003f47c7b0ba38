package main

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func init() { register("dispatch_overhead", dispatchOverhead) }

// pairSpec and pair are a type as a user would write one: values and a mask, whose
// elementwise operations combine the values and the masks.
type pairSpec struct{ values, mask tenon.Spec }

type pair struct{ values, mask tensor.Tensor }

func newPair(values, mask tensor.Tensor) (*pair, error) {
	if mask.DType() != dtype.Bool || !values.Shape().CompatibleWith(mask.Shape()) {
		return nil, tenon.NewError(tenon.ErrInvalid, "newPair", fmt.Sprintf("the mask is %v%v, the values %v", mask.DType(), mask.Shape(), values.Shape()))
	}
	return &pair{values, mask}, nil
}

func (p *pair) Spec() tenon.Spec   { return &pairSpec{p.values.Spec(), p.mask.Spec()} }
func (p *pair) DType() dtype.DType { return p.values.DType() }
func (p *pair) Shape() shape.Shape { return p.values.Shape() }

// HandleOp answers for elementwise operations on two pairs.
func (p *pair) HandleOp(c *op.Call) ([]tenon.Value, error) {
	if !c.Op.IsBinaryElementwise() {
		return nil, op.NotHandled
	}
	x, okx := op.Arg[*pair](c, 0)
	y, oky := op.Arg[*pair](c, 1)
	if !okx || !oky {
		return nil, op.NotHandled
	}
	out, err := newPair(op.Apply(c, x.values, y.values), ops.LogicalAnd(x.mask, y.mask))
	if err != nil {
		return nil, err
	}
	return op.One(out)
}

func (s *pairSpec) TypeName() string { return "bench.Pair" }
func (s *pairSpec) Encode() tenon.Encoding {
	return tenon.Tuple{tenon.SpecOf{Spec: s.values}, tenon.SpecOf{Spec: s.mask}}
}
func (s *pairSpec) Components() []tenon.Field {
	return []tenon.Field{{Name: "values", Spec: s.values}, {Name: "mask", Spec: s.mask}}
}
func (s *pairSpec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	p, ok := v.(*pair)
	if !ok {
		return nil, tenon.NewError(tenon.ErrDType, "bench.Pair", "the value is not a Pair")
	}
	return []tenon.Value{p.values, p.mask}, nil
}
func (s *pairSpec) Assemble(parts []tenon.Value) (tenon.Value, error) {
	if err := tenon.CheckComponents(s, parts); err != nil {
		return nil, err
	}
	return newPair(parts[0].(tensor.Tensor), parts[1].(tensor.Tensor))
}

func dispatchOverhead(r *runner) {
	values, mask := tensor.Of([]float32{1, 2, 3, 4}), tensor.Of([]bool{true, false, true, true})
	p := tenon.Must(newPair(values, mask))
	again := func(name string, f func() tensor.Tensor) (median, least float64, ok bool) {
		return r.run(benchCase{name: name, inner: repeats}, func() any {
			var out tensor.Tensor
			for range repeats {
				out = f()
			}
			return out
		})
	}
	ext, extLeast, ok1 := again("extension_add", func() tensor.Tensor { return ops.Add(p, p) })
	add, addLeast, ok2 := again("plain_add", func() tensor.Tensor { return ops.Add(values, values) })
	and, andLeast, ok3 := again("plain_and", func() tensor.Tensor { return ops.LogicalAnd(mask, mask) })
	if ok1 && ok2 && ok3 {
		r.difference("beyond", ext-add-and, extLeast-addLeast-andLeast, "difference of medians; min of minima")
	}
	again("construct", func() tensor.Tensor { return tenon.Must(newPair(values, mask)) })
}
