package op

import (
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// castOp is the operation that promotion inserts; the catalogue sets it.
var castOp *Op

// SetCast sets the operation that converts element types. Its parameters are x
// and dtype.
func SetCast(o *Op) { castOp = o }

// promoted casts the tensors of each group to a common element type.
func (c *Call) promoted() (*Call, error) {
	out := c
	for g := uint8(1); g <= c.Op.groups; g++ {
		common, differ := dtype.None, false
		var err error
		for _, i := range c.Op.tensors {
			if c.Op.Params[i].Group != g {
				continue
			}
			each(c.Args[i], func(t tensor.Tensor) {
				d := t.DType()
				switch {
				case err != nil || d == common:
				case common == dtype.None:
					common = d
				default:
					differ = true
					common, err = dtype.Promote(common, d)
				}
			})
		}
		if err != nil {
			return nil, c.Errorf(tenon.ErrDType, "%v", strings.TrimPrefix(err.Error(), "dtype: "))
		}
		if !differ {
			continue
		}
		out = &Call{Op: c.Op, Args: slices.Clone(out.Args), ctx: c.ctx}
		for _, i := range c.Op.tensors {
			if c.Op.Params[i].Group != g {
				continue
			}
			if out.Args[i], err = castArg(out.Args[i], common); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func each(arg any, f func(tensor.Tensor)) {
	switch v := arg.(type) {
	case tensor.Tensor:
		f(v)
	case []tenon.Value:
		for _, x := range v {
			if t, ok := x.(tensor.Tensor); ok {
				f(t)
			}
		}
	}
}

func castArg(arg any, d dtype.DType) (any, error) {
	cast := func(t tenon.Value) (tenon.Value, error) {
		if x, ok := t.(tensor.Tensor); !ok || x.DType() == d {
			return t, nil
		}
		out, err := Do(castOp, t, d)
		if err != nil {
			return nil, err
		}
		return out[0], nil
	}
	switch v := arg.(type) {
	case tenon.Value:
		return cast(v)
	case []tenon.Value:
		l := slices.Clone(v)
		for i, x := range l {
			y, err := cast(x)
			if err != nil {
				return nil, err
			}
			l[i] = y
		}
		return l, nil
	}
	return arg, nil
}
