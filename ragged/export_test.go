package ragged

import "github.com/tenonml/tenon/op"

// Answers says how ragged tensors answer an operation: by its class, by a handler for it,
// or, with an empty string, not at all.
func Answers(o *op.Op) string {
	if _, ok := handlers[o.Name]; ok {
		return "by itself"
	}
	if _, ok := classHandlers[o.Class]; ok {
		return "elementwise"
	}
	return ""
}
