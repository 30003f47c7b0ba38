package elementwise

import (
	"math"
	"math/cmplx"
	"testing"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
)

func TestDivisionByZero(t *testing.T) {
	x, y, dst := make([]int32, 5000), make([]int32, 5000), make([]int32, 5000)
	splat(y, 3)
	y[4321] = 0
	for _, op := range []Op{FloorDiv, Mod, TruncDiv, TruncMod} {
		if bad := Binary[int32](op)(dst, x, y); bad != 4321 {
			t.Errorf("%v reports %d, want 4321", op, bad)
		}
		if bad := BinarySV[int32](op)(dst, 1, y); bad != 4321 {
			t.Errorf("scalar %v reports %d, want 4321", op, bad)
		}
		if bad := BinaryVS[int32](op)(dst, x, 0); bad != 0 {
			t.Errorf("%v scalar reports %d, want 0", op, bad)
		}
		if bad := BinaryVS[int32](op)(nil, nil, 0); bad != -1 {
			t.Errorf("%v of nothing reports %d", op, bad)
		}
	}
	y[17] = -1
	if bad := Binary[int32](Pow)(dst, x, y); bad != 17 {
		t.Errorf("pow reports %d, want 17", bad)
	}
}

func TestIntegerBinary(t *testing.T) {
	for _, c := range []struct {
		op         Op
		x, y, want int8
	}{
		{FloorDiv, 7, 2, 3}, {FloorDiv, -7, 2, -4}, {FloorDiv, 7, -2, -4}, {FloorDiv, -7, -2, 3}, {FloorDiv, -128, -1, -128}, {FloorDiv, 6, -3, -2},
		{Mod, 7, 3, 1}, {Mod, -7, 3, 2}, {Mod, 7, -3, -2}, {Mod, -7, -3, -1}, {Mod, -128, -1, 0}, {Mod, 6, -3, 0},
		{TruncDiv, -7, 2, -3}, {TruncDiv, -128, -1, -128}, {TruncMod, -7, 3, -1}, {TruncMod, 7, -3, 1},
		{Pow, 2, 6, 64}, {Pow, 2, 7, -128}, {Pow, -3, 3, -27}, {Pow, 0, 0, 1}, {Pow, 5, 0, 1},
		{LeftShift, 1, 7, -128}, {LeftShift, 1, 8, 0}, {LeftShift, 1, -1, 0}, {RightShift, -128, 7, -1}, {RightShift, -1, 100, -1}, {RightShift, 64, 3, 8},
		{Add, 127, 1, -128}, {Mul, 64, 2, -128}, {Sub, -128, 1, 127}, {SquaredDifference, 3, 5, 4},
		{BitwiseAnd, 6, 3, 2}, {BitwiseOr, 6, 3, 7}, {BitwiseXor, 6, 3, 5}, {Maximum, -1, 1, 1}, {Minimum, -1, 1, -1},
	} {
		var dst [1]int8
		if bad := Binary[int8](c.op)(dst[:], []int8{c.x}, []int8{c.y}); bad != -1 || dst[0] != c.want {
			t.Errorf("%v(%d, %d) = %d (%d), want %d", c.op, c.x, c.y, dst[0], bad, c.want)
		}
	}
	for _, c := range []struct {
		op      Op
		x, want int8
	}{
		{Abs, -5, 5}, {Abs, -128, -128}, {Sign, -9, -1}, {Sign, 0, 0}, {Sign, 9, 1}, {Neg, -128, -128}, {Square, 16, 0}, {BitwiseNot, 5, -6},
		{Popcount, -1, 8}, {Popcount, 5, 2}, {Relu, -3, 0}, {Relu6, 100, 6}, {Floor, -3, -3},
	} {
		var dst [1]int8
		if Unary[int8](c.op)(dst[:], []int8{c.x}); dst[0] != c.want {
			t.Errorf("%v(%d) = %d, want %d", c.op, c.x, dst[0], c.want)
		}
	}
	eachFamily(t, func(t *testing.T) {
		a, b, c := make([]uint32, 40), make([]uint32, 40), make([]uint32, 40)
		for i := range a {
			a[i], b[i] = uint32(i), 0xfffffff0+uint32(i)
		}
		Binary[uint32](Sub)(c, a, b)
		for i, v := range c {
			if v != 16 {
				t.Fatalf("%d - %d = %d, want 16", a[i], b[i], v)
			}
		}
		d := make([]uint64, 40)
		splat(d, 1<<63+5)
		BinaryVS[uint64](Mul)(d, d, 2)
		if d[39] != 10 {
			t.Errorf("(2^63+5)·2 = %d, want 10", d[39])
		}
	})
	var u [1]uint8
	Binary[uint8](RightShift)(u[:], []uint8{200}, []uint8{1})
	if u[0] != 100 {
		t.Errorf("uint8 200 >> 1 = %d", u[0])
	}
	Unary[uint8](Sign)(u[:], u[:])
	if u[0] != 1 {
		t.Errorf("sign(100) = %d", u[0])
	}
}

