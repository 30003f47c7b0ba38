package ext

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// New completes and checks a value that was written as a literal: fields that are
// zero take the default of their tag, every field that is not optional holds
// something, the relations that tags declare hold, and so does what the type's
// Validate method wants.
//
//	m, err := ext.New(Masked{Values: v, Mask: mask})
func New[T tenon.Value](x T) (T, error) {
	var zero T
	i := infoOf(reflect.TypeFor[T]())
	if i == nil {
		return zero, notRegistered(reflect.TypeFor[T]())
	}
	p, ok := i.unbox(x)
	if !ok {
		return zero, &tenon.Error{Kind: tenon.ErrInvalid, Op: i.name, Msg: "the value is nil", Line: source.Line()}
	}
	if i.defaults() {
		p = i.clone(p)
		if err := i.fillDefaults(p); err != nil {
			return zero, err
		}
	}
	v := i.box(p)
	if err := i.check(v, p); err != nil {
		return zero, err
	}
	return v.(T), nil
}

// Check checks a value that arrives from outside, as [New] checks one that is
// made: relations and Validate methods of the value and of the values it is made
// of. Decoders, servers and readers of files call it.
func Check(v tenon.Value) error {
	if v == nil {
		return &tenon.Error{Kind: tenon.ErrInvalid, Op: "ext.Check", Msg: "the value is nil", Line: source.Line()}
	}
	s := v.Spec()
	if tenon.IsLeaf(s) {
		return nil
	}
	if d, ok := specOf(s); ok {
		p, ok := d.info.unbox(v)
		if !ok {
			return d.fail(tenon.ErrDType, "Check", "", "the value has another Go type than its Spec")
		}
		if err := d.info.check(v, p); err != nil {
			return err
		}
	}
	parts, err := s.Disassemble(v)
	if err != nil {
		return err
	}
	names := s.Components()
	for k, c := range parts {
		if err := Check(c); err != nil {
			return codec.Within(names[k].Name, err)
		}
	}
	return nil
}

// Resolve returns a value that was read before its type was known, as its real
// type, checked. A value of a known type is checked and returned.
func Resolve(v tenon.Value) (tenon.Value, error) {
	if o, ok := v.(*tenon.OpaqueValue); ok {
		var err error
		if v, err = o.Resolve(); err != nil {
			return nil, err
		}
	}
	return v, Check(v)
}

// check checks fields and runs the type's hook.
func (i *info) check(v tenon.Value, p unsafe.Pointer) error {
	fail := func(err error) error {
		e := *tenon.AsError(err)
		if e.Op == "" {
			e.Op = i.name
		}
		if e.Line == "" {
			e.Line = source.Line()
		}
		return &e
	}
	fields := i.node.flat(0, nil)
	for _, f := range fields {
		if err := f.complete(unsafe.Add(p, f.offset)); err != nil {
			return fail(codec.Within(f.name, err))
		}
	}
	if err := i.checkOneOf(p); err != nil {
		return fail(err)
	}
	sizes := sizes{info: i, p: p, known: map[string]size{}}
	for _, f := range fields {
		if err := sizes.field(f); err != nil {
			return fail(err)
		}
	}
	if i.validate == nil {
		return nil
	}
	var err error
	if thrown := catching(func() { err = i.validate(v) }); thrown != nil {
		err = thrown
	}
	if err != nil {
		return fail(err)
	}
	return nil
}

// complete checks that every place of a field holds a Value of the right kind.
func (f *field) complete(at unsafe.Pointer) error {
	if f.node.kind == kindScalar && !codec.IsScalar(*(*any)(at)) {
		return wrong(*(*any)(at), "nil, a bool, an int, a float64 or a string")
	}
	if f.node.places == 0 {
		return nil
	}
	values := f.node.appendValues(at, nil)
	names := f.node.appendNames(at, "", nil)
	for k, v := range values {
		switch {
		case v == nil && !f.tag.optional:
			return &tenon.Error{Kind: tenon.ErrDType, Where: names[k], Msg: "there is no Value",
				Hint: "set the field, or make it optional with the tag `tenon:\"optional\"`"}
		case v == nil:
			continue
		}
		s := v.Spec()
		if f.tag.typeName != "" && s.TypeName() != f.tag.typeName {
			return codec.Within(names[k], codec.Mismatch(v, "a "+f.tag.typeName))
		}
		if f.tag.dense && !tenon.IsLeaf(s) {
			return codec.Within(names[k], codec.Mismatch(v, "a dense tensor"))
		}
	}
	return nil
}

