package state

import (
	"log/slog"

	"github.com/tenonml/tenon/tensor"
)

// MarshalJSON writes the value of the variable as tensor.AppendJSON does.
func (v *Variable) MarshalJSON() ([]byte, error) { return tensor.AppendJSON(nil, v.Value()) }

// LogValue returns one line for package log/slog.
func (v *Variable) LogValue() slog.Value { return tensor.LogValue(v.Value()) }

// MarshalJSON writes the current Value as tensor.AppendJSON does.
func (o *Of[T]) MarshalJSON() ([]byte, error) {
	x, err := o.Value()
	if err != nil {
		return nil, err
	}
	return tensor.AppendJSON(nil, x)
}

// LogValue returns one line for package log/slog.
func (o *Of[T]) LogValue() slog.Value {
	x, err := o.Value()
	if err != nil {
		return slog.StringValue(err.Error())
	}
	return tensor.LogValue(x)
}
