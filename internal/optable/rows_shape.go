package optable

import (
	"slices"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// Operations on shapes.

func init() {
	Add(
		Row{Op: "reshape", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{
				Args(Sample(d, 2, 3), Int(3, 2)), Args(Sample(d, 2, 3), Int(-1)), Args(Sample(d), Int32(1, 1)),
				Args(Sample(d, 1), Int()), Args(Sample(d, 0, 3), Int(3, 0, 2)), Args(Sample(d, 4, 3), Int(2, -1, 3)),
			}
		}), Ref: func(a []any) []Array {
			x, dims := a[0].(Array), Positions(a[1])
			if i := slices.Index(dims, -1); i >= 0 {
				dims[i] = 1
				dims[i] = Size(x.Shape) / Size(dims)
			}
			return []Array{Move(x, dims, func(at []int) int { return Offset(dims, at) })}
		}},
		Row{Op: "expand_dims", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 2, 3), []int{0}), Args(Sample(d, 2, 3), []int{-1}), Args(Sample(d, 2, 3), []int{1, -1}), Args(Sample(d), []int{0}), Args(Sample(d, 0), []int{1})}
		}), Ref: func(a []any) []Array {
			x := a[0].(Array)
			axes := a[1].([]int)
			rank := len(x.Shape) + len(axes)
			dims := make([]int, rank)
			for _, k := range axes {
				dims[Axis(k, rank)] = 1
			}
			k := 0
			for i := range dims {
				if dims[i] == 0 {
					dims[i] = x.Shape[k]
					k++
				}
			}
			return []Array{Move(x, dims, func(at []int) int { return Offset(dims, at) })}
		}},
		Row{Op: "squeeze", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 1, 2, 1, 3)), Args(Sample(d, 1, 2, 1, 3), []int{2}), Args(Sample(d, 1, 2, 1, 3), []int{-2, 0}), Args(Sample(d, 2, 3)), Args(Sample(d, 1, 0), []int{0})}
		}), Ref: func(a []any) []Array {
			x := a[0].(Array)
			var dims []int
			for i, n := range x.Shape {
				gone := n == 1 && len(a) < 2
				if len(a) > 1 {
					for _, k := range a[1].([]int) {
						gone = gone || Axis(k, len(x.Shape)) == i
					}
				}
				if !gone {
					dims = append(dims, n)
				}
			}
			return []Array{Move(x, dims, func(at []int) int { return Offset(dims, at) })}
		}},
		Row{Op: "ensure_shape", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 2, 3), shape.Of(2, -1)), Args(Sample(d, 2, 3), shape.UnknownRank), Args(Sample(d), shape.Of())}
		}), Ref: func(a []any) []Array { return []Array{a[0].(Array)} }},
		Row{Op: "transpose", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{
				Args(Sample(d, 2, 3)), Args(Sample(d, 2, 3, 4), []int{2, 0, 1}), Args(Sample(d, 2, 3, 4), []int{0, -1, 1}), Args(Sample(d)),
				Args(Sample(d, 0, 3)), Args(Sample(d, 40, 50), []int{1, 0}), Args(Sample(d, 2, 3, 2, 3), []int{3, 1, 2, 0}),
			}
		}), Ref: func(a []any) []Array {
			x := a[0].(Array)
			rank := len(x.Shape)
			perm := make([]int, rank)
			for i := range perm {
				perm[i] = rank - 1 - i
				if len(a) > 1 {
					perm[i] = Axis(a[1].([]int)[i], rank)
				}
			}
			dims, from := make([]int, rank), make([]int, rank)
			for i, k := range perm {
				dims[i] = x.Shape[k]
			}
			return []Array{Move(x, dims, func(at []int) int {
				for i, k := range perm {
					from[k] = at[i]
				}
				return Offset(x.Shape, from)
			})}
		}},
		Row{Op: "broadcast_to", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 3), Int(2, 3)), Args(Sample(d, 2, 1), Int(2, 3)), Args(Sample(d), Int32(2, 2)), Args(Sample(d, 1, 3), Int(0, 3)), Args(Sample(d, 2, 3), Int(2, 3))}
		}), Ref: func(a []any) []Array {
			x := a[0].(Array)
			return []Array{Move(x, Positions(a[1]), x.At)}
		}},
		infoRow("shape", func(x Array) Array { return vector(x.Shape) }),
		infoRow("size", func(x Array) Array { return scalar(Size(x.Shape)) }),
		infoRow("rank", func(x Array) Array { return scalar(len(x.Shape)) }),
	)
}

func infoRow(name string, f func(x Array) Array) Row {
	return Row{Op: name, Calls: EachMovable(func(d dtype.DType) []Call {
		return []Call{Args(Sample(d, 2, 3)), Args(Sample(d)), Args(Sample(d, 0, 4))}
	}), Ref: func(a []any) []Array { return []Array{f(a[0].(Array))} }}
}

// vector returns integers as an array.
func vector(x []int) Array {
	out := Array{Shape: []int{len(x)}, X: make([]complex128, len(x))}
	for i, v := range x {
		out.X[i] = complex(float64(v), 0)
	}
	return out
}

// scalar returns an integer as an array.
func scalar(x int) Array { return Array{Shape: []int{}, X: []complex128{complex(float64(x), 0)}} }
