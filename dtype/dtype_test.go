package dtype

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNamesAndSizes(t *testing.T) {
	if n := len(All()); n != 16 {
		t.Errorf("there are %d element types", n)
	}
	for _, d := range All() {
		if back, err := Parse(d.String()); err != nil || back != d {
			t.Errorf("Parse(%q) = %v, %v", d.String(), back, err)
		}
		if d != String && uintptr(d.Size()) != d.GoType().Size() {
			t.Errorf("%v has %d bytes, its Go type %d", d, d.Size(), d.GoType().Size())
		}
		if OfType(d.GoType()) != d {
			t.Errorf("the Go type of %v is that of %v", d, OfType(d.GoType()))
		}
		classes := 0
		for _, is := range []bool{d.IsBool(), d.IsSigned(), d.IsUnsigned(), d.IsFloat(), d.IsComplex(), d.IsString()} {
			if is {
				classes++
			}
		}
		if classes != 1 || !d.IsValid() {
			t.Errorf("%v belongs to %d classes", d, classes)
		}
	}
	if _, err := Parse("float"); err == nil {
		t.Error("float is accepted")
	}
	if d := DType(200); d.IsValid() || d.String() != "dtype(200)" || d.Size() != 0 || d.GoType() != nil || d.IsNumeric() {
		t.Errorf("an undeclared type is %v", d)
	}
}

