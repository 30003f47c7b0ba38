package ragged_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// mapped applies f over the lists at a depth: depth 0 is the tensor.
func mapped(x any, depth int, f func(x any) any) any {
	if depth == 0 {
		return f(x)
	}
	list := x.([]any)
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = mapped(e, depth-1, f)
	}
	return out
}

// zipped maps f over lists of the same structure down to a depth.
func zipped(xs []any, depth int, f func(xs []any) any) any {
	if depth == 0 {
		return f(xs)
	}
	out := make([]any, len(xs[0].([]any)))
	for i := range out {
		at := make([]any, len(xs))
		for j, x := range xs {
			at[j] = x.([]any)[i]
		}
		out[i] = zipped(at, depth-1, f)
	}
	return out
}

// sameOuter returns a random tensor whose axes before one are those of x, with what it holds.
func sameOuter(r *rand.Rand, x *ragged.Tensor, m model, axis int) (*ragged.Tensor, model) {
	parts := x.Partitions()
	k := len(parts)
	n := m.sizes[0]
	var kept []*ragged.RowPartition
	for a := 1; a <= k; a++ {
		p := parts[a-1]
		if a >= axis {
			rows := n
			lengths := make([]int64, rows)
			n = 0
			for i := range lengths {
				lengths[i] = int64(r.IntN(3))
				n += int(lengths[i])
			}
			p = tenon.Must(ragged.PartitionFromRowLengths(lengths, ragged.PartitionOptions{}))
		} else {
			n = tensor.Item[int](ops.Cast(p.NVals(), tensor.Scalar(0).DType()))
		}
		kept = append(kept, p)
	}
	if axis == 0 {
		return nil, model{}
	}
	dims := append([]int{n}, m.sizes[k+1:]...)
	if axis > k {
		dims[axis-k] = r.IntN(3)
	}
	size := 1
	for _, d := range dims {
		size *= d
	}
	data := make([]float64, size)
	for i := range data {
		data[i] = float64(100 + i)
	}
	y := tenon.Must(ragged.FromPartitions(tensor.Of(data, dims...), kept...)).(*ragged.Tensor)
	return y, model{list: nestedOf(y)}
}

