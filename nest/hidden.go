package nest

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/tenonml/tenon"
)

// Unexported fields are not walked. One that holds Values is a mistake that would go unnoticed: a
// layer that is neither trained nor saved. So it is rejected, by its type if that is conclusive,
// and otherwise by what its interfaces hold.

// unexported rejects a field whose type holds Values, and records one that may
// hold some.
func (p *plan) unexported(f reflect.StructField) *failure {
	if holds(f.Type) {
		return hiddenField(f.Name, f.Type)
	}
	if mayHold(f.Type, 0) {
		p.hidden = append(p.hidden, field{name: f.Name, offset: f.Offset, typ: f.Type})
	}
	return nil
}

func hiddenField(name string, t reflect.Type) *failure {
	err := fail(tenon.ErrInvalid, "the field is not exported, so the Values in it (%v) would be neither visited nor saved", t)
	err.hint = "export it, or omit it with the tag `tenon:\"-\"`"
	return err.at(name)
}

// hides looks at the unexported fields of a struct that may hold anything.
func (p *plan) hides(at unsafe.Pointer) *failure {
	for _, f := range p.hidden {
		if t := found(reflect.NewAt(f.typ, unsafe.Add(at, f.offset)).Elem()); t != nil {
			return hiddenField(f.name, t)
		}
	}
	return nil
}

// found returns the type of a Value, or of something that holds one, in an interface or in slices,
// arrays, maps and structs. It does not follow pointers, since what they point to may be written
// concurrently.
func found(v reflect.Value) reflect.Type {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return nil
		}
		if t := v.Elem().Type(); holds(t) {
			return t
		}
		return found(v.Elem())
	case reflect.Slice, reflect.Array:
		for i := 0; mayHold(v.Type().Elem(), 0) && i < v.Len(); i++ {
			if t := found(v.Index(i)); t != nil {
				return t
			}
		}
	case reflect.Map:
		for e := v.MapRange(); mayHold(v.Type().Elem(), 0) && e.Next(); {
			if t := found(e.Value()); t != nil {
				return t
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if t := found(v.Field(i)); t != nil {
				return t
			}
		}
	}
	return nil
}

// mayHold reports whether values of a type contain interfaces that are reached without following a
// pointer.
func mayHold(t reflect.Type, depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch t.Kind() {
	case reflect.Interface:
		return !t.Implements(specType)
	case reflect.Slice, reflect.Array, reflect.Map:
		return mayHold(t.Elem(), depth+1)
	case reflect.Struct:
		for i := range t.NumField() {
			if mayHold(t.Field(i).Type, depth+1) {
				return true
			}
		}
	}
	return false
}

var holding sync.Map // reflect.Type → bool

// holds reports whether a type contains Values for certain.
func holds(t reflect.Type) bool {
	if x, ok := holding.Load(t); ok {
		return x.(bool)
	}
	x := reaches(t, map[reflect.Type]bool{})
	holding.Store(t, x)
	return x
}

func reaches(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t.Implements(valueType) {
		return true
	}
	if seen[t] || t.Implements(specType) || t.Implements(leafType) {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map, reflect.Pointer:
		return reaches(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.Tag.Get("tenon") != "-" && reaches(f.Type, seen) {
				return true
			}
		}
	}
	return false
}
