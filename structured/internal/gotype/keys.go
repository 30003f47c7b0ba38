package gotype

import (
	"bytes"
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// IsKey reports whether values of a Go type can be keys of maps: strings, numbers, booleans, times
// and UUIDs.
func IsKey(t reflect.Type) bool {
	k := t.Kind()
	isComplex := k == reflect.Complex64 || k == reflect.Complex128
	return t == timeType || k == reflect.String || numeric(t) && !isComplex || IsUUID(t)
}

// An Entry is a key of a map with its value.
type Entry struct{ Key, Value reflect.Value }

// Entries returns the entries of a map, sorted by key. The type of the keys must satisfy [IsKey].
func Entries(m reflect.Value) []Entry {
	out := make([]Entry, 0, m.Len())
	for i := m.MapRange(); i.Next(); { // a NaN key cannot be looked up
		out = append(out, Entry{i.Key(), i.Value()})
	}
	slices.SortFunc(out, func(a, b Entry) int { return compared(a.Key, b.Key) })
	return out
}

func compared(a, b reflect.Value) int {
	switch {
	case a.Type() == timeType:
		return a.Interface().(time.Time).Compare(b.Interface().(time.Time))
	case a.Kind() == reflect.String:
		return cmp.Compare(a.String(), b.String())
	case a.Kind() == reflect.Bool:
		return strings.Compare(strconv.FormatBool(a.Bool()), strconv.FormatBool(b.Bool()))
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanFloat():
		return cmp.Compare(a.Float(), b.Float())
	case a.Kind() == reflect.Array:
		return bytes.Compare(UUID(a), UUID(b))
	}
	return cmp.Compare(a.Uint(), b.Uint())
}

// UUID returns the bytes of a UUID.
func UUID(x reflect.Value) []byte {
	out := make([]byte, x.Len())
	reflect.Copy(reflect.ValueOf(out), x)
	return out
}
