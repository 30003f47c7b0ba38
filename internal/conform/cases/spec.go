package cases

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	HandleKind("tensor_spec", Kind{
		Decode:  func(_ *Case, o Object) (any, error) { return tensorSpec(o), nil },
		Compare: func(m *Matcher, want Object, got any) error { return MatchSpec(tensorSpec(want), got) },
	})
}

func tensorSpec(o Object) *tensor.Spec {
	s := tensor.NewSpec(DType(o["dtype"]), Shape(o["shape"]))
	if n, ok := o["name"].(string); ok {
		s = s.Named(n)
	}
	return s
}

// MatchSpec compares a Spec with an answer.
func MatchSpec(want tenon.Spec, got any) error {
	s, ok := got.(tenon.Spec)
	if !ok {
		return fmt.Errorf("got a %T, want %s", got, tenon.String(want))
	}
	if !tenon.Equal(want, s) {
		return fmt.Errorf("got %s, want %s", tenon.String(s), tenon.String(want))
	}
	return nil
}
