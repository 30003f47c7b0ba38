package gemm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tenonml/tenon/internal/arena"
)

// Panels give what Multiply does, packed from either layout or viewed, for parts of B too.
func TestPanels(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	fill := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = rng.Float32() - 0.5
		}
		return x
	}
	for name, k := range table.Each() {
		f := k.f32
		for _, s := range [][3]int{{1, 1, 1}, {3, 5, 2}, {13, 7, 9}, {14, 32, 16}, {29, 45, 31}, {60, 70, 65}, {5, 33, 0}, {4, 0, 3}} {
			for _, beta := range []float32{0, 0.5} {
				m, n, k := s[0], s[1], s[2]
				t.Run(fmt.Sprint(name, s, beta), func(t *testing.T) {
					const gap = 3
					a, b, bt, c := fill(m*(k+gap)), fill(k*(n+gap)), make([]float32, n*(k+gap)), fill(m*(n+gap))
					for i := range k {
						for j := range n {
							bt[j*(k+gap)+i] = b[i*(n+gap)+j]
						}
					}
					want := append([]float32(nil), c...)
					multiplyWith(f, Params[float32]{
						M: m, N: n, K: k, A: a, ARow: k + gap, ACol: 1, B: b, BRow: n + gap, BCol: 1, C: want, CRow: n + gap, CCol: 1, Alpha: 2, Beta: beta, Serial: true,
					}, nil, nil, nil)
					for name, take := range map[string]func(p *Panels[float32]){
						"packed": func(p *Panels[float32]) { p.Pack(b, k, n, n+gap, 1) },
						"turned": func(p *Panels[float32]) { p.Pack(bt, k, n, 1, k+gap) },
						"viewed": func(p *Panels[float32]) { p.View(b, k, n, n+gap) },
						"taken":  func(p *Panels[float32]) { p.Take(b, k, n, n+gap, m) },
					} {
						p := Panels[float32]{f: f}
						take(&p)
						got := append([]float32(nil), c...)
						p.Times(got, n+gap, a, k+gap, 1, m, n, k, 2, beta)
						for i := range got {
							if d := got[i] - want[i]; d > 1e-5 || d < -1e-5 || got[i] != got[i] {
								t.Fatalf("%s: element %d is %v, want %v", name, i, got[i], want[i])
							}
						}
					}
				})
			}
		}
	}
}

// The columns of A lie in runs, which overlap, lie apart or follow each other, and C is written past
// the cache or not: the products are those of a copy of A.
func TestRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 10))
	for name, k := range table.Each() {
		f := k.f32
		for _, r := range []Runs{{1, 7, 0}, {3, 9, 40}, {3, 9, 4}, {2, 70, 70}, {4, 1, 3}, {2, 130, 150}, {0, 4, 8}, {3, 0, 8}} {
			for _, n := range []int{1, 4, 16, 21, 32, 48, 64, 75} {
				const m, aRow = 29, 5
				aCol := 1 + n%3
				k, cRow := r.Count*r.Len, (n+15)/16*16
				a, b := make([]float32, m*aRow+r.Count*r.Apart+r.Len*aCol), make([]float32, k*n)
				for i := range a {
					a[i] = float32(rng.IntN(9) - 4)
				}
				for i := range b {
					b[i] = float32(rng.IntN(9) - 4)
				}
				for _, beta := range []float32{0, 1} {
					for _, past := range []bool{false, true} {
						p := Panels[float32]{f: f, Past: past}
						p.Pack(b, k, n, n, 1)
						want, got := arena.Make[float32](m*cRow), arena.Make[float32](m*cRow)
						for i := range want {
							got[i] = float32(i)
							if want[i] = got[i]; i%cRow >= n {
								continue
							}
							want[i] *= beta
							for l := range k {
								want[i] += a[i/cRow*aRow+l/r.Len*r.Apart+l%r.Len*aCol] * b[l*n+i%cRow]
							}
						}
						p.TimesRuns(got, cRow, a, aRow, aCol, m, n, r, beta)
						if !slices.Equal(got, want) {
							t.Fatalf("%s: %+v, %d columns, beta %v, past %v: got %v, want %v", name, r, n, beta, past, got, want)
						}
					}
				}
			}
		}
	}
}