func (i *info) checkOneOf(p unsafe.Pointer) error {
	for _, f := range i.node.flat(0, nil) {
		if len(f.tag.oneOf) == 0 {
			continue
		}
		x := goData(f.node.encode(unsafe.Add(p, f.offset), new([]tenon.Spec)), nil)
		if f.node.kind == kindScalar {
			if kind := fmt.Sprintf("%T", x); x != nil && !slices.Contains(f.tag.oneOf, kind) && !slices.Contains(f.tag.oneOf, fmt.Sprint(x)) {
				return &tenon.Error{Kind: tenon.ErrDType, Op: i.name, Where: f.name, Msg: fmt.Sprintf("a %s is none of %v", kind, f.tag.oneOf)}
			}
		} else if !slices.Contains(f.tag.oneOf, fmt.Sprint(x)) {
			return &tenon.Error{Kind: tenon.ErrInvalid, Op: i.name, Where: f.name, Msg: fmt.Sprintf("%v is none of %v", x, f.tag.oneOf)}
		}
	}
	return nil
}

func (i *info) defaults() bool {
	return slices.ContainsFunc(i.node.flat(0, nil), func(f field) bool { return f.tag.hasDef })
}

// fillDefaults sets the fields that are zero and have a default.
func (i *info) fillDefaults(p unsafe.Pointer) error {
	for _, f := range i.node.flat(0, nil) {
		at := unsafe.Add(p, f.offset)
		if !f.tag.hasDef || !f.node.at(at).IsZero() {
			continue
		}
		x, err := f.tag.defaultOf(f.node)
		if err == nil {
			err = f.node.build(at, x, f.tag)
		}
		if err != nil {
			return codec.Within(f.name, err)
		}
	}
	return nil
}

// scalarOf returns a scalar of a number that is written as text.
func scalarOf(word string, d dtype.DType) (tensor.Tensor, error) {
	o := tensor.Options{}
	if d != dtype.None {
		o.DType = d
	}
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		if d.IsFloat() || d.IsComplex() {
			return tensor.Const(float64(n), o)
		}
		return tensor.Const(n, o)
	}
	if x, err := strconv.ParseFloat(word, 64); err == nil {
		return tensor.Const(x, o)
	}
	if b, err := strconv.ParseBool(word); err == nil {
		return tensor.Const(b, o)
	}
	return tensor.Const(word, o)
}

// tensorLike has an element type and a shape.
type tensorLike interface {
	DType() dtype.DType
	Shape() shape.Shape
}

// size is what a symbol in a pattern of sizes stands for.
type size struct {
	n    int
	from string // where it was seen first
}

// sizes checks the relations between the fields of one value.
type sizes struct {
	info  *info
	p     unsafe.Pointer
	known map[string]size
}

// relations checks, at registration, that tags refer to fields that exist.
func (i *info) relations() error {
	fields := i.node.flat(0, nil)
	named := func(name string) *field {
		for k := range fields {
			if fields[k].name == name {
				return &fields[k]
			}
		}
		return nil
	}
	for _, f := range fields {
		bad := func(format string, args ...any) error {
			return &tenon.Error{Kind: tenon.ErrInvalid, Op: "ext.Register", Where: f.name, Msg: fmt.Sprintf(format, args...)}
		}
		t := f.tag
		if t.shape != "" && t.dims == nil {
			if g := named(t.shape); g == nil || !g.node.isPlace() {
				return bad("shape=%s names no field that is a Value; sizes stand in brackets, such as shape=[rows 3]", t.shape)
			}
		}
		if t.dtype != "" {
			if _, ok := classes[t.dtype]; !ok {
				if _, err := dtype.Parse(t.dtype); err != nil {
					if g := named(t.dtype); g == nil || !g.node.isPlace() {
						return bad("dtype=%s is neither an element type, nor a class of them, nor a field that is a Value", t.dtype)
					}
				}
			}
		}
		if name, ok := strings.CutPrefix(t.rank, "len("); ok {
			name, ok = strings.CutSuffix(name, ")")
			if g := named(name); !ok || g == nil || g.node.kind != kindSlice && g.node.kind != kindArray && g.node.kind != kindMap && g.node.kind != kindString {
				return bad("rank=%s is not the length of a field", t.rank)
			}
		} else if t.rank != "" {
			if n, err := strconv.Atoi(t.rank); err != nil || n < 0 {
				return bad("rank=%s is no rank", t.rank)
			}
		}
		for _, d := range t.dims {
			if g := named(d.symbol); g != nil && g.node.kind != kindInt && g.node.kind != kindUint && g.node.kind != kindSlice {
				return bad("the size %s is the name of a field that is neither a static integer nor a slice: choose another symbol", d.symbol)
			}
		}
	}
	return nil
}

// classes are the groups of element types that tags name.
var classes = map[string]func(dtype.DType) bool{
	"float":          dtype.DType.IsFloat,
	"integer":        dtype.DType.IsInteger,
	"numeric":        dtype.DType.IsNumeric,
	"complex":        dtype.DType.IsComplex,
	"differentiable": dtype.DType.IsDifferentiable,
}

