package optable

import (
	"slices"

	"github.com/tenonml/tenon/dtype"
)

// Operations on positions in rows, and on rows that are filled up.

// placesIn returns where positions in rows are, listed by rows.
func placesIn(at Array, lists, splits any) []int {
	rows, inner := cells(splits), Size(at.Shape[1:])
	var out []int
	for r, list := range cells(lists) {
		for _, i := range list {
			for e := range inner {
				k := int(real(at.X[i*inner+e]))
				out = append(out, rows[r][(k+len(rows[r]))%len(rows[r])])
			}
		}
	}
	return out
}

// filledCells returns for each row the values that it has when it is made so long: -1 for
// those that it lacks.
func filledCells(splits, width any, clip bool) [][]int {
	w := IntOf(width)
	rows := cells(splits)
	for r := range rows {
		for len(rows[r]) < w {
			rows[r] = append(rows[r], -1)
		}
		if clip {
			rows[r] = rows[r][:w]
		}
	}
	return rows
}

// takenOrZero returns items by number, zeros for -1.
func takenOrZero(x Array, at []int) Array {
	inner := Size(x.Shape[1:])
	out := x.Like(append([]int{len(at)}, x.Shape[1:]...))
	for i, k := range at {
		for e := range inner {
			if k < 0 {
				continue
			}
			if x.S != nil {
				out.S[i*inner+e] = x.S[k*inner+e]
			} else {
				out.X[i*inner+e] = x.X[k*inner+e]
			}
		}
	}
	return out
}

func init() {
	bits := func(x ...float64) any { return Shaped(dtype.Bool, []int{len(x)}, x...) }
	lists := Int(0, 2, 2, 3, 6) // of positions in the rows of splitsA
	at := Int(2, -3, -1, 0, 3, -4)
	Add(
		Row{Op: "ragged.places", Calls: []Call{Args(at, lists, splitsA), Args(Int32(0, 1, 0, 0, 0, 1), lists, splitsB), Args(IntShaped([]int{1, 2}, 1, -1), Int(0, 1, 1, 1, 1), splitsA), Args(Int(), noRows, noRows)}, Ref: func(a []any) []Array {
			out := vector(placesIn(a[0].(Array), a[1], a[2]))
			out.Shape = a[0].(Array).Shape
			return []Array{out}
		}},
		Row{Op: "ragged.take", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 8), at, lists, splitsA), Args(Sample(d, 8, 2), Int32(0, 1, 0, 0, 0, 1), lists, splitsB), Args(Sample(d, 0), Int(), noRows, noRows)}
		}), Ref: func(a []any) []Array {
			return []Array{takeArray(a[0].(Array), placesIn(a[1].(Array), a[2], a[3]), 0)}
		}},
		Row{Op: "ragged.places_of", Calls: []Call{Args(Int(2, 0, 3), Int(0, 2, 3), splitsA), Args(Int32(0, 1), Int(3, 3), splitsB), Args(Int(), Int(), noRows)}, Ref: func(a []any) []Array {
			var out []int
			rows, of := cells(a[2]), Positions(a[1])
			for i, k := range Positions(a[0]) {
				out = append(out, rows[of[i]][k])
			}
			return []Array{vector(out)}
		}},
		Row{Op: "ragged.from_start", Calls: []Call{Args(Int(2, -1, 0, -3), One(3)), Args(Int32(-1), One(1)), Args(Int(), One(0))}, Ref: func(a []any) []Array {
			var out []int
			n := IntOf(a[1])
			for _, k := range Positions(a[0]) {
				out = append(out, (k+n)%n)
			}
			return []Array{vector(out)}
		}},
		Row{Op: "ragged.fill_up", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 8), splitsA, One(2)), Args(Sample(d, 8, 2), splitsB, One(0)), Args(Sample(d, 0), noRows, One(3)), Args(Sample(d, 8), splitsA, One(5))}
		}), Ref: func(a []any) []Array {
			rows := filledCells(a[1], a[2], false)
			splits := []int{0}
			for _, r := range rows {
				splits = append(splits, splits[len(splits)-1]+len(r))
			}
			return []Array{takenOrZero(a[0].(Array), slices.Concat(rows...)), vector(splits)}
		}},
		Row{Op: "ragged.take_present", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 4), Int(2, 9, 2, 0), bits(1, 0, 1, 1)), Args(Sample(d, 3, 2), Int32(-1, 1), bits(0, 1)), Args(Sample(d, 0), Int(), bits())}
		}), Ref: func(a []any) []Array {
			at := Positions(a[1])
			for i := range at {
				if a[2].(Array).X[i] == 0 {
					at[i] = -1
				}
			}
			return []Array{takenOrZero(a[0].(Array), at)}
		}},
		Row{Op: "ragged.present", Calls: []Call{Args(splitsA, One(2)), Args(splitsB, One(2), true), Args(noRows, One(3)), Args(splitsA, One(0), true)}, Ref: func(a []any) []Array {
			var out []int
			for _, k := range slices.Concat(filledCells(a[0], a[1], len(a) > 2 && a[2].(bool))...) {
				out = append(out, min(k+1, 1))
			}
			return []Array{vector(out)}
		}},
	)
}
