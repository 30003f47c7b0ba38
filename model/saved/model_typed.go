package saved

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/nest"
)

// As returns a function of a model as a Go function of type F. Its arguments and results are
// Values, or structures of Values whose fields have the names that the model knows. The numbers
// of arguments and results and their structures are checked by As; Specs are checked in each
// call. If the last result has type error, it receives errors, which are otherwise thrown.
func As[F any](m *Model, name string) (F, error) {
	var zero F
	f := m.Function(name)
	if f == nil {
		e := modelError(tenon.ErrNotFound, name, "there is no such function")
		e.Hint = "the model has " + some(m.names())
		return zero, e
	}
	t := reflect.TypeFor[F]()
	if t.Kind() != reflect.Func || t.IsVariadic() {
		return zero, modelError(tenon.ErrDType, name, "%v is not a function type with a fixed number of arguments", t)
	}
	c := &typed{f: f, t: t, outs: t.NumOut()}
	if c.outs > 0 && t.Out(c.outs-1) == reflect.TypeFor[error]() {
		c.outs--
		c.hasErr = true
	}
	for _, v := range f.variants {
		if err := c.check(v); err != nil {
			return zero, &tenon.Error{Kind: tenon.ErrDType, Op: "saved.As", Where: name, Err: err, Line: source.Line(), Hint: "the function is " + f.String()}
		}
	}
	return reflect.MakeFunc(t, c.call).Interface().(F), nil
}

// typed is a function of a model with a Go type.
type typed struct {
	f      *Func
	t      reflect.Type
	outs   int // results other than the error
	hasErr bool
}

// check compares the Go type with a variant.
func (c *typed) check(v *variant) error {
	ins := make([]reflect.Type, c.t.NumIn())
	for i := range ins {
		ins[i] = c.t.In(i)
	}
	outs := make([]reflect.Type, c.outs)
	for i := range outs {
		outs[i] = c.t.Out(i)
	}
	if err := fits("argument", ins, v.args); err != nil {
		return err
	}
	return fits("result", outs, v.results)
}

// fits reports leaves for which the types have no place.
func fits(what string, types []reflect.Type, leaves []function.Leaf) error {
	used := make([]bool, len(types))
	for _, l := range leaves {
		i, ok := l.Path[0].(int)
		if !ok || i >= len(types) {
			return fmt.Errorf("the type has no place for %s %v", what, l.Path)
		}
		used[i] = true
		if err := hasPlace(types[i], l.Path[1:]); err != nil {
			return fmt.Errorf("%s %v: %w", what, l.Path, err)
		}
	}
	for i, u := range used {
		if !u {
			return fmt.Errorf("the function has no %s %d, but the type has", what, i)
		}
	}
	return nil
}

var valueType = reflect.TypeFor[tenon.Value]()

// hasPlace reports whether a structure of a type can have a leaf at a path.
func hasPlace(t reflect.Type, path nest.Path) error {
	if t.Implements(valueType) || t.Kind() == reflect.Interface || len(path) == 0 {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return hasPlace(t.Elem(), path)
	case reflect.Slice, reflect.Array, reflect.Map:
		return hasPlace(t.Elem(), path[1:])
	case reflect.Struct:
		name, _ := path[0].(string)
		for i := range t.NumField() {
			if f := t.Field(i); f.Name == name || fieldName(f) == name {
				return hasPlace(f.Type, path[1:])
			}
		}
		return fmt.Errorf("a %v has no field %v", t, path[0])
	}
	return fmt.Errorf("a %v has no place for it", t)
}

// call calls the function and converts the results to the Go types.
func (c *typed) call(in []reflect.Value) []reflect.Value {
	out := make([]reflect.Value, c.t.NumOut())
	for i := range out {
		out[i] = reflect.Zero(c.t.Out(i))
	}
	args := make([]any, len(in))
	for i, v := range in {
		args[i] = v.Interface()
	}
	res, err := c.f.Call(args...)
	for i := 0; i < c.outs && err == nil; i++ {
		v := reflect.New(c.t.Out(i)).Elem()
		if i >= len(res) {
			err = fmt.Errorf("there is no result %d", i)
		} else if err = assign(v, res[i]); err == nil {
			out[i] = v
		} else {
			err = &tenon.Error{Kind: tenon.ErrDType, Op: c.f.name, Where: fmt.Sprintf("result %d", i), Err: err, Line: source.Line()}
		}
	}
	if err != nil {
		if !c.hasErr {
			tenon.Throw(err)
		}
		out[len(out)-1] = reflect.ValueOf(&err).Elem()
	}
	return out
}

// assign sets a Go value to a result of a model's function.
func assign(to reflect.Value, x any) error {
	if x == nil {
		return nil
	}
	v := reflect.ValueOf(x)
	if v.Type().AssignableTo(to.Type()) {
		to.Set(v)
		return nil
	}
	switch x := x.(type) {
	case map[string]any:
		return assignMap(to, x)
	case []any:
		return assignList(to, x)
	}
	if v.CanConvert(to.Type()) && !v.Type().Implements(valueType) && v.Kind() != reflect.String && to.Kind() != reflect.String {
		to.Set(v.Convert(to.Type()))
		return nil
	}
	return fmt.Errorf("a %T does not fit a %v", x, to.Type())
}

func assignMap(to reflect.Value, x map[string]any) error {
	switch to.Kind() {
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return assignMap(to.Elem(), x)
	case reflect.Map:
		m := reflect.MakeMap(to.Type())
		for k, e := range x {
			v := reflect.New(to.Type().Elem()).Elem()
			if err := assign(v, e); err != nil {
				return fmt.Errorf("%s: %w", k, err)
			}
			m.SetMapIndex(reflect.ValueOf(k).Convert(to.Type().Key()), v)
		}
		to.Set(m)
		return nil
	case reflect.Struct:
		for i := range to.NumField() {
			f := to.Type().Field(i)
			e, ok := x[f.Name]
			if !ok {
				e, ok = x[fieldName(f)]
			}
			if !ok || !f.IsExported() {
				continue
			}
			if err := assign(to.Field(i), e); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		return nil
	}
	return fmt.Errorf("a structure does not fit a %v", to.Type())
}

func assignList(to reflect.Value, x []any) error {
	switch to.Kind() {
	case reflect.Slice:
		to.Set(reflect.MakeSlice(to.Type(), len(x), len(x)))
	case reflect.Array:
		if to.Len() != len(x) {
			return fmt.Errorf("%d entries do not fit a %v", len(x), to.Type())
		}
	default:
		return fmt.Errorf("a list does not fit a %v", to.Type())
	}
	for i, e := range x {
		if err := assign(to.Index(i), e); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return nil
}

// fieldName returns the name of a field in paths: that in its tag, or its own.
func fieldName(f reflect.StructField) string {
	for item := range strings.SplitSeq(f.Tag.Get("tenon"), ",") {
		if name, ok := strings.CutPrefix(strings.TrimSpace(item), "name="); ok {
			return name
		}
	}
	return f.Name
}
