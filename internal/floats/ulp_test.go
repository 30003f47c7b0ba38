package floats

import (
	"math"
	"testing"
)

func TestULP64(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	tiny := math.SmallestNonzeroFloat64
	for _, c := range []struct {
		a, b float64
		want uint64
	}{
		{1, 1, 0},
		{1, math.Nextafter(1, 2), 1},
		{0, math.Copysign(0, -1), 0},
		{-tiny, tiny, 2},
		{math.MaxFloat64, inf, 1},
		{nan, nan, 0},
		{nan, 1, Far},
		{-1, math.Nextafter(-1, -2), 1},
	} {
		if got := ULP64(c.a, c.b); got != c.want {
			t.Errorf("ULP64(%g, %g) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := ULP64(c.b, c.a); got != c.want {
			t.Errorf("ULP64(%g, %g) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
	if got := ULP64(-inf, inf); got != 2*0x7ff0000000000000 {
		t.Errorf("the infinities are %d apart", got)
	}
}

func TestULP32(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		a, b float32
		want uint64
	}{
		{2, math.Nextafter32(2, 1), 1},
		{math.MaxFloat32, inf, 1},
		{float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32, 1},
		{float32(math.NaN()), inf, Far},
		{-inf, inf, 2 * 0x7f800000},
	} {
		if got := ULP32(c.a, c.b); got != c.want {
			t.Errorf("ULP32(%g, %g) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestULP16(t *testing.T) {
	for _, c := range []struct {
		a, b uint16
		exp  int
		want uint64
	}{
		{0x3c00, 0x3c01, 5, 1}, // 1 and its successor in binary16
		{0x8000, 0x0000, 5, 0}, // the zeros
		{0x7bff, 0x7c00, 5, 1}, // largest finite and infinity
		{0x7e00, 0xfe01, 5, 0}, // two NaNs
		{0x7e00, 0x3c00, 5, Far},
		{0x3f80, 0x3f81, 8, 1}, // 1 and its successor in bfloat16
		{0x7f81, 0x7f80, 8, Far},
	} {
		if got := ULP16(c.a, c.b, c.exp); got != c.want {
			t.Errorf("ULP16(%#x, %#x, %d) = %d, want %d", c.a, c.b, c.exp, got, c.want)
		}
	}
}
