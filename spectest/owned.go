package spectest

import (
	"reflect"

	"github.com/tenonml/tenon"
)

// owned checks that assembled values share no memory with their Spec or with each other: a change
// to what one of them holds must affect only that one.
func (c *checker) owned(v tenon.Value, s tenon.Spec) {
	parts, err := s.Disassemble(v)
	if err != nil || tenon.IsLeaf(s) {
		return
	}
	first, err := s.Assemble(parts)
	if err != nil {
		return // reported elsewhere
	}
	second, err := s.Assemble(parts)
	if err != nil {
		return
	}
	text := tenon.Text(s)
	if path := travels(reflect.ValueOf(v), reflect.ValueOf(first)); path != "" {
		c.broken("owned", "the field %s, which is left out, is that of another value", path)
	}
	if !disturb(held(first)) {
		return
	}
	if now := tenon.Text(s); now != text {
		c.broken("owned", "a change of a value makes its Spec %s", now)
	}
	if !tenon.Equal(second.Spec(), s) || !tenon.Equal(v.Spec(), s) {
		c.broken("owned", "a change of a value makes another one %s", tenon.Text(second.Spec()))
	}
	if third, err := s.Assemble(parts); err != nil || !tenon.Equal(third.Spec(), s) {
		c.broken("owned", "a change of a value makes the next one %v, %v", third, err)
	}
}

// held returns what a value holds, in a settable form.
func held(v tenon.Value) reflect.Value {
	r := reflect.ValueOf(v)
	if r.Kind() == reflect.Pointer {
		return r.Elem()
	}
	c := reflect.New(r.Type()).Elem()
	c.Set(r)
	return c
}

var (
	valueType = reflect.TypeFor[tenon.Value]()
	specType  = reflect.TypeFor[tenon.Spec]()
)

// disturb changes all exported static data that r refers to, other than r itself, and reports
// whether there was any.
func disturb(r reflect.Value) (some bool) {
	switch r.Kind() {
	case reflect.Struct:
		for i := range r.NumField() {
			if f := r.Type().Field(i); f.IsExported() && !f.Type.Implements(valueType) && !f.Type.Implements(specType) {
				some = disturb(r.Field(i)) || some
			}
		}
	case reflect.Array:
		for i := range r.Len() {
			some = disturb(r.Index(i)) || some
		}
	case reflect.Slice:
		if r.Type().Elem().Implements(valueType) {
			return false
		}
		for i := range r.Len() {
			some = change(r.Index(i)) || disturb(r.Index(i)) || some
		}
	case reflect.Map:
		if r.Type().Elem().Implements(valueType) {
			return false
		}
		for _, k := range r.MapKeys() {
			e := reflect.New(r.Type().Elem()).Elem()
			e.Set(r.MapIndex(k))
			if change(e) {
				r.SetMapIndex(k, e)
				some = true
			} else {
				some = disturb(e) || some
			}
		}
	case reflect.Pointer:
		if !r.IsNil() && !r.Type().Implements(valueType) {
			return change(r.Elem()) || disturb(r.Elem())
		}
	}
	return some
}

// change changes a bool, a number or a string, and reports whether r is one.
func change(r reflect.Value) bool {
	switch k := r.Kind(); {
	case !r.CanSet():
		return false
	case k == reflect.Bool:
		r.SetBool(!r.Bool())
	case r.CanInt():
		r.SetInt(r.Int() ^ 1)
	case r.CanUint():
		r.SetUint(r.Uint() ^ 1)
	case r.CanFloat():
		r.SetFloat(r.Float() + 1)
	case k == reflect.String:
		r.SetString(r.String() + "~")
	default:
		return false
	}
	return true
}

// travels returns the name of a field with the tag "-" that has the same nonzero data in both
// values.
func travels(from, to reflect.Value) string {
	if from.Type() != to.Type() {
		return ""
	}
	if from.Kind() == reflect.Pointer {
		from, to = from.Elem(), to.Elem()
	}
	if from.Kind() != reflect.Struct {
		return ""
	}
	for i := range from.NumField() {
		f := from.Type().Field(i)
		if f.Tag.Get("tenon") == "-" && !from.Field(i).IsZero() && f.IsExported() && reflect.DeepEqual(from.Field(i).Interface(), to.Field(i).Interface()) {
			return f.Name
		}
	}
	return ""
}