func TestOf(t *testing.T) {
	type celsius float32
	type id uint
	for _, c := range []struct{ got, want DType }{
		{Of[int](), Int64}, {Of[int8](), Int8}, {Of[uint16](), Uint16}, {Of[F16](), Float16}, {Of[BF16](), BFloat16},
		{Of[celsius](), Float32}, {Of[string](), String}, {Of[bool](), Bool}, {Of[complex64](), Complex64},
		{OfType(reflect.TypeFor[id]()), Uint64}, {OfType(reflect.TypeFor[[]int]()), None}, {OfType(nil), None},
		{Complex64.Real(), Float32}, {Int8.Real(), Int8}, {Float64.Complex(), Complex128}, {Int8.Complex(), None},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

func TestPromote(t *testing.T) {
	for _, c := range []struct{ a, b, want DType }{
		{Bool, Int8, Int8},
		{Int32, Uint32, Int64},
		{Int8, Uint8, Int16},
		{Int64, Uint8, Int64},
		{Int64, Float32, Float32},
		{Uint64, Float16, Float16},
		{Float16, BFloat16, Float32},
		{Float32, BFloat16, Float32},
		{Float64, Complex64, Complex128},
		{Float32, Complex64, Complex64},
		{Int64, Complex64, Complex64},
		{Uint8, Uint32, Uint32},
		{Uint64, Uint8, Uint64},
		{Bool, Complex128, Complex128},
		{Uint64, Int8, None},
		{Uint64, Int64, None},
		{String, Int8, None},
		{Bool, String, None},
		{None, Int8, None},
	} {
		got, err := Promote(c.a, c.b)
		if got != c.want || (err != nil) != (c.want == None) {
			t.Errorf("Promote(%v, %v) = %v, %v, want %v", c.a, c.b, got, err, c.want)
		}
	}
}

// TestPromotionLaws checks that promotion is the join of a lattice.
func TestPromotionLaws(t *testing.T) {
	all := All()
	promote := func(a, b DType) DType {
		d, err := Promote(a, b)
		if err != nil {
			return None
		}
		return d
	}
	for _, a := range all {
		if promote(a, a) != a {
			t.Errorf("%v with itself is %v", a, promote(a, a))
		}
		for _, b := range all {
			ab := promote(a, b)
			if ab != promote(b, a) {
				t.Errorf("%v and %v do not commute", a, b)
			}
			if ab != None && (promote(a, ab) != ab || promote(b, ab) != ab) {
				t.Errorf("%v is not above %v and %v", ab, a, b)
			}
			for _, c := range all {
				x, y := promote(ab, c), promote(a, promote(b, c))
				if ab != None && promote(b, c) != None && x != None && y != None && x != y {
					t.Errorf("%v, %v, %v: %v or %v", a, b, c, x, y)
				}
			}
		}
	}
}

// TestHalfIsExact reads every half-precision number and writes it again.
func TestHalfIsExact(t *testing.T) {
	for i := range 1 << 16 {
		h, b := F16(i), BF16(i)
		f, g := h.Float32(), b.Float32()
		if f == f {
			if F16From(f) != h || F16From64(float64(f)) != h {
				t.Fatalf("float16 %#x is %g, which is %#x", i, f, F16From(f))
			}
		} else if x := F16From(f).Float32(); x == x {
			t.Fatalf("float16 %#x is no longer NaN", i)
		}
		if g == g {
			if BF16From(g) != b || BF16From64(float64(g)) != b {
				t.Fatalf("bfloat16 %#x is %g, which is %#x", i, g, BF16From(g))
			}
		} else if x := BF16From(g).Float32(); x == x {
			t.Fatalf("bfloat16 %#x is no longer NaN", i)
		}
	}
}

// nearestHalf finds the nearest number of a format by bisection over its
// positive numbers, ties to even.
func nearestHalf(x float64, value func(uint16) float64, inf uint16) uint16 {
	lo, hi := uint16(0), inf
	a := math.Abs(x)
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; value(mid) <= a {
			lo = mid
		} else {
			hi = mid
		}
	}
	below, above := value(lo), value(hi)
	if hi == inf { // the number that would follow the largest
		above = below + (below - value(lo-1))
	}
	out := lo
	if d, e := a-below, above-a; d > e || d == e && lo&1 == 1 {
		out = hi
	}
	if math.Signbit(x) {
		out |= 0x8000
	}
	return out
}

func TestHalfRounding(t *testing.T) {
	f16 := func(h uint16) float64 { return float64(F16(h).Float32()) }
	bf16 := func(h uint16) float64 { return float64(BF16(h).Float32()) }
	for _, x := range []float64{0, math.Copysign(0, -1), 65504, 65519.99, 65520, 65536, 1e9, 0x1p-24, 0x1p-25, 0x1.8p-25, 0x1p-14, 0x1.ffcp-15, 1 + 0x1p-11, 1 + 0x3p-11, 1 + 0x1p-11 + 0x1p-40, 3.4e38, 0x1p-133, 0x1p-134} {
		checkHalf(t, x, f16, bf16)
		checkHalf(t, -x, f16, bf16)
	}
	rapid.Check(t, func(r *rapid.T) {
		x := math.Ldexp(rapid.Float64Range(-2, 2).Draw(r, "x"), rapid.IntRange(-30, 18).Draw(r, "exponent"))
		checkHalf(r, x, f16, bf16)
	})
	if h := F16From(float32(math.Inf(-1))); h != 0xfc00 {
		t.Errorf("-inf is %#x", h)
	}
}

func checkHalf(t interface{ Errorf(string, ...any) }, x float64, f16, bf16 func(uint16) float64) {
	if got, want := F16From64(x), nearestHalf(x, f16, 0x7c00); uint16(got) != want {
		t.Errorf("float16 of %g is %#x, want %#x", x, got, want)
	}
	if got, want := BF16From64(x), nearestHalf(x, bf16, 0x7f80); uint16(got) != want {
		t.Errorf("bfloat16 of %g is %#x, want %#x", x, got, want)
	}
	if f := float32(x); float64(f) == x && !math.IsInf(x, 0) {
		if F16From(f) != F16From64(x) || BF16From(f) != BF16From64(x) {
			t.Errorf("rounding %g from float32 differs", x)
		}
	}
}

func TestHalfText(t *testing.T) {
	if s := F16From(0.5).String() + " " + BF16From(-2).String(); s != "0.5 -2" {
		t.Errorf("got %s", s)
	}
}

// Types are names in JSON, as values and as keys.
func TestTextOfTypes(t *testing.T) {
	type column struct {
		Type  DType
		Sizes map[DType]int
	}
	want := column{BFloat16, map[DType]int{Int64: 8, String: 0}}
	b, err := json.Marshal(want)
	if got := string(b); err != nil || got != `{"Type":"bfloat16","Sizes":{"int64":8,"string":0}}` {
		t.Errorf("%s, %v", got, err)
	}
	var back column
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, want) {
		t.Errorf("got back %v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"Type":"float31"}`), &back); err == nil || !strings.Contains(err.Error(), "float31") {
		t.Errorf("a type that does not exist: %v", err)
	}
	if _, err := json.Marshal(DType(200)); err == nil {
		t.Error("a number that is no type is written")
	}
}
