package optable

import (
	"math"
	"slices"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops/key"
	_ "github.com/tenonml/tenon/ops/rows" // registers operations on rows
	"github.com/tenonml/tenon/tensor"
)

// Operations on rows, given as values and row splits. Their references work on a
// slice of items for each row.

// cells returns the positions of the items of each row.
func cells(splits any) [][]int {
	s := Positions(splits)
	out := make([][]int, len(s)-1)
	for r := range out {
		for i := s[r]; i < s[r+1]; i++ {
			out[r] = append(out[r], i)
		}
	}
	return out
}

// joined returns items one behind the other, and their row splits.
func joined(rows [][]int) (at []int, splits Array) {
	ends := []int{0}
	for _, r := range rows {
		at = append(at, r...)
		ends = append(ends, len(at))
	}
	return at, vector(ends)
}

// selectedRows are the values at positions by row, and their row splits.
func selectedRows(x Array, rows [][]int) []Array {
	at, splits := joined(rows)
	return []Array{takeArray(x, at, 0), splits}
}

// indexRows are row splits and positions.
func indexRows(rows [][]int) []Array {
	at, splits := joined(rows)
	return []Array{splits, vector(at)}
}

var (
	splitsA = Int(0, 3, 3, 4, 8)
	splitsB = Int32(0, 3, 3, 4, 8)
	noRows  = Int(0)
)

// raggedCalls are calls of an operation on values and splits, with further arguments.
func raggedCalls(types []dtype.DType, lo, hi float64, more ...any) []Call {
	return EachType(types, func(d dtype.DType) []Call {
		value := func(dims ...int) tensor.Tensor {
			if d == dtype.String {
				return Sample(d, dims...)
			}
			if d.IsUnsigned() {
				return Uniform(d, dims, max(lo, 0), hi)
			}
			return Uniform(d, dims, lo, hi)
		}
		call := func(x, splits tensor.Tensor) Call { return Args(append([]any{x, splits}, more...)...) }
		return []Call{call(value(8), splitsA), call(value(8, 2), splitsB), call(value(0), noRows), call(value(0, 2), Int(0, 0, 0)), call(value(8, 1, 2), splitsA)}
	})
}

// perRowRow makes the row of a reduction of each row.
func perRowRow(name string, types []dtype.DType, lo float64, f func(x []complex128) complex128, more ...any) Row {
	return Row{Op: name, Tol: 16, Calls: raggedCalls(types, lo, 4, more...), Ref: func(a []any) []Array {
		x := a[0].(Array)
		rows := cells(a[1])
		inner := Size(x.Shape[1:])
		out := Array{Shape: append([]int{len(rows)}, x.Shape[1:]...)}
		for _, r := range rows {
			for e := range inner {
				var line []complex128
				for _, i := range r {
					line = append(line, x.X[i*inner+e])
				}
				out.X = append(out.X, f(line))
			}
		}
		return []Array{out}
	}}
}

// alongRow makes the row of an operation that maps rows to rows of equal length.
func alongRow(name string, types []dtype.DType, lo float64, f func(x []complex128, a []any) []complex128, more ...any) Row {
	return Row{Op: name, Smooth: true, Tol: 16, Calls: raggedCalls(types, lo, 4, more...), Ref: func(a []any) []Array {
		x := a[0].(Array)
		inner := Size(x.Shape[1:])
		out := x.Like(x.Shape)
		for _, r := range cells(a[1]) {
			for e := range inner {
				line := make([]complex128, len(r))
				for k, i := range r {
					line[k] = x.X[i*inner+e]
				}
				for k, v := range f(line, a[2:]) {
					out.X[r[k]*inner+e] = v
				}
			}
		}
		return []Array{out}
	}}
}

func sumc(x []complex128) complex128 {
	return foldc(x, 0, func(a, b complex128) complex128 { return a + b })
}

// real1 makes a function of numbers one of complex numbers.
func real1(f func(x []float64) float64) func(x []complex128) complex128 {
	return func(x []complex128) complex128 { return complex(f(Array{X: x}.Floats()), 0) }
}

// best returns the position of the first largest number.
func best(sign float64) func(x []float64) float64 {
	return func(x []float64) float64 {
		at := -1
		for i, v := range x {
			if at < 0 || sign*v > sign*x[at] {
				at = i
			}
		}
		return float64(at)
	}
}

func expSum(x []float64) float64 {
	m := Fold(x, -Inf, math.Max)
	s := 0.0
	for _, v := range x {
		s += math.Exp(v - m)
	}
	return m + math.Log(s)
}

// running is the reference of cumulative operations.
func running(start complex128, f func(a, b complex128) complex128) func(x []complex128, a []any) []complex128 {
	return func(x []complex128, a []any) []complex128 {
		exclusive, reverse := a[0].(bool), a[1].(bool)
		out, sum := make([]complex128, len(x)), start
		for k := range x {
			i := k
			if reverse {
				i = len(x) - 1 - k
			}
			if exclusive {
				out[i] = sum
			}
			sum = f(sum, x[i])
			if !exclusive {
				out[i] = sum
			}
		}
		return out
	}
}

