package structured

import (
	"encoding/json"
	"log/slog"
	"math"
	"strconv"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// Plain returns the records as [Tensor.ToNested] does; see tensor.Plain.
func (t *Tensor) Plain() (any, error) { return t.ToNested() }

// FromPlain returns the records that plain data are, as [FromNested] does; see
// tensor.FromPlain.
func (s *Spec) FromPlain(x any) (tenon.Value, error) {
	return FromNested(goNumbers(x, s), NestedOptions{Spec: s})
}

// goNumbers makes Go numbers of those in the text of a document, which have the types that a
// Spec tells.
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

// fieldOf returns the Spec of a field of records, or of the records in another type.
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
