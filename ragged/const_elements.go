package ragged

import (
	"reflect"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// elements are the scalars of a literal, in a slice of their kind as long as they
// are all of one, or all of them numbers.
type elements struct {
	ints   []int64
	floats []float64
	strs   []string
	bools  []bool
	others []any       // all, once there is one of a rarer type
	none   dtype.DType // the element type of an empty typed slice
}

func (e *elements) kind() string {
	switch {
	case e.others != nil:
		return "typed number"
	case e.ints != nil:
		return "number"
	case e.floats != nil:
		return "number"
	case e.strs != nil:
		return "string"
	case e.bools != nil:
		return "truth value"
	}
	return ""
}

// only reports whether own, one of the lists of e, is or may become the one that holds all
// elements: at most one list is in use.
func only[T any](e *elements, own []T) bool { return own != nil || e.kind() == "" }

func (e *elements) mixed(c *literal, x any, kind string) error {
	return c.fail(tenon.ErrInvalid, "the %s %v stands among %ss", kind, x, e.kind())
}

func (e *elements) addInt(c *literal, x int) error {
	switch {
	case e.others != nil:
		e.others = append(e.others, x)
	case e.floats != nil:
		e.floats = append(e.floats, float64(x))
	case e.strs != nil || e.bools != nil:
		return e.mixed(c, x, "number")
	default:
		e.ints = append(roomy(e.ints), int64(x))
	}
	return nil
}

// roomy returns x with room for more: twice as much where it is full, for append
// takes only a quarter more of what is large and copies all of it each time.
func roomy[T any](x []T) []T {
	if len(x) == cap(x) {
		return slices.Grow(x, len(x)+4)
	}
	return x
}

func (e *elements) addFloat(c *literal, x float64) error {
	switch {
	case e.others != nil:
		e.others = append(e.others, x)
		return nil
	case e.strs != nil || e.bools != nil:
		return e.mixed(c, x, "number")
	case e.ints != nil:
		e.floats = make([]float64, len(e.ints), 2*len(e.ints)+1)
		for i, n := range e.ints {
			e.floats[i] = float64(n)
		}
		e.ints = nil
	}
	e.floats = append(roomy(e.floats), x)
	return nil
}

// addInts adds integers one behind the other.
func (e *elements) addInts(c *literal, x []int) error {
	if !only(e, e.ints) {
		return each(c, x, e.addInt)
	}
	e.ints = ahead(e.ints, len(x))
	for _, n := range x {
		e.ints = append(e.ints, int64(n))
	}
	return nil
}

// addFloats adds floating numbers one behind the other.
func (e *elements) addFloats(c *literal, x []float64) error {
	if !only(e, e.floats) {
		return each(c, x, e.addFloat)
	}
	e.floats = append(ahead(e.floats, len(x)), x...)
	return nil
}

// ahead returns x with room for n more, and for twice as much as there is where that is
// not there.
func ahead[T any](x []T, n int) []T {
	if cap(x)-len(x) < n {
		return slices.Grow(x, max(len(x), n))
	}
	return x
}

func each[T any](c *literal, x []T, add func(*literal, T) error) error {
	for _, e := range x {
		if err := add(c, e); err != nil {
			return err
		}
	}
	return nil
}

func (e *elements) addString(c *literal, x string) error {
	if !only(e, e.strs) {
		return e.mixed(c, x, "string")
	}
	e.strs = append(e.strs, x)
	return nil
}

func (e *elements) addBool(c *literal, x bool) error {
	if !only(e, e.bools) {
		return e.mixed(c, x, "truth value")
	}
	e.bools = append(e.bools, x)
	return nil
}

func (e *elements) addOther(c *literal, x any) error {
	v := reflect.ValueOf(x)
	switch v.Kind() {
	case reflect.Bool:
		return e.addBool(c, v.Bool())
	case reflect.String:
		return e.addString(c, v.String())
	}
	if e.strs != nil || e.bools != nil {
		return e.mixed(c, x, "number")
	}
	if e.others == nil {
		for _, n := range e.ints {
			e.others = append(e.others, int(n))
		}
		for _, f := range e.floats {
			e.others = append(e.others, f)
		}
		e.ints, e.floats = nil, nil
	}
	e.others = append(e.others, x)
	return nil
}

// tensor returns the elements under a shape.
func (e *elements) tensor(c *literal, s shape.Shape, o Options) (tensor.Tensor, error) {
	to := tensor.Options{DType: o.DType, Int: o.Int, Float: o.Float}
	if o.Float == dtype.None {
		o.Float = dtype.Float64
	}
	if o.Int == dtype.None {
		o.Int = dtype.Int64
	}
	want := o.DType
	var all []any
	switch {
	case e.ints != nil:
		if want == dtype.None {
			want = o.Int
			if want == dtype.Int64 {
				return tensor.Wrap(e.ints, s), nil
			}
			for _, n := range e.ints {
				if !holds(want, n) {
					want = dtype.Int64
					break
				}
			}
		}
		if t, ok := intsAs(e.ints, s, want); ok {
			return t, nil
		}
		all = boxed(e.ints, func(n int64) any { return int(n) })
	case e.floats != nil:
		if want == dtype.None {
			want = o.Float
		}
		switch want {
		case dtype.Float64:
			return tensor.Wrap(e.floats, s), nil
		case dtype.Float32:
			return convertedTo(e.floats, s, func(f float64) float32 { return float32(f) }), nil
		}
		all = boxed(e.floats, func(f float64) any { return f })
	case e.strs != nil:
		if want == dtype.None || want == dtype.String {
			return tensor.Of(e.strs).(*tensor.Strings).Reshaped(s), nil
		}
		all = boxed(e.strs, func(x string) any { return x })
	case e.bools != nil:
		if want == dtype.None || want == dtype.Bool {
			return tensor.Wrap(e.bools, s), nil
		}
		all = boxed(e.bools, func(x bool) any { return x })
	default:
		all = e.others
		if len(all) == 0 && want == dtype.None {
			if to.Float = e.none; e.none == dtype.None {
				to.Float = o.Float
			}
		}
	}
	t, err := tensor.FromScalars(all, s, to)
	if err != nil {
		x := *tenon.AsError(err)
		x.Op = constFn
		return nil, &x
	}
	return t, nil
}

func boxed[T any](x []T, f func(T) any) []any {
	out := make([]any, len(x))
	for i, e := range x {
		out[i] = f(e)
	}
	return out
}

func convertedTo[A any, B dtype.Number](x []A, s shape.Shape, f func(A) B) tensor.Tensor {
	out, dst := tensor.Make[B](s)
	for i, e := range x {
		dst[i] = f(e)
	}
	return out
}

// holds reports whether a type of integers has n among its numbers; other types are
// left to those who convert.
func holds(d dtype.DType, n int64) bool {
	switch {
	case d.IsSigned():
		lim := int64(1) << (d.Bits() - 1)
		return d.Bits() == 64 || n >= -lim && n < lim
	case d.IsUnsigned():
		return n >= 0 && (d.Bits() == 64 || n < 1<<d.Bits())
	}
	return true
}

// intsAs returns integers in the usual types they can be asked for in, and false
// for any other and where one does not fit.
func intsAs(x []int64, s shape.Shape, d dtype.DType) (tensor.Tensor, bool) {
	for _, n := range x {
		if !holds(d, n) {
			return nil, false
		}
	}
	switch d {
	case dtype.Int64:
		return tensor.Wrap(x, s), true
	case dtype.Int32:
		return convertedTo(x, s, func(n int64) int32 { return int32(n) }), true
	case dtype.Float64:
		return convertedTo(x, s, func(n int64) float64 { return float64(n) }), true
	case dtype.Float32:
		return convertedTo(x, s, func(n int64) float32 { return float32(n) }), true
	case dtype.Uint8:
		return convertedTo(x, s, func(n int64) uint8 { return uint8(n) }), true
	}
	return nil, false
}
