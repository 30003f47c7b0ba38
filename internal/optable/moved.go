package optable

import (
	"math/rand/v2"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// For operations that move elements and do not look at them.

// Movable are element types of every size, and strings.
var Movable = []dtype.DType{dtype.Float64, dtype.Float32, dtype.Int8, dtype.Float16, dtype.Complex128, dtype.Bool, dtype.String}

// Sample returns a tensor of any element type, strings included; the elements of
// the real and complex ones are not 0.
func Sample(d dtype.DType, dims ...int) tensor.Tensor { return SampleSeed(d, 1, dims...) }

// SampleSeed is Sample with other elements for another seed.
func SampleSeed(d dtype.DType, seed uint64, dims ...int) tensor.Tensor {
	if d != dtype.String {
		return UniformSeed(d, dims, 1, 9, seed)
	}
	rng := rand.New(rand.NewPCG(seed, 7))
	words := make([]string, Size(dims))
	for i := range words {
		b := make([]byte, rng.IntN(5))
		for k := range b {
			b[k] = byte('a' + rng.IntN(6))
		}
		words[i] = string(b)
	}
	if len(dims) == 0 {
		return tensor.Scalar(words[0])
	}
	return Text(dims, words...)
}

// Int returns a vector of positions or sizes.
func Int(x ...int) tensor.Tensor { return tensor.Of(append([]int{}, x...)) }

// Int32 returns a vector of positions or sizes in int32.
func Int32(x ...int32) tensor.Tensor { return tensor.Of(append([]int32{}, x...)) }

// IntShaped returns positions or sizes in a shape.
func IntShaped(dims []int, x ...int) tensor.Tensor { return tensor.Of(x, dims...) }

// One returns an integer scalar.
func One(x int) tensor.Tensor { return tensor.Scalar(int64(x)) }

// List returns a list argument.
func List(x ...tensor.Tensor) []tenon.Value {
	out := make([]tenon.Value, len(x))
	for i, v := range x {
		out[i] = v
	}
	return out
}

// EachMovable makes a call for each type of [Movable].
func EachMovable(f func(d dtype.DType) []Call) []Call { return EachType(Movable, f) }

// Positions returns the elements of an array as integers.
func Positions(a any) []int {
	x := a.(Array)
	out := make([]int, len(x.X))
	for i, v := range x.X {
		out[i] = int(real(v))
	}
	return out
}

// IntOf returns the single element of an array.
func IntOf(a any) int { return Positions(a)[0] }

// IsText reports whether an array holds strings.
func (a Array) IsText() bool { return a.S != nil }

// Like returns an array of zeros, or empty strings, of a's kind.
func (a Array) Like(dims []int) Array {
	out := Array{Shape: append([]int{}, dims...)}
	if a.IsText() {
		out.S = make([]string, Size(dims))
	} else {
		out.X = make([]complex128, Size(dims))
	}
	return out
}

// Put sets element i to element k of b.
func (a Array) Put(i int, b Array, k int) {
	if a.IsText() {
		a.S[i] = b.S[k]
	} else {
		a.X[i] = b.X[k]
	}
}

// Move returns an array of x's kind whose element at some coordinates is the element
// of x at the position that from returns, and zero or empty where that is negative.
func Move(x Array, dims []int, from func(at []int) int) Array {
	out := x.Like(dims)
	Indices(dims, func(i int, at []int) {
		if k := from(at); k >= 0 {
			out.Put(i, x, k)
		}
	})
	return out
}

// Axis returns an axis that may count from the end as one that counts from the start.
func Axis(axis any, rank int) int {
	a := axis.(int)
	if a < 0 {
		a += rank
	}
	return a
}

// A placeholderValue stands for an operand of a key by its number.
type placeholderValue struct {
	tenon.Value
	i int
}

func placeholders(n int) []tenon.Value {
	out := make([]tenon.Value, n)
	for i := range out {
		out[i] = &placeholderValue{i: i}
	}
	return out
}
