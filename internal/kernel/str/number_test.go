package str

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon/dtype"
)

func TestToInt(t *testing.T) {
	got := make([]int32, 5)
	if err := ToInt(got, later("1", "  12 ", "+5", "-0", "-2147483648\n")); err != nil || !slices.Equal(got, []int32{1, 12, 5, 0, math.MinInt32}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, s := range []string{"", " ", "1e3", "0x10", "1_0", "5.", "2147483648", "+-1", "1 2"} {
		err := ToInt(got, Of("1", s))
		if err == nil || !strings.HasPrefix(err.Error(), "string 1: ") {
			t.Errorf("%q: error %v", s, err)
		}
	}
	u := make([]uint8, 2)
	if err := ToInt(u, Of("255", "+7")); err != nil || !slices.Equal(u, []uint8{255, 7}) {
		t.Errorf("%v, %v", u, err)
	}
	for _, s := range []string{"256", "-1", "++1", "+-1"} {
		if err := ToInt(u, Of(s)); err == nil {
			t.Errorf("%q is accepted as uint8", s)
		}
	}
}

func TestToFloat(t *testing.T) {
	inf := float32(math.Inf(1))
	x := later("1", "  12 ", "+5", "1e3", "0x10", "inf", "-Inf", "1e39", ".5", "5.", "infinity", "1e-400", "0x1p3", "-2.5")
	want := []float32{1, 12, 5, 1000, 16, inf, -inf, inf, .5, 5, inf, 0, 8, -2.5}
	got := make([]float32, len(want))
	if err := ToFloat(got, x); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if err := ToFloat(got, Of("nan")); err != nil || got[0] == got[0] {
		t.Errorf("nan: %v, %v", got[0], err)
	}
	if err := ToFloat(got, Of("-0")); err != nil || !math.Signbit(float64(got[0])) {
		t.Errorf("-0: %v, %v", got[0], err)
	}
	d := make([]float64, 1)
	if err := ToFloat(d, Of("0.1")); err != nil || d[0] != .1 {
		t.Errorf("0.1: %v, %v", d, err)
	}
	for _, s := range []string{"", " ", "1_0", "x1", "1f", "1 2", "0x", "0x_1p3"} {
		if err := ToFloat(d, Of(s)); err == nil {
			t.Errorf("%q is accepted", s)
		}
	}
	if err := ToFloat(d, Of(strings.Repeat("y", 1000))); err == nil || len(err.Error()) > 120 {
		t.Errorf("error %v", err)
	}
}

func TestAsString(t *testing.T) {
	format := func(change func(*FormatOptions)) FormatOptions {
		o := DefaultFormat
		if change != nil {
			change(&o)
		}
		return o
	}
	floats := []float32{1.5, -.25, 1e10, float32(math.NaN()), float32(math.Inf(-1)), 1e-7, 123456789}
	for name, c := range map[string]struct {
		o    FormatOptions
		want string
	}{
		"default":     {format(nil), "1.500000|-0.250000|10000000000.000000|nan|-inf|0.000000|123456792.000000"},
		"precision 2": {format(func(o *FormatOptions) { o.Precision = 2 }), "1.50|-0.25|10000000000.00|nan|-inf|0.00|123456792.00"},
		"precision 0": {format(func(o *FormatOptions) { o.Precision = 0 }), "2|-0|10000000000|nan|-inf|0|123456792"},
		"shortest":    {format(func(o *FormatOptions) { o.Notation = Shortest }), "1.5|-0.25|1e+10|nan|-inf|1e-07|1.23457e+08"},
		"shortest 3":  {format(func(o *FormatOptions) { o.Notation, o.Precision = Shortest, 3 }), "1.5|-0.25|1e+10|nan|-inf|1e-07|1.23e+08"},
		"scientific":  {format(func(o *FormatOptions) { o.Notation = Scientific }), "1.500000e+00|-2.500000e-01|1.000000e+10|nan|-inf|1.000000e-07|1.234568e+08"},
		"zeros":       {format(func(o *FormatOptions) { o.Width, o.Precision, o.Fill = 8, 1, "0" }), "000001.5|-00000.2|10000000000.0|     nan|    -inf|000000.1|123456792.0"},
		"left":        {format(func(o *FormatOptions) { o.Width, o.Precision, o.Fill = 8, 1, "-" }), "1.5     |-0.2    |10000000000.0|nan     |-inf    |0.0     |123456792.0"},
		"plus":        {format(func(o *FormatOptions) { o.Width, o.Precision, o.Fill = 5, 1, "+" }), " +1.5| -0.2|+10000000000.0| +nan| -inf| +0.0|+123456792.0"},
		"blank":       {format(func(o *FormatOptions) { o.Precision, o.Fill = 1, " " }), " 1.5|-0.2| 10000000000.0| nan|-inf| 0.0| 123456792.0"},
		"point":       {format(func(o *FormatOptions) { o.Precision, o.Fill = 0, "#" }), "2.|-0.|10000000000.|nan|-inf|0.|123456792."},
	} {
		if name == "zeros" {
			floats[5] = .1
		}
		got, err := AsString(floats, c.o)
		if s := strings.Join(got.Strings(), "|"); err != nil || s != c.want {
			t.Errorf("%s:\n got %s\nwant %s\n%v", name, s, c.want, err)
		}
		floats[5] = 1e-7
	}
	point := format(func(o *FormatOptions) { o.Notation, o.Fill = Shortest, "#" })
	got, _ := AsString([]float64{1.5, 0, 1e10, 123456}, point)
	same(t, got, "1.50000", "0.00000", "1.00000e+10", "123456.")

	wide := format(func(o *FormatOptions) { o.Width, o.Fill = 8, "0" })
	got, _ = AsString([]int32{1, -2}, wide)
	same(t, got, "00000001", "-0000002")
	got, _ = AsString([]int64{math.MinInt64, 5}, DefaultFormat)
	same(t, got, "-9223372036854775808", "5")
	got, _ = AsString([]uint64{math.MaxUint64}, DefaultFormat)
	same(t, got, "18446744073709551615")
	got, _ = AsString([]int8{1}, format(func(o *FormatOptions) { o.Width, o.Fill = 3, "+" }))
	same(t, got, " +1")
	got, _ = AsString([]int8{1}, format(func(o *FormatOptions) { o.Width, o.Fill = 3, " " }))
	same(t, got, "  1")
	got, _ = AsString([]bool{true, false}, DefaultFormat)
	same(t, got, "true", "false")
	got, _ = AsString([]dtype.F16{dtype.F16From(.1)}, DefaultFormat)
	same(t, got, "0.099976")
	got, _ = AsString([]dtype.BF16{dtype.BF16From(.1)}, DefaultFormat)
	same(t, got, "0.100098")
	got, _ = AsString([]complex64{1.5 - 2i}, DefaultFormat)
	same(t, got, "(1.500000,-2.000000)")

	for name, o := range map[string]FormatOptions{
		"fill":      format(func(o *FormatOptions) { o.Fill = "x" }),
		"long fill": format(func(o *FormatOptions) { o.Fill = "00" }),
		"width":     format(func(o *FormatOptions) { o.Width = 1 << 30 }),
		"precision": format(func(o *FormatOptions) { o.Precision = 2 }),
		"shortest":  format(func(o *FormatOptions) { o.Notation = Shortest }),
	} {
		if _, err := AsString([]int32{1}, o); err == nil {
			t.Errorf("%s is accepted for integers", name)
		}
	}
}
