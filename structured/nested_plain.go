package structured

import (
	"encoding/hex"
	"reflect"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/structured/internal/gotype"
)

// plainData converts nested data of any Go types to those that [FromNested] reads: []any,
// map[string]any, [Record] and scalars. Data that is already plain is returned as it is.
func plainData(x any) any {
	switch x := x.(type) {
	case nil, bool, string, []byte, int, int64, float64, tenon.Value, time.Time, time.Duration, element.Item:
		return x
	case keyed:
		return x
	case []any:
		for i, y := range x {
			z := plainData(y)
			if unchanged(y, z) {
				continue
			}
			out := append([]any(nil), x...)
			for out[i] = z; i < len(x); i++ {
				out[i] = plainData(x[i])
			}
			return out
		}
		return x
	case map[string]any:
		for _, y := range x {
			if z := plainData(y); !unchanged(y, z) {
				out := make(map[string]any, len(x))
				for name, y := range x {
					out[name] = plainData(y)
				}
				return out
			}
		}
		return x
	case Record:
		out := make(Record, len(x))
		for i, e := range x {
			out[i] = Entry{e.Name, plainData(e.Value)}
		}
		return out
	}
	return plainValue(reflect.ValueOf(x))
}

// keyed holds the entries of a Go map whose keys are not strings; it is never a record.
type keyed []any

// elementType returns the element type for a Go value, if it has one.
func elementType(x any) (element.Type, bool) {
	switch x := x.(type) {
	case time.Time:
		return element.TimestampOf(time.Nanosecond, "UTC"), true
	case time.Duration:
		return element.DurationOf(time.Nanosecond), true
	case element.Item:
		return x.Type, true
	}
	return element.Type{}, false
}

// unchanged reports whether a value is identical to the one it was made from.
func unchanged(x, y any) bool {
	a, b := reflect.ValueOf(x), reflect.ValueOf(y)
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() {
		return !a.IsValid() && !b.IsValid()
	}
	switch a.Kind() {
	case reflect.Slice, reflect.Map:
		return a.UnsafePointer() == b.UnsafePointer() && a.Len() == b.Len()
	}
	return true
}

// plainValue is plainData for values of other types.
func plainValue(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return plainData(v.Elem().Interface())
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 && v.Kind() == reflect.Slice {
			return string(v.Bytes())
		}
		if gotype.IsUUID(v.Type()) {
			return tenon.Must(element.ItemOf(hex.EncodeToString(gotype.UUID(v)), element.UUIDType))
		}
		out := make([]any, v.Len())
		for i := range out {
			out[i] = plainData(v.Index(i).Interface())
		}
		return out
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			if !gotype.IsKey(v.Type().Key()) {
				tenon.Throw(invalid(nestedFn, "", "the keys of %v are neither strings, numbers, booleans, times nor UUIDs", v.Type()))
			}
			var out keyed
			for _, e := range gotype.Entries(v) {
				out = append(out, Record{{keyName, plainData(e.Key.Interface())}, {valueName, plainData(e.Value.Interface())}})
			}
			return out
		}
		out := make(map[string]any, v.Len())
		for i := v.MapRange(); i.Next(); {
			out[i.Key().String()] = plainData(i.Value().Interface())
		}
		return out
	case reflect.Struct:
		p := tenon.Must(gotype.Of(nestedFn, v.Type()))
		out := make(Record, len(p.Fields))
		for i, f := range p.Fields {
			out[i] = Entry{f.Name, plainData(v.FieldByIndex(f.Index).Interface())}
		}
		return out
	case reflect.String:
		return v.String()
	case reflect.Bool:
		return v.Bool()
	}
	return v.Interface()
}
