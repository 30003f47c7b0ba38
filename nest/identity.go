package nest

import (
	"math"
	"reflect"
	"strings"
	"unsafe"
)

// SameData reports whether two pieces of Go data are deeply equal, where NaN equals NaN, 0 differs
// from -0, and functions are equal if they are the same closure.
func SameData(a, b any) bool {
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
	switch x := a.(type) {
	case nil:
		return true
	case float64:
		return sameFloat(x, b.(float64))
	case float32:
		return sameFloat(float64(x), float64(b.(float32)))
	case []float64:
		y := b.([]float64)
		if len(x) != len(y) || (x == nil) != (y == nil) {
			return false
		}
		for i := range x {
			if !sameFloat(x[i], y[i]) {
				return false
			}
		}
		return true
	case []float32:
		y := b.([]float32)
		if len(x) != len(y) || (x == nil) != (y == nil) {
			return false
		}
		for i := range x {
			if !sameFloat(float64(x[i]), float64(y[i])) {
				return false
			}
		}
		return true
	}
	switch r := reflect.ValueOf(a); {
	case r.Kind() == reflect.Func:
		return words(&a)[1] == words(&b)[1]
	case r.CanFloat():
		return sameFloat(r.Float(), reflect.ValueOf(b).Float())
	}
	return reflect.DeepEqual(a, b)
}

func sameFloat(x, y float64) bool {
	return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
}

// identical reports whether two pieces of memory of a type contain equal scalars and refer to the
// same memory. Locks are not compared.
func identical(t reflect.Type, a, b unsafe.Pointer) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Chan, reflect.Func, reflect.Map, reflect.UnsafePointer:
		return *(*unsafe.Pointer)(a) == *(*unsafe.Pointer)(b)
	case reflect.Slice:
		x, y := (*slice)(a), (*slice)(b)
		return x.data == y.data && x.len == y.len
	case reflect.String:
		return *(*string)(a) == *(*string)(b)
	case reflect.Interface:
		x, y := (*[2]unsafe.Pointer)(a), (*[2]unsafe.Pointer)(b)
		if *x == *y {
			return true
		}
		v, w := reflect.NewAt(t, a).Elem(), reflect.NewAt(t, b).Elem()
		return x[0] == y[0] && v.Elem().Comparable() && v.Interface() == w.Interface()
	case reflect.Struct:
		if t.PkgPath() == "sync" || strings.HasPrefix(t.PkgPath(), "internal/") {
			return true
		}
		for i := range t.NumField() {
			if f := t.Field(i); !identical(f.Type, unsafe.Add(a, f.Offset), unsafe.Add(b, f.Offset)) {
				return false
			}
		}
		return true
	case reflect.Array:
		for i := range t.Len() {
			if off := uintptr(i) * t.Elem().Size(); !identical(t.Elem(), unsafe.Add(a, off), unsafe.Add(b, off)) {
				return false
			}
		}
		return true
	}
	n := t.Size() // a scalar
	return string(unsafe.Slice((*byte)(a), n)) == string(unsafe.Slice((*byte)(b), n))
}
