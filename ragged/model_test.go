package ragged_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// A model of rows of rows: nested lists, and for each dimension the size it has everywhere,
// or -1 where rows have their own.
type model struct {
	list  any // []any, or float64 at the leaves
	sizes []int
}

// randomRows returns a tensor with one to three partitions, some of them uniform, and what it
// holds.
func randomRows(r *rand.Rand) (*ragged.Tensor, model) {
	n := r.IntN(4)
	sizes := []int{n}
	var parts []*ragged.RowPartition
	for range 1 + r.IntN(3) {
		if r.IntN(4) == 0 {
			u := r.IntN(3)
			parts = append(parts, tenon.Must(ragged.PartitionFromUniformRowLength(u, ragged.PartitionOptions{NRows: n})))
			sizes, n = append(sizes, u), n*u
			continue
		}
		lengths := make([]int64, n)
		n = 0
		for i := range lengths {
			lengths[i] = int64(max(0, r.IntN(5)-1))
			n += int(lengths[i])
		}
		parts = append(parts, tenon.Must(ragged.PartitionFromRowLengths(lengths, ragged.PartitionOptions{})))
		sizes = append(sizes, -1)
	}
	dims := []int{n}
	for range r.IntN(3) {
		u := r.IntN(4)
		dims, sizes = append(dims, u), append(sizes, u)
	}
	size := 1
	for _, d := range dims {
		size *= d
	}
	data := make([]float64, size)
	for i := range data {
		data[i] = float64(r.IntN(13) - 6)
	}
	x := tenon.Must(ragged.FromPartitions(tensor.Of(data, dims...), parts...)).(*ragged.Tensor)
	return x, model{nestedOf(x), sizes}
}

// nestedOf returns the lists that a dense, ragged or masked tensor holds; numbers and truth
// values as float64, what is missing as NaN.
func nestedOf(x T) any {
	switch x := x.(type) {
	case *ragged.Tensor:
		return numbered(any(tenon.Must(x.Nested())))
	case *masked.Tensor:
		values, valid := nestedOf(x.Values()), nestedOf(x.Mask())
		return lacking(values, valid)
	}
	data := tensor.Data[float64](ops.Reshape(ops.Cast(x, tensor.Of([]float64{0}).DType()), []int{-1}))
	var build func(dims []int) any
	build = func(dims []int) any {
		if len(dims) == 0 {
			v := data[0]
			data = data[1:]
			return v
		}
		list := make([]any, dims[0])
		for i := range list {
			list[i] = build(dims[1:])
		}
		return list
	}
	return build(x.Shape().Dims())
}

func lacking(values, valid any) any {
	list, ok := values.([]any)
	v, isMask := valid.([]any)
	switch {
	case ok && isMask:
		out := make([]any, len(list))
		for i := range list {
			out[i] = lacking(list[i], v[i])
		}
		return out
	case valid == 0.0:
		return math.NaN()
	}
	return values
}

func numbered(x any) any {
	switch x := x.(type) {
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = numbered(e)
		}
		return out
	case float64:
		return x
	case int64:
		return float64(x)
	case bool:
		if x {
			return 1.0
		}
		return 0.0
	}
	panic(fmt.Sprintf("%T", x))
}

// reduced merges what is along axes: f of all that meets at one place.
func (m model) reduced(f func(line []float64) float64, keep bool, axes ...int) any {
	var merge func(xs []any, depth int) any
	merge = func(xs []any, depth int) any {
		if depth == len(m.sizes) {
			line := make([]float64, len(xs))
			for i, x := range xs {
				line[i] = x.(float64)
			}
			return f(line)
		}
		if slices.Contains(axes, depth) {
			var all []any
			for _, x := range xs {
				all = append(all, x.([]any)...)
			}
			if y := merge(all, depth+1); !keep {
				return y
			} else {
				return []any{y}
			}
		}
		n := max(0, m.sizes[depth])
		for _, x := range xs {
			n = max(n, len(x.([]any)))
		}
		out := make([]any, n)
		for k := range out {
			var at []any
			for _, x := range xs {
				if l := x.([]any); k < len(l) {
					at = append(at, l[k])
				}
			}
			out[k] = merge(at, depth+1)
		}
		return out
	}
	return merge([]any{m.list}, 0)
}

// along replaces each line along an axis by f of it, which is as long.
func (m model) along(f func(line []float64) []float64, axis int) any {
	var walk func(xs []any, depth int) []any // of lists that lie at one place of all axes but one
	walk = func(xs []any, depth int) []any {
		if depth == len(m.sizes) {
			line := make([]float64, len(xs))
			for i, x := range xs {
				line[i] = x.(float64)
			}
			out := make([]any, len(xs))
			for i, v := range f(line) {
				out[i] = v
			}
			return out
		}
		out := make([]any, len(xs))
		if depth == axis { // xs is a single list
			return []any{walk(xs[0].([]any), depth+1)}
		}
		n := 0
		for i, x := range xs {
			out[i] = make([]any, len(x.([]any)))
			n = max(n, len(x.([]any)))
		}
		for k := range n {
			var at []any
			var from []int
			for i, x := range xs {
				if l := x.([]any); k < len(l) {
					at, from = append(at, l[k]), append(from, i)
				}
			}
			for i, y := range walk(at, depth+1) {
				out[from[i]].([]any)[k] = y
			}
		}
		return out
	}
	return walk([]any{m.list}, 0)[0]
}

