package ext

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/internal/source"
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
