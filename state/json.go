package state

import (
	"log/slog"

	"github.com/tenonml/tenon/tensor"
)

// MarshalJSON writes what the variable holds as tensor.AppendJSON does.
func (v *Variable) MarshalJSON() ([]byte, error) { return tensor.AppendJSON(nil, v.Value()) }

// LogValue returns one line for package log/slog.
func (v *Variable) LogValue() slog.Value { return tensor.LogValue(v.Value()) }
