package nest

import (
	"reflect"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// load returns the value at a place as an interface, and nil for a nil pointer or
// interface. A value that does not fit in the interface's data word is copied.
func (p *plan) load(at unsafe.Pointer) any {
	switch p.kind {
	case kindTensor:
		if t := *(*tensor.Tensor)(at); t != nil {
			return t
		}
		return nil
	case kindValue:
		if v := *(*tenon.Value)(at); v != nil {
			return v
		}
		return nil
	case kindAny:
		if p.typ.NumMethod() == 0 {
			return *(*any)(at)
		}
		return p.value(at).Interface()
	}
	if p.direct {
		x := p.box
		words(&x)[1] = *(*unsafe.Pointer)(at)
		if words(&x)[1] == nil && p.nils {
			return nil
		}
		return x
	}
	return p.value(at).Interface()
}

// store stores x in a place. A nil x becomes the zero value if that is nil.
func (p *plan) store(x any, at unsafe.Pointer) *failure {
	switch p.kind {
	case kindTensor:
		if t, ok := x.(tensor.Tensor); ok {
			*(*tensor.Tensor)(at) = t
			return nil
		}
	case kindValue:
		if v, ok := x.(tenon.Value); ok {
			*(*tenon.Value)(at) = v
			return nil
		}
	}
	if p.kind == kindAny && p.typ.NumMethod() == 0 {
		*(*any)(at) = x
		return nil
	}
	if x == nil {
		switch p.typ.Kind() {
		case reflect.Interface, reflect.Pointer, reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Map, reflect.Slice:
			p.value(at).SetZero()
			return nil
		}
		return fail(tenon.ErrDType, "the leaf is nil, want a %v", p.typ)
	}
	if p.direct && words(&x)[0] == words(&p.box)[0] {
		*(*unsafe.Pointer)(at) = words(&x)[1]
		return nil
	}
	v := reflect.ValueOf(x)
	if !v.Type().AssignableTo(p.typ) {
		return fail(tenon.ErrDType, "the leaf is a %v, want a %v", v.Type(), p.typ)
	}
	p.value(at).Set(v)
	return nil
}

// place is a value in memory and the plan to walk it.
type place struct {
	plan *plan
	at   unsafe.Pointer
	err  *failure
}

// placeOf returns the place of the contents of an interface.
func placeOf(x any) (p *plan, at unsafe.Pointer, err *failure) {
	if p, err = planOf(x); err != nil {
		return nil, nil, err
	}
	return p, p.placeIn(x), nil
}

// placeIn returns the place of the contents of an interface, which are of p's
// type.
func (p *plan) placeIn(x any) unsafe.Pointer {
	if p.direct {
		word := new(unsafe.Pointer)
		*word = words(&x)[1]
		return unsafe.Pointer(word)
	}
	return words(&x)[1]
}

var anyPlan, _ = planFor(reflect.TypeFor[any]())

func rootPlace(x any) place { return place{plan: anyPlan, at: unsafe.Pointer(&x)} }

func (p place) load() any { return p.plan.load(p.at) }

// resolved follows interfaces. It returns false for nil.
func (p place) resolved() (place, bool) {
	for {
		switch p.plan.kind {
		case kindLeaf:
			return p, !p.plan.nils || *(*unsafe.Pointer)(p.at) != nil
		case kindTensor, kindValue:
			if p.load() == nil {
				return p, false
			}
			return p, true
		case kindPointer:
			return p, *(*unsafe.Pointer)(p.at) != nil
		case kindAny:
			x := p.load()
			if x == nil {
				return p, false
			}
			q, at, err := placeOf(x)
			if err != nil {
				return place{err: err}, true
			}
			p = place{plan: q, at: at}
		default:
			return p, true
		}
	}
}

// deref follows a pointer that is not nil.
func (p place) deref() place { return place{plan: p.plan.elem, at: *(*unsafe.Pointer)(p.at)} }

// isLeaf reports whether a resolved place holds a leaf.
func (p place) isLeaf() bool {
	return p.plan.kind == kindLeaf || p.plan.kind == kindTensor || p.plan.kind == kindValue
}

// slice is the memory layout of a slice.
type slice struct {
	data unsafe.Pointer
	len  int
	cap  int
}

// sequence returns the first element and the number of elements of a slice or array.
func (p place) sequence() (first unsafe.Pointer, n int) {
	if p.plan.kind == kindArray {
		return p.at, p.plan.n
	}
	s := (*slice)(p.at)
	return s.data, s.len
}

// node returns the Node of a place.
func (p place) node() Node { return p.load().(Node) }
