package reduce

import (
	"unsafe"

	"github.com/tenonml/tenon/internal/kernel/elementwise"
)

// halved lifts a float32 reduction to half precision: blocks are widened and accumulated in
// float32, and the result is narrowed once.
func halved[H half, A any](r *reducer[float32, A, float32]) *reducer[H, A, H] {
	return &reducer[H, A, H]{
		block:  widened[H](r.block, r.merge),
		merge:  r.merge,
		finish: func(a A, n int) H { return toHalf[H](r.finish(a, n)) },
		empty:  toHalf[H](r.empty),
	}
}

// halvedTo lifts a float32 reduction to int64.
func halvedTo[H half, A any](r *reducer[float32, A, int64]) *reducer[H, A, int64] {
	return &reducer[H, A, int64]{
		block:  widened[H](r.block, r.merge),
		merge:  r.merge,
		finish: r.finish,
	}
}

func widened[H half, A any](block func([]float32) A, merge func(a, b A) A) func([]H) A {
	return func(x []H) A {
		s := scratches.Get().(*scratch)
		buf := view[float32](unsafe.Pointer(s), unsafe.Sizeof(*s))
		var total A
		for i := 0; i < len(x); i += len(buf) {
			part := x[i:min(i+len(buf), len(x))]
			elementwise.Cast(buf[:len(part)], part)
			if a := block(buf[:len(part)]); i == 0 {
				total = a
			} else {
				total = merge(total, a)
			}
		}
		scratches.Put(s)
		return total
	}
}

func toHalf[H half](v float32) H {
	var h [1]H
	elementwise.Cast(h[:], []float32{v})
	return h[0]
}
