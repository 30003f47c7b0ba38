package codec

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// Code is what cmd/tenongen writes for the struct of a registered type: Go code that does what the
// plan made by ext.Register does through reflection. Places of Values are visited in the order of
// the plan; an empty place is nil.
type Code[S any] struct {
	Values func(x *S, out []tenon.Value) []tenon.Value                 // appends the Value at each place
	Fill   func(x *S, values []tenon.Value) ([]tenon.Value, error)     // puts Values into the places after copying containers; returns the rest
	Same   func(x, y *S) bool                                          // whether static data, lengths and keys are the same
	Match  func(x *S, specs []tenon.Spec) ([]tenon.Spec, bool)         // whether the Values have the Specs; returns the rest
	Names  func(x *S, out []string) []string                           // appends the path of each place
	Encode func(x *S, specs *[]tenon.Spec) []tenon.Entry               // the fields' encodings
	Decode func(x *S, fields []tenon.Entry, specs *[]tenon.Spec) error // reads the result of Encode; appends the Spec of each place
}

var valueType = reflect.TypeFor[tenon.Value]()

// NameOf returns the name under which a Go type is registered with package ext, which sets this
// variable, or "" if it is not registered.
var NameOf = func(reflect.Type) string { return "" }

// Static is the name of the tuple that wraps static Specs, to distinguish them
// from the Specs of components.
const Static = "static"

// words are the two words of an interface: its type, and the value or a pointer to it.
func words[I any](x *I) *[2]unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(x)) }

// Bad returns an error about an encoding.
func Bad(format string, args ...any) error {
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: "ext.Decode", Msg: fmt.Sprintf(format, args...)}
}

// Mismatch returns an error about a Value of the wrong type.
func Mismatch(v tenon.Value, want string) error {
	return &tenon.Error{Kind: tenon.ErrDType, Msg: fmt.Sprintf("got %s, want %s", tenon.String(v.Spec()), want)}
}

// ReadPlace reads the Spec of a place, which must have the given type name unless that is "". Only
// places for any Value accept one of an unknown type.
func ReadPlace(e tenon.Encoding, typeName, want string, optional, anyValue bool, specs *[]tenon.Spec) error {
	if _, ok := e.(tenon.Nil); ok {
		if !optional {
			return Bad("a required Value is missing")
		}
		*specs = append(*specs, nil)
		return nil
	}
	s, err := tenon.As[tenon.SpecOf](e)
	if err != nil {
		return err
	}
	if s.Spec == nil {
		return Bad("the Spec is nil")
	}
	if typeName != "" {
		want = typeName
	}
	if _, opaque := s.Spec.(*tenon.Opaque); typeName != "" && s.Spec.TypeName() != typeName || opaque && !anyValue {
		return Bad("the Spec is %s, want one of %s", tenon.String(s.Spec), want)
	}
	*specs = append(*specs, s.Spec)
	return nil
}

// IsScalar reports whether x is static data that an encoding can hold.
func IsScalar(x any) bool {
	switch x.(type) {
	case nil, bool, int, float64, string:
		return true
	}
	return false
}

// Held returns the contents of a place, with nil for a nil pointer.
func Held(v tenon.Value) tenon.Value {
	if words(&v)[1] == nil {
		return nil
	}
	return v
}

// First returns the first of the Values, or nil if there is none.
func First(values []tenon.Value) tenon.Value {
	if len(values) == 0 {
		return nil
	}
	return values[0]
}

// Put stores the first of the Values in a place and returns the others.
func Put[V tenon.Value](at *V, values []tenon.Value) ([]tenon.Value, error) {
	var none V
	if len(values) == 0 {
		return nil, tenon.NewError(tenon.ErrInvalid, "", "there are too few Values")
	}
	if values[0] == nil {
		*at = none
		return values[1:], nil
	}
	x, ok := values[0].(V)
	if !ok {
		return nil, Mismatch(values[0], fmt.Sprintf("a %v", reflect.TypeFor[V]()))
	}
	*at = x
	return values[1:], nil
}

// PutBehind is [Put] for a pointer to a Value.
func PutBehind[V tenon.Value](at **V, values []tenon.Value) ([]tenon.Value, error) {
	if len(values) > 0 && values[0] == nil {
		*at = nil
		return values[1:], nil
	}
	made := new(V)
	rest, err := Put(made, values)
	*at = made
	return rest, err
}

