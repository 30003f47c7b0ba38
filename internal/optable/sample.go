package optable

import (
	"math/rand/v2"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Groups of element types.
var (
	Floats   = []dtype.DType{dtype.Float64, dtype.Float32, dtype.Float16, dtype.BFloat16}
	Wide     = []dtype.DType{dtype.Float64, dtype.Float32}
	Ints     = []dtype.DType{dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64, dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Uint64}
	Bools    = []dtype.DType{dtype.Bool}
	Complex  = []dtype.DType{dtype.Complex128, dtype.Complex64}
	Reals    = append(append([]dtype.DType{}, Floats...), Ints...)
	Numbers  = append(append([]dtype.DType{}, Reals...), Complex...)
	AllPlain = append(append([]dtype.DType{}, Numbers...), dtype.Bool)
)

// Shapes are the shapes that most rows are tested with: a scalar, a vector, a matrix,
// and empty ones.
var Shapes = [][]int{{}, {5}, {2, 3}, {0}, {3, 0, 2}, {2, 1, 4}}

// Large is a shape whose elementwise operations are divided among workers; rows of
// elementwise operations have one such call.
var Large = []int{3, 41, 700}

// Numbers in a range, the same ones for the same arguments.
func Uniform(d dtype.DType, dims []int, lo, hi float64) tensor.Tensor {
	return UniformSeed(d, dims, lo, hi, 1)
}

// UniformSeed is Uniform with other numbers for another seed.
func UniformSeed(d dtype.DType, dims []int, lo, hi float64, seed uint64) tensor.Tensor {
	rng := rand.New(rand.NewPCG(seed, uint64(len(dims))))
	n := 1
	for _, k := range dims {
		n *= k
	}
	elems := make([]any, n)
	for i := range elems {
		v := lo + (hi-lo)*rng.Float64()
		switch {
		case d == dtype.Bool:
			elems[i] = v >= (lo+hi)/2
		case d.IsInteger():
			elems[i] = int64(v)
		case d.IsComplex():
			elems[i] = complex(v, lo+(hi-lo)*rng.Float64())
		default:
			elems[i] = v
		}
	}
	return tenon.Must(tensor.FromScalars(elems, shape.Of(dims...), tensor.Options{DType: d}))
}

// Values returns a vector of given numbers.
func Values(d dtype.DType, x ...float64) tensor.Tensor { return Shaped(d, []int{len(x)}, x...) }

// Shaped returns a tensor of given numbers.
func Shaped(d dtype.DType, dims []int, x ...float64) tensor.Tensor {
	elems := make([]any, len(x))
	for i, v := range x {
		switch {
		case d == dtype.Bool:
			elems[i] = v != 0
		case d.IsInteger():
			elems[i] = int64(v)
		default:
			elems[i] = v
		}
	}
	return tenon.Must(tensor.FromScalars(elems, shape.Of(dims...), tensor.Options{DType: d}))
}

// Text returns a tensor of strings.
func Text(dims []int, x ...string) tensor.Tensor { return tensor.Of(x, dims...) }

// Args makes a call of arguments, all of whose floating tensors have gradients.
func Args(args ...any) Call { return Call{Args: args} }

// NoGrad makes a call whose gradients are not compared with differences.
func NoGrad(args ...any) Call { return Call{Args: args, Grad: []int{}} }

// EachType makes calls for each element type.
func EachType(types []dtype.DType, f func(d dtype.DType) []Call) []Call {
	var out []Call
	for _, d := range types {
		out = append(out, f(d)...)
	}
	return out
}

// Cat joins lists of calls.
func Cat(lists ...[]Call) []Call {
	var out []Call
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}
