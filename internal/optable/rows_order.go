package optable

import (
	"cmp"
	"math"
	"math/cmplx"
	"slices"
	"strings"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// Operations that sort, search, count and reduce segments.

// Orderable are element types that have an order, one of each kind.
var Orderable = []dtype.DType{dtype.Float64, dtype.Float32, dtype.Float16, dtype.BFloat16, dtype.Int8, dtype.Int64, dtype.Uint16, dtype.Bool, dtype.String}

// compareAt orders two elements of an array: NaN last.
func (a Array) compareAt(i, j int) int {
	if a.IsText() {
		return strings.Compare(a.S[i], a.S[j])
	}
	x, y := real(a.X[i]), real(a.X[j])
	if x != x || y != y {
		return cmp.Compare(Truth(x != x), Truth(y != y))
	}
	return cmp.Compare(x, y)
}

// order returns positions of an array in ascending or descending order, stably, with
// NaN last.
func (a Array) order(at []int, descending bool) []int {
	out := slices.Clone(at)
	slices.SortStableFunc(out, func(i, j int) int {
		c := a.compareAt(i, j)
		if !descending || !a.IsText() && (cmplx.IsNaN(a.X[i]) || cmplx.IsNaN(a.X[j])) {
			return c
		}
		return -c
	})
	return out
}

// lines calls f with the positions of the elements of each line along an axis.
func (a Array) lines(axis int, f func(at []int)) {
	outer, n, inner := Size(a.Shape[:axis]), a.Shape[axis], Size(a.Shape[axis+1:])
	for o := range outer {
		for i := range inner {
			at := make([]int, n)
			for k := range n {
				at[k] = (o*n+k)*inner + i
			}
			f(at)
		}
	}
}

// sorted are the references of sort and argsort.
func sorted(a []any) (values, positions Array) {
	x := a[0].(Array)
	axis := Axis(attrInt(a, 1, -1), len(x.Shape))
	descending := len(a) > 2 && a[2].(bool)
	values = x.Like(x.Shape)
	positions = Array{Shape: x.Shape, X: make([]complex128, Size(x.Shape))}
	inner := Size(x.Shape[axis+1:])
	x.lines(axis, func(at []int) {
		for k, from := range x.order(at, descending) {
			values.Put(at[k], x, from)
			positions.X[at[k]] = complex(float64(from/inner%x.Shape[axis]), 0)
		}
	})
	return values, positions
}

func sortCalls(d dtype.DType) []Call {
	calls := []Call{
		Args(Sample(d, 5)), Args(Sample(d, 2, 3, 4), 1), Args(Sample(d, 2, 3, 4), 0, true), Args(Sample(d, 3, 40), -1), Args(Sample(d, 3, 40), -1, true), Args(Sample(d, 0, 3), 0), Args(Sample(d, 3, 0), 1),
	}
	if d.IsFloat() {
		calls = append(calls, NoGrad(Values(d, 2, NaN, -1, Inf, NaN, 0)), NoGrad(Values(d, 2, NaN, -1, -Inf, NaN, 0), 0, true))
	}
	return calls
}

func init() {
	Add(
		Row{Op: "sort", Calls: EachType(Orderable, sortCalls), Smooth: true, Ref: func(a []any) []Array { v, _ := sorted(a); return []Array{v} }},
		Row{Op: "argsort", Calls: EachType(Orderable, sortCalls), Ref: func(a []any) []Array { _, p := sorted(a); return []Array{p} }},
		Row{Op: "top_k", Smooth: true, Calls: EachType(Orderable, func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 6), One(2)), Args(Sample(d, 2, 5), One(5)), Args(Sample(d, 2, 3), tensor.Scalar(int32(0))), Args(Sample(d, 0, 3), One(1)), NoGrad(Sample(d, 3, 90), One(7)), Args(Sample(d, 3, 4, 2), One(2), 1), Args(Sample(d, 4, 3), One(3), -2)}
		}), Ref: func(a []any) []Array {
			x, k := a[0].(Array), IntOf(a[1])
			dims := slices.Clone(x.Shape)
			axis := (attrInt(a, 2, -1) + len(dims)) % len(dims)
			n, below := dims[axis], Size(dims[axis+1:])
			dims[axis] = k
			values, at := x.Like(dims), Array{Shape: dims, X: make([]complex128, Size(dims))}
			row := 0
			x.lines(axis, func(line []int) {
				for i, from := range x.order(line, true)[:k] {
					to := (row/below*k+i)*below + row%below
					values.Put(to, x, from)
					at.X[to] = complex(float64(from/below%n), 0)
				}
				row++
			})
			return []Array{values, at}
		}},
		Row{Op: "searchsorted", Calls: append(EachType(Orderable, func(d dtype.DType) []Call {
			if d == dtype.String {
				s := Text([]int{4}, "a", "bb", "bb", "c")
				return []Call{Args(s, Text([]int{3}, "bb", "", "d")), Args(s, Text([]int{3}, "bb", "", "d"), true)}
			}
			s := Shaped(d, []int{5}, 0, 1, 1, 1, 2)
			x := Shaped(d, []int{2, 2}, 1, 0, 2, 1)
			return []Call{Args(s, x), Args(s, x, true), Args(Shaped(d, []int{0}), x)}
		}), Args(Shaped(dtype.Float32, []int{2, 3}, 1, 2, 3, 2, 4, 6), Shaped(dtype.Float32, []int{2, 2}, 2, 9, 2, 5))), Ref: func(a []any) []Array {
			s, x := a[0].(Array), a[1].(Array)
			out := Array{Shape: x.Shape, X: make([]complex128, Size(x.Shape))}
			rows := Size(s.Shape[:len(s.Shape)-1])
			n, m := s.Shape[len(s.Shape)-1], Size(x.Shape)/rows
			for i := range out.X {
				k := 0
				for ; k < n; k++ {
					c := joinArrays([]Array{flat(s), flat(x)}, 0).compareAt(i/m*n+k, len(s.X)+len(s.S)+i)
					if c > 0 || c == 0 && len(a) < 3 {
						break
					}
				}
				out.X[i] = complex(float64(k), 0)
			}
			return []Array{out}
		}},
		Row{Op: "bincount", Smooth: true, Calls: append(EachType(Ints, func(d dtype.DType) []Call {
			x := Values(d, 1, 1, 3, 0, 5)
			return []Call{
				Args(x), Args(x, Uniform(dtype.Float64, []int{5}, -1, 1)), Args(x, nil, One(9)), Args(x, Uniform(dtype.Float64, []int{5}, -1, 1), One(4), One(4)), Args(x, nil, nil, One(2)),
				Args(x, Uniform(dtype.Complex128, []int{5}, -1, 1)),
			}
		}), Args(Int()), Args(IntShaped([]int{2, 2}, 1, 0, 1, 1))), Ref: func(a []any) []Array {
			n := 0
			for _, v := range Positions(a[0]) {
				n = max(n, v+1)
			}
			limit := math.MaxInt
			if len(a) > 3 {
				limit = IntOf(a[3])
			}
			n = min(n, limit)
			if len(a) > 2 && a[2] != nil {
				n = max(n, min(IntOf(a[2]), limit))
			}
			out := Array{Shape: []int{n}, X: make([]complex128, n)}
			for i, v := range Positions(a[0]) {
				if v >= n {
					continue
				}
				if len(a) > 1 && a[1] != nil {
					out.X[v] += a[1].(Array).X[i]
				} else {
					out.X[v]++
				}
			}
			return []Array{out}
		}},
		Row{Op: "histogram", Calls: EachType(Reals, func(d dtype.DType) []Call {
			return []Call{Args(Values(d, 0, 1, 2, 2, 5, 15), Values(dtype.Float64, 0, 5), One(5)), Args(Values(d), Values(dtype.Float32, 1, 2), One(3))}
		}), Ref: func(a []any) []Array {
			lo, hi, n := real(a[1].(Array).X[0]), real(a[1].(Array).X[1]), IntOf(a[2])
			out := Array{Shape: []int{n}, X: make([]complex128, n)}
			for _, v := range a[0].(Array).Floats() {
				out.X[min(max(int(math.Floor((v-lo)/(hi-lo)*float64(n))), 0), n-1)]++
			}
			return []Array{out}
		}},
		Row{Op: "unique", Smooth: true, Calls: append(EachMovable(func(d dtype.DType) []Call { return []Call{NoGrad(Sample(d, 30)), Args(Sample(d, 0))} }),
			Args(Values(dtype.Float64, 3, 1, 2)), NoGrad(Values(dtype.Float32, 3, 1, 3, 2, 1)), Args(Text([]int{4}, "", "b", "", "a"))), Ref: func(a []any) []Array {
			x := a[0].(Array)
			var first, inverse, counts []int
			for i := range x.Len() {
				k := slices.IndexFunc(first, func(j int) bool { return x.same(i, j) })
				if k < 0 {
					k = len(first)
					first, counts = append(first, i), append(counts, 0)
				}
				counts[k]++
				inverse = append(inverse, k)
			}
			return []Array{takeArray(x, first, 0), vector(inverse), vector(counts), vector(first)}
		}},
		segmentRow("segment_sum", Numbers, func(x []complex128) complex128 { return foldc(x, 0, func(a, b complex128) complex128 { return a + b }) }),
		segmentRow("segment_prod", Numbers, func(x []complex128) complex128 { return foldc(x, 1, func(a, b complex128) complex128 { return a * b }) }),
		segmentRow("segment_mean", Reals, func(x []complex128) complex128 {
			return foldc(x, 0, func(a, b complex128) complex128 { return a + b }) / complex(float64(len(x)), 0)
		}),
		segmentRow("segment_sqrt_n", Floats, func(x []complex128) complex128 {
			return foldc(x, 0, func(a, b complex128) complex128 { return a + b }) / complex(math.Sqrt(float64(len(x))), 0)
		}),
		segmentRow("segment_max", Reals, func(x []complex128) complex128 {
			return foldc(x, complex(-Inf, 0), func(a, b complex128) complex128 { return complex(max(real(a), real(b)), 0) })
		}),
		segmentRow("segment_min", Reals, func(x []complex128) complex128 {
			return foldc(x, complex(Inf, 0), func(a, b complex128) complex128 { return complex(min(real(a), real(b)), 0) })
		}),
	)
}