func init() {
	identity := []dtype.DType{dtype.Float64, dtype.Float32, dtype.Float16}
	Add(
		smooth(perRowRow("ragged.sum", AllPlain, -4, sumc)),
		smooth(perRowRow("ragged.prod", Numbers, 1, func(x []complex128) complex128 {
			return foldc(x, 1, func(a, b complex128) complex128 { return a * b })
		})),
		smooth(perRowRow("ragged.max", identity, -4, real1(func(x []float64) float64 { return Fold(x, -Inf, math.Max) }))),
		smooth(perRowRow("ragged.min", identity, -4, real1(func(x []float64) float64 { return Fold(x, Inf, math.Min) }))),
		perRowRow("ragged.argmax", Reals, -4, real1(best(1))),
		perRowRow("ragged.argmin", Reals, -4, real1(best(-1))),
		alongRow("ragged.softmax", Floats, -4, func(x []complex128, _ []any) []complex128 {
			l := expSum(Array{X: x}.Floats())
			return mapc(x, func(v float64) float64 { return math.Exp(v - l) })
		}),
		alongRow("ragged.log_softmax", Floats, -4, func(x []complex128, _ []any) []complex128 {
			l := expSum(Array{X: x}.Floats())
			return mapc(x, func(v float64) float64 { return v - l })
		}),
		runningRow("ragged.cumsum", -4, running(0, func(a, b complex128) complex128 { return a + b })),
		runningRow("ragged.cumprod", 1, running(1, func(a, b complex128) complex128 { return a * b })),
		add(alongRow("ragged.shift", AllPlain, -4, func(x []complex128, a []any) []complex128 {
			out := make([]complex128, len(x))
			for i := range out {
				if k := i - a[0].(int); k >= 0 && k < len(x) {
					out[i] = x[k]
				}
			}
			return out
		}, 1), raggedCalls(Wide, -4, 4, -2)...),
		Row{Op: "ragged.linear_scan", Smooth: true, Tol: 16, Calls: EachType([]dtype.DType{dtype.Float64, dtype.Float32, dtype.Float16, dtype.Complex128}, func(d dtype.DType) []Call {
			a, b := Uniform(d, []int{8, 2}, -1, 1), UniformSeed(d, []int{8, 2}, -1, 1, 3)
			return []Call{Args(a, b, splitsA), Args(a, b, splitsB, true), Args(Uniform(d, []int{0}, 0, 1), Uniform(d, []int{0}, 0, 1), noRows)}
		}), Ref: func(a []any) []Array {
			x, b := a[0].(Array), a[1].(Array)
			inner := Size(x.Shape[1:])
			out := x.Like(x.Shape)
			for _, r := range cells(a[2]) {
				if len(a) > 3 {
					slices.Reverse(r)
				}
				for k, i := range r {
					for e := range inner {
						h := b.X[i*inner+e]
						if k > 0 {
							h += x.X[i*inner+e] * out.X[r[k-1]*inner+e]
						}
						out.X[i*inner+e] = h
					}
				}
			}
			return []Array{out}
		}},
		Row{Op: "ragged.repeat", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 4), splitsA), Args(Sample(d, 4, 2), splitsB, 8), Args(Sample(d, 0, 2), noRows)}
		}), Ref: func(a []any) []Array {
			var at []int
			for r, items := range cells(a[1]) {
				at = append(at, slices.Repeat([]int{r}, len(items))...)
			}
			return []Array{takeArray(a[0].(Array), at, 0)}
		}},
		Row{Op: "ragged.repeat_index", Calls: []Call{Args(splitsA, One(2)), Args(splitsB, Int32(2, 5, 0, 1)), Args(noRows, One(3))}, Ref: func(a []any) []Array {
			times := Positions(a[1])
			var out [][]int
			for r, items := range cells(a[0]) {
				out = append(out, slices.Repeat(items, times[min(r, len(times)-1)]))
			}
			return indexRows(out)
		}},
		moveRowsRow("ragged.reverse", func(r []int, _ []any) []int { r = slices.Clone(r); slices.Reverse(r); return r }),
		moveRowsRow("ragged.roll", func(r []int, a []any) []int {
			if len(r) == 0 {
				return r
			}
			k := ((a[0].(int) % len(r)) + len(r)) % len(r)
			return append(slices.Clone(r[len(r)-k:]), r[:len(r)-k]...)
		}, 2),
		Row{Op: "ragged.sort", Smooth: true, Calls: sortRowsCalls(), Ref: func(a []any) []Array { v, _ := sortedRows(a); return []Array{v} }},
		Row{Op: "ragged.argsort", Calls: sortRowsCalls(), Ref: func(a []any) []Array { _, p := sortedRows(a); return []Array{p} }},
		Row{Op: "ragged.top_k", Smooth: true, Calls: EachType(Orderable, func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 8), splitsA, One(2)), Args(Sample(d, 8), splitsB, tensor.Scalar(int32(0))), Args(Sample(d, 0), noRows, One(1))}
		}), Ref: func(a []any) []Array {
			x := a[0].(Array)
			var out [][]int
			var local []int
			for _, r := range cells(a[1]) {
				top := x.order(r, true)
				top = top[:min(len(top), IntOf(a[2]))]
				out = append(out, top)
				for _, i := range top {
					local = append(local, i-r[0])
				}
			}
			at, splits := joined(out)
			return []Array{takeArray(x, at, 0), vector(local), splits}
		}},
		Row{Op: "ragged.unique_index", Calls: append(EachMovable(func(d dtype.DType) []Call { return []Call{Args(Sample(d, 8), splitsA), Args(Sample(d, 0), Int(0, 0))} }),
			Args(Values(dtype.Float32, 1, 2, 1, 2, 5, 5, 5, 6), splitsB), Args(Text([]int{4}, "a", "b", "a", "a"), Int(0, 3, 4))), Ref: func(a []any) []Array {
			x := a[0].(Array)
			var first [][]int
			var counts, inverse []int
			for _, r := range cells(a[1]) {
				var seen []int
				n := make([]int, len(r))
				for _, i := range r {
					k := slices.IndexFunc(seen, func(j int) bool { return x.same(i, j) })
					if k < 0 {
						k = len(seen)
						seen = append(seen, i)
					}
					n[k]++
					inverse = append(inverse, k)
				}
				first, counts = append(first, seen), append(counts, n[:len(seen)]...)
			}
			at, splits := joined(first)
			return []Array{splits, vector(at), vector(counts), vector(inverse)}
		}},
		Row{Op: "ragged.run_lengths", Calls: append(EachMovable(func(d dtype.DType) []Call { return []Call{Args(Sample(d, 8, 2), splitsA)} }),
			Args(Values(dtype.Int8, 1, 1, 2, 2, 5, 5, 5, 6), splitsB), Args(Text([]int{4}, "a", "a", "a", "b"), Int(0, 2, 4))), Ref: func(a []any) []Array {
			x := a[0].(Array)
			inner := Size(x.Shape[1:])
			var lengths, ends []int
			ends = append(ends, 0)
			for _, r := range cells(a[1]) {
				for k, i := range r {
					same := k > 0
					for e := range inner {
						same = same && x.same(i*inner+e, r[max(k-1, 0)]*inner+e)
					}
					if !same {
						lengths = append(lengths, 0)
					}
					lengths[len(lengths)-1]++
				}
				ends = append(ends, len(lengths))
			}
			return []Array{vector(lengths), vector(ends)}
		}},
	)
}

