package tenon_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

func TestUnpack(t *testing.T) {
	e := tenon.Tuple{tenon.DType{DType: dtype.Int32}, tenon.Shape{Shape: shape.Of(2, 3)}, tenon.List{tenon.Str("x")}}
	var d tenon.DType
	var s tenon.Shape
	var rest tenon.Encoding
	if err := tenon.Unpack(e, &d, &s, &rest); err != nil {
		t.Fatal(err)
	}
	if l, ok := rest.(tenon.List); d.DType != dtype.Int32 || !s.Shape.Equal(shape.Of(2, 3)) || !ok || l[0] != tenon.Str("x") {
		t.Errorf("got %v, %v and %v", d, s, rest)
	}
	var name tenon.Str
	for what, c := range map[string]struct {
		e       tenon.Encoding
		targets []any
		want    string
	}{
		"too few":      {e, []any{&d, &s}, "has 3 elements, not 2"},
		"other kind":   {e, []any{&d, &name, &rest}, "element 1 of the encoding is a shape, not a str"},
		"nil":          {tenon.Tuple{nil}, []any{&d}, "element 0"},
		"not a tuple":  {tenon.Int(3), []any{&d}, "not a tuple"},
		"any encoding": {tenon.Tuple{nil}, []any{&rest}, "element 0"},
	} {
		if err := tenon.Unpack(c.e, c.targets...); !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", what, err, c.want)
		}
	}
}
