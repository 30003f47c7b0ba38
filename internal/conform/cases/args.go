package cases

import (
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/throw"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A misreading is a case that is written otherwise than its operation expects.
// It is a fault of the runner, never an answer.
type misreading struct{ msg string }

func (m *misreading) Error() string { return "the runner misread the case: " + m.msg }

func misread(format string, args ...any) {
	throw.Throw(&misreading{fmt.Sprintf(format, args...)})
}

// As returns x as a T, for values that a case holds.
func As[T any](x any) T {
	t, ok := x.(T)
	if !ok {
		misread("got the %T %v, want a %T", x, x, *new(T))
	}
	return t
}

// List returns the elements of a JSON list, or of a list or tuple value, as Ts.
func List[T any](x any) []T {
	if t, ok := x.(Tuple); ok {
		x = []any(t)
	}
	l := As[[]any](x)
	out := make([]T, len(l))
	for i, e := range l {
		if e != nil { // a null is the zero T
			out[i] = As[T](e)
		}
	}
	return out
}

// Arg returns argument i, which may be negative to count from the end.
func (c *Case) Arg(i int) any {
	if i < 0 {
		i += len(c.Args)
	}
	if i < 0 || i >= len(c.Args) {
		misread("there is no argument %d", i)
	}
	return c.Args[i]
}

// Value returns argument i as a Value.
func (c *Case) Value(i int) tenon.Value { return As[tenon.Value](c.Arg(i)) }

// Tensor returns argument i as a tensor.
func (c *Case) Tensor(i int) tensor.Tensor { return As[tensor.Tensor](c.Arg(i)) }

// Spec returns argument i as a Spec.
func (c *Case) Spec(i int) tenon.Spec { return As[tenon.Spec](c.Arg(i)) }

// Values returns the list argument i.
func (c *Case) Values(i int) []tenon.Value { return List[tenon.Value](c.Arg(i)) }

// Tensors returns the list argument i.
func (c *Case) Tensors(i int) []tensor.Tensor { return List[tensor.Tensor](c.Arg(i)) }

// Int returns argument i as an int.
func (c *Case) Int(i int) int { return As[int](c.Arg(i)) }

// Str returns argument i as a string.
func (c *Case) Str(i int) string { return As[string](c.Arg(i)) }

// Has reports whether an attribute is there and not null.
func (c *Case) Has(name string) bool { return c.Attrs[name] != nil }

// AttrInt returns an attribute, or def where it is absent or null.
func (c *Case) AttrInt(name string, def int) int { return attr(c, name, def) }

// AttrBool returns an attribute, or def where it is absent or null.
func (c *Case) AttrBool(name string, def bool) bool { return attr(c, name, def) }

// AttrStr returns an attribute, or def where it is absent or null.
func (c *Case) AttrStr(name, def string) string { return attr(c, name, def) }

func attr[T any](c *Case, name string, def T) T {
	if !c.Has(name) {
		return def
	}
	return As[T](c.Attrs[name])
}

// AttrInts returns an attribute that is an integer or a list of them, and nil
// where it is absent or null.
func (c *Case) AttrInts(name string) []int {
	if !c.Has(name) {
		return nil
	}
	if n, ok := c.Attrs[name].(int); ok {
		return []int{n}
	}
	return List[int](c.Attrs[name])
}

// AttrStrs returns an attribute that is a string or a list of them, and nil
// where it is absent or null.
func (c *Case) AttrStrs(name string) []string {
	if !c.Has(name) {
		return nil
	}
	if s, ok := c.Attrs[name].(string); ok {
		return []string{s}
	}
	return List[string](c.Attrs[name])
}

// AttrFloat returns an attribute, or def where it is absent or null.
func (c *Case) AttrFloat(name string, def float64) float64 {
	if !c.Has(name) {
		return def
	}
	return Float(c.Attrs[name])
}

// Float returns a number, or one of the strings that stand for numbers that JSON
// does not have, as a float64.
func Float(x any) float64 {
	switch x := x.(type) {
	case int:
		return float64(x)
	case float64:
		return x
	case string:
		if f, ok := special(x); ok {
			return f
		}
	}
	misread("got the %T %v, want a number", x, x)
	return 0
}

func special(s string) (float64, bool) {
	switch s {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	return 0, false
}

// AttrDType returns the element type that an attribute names, or def where it is
// absent or null. A name that the library does not know is its error.
func (c *Case) AttrDType(name string, def dtype.DType) dtype.DType {
	if !c.Has(name) {
		return def
	}
	return DType(c.Attrs[name])
}

// DType returns the element type with a name.
func DType(x any) dtype.DType {
	d, err := dtype.Parse(As[string](x))
	tenon.Throw(err)
	return d
}

// Shape returns the shape that a list of sizes and nulls describes, or null for
// an unknown rank.
func Shape(x any) shape.Shape {
	if x == nil {
		return shape.UnknownRank
	}
	dims := As[[]any](Plain(x))
	out := make([]int, len(dims))
	for i, d := range dims {
		out[i] = shape.Unknown
		if d != nil {
			out[i] = As[int](d)
		}
	}
	s, err := shape.From(out)
	tenon.Throw(err)
	return s
}
