package ragged

import (
	"log/slog"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// Plain returns the tensor as nested lists; see tensor.Plain.
func (t *Tensor) Plain() (any, error) {
	flat, err := tensor.Plain(t.flat)
	if err != nil {
		return nil, err
	}
	entries, ok := flat.([]any)
	if !ok {
		return nil, failed(tenon.ErrUnsupported, "ragged.Plain", "", "a %T is not a list of the contents of rows", flat)
	}
	for i := len(t.parts) - 1; i >= 0; i-- {
		s, ok := t.parts[i].Splits64()
		if !ok {
			return nil, symbolic("ragged.Plain")
		}
		rows := make([]any, len(s)-1)
		for r := range rows {
			rows[r] = entries[s[r]:s[r+1]:s[r+1]]
		}
		entries = rows
	}
	return entries, nil
}

// FromPlain makes a tensor from nested lists; see tensor.FromPlain.
func (s *Spec) FromPlain(x any) (v tenon.Value, err error) {
	defer tenon.Catch(&err)
	lists := []any{x}
	splits := make([][]int64, len(s.parts)+1)
	for i := range splits {
		ends, below := []int64{0}, []any{}
		for _, y := range lists {
			list, ok := y.([]any)
			if !ok {
				return nil, failed(tenon.ErrInvalid, "ragged.FromPlain", "", "want lists that are nested %d deep, got a %T", len(splits), y)
			}
			below = append(below, list...)
			ends = append(ends, int64(len(below)))
		}
		lists, splits[i] = below, ends
	}
	parts := []tenon.Value{tenon.Must(tensor.FromPlain(lists, s.flat))}
	for i, p := range s.parts {
		made := tenon.Must(PartitionFromRowSplits(splits[i+1], PartitionOptions{}))
		if p.uniform {
			made = made.DetectUniform()
		}
		parts = append(parts, tenon.Must(made.WithDType(p.dtype)))
	}
	v = tenon.Must(s.Assemble(parts))
	return v, tenon.Check(v)
}

// MarshalJSON writes the value as tensor.AppendJSON does.
func (t *Tensor) MarshalJSON() ([]byte, error) { return tensor.AppendJSON(nil, t) }

// LogValue returns one line for package log/slog.
func (t *Tensor) LogValue() slog.Value { return tensor.LogValue(t) }

// MarshalJSON writes the value as tensor.AppendJSON does.
func (p *RowPartition) MarshalJSON() ([]byte, error) { return tensor.AppendJSON(nil, p) }

// LogValue returns one line for package log/slog.
func (p *RowPartition) LogValue() slog.Value { return tensor.LogValue(p) }

// MarshalJSON writes the value as tensor.AppendJSON does.
func (s *Shape) MarshalJSON() ([]byte, error) { return tensor.AppendJSON(nil, s) }

// LogValue returns one line for package log/slog.
func (s *Shape) LogValue() slog.Value { return tensor.LogValue(s) }
