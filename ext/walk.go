package ext

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Places are visited in a fixed order: fields as they are declared, elements by index, and entries
// of maps by key.

// slice is the memory layout of a slice.
type slice struct {
	data unsafe.Pointer
	len  int
	cap  int
}

// load returns the Value at a place, or nil if there is none.
func (n *node) load(at unsafe.Pointer) tenon.Value {
	switch n.kind {
	case kindTensor:
		t := *(*tensor.Tensor)(at)
		if words(&t)[1] == nil {
			return nil
		}
		return t
	case kindValue:
		v := *(*tenon.Value)(at)
		if words(&v)[1] == nil {
			return nil
		}
		return v
	case kindBehind:
		p := *(*unsafe.Pointer)(at)
		if p == nil {
			return nil
		}
		return n.elem.load(p)
	}
	if n.direct {
		x := n.sample
		if words(&x)[1] = *(*unsafe.Pointer)(at); words(&x)[1] == nil {
			return nil
		}
		return x.(tenon.Value)
	}
	v, _ := n.at(at).Interface().(tenon.Value)
	return v
}

// store stores a Value, which may be nil, in a place.
func (n *node) store(at unsafe.Pointer, v tenon.Value) error {
	switch n.kind {
	case kindTensor:
		t, ok := v.(tensor.Tensor)
		if !ok && v != nil {
			return codec.Mismatch(v, "a tensor")
		}
		*(*tensor.Tensor)(at) = t
		return nil
	case kindValue:
		*(*tenon.Value)(at) = v
		return nil
	case kindBehind:
		if v == nil {
			*(*unsafe.Pointer)(at) = nil
			return nil
		}
		p := reflect.New(n.elem.typ).UnsafePointer()
		*(*unsafe.Pointer)(at) = p
		return n.elem.store(p, v)
	}
	if v == nil {
		n.at(at).SetZero()
		return nil
	}
	x := any(v)
	if n.direct && words(&x)[0] == words(&n.sample)[0] {
		*(*unsafe.Pointer)(at) = words(&x)[1]
		return nil
	}
	r := reflect.ValueOf(v)
	if !r.Type().AssignableTo(n.typ) {
		return codec.Mismatch(v, fmt.Sprintf("a %v", n.typ))
	}
	n.at(at).Set(r)
	return nil
}

// appendValues appends the Value at each place, nil if there is none.
func (n *node) appendValues(at unsafe.Pointer, out []tenon.Value) []tenon.Value {
	if n.places == 0 {
		return out
	}
	switch n.kind {
	case kindStruct:
		for i := range n.fields {
			f := &n.fields[i]
			if f.node.places == 0 {
				continue
			}
			if f.node.kind != kindTensor {
				out = f.node.appendValues(unsafe.Add(at, f.offset), out)
				continue
			}
			if t := *(*tensor.Tensor)(unsafe.Add(at, f.offset)); words(&t)[1] != nil {
				out = append(out, t)
			} else {
				out = append(out, nil)
			}
		}
	case kindSlice:
		s := (*slice)(at)
		for i := range s.len {
			out = n.elem.appendValues(unsafe.Add(s.data, uintptr(i)*n.elem.size), out)
		}
	case kindArray:
		for i := range n.n {
			out = n.elem.appendValues(unsafe.Add(at, uintptr(i)*n.elem.size), out)
		}
	case kindMap:
		n.entries(at, func(_ string, elem unsafe.Pointer) error {
			out = n.elem.appendValues(elem, out)
			return nil
		})
	case kindPointer:
		if p := *(*unsafe.Pointer)(at); p != nil {
			out = n.elem.appendValues(p, out)
		}
	default:
		out = append(out, n.load(at))
	}
	return out
}

