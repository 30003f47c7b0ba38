package optable

import (
	"slices"

	"github.com/tenonml/tenon/dtype"
)

// Operations that join, cut and repeat.

func init() {
	Add(
		Row{Op: "concat", Smooth: true, Calls: append(EachMovable(func(d dtype.DType) []Call {
			return []Call{
				Args(List(Sample(d, 2, 3), SampleSeed(d, 2, 1, 3)), 0), Args(List(Sample(d, 2, 3), SampleSeed(d, 2, 2, 1), SampleSeed(d, 3, 2, 2)), -1),
				Args(List(Sample(d, 2)), 0), Args(List(Sample(d, 0, 3), SampleSeed(d, 2, 2, 3)), 0), Args(List(Sample(d, 2, 0, 2), SampleSeed(d, 2, 2, 0, 2)), 1),
				Args(List(Sample(d, 2, 3, 2), SampleSeed(d, 2, 2, 1, 2)), 1),
			}
		}), Args(List(Int(1, 2), Values(dtype.Float32, 3)), 0)), // promoted
			Ref: func(a []any) []Array {
				xs := a[0].([]Array)
				axis := Axis(a[1], len(xs[0].Shape))
				return []Array{joinArrays(xs, axis)}
			}},
		Row{Op: "stack", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{
				Args(List(Sample(d, 2, 3), SampleSeed(d, 2, 2, 3)), 0), Args(List(Sample(d, 2, 3), SampleSeed(d, 2, 2, 3)), -1), Args(List(Sample(d, 2, 3), SampleSeed(d, 2, 2, 3)), 1),
				Args(List(Sample(d), SampleSeed(d, 2), SampleSeed(d, 3)), 0), Args(List(Sample(d, 0)), 1),
			}
		}), Ref: func(a []any) []Array {
			xs := slices.Clone(a[0].([]Array))
			axis := Axis(a[1], len(xs[0].Shape)+1)
			for i := range xs {
				xs[i].Shape = slices.Insert(slices.Clone(xs[i].Shape), axis, 1)
			}
			return []Array{joinArrays(xs, axis)}
		}},
		Row{Op: "unstack", Smooth: true, SizesKnown: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 2, 3)), Args(Sample(d, 2, 3), -1), Args(Sample(d, 3, 0), 0), Args(Sample(d, 0, 2), 0)}
		}), Ref: func(a []any) []Array {
			x := a[0].(Array)
			axis := 0
			if len(a) > 1 {
				axis = Axis(a[1], len(x.Shape))
			}
			parts := cutArray(x, slices.Repeat([]int{1}, x.Shape[axis]), axis)
			for i := range parts {
				parts[i].Shape = slices.Delete(parts[i].Shape, axis, axis+1)
			}
			return parts
		}},
		Row{Op: "split", Smooth: true, SizesKnown: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 5, 2), Int(2, 3)), Args(Sample(d, 2, 6), nil, -1, 3), Args(Sample(d, 2, 4), Int32(1, -1, 0), 1), Args(Sample(d, 0, 2), nil, 0, 2)}
		}), Ref: func(a []any) []Array {
			x := a[0].(Array)
			axis := 0
			if len(a) > 2 {
				axis = Axis(a[2], len(x.Shape))
			}
			if a[1] == nil {
				n := a[3].(int)
				return cutArray(x, slices.Repeat([]int{x.Shape[axis] / n}, n), axis)
			}
			parts := Positions(a[1])
			if i := slices.Index(parts, -1); i >= 0 {
				parts[i] = 0
				for k, n := range parts {
					if k != i {
						parts[i] -= n
					}
				}
				parts[i] += x.Shape[axis]
			}
			return cutArray(x, parts, axis)
		}},
		Row{Op: "tile", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 2, 3), Int(2, 1)), Args(Sample(d, 2, 3), Int32(2, 3)), Args(Sample(d), Int()), Args(Sample(d, 2), Int(0)), Args(Sample(d, 0, 2), Int(2, 2))}
		}), Ref: func(a []any) []Array {
			x, m := a[0].(Array), Positions(a[1])
			dims, from := make([]int, len(m)), make([]int, len(m))
			for i := range m {
				dims[i] = m[i] * x.Shape[i]
			}
			return []Array{Move(x, dims, func(at []int) int {
				for i, p := range at {
					from[i] = p % x.Shape[i]
				}
				return Offset(x.Shape, from)
			})}
		}},
		Row{Op: "repeat", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 3, 2), Int(2, 0, 1), 0), Args(Sample(d, 2, 3), One(2), -1), Args(Sample(d, 2, 3, 2), Int32(1, 2, 3), 1), Args(Sample(d, 2), One(0)), Args(Sample(d, 0, 2), Int(), 0)}
		}), Ref: func(a []any) []Array {
			x, times := a[0].(Array), Positions(a[1])
			axis := 0
			if len(a) > 2 {
				axis = Axis(a[2], len(x.Shape))
			}
			var from []int
			for i := range x.Shape[axis] {
				n := times[0]
				if len(a[1].(Array).Shape) > 0 {
					n = times[i]
				}
				from = append(from, slices.Repeat([]int{i}, n)...)
			}
			return []Array{takeArray(x, from, axis)}
		}},
		Row{Op: "pad", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{
				Args(Sample(d, 2, 3), IntShaped([]int{2, 2}, 1, 0, 2, 1)), Args(Sample(d, 2), IntShaped([]int{1, 2}, 1, 2), SampleSeed(d, 5)),
				Args(Sample(d), IntShaped([]int{0, 2})), Args(Sample(d, 0, 2), IntShaped([]int{2, 2}, 1, 1, 0, 1), SampleSeed(d, 5)),
			}
		}), Ref: func(a []any) []Array {
			x, p := a[0].(Array), Positions(a[1])
			dims, from := make([]int, len(x.Shape)), make([]int, len(x.Shape))
			for i, n := range x.Shape {
				dims[i] = p[2*i] + n + p[2*i+1]
			}
			out := x.Like(dims)
			Indices(dims, func(i int, at []int) {
				for k, q := range at {
					if from[k] = q - p[2*k]; from[k] < 0 || from[k] >= x.Shape[k] {
						if len(a) > 2 {
							out.Put(i, a[2].(Array), 0)
						}
						return
					}
				}
				out.Put(i, x, Offset(x.Shape, from))
			})
			return []Array{out}
		}},
		Row{Op: "mirror_pad", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{
				Args(Sample(d, 4), IntShaped([]int{1, 2}, 2, 3), "reflect"), Args(Sample(d, 3, 2), IntShaped([]int{2, 2}, 1, 2, 1, 0), "reflect"),
				Args(Sample(d, 3, 2), IntShaped([]int{2, 2}, 3, 2, 1, 2), "symmetric"), Args(Sample(d, 0, 2), IntShaped([]int{2, 2}, 0, 0, 1, 1), "symmetric"),
			}
		}), Ref: func(a []any) []Array {
			x, p := a[0].(Array), Positions(a[1])
			edge := 0
			if a[2] == "reflect" {
				edge = 1
			}
			dims, from := make([]int, len(x.Shape)), make([]int, len(x.Shape))
			for i, n := range x.Shape {
				dims[i] = p[2*i] + n + p[2*i+1]
			}
			return []Array{Move(x, dims, func(at []int) int {
				for k, q := range at {
					q -= p[2*k]
					if q < 0 {
						q = -q - 1 + edge
					}
					if n := x.Shape[k]; q >= n {
						q = 2*n - 1 - edge - q
					}
					from[k] = q
				}
				return Offset(x.Shape, from)
			})}
		}},
	)
}

// joinArrays is the definition of concatenation.
func joinArrays(xs []Array, axis int) Array {
	dims := slices.Clone(xs[0].Shape)
	dims[axis] = 0
	for _, x := range xs {
		dims[axis] += x.Shape[axis]
	}
	out := xs[0].Like(dims)
	Indices(dims, func(i int, at []int) {
		from := slices.Clone(at)
		for _, x := range xs {
			if from[axis] < x.Shape[axis] {
				out.Put(i, x, Offset(x.Shape, from))
				return
			}
			from[axis] -= x.Shape[axis]
		}
	})
	return out
}

// cutArray is the definition of splitting.
func cutArray(x Array, sizes []int, axis int) []Array {
	out := []Array{}
	start := 0
	for _, n := range sizes {
		from := make([]int, n)
		for i := range from {
			from[i] = start + i
		}
		out = append(out, takeArray(x, from, axis))
		start += n
	}
	return out
}

// takeArray is the definition of gathering along an axis.
func takeArray(x Array, from []int, axis int) Array {
	dims := slices.Clone(x.Shape)
	dims[axis] = len(from)
	return Move(x, dims, func(at []int) int {
		p := slices.Clone(at)
		p[axis] = from[at[axis]]
		return Offset(x.Shape, p)
	})
}
