package tensor

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

func TestConst(t *testing.T) {
	type celsius float32
	seven := 7
	tf := Options{Int: dtype.Int32, Float: dtype.Float32}
	cases := []struct {
		name string
		x    any
		o    Options
		want Tensor
	}{
		{"an int", 3, Options{}, Scalar(int64(3))},
		{"a float", 2.5, Options{}, Scalar(2.5)},
		{"a string", "s", Options{}, Scalar("s")},
		{"a truth value", true, Options{}, Scalar(true)},
		{"a complex number", 1i, Options{}, Scalar(1i)},
		{"a pointer", &seven, Options{}, Scalar(int64(7))},
		{"a named type", []celsius{1, 2}, Options{}, Of([]float32{1, 2})},
		{"nested lists", []any{[]any{1, 2}, []any{3, 4}}, Options{}, Of([]int64{1, 2, 3, 4}, 2, 2)},
		{"nested slices", [][]int8{{1}, {2}}, Options{}, Of([]int8{1, 2}, 2, 1)},
		{"arrays", [2][2]float32{{1, 2}, {3, 4}}, Options{}, Of([]float32{1, 2, 3, 4}, 2, 2)},
		{"mixed numbers", []any{1, 2.5}, Options{}, Of([]float64{1, 2.5})},
		{"mixed widths", []any{int8(1), int16(2)}, Options{}, Of([]int16{1, 2})},
		{"strings", [][]string{{"a"}, {"b"}}, Options{}, Of([]string{"a", "b"}, 2, 1)},
		{"nothing", []any{}, Options{}, Of([]float64{})},
		{"nothing typed", []int32{}, Options{}, Of([]int32{})},
		{"rows of nothing", [][]string{{}, {}}, Options{}, Of([]string{}, 2, 0)},
		{"unsigned", []uint{1, 2}, Options{}, Of([]uint64{1, 2})},
		{"other defaults", []any{1, 2}, tf, Of([]int32{1, 2})},
		{"other defaults, floats", []any{1, 2.5}, tf, Of([]float32{1, 2.5})},
		{"other defaults, nothing", []any{}, tf, Of([]float32{})},
		{"other defaults, one does not fit", []any{1, 1 << 40}, tf, Of([]int64{1, 1 << 40})},
		{"other defaults, the lowest fits", []any{math.MinInt32, math.MaxInt32}, tf, Of([]int32{math.MinInt32, math.MaxInt32})},
		{"an explicit type", []any{1, 2.0}, Options{DType: dtype.Int8}, Of([]int8{1, 2})},
		{"rounded", []any{1e-9, 1.0}, Options{DType: dtype.Float16}, Of([]dtype.F16{0, dtype.F16From(1)})},
		{"bfloat16", 3, Options{DType: dtype.BFloat16}, Scalar(dtype.BF16From(3))},
		{"to complex", []any{1, 2.5, 1i}, Options{DType: dtype.Complex64}, Of([]complex64{1, 2.5, 1i})},
		{"uint64", []any{uint64(math.MaxUint64)}, Options{}, Of([]uint64{math.MaxUint64})},
	}
	for _, c := range cases {
		got, err := Const(c.x, c.o)
		if err != nil || !Equal(got, c.want, EqualOptions{}) {
			t.Errorf("%s: got %v, %v, want %v", c.name, got, err, c.want)
		}
	}
}

