package op

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// Run runs the kernel of a call whose tensor arguments are all concrete and
// promoted.
func (c *Call) Run() ([]tensor.Tensor, error) {
	if c.plan == nil { // it has not been looked up
		p, hash := c.Op.recall(c.Args)
		if p != nil {
			return c.finish(p.out)
		}
		c.plan = c.Op.learns(c.Args, hash)
	}
	out, err := c.Infer()
	if err != nil {
		return nil, c.Fail(err)
	}
	for _, s := range out {
		if t, ok := s.(*tensor.Spec); ok {
			if err := c.Fits(t.DType(), t.Shape()); err != nil {
				return nil, err
			}
		}
	}
	c.remember(out)
	return c.finish(out)
}

// finish runs the kernel of a call whose results have the Specs out.
func (c *Call) finish(out []tenon.Spec) ([]tensor.Tensor, error) {
	k := c
	if !c.Op.Strided {
		k = c.contiguous()
	}
	k.Out = out
	res, err := k.kernel()
	if err != nil {
		return nil, c.Fail(err)
	}
	return res, nil
}

// contiguous returns the call with row-major arguments.
func (c *Call) contiguous() *Call {
	gaps := func(v any) bool {
		d, ok := v.(*tensor.Dense)
		return ok && d != nil && !d.IsContiguous()
	}
	out := c
	for _, i := range c.Op.tensors {
		switch v := c.Args[i].(type) {
		case *tensor.Dense:
			if gaps(v) {
				out = out.WithArg(i, tensor.Contiguous(v))
			}
		case []tenon.Value:
			if slices.ContainsFunc(v, func(x tenon.Value) bool { return gaps(x) }) {
				l := slices.Clone(v)
				for k, x := range l {
					if d, ok := x.(*tensor.Dense); ok {
						l[k] = tensor.Contiguous(d)
					}
				}
				out = out.WithArg(i, l)
			}
		}
	}
	return out
}
