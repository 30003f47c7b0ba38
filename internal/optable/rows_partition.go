package optable

import (
	"slices"
	"strings"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// Operations on partitions, and those that select, join and fill up rows.

func lengthsOf(splits any) []int {
	var out []int
	for _, r := range cells(splits) {
		out = append(out, len(r))
	}
	return out
}

func partitionRow(name string, f func(splits any) Array, more ...Call) Row {
	return Row{Op: name, Calls: append([]Call{Args(splitsA), Args(splitsB), Args(noRows), Args(Int(0, 2, 4, 6))}, more...),
		Ref: func(a []any) []Array { return []Array{f(a[0])} }}
}

func init() {
	Add(
		partitionRow("ragged.row_ids", func(s any) Array {
			var out []int
			for r, items := range cells(s) {
				out = append(out, slices.Repeat([]int{r}, len(items))...)
			}
			return vector(out)
		}, Args(splitsA, 8)),
		partitionRow("ragged.offsets", func(s any) Array {
			var out []int
			for _, items := range cells(s) {
				for k := range items {
					out = append(out, k)
				}
			}
			return vector(out)
		}, Args(splitsA, 8)),
		partitionRow("ragged.lengths", func(s any) Array { return vector(lengthsOf(s)) }),
		partitionRow("ragged.max_length", func(s any) Array { return scalar(slices.Max(append(lengthsOf(s), 0))) }),
		partitionRow("ragged.uniform_length", func(s any) Array {
			n := lengthsOf(s)
			if len(n) == 0 || slices.Min(n) != slices.Max(n) {
				return scalar(-1)
			}
			return scalar(n[0])
		}),
		partitionRow("ragged.validate_splits", func(s any) Array { return s.(Array) }, Args(splitsA, One(8))),
		Row{Op: "ragged.assert_same_splits", Calls: []Call{Args(splitsA, splitsB), Args(splitsB, splitsA), Args(splitsA, splitsA)}, Ref: func(a []any) []Array { return []Array{a[0].(Array)} }},
		Row{Op: "ragged.lengths_to_splits", Calls: []Call{Args(Int(3, 0, 1)), Args(Int32(2)), Args(Int())}, Ref: func(a []any) []Array {
			out := []int{0}
			for _, n := range Positions(a[0]) {
				out = append(out, out[len(out)-1]+n)
			}
			return []Array{vector(out)}
		}},
		Row{Op: "ragged.row_ids_to_splits", Calls: []Call{Args(Int(0, 0, 2, 3)), Args(Int32(0, 0, 2), One(5)), Args(Int()), Args(Int(), One(2))}, Ref: func(a []any) []Array {
			ids := Positions(a[0])
			n := 0
			if len(ids) > 0 {
				n = ids[len(ids)-1] + 1
			}
			if len(a) > 1 {
				n = IntOf(a[1])
			}
			out := make([]int, n+1)
			for _, id := range ids {
				for r := id + 1; r <= n; r++ {
					out[r]++
				}
			}
			return []Array{vector(out)}
		}},
		Row{Op: "ragged.uniform_splits", Calls: []Call{Args(One(3), One(2)), Args(tensor.Scalar(int32(0)), One(2)), Args(One(3), One(0))}, Ref: func(a []any) []Array {
			out := []int{0}
			for r := range IntOf(a[1]) {
				out = append(out, (r+1)*IntOf(a[0]))
			}
			return []Array{vector(out)}
		}},
		Row{Op: "ragged.gather", Smooth: true, Calls: raggedCalls2(Int(2, 0, 0, 1)), Ref: func(a []any) []Array {
			return selectedRows(a[0].(Array), chosenRows(a[1], a[2]))
		}},
		Row{Op: "ragged.gather_index", Calls: []Call{Args(splitsA, Int(2, 0, 0)), Args(splitsB, Int32(3)), Args(noRows, Int())}, Ref: func(a []any) []Array {
			return indexRows(chosenRows(a[0], a[1]))
		}},
		Row{Op: "ragged.mask_splits", Calls: []Call{Args(splitsA, Shaped(dtype.Bool, []int{8}, 1, 0, 1, 0, 0, 1, 1, 1)), Args(Int32(0, 0), Shaped(dtype.Bool, []int{0}))}, Ref: func(a []any) []Array {
			out := []int{0}
			for _, r := range cells(a[0]) {
				n := 0
				for _, i := range r {
					n += int(real(a[1].(Array).X[i]))
				}
				out = append(out, out[len(out)-1]+n)
			}
			return []Array{vector(out)}
		}},
		Row{Op: "ragged.slice", Smooth: true, Calls: slices.Concat(raggedCalls2(One(1)), raggedCalls2(nil, One(-1)), raggedCalls2(nil, nil, One(-2)), raggedCalls2(One(-2), One(9), tensor.Scalar(int32(2)))), Ref: func(a []any) []Array {
			return selectedRows(a[0].(Array), slicedRows(a[1], a[2:]))
		}},
		Row{Op: "ragged.slice_index", Calls: []Call{Args(splitsA, One(1), nil, One(2)), Args(splitsB, nil, nil, One(-1)), Args(noRows), Args(splitsA, One(3), One(0), One(-1))}, Ref: func(a []any) []Array {
			return indexRows(slicedRows(a[0], a[1:]))
		}},
		Row{Op: "ragged.pick", Smooth: true, Calls: append(EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 8), splitsA, One(0)), Args(Sample(d, 8), splitsA, One(-1), SampleSeed(d, 4)), Args(Sample(d, 8, 2), splitsB, Int32(1, 0, -2, 3), SampleSeed(d, 4, 2))}
		}), Args(Sample(dtype.Float64, 0, 2), noRows, One(1))), Ref: func(a []any) []Array {
			x, at := a[0].(Array), Positions(a[2])
			rows := cells(a[1])
			inner := Size(x.Shape[1:])
			out, found := x.Like(append([]int{len(rows)}, x.Shape[1:]...)), Array{Shape: []int{len(rows)}}
			for r, items := range rows {
				p := at[min(r, len(at)-1)]
				if p < 0 {
					p += len(items)
				}
				ok := p >= 0 && p < len(items)
				found.X = append(found.X, complex(Truth(ok), 0))
				for e := range inner {
					if ok {
						out.Put(r*inner+e, x, items[p]*inner+e)
					} else if len(a) > 3 {
						out.Put(r*inner+e, a[3].(Array), e%a[3].(Array).Len())
					}
				}
			}
			return []Array{out, found}
		}},
		Row{Op: "ragged.concat", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{
				Args(List(Sample(d, 8), SampleSeed(d, 2, 3)), List(splitsA, Int(0, 1, 3, 3, 3))), Args(List(Sample(d, 8, 2)), List(splitsB)),
				Args(List(Sample(d, 2, 2), SampleSeed(d, 2, 0, 2), SampleSeed(d, 3, 1, 2)), List(Int(0, 1, 2), Int32(0, 0, 0), Int(0, 0, 1))),
			}
		}), Ref: func(a []any) []Array {
			return selectedRows(joinArrays(a[0].([]Array), 0), zippedRows(a[1].([]Array)))
		}},
		Row{Op: "ragged.concat_index", Calls: []Call{Args(List(splitsA, Int(0, 1, 3, 3, 3))), Args(List(splitsB)), Args(List(Int(0, 1), Int32(0, 2)))}, Ref: func(a []any) []Array {
			return indexRows(zippedRows(a[0].([]Array)))
		}},
		Row{Op: "ragged.stack_splits", Calls: []Call{Args(List(splitsA, Int(0, 1, 3))), Args(List(splitsB)), Args(List(noRows, Int32(0, 2), noRows))}, Ref: func(a []any) []Array {
			out := []int{0}
			for _, s := range a[0].([]Array) {
				for _, n := range lengthsOf(s) {
					out = append(out, out[len(out)-1]+n)
				}
			}
			return []Array{vector(out)}
		}},
		Row{Op: "ragged.to_dense", Smooth: true, Calls: slices.Concat(raggedCalls2(One(4)), raggedCalls2(tensor.Scalar(int32(2))), raggedCalls2(One(0)), EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 8), splitsA, One(3), SampleSeed(d, 4)), Args(Sample(d, 8, 2), splitsB, One(5), SampleSeed(d, 4, 2))}
		})), Ref: func(a []any) []Array {
			x, width := a[0].(Array), IntOf(a[2])
			rows := cells(a[1])
			inner := Size(x.Shape[1:])
			out := x.Like(append([]int{len(rows), width}, x.Shape[1:]...))
			for r, items := range rows {
				for k := range width {
					for e := range inner {
						if k < len(items) {
							out.Put((r*width+k)*inner+e, x, items[k]*inner+e)
						} else if len(a) > 3 {
							out.Put((r*width+k)*inner+e, a[3].(Array), e%a[3].(Array).Len())
						}
					}
				}
			}
			return []Array{out}
		}},
		Row{Op: "ragged.from_dense", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 4, 4), splitsA), Args(Sample(d, 4, 5, 2), splitsB), Args(Sample(d, 4, 2), splitsA, true), Args(Sample(d, 0, 3), noRows), Args(Sample(d, 4, 0), splitsA, true)}
		}), Ref: func(a []any) []Array {
			x := a[0].(Array)
			width := x.Shape[1]
			flat := x
			flat.Shape = append([]int{x.Shape[0] * width}, x.Shape[2:]...)
			var at []int
			for r, items := range cells(a[1]) {
				for k := range items {
					if k < width {
						at = append(at, r*width+k)
					} else {
						at = append(at, -1)
					}
				}
			}
			return []Array{Move(flat, append([]int{len(at)}, x.Shape[2:]...), func(p []int) int {
				if at[p[0]] < 0 {
					return -1
				}
				return Offset(flat.Shape, append([]int{at[p[0]]}, p[1:]...))
			})}
		}},
		Row{Op: "ragged.unpadded_lengths", Calls: slices.Concat(EachType(AllPlain, func(d dtype.DType) []Call {
			return []Call{NoGrad(Shaped(d, []int{3, 3}, 1, 0, 0, 1, 0, 1, 0, 0, 0), Shaped(d, []int{}, 0)), NoGrad(Shaped(d, []int{1, 2, 2}, 1, 0, 1, 1), Shaped(d, []int{2}, 1, 1))}
		}), []Call{Args(Text([]int{2, 2}, "a", "", "", ""), tensor.Scalar(""))}), Ref: func(a []any) []Array {
			x, pad := a[0].(Array), a[1].(Array)
			width, inner := x.Shape[1], Size(x.Shape[2:])
			both := joinArrays([]Array{flat(x), flat(pad)}, 0)
			var out []int
			for r := range x.Shape[0] {
				n := width
				for ; n > 0; n-- {
					same := true
					for e := range inner {
						same = same && both.same((r*width+n-1)*inner+e, x.Len()+e%pad.Len())
					}
					if !same {
						break
					}
				}
				out = append(out, n)
			}
			return []Array{vector(out)}
		}},
		Row{Op: "ragged.combinations", Calls: []Call{Args(splitsA, 2), Args(splitsB, 3, true, true), Args(splitsA, 1, false, true), Args(noRows, 2)}, Ref: func(a []any) []Array {
			n := a[1].(int)
			again, local := len(a) > 2 && a[2].(bool), len(a) > 3 && a[3].(bool)
			var rows [][][]int
			for _, items := range cells(a[0]) {
				rows = append(rows, choices(items, n, again))
			}
			return tupleRows(rows, n, cells(a[0]), local)
		}},
		Row{Op: "ragged.cartesian", Calls: []Call{Args(List(splitsA, Int(0, 1, 3, 3, 4))), Args(List(splitsB, splitsB, Int32(0, 1, 2, 3, 4)), true), Args(List(noRows))}, Ref: func(a []any) []Array {
			parts := a[0].([]Array)
			local := len(a) > 1 && a[1].(bool)
			var rows [][][]int
			for r := range cells(parts[0]) {
				tuples := [][]int{{}}
				for _, p := range parts {
					var longer [][]int
					for _, t := range tuples {
						for k, i := range cells(p)[r] {
							if local {
								i = k
							}
							longer = append(longer, append(slices.Clone(t), i))
						}
					}
					tuples = longer
				}
				rows = append(rows, tuples)
			}
			return tupleRows(rows, len(parts), nil, false)
		}},
		Row{Op: "ragged.bincount", Smooth: true, Calls: EachType(Ints, func(d dtype.DType) []Call {
			x := Values(d, 1, 1, 3, 0, 5, 2, 2, 0)
			return []Call{Args(x, splitsA, nil, One(4)), Args(x, splitsB, Uniform(dtype.Float64, []int{8}, -1, 1), One(6)), Args(x, splitsA, nil, One(3), true), Args(Values(d), noRows, nil, One(2))}
		}), Ref: func(a []any) []Array {
			n := IntOf(a[3])
			rows := cells(a[1])
			out := Array{Shape: []int{len(rows), n}, X: make([]complex128, len(rows)*n)}
			for r, items := range rows {
				for _, i := range items {
					v := Positions(a[0])[i]
					switch {
					case v >= n:
					case len(a) > 4:
						out.X[r*n+v] = 1
					case a[2] != nil:
						out.X[r*n+v] += a[2].(Array).X[i]
					default:
						out.X[r*n+v]++
					}
				}
			}
			return []Array{out}
		}},
		Row{Op: "ragged.range", Calls: []Call{
			Args(Int(0, 5, 3), Int(3, 0, 3), Int(1, -2, 1)), Args(One(0), Int(2, 0, 3), One(1)), Args(Values(dtype.Float32, 0, 1), Values(dtype.Float32, 1, 1.5), Values(dtype.Float32, 0.5, 0.25), dtype.Int32),
			Args(One(1), One(4), One(1)),
		}, Ref: func(a []any) []Array {
			n := 1
			for _, v := range a[:3] {
				if s := v.(Array).Shape; len(s) > 0 {
					n = s[0]
				}
			}
			at := func(v any, r int) float64 { f := v.(Array).Floats(); return f[min(r, len(f)-1)] }
			out, ends := Array{Shape: []int{0}}, []int{0}
			for r := range n {
				start, limit, delta := at(a[0], r), at(a[1], r), at(a[2], r)
				for i := 0; delta > 0 && start+float64(i)*delta < limit || delta < 0 && start+float64(i)*delta > limit; i++ {
					out.X = append(out.X, complex(start+float64(i)*delta, 0))
				}
				ends = append(ends, len(out.X))
			}
			out.Shape[0] = len(out.X)
			return []Array{out, vector(ends)}
		}},
		Row{Op: "ragged.reduce_join", Calls: []Call{Args(Sample(dtype.String, 8), splitsA), Args(Sample(dtype.String, 8, 2), splitsB, "+"), Args(Sample(dtype.String, 0), noRows)}, Ref: func(a []any) []Array {
			x := a[0].(Array)
			inner := Size(x.Shape[1:])
			rows := cells(a[1])
			out := Array{Shape: append([]int{len(rows)}, x.Shape[1:]...), S: []string{}}
			for _, items := range rows {
				for e := range inner {
					var parts []string
					for _, i := range items {
						parts = append(parts, x.S[i*inner+e])
					}
					out.S = append(out.S, strings.Join(parts, separator(a, 2)))
				}
			}
			return []Array{out}
		}},
		Row{Op: "ragged.ngrams", Calls: []Call{Args(Sample(dtype.String, 8), splitsA, []int{2}), Args(Sample(dtype.String, 8), splitsB, []int{3, 1}, "|", "<", ">", -1), Args(Sample(dtype.String, 8), splitsA, []int{3}, " ", "", "", 0, true)}, Ref: func(a []any) []Array {
			x := a[0].(Array)
			all, ends := []string{}, []int{0}
			for _, items := range cells(a[1]) {
				row := []string{}
				for _, i := range items {
					row = append(row, x.S[i])
				}
				all = append(all, rowGrams(row, a[2:])...)
				ends = append(ends, len(all))
			}
			return []Array{{Shape: []int{len(all)}, S: all}, vector(ends)}
		}},
	)
}

