package nest

import (
	"reflect"
	"strings"
	"sync"

	"github.com/tenonml/tenon"
)

// Tags that other packages define may promise more about the values of fields than Go types do.
// [Check] finds out whether the promises are kept.

// promises maps the keys of tags to their checks.
var promises struct {
	sync.RWMutex
	m map[string]func(tag string, owner reflect.Type, value any) error
}

// Promise registers a check for a tag: kept reports whether the value of a field of type owner
// keeps what a tag with the given key promises. Call it from init.
func Promise(key string, kept func(tag string, owner reflect.Type, value any) error) {
	promises.Lock()
	defer promises.Unlock()
	if promises.m == nil {
		promises.m = map[string]func(tag string, owner reflect.Type, value any) error{}
	}
	promises.m[key] = kept
}

// Check returns an error with the path of the first field whose value does not keep a promise of
// its tag. Code that takes a model to train or store it calls Check.
func Check(x any) error {
	promises.RLock()
	defer promises.RUnlock()
	if len(promises.m) == 0 || x == nil {
		return nil
	}
	return check(reflect.ValueOf(x), nil, 0)
}

func check(v reflect.Value, path Path, depth int) error {
	if depth > maxPromised {
		return nil // deeper nesting is rejected when the structure is taken apart
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() || isValue(v) {
			return nil
		}
		return check(v.Elem(), path, depth+1)
	case reflect.Slice, reflect.Array:
		if !mayPromise(v.Type().Elem()) {
			return nil
		}
		for i := range v.Len() {
			if err := check(v.Index(i), append(path[:len(path):len(path)], i), depth+1); err != nil {
				return err
			}
		}
	case reflect.Map:
		if !mayPromise(v.Type().Elem()) {
			return nil
		}
		for it := v.MapRange(); it.Next(); {
			if err := check(it.Value(), append(path[:len(path):len(path)], it.Key().Interface()), depth+1); err != nil {
				return err
			}
		}
	case reflect.Struct:
		if isValue(v) {
			return nil
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || strings.Contains(f.Tag.Get("tenon"), "-") {
				continue
			}
			at := append(path[:len(path):len(path)], f.Name)
			for key, kept := range promises.m {
				if text, ok := f.Tag.Lookup(key); ok {
					if err := kept(text, v.Type(), v.Field(i).Interface()); err != nil {
						e := *tenon.AsError(err)
						e.Where = at.String()
						return &e
					}
				}
			}
			if err := check(v.Field(i), at, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

const maxPromised = 64

// mayPromise reports whether values of a type may contain fields.
func mayPromise(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Array, reflect.Map, reflect.Struct:
		return true
	}
	return false
}

// isValue reports whether v holds a Value, whose fields are its own business.
func isValue(v reflect.Value) bool {
	if !v.CanInterface() {
		return true
	}
	_, ok := v.Interface().(tenon.Value)
	return ok
}
