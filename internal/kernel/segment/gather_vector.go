package segment

import (
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/tenonml/tenon/internal/par"
)

// lookUp is [GatherSplits] by a kernel that prefetches rows before it reads them; out[i] is the end
// of row i. With several processors, each piece of the indices first counts from 0, because the
// number of values before it is not known yet.
func lookUp(out, starts, splits, idx []int64) (total int64, err error) {
	k := vectorsNow()
	piece := func(lo, hi int, total int64) (int64, error) {
		done := k.lookUp(&out[lo], &starts[lo], &splits[0], &idx[lo], hi-lo, len(idx)-hi, rowsOf(splits), total)
		if lo+done < hi {
			if done > 0 {
				total = out[lo+done-1]
			}
			return lookUpPlainly(out[:hi], starts, splits, idx[:hi], lo+done, total)
		}
		return out[hi-1], nil
	}
	if runtime.GOMAXPROCS(0) == 1 || len(idx) <= chunkCost {
		for lo := 0; lo < len(idx); lo += chunkCost {
			if total, err = piece(lo, min(lo+chunkCost, len(idx)), total); err != nil {
				return 0, err
			}
		}
		return total, nil
	}
	var failed atomic.Bool
	par.For(len(idx), chunkCost, func(lo, hi int) {
		if _, err := piece(lo, hi, 0); err != nil {
			failed.Store(true)
		}
	})
	if failed.Load() {
		return lookUpPlainly(out, starts, splits, idx, 0, 0)
	}
	bases := make([]int64, (len(idx)-1)/chunkCost+1)
	for i := range bases[1:] {
		values := out[(i+1)*chunkCost-1]
		if values > math.MaxInt64-bases[i] {
			return lookUpPlainly(out, starts, splits, idx, 0, 0)
		}
		bases[i+1] = bases[i] + values
	}
	if last := len(bases) - 1; out[len(out)-1] > math.MaxInt64-bases[last] {
		return lookUpPlainly(out, starts, splits, idx, 0, 0)
	}
	par.For(len(idx), chunkCost, func(lo, hi int) {
		if base := bases[lo/chunkCost]; base > 0 {
			k.shift(&out[lo], &out[lo], hi-lo, base)
		}
	})
	return out[len(out)-1], nil
}

// gatherVectorised is [Gather] by vector kernels; it reports whether they can do it.
func gatherVectorised[T any](out, values []T, outSplits, starts []int64, inner int) bool {
	k := moversFor[T]()
	if k == nil || len(out) < worthVectors {
		return false
	}
	m := gatherer(k, out, values, outSplits, starts, inner)
	eachRows(outSplits, inner, m.run)
	return true
}

// gatherer returns a mover that copies the rows beginning at starts to the places given by
// outSplits.
func gatherer[T any](k *movers, out, values []T, outSplits, starts []int64, inner int) mover {
	item := inner * int(unsafe.Sizeof(*new(T)))
	src := bytesOf(values)
	limit := cap(src) - readRoom
	kernel, past := k.gather, k.gatherPast
	if k.gatherWords != nil && item%4 == 0 && uintptr(unsafe.Pointer(unsafe.SliceData(src)))%4 == 0 {
		kernel, past = k.gatherWords, k.gatherWordsPast
	}
	return mover{
		out:    bytesOf(out),
		splits: outSplits,
		item:   item,
		kernel: func(dst *byte, lo, hi int) {
			kernel(dst, unsafe.SliceData(src), &outSplits[lo], &starts[lo], hi-lo, len(starts)-hi, item, limit)
		},
		past: func(dst *byte, lo, hi int, stage *byte) int {
			return past(dst, unsafe.SliceData(src), &outSplits[lo], &starts[lo], hi-lo, len(starts)-hi, item, limit, stage)
		},
		plain: func(r int) {
			o := row(out, outSplits, r, inner)
			copyLong(o, values[int(starts[r])*inner:][:len(o)])
		},
	}
}

// asInt64 returns idx as int64. It copies if idx is int32.
func asInt64[I Index](idx []I) []int64 {
	if unsafe.Sizeof(*new(I)) == 8 {
		return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(idx))), len(idx))
	}
	wide := make([]int64, len(idx))
	for i, v := range idx {
		wide[i] = int64(v)
	}
	return wide
}
