package gemm

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Powers of products, and their sums, for all heights and widths of tiles.
func TestPowers(t *testing.T) {
	for family, k := range table.Each() {
		if HasPowers(&Panels[float32]{f: k.f32, row: k.f32.width}) {
			t.Run(family.String(), func(t *testing.T) { testPowers(t, k.f32) })
		}
	}
}

func testPowers(t *testing.T, f *family[float32]) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, s := range [][3]int{{1, 1, 1}, {2, 16, 3}, {3, 17, 2}, {5, 31, 8}, {8, 32, 64}, {13, 33, 64}, {14, 64, 7}, {29, 100, 129}, {140, 45, 16}, {3, 4, 0}} {
		for _, shift := range []int{-PowerLimit, 0, 7, 126 - PowerLimit} {
			m, n, k := s[0], s[1], s[2]
			const gap = 3
			a, b := make([]float32, m*(k+gap)), make([]float32, k*n)
			for i := range a { // products are exact
				a[i] = float32(rng.IntN(1<<16)-1<<15) * (PowerLimit / 0x1p15)
			}
			for j := 0; j < n && k > 0; j++ {
				b[rng.IntN(k)*n+j] += 0.5
				b[rng.IntN(k)*n+j] -= 0.5
			}
			c, sums := make([]float32, m*(n+gap)), make([]float32, PowerLanes*m)
			for i := range c {
				c[i] = -7
			}
			sums[0] = 5
			p := Panels[float32]{f: f}
			p.Pack(b, k, n, n, 1)
			if !HasPowers(&p) {
				t.Fatal("there are no powers")
			}
			Powers(&p, c, n+gap, a, k+gap, m, n, shift, sums)
			for i := range m {
				want, scale := 0.0, math.Exp2(-float64(shift))
				if i == 0 {
					want = 5
				}
				for j := range n {
					var h float32
					for l := range k {
						h += a[i*(k+gap)+l] * b[l*n+j]
					}
					power := math.Exp2(float64(h)) * scale
					want += power
					if got := float64(c[i*(n+gap)+j]); math.Abs(got-power) > 4.0/(1<<24)*power {
						t.Fatalf("%v less %d: [%d,%d] is %g, want %g", s, shift, i, j, got, power)
					}
				}
				var sum float64
				for _, v := range sums[PowerLanes*i:][:PowerLanes] {
					sum += float64(v)
				}
				if math.Abs(sum-want) > 1e-6*want {
					t.Errorf("%v less %d: row %d adds up to %g, want %g", s, shift, i, sum, want)
				}
				for j := n; j < n+gap; j++ {
					if c[i*(n+gap)+j] != -7 {
						t.Fatalf("%v: [%d,%d] was written", s, i, j)
					}
				}
			}
		}
	}
}