func TestFloatBinary(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct {
		op         Op
		x, y, want float64
	}{
		{FloorDiv, 7, 3, 2}, {FloorDiv, -7, 3, -3}, {FloorDiv, 5.5, -0.5, -11}, {FloorDiv, 1, 0.1, 9}, {FloorDiv, 1, 0, inf}, {FloorDiv, -1, inf, -1}, {FloorDiv, 0, -3, zero},
		{Mod, -7, 3, 2}, {Mod, 7, -3, -2}, {Mod, 5.5, -0.5, zero}, {Mod, -6, 3, 0}, {Mod, 1, 0, nan}, {Mod, -1, inf, inf},
		{TruncDiv, -7, 2, -3}, {TruncMod, -7, 3, -1},
		{Maximum, zero, 0, 0}, {Maximum, 0, zero, 0}, {Minimum, 0, zero, zero}, {Minimum, zero, 0, zero}, {Maximum, nan, inf, nan}, {Maximum, inf, nan, nan}, {Minimum, nan, -inf, nan},
		{Xlogy, 0, 0, 0}, {Xlogy, 0, inf, 0}, {Xlogy, 0, nan, nan}, {Xlogy, 2, 0, -inf}, {Xlog1py, 0, -1, 0}, {Xlog1py, 3, 0, 0},
		{LogAddExp, -inf, 2, 2}, {LogAddExp, -inf, -inf, -inf}, {LogAddExp, inf, inf, inf}, {LogAddExp, inf, -inf, inf}, {LogAddExp, 700, -700, 700}, {LogAddExp, nan, -inf, nan},
		{NextAfter, 1, 2, 1.0000000000000002}, {NextAfter, 0, zero, zero}, {NextAfter, 0, -1, -5e-324}, {NextAfter, 1, nan, nan},
		{LeakyRelu, -2, 0.5, -1}, {LeakyRelu, 2, 0.5, 2}, {LeakyRelu, nan, 0.5, nan}, {Elu, 2, 3, 2}, {Elu, -inf, 3, -3},
		{Pow, -8, 3, -512}, {Pow, -8, 0.5, nan}, {Pow, 0, -2, inf}, {Pow, nan, 0, 1}, {Pow, 1, nan, 1},
		{Atan2, 0, -1, math.Pi}, {Hypot, 3, 4, 5}, {Hypot, inf, nan, inf}, {SquaredDifference, 1, 4, 9}, {Div, 1, zero, -inf},
	} {
		eachFamily(t, func(t *testing.T) {
			var dst [1]float64
			if Binary[float64](c.op)(dst[:], []float64{c.x}, []float64{c.y}); !same(dst[0], c.want) {
				t.Errorf("%v(%v, %v) = %v, want %v", c.op, c.x, c.y, dst[0], c.want)
			}
			if c.op == NextAfter {
				return
			}
			var d32 [1]float32
			if Binary[float32](c.op)(d32[:], []float32{float32(c.x)}, []float32{float32(c.y)}); !same(d32[0], float32(c.want)) && c.y != 0.1 {
				t.Errorf("float32 %v(%v, %v) = %v, want %v", c.op, c.x, c.y, d32[0], c.want)
			}
		})
	}
}

func TestHalf(t *testing.T) {
	h := func(v float32) dtype.F16 { return dtype.F16From(v) }
	var dst [1]dtype.F16
	Binary[dtype.F16](Add)(dst[:], []dtype.F16{h(2048)}, []dtype.F16{h(1)})
	if dst[0] != h(2048) { // 2049 is halfway: to even
		t.Errorf("2048 + 1 = %v", dst[0])
	}
	Unary[dtype.F16](Neg)(dst[:], []dtype.F16{0})
	if dst[0] != 0x8000 {
		t.Errorf("-0 = %#x", uint16(dst[0]))
	}
	for _, c := range []struct{ x, y, want dtype.F16 }{
		{0, h(1), 1}, {0x8000, h(1), 1}, {0, h(-1), 0x8001}, {1, h(-1), 0}, {0x8001, h(1), 0x8000}, {h(1), h(2), 0x3c01}, {h(1), 0, 0x3bff},
		{0x7bff, 0x7c00, 0x7c00}, {0x7c00, 0, 0x7bff}, {0x7e00, 0, 0x7e00}, {0, 0x8000, 0x8000}, {h(-2), h(-1), 0xbfff},
	} {
		if Binary[dtype.F16](NextAfter)(dst[:], []dtype.F16{c.x}, []dtype.F16{c.y}); dst[0] != c.want {
			t.Errorf("nextafter(%#x, %#x) = %#x, want %#x", uint16(c.x), uint16(c.y), uint16(dst[0]), uint16(c.want))
		}
	}
	var b [3]bool
	x := []dtype.BF16{0x7f80, 0x7fc0, 0x3f80}
	for op, want := range map[Op][3]bool{IsNaN: {false, true, false}, IsInf: {true, false, false}, IsFinite: {false, false, true}} {
		if Predicate[dtype.BF16](op)(b[:], x); b != want {
			t.Errorf("%v: %v", op, b)
		}
	}
	if Compare[dtype.BF16](Less)(b[:], x, []dtype.BF16{0, 0, 0x4000}); b != [3]bool{false, false, true} {
		t.Errorf("less: %v", b)
	}
	NaNToNum(x, x, 5, 6, 7)
	if [3]dtype.BF16(x) != [3]dtype.BF16{6, 5, 0x3f80} {
		t.Errorf("nan_to_num: %v", x)
	}
}