// moved permutes the lists at an axis: element i of f(n) says which of n entries comes i-th.
func (m model) moved(f func(n int) []int, axis int) any {
	var walk func(x any, depth int) any
	walk = func(x any, depth int) any {
		list := x.([]any)
		if depth == axis {
			out := []any{}
			for _, from := range f(len(list)) {
				out = append(out, list[from])
			}
			return out
		}
		out := make([]any, len(list))
		for i, e := range list {
			out[i] = walk(e, depth+1)
		}
		return out
	}
	return walk(m.list, 0)
}

// enumerated returns the same lists with numbers of elements in place of them, the elements,
// and their positions along an axis.
func (m model) enumerated(axis int) (numbers model, values, at []float64) {
	var walk func(x any, depth, place int) any
	walk = func(x any, depth, place int) any {
		list, ok := x.([]any)
		if !ok {
			values, at = append(values, x.(float64)), append(at, float64(place))
			return float64(len(values) - 1)
		}
		out := make([]any, len(list))
		for i, e := range list {
			if depth == axis {
				place = i
			}
			out[i] = walk(e, depth+1, place)
		}
		return out
	}
	return model{walk(m.list, 0, 0), m.sizes}, values, at
}

// best is the position along an axis of the first best element of each line; NaN where a line has none.
func (m model) best(better func(a, b float64) bool, axis int) any {
	n, values, at := m.enumerated(axis)
	return n.reduced(func(line []float64) float64 {
		best := math.NaN()
		for i, e := range line {
			if i == 0 || better(values[int(e)], values[int(best)]) {
				best = e
			}
		}
		if best != best {
			return best
		}
		return at[int(best)]
	}, false, axis)
}

// order sorts lines along an axis, and tells where their elements were.
func (m model) order(descending bool, axis int) (sorted, from any) {
	n, values, at := m.enumerated(axis)
	pick := func(of []float64) any {
		return n.along(func(line []float64) []float64 {
			line = slices.Clone(line)
			slices.SortStableFunc(line, func(i, j float64) int {
				if descending {
					i, j = j, i
				}
				return cmp.Compare(values[int(i)], values[int(j)])
			})
			for i, e := range line {
				line[i] = of[int(e)]
			}
			return line
		}, axis)
	}
	return pick(values), pick(at)
}

// agree compares lists with room for rounding.
func agree(want, got any) bool {
	w, ok := want.([]any)
	g, okToo := got.([]any)
	if ok != okToo || len(w) != len(g) {
		return false
	}
	if !ok {
		a, b := want.(float64), got.(float64)
		return a == b || a != a && b != b || math.Abs(a-b) <= 1e-12*(1+math.Abs(a))
	}
	for i := range w {
		if !agree(w[i], g[i]) {
			return false
		}
	}
	return true
}

// slope compares the derivative of a weighted sum of what f returns for rows of distinct
// elements, in a random direction, with a difference.
func slope(t *testing.T, name string, r *rand.Rand, x *ragged.Tensor, f func(x any) T) {
	t.Helper()
	n := x.FlatValues().Shape().Size()
	noise := func(scale float64) T {
		v := make([]float64, n)
		for i := range v {
			v[i] = scale * (r.Float64() - 0.5)
		}
		return ops.Reshape(tensor.Of(v), x.FlatValues().Shape().Dims())
	}
	at, step := noise(8), noise(1)
	seed := r.Uint64()
	loss := func(flat T) T {
		y := f(tenon.Must(x.WithFlatValues(flat)))
		var z T
		if rows, ok := y.(*ragged.Tensor); ok {
			z = ops.Reshape(rows.FlatValues(), []int{rows.FlatValues().Shape().Size()})
		} else {
			z = ops.Reshape(y, []int{y.Shape().Size()})
		}
		w := rand.New(rand.NewPCG(seed, 0))
		weights := make([]float64, z.Shape().Size())
		for i := range weights {
			weights[i] = w.Float64()
		}
		z = ops.Where(ops.IsFinite(z), z, ops.ZerosLike(z))
		return ops.Sum(ops.Mul(z, tensor.Of(weights)))
	}
	got, err := tenon.Try(func() float64 { return tensor.Item[float64](ops.Sum(ops.Mul(grad.Of(loss)(at), step))) })
	if err != nil {
		t.Errorf("gradient of %s of %v: %v", name, x.Spec(), err)
		return
	}
	const h = 1e-6
	moved := func(h float64) float64 { return tensor.Item[float64](loss(ops.Add(at, ops.Mul(step, h)))) }
	want := (moved(h) - moved(-h)) / (2 * h)
	if !(math.Abs(got-want) <= 1e-4*(1+math.Abs(want))) {
		t.Errorf("gradient of %s of %v: %v along a direction, the difference is %v", name, x.Spec(), got, want)
	}
}
