package saved

import (
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// A Capture is a value that a function of a model uses in addition to its arguments: a variable
// of the model or a constant.
type Capture struct {
	Path     string          // of the variable; "" for a constant
	Variable *state.Variable // nil for a constant
	Constant tensor.Tensor
}

// Captures returns what variant i captures, in the order of the last parameters of its graph.
func (f *Func) Captures(i int) []Capture {
	v := f.variants[i]
	out := make([]Capture, len(v.captures))
	for k, c := range v.captures {
		if c.variable != nil {
			out[k] = Capture{Path: c.variable.path, Variable: c.variable.v}
		} else {
			out[k] = Capture{Constant: c.constant}
		}
	}
	return out
}

// Assigns returns the paths of the variables to which variant i assigns or adds. The last outputs of
// its graph are their new values.
func (f *Func) Assigns(i int) []string {
	v := f.variants[i]
	out := make([]string, len(v.effects))
	for k, e := range v.effects {
		out[k] = e.variable.path
	}
	return out
}
