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
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/tensor"
)

// New completes and checks a value that was written as a literal. Zero fields get
// the default of their tag. Then every field that is not optional must hold
// something, the relations that tags declare must hold, and the type's Validate
// method must accept the value.
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

// Check is [tenon.Check]: it checks a value that comes from outside, just as [New] checks one that
// is made. The readers of this module call it; servers and readers of other formats should do so
// too.
func Check(v tenon.Value) error { return tenon.Check(v) }

// CheckValue checks that v, a value of this Spec, satisfies its tags and its Validate method. A
// value that is not valid itself may be a batch, whose rows are.
func (s *Spec) CheckValue(v tenon.Value) error {
	p, ok := s.info.unbox(v)
	if !ok {
		return s.fail(tenon.ErrDType, "CheckValue", "", fmt.Sprintf("the value is a %s", typeNameOf(v)))
	}
	err := s.info.check(v, p)
	if err == nil {
		return nil
	}
	if _, e := s.Unbatched(); e != nil {
		return err
	}
	n, e := rows.Count(v)
	if e != nil || n < 0 {
		return err
	}
	for i := range n {
		row, e := Row(v, i)
		if e != nil || tenon.Check(row) != nil {
			return err
		}
	}
	return nil
}

// Resolve returns a value that was read before its type was known as its real
// type, after checking it. A value of a known type is checked and returned.
func Resolve(v tenon.Value) (tenon.Value, error) {
	if o, ok := v.(*tenon.OpaqueValue); ok {
		return o.Resolve()
	}
	return v, tenon.Check(v)
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
func (f *field) complete(at unsafe.Pointer) error { return f.node.complete(at, f.tag) }

// complete checks the places in memory that belongs to a field with a tag. Fields of nested structs
// have tags of their own.
func (n *node) complete(at unsafe.Pointer, t *tag) error {
	if n.kind == kindScalar {
		if x := *(*any)(at); !codec.IsScalar(x) {
			return wrong(x, "nil, a bool, an int, a float64 or a string")
		}
	}
	switch n.kind {
	case kindStruct:
		for _, f := range n.flat(0, nil) {
			if err := f.complete(unsafe.Add(at, f.offset)); err != nil {
				return codec.Within(f.name, err)
			}
		}
		return nil
	case kindSlice:
		s := (*slice)(at)
		return n.eachComplete(s.data, s.len, t)
	case kindArray:
		return n.eachComplete(at, n.n, t)
	case kindMap:
		return n.entries(at, func(key string, elem unsafe.Pointer) error {
			if err := n.elem.complete(elem, t); err != nil {
				return codec.Within(codec.Entry(key), err)
			}
			return nil
		})
	case kindPointer:
		if p := *(*unsafe.Pointer)(at); p != nil {
			return n.elem.complete(p, t)
		}
		return nil
	}
	if n.places == 0 {
		return nil
	}
	v := n.load(at)
	if v == nil {
		if t.optional || n.kind == kindBehind {
			return nil
		}
		return &tenon.Error{Kind: tenon.ErrDType, Msg: "there is no Value",
			Hint: "set the field, or make it optional with the tag `tenon:\"optional\"`"}
	}
	s := v.Spec()
	if t.typeName != "" && s.TypeName() != t.typeName {
		return codec.Mismatch(v, "a "+t.typeName)
	}
	if t.dense && !tenon.IsLeaf(s) {
		return codec.Mismatch(v, "a dense tensor")
	}
	return nil
}

func (n *node) eachComplete(at unsafe.Pointer, count int, t *tag) error {
	if n.elem.places == 0 && n.elem.kind < kindScalar { // the most common data, of any length
		return nil
	}
	for i := range count {
		if err := n.elem.complete(unsafe.Add(at, uintptr(i)*n.elem.size), t); err != nil {
			return codec.Within(codec.At(i), err)
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

// scalarOf returns a scalar for a number given as text.
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
