package named

import (
	"log/slog"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// Plain returns the tensor as nested lists, with the dimensions in the order in which they are
// stored; see tensor.Plain.
func (t *Tensor) Plain() (any, error) { return tensor.Plain(t.data) }

// FromPlain makes a tensor from nested lists; see tensor.FromPlain.
func (s *Spec) FromPlain(x any) (tenon.Value, error) {
	data, err := tensor.FromPlain(x, s.inner)
	if err != nil {
		return nil, err
	}
	v, err := s.Assemble([]tenon.Value{data})
	if err != nil {
		return nil, err
	}
	return v, tenon.Check(v)
}

// MarshalJSON writes the value as tensor.AppendJSON does.
func (t *Tensor) MarshalJSON() ([]byte, error) { return tensor.AppendJSON(nil, t) }

// LogValue returns one line for package log/slog.
func (t *Tensor) LogValue() slog.Value { return tensor.LogValue(t) }