// entries calls f with the entries of a map in the order of their keys; elem is a
// copy of the element.
func (n *node) entries(at unsafe.Pointer, f func(key string, elem unsafe.Pointer) error) error {
	m := n.at(at)
	keys := make([]string, 0, m.Len())
	for it := m.MapRange(); it.Next(); {
		keys = append(keys, it.Key().String())
	}
	slices.Sort(keys)
	key := reflect.New(n.typ.Key()).Elem()
	for _, k := range keys {
		key.SetString(k)
		elem := reflect.New(n.elem.typ)
		elem.Elem().Set(m.MapIndex(key))
		if err := f(k, elem.UnsafePointer()); err != nil {
			return err
		}
	}
	return nil
}

// fill puts Values into the places of a shallow copy of a template. Containers of
// places are copied first, so that nothing is shared with the template. It
// returns the remaining Values.
func (n *node) fill(at unsafe.Pointer, values []tenon.Value) ([]tenon.Value, error) {
	if n.places == 0 {
		return values, nil
	}
	var err error
	switch n.kind {
	case kindStruct:
		for i := range n.fields {
			f := &n.fields[i]
			if f.node.places == 0 {
				continue
			}
			if f.node.kind == kindTensor && len(values) > 0 {
				if t, ok := values[0].(tensor.Tensor); ok {
					*(*tensor.Tensor)(unsafe.Add(at, f.offset)) = t
					values = values[1:]
					continue
				}
			}
			if values, err = f.node.fill(unsafe.Add(at, f.offset), values); err != nil {
				if f.inline {
					return nil, err
				}
				return nil, codec.Within(f.name, err)
			}
		}
	case kindSlice:
		if (*slice)(at).len == 0 {
			return values, nil
		}
		v := n.at(at)
		made := reflect.MakeSlice(n.typ, v.Len(), v.Len())
		reflect.Copy(made, v)
		v.Set(made)
		s := (*slice)(at)
		for i := range s.len {
			if values, err = n.elem.fill(unsafe.Add(s.data, uintptr(i)*n.elem.size), values); err != nil {
				return nil, codec.Within(codec.At(i), err)
			}
		}
	case kindArray:
		for i := range n.n {
			if values, err = n.elem.fill(unsafe.Add(at, uintptr(i)*n.elem.size), values); err != nil {
				return nil, codec.Within(codec.At(i), err)
			}
		}
	case kindMap:
		v := n.at(at)
		if v.Len() == 0 {
			return values, nil
		}
		made := reflect.MakeMapWithSize(n.typ, v.Len())
		key := reflect.New(n.typ.Key()).Elem()
		err = n.entries(at, func(k string, elem unsafe.Pointer) error {
			if values, err = n.elem.fill(elem, values); err != nil {
				return codec.Within(codec.Entry(k), err)
			}
			key.SetString(k)
			made.SetMapIndex(key, n.elem.at(elem))
			return nil
		})
		if err != nil {
			return nil, err
		}
		v.Set(made)
	case kindPointer:
		p := *(*unsafe.Pointer)(at)
		if p == nil {
			return values, nil
		}
		made := reflect.New(n.elem.typ)
		made.Elem().Set(n.elem.at(p))
		*(*unsafe.Pointer)(at) = made.UnsafePointer()
		return n.elem.fill(made.UnsafePointer(), values)
	default:
		if len(values) == 0 {
			return nil, tenon.NewError(tenon.ErrInvalid, "", "there are too few Values")
		}
		if err := n.store(at, values[0]); err != nil {
			return nil, err
		}
		return values[1:], nil
	}
	return values, nil
}