// Is reports whether a place that holds v, which may be nil, has the first of the Specs. It returns
// the others.
func Is(v tenon.Value, specs []tenon.Spec) ([]tenon.Spec, bool) {
	if len(specs) == 0 {
		return nil, false
	}
	slot := specs[0]
	if v == nil || slot == nil {
		return specs[1:], v == nil && slot == nil
	}
	s := v.Spec()
	return specs[1:], *words(&s) == *words(&slot) || tenon.Equal(slot, s)
}

// Within adds a step to the place in an error.
func Within(step string, err error) error {
	e := *tenon.AsError(err)
	switch {
	case e.Where == "":
		e.Where = step
	case step == "":
	case e.Where[0] == '[':
		e.Where = step + e.Where
	default:
		e.Where = step + "." + e.Where
	}
	return &e
}

// At returns the step to element i.
func At(i int) string { return "[" + strconv.Itoa(i) + "]" }

// Entry returns the step to the entry of a map with the given key.
func Entry(key string) string { return "[" + strconv.Quote(key) + "]" }

// Join returns the path of a field.
func Join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

// Keys returns the keys of a map in order.
func Keys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// SameFloat compares floating-point numbers as Specs do: NaN equals NaN, and 0 differs from −0.
func SameFloat[F ~float32 | ~float64](x, y F) bool {
	return x == y && math.Signbit(float64(x)) == math.Signbit(float64(y)) || x != x && y != y
}

// SameScalar compares the contents of static interfaces.
func SameScalar(x, y any) bool {
	fx, ok := x.(float64)
	fy, ok2 := y.(float64)
	if ok && ok2 {
		return SameFloat(fx, fy)
	}
	return IsScalar(x) && IsScalar(y) && x == y
}

// EncodeSpec returns the encoding of a static Spec.
func EncodeSpec(s tenon.Spec) tenon.Encoding {
	if s == nil {
		return tenon.Nil{}
	}
	return tenon.NamedTuple{Name: Static, Fields: []tenon.Entry{{Name: "spec", Value: tenon.SpecOf{Spec: s}}}}
}

// EncodeScalar returns the encoding of the contents of a static interface.
func EncodeScalar(x any) tenon.Encoding {
	switch x := x.(type) {
	case bool:
		return tenon.Bool(x)
	case int:
		return tenon.Int(x)
	case float64:
		return tenon.Float(x)
	case string:
		return tenon.Str(x)
	}
	return tenon.Nil{}
}

// EncodePlace returns the encoding of a place, which takes the first of the
// Specs.
func EncodePlace(specs *[]tenon.Spec) tenon.Encoding {
	s := (*specs)[0]
	*specs = (*specs)[1:]
	if s == nil {
		return tenon.Nil{}
	}
	return tenon.SpecOf{Spec: s}
}

// EncodeStruct returns the encoding of a nested struct.
func EncodeStruct(fields []tenon.Entry) tenon.Encoding {
	return tenon.NamedTuple{Name: "struct", Fields: fields}
}

// DecodeBool reads a boolean.
func DecodeBool[B ~bool](at *B, e tenon.Encoding) error {
	x, err := tenon.As[tenon.Bool](e)
	*at = B(x)
	return err
}

// DecodeInt reads an integer that fits the place.
func DecodeInt[I ~int | ~int8 | ~int16 | ~int32 | ~int64](at *I, e tenon.Encoding) error {
	x, err := tenon.As[tenon.Int](e)
	if *at = I(x); err == nil && int64(*at) != int64(x) {
		err = Bad("%d does not fit a %T", x, *at)
	}
	return err
}

// DecodeUint reads an integer that fits the place.
func DecodeUint[U ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64](at *U, e tenon.Encoding) error {
	x, err := tenon.As[tenon.Int](e)
	if *at = U(x); err == nil && (uint64(*at) != uint64(x) || x < 0 && unsafe.Sizeof(*at) < 8) {
		err = Bad("%d does not fit a %T", x, *at)
	}
	return err
}

// DecodeFloat reads a floating-point number that the place can hold exactly.
func DecodeFloat[F ~float32 | ~float64](at *F, e tenon.Encoding) error {
	x, err := tenon.As[tenon.Float](e)
	if *at = F(x); err == nil && float64(*at) != float64(x) && x == x {
		err = Bad("%v is not a %T", float64(x), *at)
	}
	return err
}

