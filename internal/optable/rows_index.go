package optable

import (
	"math"
	"slices"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops/key"
)

// Operations that select and replace by position.

func init() {
	Add(
		Row{Op: "index", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{
				Args(Sample(d, 4, 3), "1"), Args(Sample(d, 4, 3), "-1, 0"), Args(Sample(d, 4, 3), "1:3"), Args(Sample(d, 4, 3), ":, ::-1"), Args(Sample(d, 4, 3), "3:0:-2, newaxis, 1:"),
				Args(Sample(d, 2, 3, 4), "..., 1"), Args(Sample(d, 2, 3, 4), "-1, ..., -3:100:2"), Args(Sample(d, 5), "4:1"), Args(Sample(d, 5), "newaxis"), Args(Sample(d), ""),
				Args(Sample(d, 5), "$0:$1:$2", List(One(4), One(0), One(-2))), Args(Sample(d, 0, 3), "::-1, 1"),
			}
		}), Ref: func(a []any) []Array {
			x := a[0].(Array)
			dims, from := selected(x.Shape, a[1].(string), operands(a, 2))
			return []Array{Move(x, dims, func(at []int) int { return from(at) })}
		}},
		Row{Op: "index_update", Smooth: true, Calls: append(EachMovable(func(d dtype.DType) []Call {
			return []Call{
				Args(Sample(d, 4, 3), SampleSeed(d, 2, 3), "1"), Args(Sample(d, 4, 3), SampleSeed(d, 2), "1:3, ::-1"), Args(Sample(d, 4, 3), SampleSeed(d, 2, 2, 1), "::2, 1:"),
				Args(Sample(d, 5), SampleSeed(d, 2, 2), "3:$0:-1", List(One(1))), Args(Sample(d, 5), SampleSeed(d, 2), "5:"), Args(Sample(d, 2, 3), SampleSeed(d, 2, 1, 3), "newaxis, 0"),
			}
		}), Args(Int(1, 2, 3), Values(dtype.Float32, 0.5), "1:2")),
			Ref: func(a []any) []Array {
				x, y := a[0].(Array), a[1].(Array)
				dims, from := selected(x.Shape, a[2].(string), operands(a, 3))
				out := Move(x, x.Shape, func(at []int) int { return Offset(x.Shape, at) })
				Indices(dims, func(_ int, at []int) { out.Put(from(at), y, y.At(at)) })
				return []Array{out}
			}},
		Row{Op: "slice", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 4, 3), Int(1, 0), Int(2, 3)), Args(Sample(d, 4, 3), Int32(2, 1), Int32(-1, 1)), Args(Sample(d), Int(), Int()), Args(Sample(d, 3), Int(3), Int(0)), Args(Sample(d, 0, 2), Int(0, 1), Int(0, -1))}
		}), Ref: func(a []any) []Array {
			x, begin, dims := a[0].(Array), Positions(a[1]), Positions(a[2])
			for i := range dims {
				if dims[i] < 0 {
					dims[i] = x.Shape[i] - begin[i]
				}
			}
			return []Array{Move(x, dims, func(at []int) int {
				p := slices.Clone(at)
				for i := range p {
					p[i] += begin[i]
				}
				return Offset(x.Shape, p)
			})}
		}},
		Row{Op: "gather", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{
				Args(Sample(d, 4, 3), Int(3, 0, 3), 0), Args(Sample(d, 4, 3), Int32(2, 2), -1), Args(Sample(d, 4), One(2)), Args(Sample(d, 2, 3, 2), IntShaped([]int{2, 2}, 0, 2, 1, 1), 1),
				Args(Sample(d, 2, 3, 2), IntShaped([]int{2, 2}, 0, 2, 1, 1), 1, 1), Args(Sample(d, 2, 3, 4), IntShaped([]int{2, 2}, 3, 0, 1, 1), 2, 1), Args(Sample(d, 2, 3, 4), IntShaped([]int{2, 3, 2}, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3), 2, 2),
				Args(Sample(d, 2, 3), IntShaped([]int{2}, 1, 2), 1, 1), Args(Sample(d, 0, 3), Int(), 0), Args(Sample(d, 3, 0), Int(1), 0),
			}
		}), Ref: refGather},
		Row{Op: "gather_nd", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{
				Args(Sample(d, 2, 3), IntShaped([]int{3, 2}, 0, 1, 1, 2, 0, 1)), Args(Sample(d, 4, 3), IntShaped([]int{2, 1}, 3, 0)), Args(Sample(d, 2, 3), IntShaped([]int{2, 0})),
				Args(Sample(d, 2, 3, 2), IntShaped([]int{2, 2, 1}, 2, 0, 1, 1), 1), Args(Sample(d, 2, 3, 2), IntShaped([]int{2, 2}, 2, 0, 1, 1), 1), Args(Sample(d, 3), IntShaped([]int{0, 1})),
				Args(Sample(d, 2, 2, 3), IntShaped([]int{2, 2, 1}, 2, 0, 1, 1), 2),
			}
		}), Ref: func(a []any) []Array {
			x, idx := a[0].(Array), a[1].(Array)
			batch := attrInt(a, 2, 0)
			n, k := len(idx.Shape)-1, idx.Shape[len(idx.Shape)-1]
			dims := append(slices.Clone(idx.Shape[:n]), x.Shape[batch+k:]...)
			return []Array{Move(x, dims, func(at []int) int {
				p := slices.Clone(at[:batch])
				p = append(p, tuple(idx, at[:n])...)
				return Offset(x.Shape, append(p, at[n:]...))
			})}
		}},
		Row{Op: "take_along_axis", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{
				Args(Sample(d, 2, 3), IntShaped([]int{2, 2}, 2, 0, 1, 1), 1), Args(Sample(d, 3, 2), IntShaped([]int{1, 2}, 2, 0), -2), Args(Sample(d, 4), Int32(3, 3, 0), 0),
				Args(Sample(d, 2, 2, 2), IntShaped([]int{2, 1, 2}, 0, 1, 1, 1), 1), Args(Sample(d, 2, 0), IntShaped([]int{2, 0}), 1),
			}
		}), Ref: func(a []any) []Array {
			x, idx := a[0].(Array), a[1].(Array)
			axis := Axis(a[2], len(x.Shape))
			return []Array{Move(x, idx.Shape, func(at []int) int {
				p := slices.Clone(at)
				p[axis] = int(real(idx.X[Offset(idx.Shape, at)]))
				return Offset(x.Shape, p)
			})}
		}},
		Row{Op: "put_along_axis", Smooth: true, Calls: append(EachMovable(func(d dtype.DType) []Call {
			return []Call{
				Args(Sample(d, 2, 3), IntShaped([]int{2, 2}, 2, 0, 1, 1), SampleSeed(d, 2, 2, 2), 1), Args(Sample(d, 3, 2), IntShaped([]int{1, 2}, 2, 0), SampleSeed(d, 2, 1, 2), -2),
			}
		}), EachType(Numbers, func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 2, 3), IntShaped([]int{2, 2}, 2, 0, 1, 1), SampleSeed(d, 2, 2, 2), 1, true)}
		})...), Ref: func(a []any) []Array {
			x, idx, u := a[0].(Array), a[1].(Array), a[2].(Array)
			axis := Axis(a[3], len(x.Shape))
			out := Move(x, x.Shape, func(at []int) int { return Offset(x.Shape, at) })
			Indices(idx.Shape, func(i int, at []int) {
				p := slices.Clone(at)
				p[axis] = int(real(idx.X[i]))
				if len(a) > 4 {
					out.X[Offset(x.Shape, p)] += u.X[i]
				} else {
					out.Put(Offset(x.Shape, p), u, i)
				}
			})
			return []Array{out}
		}},
		Row{Op: "scatter_nd", Smooth: true, Calls: EachType(Numbers, func(d dtype.DType) []Call {
			return []Call{
				Args(IntShaped([]int{3, 1}, 1, 3, 1), Sample(d, 3), Int(5)), Args(IntShaped([]int{2, 2}, 0, 1, 1, 0), Sample(d, 2), Int32(2, 2)),
				Args(IntShaped([]int{2, 1}, 1, 1), Sample(d, 2, 3), Int(2, 3)), Args(IntShaped([]int{2, 0}), Sample(d, 2, 2), Int(2)), Args(IntShaped([]int{0, 1}), Sample(d, 0), Int(3)),
			}
		}), Ref: func(a []any) []Array {
			u := a[1].(Array)
			return []Array{scattered(u.Like(Positions(a[2])), a[0].(Array), u, func(_, v float64) float64 { return v }, true)}
		}},
		scatterRow("tensor_scatter_add", Numbers, nil),
		smooth(scatterRow("tensor_scatter_max", Reals, math.Max)),
		smooth(scatterRow("tensor_scatter_min", Reals, math.Min)),
		Row{Op: "tensor_scatter_update", Smooth: true, Calls: EachMovable(scatterCalls), Ref: func(a []any) []Array {
			x, idx, u := a[0].(Array), a[1].(Array), a[2].(Array)
			out := Move(x, x.Shape, func(at []int) int { return Offset(x.Shape, at) })
			eachUpdate(x.Shape, idx, u, func(o, i int) { out.Put(o, u, i) })
			return []Array{out}
		}},
		Row{Op: "nonzero", Calls: append(EachType(Numbers, func(d dtype.DType) []Call {
			return []Call{Args(Shaped(d, []int{2, 3}, 0, 1, 2, 0, 0, 3)), Args(Shaped(d, []int{}, 2)), Args(Shaped(d, []int{0, 2}))}
		}), Args(Shaped(dtype.Bool, []int{4}, 0, 1, 1, 0)), Args(Shaped(dtype.Bool, []int{2, 2}, 0, 1, 1, 0))), Ref: func(a []any) []Array {
			x := a[0].(Array)
			var all []int
			n := 0
			Indices(x.Shape, func(i int, at []int) {
				if x.X[i] != 0 {
					all = append(all, at...)
					n++
				}
			})
			out := vector(all)
			out.Shape = []int{n, len(x.Shape)}
			return []Array{out}
		}},
		Row{Op: "boolean_mask", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{
				Args(Sample(d, 3, 2), Shaped(dtype.Bool, []int{3}, 1, 0, 1)), Args(Sample(d, 2, 3), Shaped(dtype.Bool, []int{2, 3}, 0, 1, 0, 0, 1, 1)), Args(Sample(d, 2, 3), Shaped(dtype.Bool, []int{3}, 1, 0, 1), -1),
				Args(Sample(d, 2, 2, 2, 2), Shaped(dtype.Bool, []int{2, 2}, 1, 0, 1, 1), 1), Args(Sample(d, 0), Shaped(dtype.Bool, []int{0})), Args(Sample(d, 2, 0), Shaped(dtype.Bool, []int{2}, 0, 1)),
			}
		}), Ref: func(a []any) []Array {
			x, mask := a[0].(Array), a[1].(Array)
			axis := Axis(attrInt(a, 2, 0), len(x.Shape))
			k := len(mask.Shape)
			flat := x
			flat.Shape = append(append(slices.Clone(x.Shape[:axis]), Size(mask.Shape)), x.Shape[axis+k:]...)
			var keep []int
			for i, m := range mask.X {
				if m != 0 {
					keep = append(keep, i)
				}
			}
			return []Array{takeArray(flat, keep, axis)}
		}},
		Row{Op: "one_hot", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{
				Args(Int(0, 2, -1, 1), One(3), Sample(d), SampleSeed(d, 2)), Args(IntShaped([]int{2, 2}, 0, 1, 1, 3), One(2), Sample(d), SampleSeed(d, 2), 0),
				Args(Values(dtype.Uint8, 1, 0), One(2), Sample(d), SampleSeed(d, 2), 0), Args(One(1), One(3), Sample(d), SampleSeed(d, 2)), Args(Int(), One(2), Sample(d), SampleSeed(d, 2)),
			}
		}), Ref: func(a []any) []Array {
			idx, depth, on, off := a[0].(Array), IntOf(a[1]), a[2].(Array), a[3].(Array)
			axis := Axis(attrInt(a, 4, -1), len(idx.Shape)+1)
			out := on.Like(slices.Insert(slices.Clone(idx.Shape), axis, depth))
			Indices(out.Shape, func(i int, at []int) {
				p := slices.Delete(slices.Clone(at), axis, axis+1)
				if int(real(idx.X[Offset(idx.Shape, p)])) == at[axis] {
					out.Put(i, on, 0)
				} else {
					out.Put(i, off, 0)
				}
			})
			return []Array{out}
		}},
		Row{Op: "sequence_mask", Calls: []Call{Args(Int(1, 3, 0), One(4)), Args(Int32(1, 3, 0)), Args(IntShaped([]int{2, 2}, 1, 0, 5, 2), One(3)), Args(One(2)), Args(Int())}, Ref: func(a []any) []Array {
			lengths := a[0].(Array)
			n := 0
			for _, l := range Positions(lengths) {
				n = max(n, l)
			}
			if len(a) > 1 {
				n = IntOf(a[1])
			}
			out := Array{Shape: append(slices.Clone(lengths.Shape), n)}
			for _, l := range Positions(lengths) {
				for k := range n {
					out.X = append(out.X, complex(Truth(k < l), 0))
				}
			}
			return []Array{out}
		}},
	)
}

