package ragged

import (
	"strings"

	"github.com/tenonml/tenon/op"
)

// Answers says how ragged tensors answer an operation: by its class, by a handler for it,
// or, with an empty string, not at all.
func Answers(o *op.Op) string {
	if _, ok := handlers[o.Name]; ok {
		return "by itself"
	}
	if f, ok := kinds[o.Axes]; ok && !strings.HasPrefix(o.Name, "ragged.") && f(o) != nil {
		if o.IsElementwise() {
			return "elementwise"
		}
		return "by its axes"
	}
	return ""
}
