package optable

import (
	"slices"

	"github.com/tenonml/tenon/dtype"
)

// Operations that group and match rows by keys.

// sameKey reports whether row i of some columns has the key of row j of others.
func sameKey(a []Array, i int, b []Array, j int) bool {
	for k := range a {
		both := joinArrays([]Array{a[k], b[k]}, 0)
		if !both.same(i, a[k].Shape[0]+j) {
			return false
		}
	}
	return true
}

// groups numbers some rows of columns by their keys.
func groups(at []int, cols []Array) []Array {
	var first, counts, ids []int
	for i := range at {
		k := slices.IndexFunc(first, func(j int) bool { return sameKey(cols, at[i], cols, at[j]) })
		if k < 0 {
			k = len(first)
			first, counts = append(first, i), append(counts, 0)
		}
		counts[k]++
		ids = append(ids, k)
	}
	return []Array{vector(ids), vector(first), vector(counts)}
}

func init() {
	Add(
		Row{Op: "ragged.group", Calls: append(EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(List(Sample(d, 8))), Args(List(Sample(d, 0))), Args(List(Sample(d, 9), Int(0, 1, 0, 1, 0, 1, 0, 1, 0)))}
		}),
			Args(List(Values(dtype.Float32, 1, 2, 1, 2, 5), Text([]int{5}, "a", "b", "a", "a", "a longer text"), Int(1, 1, 1, 2, 2)))),
			Ref: func(a []any) []Array {
				cols := a[0].([]Array)
				at := make([]int, cols[0].Shape[0])
				for i := range at {
					at[i] = i
				}
				return groups(at, cols)
			}},
		Row{Op: "ragged.group_at", Calls: append(EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Int(3, 1, 3, 0, 7), List(Sample(d, 8))), Args(Int32(), List(Sample(d, 0))), Args(Int32(8, 8, 0), List(Sample(d, 9), Int(0, 1, 0, 1, 0, 1, 0, 1, 0)))}
		}),
			Args(Int(4, 0, 2, 4, 1), List(Values(dtype.Float32, 1, 2, 1, 2, 5), Text([]int{5}, "a longer text", "b", "a longer text", "a", "a")))),
			Ref: func(a []any) []Array { return groups(Positions(a[0]), a[1].([]Array)) }},
		Row{Op: "ragged.match", Calls: append(EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(List(Sample(d, 7)), List(SampleSeed(d, 2, 5))), Args(List(Sample(d, 0)), List(Sample(d, 3))), Args(List(Sample(d, 3)), List(Sample(d, 0)))}
		}),
			Args(List(Int(1, 2, 1, 3), Text([]int{4}, "a", "b", "a", "c")), List(Int(1, 1, 2, 1), Text([]int{4}, "a", "b", "b", "a")))),
			Ref: func(a []any) []Array {
				left, right := a[0].([]Array), a[1].([]Array)
				rows := make([][]int, left[0].Shape[0])
				for i := range rows {
					for j := range right[0].Shape[0] {
						if sameKey(left, i, right, j) {
							rows[i] = append(rows[i], j)
						}
					}
				}
				at, splits := joined(rows)
				return []Array{splits, vector(at)}
			}},
		Row{Op: "ragged.collect_index", Calls: []Call{Args(Int(2, 0, -1, 2, 0), One(4)), Args(Int32(), One(0)), Args(Int32(), One(2)), Args(Int32(1, 1, 0), One(2))}, Ref: func(a []any) []Array {
			rows := make([][]int, Positions(a[1])[0])
			for i, id := range Positions(a[0]) {
				if id >= 0 {
					rows[id] = append(rows[id], i)
				}
			}
			at, splits := joined(rows)
			return []Array{splits, vector(at)}
		}},
	)
}