// TestEveryMove: operations that move elements do with random rows of rows what they do with
// nested lists.
func TestEveryMove(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var x *ragged.Tensor
	try := func(name string, want any, f func(x any) T) {
		t.Helper()
		got, err := tenon.Try(func() any { return nestedOf(f(x)) })
		if err != nil {
			t.Errorf("%s of %v %v: %v", name, x.Spec(), nestedOf(x), err)
		} else if !agree(want, got) {
			t.Errorf("%s of %v %v: got %v, want %v", name, x.Spec(), nestedOf(x), got, want)
		} else if name != "nonzero" && r.IntN(4) == 0 {
			slope(t, name, r, x, f)
		} else if r.IntN(10) == 0 && !strings.HasPrefix(name, "unstacked") { // into a number of parts that has to be known
			t.Run(name, func(t *testing.T) {
				traced(t, func(x, _ T) T { return f(x) }, x, tensor.Scalar(int64(0)))
			})
		}
	}
	for range 60 {
		var m model
		x, m = randomRows(r)
		rank, k := len(m.sizes), x.RaggedRank()
		for axis := range rank {
			a := axis
			if r.IntN(2) == 0 {
				a -= rank
			}
			// New axes, and lists put into lists.
			try(fmt.Sprint("new axis ", axis), mapped(m.list, axis, func(x any) any { return []any{x} }), func(x any) T { return ops.ExpandDims(x, axis) })
			try(fmt.Sprint("new axis ", axis-rank-1), mapped(m.list, axis, func(x any) any { return []any{x} }), func(x any) T { return ops.Squeeze(ops.ExpandDims(ops.ExpandDims(x, axis-rank-1), 0), 0) })
			twice := []any{m.list, m.list}
			try(fmt.Sprint("stack at ", a), zipped(twice, axis, func(xs []any) any { return slices.Clone(xs) }), func(x any) T {
				if a < 0 {
					return ops.Stack([]any{x, x}, a-1)
				}
				return ops.Stack([]any{x, x}, a)
			})
			// Joined with another that is the same outside of the axis.
			if y, n := sameOuter(r, x, m, axis); y != nil {
				join := func(xs []any) any {
					var out []any
					for _, x := range xs {
						out = append(out, x.([]any)...)
					}
					return out
				}
				try(fmt.Sprint("concat at ", a, " with ", y), zipped([]any{m.list, n.list}, axis, join), func(x any) T { return ops.Concat([]any{x, y}, a) })
				try(fmt.Sprint("concat at ", a, " behind ", y), zipped([]any{n.list, m.list, n.list}, axis, join), func(x any) T { return ops.Concat([]any{y, x, y}, a) })
			}
			// Numbers of entries that every list has.
			least := m.sizes[axis]
			if least < 0 {
				least = 1 << 30
				mapped(m.list, axis, func(x any) any { least = min(least, len(x.([]any))); return nil })
			}
			if least > 0 && least < 1<<30 {
				at := make([]int64, r.IntN(4))
				for i := range at {
					at[i] = int64(r.IntN(least))
				}
				pick := func(at []int64) func(x any) any {
					return func(x any) any {
						out := []any{}
						for _, i := range at {
							out = append(out, x.([]any)[i])
						}
						return out
					}
				}
				try(fmt.Sprint("gather ", at, " at ", a), mapped(m.list, axis, pick(at)), func(x any) T { return ops.Gather(x, at, a) })
				i := r.IntN(least)
				try(fmt.Sprint("gather ", i, " at ", a), mapped(m.list, axis, func(x any) any { return x.([]any)[i] }), func(x any) T { return ops.Gather(x, int64(i), a) })
				table := tensor.Of([]int64{int64(i), 0, 0, int64(i)}, 2, 2)
				try(fmt.Sprint("gather 2×2 at ", a), mapped(m.list, axis, func(x any) any {
					l := x.([]any)
					return []any{[]any{l[i], l[0]}, []any{l[0], l[i]}}
				}), func(x any) T { return ops.Gather(x, table, a) })
				rows := tenon.Must(ragged.FromRowSplits([]int64{int64(i), 0, int64(i)}, []int{0, 2, 2, 3}))
				try(fmt.Sprint("gather rows at ", a), mapped(m.list, axis, func(x any) any {
					l := x.([]any)
					return []any{[]any{l[i], l[0]}, []any{}, []any{l[i]}}
				}), func(x any) T { return ops.Gather(x, rows, a) })
			}
			if n := m.sizes[axis]; n >= 0 {
				cut := r.IntN(n + 1)
				for i, part := range [][2]int{{0, cut}, {cut, n}} {
					try(fmt.Sprint("part ", i, " at ", a), mapped(m.list, axis, func(x any) any { return x.([]any)[part[0]:part[1]] }), func(x any) T {
						return ops.Split(x, []int{cut, n - cut}, a)[i]
					})
				}
				for i := range n {
					try(fmt.Sprint("unstacked at ", a), mapped(m.list, axis, func(x any) any { return x.([]any)[i] }), func(x any) T { return ops.Unstack(x, a)[i] })
				}
			}
		}
		// Several axes at once.
		times, begin, size := make([]int, rank), make([]int, rank), make([]int, rank)
		tiled, block := m.list, m.list
		for axis := range rank {
			times[axis], begin[axis], size[axis] = 1+r.IntN(2), r.IntN(2), -1
			if r.IntN(2) == 0 && (m.sizes[axis] < 0 || begin[axis]+1 <= m.sizes[axis]) {
				size[axis] = 1
			}
			tiled = mapped(tiled, axis, func(x any) any { return slices.Repeat(x.([]any), times[axis]) })
			block = mapped(block, axis, func(x any) any {
				l := x.([]any)
				l = l[min(begin[axis], len(l)):]
				if size[axis] >= 0 {
					l = l[:min(size[axis], len(l))]
				}
				return l
			})
		}
		try(fmt.Sprint("tile ", times), tiled, func(x any) T { return ops.Tile(x, times) })
		if !slices.ContainsFunc(m.sizes, func(n int) bool { return n == 0 }) {
			try(fmt.Sprint("slice ", begin, size), block, func(x any) T { return ops.Slice(x, begin, size) })
		}
		// Rows around the values of each row.
		pads := make([][]int, rank)
		padded := m.list
		for axis := rank - 1; axis >= 0; axis-- {
			pads[axis] = []int{0, 0}
			if axis < k {
				continue
			}
			pads[axis] = []int{r.IntN(3), r.IntN(2)}
			padded = mapped(padded, axis, func(x any) any {
				var nothing func(axis int) any
				nothing = func(axis int) any {
					if axis == rank {
						return 7.0
					}
					out := make([]any, m.sizes[axis]+pads[axis][0]+pads[axis][1])
					for i := range out {
						out[i] = nothing(axis + 1)
					}
					return out
				}
				var out []any
				for range pads[axis][0] {
					out = append(out, nothing(axis+1))
				}
				out = append(out, x.([]any)...)
				for range pads[axis][1] {
					out = append(out, nothing(axis+1))
				}
				return out
			})
		}
		try(fmt.Sprint("pad ", pads), padded, func(x any) T { return ops.Pad(x, pads, ops.PadOptions{Value: 7.0}) })
		// Coordinates.
		var places []any
		var find func(x any, at []any)
		find = func(x any, at []any) {
			l, ok := x.([]any)
			if !ok && x != 0.0 {
				places = append(places, slices.Clone(at))
			}
			for i, e := range l {
				find(e, append(slices.Clone(at), float64(i)))
			}
		}
		find(m.list, nil)
		try("nonzero", slices.Concat([]any{}, places), ops.Nonzero)
		if rank == k+1 {
			kth := 1 + r.IntN(3)
			try(fmt.Sprint("top ", kth), mapped(m.list, k, func(x any) any {
				line := make([]float64, 0)
				for _, e := range x.([]any) {
					line = append(line, e.(float64))
				}
				slices.Sort(line)
				slices.Reverse(line)
				out := []any{}
				for _, v := range line[:min(kth, len(line))] {
					out = append(out, v)
				}
				return out
			}), func(x any) T { v, _ := ops.TopK(x, kth); return v })
			try("distinct", mapped(m.list, k, func(x any) any {
				out := []any{}
				for _, e := range x.([]any) {
					if !slices.Contains(out, e) {
						out = append(out, e)
					}
				}
				return out
			}), func(x any) T { v, _, _, _ := ops.Unique(x); return v })
		} else {
			perm := make([]int, rank)
			for i := range perm {
				perm[i] = i
			}
			slices.Reverse(perm[k+1:])
			try(fmt.Sprint("transpose ", perm), mapped(m.list, k+1, func(x any) any {
				if rank < k+3 {
					return x
				}
				l := x.([]any)
				out := make([]any, m.sizes[k+2])
				for j := range out {
					col := make([]any, len(l))
					for i := range l {
						col[i] = l[i].([]any)[j]
					}
					out[j] = col
				}
				return out
			}), func(x any) T { return ops.Transpose(x, perm...) })
		}
		// Dimensions merged, and one cut into rows.
		outer := r.IntN(rank - 1)
		inner := outer + 1 + r.IntN(rank-outer-1)
		merged := m.list
		for a := inner; a > outer; a-- {
			merged = mapped(merged, a-1, func(x any) any {
				out := []any{}
				for _, l := range x.([]any) {
					out = append(out, l.([]any)...)
				}
				return out
			})
		}
		try(fmt.Sprint("merge ", outer, inner), merged, func(x any) T { return tenon.Must(ragged.MergeDims(x.(T), outer, inner)) })
		// Keys.
		keys := make([]any, rank)
		picked := m.list
		for axis := rank - 1; axis >= 0; axis-- {
			lo, step := r.IntN(5)-2, []int{1, -1, 2, -2}[r.IntN(4)]
			keys[axis] = key.Range(lo, nil, step)
			picked = mapped(picked, axis, func(x any) any {
				l := x.([]any)
				out := []any{}
				i := lo
				if i < 0 {
					i += len(l)
				}
				if step > 0 {
					i = max(i, 0)
				} else {
					i = min(i, len(l)-1)
				}
				for ; i >= 0 && i < len(l); i += step {
					out = append(out, l[i])
				}
				return out
			})
		}
		try(fmt.Sprint("index ", keys), picked, func(x any) T { return ops.Index(x, keys...) })
	}
}
