package onnx

import (
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
)

// lastTwo returns the permutation that swaps the last two of n axes.
func lastTwo(n int) []int {
	perm := upTo(n)
	perm[n-1], perm[n-2] = n-2, n-1
	return perm
}

func matMulOf(e *node) string {
	in := e.ins()
	for i := range in {
		if e.c.Bool(2 + i) {
			in[i] = e.transpose(in[i], lastTwo(e.ofRank(i)))
		}
	}
	return e.typed("MatMul", products, in)
}

func matVec(a, x T) T { return ops.Squeeze(ops.MatMul(a, ops.ExpandDims(x, -1)), -1) }

func outer(x, y T) T {
	if rank(x) == 0 || rank(y) == 0 {
		return ops.Mul(x, y)
	}
	axes := upTo(rank(x) + rank(y))
	return ops.Mul(ops.ExpandDims(x, axes[rank(x):]...), ops.ExpandDims(y, axes[:rank(x)]...))
}

// contracted writes a contraction as a matrix product if it is one, or else as an equation.
func contracted(e *node) string {
	a, b, out := e.c.Ints(2), e.c.Ints(3), e.c.Ints(4)
	batch, left, sum := []int{}, []int{}, []int{}
	for _, l := range out {
		if slices.Contains(a, l) {
			if slices.Contains(b, l) {
				batch = append(batch, l)
			} else {
				left = append(left, l)
			}
		}
	}
	var right []int
	for _, l := range b {
		switch {
		case slices.Contains(out, l) && !slices.Contains(a, l):
			right = append(right, l)
		case !slices.Contains(out, l):
			sum = append(sum, l)
		}
	}
	if len(sum) != 1 || len(right) > 1 || len(batch) > 0 && (len(left) != 1 || len(right) != 1) {
		return e.typed("Einsum", summed, e.ins(), withText("equation", equation([][]int{a, b}, out)))
	}
	x := e.transpose(e.in(0), places(a, batch, left, sum))
	y := e.transpose(e.in(1), places(b, batch, sum, right))
	z := e.typed("MatMul", products, []string{x, y})
	return e.transpose(z, places(slices.Concat(batch, left, right), out))
}

// places returns the positions of labels in a list.
func places(list []int, wanted ...[]int) []int {
	perm := []int{}
	for _, l := range slices.Concat(wanted...) {
		perm = append(perm, slices.Index(list, l))
	}
	return perm
}

// equation writes labels as letters.
func equation(operands [][]int, out []int) string {
	letters := map[int]string{}
	word := func(labels []int) string {
		var b strings.Builder
		for _, l := range labels {
			if letters[l] == "" {
				if len(letters) == 52 {
					refuse(tenon.ErrUnsupported, "ONNX's Einsum has only 52 letters for labels")
				}
				letters[l] = string("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[len(letters)])
			}
			b.WriteString(letters[l])
		}
		return b.String()
	}
	words := make([]string, len(operands))
	for i, list := range operands {
		words[i] = word(list)
	}
	return strings.Join(words, ",") + "->" + word(out)
}

// einsumOf writes an equation. ONNX requires the axes of an ellipsis to be equal in all operands, so
// they are broadcast if necessary.
func einsumOf(e *node) string {
	in := e.list(0)
	if strings.Contains(e.c.Str(1), "...") && len(in) > 1 && !sameEllipsis(e.c) {
		in = e.expanded(spreadEllipsis)
	}
	return e.typed("Einsum", summed, in, withText("equation", e.c.Str(1)))
}

// ellipses returns, for each operand, where its ellipsis begins, or -1 if it has none, and the
// number of its axes.
func ellipses(c *op.Call) (at, count []int) {
	left, _, _ := strings.Cut(strings.ReplaceAll(c.Str(1), " ", ""), "->")
	for i, term := range strings.Split(left, ",") {
		at = append(at, strings.Index(term, "..."))
		count = append(count, rank(c.List(0)[i].(T))-len(strings.Replace(term, "...", "", 1)))
	}
	return at, count
}

func sameEllipsis(c *op.Call) bool {
	at, count := ellipses(c)
	var first []int
	for i, v := range c.List(0) {
		if at[i] < 0 {
			continue
		}
		s := v.(T).Shape()
		d := s.Slice(at[i], at[i]+count[i]).Dims()
		if first == nil {
			first = append([]int{}, d...)
		}
		if !slices.Equal(first, d) {
			return false
		}
	}
	return true
}

func spreadEllipsis(c *op.Call) []T {
	at, count := ellipses(c)
	most := slices.Max(count)
	parts := make([]T, len(at)) // the sizes of each ellipsis, with as many axes as the longest one
	var all T
	for i, v := range c.List(0) {
		if at[i] < 0 {
			continue
		}
		s := ops.Index(sizesOf(v.(T)), key.Range(at[i], at[i]+count[i], nil))
		if parts[i] = ops.Concat([]any{vector(ones(most - count[i])), s}, 0); all == nil {
			all = parts[i]
		} else {
			all = ops.Where(ops.Equal(all, int64(1)), parts[i], all)
		}
	}
	out := make([]T, len(at))
	for i, v := range c.List(0) {
		x := v.(T)
		if out[i] = x; at[i] < 0 {
			continue
		}
		s := sizesOf(x)
		around := func(middle T) T {
			return ops.Concat([]any{ops.Index(s, key.To(at[i])), middle, ops.Index(s, key.From(at[i]+count[i]))}, 0)
		}
		out[i] = ops.BroadcastTo(ops.Reshape(x, around(parts[i])), around(all))
	}
	return out
}
