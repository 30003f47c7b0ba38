package optable

import (
	"slices"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// Operations on rows that are laid over each other.

// layouts are splits and starts of rows, and the number of fibers: in the order of their
// segments, in another one, with a row that belongs to none, and no rows.
func layouts() [][]any {
	return [][]any{
		{splitsA, Int(0, 0, 3, 3), One(7)}, {splitsB, Int(0, 0, 0, 0), One(4)},
		{Int(0, 2, 4, 7), Int(3, 0, 0), One(5)}, {noRows, Int(), One(0)},
	}
}

// fibersOf returns the values of each fiber.
func fibersOf(splits, starts, n any) [][]int {
	out := make([][]int, IntOf(n))
	at := Positions(starts)
	for r, row := range cells(splits) {
		for i, v := range row {
			out[at[r]+i] = append(out[at[r]+i], v)
		}
	}
	return out
}

func foldCalls(how string, types []dtype.DType) []Call {
	var out []Call
	for _, d := range types {
		for _, l := range layouts() {
			n := 0
			if r := cells(ArrayOf(l[0].(tensor.Tensor))); len(r) > 0 {
				last := r[len(r)-1]
				n = last[len(last)-1] + 1
			}
			out = append(out, Args(UniformSeed(d, []int{n}, 1, 4, 3), l[0], l[1], l[2], how), Args(UniformSeed(d, []int{n, 2}, 1, 4, 5), l[0], l[1], l[2], how))
		}
	}
	return out
}

func init() {
	var three []Call
	for _, l := range layouts() {
		three = append(three, Args(l...))
	}
	Add(
		Row{Op: "ragged.align", Calls: []Call{Args(splitsA), Args(splitsB, Int(1, 0, 1, 0), One(3)), Args(splitsA, Int32(0, -1, 0, 2), One(3)), Args(noRows), Args(noRows, Int(), One(2))}, Ref: func(a []any) []Array {
			lengths := lengthsOf(a[0])
			ids, n := make([]int, len(lengths)), 1
			if len(a) > 1 {
				ids, n = Positions(a[1]), IntOf(a[2])
			}
			splits := make([]int, n+1)
			for s := range n {
				for r, id := range ids {
					if id == s {
						splits[s+1] = max(splits[s+1], lengths[r])
					}
				}
				splits[s+1] += splits[s]
			}
			starts := make([]int, len(ids))
			for r, id := range ids {
				if starts[r] = -1 << 62; id >= 0 {
					starts[r] = splits[id]
				}
			}
			return []Array{vector(splits), vector(starts)}
		}},
		Row{Op: "ragged.fiber_ids", Calls: []Call{Args(splitsA, Int(0, 0, 3, 3)), Args(splitsB, Int32(5, -1, 0, -1)), Args(noRows, Int())}, Ref: func(a []any) []Array {
			var out []int
			for r, row := range cells(a[0]) {
				at := Positions(a[1])[r]
				for i := range row {
					if at < 0 {
						out = append(out, -1)
					} else {
						out = append(out, at+i)
					}
				}
			}
			return []Array{vector(out)}
		}},
		Row{Op: "ragged.fiber_lengths", Calls: three, Ref: func(a []any) []Array {
			var out []int
			for _, f := range fibersOf(a[0], a[1], a[2]) {
				out = append(out, len(f))
			}
			return []Array{vector(out)}
		}},
		Row{Op: "ragged.fiber_order", Calls: three, Ref: func(a []any) []Array {
			order, splits := []int{}, []int{0}
			for _, f := range fibersOf(a[0], a[1], a[2]) {
				order = append(order, f...)
				splits = append(splits, len(order))
			}
			back := make([]int, len(order))
			for i, v := range order {
				back[v] = i
			}
			return []Array{vector(order), vector(splits), vector(back)}
		}},
		Row{Op: "ragged.fold", Smooth: true, Tol: 16, Calls: slices.Concat(foldCalls("sum", Numbers), foldCalls("prod", Numbers), foldCalls("max", Reals), foldCalls("min", Reals),
			foldCalls("any", []dtype.DType{dtype.Bool}), foldCalls("all", []dtype.DType{dtype.Bool}), foldCalls("first_max", Reals), foldCalls("first_min", Reals)), Ref: foldedRef},
	)
}

func foldedRef(a []any) []Array {
	x := a[0].(Array)
	inner := Size(x.Shape[1:])
	var rowOf []int
	for r, row := range cells(a[1]) {
		rowOf = append(rowOf, slices.Repeat([]int{r}, len(row))...)
	}
	fibers := fibersOf(a[1], a[2], a[3])
	out := Array{Shape: append([]int{len(fibers)}, x.Shape[1:]...)}
	for _, f := range fibers {
		for e := range inner {
			out.X = append(out.X, foldedFiber(a[4].(string), x, f, rowOf, e, inner))
		}
	}
	return []Array{out}
}

// foldedFiber folds the values of one fiber, which has some.
func foldedFiber(how string, x Array, f, rowOf []int, e, inner int) complex128 {
	acc, row := x.X[f[0]*inner+e], rowOf[f[0]]
	for _, v := range f[1:] {
		b := x.X[v*inner+e]
		switch how {
		case "sum":
			acc += b
		case "prod", "all":
			acc *= b
		case "max", "any":
			acc = complex(max(real(acc), real(b)), 0)
		case "min":
			acc = complex(min(real(acc), real(b)), 0)
		case "first_max":
			if real(b) > real(acc) {
				acc, row = b, rowOf[v]
			}
		case "first_min":
			if real(b) < real(acc) {
				acc, row = b, rowOf[v]
			}
		}
	}
	if how == "first_max" || how == "first_min" {
		return complex(float64(row), 0)
	}
	return acc
}
