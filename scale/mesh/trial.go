package mesh

import (
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A trial finds out what an operation does with divided rows that it knows by row splits, or by positions: it runs
// the operation on a few rows, on a few others, and on both together. If the result for both is the concatenation
// of the separate results, each rank can run the operation with its own rows.
type trial struct {
	t     *tracer
	call  *op.Call
	vars  []*variable
	seed  int
	alike bool           // rows with the same index have the same lengths
	over  over           // the axes of the mesh that divide the rows
	cuts  []cut          // in the order of their first use
	sizes map[cut][2]int // of axes, in the two parts
	count []cut          // for each operand that is a number of rows or entries, which ones
}

// A verdict says what a result is.
type verdict struct {
	cut     cut    // of the first axis
	fresh   bool   // the cut is that of entries which nothing else has
	ends    bool   // the result has the ends of the rows with these entries
	at      cut    // the axis of which elements are positions
	combine string // how the ranks' results are combined if no axis is divided
}

// rowLengths are the lengths of rows in trials.
var rowLengths = []int{2, 0, 3, 1, 2, 4, 1}

func (r *trial) number(value int) int {
	i := 0
	for k := range r.call.Operands() {
		if i == value {
			return k
		}
		i++
	}
	return -1
}

// run tries the call, and returns what each result is.
func (r *trial) run(counts bool) ([]verdict, bool) {
	r.count = make([]cut, len(r.vars))
	for _, v := range r.vars {
		for a, k := range v.cuts {
			switch {
			case k.whole():
			case a > 0:
				if k.ragged() || r.call.Op.By != op.ByRows || r.call.Op.Axes == op.Opaque {
					return nil, false
				}
			case r.over == "":
				r.over = k.over
			case r.over != k.over:
				return nil, false
			}
			if a == 0 && !k.whole() {
				r.sizeOf(k.rows())
				if k.ends != nil {
					r.sizeOf(cut{over: k.over, of: k.ends})
				}
			}
		}
		if !v.at.whole() {
			r.sizeOf(v.at)
		}
	}
	if r.over == "" {
		return nil, false
	}
	if counts && !r.counted() {
		return nil, false
	}
	var parts [3][]tensor.Tensor
	for p := range parts {
		values := make([]tenon.Value, len(r.vars))
		for i := range r.vars {
			x, ok := r.sample(i, p)
			if !ok {
				return nil, false
			}
			values[i] = x
		}
		out, err := tenon.Try(func() []tensor.Tensor { return tenon.Must(r.call.WithValues(values).DoTensors()) })
		if err != nil {
			return nil, false
		}
		parts[p] = out
	}
	out := make([]verdict, len(parts[0]))
	for i := range out {
		v, ok := r.judge(parts[0][i], parts[1][i], parts[2][i])
		if !ok {
			return nil, false
		}
		out[i] = v
	}
	return out, true
}

// counted finds the operands that are numbers of rows or entries.
func (r *trial) counted() bool {
	found := false
	for i, v := range r.vars {
		if v.Shape().Rank() != 0 || !v.DType().IsInteger() {
			continue
		}
		if len(v.size) == 1 && !v.size[0].cut.whole() {
			r.count[i], found = v.size[0].cut, true
			r.sizeOf(v.size[0].cut)
			continue
		}
		known, ok := op.Known(v)
		if !ok {
			continue
		}
		n, ok := op.Ints(known)
		if !ok {
			continue
		}
		for _, k := range r.cuts {
			if k.of == nil && k.blocks*k.block == n[0] {
				r.count[i], found = k, true
			}
		}
	}
	return found
}

// sizeOf returns the sizes of an axis in the two parts.
func (r *trial) sizeOf(k cut) [2]int {
	if n, ok := r.sizes[k]; ok {
		return n
	}
	var n [2]int
	rows := r.rowsOf(k)
	if rows.whole() {
		n = [2]int{3 + len(r.sizes), 2 + 2*len(r.sizes)}
	} else {
		for p := range n {
			for _, m := range r.lengths(k, p) {
				n[p] += m
			}
		}
	}
	r.sizes[k] = n
	r.cuts = append(r.cuts, k)
	return n
}

// rowsOf returns the rows that have the given entries, if an operand tells.
func (r *trial) rowsOf(k cut) cut {
	for _, v := range r.vars {
		if k.of != nil && len(v.cuts) == 1 && v.cuts[0].ends == k.of {
			return v.cuts[0].rows()
		}
	}
	return cut{}
}

// lengths returns the lengths of the rows with the given entries, in one of the two parts.
func (r *trial) lengths(k cut, part int) []int {
	rows := r.rowsOf(k)
	n := r.sizeOf(rows)
	out := make([]int, n[part])
	for i := range out {
		out[i] = rowLengths[(i+3*part+2*r.seed+r.shift(k))%len(rowLengths)]
	}
	return out
}

// shift makes rows with different entries differ in their lengths.
func (r *trial) shift(k cut) int {
	if r.alike {
		return 0
	}
	n := 0
	for _, v := range r.vars {
		if len(v.cuts) == 1 && v.cuts[0].ends != nil {
			if v.cuts[0].ends == k.of {
				return n
			}
			n++
		}
	}
	return 0
}

// unify assumes that entries about which a check is made are the same: the call then works only for rows that are
// alike.
func (r *trial) unify(verdicts []verdict) bool {
	if !r.call.Op.Checks {
		return false
	}
	var first cut
	for _, v := range r.vars {
		if len(v.cuts) != 1 || v.cuts[0].ends == nil {
			continue
		}
		switch k := v.cuts[0]; {
		case first.whole():
			first = k
		case first.rows() != k.rows():
			return false
		case first.ends != k.ends:
			r.t.same[k.ends] = first.ends
		}
	}
	for i := range verdicts {
		verdicts[i].cut, verdicts[i].at = r.t.canonical(verdicts[i].cut), r.t.canonical(verdicts[i].at)
	}
	return true
}

// both is the part with the rows of the two others.
const both = 2

// sample returns the data of an operand in a part.
func (r *trial) sample(i, part int) (tensor.Tensor, bool) {
	v := r.vars[i]
	if k := r.count[i]; !k.whole() {
		n := r.sizes[k]
		return ops.Cast(tensor.Scalar([]int{n[0], n[1], n[0] + n[1]}[part]), v.DType()), true
	}
	if len(v.cuts) == 0 || v.cuts[0].whole() {
		if known, ok := op.Known(v); ok {
			return known, true
		}
		if !v.Shape().IsFull() || v.Shape().Size() > 1<<16 || v.DType().IsInteger() {
			return nil, false
		}
		return filler(v.DType(), v.Shape(), 40+i, r.seed)
	}
	if part == both {
		a, ok := r.sample(i, 0)
		b, also := r.sample(i, 1)
		if !ok || !also {
			return nil, false
		}
		if e := v.cuts[0].ends; e != nil {
			return joined(a, b), true
		}
		if !v.at.whole() {
			b = ops.Add(b, ops.Cast(r.sizes[v.at][0], b.DType()))
		}
		return ops.Concat([]tensor.Tensor{a, b}, 0), true
	}
	k := v.cuts[0]
	if k.ends != nil {
		ends, sum := []int64{0}, int64(0)
		for _, n := range r.lengths(cut{over: k.over, of: k.ends}, part) {
			sum += int64(n)
			ends = append(ends, sum)
		}
		return ops.Cast(tensor.Of(ends), v.DType()), true
	}
	n := r.sizes[k][part]
	if !v.at.whole() {
		limit := r.sizes[v.at][part]
		list := make([]int64, n)
		for j := range list {
			if limit == 0 {
				return nil, false
			}
			list[j] = int64(j * limit / n) // sorted, like the rows of entries
		}
		return ops.Cast(tensor.Of(list), v.DType()), v.Shape().Rank() == 1
	}
	s := v.Shape().With(0, n)
	if !s.IsFull() || s.Size() > 1<<20 {
		return nil, false
	}
	return filler(v.DType(), s, 7*i+31*part, r.seed)
}

// joined returns the ends of the rows of two lists as those of one.
func joined(a, b tensor.Tensor) tensor.Tensor {
	last := ops.Index(a, -1)
	return ops.Concat([]tensor.Tensor{a, ops.Add(ops.Slice(b, []int{1}, []int{b.Shape().Dim(0) - 1}), last)}, 0)
}

// filler returns a tensor of elements of various sizes.
func filler(d dtype.DType, s shape.Shape, at, seed int) (tensor.Tensor, bool) {
	n := s.Size()
	switch {
	case d == dtype.String:
		list := make([]string, n)
		for i := range list {
			list[i] = string(rune('a' + (5*i+at+seed)%19))
		}
		return ops.Reshape(tensor.Of(list), s.Dims()), true
	case d == dtype.Bool:
		list := make([]bool, n)
		for i := range list {
			list[i] = (i*i+at+seed)%3 == 0
		}
		return ops.Reshape(tensor.Of(list), s.Dims()), true
	case d.IsInteger():
		list := make([]int64, n)
		for i := range list {
			list[i] = int64((7*i + at + seed) % 2)
		}
		return ops.Cast(ops.Reshape(tensor.Of(list), s.Dims()), d), true
	}
	list := make([]float64, n)
	for i := range list {
		list[i] = 1 + 0.5*math.Sin(float64(3*i+at+11*seed))
	}
	return ops.Cast(ops.Reshape(tensor.Of(list), s.Dims()), d), true
}

// judge decides what a result for both parts is, given the results for each.
func (r *trial) judge(a, b, c tensor.Tensor) (v verdict, ok bool) {
	rank := c.Shape().Rank()
	if a.Shape().Rank() != rank || b.Shape().Rank() != rank {
		return v, false
	}
	if rank > 0 && c.Shape().Dim(0) == a.Shape().Dim(0)+b.Shape().Dim(0) && c.Shape().Tail(1).Equal(a.Shape().Tail(1)) && c.Shape().Tail(1).Equal(b.Shape().Tail(1)) {
		n := [2]int{a.Shape().Dim(0), b.Shape().Dim(0)}
		found := false
		for _, k := range r.cuts {
			if r.sizes[k] == n {
				if found && !r.alike {
					return v, false // two axes have the same sizes by chance
				}
				v.cut, found = k, true
			}
		}
		v.fresh = !found
		if near(c, ops.Concat([]tensor.Tensor{a, b}, 0)) {
			return v, true
		}
		for _, k := range r.cuts {
			if c.DType().IsInteger() && tensor.Equal(c, ops.Concat([]tensor.Tensor{a, ops.Add(b, ops.Cast(r.sizes[k][0], b.DType()))}, 0)) {
				v.at = k
				return v, true
			}
		}
		return v, false
	}
	if rank == 1 && c.DType().IsInteger() && c.Shape().Dim(0) == a.Shape().Dim(0)+b.Shape().Dim(0)-1 && tensor.Equal(c, joined(a, b)) {
		n := [2]int{a.Shape().Dim(0) - 1, b.Shape().Dim(0) - 1}
		for _, k := range r.cuts {
			if r.sizes[k] == n {
				v.cut, v.ends = k, true
				for _, w := range r.vars { // splits that are passed on
					if len(w.cuts) == 1 && w.cuts[0].ends != nil && w.cuts[0].rows() == k {
						if x, ok := r.sample(slices.Index(r.vars, w), both); ok && tensor.Equal(ops.Cast(x, c.DType()), c) {
							v.cut = w.cuts[0]
						}
					}
				}
				return v, true
			}
		}
		return v, false
	}
	if !a.Shape().Equal(c.Shape()) || !b.Shape().Equal(c.Shape()) {
		return v, false
	}
	switch {
	case near(a, b) || !c.DType().IsNumeric(): // equality may be a coincidence
		return v, false
	case near(c, ops.Add(a, b)):
		v.combine = string(dist.Sum)
	case near(c, ops.Maximum(a, b)):
		v.combine = string(dist.Max)
	case near(c, ops.Minimum(a, b)):
		v.combine = string(dist.Min)
	default:
		return v, false
	}
	return v, true
}

// near reports whether two results are equal except for rounding.
func near(a, b tensor.Tensor) bool {
	if !a.DType().IsDifferentiable() {
		return tensor.Equal(a, b)
	}
	return tensor.AllClose(a, b, tensor.CloseOptions{RTol: 1e-4, ATol: 1e-4, NaN: true}) == nil
}
