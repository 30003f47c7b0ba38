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
	of     kind // the slice that they are in
	ints   []int64
	floats []float64
	ends   []int64 // of strings in bytes, behind a 0
	bytes  []byte
	bools  []bool
	others []any         // all, once there is one of a rarer type
	whole  *tensor.Dense // all, in one piece; nil: they are in the slice of their kind
	none   dtype.DType   // the element type of an empty typed slice

	expected int // how many there will be, more or less; 0: not known
}

// A kind is one of elements.
type kind uint8

const (
	noKind kind = iota // there are no elements yet
	intKind
	floatKind
	stringKind
	boolKind
	otherKind
)

func (k kind) String() string {
	return [...]string{noKind: "", intKind: "number", floatKind: "number", stringKind: "string", boolKind: "truth value", otherKind: "typed number"}[k]
}

// only makes a kind the one that all elements are of, and reports whether it is.
func (e *elements) only(k kind) bool {
	if e.of == noKind {
		e.of = k
		if k == stringKind {
			e.ends = append(e.ends[:0], 0)
		}
	}
	return e.of == k
}

// free is [literal.free] for elements.
func (e *elements) free() {
	*e = elements{ints: roomOf(e.ints), floats: roomOf(e.floats), ends: roomOf(e.ends), bytes: roomOf(e.bytes), bools: roomOf(e.bools)}
}

func (e *elements) mixed(c *literal, x any, kind string) error {
	return c.fail(tenon.ErrInvalid, "the %s %v stands among %ss", kind, x, e.of)
}

func (e *elements) addInt(c *literal, x int) error {
	switch e.of {
	case otherKind:
		e.others = append(e.others, x)
	case floatKind:
		e.floats = append(roomy(e.floats), float64(x))
	case stringKind, boolKind:
		return e.mixed(c, x, "number")
	default:
		e.of = intKind
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
	switch e.of {
	case otherKind:
		e.others = append(e.others, x)
		return nil
	case stringKind, boolKind:
		return e.mixed(c, x, "number")
	case intKind:
		e.floats = slices.Grow(e.floats[:0], 2*len(e.ints)+1)
		for _, n := range e.ints {
			e.floats = append(e.floats, float64(n))
		}
		e.ints = e.ints[:0]
	}
	e.of = floatKind
	e.floats = append(roomy(e.floats), x)
	return nil
}

// addInts adds integers one behind the other.
func (e *elements) addInts(c *literal, x []int) error {
	if !e.only(intKind) {
		return each(c, x, (*elements).addInt)
	}
	e.ints = ahead(e.ints, len(x), e.expected)
	for _, n := range x {
		e.ints = append(e.ints, int64(n))
	}
	return nil
}

// addFloats adds floating numbers one behind the other.
func (e *elements) addFloats(c *literal, x []float64) error {
	if !e.only(floatKind) {
		return each(c, x, (*elements).addFloat)
	}
	e.floats = append(ahead(e.floats, len(x), e.expected), x...)
	return nil
}

// ahead returns x with room for n more. Where that is not there it makes room for as many
// as are expected, and for twice as many as there are.
func ahead[T any](x []T, n, expected int) []T {
	if cap(x)-len(x) < n {
		if expected-len(x) >= n {
			return slices.Grow(x, expected-len(x))
		}
		return slices.Grow(x, max(len(x), n))
	}
	return x
}

func each[T any](c *literal, x []T, add func(e *elements, c *literal, x T) error) error {
	for _, v := range x {
		if err := add(&c.elems, c, v); err != nil {
			return err
		}
	}
	return nil
}

func (e *elements) addString(c *literal, x string) error {
	if !e.only(stringKind) {
		return e.mixed(c, x, "string")
	}
	e.bytes = append(e.bytes, x...)
	e.ends = append(roomy(e.ends), int64(len(e.bytes)))
	return nil
}

// unboxedStrings appends the strings that a list begins with, and returns how many it were.
func (e *elements) unboxedStrings(x []any) int {
	ends, bytes := ahead(e.ends, len(x), e.expected+1), e.bytes
	n := 0
	for _, v := range x {
		s, ok := v.(string)
		if !ok {
			break
		}
		if cap(bytes)-len(bytes) < len(s) {
			bytes = ahead(bytes, len(s), 4*e.expected)
		}
		bytes = append(bytes, s...)
		ends = append(ends, int64(len(bytes)))
		n++
	}
	e.ends, e.bytes = ends, bytes
	return n
}

// strings returns the strings as a tensor, which takes over their memory where that is
// large.
func (e *elements) strings(s shape.Shape) *tensor.Strings {
	ends, bytes := e.ends, e.bytes
	if cap(ends) > keptElements {
		e.ends = nil
	} else {
		ends = slices.Clone(ends)
	}
	if cap(bytes) > keptElements {
		bytes, e.bytes = slices.Grow(bytes, tensor.Slack), nil
	} else {
		bytes = append(make([]byte, 0, len(bytes)+tensor.Slack), bytes...)
	}
	return tensor.WrapStrings(ends, bytes, s)
}

func (e *elements) addBool(c *literal, x bool) error {
	if !e.only(boolKind) {
		return e.mixed(c, x, "truth value")
	}
	e.bools = append(roomy(e.bools), x)
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
	switch e.of {
	case stringKind, boolKind:
		return e.mixed(c, x, "number")
	case intKind:
		for _, n := range e.ints {
			e.others = append(e.others, int(n))
		}
	case floatKind:
		for _, f := range e.floats {
			e.others = append(e.others, f)
		}
	}
	e.of = otherKind
	e.others = append(e.others, x)
	return nil
}

// tensor returns the elements under a shape.
func (e *elements) tensor(c *literal, s shape.Shape, o Options) (tensor.Tensor, error) {
	if e.whole != nil {
		if s.Equal(e.whole.Shape()) {
			return e.whole, nil
		}
		return e.whole.Reshaped(s), nil
	}
	to := tensor.Options{DType: o.DType, Int: o.Int, Float: o.Float}
	if o.Float == dtype.None {
		o.Float = dtype.Float64
	}
	if o.Int == dtype.None {
		o.Int = dtype.Int64
	}
	want := o.DType
	var all []any
	switch e.of {
	case intKind:
		if want == dtype.None {
			want = o.Int
			if want == dtype.Int64 {
				return handedOver(&e.ints, s), nil
			}
			for _, n := range e.ints {
				if !holds(want, n) {
					want = dtype.Int64
					break
				}
			}
		}
		if want == dtype.Int64 {
			return handedOver(&e.ints, s), nil
		}
		if t, ok := intsAs(e.ints, s, want); ok {
			return t, nil
		}
		all = boxed(e.ints, func(n int64) any { return int(n) })
	case floatKind:
		if want == dtype.None {
			want = o.Float
		}
		switch want {
		case dtype.Float64:
			return handedOver(&e.floats, s), nil
		case dtype.Float32:
			return convertedTo(e.floats, s, func(f float64) float32 { return float32(f) }), nil
		}
		all = boxed(e.floats, func(f float64) any { return f })
	case stringKind:
		if want == dtype.None || want == dtype.String {
			return e.strings(s), nil
		}
		for i, end := range e.ends[1:] {
			all = append(all, string(e.bytes[e.ends[i]:end]))
		}
	case boolKind:
		if want == dtype.None || want == dtype.Bool {
			return handedOver(&e.bools, s), nil
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
