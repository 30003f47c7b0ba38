package optable

import (
	"fmt"
	"math"
	"slices"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/random"
	"github.com/tenonml/tenon/tensor"
)

var (
	oneKey = tensor.Of([]uint32{7, 9})
	keys   = tensor.Of([]uint32{1, 2, 3, 4, 5, 6}, 3, 2)
)

// drawRow makes the row of an operation whose numbers for one key f checks.
func drawRow(name string, types []dtype.DType, more []any, f func(k random.Key, x []float64, d dtype.DType) error) Row {
	r := Row{Op: name, Check: func(args []any, out []Array) error {
		ks, dims, d := args[0].(Array), args[1].([]int), args[2].(dtype.DType)
		want := append(slices.Clone(ks.Shape[:len(ks.Shape)-1]), dims...)
		if !slices.Equal(out[0].Shape, want) {
			return fmt.Errorf("shape %v, want %v", out[0].Shape, want)
		}
		n := Size(dims)
		for i := range len(ks.X) / 2 {
			k := random.Key{Lo: uint32(real(ks.X[2*i])), Hi: uint32(real(ks.X[2*i+1]))}
			if err := f(k, Array{X: out[0].X[i*n : (i+1)*n]}.Floats(), d); err != nil {
				return err
			}
		}
		return nil
	}}
	for _, d := range types {
		for _, s := range [][]int{{}, {5}, {2, 3}, {0}, {4000, 5}} {
			r.Calls = append(r.Calls, Args(append([]any{oneKey, s, d}, more...)...))
		}
		r.Calls = append(r.Calls, Args(append([]any{keys, []int{2, 3}, d}, more...)...))
	}
	return r
}

// between checks the range of numbers, and for many of them the mean.
func between(lo, hi, mean, deviation float64) func(k random.Key, x []float64, d dtype.DType) error {
	return func(k random.Key, x []float64, d dtype.DType) error {
		for i, v := range x {
			if !(v >= lo && v <= hi) {
				return fmt.Errorf("element %d is %v", i, v)
			}
		}
		if n := float64(len(x)); n > 1000 && math.Abs(meanOf(x)-mean) > 4*deviation/math.Sqrt(n)+Precision(d) {
			return fmt.Errorf("the mean is %v, want %v", meanOf(x), mean)
		}
		return nil
	}
}

func word(k random.Key, i int) uint32 { return k.Block(uint64(i)/4, 0)[i%4] }

func word64(k random.Key, i int) uint64 {
	b := k.Block(uint64(i)/2, 0)
	return uint64(b[i%2*2]) | uint64(b[i%2*2+1])<<32
}

func init() {
	Add(
		drawRow("random_bits", []dtype.DType{dtype.Uint32}, nil, func(k random.Key, x []float64, d dtype.DType) error {
			for i, v := range x {
				if v != float64(word(k, i)) {
					return fmt.Errorf("element %d is %v, want %v", i, v, word(k, i))
				}
			}
			return nil
		}),
		drawRow("random_uniform", Floats, nil, func(k random.Key, x []float64, d dtype.DType) error {
			for i, v := range x {
				want := float64(word(k, i))
				switch d {
				case dtype.Float64:
					want = float64(word64(k, i)>>11) / (1 << 53)
				case dtype.Float32:
					want = math.Floor(want/(1<<8)) / (1 << 24)
				case dtype.Float16:
					want = math.Floor(want/(1<<21)) / (1 << 11)
				case dtype.BFloat16:
					want = math.Floor(want/(1<<24)) / (1 << 8)
				}
				if v != want {
					return fmt.Errorf("element %d is %v, want %v", i, v, want)
				}
			}
			return between(0, 1, 0.5, 0.29)(k, x, d)
		}),
		drawRow("random_normal", Floats, nil, between(-9, 9, 0, 1)),
		drawRow("random_truncated_normal", Floats, nil, between(-2, 2, 0, 0.88)),
		drawRow("random_exponential", Floats, nil, between(0, 40, 1, 1)),
		drawRow("random_gumbel", Floats, nil, between(-5, 40, 0.5772156649, 1.29)),
		drawRow("random_int", Ints, []any{3, 9}, func(k random.Key, x []float64, d dtype.DType) error {
			return between(3, 8, 5.5, 1.71)(k, x, d)
		}),
		Row{Op: "random_permutation", Calls: []Call{Args(oneKey, 7), Args(keys, 5), Args(oneKey, 0)}, Check: func(args []any, out []Array) error {
			n := args[1].(int)
			for i := 0; i < len(out[0].X); i += n {
				x := Array{X: out[0].X[i : i+n]}.Floats()
				slices.Sort(x)
				for k, v := range x {
					if v != float64(k) {
						return fmt.Errorf("%v are not the first integers", x)
					}
				}
			}
			return nil
		}},
		Row{Op: "random_split", Calls: []Call{Args(oneKey, 3), Args(keys, 2), Args(oneKey, 0)}, Ref: func(a []any) []Array {
			return derived(a[0].(Array), a[1].(int), random.Key.Derive)
		}},
		Row{Op: "random_fold_in", Calls: []Call{Args(oneKey, 3), Args(keys, 12345)}, Ref: func(a []any) []Array {
			out := derived(a[0].(Array), 1, func(k random.Key, _ uint64) random.Key { return k.Fold(uint64(a[1].(int))) })
			out[0].Shape = a[0].(Array).Shape
			return out
		}},
		dropoutRow(),
	)
}

func derived(ks Array, n int, f func(k random.Key, i uint64) random.Key) []Array {
	out := Array{Shape: append(slices.Clone(ks.Shape[:len(ks.Shape)-1]), n, 2)}
	for i := 0; i < len(ks.X); i += 2 {
		for k := range n {
			d := f(random.Key{Lo: uint32(real(ks.X[i])), Hi: uint32(real(ks.X[i+1]))}, uint64(k))
			out.X = append(out.X, complex(float64(d.Lo), 0), complex(float64(d.Hi), 0))
		}
	}
	return []Array{out}
}

func dropoutRow() Row {
	r := Row{Op: "dropout", Smooth: true, Ref: func(a []any) []Array {
		x, rate := a[1].(Array), a[2].(float64)
		out := Array{Shape: x.Shape, X: make([]complex128, len(x.X))}
		for i, v := range x.X {
			if float64(word(random.Key{Lo: 7, Hi: 9}, i)) >= math.Floor(rate*(1<<32)) {
				out.X[i] = v / complex(1-rate, 0)
			}
		}
		return []Array{out}
	}}
	for _, d := range Floats {
		r.Calls = append(r.Calls, Args(oneKey, Uniform(d, []int{4, 5}, -2, 2), 0.5), Args(oneKey, Uniform(d, []int{3}, -2, 2), 0.0), Args(oneKey, Uniform(d, []int{0}, -2, 2), 0.1))
	}
	return r
}
