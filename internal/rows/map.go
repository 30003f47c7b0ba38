package rows

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/tensor"
)

// Map applies f to the tensors that hold the rows of a batch, and assembles a Value from the
// results; what all rows share is unchanged. where is the path to a tensor.
func Map(v tenon.Value, f func(where string, t tensor.Tensor) tensor.Tensor) (tenon.Value, error) {
	return mapped(v, "", f)
}

func mapped(v tenon.Value, where string, f func(string, tensor.Tensor) tensor.Tensor) (out tenon.Value, err error) {
	defer tenon.Catch(&err)
	w, shared := wayOf(v)
	s := v.Spec()
	if w != byComponents {
		t, ok := v.(tensor.Tensor)
		if !ok {
			return v, nil // encoded in its own form
		}
		return f(where, t), nil
	}
	parts, err := s.Disassemble(v)
	if err != nil {
		return nil, err
	}
	for k, p := range parts {
		if shared[k] {
			continue
		}
		name := s.Components()[k].Name
		if parts[k], err = mapped(p, codec.Join(where, name), f); err != nil {
			return nil, codec.Within(name, err)
		}
	}
	return Assemble(s, parts)
}
