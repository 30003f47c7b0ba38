package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// fewCartesian returns all ways to take one entry of each tensor's row, or with local the
// entries' positions in their rows, for a few rows; nil where the general way has to be taken.
func fewCartesian(xs []tensor.Tensor, local bool) []tensor.Tensor {
	var room [4]few
	if len(xs) > len(room) {
		return nil
	}
	fs := room[:len(xs)]
	for i, x := range xs {
		f, ok := fewOf(x)
		if !ok || i > 0 && f.nrows() != fs[0].nrows() {
			return nil
		}
		fs[i] = f
	}
	nrows, total := fs[0].nrows(), 0
	for r := range nrows {
		n := 1
		for _, f := range fs {
			n *= int(f.splits[r+1] - f.splits[r])
		}
		if total += n; total > shortElements {
			return nil
		}
	}
	out := make([]tensor.Tensor, len(xs))
	var p *RowPartition
	for i := range fs {
		to := fs[i].result(nrows, total, p == nil, local)
		for r := range nrows {
			before, behind := 1, 1 // ways to take entries of the tensors on either side
			for k := range fs {
				if n := int(fs[k].splits[r+1] - fs[k].splits[r]); k < i {
					before *= n
				} else if k > i {
					behind *= n
				}
			}
			for range before {
				for at := fs[i].splits[r]; at < fs[i].splits[r+1]; at++ {
					for range behind {
						if local {
							to.position(at - fs[i].splits[r])
						} else {
							to.values(&fs[i], at, at+1)
						}
					}
				}
			}
			if p == nil {
				to.end()
			}
		}
		if p != nil {
			out[i] = wrapOne(to.flat, p)
			continue
		}
		t := to.tensor()
		p, out[i] = t.parts[0], t
	}
	return out
}

// fewPairs returns the first and the second entries of all pairs of entries of the rows, or
// with local their positions in their rows, for a few rows; nil where the general way has to
// be taken.
func fewPairs(x tensor.Tensor, local bool) []tensor.Tensor {
	f, ok := fewOf(x)
	if !ok {
		return nil
	}
	total := 0
	for r := range f.nrows() {
		n := int(f.splits[r+1] - f.splits[r])
		if total += n * (n - 1) / 2; total > shortElements {
			return nil
		}
	}
	first, second := f.result(f.nrows(), total, true, local), f.result(f.nrows(), total, false, local)
	for r := range f.nrows() {
		begin, end := f.splits[r], f.splits[r+1]
		for i := begin; i < end; i++ {
			for k := i + 1; k < end; k++ {
				if local {
					first.position(i - begin)
					second.position(k - begin)
				} else {
					first.values(&f, i, i+1)
				}
			}
			if !local {
				second.values(&f, i+1, end)
			}
		}
		first.end()
	}
	one := first.tensor()
	return []tensor.Tensor{one, wrapOne(second.flat, one.parts[0])}
}

// fewDistinct is unique for a few rows; nil where the general way has to be taken.
func fewDistinct(x *Tensor) []tenon.Value {
	f, ok := fewOf(x)
	if !ok || f.flat.Rank() != 1 {
		return nil
	}
	switch f.flat.DType() {
	case dtype.Float32:
		return distinct[float32](x, &f)
	case dtype.Float64:
		return distinct[float64](x, &f)
	case dtype.Int32:
		return distinct[int32](x, &f)
	case dtype.Int64:
		return distinct[int64](x, &f)
	}
	return nil
}

// distinctLength is the length of rows up to which every two elements are compared.
const distinctLength = 32

func distinct[T float32 | float64 | int32 | int64](x *Tensor, f *few) []tenon.Value {
	values := tensor.Data[T](f.flat)
	inverse, number := tensor.Make[int64](shape.Of(len(values)))
	made, ends := makeFew(f.nrows())
	var room [64]int64
	places := room[:0] // where the distinct values are first
	for r := range f.nrows() {
		lo, hi, begin := f.splits[r], f.splits[r+1], len(places)
		if hi-lo > distinctLength {
			return nil
		}
	next:
		for i := lo; i < hi; i++ {
			v := values[i]
			for k, at := range places[begin:] {
				if w := values[at]; v == w || v != v && w != w {
					number[i] = int64(k)
					continue next
				}
			}
			number[i] = int64(len(places) - begin)
			places = append(places, i)
		}
		ends[r+1] = int64(len(places))
	}
	n := len(places)
	out, chosen := tensor.Make[T](shape.Of(n))
	first, at := tensor.Make[int64](shape.Of(n))
	counts, often := tensor.Make[int64](shape.Of(n))
	copy(at, places)
	for i, p := range places {
		chosen[i] = values[p]
	}
	for r := range f.nrows() {
		for i := f.splits[r]; i < f.splits[r+1]; i++ {
			often[ends[r]+number[i]]++
		}
	}
	distinct := made.tensor(out)
	p := distinct.parts[0]
	return []tenon.Value{distinct, x.with(inverse), wrapOne(counts, p), wrapOne(first, p)}
}

// fewTop is topK for a few rows; nil where the general way has to be taken.
func fewTop(x *Tensor, k int) []tenon.Value {
	f, ok := fewOf(x)
	if !ok || f.flat.Rank() != 1 || k < 0 || k > distinctLength {
		return nil
	}
	switch f.flat.DType() {
	case dtype.Float32:
		return top[float32](&f, k)
	case dtype.Float64:
		return top[float64](&f, k)
	case dtype.Int32:
		return top[int32](&f, k)
	case dtype.Int64:
		return top[int64](&f, k)
	}
	return nil
}

func top[T float32 | float64 | int32 | int64](f *few, k int) []tenon.Value {
	values := tensor.Data[T](f.flat)
	made, ends := makeFew(f.nrows())
	for r := range f.nrows() {
		ends[r+1] = ends[r] + min(f.splits[r+1]-f.splits[r], int64(k))
	}
	n := int(ends[f.nrows()])
	out, chosen := tensor.Make[T](shape.Of(n))
	at, places := tensor.Make[int64](shape.Of(n))
	for r := range f.nrows() {
		lo := f.splits[r]
		best, where := chosen[ends[r]:ends[r+1]], places[ends[r]:ends[r+1]]
		met := 0
		for i, v := range values[lo:f.splits[r+1]] {
			// Behind those that are no less; a NaN is less than all others.
			j := met
			for ; j > 0 && (best[j-1] < v || best[j-1] != best[j-1] && v == v); j-- {
				if j < len(best) {
					best[j], where[j] = best[j-1], where[j-1]
				}
			}
			if j < len(best) {
				best[j], where[j] = v, int64(i)
				met = min(met+1, len(best))
			}
		}
	}
	best := made.tensor(out)
	return []tenon.Value{best, wrapOne(at, best.parts[0])}
}
