package ext

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A Spec owns its static data, and so does each assembled value: if a caller changes a slice, a map
// or the target of a pointer, it changes only the value that it holds.

// mark determines what memory of a type must be copied and how deep it may nest. Because types may
// refer to themselves, it is repeated until nothing changes.
func (n *node) mark() {
	for changed := true; changed; {
		changed = false
		n.marked(map[*node]bool{}, &changed)
	}
}

func (n *node) marked(seen map[*node]bool, changed *bool) {
	if seen[n] || n.kind >= kindTensor && n.kind <= kindBehind {
		return
	}
	seen[n] = true
	shares, deep := n.kind == kindBytes || len(n.ignored) > 0, n.recursive
	inner := func(e *node) {
		e.marked(seen, changed)
		shares, deep = shares || e.shares, deep || e.deep
	}
	for _, f := range n.fields {
		inner(f.node)
	}
	if n.elem != nil {
		inner(n.elem)
		shares = shares || n.kind != kindArray && n.places == 0
	}
	if shares != n.shares || deep != n.deep {
		n.shares, n.deep, *changed = shares, deep, true
	}
}

// own gives a shallow copy its own static data and clears the fields that belong to a single value.
func (n *node) own(at unsafe.Pointer) {
	if !n.shares {
		return
	}
	switch n.kind {
	case kindBytes:
		b := n.at(at)
		b.SetBytes(slices.Clone(b.Bytes()))
	case kindStruct:
		for _, f := range n.ignored {
			reflect.NewAt(f.Type, unsafe.Add(at, f.Offset)).Elem().SetZero()
		}
		for i := range n.fields {
			n.fields[i].node.own(unsafe.Add(at, n.fields[i].offset))
		}
	case kindArray:
		for i := range n.n {
			n.elem.own(unsafe.Add(at, uintptr(i)*n.elem.size))
		}
	case kindSlice:
		v := n.at(at)
		if v.IsNil() {
			return
		}
		made := reflect.MakeSlice(n.typ, v.Len(), v.Len())
		reflect.Copy(made, v)
		v.Set(made)
		s := (*slice)(at)
		for i := range s.len {
			n.elem.own(unsafe.Add(s.data, uintptr(i)*n.elem.size))
		}
	case kindMap:
		v := n.at(at)
		if v.IsNil() {
			return
		}
		made := reflect.MakeMapWithSize(n.typ, v.Len())
		elem := reflect.New(n.elem.typ)
		for it := v.MapRange(); it.Next(); {
			elem.Elem().Set(it.Value())
			n.elem.own(elem.UnsafePointer())
			made.SetMapIndex(it.Key(), elem.Elem())
		}
		v.Set(made)
	case kindPointer:
		v := n.at(at)
		if v.IsNil() {
			return
		}
		made := reflect.New(n.elem.typ)
		made.Elem().Set(v.Elem())
		n.elem.own(made.UnsafePointer())
		v.Set(made)
	}
}

// maxDepth bounds the nesting of a value's containers and of the Values in it.
const maxDepth = 200

// shown is the number of steps of a nest's path that an error shows.
const shown = 6

func tooDeep() error {
	return &tenon.Error{Kind: tenon.ErrInvalid, Msg: fmt.Sprintf("the value nests more than %d deep, or contains itself", maxDepth)}
}

// bounded returns an error if containers of a type that refers to itself are nested too deep.
func (n *node) bounded(at unsafe.Pointer, left int) error {
	if !n.deep {
		return nil
	}
	if left == 0 {
		return tooDeep()
	}
	step := func(elem *node, at unsafe.Pointer, name string) error {
		err := elem.bounded(at, left-1)
		if err == nil || name == "" || maxDepth-left > shown {
			return err
		}
		return codec.Within(name, err)
	}
	switch n.kind {
	case kindStruct:
		for i := range n.fields {
			f := &n.fields[i]
			if err := step(f.node, unsafe.Add(at, f.offset), f.name); err != nil {
				return err
			}
		}
	case kindSlice:
		s := (*slice)(at)
		for i := range s.len {
			if err := step(n.elem, unsafe.Add(s.data, uintptr(i)*n.elem.size), codec.At(i)); err != nil {
				return err
			}
		}
	case kindArray:
		for i := range n.n {
			if err := step(n.elem, unsafe.Add(at, uintptr(i)*n.elem.size), codec.At(i)); err != nil {
				return err
			}
		}
	case kindMap:
		return n.entries(at, func(k string, elem unsafe.Pointer) error { return step(n.elem, elem, codec.Entry(k)) })
	case kindPointer:
		if p := *(*unsafe.Pointer)(at); p != nil {
			return step(n.elem, p, "")
		}
	}
	return nil
}

// specsOf appends the Spec of each Value, nil if there is none; bad is the index of a Value that
// caused an error. Values of registered types are handled here so that their nesting is bounded,
// since their Spec method calls SpecOf.
func specsOf(out []tenon.Spec, values []tenon.Value, left int) (specs []tenon.Spec, bad int, err error) {
	for k, v := range values {
		s, err := specWithin(v, left)
		if err != nil {
			return nil, k, err
		}
		out = append(out, s)
	}
	return out, 0, nil
}

func specWithin(v tenon.Value, left int) (tenon.Spec, error) {
	var i *info
	switch v := v.(type) {
	case nil:
		return nil, nil
	case *tensor.Dense, *tensor.Strings:
		return v.Spec(), nil
	case *Record:
		if v != nil {
			i = v.info
		}
	default:
		i = infoOf(reflect.TypeOf(v))
	}
	if i == nil {
		return v.Spec(), nil
	}
	p, ok := i.unbox(v)
	if !ok {
		return v.Spec(), nil
	}
	if left == 0 {
		return nil, tooDeep()
	}
	s, err := i.specAt(p, left-1)
	if err != nil {
		return nil, err
	}
	return s.outer, nil
}

// hashOf returns a number that is the same for equal Specs, so that Specs that differ deep inside
// are distinguished quickly.
func hashOf(s tenon.Spec) uint64 {
	switch s := s.(type) {
	case nil:
		return 1
	case *tensor.Spec:
		return mix(hashShape(s.Shape()), hashDType(s.DType()))
	}
	if d, ok := specOf(s); ok {
		return d.hash
	}
	return uint64(len(s.TypeName()))
}

// hashAll is hashOf for a list of Specs.
func hashAll(specs []tenon.Spec) uint64 {
	h := uint64(len(specs))
	for _, s := range specs {
		h = mix(h, hashOf(s))
	}
	return h
}

func hashDType(d dtype.DType) uint64 { return uint64(d) }

func hashShape(s shape.Shape) uint64 {
	h := uint64(int64(s.Rank()))
	for i := range s.Rank() {
		h = mix(h, uint64(int64(s.Dim(i))))
	}
	return h
}

func mix(h, x uint64) uint64 {
	h = (h ^ x) * 0x9E3779B97F4A7C15
	return h ^ h>>29
}