func mapc(x []complex128, f func(v float64) float64) []complex128 {
	out := make([]complex128, len(x))
	for i, v := range x {
		out[i] = complex(f(real(v)), 0)
	}
	return out
}

func runningRow(name string, lo float64, f func(x []complex128, a []any) []complex128) Row {
	r := alongRow(name, Numbers, lo, f, false, false)
	for _, flags := range [][2]bool{{true, false}, {false, true}, {true, true}} {
		r.Calls = append(r.Calls, raggedCalls([]dtype.DType{dtype.Float64, dtype.Int32}, lo, 4, flags[0], flags[1])...)
	}
	return r
}

// moveRowsRow makes the row of an operation that moves items within their rows.
func moveRowsRow(name string, f func(r []int, a []any) []int, more ...any) Row {
	return Row{Op: name, Smooth: true, Calls: raggedCalls(Movable, 1, 9, more...), Ref: func(a []any) []Array {
		var at []int
		for _, r := range cells(a[1]) {
			at = append(at, f(r, a[2:])...)
		}
		return []Array{takeArray(a[0].(Array), at, 0)}
	}}
}

func sortRowsCalls() []Call {
	return slices.Concat(raggedCalls(Orderable, 1, 9), raggedCalls(Orderable, 1, 9, true), []Call{NoGrad(Values(dtype.Float64, 1, NaN, 0, 2, NaN, 5, 4, 4), splitsA)})
}

// sortedRows are the references of sort and argsort.
func sortedRows(a []any) (values, positions Array) {
	x := a[0].(Array)
	inner := Size(x.Shape[1:])
	values, positions = x.Like(x.Shape), Array{Shape: x.Shape, X: make([]complex128, Size(x.Shape))}
	for _, r := range cells(a[1]) {
		for e := range inner {
			line := make([]int, len(r))
			for k, i := range r {
				line[k] = i*inner + e
			}
			for k, from := range x.order(line, len(a) > 2) {
				values.Put(line[k], x, from)
				positions.X[line[k]] = complex(float64(from/inner-r[0]), 0)
			}
		}
	}
	return values, positions
}

// fullRows compares gradients only where no row is empty, as those give NaN.
func fullRows(r Row) Row {
	for i := range r.Calls {
		r.Calls[i].Grad = []int{}
	}
	full := Int(0, 3, 4, 8)
	return add(r, Args(Uniform(dtype.Float64, []int{8}, -4, 4), full), Args(Uniform(dtype.Float64, []int{8, 2}, -4, 4), full))
}

// keyOf is what a range of the table means.
func keyOf(start, stop, step any) key.Key { return key.Range(start, stop, step) }
