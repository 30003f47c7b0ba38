package function

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

// taken converts arguments of any type to what the function takes: Go data becomes a tensor where a
// tensor is expected, and Specs, which stand for Values, are returned as they are.
func (c *core) taken(args []any) ([]any, error) {
	if len(args) != c.typ.NumIn() {
		return nil, tenon.NewError(tenon.ErrInvalid, c.name, fmt.Sprintf("takes %d arguments, got %d", c.typ.NumIn(), len(args)))
	}
	for i, a := range args {
		want := c.typ.In(i)
		if _, ok := a.(tenon.Spec); ok || a == nil || reflect.TypeOf(a).AssignableTo(want) {
			continue
		}
		if _, ok := a.(tenon.Value); ok && c.opts.Signature != nil {
			continue // the signature decides what belongs to it or is cast
		}
		t, err := tensor.Convert(a)
		if err != nil || want != tensorType {
			return nil, c.misfit(i, a)
		}
		args = slices.Clone(args)
		args[i] = t
	}
	return args, nil
}

// misfit returns the error for an argument whose type differs from that of the
// parameter.
func (c *core) misfit(i int, a any) error {
	return &tenon.Error{Kind: tenon.ErrDType, Op: c.name, Where: fmt.Sprintf("argument %d", i), Line: source.Line(),
		Msg: fmt.Sprintf("a %T cannot be used as %v, which the function takes", a, c.typ.In(i))}
}

// cast returns arguments that belong to the declared signature, using casts declared by the types
// of the arguments or of the signature. It returns false if nothing has to be cast, or something
// cannot be.
func (c *core) cast(s *signature, args []any) ([]any, bool) {
	d, err := signatureOf(c.opts.Signature)
	if err != nil || len(d.leaves) != len(s.leaves) {
		return nil, false
	}
	leaves, err := nest.Flatten(args, nest.Options{})
	if err != nil || len(leaves) != len(d.leaves) {
		return nil, false
	}
	changed := false
	for i, want := range d.leaves {
		v, ok := leaves[i].(tenon.Value)
		if !ok || want.spec == nil || tenon.Belongs(v, want.spec) {
			continue
		}
		out, err := tenon.Cast(v, want.spec)
		if err != nil {
			return nil, false
		}
		leaves[i], changed = out, true
	}
	if !changed {
		return nil, false
	}
	out, err := nest.Pack(args, leaves, nest.Options{})
	return out, err == nil
}
