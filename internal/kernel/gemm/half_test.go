package gemm

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tenonml/tenon/dtype"
)

func TestHalf(t *testing.T) {
	testHalf(t, dtype.F16From)
	testHalf(t, dtype.BF16From)
}

func testHalf[H interface {
	dtype.F16 | dtype.BF16
	Float32() float32
}](t *testing.T, from func(float32) H) {
	t.Run(fmt.Sprintf("%T", *new(H)), func(t *testing.T) {
		rng := rand.New(rand.NewPCG(11, 12))
		for _, s := range [][3]int{{1, 1, 1}, {1, 40, 30}, {40, 1, 30}, {5, 70, 20}, {50, 40, 20}, {3, 40, 1700}, {3, 4, 0}} {
			for _, a := range []layout{rowMajor, colMajor, sparse} {
				for _, b := range []layout{rowMajor, colMajor, sparse} {
					for _, c := range []layout{rowMajor, colMajor, sparse} {
						// Round the operands first, so that the reference sees the same ones.
						p := build[float32](rng, s[0], s[1], s[2], a, b, c)
						p.A, p.B = append([]float32(nil), p.A...), append([]float32(nil), p.B...)
						round := func(x []float32) []H {
							h := make([]H, len(x))
							for i := range x {
								h[i] = from(x[i])
								x[i] = h[i].Float32()
							}
							return h
						}
						ha, hb := round(p.A), round(p.B)
						p.Beta, p.Bias = 0.5, random[float32](rng, p.N)
						got := append([]float32(nil), p.C...)
						// The batch computes the same product twice in different places.
						got = append(got, got...)
						Half(HalfParams[H]{
							M: p.M, N: p.N, K: p.K, A: append(ha, ha...), B: hb, C: got,
							ARow: p.ARow, ACol: p.ACol, BRow: p.BRow, BCol: p.BCol, CRow: p.CRow, CCol: p.CCol,
							Alpha: p.Alpha, Beta: p.Beta, Bias: p.Bias,
						}, Batch{Size: 2, A: len(ha), B: 0, C: len(p.C)})
						reference(p)
						for i := range got {
							if d := distance(got[i], p.C[i%len(p.C)]); !(d <= tolerance[float32](p.K)) {
								t.Fatalf("%v, layouts %v %v %v: element %d is %v, want %v", s, a, b, c, i, got[i], p.C[i%len(p.C)])
							}
						}
					}
				}
			}
		}
	})
}