// raggedCalls2 are calls of an operation that moves values of every type.
func raggedCalls2(more ...any) []Call { return raggedCalls3(Movable, more...) }

func raggedCalls3(types []dtype.DType, more ...any) []Call {
	return EachType(types, func(d dtype.DType) []Call {
		call := func(x, splits tensor.Tensor) Call { return Args(append([]any{x, splits}, more...)...) }
		return []Call{call(Sample(d, 8), splitsA), call(Sample(d, 8, 2), splitsB)}
	})
}

func chosenRows(splits, idx any) [][]int {
	var out [][]int
	rows := cells(splits)
	for _, r := range Positions(idx) {
		out = append(out, rows[r])
	}
	return out
}

// slicedRows are the items that a range, given by its bounds, selects of each row.
func slicedRows(splits any, b []any) [][]int {
	var bounds [3]any
	for i := range b {
		if b[i] != nil {
			bounds[i] = IntOf(b[i])
		}
	}
	var out [][]int
	for _, items := range cells(splits) {
		var row []int
		for _, p := range pythonRange(keyOf(bounds[0], bounds[1], bounds[2]), len(items), nil) {
			row = append(row, items[p])
		}
		out = append(out, row)
	}
	return out
}

// zippedRows are the rows of several partitions joined, as positions among the
// values of all of them.
func zippedRows(parts []Array) [][]int {
	out := make([][]int, parts[0].Len()-1)
	base := 0
	for _, p := range parts {
		n := 0
		for r, items := range cells(p) {
			for _, i := range items {
				out[r] = append(out[r], base+i)
			}
			n += len(items)
		}
		base += n
	}
	return out
}

// choices are the ways to choose n items in lexicographic order.
func choices(items []int, n int, again bool) [][]int {
	if n == 0 {
		return [][]int{{}}
	}
	var out [][]int
	for k, i := range items {
		rest := items[k+1:]
		if again {
			rest = items[k:]
		}
		for _, c := range choices(rest, n-1, again) {
			out = append(out, append([]int{i}, c...))
		}
	}
	return out
}

// tupleRows are the row splits of tuples, and the positions of each of their n items,
// counted from the first of rows where local.
func tupleRows(tuples [][][]int, n int, rows [][]int, local bool) []Array {
	ends, at := []int{0}, make([][]int, n)
	for r, row := range tuples {
		for _, t := range row {
			for k, i := range t {
				if local {
					i -= rows[r][0]
				}
				at[k] = append(at[k], i)
			}
		}
		ends = append(ends, ends[len(ends)-1]+len(row))
	}
	out := []Array{vector(ends)}
	for _, p := range at {
		out = append(out, vector(p))
	}
	return out
}
