package sorting

import (
	"strconv"

	"github.com/tenonml/tenon/dtype"
)

// A ValueError reports the first element that an operation cannot count.
type ValueError struct {
	Pos    int    // its position
	Detail string // what is wrong with it
}

// Error returns "element 3: -1 is negative".
func (e *ValueError) Error() string { return "element " + strconv.Itoa(e.Pos) + ": " + e.Detail }

func negative[I dtype.Integer](pos int, v I) error {
	return &ValueError{Pos: pos, Detail: strconv.FormatInt(int64(v), 10) + " is negative"}
}

// BinCount adds to out[v] the number of elements equal to v. Values of len(out) or more are
// ignored; a negative value is an error.
func BinCount[I dtype.Integer](out []int64, x []I) error {
	for i, v := range x {
		if uint64(v) < uint64(len(out)) {
			out[v]++
		} else if v < 0 {
			return negative(i, v)
		}
	}
	return nil
}

// BinSum adds to out[v] the weights of the elements equal to v, in their order. Values of len(out)
// or more are ignored; a negative value is an error.
func BinSum[T dtype.Number, I dtype.Integer](out []T, x []I, weights []T) error {
	switch o := any(out).(type) {
	case []dtype.F16:
		return halfBinSum(o, x, any(weights).([]dtype.F16), dtype.F16From)
	case []dtype.BF16:
		return halfBinSum(o, x, any(weights).([]dtype.BF16), dtype.BF16From)
	}
	for i, v := range x {
		if uint64(v) < uint64(len(out)) {
			out[v] += weights[i]
		} else if v < 0 {
			return negative(i, v)
		}
	}
	return nil
}

func halfBinSum[T interface{ Float32() float32 }, I dtype.Integer](out []T, x []I, weights []T, round func(float32) T) error {
	sums, w := wide(out), wide(weights)
	err := BinSum(sums, x, w)
	for i, s := range sums {
		out[i] = round(s)
	}
	return err
}

// MaxValue returns the largest element of x, or -1 if x is empty: one less than the number of bins
// that [BinCount] needs.
func MaxValue[I dtype.Integer](x []I) int64 {
	m := int64(-1)
	for _, v := range x {
		m = max(m, int64(v))
	}
	return m
}

// Histogram adds to out[b] the number of elements in bin b of len(out) bins of equal width between
// low and high. Values outside are counted in the first or last bin; NaN is ignored.
func Histogram[T dtype.Real](out []int64, x []T, low, high float64) {
	switch x := any(x).(type) {
	case []dtype.F16:
		Histogram(out, wide(x), low, high)
		return
	case []dtype.BF16:
		Histogram(out, wide(x), low, high)
		return
	}
	if len(out) == 0 {
		return
	}
	bins := float64(len(out))
	width := (high - low) / bins
	last := len(out) - 1
	for _, v := range x {
		b := (float64(v) - low) / width
		switch {
		case b >= bins:
			out[last]++
		case b >= 0:
			out[int(b)]++
		case b < 0:
			out[0]++
		}
	}
}
