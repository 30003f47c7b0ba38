package optable

import (
	"math"
	"math/cmplx"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// smallInts are types whose arithmetic does not wrap in the samples.
var smallInts = []dtype.DType{dtype.Int16, dtype.Int32, dtype.Int64, dtype.Uint16}

var arithmeticTypes = append(append([]dtype.DType{}, Floats...), smallInts...)

// pairsWithComplex adds complex calls to the row of a function of two tensors.
func pairsWithComplex(r Row, f func(x, y complex128) complex128) Row {
	plain := r.Ref
	for _, d := range Complex {
		r.Calls = append(r.Calls, PairCalls(d, 0.2, 2)[:len(Pairs)]...)
	}
	r.Ref = func(a []any) []Array {
		x, y := a[0].(Array), a[1].(Array)
		for _, v := range x.X {
			if imag(v) != 0 {
				dims := BroadcastDims(x.Shape, y.Shape)
				out := Array{Shape: dims, X: make([]complex128, Size(dims))}
				Indices(dims, func(i int, at []int) { out.X[i] = f(x.X[x.At(at)], y.X[y.At(at)]) })
				return []Array{out}
			}
		}
		return plain(a)
	}
	return r
}

// mixed adds calls whose operands have different types, or are Go constants.
func mixed(r Row) Row {
	r.Calls = append(r.Calls,
		Args(Values(dtype.Int64, 1, 2, 3), Values(dtype.Float32, 0.5, 1.5, 2.5)),
		Args(Values(dtype.Int8, 1, 2, 3), Values(dtype.Int32, 5, 6, 7)),
		Args(Values(dtype.Float64, 1, 2, 3), Values(dtype.Float32, 0.5, 1.5, 2.5)),
	)
	return r
}

func init() {
	b := func(name string, types []dtype.DType, lo, hi float64, f func(x, y float64) float64) Row {
		return smooth(Binary(name, types, lo, hi, f))
	}
	Add(
		mixed(pairsWithComplex(b("add", arithmeticTypes, 0, 9, func(x, y float64) float64 { return x + y }), func(x, y complex128) complex128 { return x + y })),
		mixed(pairsWithComplex(b("mul", arithmeticTypes, 0, 9, func(x, y float64) float64 { return x * y }), func(x, y complex128) complex128 { return x * y })),
		pairsWithComplex(b("sub", append(append([]dtype.DType{}, Floats...), dtype.Int32, dtype.Int64), 0, 9, func(x, y float64) float64 { return x - y }), func(x, y complex128) complex128 { return x - y }),
		mixed(pairsWithComplex(tol(8, b("div", arithmeticTypes, 1, 9, func(x, y float64) float64 { return x / y })), func(x, y complex128) complex128 { return x / y })),
		Binary("floor_div", append(append([]dtype.DType{}, Wide...), Ints...), 1, 9, func(x, y float64) float64 { return math.Floor(x / y) }),
		smooth(signs(Binary("mod", append(append([]dtype.DType{}, Wide...), Ints...), 1, 9, func(x, y float64) float64 { return x - y*math.Floor(x/y) }))),
		Binary("truncate_div", append(append([]dtype.DType{}, Wide...), Ints...), 1, 9, func(x, y float64) float64 { return math.Trunc(x / y) }),
		smooth(signs(Binary("truncate_mod", append(append([]dtype.DType{}, Wide...), Ints...), 1, 9, math.Mod))),
		pairsWithComplex(tol(64, b("pow", append(append([]dtype.DType{}, Floats...), dtype.Int32, dtype.Int64), 0.2, 4, math.Pow)), cmplx.Pow),
		mixed(b("maximum", arithmeticTypes, 0, 9, math.Max)),
		mixed(b("minimum", arithmeticTypes, 0, 9, math.Min)),
		b("atan2", append(append([]dtype.DType{}, Floats...), dtype.Int32), 0.5, 3, math.Atan2),
		b("hypot", append(append([]dtype.DType{}, Floats...), dtype.Int32), 0.5, 3, math.Hypot),
		pairsWithComplex(b("squared_difference", append(append([]dtype.DType{}, Floats...), dtype.Int32, dtype.Int64), 0, 9, func(x, y float64) float64 { return (x - y) * (x - y) }),
			func(x, y complex128) complex128 { d := cmplx.Abs(x - y); return complex(d*d, 0) }),
		b("log_add_exp", append(append([]dtype.DType{}, Floats...), dtype.Int32), 0.5, 3, func(x, y float64) float64 { return math.Log(math.Exp(x) + math.Exp(y)) }),
		b("xlogy", append(append([]dtype.DType{}, Floats...), dtype.Int32), 1, 3, func(x, y float64) float64 { return x * math.Log(y) }),
		b("xlog1py", append(append([]dtype.DType{}, Floats...), dtype.Int32), 1, 3, func(x, y float64) float64 { return x * math.Log1p(y) }),
		nextAfterRow(),
	)
	for _, f := range []struct {
		name  string
		holds func(order int) bool
	}{
		{"equal", func(o int) bool { return o == 0 }}, {"not_equal", func(o int) bool { return o != 0 }},
		{"less", func(o int) bool { return o < 0 }}, {"less_equal", func(o int) bool { return o <= 0 }},
		{"greater", func(o int) bool { return o > 0 }}, {"greater_equal", func(o int) bool { return o >= 0 }},
	} {
		Add(comparisonRow(f.name, f.holds))
	}
	bits := func(name string, types []dtype.DType, lo, hi float64, f func(x, y int64) int64) Row {
		return Binary(name, types, lo, hi, func(x, y float64) float64 { return float64(f(int64(x), int64(y))) })
	}
	bitTypes := append(append([]dtype.DType{}, Ints...), dtype.Bool)
	Add(
		bits("bitwise_and", bitTypes, 0, 100, func(x, y int64) int64 { return x & y }),
		bits("bitwise_or", bitTypes, 0, 100, func(x, y int64) int64 { return x | y }),
		bits("bitwise_xor", bitTypes, 0, 100, func(x, y int64) int64 { return x ^ y }),
		bits("left_shift", []dtype.DType{dtype.Int32, dtype.Int64, dtype.Uint16}, 0, 7, func(x, y int64) int64 { return x << y }),
		bits("right_shift", Ints, 0, 7, func(x, y int64) int64 { return x >> y }),
		bits("logical_and", Bools, 0, 1, func(x, y int64) int64 { return x & y }),
		bits("logical_or", Bools, 0, 1, func(x, y int64) int64 { return x | y }),
		bits("logical_xor", Bools, 0, 1, func(x, y int64) int64 { return x ^ y }),
		complexRow(), whereRow(), clipRow(),
		ternaryRow("fma", append(append([]dtype.DType{}, Floats...), dtype.Int32), func(x, y, z float64) float64 { return x*y + z }),
		ternaryRow("lerp", append(append([]dtype.DType{}, Floats...), dtype.Int32), func(x, y, w float64) float64 { return x + w*(y-x) }),
	)
}

// signs adds operands of all signs, and whole numbers.
func signs(r Row) Row {
	for _, d := range []dtype.DType{dtype.Float64, dtype.Int32} {
		r.Calls = append(r.Calls, NoGrad(Values(d, 7, -7, 7, -7, 6, -6), Values(d, 3, 3, -3, -3, 3, -3)))
	}
	return r
}

func nextAfterRow() Row {
	r := Binary("next_after", Wide, -1, 1, nil)
	r.Ref = nil
	r.Check = func(args []any, out []Array) error {
		x, y := args[0].(Array), args[1].(Array)
		var err error
		Indices(out[0].Shape, func(i int, at []int) {
			a, b, z := real(x.X[x.At(at)]), real(y.X[y.At(at)]), real(out[0].X[i])
			if (z > a) != (b > a) || math.Abs(z-a) > 0x1p-23*math.Max(math.Abs(a), 0x1p-100) {
				err = tenon.NewError(tenon.ErrInvalid, "next_after", "is not the neighbour")
			}
		})
		return err
	}
	return r
}

func comparisonRow(name string, holds func(order int) bool) Row {
	order := func(x, y float64) int {
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}
	r := mixed(Binary(name, append(append([]dtype.DType{}, Reals...), dtype.Bool), 0, 4, func(x, y float64) float64 { return Truth(holds(order(x, y))) }))
	r.Calls = append(r.Calls,
		Args(Text([]int{2, 3}, "a", "b", "", "aa", "é", "b"), Text([]int{3}, "a", "c", "")),
		Args(Text([]int{3}, "a", "c", "b"), tensor.Scalar("b")),
	)
	plain := r.Ref
	r.Ref = func(a []any) []Array {
		x, y := a[0].(Array), a[1].(Array)
		if x.S == nil {
			return plain(a)
		}
		dims := BroadcastDims(x.Shape, y.Shape)
		out := Array{Shape: dims, X: make([]complex128, Size(dims))}
		Indices(dims, func(i int, at []int) {
			out.X[i] = complex(Truth(holds(strings.Compare(x.S[x.At(at)], y.S[y.At(at)]))), 0)
		})
		return []Array{out}
	}
	return r
}

func complexRow() Row {
	r := smooth(Binary("complex", Wide, -2, 2, nil))
	r.Ref = func(a []any) []Array {
		x, y := a[0].(Array), a[1].(Array)
		dims := BroadcastDims(x.Shape, y.Shape)
		out := Array{Shape: dims, X: make([]complex128, Size(dims))}
		Indices(dims, func(i int, at []int) { out.X[i] = complex(real(x.X[x.At(at)]), real(y.X[y.At(at)])) })
		return []Array{out}
	}
	return r
}

// triples are shapes of three operands that broadcast.
var triples = [][3][]int{
	{{}, {}, {}}, {{5}, {5}, {5}}, {{2, 3}, {}, {3}}, {{3}, {2, 1}, {2, 3}}, {{2, 1}, {1, 3}, {}}, {{0}, {1}, {}}, {{3, 70}, {70}, {3, 1}}, {{2, 3}, {2, 3}, {}},
	{{}, {2, 3}, {}}, {{}, {}, {2, 3}}, {{700, 90}, {90}, {}},
}

func tripleCalls(d dtype.DType, lo, hi float64, f func(a, b, c tensor.Tensor) []any) []Call {
	if d.IsUnsigned() {
		lo = max(lo, 0)
	}
	var out []Call
	for _, s := range triples {
		out = append(out, Args(f(UniformSeed(d, s[0], lo, hi, 1), UniformSeed(d, s[1], lo, hi, 2), UniformSeed(d, s[2], lo, hi, 3))...))
	}
	return out
}

func ternaryRow(name string, types []dtype.DType, f func(x, y, z float64) float64) Row {
	return Row{Op: name, Smooth: true,
		Calls: EachType(types, func(d dtype.DType) []Call {
			return tripleCalls(d, 0, 4, func(a, b, c tensor.Tensor) []any { return []any{a, b, c} })
		}),
		Ref: func(a []any) []Array {
			return []Array{Map(func(x []float64) float64 { return f(x[0], x[1], x[2]) }, a[0].(Array), a[1].(Array), a[2].(Array))}
		},
	}
}

func clipRow() Row {
	r := Row{Op: "clip", Smooth: true,
		Calls: Cat(
			EachType(Reals, func(d dtype.DType) []Call {
				return tripleCalls(d, 0, 9, func(a, b, c tensor.Tensor) []any { return []any{a, b, c} })
			}),
			EachType(Reals, func(d dtype.DType) []Call {
				x := Uniform(d, []int{2, 5}, 0, 9)
				return []Call{Args(x, 2, 5), Args(x, nil, 4), Args(x, 4, nil), Args(x, nil, nil), Args(x, 5, 2)}
			}),
		),
		Ref: func(a []any) []Array {
			arrays := []Array{a[0].(Array), Real([]int{}, []float64{-Inf}), Real([]int{}, []float64{Inf})}
			for i := 1; i < 3; i++ {
				switch v := a[i].(type) {
				case Array:
					arrays[i] = v
				case int:
					arrays[i] = Real([]int{}, []float64{float64(v)})
				}
			}
			return []Array{Map(func(x []float64) float64 { return math.Min(math.Max(x[0], x[1]), x[2]) }, arrays...)}
		},
	}
	for i, c := range r.Calls {
		if c.Args[0].(tensor.Tensor).Shape().Size() > 20 { // some element is too close to a limit
			r.Calls[i].Grad = []int{}
		}
	}
	return r
}

func whereRow() Row {
	return Row{Op: "where", Smooth: true,
		Calls: Cat(
			EachType(AllPlain, func(d dtype.DType) []Call {
				var out []Call
				for _, s := range triples {
					lo := -4.0
					if d.IsUnsigned() {
						lo = 0
					}
					out = append(out, Args(UniformSeed(dtype.Bool, s[0], 0, 1, 1), UniformSeed(d, s[1], lo, 4, 2), UniformSeed(d, s[2], lo, 4, 3)))
				}
				return out
			}),
			[]Call{Args(Values(dtype.Bool, 1, 0, 1), Text([]int{2, 3}, "a", "bb", "", "c", "d", "e"), tensor.Scalar("no"))},
		),
		Ref: func(a []any) []Array {
			c, x, y := a[0].(Array), a[1].(Array), a[2].(Array)
			dims := BroadcastDims(c.Shape, x.Shape, y.Shape)
			out := Array{Shape: dims}
			Indices(dims, func(i int, at []int) {
				from := y
				if c.X[c.At(at)] != 0 {
					from = x
				}
				if from.S != nil {
					out.S = append(out.S, from.S[from.At(at)])
				} else {
					out.X = append(out.X, from.X[from.At(at)])
				}
			})
			return []Array{out}
		},
	}
}