// same reports whether two pieces of memory contain the same static data, and
// containers with the same lengths and keys around Values.
func (n *node) same(a, b unsafe.Pointer) bool {
	switch n.kind {
	case kindTensor, kindValue, kindTyped, kindBehind:
		return true
	case kindBool:
		return *(*bool)(a) == *(*bool)(b)
	case kindInt, kindUint:
		switch n.size {
		case 8:
			return *(*uint64)(a) == *(*uint64)(b)
		case 4:
			return *(*uint32)(a) == *(*uint32)(b)
		case 2:
			return *(*uint16)(a) == *(*uint16)(b)
		}
		return *(*uint8)(a) == *(*uint8)(b)
	case kindFloat:
		x, y := n.at(a).Float(), n.at(b).Float()
		return x == y && math.Signbit(x) == math.Signbit(y) || x != x && y != y
	case kindString:
		return *(*string)(a) == *(*string)(b)
	case kindBytes:
		return string(*(*[]byte)(a)) == string(*(*[]byte)(b))
	case kindDType:
		return *(*dtype.DType)(a) == *(*dtype.DType)(b)
	case kindShape:
		return (*(*shape.Shape)(a)).Equal(*(*shape.Shape)(b))
	case kindSpec:
		return tenon.Equal(*(*tenon.Spec)(a), *(*tenon.Spec)(b))
	case kindScalar:
		x, y := *(*any)(a), *(*any)(b)
		fx, ok := x.(float64)
		fy, ok2 := y.(float64)
		if ok && ok2 {
			return fx == fy && math.Signbit(fx) == math.Signbit(fy) || fx != fx && fy != fy
		}
		return codec.IsScalar(x) && codec.IsScalar(y) && x == y
	case kindStruct:
		for i := range n.fields {
			f := &n.fields[i]
			if f.node.kind != kindTensor && !f.node.same(unsafe.Add(a, f.offset), unsafe.Add(b, f.offset)) {
				return false
			}
		}
		return true
	case kindSlice:
		s, t := (*slice)(a), (*slice)(b)
		if s.len != t.len {
			return false
		}
		for i := range s.len {
			if off := uintptr(i) * n.elem.size; !n.elem.same(unsafe.Add(s.data, off), unsafe.Add(t.data, off)) {
				return false
			}
		}
		return true
	case kindArray:
		for i := range n.n {
			if off := uintptr(i) * n.elem.size; !n.elem.same(unsafe.Add(a, off), unsafe.Add(b, off)) {
				return false
			}
		}
		return true
	case kindMap:
		return n.sameMap(a, b)
	case kindPointer:
		p, q := *(*unsafe.Pointer)(a), *(*unsafe.Pointer)(b)
		if p == nil || q == nil {
			return p == q
		}
		return n.elem.same(p, q)
	}
	return false
}

func (n *node) sameMap(a, b unsafe.Pointer) bool {
	x, y := n.at(a), n.at(b)
	if x.Len() != y.Len() {
		return false
	}
	p, q := reflect.New(n.elem.typ), reflect.New(n.elem.typ)
	for it := x.MapRange(); it.Next(); {
		other := y.MapIndex(it.Key())
		if !other.IsValid() {
			return false
		}
		p.Elem().Set(it.Value())
		q.Elem().Set(other)
		if !n.elem.same(p.UnsafePointer(), q.UnsafePointer()) {
			return false
		}
	}
	return true
}

// appendNames appends the path of each place, starting with prefix.
func (n *node) appendNames(at unsafe.Pointer, prefix string, out []string) []string {
	if n.places == 0 {
		return out
	}
	switch n.kind {
	case kindStruct:
		for i := range n.fields {
			f := &n.fields[i]
			name := prefix
			if !f.inline {
				name = codec.Join(prefix, f.name)
			}
			out = f.node.appendNames(unsafe.Add(at, f.offset), name, out)
		}
	case kindSlice:
		s := (*slice)(at)
		for i := range s.len {
			out = n.elem.appendNames(unsafe.Add(s.data, uintptr(i)*n.elem.size), prefix+codec.At(i), out)
		}
	case kindArray:
		for i := range n.n {
			out = n.elem.appendNames(unsafe.Add(at, uintptr(i)*n.elem.size), prefix+codec.At(i), out)
		}
	case kindMap:
		n.entries(at, func(k string, elem unsafe.Pointer) error {
			out = n.elem.appendNames(elem, prefix+codec.Entry(k), out)
			return nil
		})
	case kindPointer:
		if p := *(*unsafe.Pointer)(at); p != nil {
			out = n.elem.appendNames(p, prefix, out)
		}
	default:
		out = append(out, prefix)
	}
	return out
}