// DecodeString reads a string.
func DecodeString[S ~string](at *S, e tenon.Encoding) error {
	x, err := tenon.As[tenon.Str](e)
	*at = S(x)
	return err
}

// DecodeBytes reads bytes.
func DecodeBytes[B ~[]byte](at *B, e tenon.Encoding) error {
	x, err := tenon.As[tenon.Str](e)
	*at = B(x)
	return err
}

// DecodeDType reads an element type.
func DecodeDType(at *dtype.DType, e tenon.Encoding) error {
	x, err := tenon.As[tenon.DType](e)
	*at = x.DType
	return err
}

// DecodeShape reads a shape.
func DecodeShape(at *shape.Shape, e tenon.Encoding) error {
	x, err := tenon.As[tenon.Shape](e)
	*at = x.Shape
	return err
}

// DecodeSpec reads a static Spec.
func DecodeSpec(at *tenon.Spec, e tenon.Encoding) error {
	if _, ok := e.(tenon.Nil); ok {
		return nil
	}
	t, err := tenon.As[tenon.NamedTuple](e)
	if err != nil {
		return err
	}
	if t.Name != Static || len(t.Fields) != 1 || t.Fields[0].Name != "spec" {
		return Bad("%s is not a static Spec", tenon.EncodingText(e))
	}
	s, err := tenon.As[tenon.SpecOf](t.Fields[0].Value)
	if err == nil && s.Spec == nil {
		err = Bad("the Spec is nil")
	}
	*at = s.Spec
	return err
}

// DecodeScalar reads the contents of a static interface.
func DecodeScalar(at *any, e tenon.Encoding) error {
	switch e := e.(type) {
	case tenon.Nil:
	case tenon.Bool:
		*at = bool(e)
	case tenon.Int:
		*at = int(e)
	case tenon.Float:
		*at = float64(e)
	case tenon.Str:
		*at = string(e)
	default:
		return Bad("%s is neither nil, a bool, a number nor a string", tenon.EncodingText(e))
	}
	return nil
}

// DecodePlace reads the Spec of a place of type V. A type name that is not "" is that of the tag;
// if optional is set, the place may be empty.
func DecodePlace[V tenon.Value](e tenon.Encoding, typeName string, optional bool, specs *[]tenon.Spec) error {
	t := reflect.TypeFor[V]()
	if typeName == "" {
		typeName = NameOf(t)
	}
	return ReadPlace(e, typeName, t.String(), optional, t == valueType, specs)
}

// DecodeList returns the elements of a slice's encoding.
func DecodeList(e tenon.Encoding) ([]tenon.Encoding, error) {
	l, err := tenon.As[tenon.List](e)
	return l, err
}

// DecodeArray returns the n elements of the encoding of an array. A pointer is encoded as an array
// with n = 1.
func DecodeArray(e tenon.Encoding, n int) ([]tenon.Encoding, error) {
	l, err := tenon.As[tenon.Tuple](e)
	if err == nil && len(l) != n {
		err = Bad("there are %d elements, want %d", len(l), n)
	}
	return l, err
}

// DecodeDict returns the entries of a map's encoding, whose keys are in order.
func DecodeDict(e tenon.Encoding) ([]tenon.Entry, error) {
	d, err := tenon.As[tenon.Dict](e)
	for i := 1; i < len(d) && err == nil; i++ {
		if d[i-1].Name >= d[i].Name {
			err = Bad("the keys are not in order at %q", d[i].Name)
		}
	}
	return d, err
}

// DecodeStruct returns the fields of the encoding of a nested struct.
func DecodeStruct(e tenon.Encoding) ([]tenon.Entry, error) {
	x, err := tenon.As[tenon.NamedTuple](e)
	if err == nil && x.Name != "struct" {
		err = Bad("the tuple is called %q, want a struct", x.Name)
	}
	return x.Fields, err
}

// DecodeNames checks that fields have the given names, in order.
func DecodeNames(fields []tenon.Entry, names ...string) error {
	if !slices.Equal(EntryNames(fields), names) {
		return Bad("the encoding has the fields %v, the type %v", EntryNames(fields), names)
	}
	return nil
}

// EntryNames returns the names of fields.
func EntryNames(entries []tenon.Entry) []string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Name
	}
	return out
}
