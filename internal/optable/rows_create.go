package optable

import (
	"math"
	"slices"

	"github.com/tenonml/tenon/dtype"
)

// Operations that make tensors from sizes, and those on diagonals and order.

func init() {
	Add(
		Row{Op: "fill", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Int(2, 3), Sample(d)), Args(Int(), Sample(d)), Args(Int32(0, 2), Sample(d))}
		}), Ref: func(a []any) []Array {
			return []Array{Move(a[1].(Array), Positions(a[0]), func([]int) int { return 0 })}
		}},
		Row{Op: "eye", Calls: EachType(AllPlain, func(d dtype.DType) []Call {
			return []Call{Args(One(2), One(3), d), Args(One(3), One(2), d), Args(One(0), One(2), d)}
		}), Ref: func(a []any) []Array {
			out := Array{Shape: []int{IntOf(a[0]), IntOf(a[1])}, X: make([]complex128, IntOf(a[0])*IntOf(a[1]))}
			Indices(out.Shape, func(i int, at []int) { out.X[i] = complex(Truth(at[0] == at[1]), 0) })
			return []Array{out}
		}},
		Row{Op: "range", Smooth: true, Calls: append(EachType(Reals, func(d dtype.DType) []Call {
			s := func(x float64) any { return Shaped(d, []int{}, x) }
			return []Call{Args(s(0), s(7), s(3)), NoGrad(s(2), s(2), s(1)), NoGrad(s(1), s(9), s(1))}
		}), Args(One(5), One(0), One(-2)), Args(tensorOf(0.25), tensorOf(-1.1), tensorOf(-0.25))), Ref: func(a []any) []Array {
			start, limit, delta := real(a[0].(Array).X[0]), real(a[1].(Array).X[0]), real(a[2].(Array).X[0])
			out := Array{Shape: []int{0}}
			for i := 0; delta > 0 && start+float64(i)*delta < limit || delta < 0 && start+float64(i)*delta > limit; i++ {
				out.X = append(out.X, complex(start+float64(i)*delta, 0))
			}
			out.Shape[0] = len(out.X)
			return []Array{out}
		}},
		Row{Op: "linspace", Smooth: true, Calls: EachType([]dtype.DType{dtype.Float64, dtype.Float32, dtype.Float16, dtype.Int32}, func(d dtype.DType) []Call {
			s := func(x float64) any { return Shaped(d, []int{}, x) }
			return []Call{Args(s(0), s(1), One(5)), Args(s(3), s(-2), One(2)), Args(s(3), s(9), One(1)), Args(s(3), s(9), One(0))}
		}), Ref: func(a []any) []Array {
			start, stop, n := real(a[0].(Array).X[0]), real(a[1].(Array).X[0]), IntOf(a[2])
			out := Array{Shape: []int{n}}
			for i := range n {
				out.X = append(out.X, complex(start+(stop-start)*float64(i)/math.Max(1, float64(n-1)), 0))
			}
			return []Array{out}
		}},
		Row{Op: "diag", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 3)), Args(Sample(d, 2, 2)), Args(Sample(d, 0)), Args(Sample(d, 0, 2))}
		}), Ref: func(a []any) []Array {
			x := a[0].(Array)
			dims := append(slices.Clone(x.Shape), x.Shape[len(x.Shape)-1])
			return []Array{Move(x, dims, func(at []int) int {
				k := len(at) - 1
				if at[k] != at[k-1] {
					return -1
				}
				return Offset(x.Shape, at[:k])
			})}
		}},
		Row{Op: "diag_part", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 3, 3)), Args(Sample(d, 2, 4)), Args(Sample(d, 2, 3, 2)), Args(Sample(d, 0, 3))}
		}), Ref: func(a []any) []Array {
			x := a[0].(Array)
			k := len(x.Shape) - 2
			dims := append(slices.Clone(x.Shape[:k]), min(x.Shape[k], x.Shape[k+1]))
			return []Array{Move(x, dims, func(at []int) int { return Offset(x.Shape, append(slices.Clone(at), at[k])) })}
		}},
		Row{Op: "band_part", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{
				Args(Sample(d, 3, 4)), Args(Sample(d, 3, 4), nil, 0), Args(Sample(d, 3, 4), 0), Args(Sample(d, 4, 3), -1, 1), Args(Sample(d, 2, 3, 3), 1, 1),
				Args(Sample(d, 3, 3), 9, nil), Args(Sample(d, 3, 3), -9, -2), Args(Sample(d, 0, 3), -1, 1), Args(Sample(d, 3, 3), 2, -2),
			}
		}), Ref: func(a []any) []Array {
			x := a[0].(Array)
			return []Array{Move(x, x.Shape, func(at []int) int {
				k := len(at) - 1
				off := at[k] - at[k-1]
				if len(a) > 1 && a[1] != nil && off < a[1].(int) || len(a) > 2 && a[2] != nil && off > a[2].(int) {
					return -1
				}
				return Offset(x.Shape, at)
			})}
		}},
		Row{Op: "reverse", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 2, 3), []int{0}), Args(Sample(d, 2, 3), []int{-1, 0}), Args(Sample(d, 2, 3), []int{}), Args(Sample(d, 0, 2), []int{1})}
		}), Ref: func(a []any) []Array {
			x := a[0].(Array)
			return []Array{Move(x, x.Shape, func(at []int) int {
				p := slices.Clone(at)
				for _, k := range a[1].([]int) {
					k = Axis(k, len(p))
					p[k] = x.Shape[k] - 1 - at[k]
				}
				return Offset(x.Shape, p)
			})}
		}},
		Row{Op: "roll", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 3, 4), One(1), []int{0}), Args(Sample(d, 3, 4), Int(-2, 7), []int{0, -1}), Args(Sample(d, 3, 4), One(-1), []int{0, 1}), Args(Sample(d, 0, 2), One(1), []int{0}), Args(Sample(d, 3), Int32(3), []int{0})}
		}), Ref: func(a []any) []Array {
			x, shift := a[0].(Array), Positions(a[1])
			return []Array{Move(x, x.Shape, func(at []int) int {
				p := slices.Clone(at)
				for i, k := range a[2].([]int) {
					k = Axis(k, len(p))
					n := x.Shape[k]
					p[k] = ((at[k]-shift[min(i, len(shift)-1)])%n + n) % n
				}
				return Offset(x.Shape, p)
			})}
		}},
		Row{Op: "reverse_sequence", Smooth: true, Calls: EachMovable(func(d dtype.DType) []Call {
			return []Call{Args(Sample(d, 2, 4), Int(3, 1), 1, 0), Args(Sample(d, 4, 2, 2), Int32(0, 4), 0, 1), Args(Sample(d, 2, 3, 2), Int(3, 2), 1), Args(Sample(d, 0, 3), Int(), -1, 0)}
		}), Ref: func(a []any) []Array {
			x, lengths := a[0].(Array), Positions(a[1])
			seq, batch := Axis(a[2], len(x.Shape)), attrInt(a, 3, 0)
			return []Array{Move(x, x.Shape, func(at []int) int {
				p := slices.Clone(at)
				if n := lengths[at[batch]]; at[seq] < n {
					p[seq] = n - 1 - at[seq]
				}
				return Offset(x.Shape, p)
			})}
		}},
	)
}

func tensorOf(x float64) any { return Shaped(dtype.Float64, []int{}, x) }