func attrInt(a []any, i, def int) int {
	if i < len(a) {
		return a[i].(int)
	}
	return def
}

func operands(a []any, i int) []Array {
	if i < len(a) {
		return a[i].([]Array)
	}
	return nil
}

// selected returns the shape of what keys select, and the position of each element
// of it. It has a reading of its own of what a range means: the positions of a
// Python range that lie on the axis.
func selected(dims []int, text string, values []Array) (out []int, from func(at []int) int) {
	list := make([]int, len(values))
	for i, v := range values {
		list[i] = IntOf(v)
	}
	ks, _ := key.Parse(text)
	keys, _ := ks.With(placeholders(len(values)))
	keys, _ = key.Expand(keys, len(dims))
	var axes [][]int // positions along each axis of dims
	var kept []int   // the axis of the result for each axis of dims, -1 if it goes away
	axis := 0
	for _, k := range keys {
		if k.Kind == key.NewAxisKind {
			out = append(out, 1)
			continue
		}
		n := dims[axis]
		axis++
		if k.Kind == key.AtKind {
			axes, kept = append(axes, []int{(bound(k.Start, list, 0) + n) % n}), append(kept, -1)
			continue
		}
		p := pythonRange(k, n, list)
		axes, kept = append(axes, p), append(kept, len(out))
		out = append(out, len(p))
	}
	return out, func(at []int) int {
		p := make([]int, len(dims))
		for i := range p {
			k := 0
			if kept[i] >= 0 {
				k = at[kept[i]]
			}
			p[i] = axes[i][k]
		}
		return Offset(dims, p)
	}
}

