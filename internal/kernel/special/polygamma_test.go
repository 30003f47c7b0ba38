package special

import (
	"math"
	"testing"
)

// The values are those of mpmath.polygamma at 50 digits.
func TestPolygamma(t *testing.T) {
	for _, c := range []struct {
		n       int
		x, want float64
	}{
		{1, 1, math.Pi * math.Pi / 6},
		{1, 0.5, math.Pi * math.Pi / 2},
		{1, 0.01, 10001.621213528313},
		{1, 30, 0.033895060357739946},
		{1, -0.5, 8.934802200544679},
		{2, 1, -2.4041138063191885},
		{2, 2.5, -0.2362040516417274},
		{2, -1.25, 123.72136678366236},
		{3, 1, 6.493939402266829},
		{5, 0.75, 678.7533428745797},
	} {
		got := PolygammaOf(c.n).At(c.x)
		if math.Abs(got-c.want) > 1e-13*math.Abs(c.want) {
			t.Errorf("Polygamma(%d, %v) = %v, want %v", c.n, c.x, got, c.want)
		}
	}
	if got := PolygammaOf(1).At(-3); !math.IsInf(got, 1) {
		t.Errorf("at a pole: %v", got)
	}
	for _, x := range []float64{math.NaN(), math.Inf(-1)} {
		if got := PolygammaOf(1).At(x); got == got {
			t.Errorf("Polygamma(1, %v) = %v", x, got)
		}
	}
}