// field checks the relations of one field.
func (s *sizes) field(f field) error {
	t := f.tag
	if t.dtype == "" && t.rank == "" && t.shape == "" && t.len == nil {
		return nil
	}
	at := unsafe.Add(s.p, f.offset)
	if t.len != nil && (f.node.kind == kindSlice || f.node.kind == kindMap) {
		if err := s.match(f.name, f.node.at(at).Len(), *t.len, "has %d elements"); err != nil {
			return err
		}
	}
	if f.node.places == 0 {
		return nil
	}
	values := f.node.appendValues(at, nil)
	names := f.node.appendNames(at, f.name, nil)
	for k, v := range values {
		x, ok := v.(tensorLike)
		if !ok {
			continue
		}
		if err := s.value(f, names[k], x); err != nil {
			return err
		}
	}
	return nil
}

func broken(where, format string, args ...any) error {
	return &tenon.Error{Kind: tenon.ErrInvalid, Where: where, Msg: fmt.Sprintf(format, args...)}
}

// value checks the relations of one Value.
func (s *sizes) value(f field, name string, x tensorLike) error {
	t, d, sh := f.tag, x.DType(), x.Shape()
	if t.dtype != "" {
		if in, ok := classes[t.dtype]; ok {
			if !in(d) {
				return broken(name, "is %v, want a %s type", d, t.dtype)
			}
		} else if want, err := dtype.Parse(t.dtype); err == nil {
			if d != want {
				return broken(name, "is %v, want %v", d, want)
			}
		} else if y, ok := s.other(t.dtype); ok && y.DType() != d {
			return broken(name, "is %v, %s is %v", d, t.dtype, y.DType())
		}
	}
	if !sh.HasRank() {
		return nil
	}
	if t.rank != "" {
		want, err := strconv.Atoi(t.rank)
		if err != nil {
			of := strings.TrimSuffix(strings.TrimPrefix(t.rank, "len("), ")")
			want = s.lengthOf(of)
		}
		if sh.Rank() != want {
			return broken(name, "has shape %v, of rank %d; want rank %d (%s)", sh, sh.Rank(), want, t.rank)
		}
	}
	switch {
	case t.dims != nil:
		if err := s.dims(name, sh, t); err != nil {
			return err
		}
	case t.shape != "":
		if y, ok := s.other(t.shape); ok && !sh.CompatibleWith(y.Shape()) {
			return broken(name, "has shape %v, %s has %v", sh, t.shape, y.Shape())
		}
	}
	if t.len != nil && f.node.isPlace() {
		if sh.Rank() == 0 {
			return broken(name, "is a scalar, want a length")
		}
		return s.match(name, sh.Dim(0), *t.len, "has %d rows")
	}
	return nil
}

func (s *sizes) dims(name string, sh shape.Shape, t *tag) error {
	want := t.dims
	rest := len(want) > 0 && want[len(want)-1].symbol == "..."
	if rest {
		want = want[:len(want)-1]
	}
	if sh.Rank() < len(want) || !rest && sh.Rank() != len(want) {
		return broken(name, "has shape %v, want %s", sh, t.shape)
	}
	for a, d := range want {
		if err := s.match(name, sh.Dim(a), d, "axis "+strconv.Itoa(a)+" has size %d"); err != nil {
			return err
		}
	}
	return nil
}

// match compares a size with a pattern.
func (s *sizes) match(name string, n int, d dim, what string) error {
	if d.symbol == "_" || n == shape.Unknown {
		return nil
	}
	if d.symbol == "" {
		if n != d.plus {
			return broken(name, what+", want %d", n, d.plus)
		}
		return nil
	}
	old, ok := s.known[d.symbol]
	if !ok {
		if k := s.lengthOf(d.symbol); k >= 0 {
			old, ok = size{k, d.symbol}, true
		}
	}
	if ok && old.n+d.plus != n {
		plus := ""
		if d.plus != 0 {
			plus = fmt.Sprintf("%+d", d.plus)
		}
		return broken(name, what+", want %s%s = %d, as %s has it", n, d.symbol, plus, old.n+d.plus, old.from)
	}
	if n < d.plus {
		return broken(name, what+", which leaves %s below 0", n, d.symbol)
	}
	if !ok {
		s.known[d.symbol] = size{n - d.plus, name}
	}
	return nil
}

// lengthOf returns the static integer or the length of a field, and -1 where there is none.
func (s *sizes) lengthOf(name string) int {
	for _, f := range s.info.node.flat(0, nil) {
		if f.name != name {
			continue
		}
		v := f.node.at(unsafe.Add(s.p, f.offset))
		switch f.node.kind {
		case kindInt:
			return int(v.Int())
		case kindUint:
			return int(v.Uint())
		case kindSlice, kindArray, kindMap, kindString: // of rank=len(…); sizes name slices only
			return v.Len()
		}
	}
	return -1
}

// other returns the tensor in a field.
func (s *sizes) other(name string) (tensorLike, bool) {
	for _, f := range s.info.node.flat(0, nil) {
		if f.name == name && f.node.isPlace() {
			x, ok := f.node.load(unsafe.Add(s.p, f.offset)).(tensorLike)
			return x, ok
		}
	}
	return nil, false
}
