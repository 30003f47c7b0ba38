package elementwise

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tenonml/tenon/internal/kernel/special"
)

func TestPowAccuracy(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	bases := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 2, -2, 0.5, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.MaxFloat32, math.SmallestNonzeroFloat32, -3, 1.0000001}
	var x, y []float32
	for _, b := range bases {
		for _, e := range []float32{0, 1, -1, 2, 3, -3, 0.5, -0.5, 1e30, -1e30, 16777217, 33554432, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())} {
			x, y = append(x, b), append(y, e)
		}
	}
	for range 20000 {
		b := float32(math.Exp(rng.NormFloat64() * 10))
		x = append(x, b, -b, float32(rng.NormFloat64()))
		y = append(y, float32(rng.NormFloat64()*10), float32(rng.IntN(21)-10), float32(rng.NormFloat64()*80))
	}
	eachFamily(t, func(t *testing.T) {
		dst := make([]float32, len(x))
		Binary[float32](Pow)(dst, x, y)
		worst := 0.0
		for i := range x {
			want := special.Pow(float64(x[i]), float64(y[i]))
			d := ulps32(dst[i], want)
			worst = math.Max(worst, d)
			if d > 1 || math.Signbit(want) != math.Signbit(float64(dst[i])) && want == want {
				t.Fatalf("pow(%v, %v) = %v, want %v", x[i], y[i], dst[i], want)
			}
			var one [1]float32
			if Binary[float32](Pow)(one[:], x[i:i+1], y[i:i+1]); !same(one[0], dst[i]) {
				t.Fatalf("pow(%v, %v) = %v alone, %v in a vector", x[i], y[i], one[0], dst[i])
			}
		}
		t.Logf("at most %v ulp", worst)
	})
}
