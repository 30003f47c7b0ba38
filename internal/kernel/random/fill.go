package random

import (
	"math/bits"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/par"
)

// grain is the number of elements that a worker takes at a time, a multiple of the numbers in a
// block.
const grain = 8 << 10

// Words fills dst with random words.
func Words(dst []uint32, k Key) {
	each32(dst, k, func(w uint32) uint32 { return w })
}

// Words64 fills dst with 64-bit random words.
func Words64(dst []uint64, k Key) {
	each64(dst, k, func(w uint64) uint64 { return w })
}

// each32 sets each element to a function of a random word.
func each32[T any](dst []T, k Key, f func(w uint32) T) {
	par.For(len(dst), grain, func(lo, hi int) {
		for i := lo; i < hi; i += 8 {
			b := k.pair(uint64(i) / 4)
			for j, w := range b[:min(8, hi-i)] {
				dst[i+j] = f(w)
			}
		}
	})
}

// each64 sets each element to a function of a 64-bit random word.
func each64[T any](dst []T, k Key, f func(w uint64) T) {
	par.For(len(dst), grain, func(lo, hi int) {
		for i := lo; i < hi; i += 4 {
			b := k.pair(uint64(i) / 2)
			for j := range min(4, hi-i) {
				dst[i+j] = f(uint64(b[2*j]) | uint64(b[2*j+1])<<32)
			}
		}
	})
}

// Float is the set of floating-point types that can be filled.
type Float interface {
	float32 | float64 | dtype.F16 | dtype.BF16
}

// Uniform fills dst with numbers in [0, 1), multiples of the type's precision.
func Uniform[T Float](dst []T, k Key) {
	switch dst := any(dst).(type) {
	case []float64:
		each64(dst, k, func(w uint64) float64 { return float64(w>>11) * 0x1p-53 })
	case []float32:
		each32(dst, k, func(w uint32) float32 { return float32(w>>8) * 0x1p-24 })
	case []dtype.F16:
		each32(dst, k, func(w uint32) dtype.F16 { return dtype.F16From(float32(w>>21) * 0x1p-11) })
	case []dtype.BF16:
		each32(dst, k, func(w uint32) dtype.BF16 { return dtype.BF16From(float32(w>>24) * 0x1p-8) })
	}
}

// A Distribution is a continuous distribution, sampled by its quantile function.
type Distribution uint8

// The distributions.
const (
	Normal      Distribution = iota // mean 0, variance 1
	Truncated                       // the standard normal distribution truncated to [-2, 2]
	Exponential                     // rate 1
	Gumbel                          // location 0, scale 1
)

// Of fills dst with samples of a distribution. Each sample uses 32 random bits for 16-bit types and
// float32, and 52 for float64.
func Of[T Float](dst []T, k Key, d Distribution) {
	f := d.quantile
	switch dst := any(dst).(type) {
	case []float64:
		each64(dst, k, func(w uint64) float64 { return f((float64(w>>12) + 0.5) * 0x1p-52) })
	case []float32:
		each32(dst, k, func(w uint32) float32 { return float32(f((float64(w) + 0.5) * 0x1p-32)) })
	case []dtype.F16:
		each32(dst, k, func(w uint32) dtype.F16 { return dtype.F16From64(f((float64(w) + 0.5) * 0x1p-32)) })
	case []dtype.BF16:
		each32(dst, k, func(w uint32) dtype.BF16 { return dtype.BF16From64(f((float64(w) + 0.5) * 0x1p-32)) })
	}
}

// belowTwo is the probability that a standard normal variable is below -2.
const belowTwo = 0.022750131948179207200282637166533437472

// quantile returns the number that a variable is below with probability p, 0 < p < 1.
func (d Distribution) quantile(p float64) float64 {
	switch d {
	case Truncated:
		return quantile(belowTwo + float64(p*(1-2*belowTwo)))
	case Exponential:
		return -log(p) // p and 1-p have the same distribution
	case Gumbel:
		return -log(-log(p))
	}
	return quantile(p)
}

// Int is the set of integer types that can be filled.
type Int interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// Ints fills dst with integers in [lo, lo+n), all equally likely up to a relative error of n/2^64;
// n = 0 stands for 2^64.
func Ints[T Int](dst []T, k Key, lo int64, n uint64) {
	each64(dst, k, func(w uint64) T {
		if n == 0 {
			return T(w)
		}
		hi, _ := bits.Mul64(w, n)
		return T(uint64(lo) + hi)
	})
}

// Permutation fills dst with 0, 1, … in random order, by the method of Fisher and Yates.
func Permutation(dst []int64, k Key) {
	for i := range dst {
		dst[i] = int64(i)
	}
	for i := len(dst) - 1; i > 0; i-- {
		b := k.Block(uint64(i), 1)
		j, _ := bits.Mul64(uint64(b[0])|uint64(b[1])<<32, uint64(i+1))
		dst[i], dst[j] = dst[j], dst[i]
	}
}

// Drop sets each element of dst to 0 with probability rate, and otherwise to the element of x
// divided by 1 - rate. Which elements are dropped depends only on the key and their positions, not
// on the type.
func Drop[T float32 | float64](dst, x []T, k Key, rate float64) {
	limit := uint32(rate * 0x1p32) // rate is below 1
	scale := T(1 / (1 - rate))
	par.For(len(dst), grain, func(lo, hi int) {
		for i := lo; i < hi; i += 8 {
			b := k.pair(uint64(i) / 4)
			for j, w := range b[:min(8, hi-i)] {
				if w < limit {
					dst[i+j] = 0
				} else {
					dst[i+j] = x[i+j] * scale
				}
			}
		}
	})
}
