package gemm

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
)

// HalfParams describes a product of 16-bit floating-point operands with a float32 result. The
// fields have the same meaning as in [Params].
type HalfParams[H dtype.F16 | dtype.BF16] struct {
	M, N, K    int
	A, B       []H
	C          []float32
	ARow, ACol int
	BRow, BCol int
	CRow, CCol int

	Alpha, Beta float32
	Bias        []float32
	Then        func(c []float32)
}

// Half computes p, or a batch of such products, as [Multiply] does. Operands are converted block by
// block as they are packed; sums are float32.
func Half[H dtype.F16 | dtype.BF16](p HalfParams[H], batch ...Batch) {
	q := Params[float32]{
		M: p.M, N: p.N, K: p.K, C: p.C,
		ARow: p.ARow, ACol: p.ACol, BRow: p.BRow, BCol: p.BCol, CRow: p.CRow, CCol: p.CCol,
		Alpha: p.Alpha, Beta: p.Beta, Bias: p.Bias, Then: p.Then,
	}
	q.check(batch, len(p.A), len(p.B))
	multiplyWith(table.Now().f32, q, batch, readHalf(p.A), readHalf(p.B))
}

// readHalf returns a reader of x.
func readHalf[H dtype.F16 | dtype.BF16](x []H) reader[float32] {
	switch x := any(x).(type) {
	case []dtype.F16:
		return func(dst []float32, from, stride int) {
			if stride == 1 {
				fromF16(dst, x[from:][:len(dst)])
				return
			}
			for i := range dst {
				dst[i] = x[from+i*stride].Float32()
			}
		}
	case []dtype.BF16:
		return func(dst []float32, from, stride int) {
			if stride == 1 {
				fromBF16(dst, x[from:][:len(dst)])
				return
			}
			for i := range dst {
				dst[i] = x[from+i*stride].Float32()
			}
		}
	}
	return nil
}

// fromF16 converts len(dst) numbers; fromBF16 does the same for BF16.
func fromF16(dst []float32, x []dtype.F16) {
	done := eights(table.Now().f16, dst, x)
	for i, v := range x[done:] {
		dst[done+i] = v.Float32()
	}
}

func fromBF16(dst []float32, x []dtype.BF16) {
	done := eights(table.Now().bf16, dst, x)
	for i, v := range x[done:] {
		dst[done+i] = v.Float32()
	}
}

// eights converts as many numbers as a kernel can, in groups of eight, and returns how many. A call
// converts at most one block of steps or one row of a tile, so it is short.
func eights[H dtype.F16 | dtype.BF16](kernel func(n int, dst *float32, x *uint16), dst []float32, x []H) int {
	n := len(x) / 8
	if n == 0 || kernel == nil {
		return 0
	}
	kernel(n, &dst[0], (*uint16)(unsafe.Pointer(&x[0])))
	return 8 * n
}
