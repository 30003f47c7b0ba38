package tensor

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

func iota[T int | int16 | float32](n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = T(i)
	}
	return out
}

// The layouts below are those of NumPy 2 for the same data, apart from the
// words: true, false, i and double quotes, and the type behind.
func TestString(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	cases := []struct {
		name string
		x    fmt.Stringer
		want string
	}{
		{"a scalar", Scalar(float32(1)).(*Dense), "1.0 float32[]"},
		{"a small scalar", Scalar(1.5e-7).(*Dense), "1.5e-07 float64[]"},
		{"a large scalar", Scalar(1e16).(*Dense), "1e+16 float64[]"},
		{"an integer", Scalar(-3).(*Dense), "-3 int64[]"},
		{"nan", Scalar(nan).(*Dense), "nan float64[]"},
		{"a vector", Vector([]float32{1, 2, 3}), "[1. 2. 3.] float32[3]"},
		{"points in one column", Vector([]float32{1, 2.25, -10.5}), "[  1.     2.25 -10.5 ] float32[3]"},
		{"float32 digits", Vector([]float32{0.1, 0.2}), "[0.1 0.2] float32[2]"},
		{"float64 digits", Vector([]float64{0.1, 1. / 3}), "[0.1        0.33333333] float64[2]"},
		{"exponents", Vector([]float64{1, 2000.5, 0.001}), "[1.0000e+00 2.0005e+03 1.0000e-03] float64[3]"},
		{"long exponents", Vector([]float64{1e-300, 1}), "[1.e-300 1.e+000] float64[2]"},
		{"nan and inf", Vector([]float64{nan, inf, -inf, 1}), "[ nan  inf -inf   1.] float64[4]"},
		{"only nan", Vector([]float64{nan, nan}), "[nan nan] float64[2]"},
		{"zeros", Vector([]float64{0, math.Copysign(0, -1)}), "[ 0. -0.] float64[2]"},
		{"integers", Of([]int16{1, -20, 300, 4}, 2, 2).(*Dense), "[[  1 -20]\n [300   4]] int16[2, 2]"},
		{"large float32", Vector([]float32{999999, 1000000}), "[9.99999e+05 1.00000e+06] float32[2]"},
		{"all digits", Scalar(math.Nextafter(0.3, 1)).(*Dense), "0.30000000000000004 float64[]"},
		{"a complex scalar", Scalar(1.5 - 2i).(*Dense), "1.5-2i complex128[]"},
		{"truth", Vector([]bool{true}), "[ true] bool[1]"},
		{"truth values", Vector([]bool{true, false}), "[ true false] bool[2]"},
		{"unsigned", Vector([]uint64{math.MaxUint64, 1}), "[18446744073709551615                    1] uint64[2]"},
		{"float16", Vector([]dtype.F16{dtype.F16From(0.1), dtype.F16From(65504)}), "[1.00e-01 6.55e+04] float16[2]"},
		{"bfloat16", Vector([]dtype.BF16{dtype.BF16From(0.1), dtype.BF16From(2)}), "[0.1 2. ] bfloat16[2]"},
		{"complex", Vector([]complex64{1 + 2i, -3.5 - 1i}), "[ 1. +2.i -3.5-1.i] complex64[2]"},
		{"three axes", Of(iota[int](8), 2, 2, 2).(*Dense), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]] int64[2, 2, 2]"},
		{"empty", Of([]float32{}).(*Dense), "[] float32[0]"},
		{"empty with an axis", Of([]float32{}, 2, 0).(*Dense), "[] float32[2, 0]"},
		{"strings", Of([]string{"a", "b\"c", "\xff"}).(*Strings), `["a" "b\"c" "\xff"] string[3]`},
		{"a string", Scalar("x").(*Strings), `"x" string[]`},
		{"no strings", Of([]string{}).(*Strings), `[] string[0]`},
		{"abbreviated", Vector(iota[int](2000)), "[   0    1    2 ... 1997 1998 1999] int64[2000]"},
		{"abbreviated, two axes", Of(iota[int](4000), 2, 2000).(*Dense), "[[   0    1    2 ... 1997 1998 1999]\n [2000 2001 2002 ... 3997 3998 3999]] int64[2, 2000]"},
		{"abbreviated, many rows", Of(iota[int](1200), 400, 3).(*Dense),
			"[[   0    1    2]\n [   3    4    5]\n [   6    7    8]\n ...\n [1191 1192 1193]\n [1194 1195 1196]\n [1197 1198 1199]] int64[400, 3]"},
		{"wrapped", Vector(iota[float32](30)),
			"[ 0.  1.  2.  3.  4.  5.  6.  7.  8.  9. 10. 11. 12. 13. 14. 15. 16. 17.\n 18. 19. 20. 21. 22. 23. 24. 25. 26. 27. 28. 29.] float32[30]"},
		{"a view", Of(iota[int](6), 2, 3).(*Dense).View(0, shape.Of(3, 2), []int{1, 3}), "[[0 3]\n [1 4]\n [2 5]] int64[3, 2]"},
		{"a reversed view", Vector(iota[int](4)).View(3, shape.Of(4), []int{-1}), "[3 2 1 0] int64[4]"},
	}
	for _, c := range cases {
		if d := cmp.Diff(c.want, c.x.String()); d != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, d)
		}
	}
}

func TestFormat(t *testing.T) {
	var none *Dense
	var noStrings *Strings
	x := Vector([]float64{1, 2.5, 1. / 3})
	long := Of([]string{strings.Repeat("é", 100)})
	cases := []struct {
		format string
		x      any
		want   string
	}{
		{"%v", none, "<nil>"},
		{"%v", noStrings, "<nil>"},
		{"%.2v", x, "[1.   2.5  0.33] float64[3]"},
		{"%.1f", x, "[1.0 2.5 0.3] float64[3]"},
		{"%.2e", x, "[1.00e+00 2.50e+00 3.33e-01] float64[3]"},
		{"%d", x, "%!d(*tensor.Dense=float64[3])"},
		{"%x", long, "%!x(*tensor.Strings=string[1])"},
		{"%#v", x, "tensor.Of([]float64{1, 2.5, 0.3333333333333333}, 3)"},
		{"%#v", Scalar(int32(7)), "tensor.Scalar[int32](7)"},
		{"%#v", Of([]string{"a"}, 1, 1), `tensor.Of([]string{"a"}, 1, 1)`},
		{"%v", long, `["` + strings.Repeat("é", longest) + `"…] string[1]`},
		{"%+v", long, `["` + strings.Repeat("é", 100) + `"] string[1]`},
	}
	for _, c := range cases {
		if got := fmt.Sprintf(c.format, c.x); got != c.want {
			t.Errorf("%s: got %s, want %s", c.format, got, c.want)
		}
	}
	if got := fmt.Sprintf("%+v", Vector(iota[int](1001))); strings.Contains(got, "...") || strings.Count(got, "\n") < 20 {
		t.Errorf("%%+v abbreviates: %s", got)
	}
}

func TestPrintingReadsOnlyWhatItShows(t *testing.T) {
	x := NewDense(dtype.Uint8, shape.Of(1<<13, 1<<13))
	if n := testing.AllocsPerRun(1, func() { _ = x.String() }); n > 300 {
		t.Errorf("%v allocations", n)
	}
}