func TestComplex(t *testing.T) {
	x := complex(1.5, -2.25)
	for op, f := range map[Op]func(complex128) complex128{
		Exp: cmplx.Exp, Log: cmplx.Log, Sqrt: cmplx.Sqrt, Sin: cmplx.Sin, Cos: cmplx.Cos, Tanh: cmplx.Tanh, Conj: cmplx.Conj,
		Neg:     func(x complex128) complex128 { return -x },
		Expm1:   func(x complex128) complex128 { return cmplx.Exp(x) - 1 },
		Log1p:   func(x complex128) complex128 { return cmplx.Log(1 + x) },
		Sigmoid: func(x complex128) complex128 { return 1 / (1 + cmplx.Exp(-x)) },
	} {
		var dst [1]complex128
		if Unary[complex128](op)(dst[:], []complex128{x}); cmplx.Abs(dst[0]-f(x)) > 1e-14 {
			t.Errorf("%v(%v) = %v, want %v", op, x, dst[0], f(x))
		}
		var d64 [1]complex64
		if Unary[complex64](op)(d64[:], []complex64{complex64(x)}); cmplx.Abs(complex128(d64[0])-f(x)) > 1e-5 {
			t.Errorf("complex64 %v(%v) = %v, want %v", op, x, d64[0], f(x))
		}
	}
	var small [1]complex128
	if Unary[complex128](Expm1)(small[:], []complex128{1e-20 + 1e-20i}); small[0] != 1e-20+1e-20i {
		t.Errorf("expm1 of a small number = %v", small[0])
	}
	if Unary[complex128](Log1p)(small[:], []complex128{1e-20}); small[0] != 1e-20 {
		t.Errorf("log1p of a small number = %v", small[0])
	}
	var r [1]float32
	for op, want := range map[Op]float32{RealPart: 3, ImagPart: -4, Modulus: 5, Angle: float32(math.Atan2(-4, 3))} {
		UnaryOf(op, dtype.Complex64)(unsafe.Pointer(&r[0]), unsafe.Pointer(&[]complex64{3 - 4i}[0]), 1)
		if r[0] != want {
			t.Errorf("%v(3-4i) = %v, want %v", op, r[0], want)
		}
	}
	var c [1]complex64
	Complex(c[:], []float32{1}, []float32{2})
	if c[0] != 1+2i {
		t.Errorf("complex(1, 2) = %v", c[0])
	}
	if Compare[complex64](Less) != nil || Binary[complex64](Maximum) != nil {
		t.Error("complex numbers have no order")
	}
	var b [1]bool
	if Compare[complex64](NotEqual)(b[:], c[:], []complex64{1}); !b[0] {
		t.Error("1+2i != 1")
	}
}

func TestBool(t *testing.T) {
	x, y := []bool{false, false, true, true}, []bool{false, true, false, true}
	for op, want := range map[Op][4]bool{
		LogicalAnd: {false, false, false, true}, LogicalOr: {false, true, true, true}, LogicalXor: {false, true, true, false},
		Maximum: {false, true, true, true}, Minimum: {false, false, false, true},
	} {
		var dst [4]bool
		if Binary[bool](op)(dst[:], x, y); dst != want {
			t.Errorf("%v = %v, want %v", op, dst, want)
		}
	}
	var dst [4]bool
	if Compare[bool](Less)(dst[:], x, y); dst != [4]bool{false, true, false, false} {
		t.Errorf("less = %v", dst)
	}
	if CompareVS[bool](Equal)(dst[:], x, true); dst != [4]bool{false, false, true, true} {
		t.Errorf("equal true = %v", dst)
	}
	if Unary[bool](LogicalNot)(dst[:], x); dst != [4]bool{true, true, false, false} {
		t.Errorf("not = %v", dst)
	}
}

func TestNaNToNum(t *testing.T) {
	x := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 3}
	NaNToNum(x, x, 1, 2, -2)
	if [4]float64(x) != [4]float64{1, 2, -2, 3} {
		t.Errorf("got %v", x)
	}
	var angle [3]float32
	UnaryOf(Angle, dtype.Float32)(unsafe.Pointer(&angle[0]), unsafe.Pointer(&[]float32{-1, 2, float32(math.NaN())}[0]), 3)
	if angle[0] != math.Pi || angle[1] != 0 || angle[2] == angle[2] {
		t.Errorf("angle: %v", angle)
	}
}

func TestNamesAreDistinct(t *testing.T) {
	seen := map[string]Op{}
	for _, op := range Ops() {
		name := op.String()
		if name == "" {
			t.Errorf("operation %d has no name", op)
		}
		if other, ok := seen[name]; ok {
			t.Errorf("%d and %d are both called %s", op, other, name)
		}
		seen[name] = op
	}
	if got := Op(250).String(); got != "elementwise.Op(250)" {
		t.Error(got)
	}
}