func bound(b any, values []int, def int) int {
	switch b := b.(type) {
	case int:
		return b
	case *placeholderValue:
		return values[b.i]
	}
	return def
}

func pythonRange(k key.Key, n int, values []int) []int {
	step := bound(k.Step, values, 1)
	start, stop := 0, n
	if step < 0 {
		start, stop = n-1, -1
	}
	if k.Start != nil {
		if start = bound(k.Start, values, 0); start < 0 {
			start += n
		}
	}
	if k.Stop != nil {
		if stop = bound(k.Stop, values, 0); stop < 0 {
			stop = max(stop+n, -1)
		}
	}
	if step > 0 {
		start = max(start, 0)
	} else {
		start = min(start, n-1)
	}
	var out []int
	for p := start; (step > 0 && p < min(stop, n)) || (step < 0 && p > max(stop, -1)); p += step {
		out = append(out, p)
	}
	return out
}

func refGather(a []any) []Array {
	x, idx := a[0].(Array), a[1].(Array)
	axis, batch := Axis(attrInt(a, 2, 0), len(x.Shape)), attrInt(a, 3, 0)
	k := len(idx.Shape) - batch
	dims := append(append(slices.Clone(x.Shape[:axis]), idx.Shape[batch:]...), x.Shape[axis+1:]...)
	return []Array{Move(x, dims, func(at []int) int {
		q := append(slices.Clone(at[:batch]), at[axis:axis+k]...)
		p := append(slices.Clone(at[:axis]), int(real(idx.X[Offset(idx.Shape, q)])))
		return Offset(x.Shape, append(p, at[axis+k:]...))
	})}
}