func TestConstErrors(t *testing.T) {
	self := []any{nil}
	self[0] = self
	type loop *loop
	var p loop
	p = &p
	cases := []struct {
		name string
		x    any
		o    Options
		kind error
		text string
	}{
		{"nil", nil, Options{}, tenon.ErrInvalid, "nil"},
		{"nil inside", []any{1, nil}, Options{}, tenon.ErrInvalid, "[1]"},
		{"rows of different length", [][]int{{1}, {1, 2}}, Options{}, tenon.ErrInvalid, "[1]: the row has 2 entries, others have 1"},
		{"a list among elements", []any{1, []any{2}}, Options{}, tenon.ErrInvalid, "there is a list where"},
		{"an element among lists", []any{[]any{2}, 1}, Options{}, tenon.ErrInvalid, "there is an element where"},
		{"an element among empty lists", []any{[]any{}, 1}, Options{}, tenon.ErrInvalid, "there is an element where"},
		{"a struct", []any{struct{}{}}, Options{}, tenon.ErrInvalid, "struct {}"},
		{"strings and numbers", []any{1, "a"}, Options{}, tenon.ErrDType, "element 1 is a string among int64s"},
		{"truth values and numbers", []any{true, 1}, Options{}, tenon.ErrDType, "element 1"},
		{"uint64 and int64", []any{uint64(1), int64(1)}, Options{}, tenon.ErrDType, "element 1"},
		{"out of range", []any{1, 300}, Options{DType: dtype.Int8}, tenon.ErrDType, "element 1: the int 300 does not fit int8"},
		{"negative", []any{-1}, Options{DType: dtype.Uint64}, tenon.ErrDType, "-1"},
		{"a fraction", []any{1.5}, Options{DType: dtype.Int32}, tenon.ErrDType, "1.5"},
		{"NaN", []any{math.NaN()}, Options{DType: dtype.Int64}, tenon.ErrDType, "NaN"},
		{"a number as a string", []any{1}, Options{DType: dtype.String}, tenon.ErrDType, "not a string"},
		{"a number as a truth value", []any{1}, Options{DType: dtype.Bool}, tenon.ErrDType, "is no bool"},
		{"holds itself", self, Options{}, tenon.ErrInvalid, "deep"},
		{"a pointer to itself", p, Options{}, tenon.ErrInvalid, "loop"},
	}
	for _, c := range cases {
		got, err := Const(c.x, c.o)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v, %v, want %v with %q", c.name, got, err, c.kind, c.text)
		}
	}
	if _, err := FromScalars([]any{1, 2}, shape.Of(3), Options{}); !errors.Is(err, tenon.ErrShape) {
		t.Errorf("too few: %v", err)
	}
	if _, err := FromScalars([]any{nil}, shape.Of(1), Options{}); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("nil: %v", err)
	}
}

func TestConvert(t *testing.T) {
	floats := []float32{1, 2}
	x, err := Convert(floats)
	if err != nil || &Data[float32](x)[0] != &floats[0] {
		t.Errorf("a flat slice is copied: %v, %v", x, err)
	}
	if y, err := Convert(x); err != nil || y != x {
		t.Errorf("a tensor is not itself: %v, %v", y, err)
	}
	for _, c := range []struct {
		x    any
		want Tensor
	}{
		{3, Scalar(int64(3))},
		{float32(1), Scalar(float32(1))},
		{"s", Scalar("s")},
		{[]string{"a"}, Of([]string{"a"})},
		{[]int{1}, Of([]int64{1})},
		{[][]bool{{true}}, Of([]bool{true}, 1, 1)},
		{uint8(3), Scalar(uint8(3))},
	} {
		if got, err := Convert(c.x); err != nil || !Equal(got, c.want, EqualOptions{}) {
			t.Errorf("%T: got %v, %v", c.x, got, err)
		}
	}
	for _, bad := range []any{nil, struct{}{}, []any{nil}, func() {}} {
		if got, err := Convert(bad); err == nil {
			t.Errorf("%T: got %v", bad, got)
		}
	}
}

func TestScalarLike(t *testing.T) {
	for _, c := range []struct {
		x    any
		dt   dtype.DType
		want Tensor // nil: not exactly
	}{
		{2, dtype.Float32, Scalar(float32(2))},
		{2, dtype.Int8, Scalar(int8(2))},
		{300, dtype.Int8, nil},
		{1<<24 + 1, dtype.Float32, nil},
		{0.1, dtype.Float32, Scalar(float32(0.1))},
		{2.0, dtype.Int32, nil},
		{true, dtype.Bool, Scalar(true)},
		{true, dtype.Int8, nil},
		{1, dtype.Bool, nil},
		{2, dtype.Float16, Scalar(dtype.F16From(2))},
		{math.MinInt, dtype.Float32, Scalar(float32(math.MinInt))},
		{math.MinInt, dtype.Float16, nil},
		{0, dtype.Float16, Scalar(dtype.F16(0))},
		{257, dtype.BFloat16, nil},
		{65536, dtype.Float16, nil},
		{2, dtype.Complex64, Scalar(complex64(2))},
		{"s", dtype.String, nil},
		{-1, dtype.Uint8, nil},
	} {
		got, ok := ScalarLike(c.x, c.dt)
		if ok != (c.want != nil) || ok && !Equal(got, c.want, EqualOptions{}) {
			t.Errorf("ScalarLike(%v, %v) = %v, %v", c.x, c.dt, got, ok)
		}
	}
}
