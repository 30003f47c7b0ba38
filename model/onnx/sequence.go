package onnx

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A sequence is a []any whose length is known when a model is traced. An optional value is the
// value itself or nil.

func sequenceEmpty(*call) []any { return one([]any{}) }

func sequenceConstruct(c *call) []any { return one(slices.Clone(c.in)) }

// place returns a position in a sequence of n values: that of input i, or otherwise.
func (c *call) place(i, n, otherwise int) int {
	if !c.has(i) {
		return otherwise
	}
	at := c.known(i)[0]
	if at < 0 {
		at += n
	}
	if at < 0 || at > n {
		refuse(tenon.ErrInvalid, "position %d is not in a sequence of %d", c.known(i)[0], n)
	}
	return at
}

func sequenceInsert(c *call) []any {
	list := c.list(0)
	return one(slices.Insert(slices.Clone(list), c.place(2, len(list), len(list)), c.value(1)))
}

func sequenceErase(c *call) []any {
	list := c.list(0)
	at := c.place(1, len(list), len(list)-1)
	if at >= len(list) || at < 0 {
		refuse(tenon.ErrInvalid, "position %d is not in a sequence of %d", at, len(list))
	}
	return one(slices.Delete(slices.Clone(list), at, at+1))
}

func sequenceAt(c *call) []any {
	list := c.list(0)
	at := c.place(1, len(list), 0)
	if at >= len(list) {
		refuse(tenon.ErrInvalid, "position %d is not in a sequence of %d", at, len(list))
	}
	return one(list[at])
}

func sequenceLength(c *call) []any { return one(tensor.Scalar(int64(len(c.list(0))))) }

func splitToSequence(c *call) []any {
	x := c.x(0)
	k := axis(c.int("axis", 0), rank(x))
	n := dims(x)[k]
	if !c.has(1) {
		parts := ops.Split(x, ones(n), k)
		if c.int("keepdims", 1) == 0 {
			for i := range parts {
				parts[i] = ops.Squeeze(parts[i], k)
			}
		}
		return one(anys(parts))
	}
	sizes := c.known(1)
	if rank(c.x(1)) == 0 {
		each := sizes[0]
		if each <= 0 {
			refuse(tenon.ErrInvalid, "a sequence cannot have parts of size %d", each)
		}
		sizes = nil
		for at := 0; at < n; at += each {
			sizes = append(sizes, min(each, n-at))
		}
	}
	return one(anys(ops.Split(x, sizes, k)))
}

func concatFromSequence(c *call) []any {
	list := tensors(c.list(0))
	if c.flag("new_axis") {
		return one(ops.Stack(list, c.int("axis", 0)))
	}
	return one(ops.Concat(list, c.int("axis", 0)))
}

// sequenceMap runs a graph for each value of the first sequence, together with the values of
// other sequences at the same position.
func sequenceMap(c *call) []any {
	body := c.graph("body")
	n := len(c.list(0))
	out := make([]any, len(body.outputs))
	lists := make([][]any, len(out))
	for i := range n {
		in := make([]any, len(c.in))
		for k, x := range c.in {
			in[k] = x
			if l, ok := x.([]any); ok {
				if len(l) != n {
					refuse(tenon.ErrInvalid, "sequences have different lengths, %d and %d", n, len(l))
				}
				in[k] = l[i]
			}
		}
		for k, y := range c.s.graph(body, in...) {
			lists[k] = append(lists[k], y)
		}
	}
	for k := range out {
		if lists[k] == nil {
			lists[k] = []any{}
		}
		out[k] = lists[k]
	}
	return out
}

func optional(c *call) []any {
	c.mayBeNil = true
	if c.has(0) {
		return one(c.in[0])
	}
	return one(nil)
}

func optionalHas(c *call) []any { return one(tensor.Scalar(c.has(0) && c.in[0] != nil)) }

func optionalGet(c *call) []any {
	if c.value(0) == nil {
		refuse(tenon.ErrInvalid, "the optional value is absent")
	}
	return one(c.in[0])
}