// tuple returns the positions along the last axis of idx.
func tuple(idx Array, at []int) []int {
	k := idx.Shape[len(idx.Shape)-1]
	first := Offset(idx.Shape[:len(at)], at) * k
	out := make([]int, k)
	for i := range out {
		out[i] = int(real(idx.X[first+i]))
	}
	return out
}

// eachUpdate calls f with the positions of each element of updates, and of where it goes.
func eachUpdate(dims []int, idx, updates Array, f func(to, i int)) {
	n := len(idx.Shape) - 1
	Indices(updates.Shape, func(i int, at []int) {
		f(Offset(dims, append(tuple(idx, at[:n]), at[n:]...)), i)
	})
}

func scattered(out, idx, updates Array, f func(old, v float64) float64, add bool) Array {
	eachUpdate(out.Shape, idx, updates, func(o, i int) {
		if add {
			out.X[o] += updates.X[i]
		} else {
			out.X[o] = complex(f(real(out.X[o]), real(updates.X[i])), 0)
		}
	})
	return out
}

func scatterCalls(d dtype.DType) []Call {
	return []Call{
		Args(Sample(d, 5), IntShaped([]int{3, 1}, 1, 3, 1), SampleSeed(d, 2, 3)), Args(Sample(d, 2, 2), IntShaped([]int{2, 2}, 0, 1, 1, 0), SampleSeed(d, 2, 2)),
		Args(Sample(d, 2, 3), IntShaped([]int{2, 1}, 1, 1), SampleSeed(d, 2, 2, 3)), Args(Sample(d, 3), IntShaped([]int{0, 1}), SampleSeed(d, 2, 0)),
	}
}

func scatterRow(name string, types []dtype.DType, f func(a, b float64) float64) Row {
	return Row{Op: name, Smooth: f == nil, Calls: EachType(types, scatterCalls), Ref: func(a []any) []Array {
		x := a[0].(Array)
		out := Move(x, x.Shape, func(at []int) int { return Offset(x.Shape, at) })
		return []Array{scattered(out, a[1].(Array), a[2].(Array), f, f == nil)}
	}}
}
