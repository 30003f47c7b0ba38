package structured

import (
	"encoding/json"
	"log/slog"
	"math"
	"strconv"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// Plain returns the same data as [Tensor.ToNested]; see tensor.Plain.
func (t *Tensor) Plain() (any, error) { return t.ToNested() }

// FromPlain makes records from plain data, as [FromNested] does; see
// tensor.FromPlain.
func (s *Spec) FromPlain(x any) (tenon.Value, error) {
	return FromNested(goNumbers(x, s), NestedOptions{Spec: s})
}

// goNumbers converts the numbers in the text of a document to Go numbers of the types in a Spec.
func goNumbers(x any, s tenon.Spec) any {
	switch x := x.(type) {
	case []any:
		out := make([]any, len(x))
		for i, y := range x {
			out[i] = goNumbers(y, s)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for name, y := range x {
			out[name] = goNumbers(y, fieldOf(s, name))
		}
		return out
	case string:
		if t, ok := s.(typedSpec); ok && t.DType().IsFloat() {
			switch x {
			case "NaN":
				return math.NaN()
			case "Infinity":
				return math.Inf(1)
			case "-Infinity":
				return math.Inf(-1)
			}
		}
	case json.Number:
		if n, err := strconv.ParseInt(string(x), 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseUint(string(x), 10, 64); err == nil {
			return n
		}
		if f, err := x.Float64(); err == nil {
			return f
		}
	}
	return x
}

// fieldOf returns the Spec of a field of records, also if the records are inside another type.
func fieldOf(s tenon.Spec, name string) tenon.Spec {
	switch t := s.(type) {
	case *Spec:
		for _, c := range t.cols {
			if c.name == name {
				return c.spec
			}
		}
	case interface{ Values() tenon.Spec }:
		return fieldOf(t.Values(), name)
	case interface{ Flat() tenon.Spec }:
		return fieldOf(t.Flat(), name)
	}
	return nil
}

// MarshalJSON writes the value as tensor.AppendJSON does.
func (t *Tensor) MarshalJSON() ([]byte, error) { return tensor.AppendJSON(nil, t) }

// LogValue returns one line for package log/slog.
func (t *Tensor) LogValue() slog.Value { return tensor.LogValue(t) }

// plainField is the name of the only field of records that stand for a single column.
const plainField = "v"

// plainOf returns a column in the form that ToNested returns inside records.
func plainOf(v tensor.Tensor) (any, error) {
	t, err := FromFieldsAndRank([]Field{{Name: plainField, Value: v}}, min(v.Shape().Rank(), 1), Options{})
	if err != nil {
		return nil, err
	}
	x, err := t.ToNested()
	if list, ok := x.([]any); ok {
		for i, r := range list {
			list[i] = r.(map[string]any)[plainField]
		}
		return list, err
	}
	if err != nil {
		return nil, err
	}
	return x.(map[string]any)[plainField], nil
}

// fromPlain is the inverse of plainOf.
func fromPlain(s tenon.Spec, x any) (tenon.Value, error) {
	dims := s.(typedSpec).Shape()
	rank := min(dims.Rank(), 1)
	rec, err := NewSpec(dims.Slice(0, rank), []tenon.Field{{Name: plainField, Spec: s}})
	if err != nil {
		return nil, err
	}
	if list, ok := x.([]any); ok && rank == 1 {
		records := make([]any, len(list))
		for i, y := range list {
			records[i] = map[string]any{plainField: y}
		}
		x = records
	} else {
		x = map[string]any{plainField: x}
	}
	v, err := rec.FromPlain(x)
	if err != nil {
		return nil, err
	}
	return v.(*Tensor).Field(plainField)
}

// Plain returns a map for each element; see tensor.Plain.
func (m *Map) Plain() (any, error) { return plainOf(m) }

// Plain returns the words; see tensor.Plain.
func (d *Dictionary) Plain() (any, error) { return plainOf(d) }

// FromPlain is the inverse of Map.Plain; see tensor.FromPlain.
func (s *MapSpec) FromPlain(x any) (tenon.Value, error) { return fromPlain(s, x) }

// FromPlain is the inverse of Dictionary.Plain; see tensor.FromPlain.
func (s *DictionarySpec) FromPlain(x any) (tenon.Value, error) { return fromPlain(s, x) }

// MarshalJSON writes the value as tensor.AppendJSON does: an object for each element.
func (m *Map) MarshalJSON() ([]byte, error) { return tensor.AppendJSON(nil, m) }

// MarshalJSON writes the value as tensor.AppendJSON does: its components, which include the type of
// each element.
func (u *Union) MarshalJSON() ([]byte, error) { return tensor.AppendJSON(nil, u) }

// MarshalJSON writes the words as tensor.AppendJSON does.
func (d *Dictionary) MarshalJSON() ([]byte, error) { return tensor.AppendJSON(nil, d) }

// LogValue returns one line for package log/slog.
func (m *Map) LogValue() slog.Value { return tensor.LogValue(m) }

// LogValue returns one line for package log/slog.
func (u *Union) LogValue() slog.Value { return tensor.LogValue(u) }

// LogValue returns one line for package log/slog.
func (d *Dictionary) LogValue() slog.Value { return tensor.LogValue(d) }

// MarshalJSON writes the value as tensor.AppendJSON does.
func (h *Held) MarshalJSON() ([]byte, error) { return tensor.AppendJSON(nil, h) }

// LogValue returns one line for package log/slog.
func (h *Held) LogValue() slog.Value { return tensor.LogValue(h) }
