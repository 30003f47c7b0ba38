package sparse

import (
	"log/slog"

	"github.com/tenonml/tenon/tensor"
)

// MarshalJSON writes the value as tensor.AppendJSON does.
func (t *Tensor) MarshalJSON() ([]byte, error) { return tensor.AppendJSON(nil, t) }

// LogValue returns one line for package log/slog.
func (t *Tensor) LogValue() slog.Value { return tensor.LogValue(t) }

// MarshalJSON writes the value as tensor.AppendJSON does.
func (m *Matrix) MarshalJSON() ([]byte, error) { return tensor.AppendJSON(nil, m) }

// LogValue returns one line for package log/slog.
func (m *Matrix) LogValue() slog.Value { return tensor.LogValue(m) }
