package elementwise

import (
	"testing"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
)

func TestEveryTypeHasItsKernels(t *testing.T) {
	numbers := 0
	for _, dt := range dtype.All() {
		for _, op := range Ops() {
			f := BinaryOf(op, dt, VV)
			for _, form := range []Form{VS, SV} {
				if (BinaryOf(op, dt, form) == nil) != (f == nil) {
					t.Errorf("%v %v: form %d differs from the vector form", op, dt, form)
				}
			}
			if f != nil {
				numbers++
			}
			if op >= Equal && op <= NotEqual && dt != dtype.String && CompareOf(op, dt, VS) == nil {
				t.Errorf("%v %v: no comparison", op, dt)
			}
		}
		for _, from := range dtype.All() {
			none := dt == dtype.String || from == dtype.String
			if (CastOf(dt, from) == nil) != none {
				t.Errorf("cast to %v from %v: there is one: %v", dt, from, !none)
			}
		}
		if dt.IsFloat() {
			for op := Abs; op < Conj; op++ {
				if UnaryOf(op, dt) == nil {
					t.Errorf("%v %v: no kernel", op, dt)
				}
			}
		}
	}
	if numbers == 0 {
		t.Fatal("no kernels at all")
	}
}

func TestUntypedBinaryScalar(t *testing.T) {
	x := []int16{7, -7, 3, 0}
	y := int16(2)
	got := make([]int16, 4)
	if bad := BinaryOf(FloorDiv, dtype.Int16, VS)(unsafe.Pointer(&got[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y), 4); bad != -1 {
		t.Fatalf("bad element %d", bad)
	}
	want := []int16{3, -4, 1, 0}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("floor_div(%d, 2) = %d, want %d", x[i], got[i], want[i])
		}
	}
	if bad := BinaryOf(Mod, dtype.Int16, SV)(unsafe.Pointer(&got[0]), unsafe.Pointer(&y), unsafe.Pointer(&x[0]), 4); bad != 3 {
		t.Errorf("mod by zero reported at %d, want 3", bad)
	}
}