func flat(a Array) Array {
	a.Shape = []int{a.Len()}
	return a
}

func (a Array) same(i, j int) bool {
	if a.IsText() {
		return a.S[i] == a.S[j]
	}
	return a.X[i] == a.X[j] || cmplx.IsNaN(a.X[i]) && cmplx.IsNaN(a.X[j])
}

func foldc(x []complex128, start complex128, f func(a, b complex128) complex128) complex128 {
	for _, v := range x {
		start = f(start, v)
	}
	return start
}

// segmentRow makes the row of a reduction over segments. No segment is empty: what
// those give depends on the element type, and has tests of its own.
func segmentRow(name string, types []dtype.DType, f func(x []complex128) complex128) Row {
	return Row{Op: name, Smooth: true, Tol: 16, Calls: EachType(types, func(d dtype.DType) []Call {
		return []Call{
			Args(UniformSeed(d, []int{6}, 1, 4, 3), Int(2, 0, 1, 0, 2, 2), One(3)), Args(UniformSeed(d, []int{4, 2}, 1, 4, 3), Int32(1, -1, 0, 1)),
			Args(UniformSeed(d, []int{2, 3, 2}, 1, 3, 3), IntShaped([]int{2, 3}, 0, 1, 1, 0, -3, 1), tensor.Scalar(int32(2))), Args(UniformSeed(d, []int{0, 2}, 1, 3, 3), Int(), One(0)),
		}
	}), Ref: func(a []any) []Array {
		x, ids := a[0].(Array), Positions(a[1])
		n := 0
		for _, id := range ids {
			n = max(n, id+1)
		}
		if len(a) > 2 {
			n = IntOf(a[2])
		}
		item := x.Shape[len(a[1].(Array).Shape):]
		inner := Size(item)
		groups := make([][]complex128, n*inner)
		for i, id := range ids {
			for e := range inner {
				if id >= 0 {
					groups[id*inner+e] = append(groups[id*inner+e], x.X[i*inner+e])
				}
			}
		}
		out := Array{Shape: append([]int{n}, item...), X: make([]complex128, len(groups))}
		for i, g := range groups {
			out.X[i] = f(g)
		}
		return []Array{out}
	}}
}
