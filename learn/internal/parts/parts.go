package parts

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/nest"
)

// maxDepth is that of package nest.
const maxDepth = 200

// Walk calls visit with each part of a model, from the outside in, and the path that package
// nest gives it: structs, what they and slices, arrays and maps hold, pointers and what they point to.
// Where visit returns false, what the part is made of is left out.
func Walk(model any, visit func(path nest.Path, v reflect.Value) bool) {
	walk(reflect.ValueOf(model), nil, 0, visit)
}

func walk(v reflect.Value, path nest.Path, depth int, visit func(nest.Path, reflect.Value) bool) {
	if !v.IsValid() || depth > maxDepth || !visit(path, v) {
		return
	}
	if v.Kind() != reflect.Interface && v.Type().Implements(reflect.TypeFor[tenon.Value]()) {
		return
	}
	below := func(v reflect.Value, step any) { walk(v, append(path[:len(path):len(path)], step), depth+1, visit) }
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		walk(v.Elem(), path, depth+1, visit)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			below(v.Index(i), i)
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, k := range keys {
			below(v.MapIndex(k), fmt.Sprint(k))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if name, ok := named(v.Type().Field(i)); ok {
				below(v.Field(i), name)
			}
		}
	}
}

// named returns the name of a field in paths, and whether it takes part.
func named(f reflect.StructField) (name string, ok bool) {
	tag := f.Tag.Get("tenon")
	if !f.IsExported() || tag == "-" {
		return "", false
	}
	for item := range strings.SplitSeq(tag, ",") {
		switch item = strings.TrimSpace(item); {
		case item == "static":
			return "", false
		case strings.HasPrefix(item, "name="):
			return strings.TrimPrefix(item, "name="), true
		}
	}
	return f.Name, true
}

// Below returns what follows a prefix in a path of the same place or one below it.
func Below(path, prefix string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, prefix)
	return rest, ok && (rest == "" || prefix == "" || rest[0] == '.' || rest[0] == '[')
}

// Of returns the paths of the parts of a model that are of a type, the outermost only.
func Of[T any](model any) (paths []string) {
	Walk(model, func(path nest.Path, v reflect.Value) bool {
		if v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer || !v.CanInterface() {
			return true // what is inside is asked
		}
		_, is := v.Interface().(T)
		if is {
			paths = append(paths, path.String())
		}
		return !is
	})
	return paths
}
