package segment

import (
	"math"
	"strconv"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/gather"
)

// CheckIDs reports the first id that is not below segments. Negative ids are accepted: their items
// belong to no segment.
func CheckIDs[I Index](ids []I, segments int64) error {
	var bad int64
	for _, id := range ids {
		bad |= segments - 1 - int64(id)
	}
	if bad >= 0 && segments > 0 {
		return nil
	}
	for i, id := range ids {
		if int64(id) >= segments {
			return rowError("segment ids", i, id, "is not below the number of segments, "+strconv.FormatInt(segments, 10))
		}
	}
	return nil
}

// SumByID adds up the items with each id: item s of out, which has segments*inner elements, is the
// sum of the items in values, which has len(ids)*inner elements, whose id is s. Ids may come in any
// order; items with negative ids are dropped. A segment without items gets 0. Items are added in
// their order; if segments have many items each, float32 is summed in float64.
func SumByID[T dtype.Number, I Index](out, values []T, ids []I, inner int) error {
	if w, ok := widen(values); ok {
		o := make([]float32, len(out))
		if err := SumByID(o, w, ids, inner); err != nil {
			return err
		}
		narrow(out, o)
		return nil
	}
	if err := CheckIDs(ids, segmentsOf(out, inner)); err != nil {
		return err
	}
	clear(out)
	if o, ok := any(out).([]float32); ok && crowded(out, ids, inner) {
		sumWide(o, any(values).([]float32), ids, inner)
		return nil
	}
	gather.AddDropping(out, values, ids, inner)
	return nil
}

// crowded reports whether segments have so many items on average that rounding errors of sequential
// float32 addition would matter.
func crowded[T any, I Index](out []T, ids []I, inner int) bool {
	return inner > 0 && len(ids) > pairwiseLeaf*(len(out)/inner)
}

// sumWide is SumByID with float64 sums.
func sumWide[I Index](out, values []float32, ids []I, inner int) {
	sums := make([]float64, len(out))
	for i, id := range ids {
		if id < 0 {
			continue
		}
		acc := item(sums, int(id), inner)
		for j, v := range item(values, i, inner) {
			acc[j] += float64(v)
		}
	}
	for i, s := range sums {
		out[i] = float32(s)
	}
}

// segmentsOf returns the number of items in out; with inner 0 any id is valid.
func segmentsOf[T any](out []T, inner int) int64 {
	if inner == 0 {
		return math.MaxInt64
	}
	return int64(len(out) / inner)
}

// fold combines each item of values with the item of out that its id names.
func fold[T any, I Index](out, values []T, ids []I, inner int, combine func(acc, x []T)) {
	for i, id := range ids {
		if id >= 0 {
			combine(item(out, int(id), inner), item(values, i, inner))
		}
	}
}

// ProdByID multiplies the items with each id. It is otherwise like [SumByID]. A segment without
// items gets 1.
func ProdByID[T dtype.Number, I Index](out, values []T, ids []I, inner int) error {
	if w, ok := widen(values); ok {
		o := make([]float32, len(out))
		if err := ProdByID(o, w, ids, inner); err != nil {
			return err
		}
		narrow(out, o)
		return nil
	}
	if err := CheckIDs(ids, segmentsOf(out, inner)); err != nil {
		return err
	}
	for i := range out {
		out[i] = 1
	}
	fold(out, values, ids, inner, func(acc, x []T) {
		for j, v := range x {
			acc[j] *= v
		}
	})
	return nil
}

// MaxByID takes the elementwise maximum of the items with each id. It is otherwise like [SumByID].
// NaN propagates. A segment without items gets the type's lowest value.
func MaxByID[T dtype.Real, I Index](out, values []T, ids []I, inner int) error {
	if w, ok := widen(values); ok {
		o := make([]float32, len(out))
		if err := MaxByID(o, w, ids, inner); err != nil {
			return err
		}
		narrow(out, o)
		return nil
	}
	if err := CheckIDs(ids, segmentsOf(out, inner)); err != nil {
		return err
	}
	low := lowest[T]()
	for i := range out {
		out[i] = low
	}
	fold(out, values, ids, inner, func(acc, x []T) {
		for j, v := range x {
			if v > acc[j] || v != v {
				acc[j] = v
			}
		}
	})
	return nil
}

// MinByID takes the elementwise minimum of the items with each id. It is otherwise like [SumByID].
// NaN propagates. A segment without items gets the type's highest value.
func MinByID[T dtype.Real, I Index](out, values []T, ids []I, inner int) error {
	if w, ok := widen(values); ok {
		o := make([]float32, len(out))
		if err := MinByID(o, w, ids, inner); err != nil {
			return err
		}
		narrow(out, o)
		return nil
	}
	if err := CheckIDs(ids, segmentsOf(out, inner)); err != nil {
		return err
	}
	high := highest[T]()
	for i := range out {
		out[i] = high
	}
	fold(out, values, ids, inner, func(acc, x []T) {
		for j, v := range x {
			if v < acc[j] || v != v {
				acc[j] = v
			}
		}
	})
	return nil
}

// CountByID writes the number of items with each id to out, which has one entry for each segment.
// Negative ids are ignored.
func CountByID[I Index](out []int64, ids []I) error {
	if err := CheckIDs(ids, int64(len(out))); err != nil {
		return err
	}
	clear(out)
	for _, id := range ids {
		if id >= 0 {
			out[id]++
		}
	}
	return nil
}

// MeanByID divides the sums of [SumByID] by the number of items. A segment without
// items gets NaN.
func MeanByID[T Float, I Index](out, values []T, ids []I, inner int) error {
	return sumOverCount(out, values, ids, inner, func(n float64) float64 { return n })
}

// SqrtNByID divides the sums of [SumByID] by the square root of the number of
// items. A segment without items gets NaN.
func SqrtNByID[T Float, I Index](out, values []T, ids []I, inner int) error {
	return sumOverCount(out, values, ids, inner, math.Sqrt)
}

func sumOverCount[T Float, I Index](out, values []T, ids []I, inner int, divisor func(n float64) float64) error {
	if w, ok := widen(values); ok {
		o := make([]float32, len(out))
		if err := sumOverCount(o, w, ids, inner, divisor); err != nil {
			return err
		}
		narrow(out, o)
		return nil
	}
	if err := SumByID(out, values, ids, inner); err != nil || inner == 0 {
		return err
	}
	counts := make([]int64, len(out)/inner)
	if err := CountByID(counts, ids); err != nil {
		return err
	}
	for s, n := range counts {
		d := divisor(float64(n))
		acc := item(out, s, inner)
		for j, v := range acc {
			acc[j] = T(float64(v) / d)
		}
	}
	return nil
}

// MeanIntByID is [MeanByID] for integers, with float64 means.
func MeanIntByID[T dtype.Integer, I Index](out []float64, values []T, ids []I, inner int) error {
	wide := make([]float64, len(values))
	for i, v := range values {
		wide[i] = float64(v)
	}
	return MeanByID(out, wide, ids, inner)
}
