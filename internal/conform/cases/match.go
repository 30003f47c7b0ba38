package cases

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
)

// A Matcher compares answers with what a case wants.
type Matcher struct {
	Case *Case
	Tol  Tolerance
}

// forms says, by the start of a group's name, how answers are written there.
var forms = map[string]func(got any) any{}

// HandleForm says how the cases of the groups whose names start with a prefix write an
// answer that can be written in several ways.
func HandleForm(prefix string, f func(got any) any) { forms[prefix] = f }

// written returns an answer in the form of the case's group.
func (m *Matcher) written(got any) any {
	if m.Case == nil || m.Case.File == nil {
		return got
	}
	for prefix, f := range forms {
		if strings.HasPrefix(m.Case.File.Group, prefix) {
			got = f(got)
		}
	}
	return got
}

// Match returns nil if got is what is written, and what differs otherwise. A
// written list without a type asks for several results in order: any Go slice.
func (m *Matcher) Match(want, got any) error {
	got = m.written(got)
	switch w := want.(type) {
	case []any:
		return m.MatchList(w, got)
	case Object:
		name, ok := w["type"].(string)
		if !ok {
			return m.MatchEntries(w, got)
		}
		k, ok := kinds[name]
		if !ok {
			return fmt.Errorf("value type %q: %w", name, ErrUnknown)
		}
		return k.Compare(m, w, got)
	}
	return m.MatchPlain(want, got)
}

// MatchList compares the elements of a list with those of a Go slice or array.
func (m *Matcher) MatchList(want []any, got any) error {
	v := reflect.ValueOf(got)
	if !v.IsValid() || v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		return fmt.Errorf("got a %T, want a list of %d", got, len(want))
	}
	if v.Len() != len(want) {
		return fmt.Errorf("got %d elements, want %d", v.Len(), len(want))
	}
	for i, w := range want {
		if err := m.Match(w, v.Index(i).Interface()); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return nil
}

// MatchEntries compares the entries of an object with those of a Go map with
// string keys.
func (m *Matcher) MatchEntries(want map[string]any, got any) error {
	v := reflect.ValueOf(got)
	if !v.IsValid() || v.Kind() != reflect.Map || v.Type().Key().Kind() != reflect.String {
		return fmt.Errorf("got a %T, want a map of %d", got, len(want))
	}
	for key, w := range want {
		e := v.MapIndex(reflect.ValueOf(key).Convert(v.Type().Key()))
		if !e.IsValid() {
			return fmt.Errorf("key %q is missing", key)
		}
		if err := m.Match(w, e.Interface()); err != nil {
			return fmt.Errorf("[%q]: %w", key, err)
		}
	}
	if v.Len() != len(want) {
		return fmt.Errorf("got %d keys, want %d", v.Len(), len(want))
	}
	return nil
}

// MatchPlain compares plain JSON with Go data: numbers by value (an int is no
// float), nil, truth values, strings, slices, and maps with string keys. The
// strings that stand for NaN and the infinities match such floats too.
func (m *Matcher) MatchPlain(want, got any) error {
	fail := func() error { return fmt.Errorf("got the %T %v, want %v", got, got, want) }
	v := reflect.ValueOf(got)
	for v.IsValid() && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) {
		v = v.Elem()
	}
	switch w := want.(type) {
	case nil:
		if v.IsValid() && !(v.Kind() == reflect.Map || v.Kind() == reflect.Slice) || v.IsValid() && !v.IsNil() {
			return fail()
		}
	case bool:
		if !v.IsValid() || v.Kind() != reflect.Bool || v.Bool() != w {
			return fail()
		}
	case string:
		if f, ok := special(w); ok && v.IsValid() && v.CanFloat() {
			if !sameFloat(f, v.Float()) {
				return fail()
			}
			return nil
		}
		if !v.IsValid() || v.Kind() != reflect.String || v.String() != w {
			return fail()
		}
	case json.Number:
		n, err := number(w)
		if err != nil {
			return err
		}
		if !v.IsValid() || !m.sameNumber(n, v) {
			return fail()
		}
	case []any:
		if !v.IsValid() || v.Kind() != reflect.Slice && v.Kind() != reflect.Array || v.Len() != len(w) {
			return fail()
		}
		for i, e := range w {
			if err := m.MatchPlain(e, v.Index(i).Interface()); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
	case map[string]any:
		if !v.IsValid() || v.Kind() != reflect.Map || v.Type().Key().Kind() != reflect.String || v.Len() != len(w) {
			return fail()
		}
		for key, e := range w {
			g := v.MapIndex(reflect.ValueOf(key).Convert(v.Type().Key()))
			if !g.IsValid() {
				return fmt.Errorf("key %q is missing", key)
			}
			if err := m.MatchPlain(e, g.Interface()); err != nil {
				return fmt.Errorf("[%q]: %w", key, err)
			}
		}
	}
	return nil
}

func (m *Matcher) sameNumber(want any, got reflect.Value) bool {
	switch w := want.(type) {
	case int:
		return got.CanInt() && got.Int() == int64(w) || got.CanUint() && w >= 0 && got.Uint() == uint64(w)
	case uint64:
		return got.CanUint() && got.Uint() == w
	case float64:
		return got.CanFloat() && m.closeFloat(w, got.Float())
	}
	return false
}

func sameFloat(a, b float64) bool { return a == b || a != a && b != b }

// closeFloat compares within the absolute and relative tolerance.
func (m *Matcher) closeFloat(want, got float64) bool {
	if sameFloat(want, got) {
		return !m.Tol.SignedZero || want != 0 || math.Signbit(want) == math.Signbit(got)
	}
	return math.Abs(got-want) <= m.Tol.Atol+m.Tol.Rtol*math.Abs(want) && !math.IsInf(want, 0)
}
