package onnx

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
)

func tile(c *call) []any { return one(ops.Tile(c.x(0), c.known(1))) }

func concat(c *call) []any { return one(ops.Concat(c.xs(), c.int("axis", 1))) }

func split(c *call) []any {
	x, k := c.x(0), c.int("axis", 0)
	parts := c.intsAt(1, "split")
	if parts == nil {
		parts = evenly(dims(x)[axis(k, rank(x))], c.int("num_outputs", len(c.n.outputs)))
	}
	return anys(ops.Split(x, parts, k))
}

// evenly splits n into parts, the last of which may be smaller.
func evenly(n, parts int) []int {
	if parts <= 0 {
		refuse(tenon.ErrInvalid, "%d parts", parts)
	}
	each := (n + parts - 1) / parts
	out := make([]int, parts)
	for i := range out {
		out[i] = max(0, min(each, n-i*each))
	}
	return out
}

func anys(list []T) []any {
	out := make([]any, len(list))
	for i, x := range list {
		out[i] = x
	}
	return out
}

// slice takes ranges along axes. Before version 10 their bounds were attributes.
func slice(c *call) []any {
	x := c.x(0)
	n := rank(x)
	keys := make([]any, n)
	for i := range keys {
		keys[i] = key.All
	}
	axes := c.intsAt(3, "axes")
	count := 0
	if c.has(1) {
		count = c.x(1).Shape().Dim(0)
	} else {
		count = len(c.ints("starts"))
	}
	if axes == nil {
		axes = upTo(count)
	}
	if len(axes) != count {
		refuse(tenon.ErrInvalid, "%d axes for %d ranges", len(axes), count)
	}
	var steps []int
	if c.has(4) {
		steps = c.known(4)
	}
	for i, a := range axes {
		step := 1
		if i < len(steps) {
			step = steps[i]
		}
		from, to := c.bound(1, "starts", i), c.bound(2, "ends", i)
		if e, ok := from.(int); ok {
			// As in Python, a start beyond the end is moved to the end.
			if d := x.Shape().Dim(axis(a, n)); d >= 0 && step < 0 && e >= d {
				from = nil
			}
		}
		if e, ok := to.(int); ok && step < 0 {
			if d := x.Shape().Dim(axis(a, n)); e < math.MinInt32 || d >= 0 && e < -d {
				to = nil
			}
		}
		keys[axis(a, n)] = key.Range(from, to, step)
	}
	return one(ops.Index(x, keys...))
}

// bound returns bound i of a range: a Go integer if it is known, otherwise a scalar tensor.
func (c *call) bound(input int, name string, i int) any {
	if c.has(input) && !c.isKnown(input) {
		return ops.Index(c.x(input), i)
	}
	list := c.intsAt(input, name)
	if i >= len(list) {
		refuse(tenon.ErrInvalid, "%s has %d elements", name, len(list))
	}
	return list[i]
}

// pad adds margins, and crops for negative ones.
func pad(c *call) []any {
	x := c.x(0)
	n := rank(x)
	margins := c.intsAt(1, "pads")
	axes := upTo(n)
	if c.has(3) {
		axes = c.known(3)
	}
	if len(margins) != 2*len(axes) {
		refuse(tenon.ErrInvalid, "%d margins for %d axes", len(margins), len(axes))
	}
	all := make([][]int, n)
	keys := make([]any, n)
	for i := range all {
		all[i], keys[i] = []int{0, 0}, key.All
	}
	for i, a := range axes {
		lo, hi := margins[i], margins[i+len(axes)]
		from, to := any(nil), any(nil)
		if lo < 0 {
			from, lo = -lo, 0
		}
		if hi < 0 {
			to, hi = hi, 0
		}
		keys[axis(a, n)] = key.Range(from, to, nil)
		all[axis(a, n)] = []int{lo, hi}
	}
	x = ops.Index(x, keys...)
	mode := c.text("mode", "constant")
	if mode == "constant" {
		var value any
		switch {
		case c.has(2):
			value = ops.Reshape(c.x(2), []int{})
		case c.attr("value") != nil:
			value = like(c.float("value", 0), x)
		}
		return one(ops.Pad(x, all, ops.PadOptions{Value: value}))
	}
	// Positions are padded themselves, repeatedly if the margins are larger than x.
	for a, m := range all {
		if m[0] == 0 && m[1] == 0 {
			continue
		}
		x = ops.Gather(x, vector(around(dims(x)[a], m[0], m[1], mode)), a)
	}
	return one(x)
}

// around returns the positions of n elements with margins.
func around(n, before, after int, mode string) []int {
	if n == 0 || before+after > 1<<30 {
		refuse(tenon.ErrInvalid, "margins of %d and %d do not fit %d elements", before, after, n)
	}
	out := make([]int, 0, n+before+after)
	for i := -before; i < n+after; i++ {
		k := i
		switch mode {
		case "edge":
			k = min(max(i, 0), n-1)
		case "wrap":
			k = ((i % n) + n) % n
		case "reflect":
			if n == 1 {
				k = 0
				break
			}
			period := 2 * (n - 1)
			if k = ((i % period) + period) % period; k >= n {
				k = period - k
			}
		default:
			refuse(tenon.ErrUnsupported, "there is no padding mode %q", mode)
		}
		out = append(out, k)
	}
	return out
}

func compress(c *call) []any {
	x, mask := c.x(0), c.x(1)
	k := 0
	if a := c.attr("axis"); a != nil {
		k = axis(int(a.i), rank(x))
	} else {
		x = ops.Reshape(x, []int{-1})
	}
	// Positions beyond the end of the mask are left out.
	return one(ops.Gather(x, ops.Reshape(ops.Nonzero(mask), []int{-1}), k))
}

func centerCropPad(c *call) []any {
	x := c.x(0)
	n := rank(x)
	axes := c.ints("axes")
	if axes == nil {
		axes = upTo(n)
	}
	for i, want := range c.known(1) {
		a := axis(axes[i], n)
		have := dims(x)[a]
		keys, margins := make([]any, n), make([][]int, n)
		for k := range keys {
			keys[k], margins[k] = key.All, []int{0, 0}
		}
		if want < have {
			from := (have - want) / 2
			keys[a] = key.Range(from, from+want, nil)
		} else {
			before := (want - have) / 2
			margins[a] = []int{before, want - have - before}
		}
		x = ops.Pad(ops.Index(x, keys...), margins, ops.PadOptions{})
	}
	return one(x)
}
