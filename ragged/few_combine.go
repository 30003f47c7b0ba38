package ragged

import (
	"math"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A combination is how elements of a segment become one.
type combination uint8

const (
	otherwise combination = iota // not done here
	bySum
	byProduct
	byMax
	byMin
	byMean  // the sum divided by the number of elements
	bySqrtN // the sum divided by the root of their number
)

// adds reports whether elements are added up.
func (how combination) adds() bool { return how == bySum || how == byMean || how == bySqrtN }

// fewAdded is the number of elements up to which they are added up one after the other:
// many of one segment are in wider numbers.
const fewAdded = 256

// fewCombined is [bySegments] for a few rows of numbers: the rows of which ids give the
// same segment, or all rows where ids is nil and n is 1, are combined position by
// position. It returns nil where the general way has to be taken.
func fewCombined(how combination, t tensor.Tensor, ids tensor.Tensor, n int) *Tensor {
	f, ok := fewOf(t)
	if !ok || how == otherwise || f.flat.Rank() != 1 || n < 0 || n > shortElements || how.adds() && f.flat.Len() > fewAdded {
		return nil
	}
	if d := f.flat.DType(); (how == byMean || how == bySqrtN) && d != dtype.Float32 && d != dtype.Float64 {
		return nil
	}
	var of []int64
	if ids != nil {
		d, ok := ids.(*tensor.Dense)
		if !ok || d.DType() != dtype.Int64 || d.Rank() != 1 || d.Len() != f.nrows() {
			return nil
		}
		of = tensor.Data[int64](d)
		for _, s := range of {
			if uint64(s) >= uint64(n) {
				return nil
			}
		}
	}
	made, ends := makeFew(n)
	segment := func(r int) int64 {
		if of == nil {
			return 0
		}
		return of[r]
	}
	for r := range f.nrows() {
		s := segment(r)
		ends[s+1] = max(ends[s+1], f.splits[r+1]-f.splits[r])
	}
	for s := range n {
		ends[s+1] += ends[s]
	}
	nvals := int(ends[n])
	out := tensor.NewDense(f.flat.DType(), shape.Of(nvals))
	switch f.flat.DType() {
	case dtype.Float32:
		combine[float32](how, out, &f, ends, segment)
	case dtype.Float64:
		combine[float64](how, out, &f, ends, segment)
	case dtype.Int64:
		combine[int64](how, out, &f, ends, segment)
	default:
		return nil
	}
	return made.tensor(out)
}

func combine[T float32 | float64 | int64](how combination, out *tensor.Dense, f *few, ends []int64, segment func(r int) int64) {
	y, x := tensor.Data[T](out), tensor.Data[T](f.flat)
	var room [64]int64 // of each segment, how many positions have been met
	met := room[:]
	if len(ends) > len(room) {
		met = make([]int64, len(ends))
	}
	for r := range f.nrows() {
		s := segment(r)
		at := y[ends[s]:]
		for i, v := range x[f.splits[r]:f.splits[r+1]] {
			switch {
			case how.adds(): // to 0, which -0 becomes
				at[i] += v
			case int64(i) >= met[s]:
				at[i] = v
			case how == byProduct:
				at[i] *= v
			case how == byMax:
				at[i] = max(at[i], v)
			default:
				at[i] = min(at[i], v)
			}
		}
		met[s] = max(met[s], f.splits[r+1]-f.splits[r])
	}
	if how != byMean && how != bySqrtN {
		return
	}
	var counts [fewAdded]int // of each result, how many elements it adds up
	for r := range f.nrows() {
		first := ends[segment(r)]
		for i := range f.splits[r+1] - f.splits[r] {
			counts[first+i]++
		}
	}
	for i := range y {
		by := float64(counts[i])
		if how == bySqrtN {
			by = math.Sqrt(by)
		}
		y[i] = T(float64(y[i]) / by)
	}
}

// fewCoordinates returns the coordinates of a few elements in rows, and the shape that
// holds them; nil where the general way has to be taken.
func fewCoordinates(t *Tensor) (out, box tensor.Tensor) {
	f, ok := fewOf(t)
	if !ok || f.flat.Rank() != 1 {
		return nil, nil
	}
	longest := int64(0)
	d, at := tensor.Make[int64](shape.Of(f.flat.Len(), 2))
	for r := range f.nrows() {
		for i := f.splits[r]; i < f.splits[r+1]; i++ {
			at[2*i], at[2*i+1] = int64(r), i-f.splits[r]
		}
		longest = max(longest, f.splits[r+1]-f.splits[r])
	}
	return d, tensor.Vector([]int64{int64(f.nrows()), longest})
}

// fewCounted counts how often the numbers below the largest one occur in each row, for a
// few numbers without weights; nil where the general way has to be taken.
func fewCounted(x *Tensor, o BinCountOptions) tensor.Tensor {
	f, ok := fewOf(x)
	if !ok || f.flat.Rank() != 1 || f.flat.DType() != dtype.Int64 || o.Binary || o.Options.Weights != nil || o.Options.MinLength != nil || o.Options.MaxLength != nil {
		return nil
	}
	numbers := tensor.Data[int64](f.flat)
	bins := int64(0)
	for _, n := range numbers {
		if n < 0 || n >= shortElements {
			return nil
		}
		bins = max(bins, n+1)
	}
	if bins*int64(f.nrows()) > shortElements {
		return nil
	}
	out, counts := tensor.Make[int64](shape.Of(f.nrows(), int(bins)))
	for r := range f.nrows() {
		row := counts[int64(r)*bins:][:bins]
		for _, n := range numbers[f.splits[r]:f.splits[r+1]] {
			row[n]++
		}
	}
	return out
}

// fewNonzero returns the coordinates of the elements that are not zero, for a few numbers
// or truth values in rows; nil where the general way has to be taken.
func fewNonzero(x *Tensor) tensor.Tensor {
	f, ok := fewOf(x)
	if !ok || f.flat.Rank() != 1 {
		return nil
	}
	truth, ok := ops.Cast(f.flat, dtype.Bool).(*tensor.Dense)
	if !ok {
		return nil
	}
	there := tensor.Data[bool](truth)
	n := 0
	for _, b := range there {
		if b {
			n++
		}
	}
	out, at := tensor.Make[int64](shape.Of(n, 2))
	for r := range f.nrows() {
		for i := f.splits[r]; i < f.splits[r+1]; i++ {
			if there[i] {
				at[0], at[1] = int64(r), i-f.splits[r]
				at = at[2:]
			}
		}
	}
	return out
}
