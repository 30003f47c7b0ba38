package inputs

import (
	"math"
	"reflect"
	"testing"
)

func TestStream(t *testing.T) {
	s := NewStream(3, 0)
	got := [4]uint64{s.Next(), s.Next(), s.Next(), s.Next()}
	want := [4]uint64{0x8b799c6bd5938297, 0x73d1d032c1995f4b, 0x21d59919934c397a, 0x5e6cde9649cd0e76}
	if got != want {
		t.Errorf("got %x, want %x", got, want)
	}
	values, splits := Ragged(3, 0, 1000)
	if len(splits) != 1001 || int(splits[1000]) != len(values) {
		t.Errorf("%d values, splits end at %d", len(values), splits[1000])
	}
	first := NewStream(3, 0)
	if int(splits[1]) != first.Below(21) || values[0] != NewStream(3, 1).Sym() {
		t.Error("the draws are not those of the streams")
	}
	for _, x := range values {
		if x < -1 || x >= 1 {
			t.Fatalf("%g is out of range", x)
		}
	}
	if x := Syms(8, 0, 3, 0.5); x[2] != Syms(8, 0, 3, 1)[2]/2 {
		t.Errorf("scaled: %v", x)
	}
	for _, i := range Belows(5, 0, 100, 7) {
		if i < 0 || i >= 7 {
			t.Fatalf("%d is out of range", i)
		}
	}
}

func TestSum(t *testing.T) {
	var c Sum
	Add(&c, []float32{1, -2, float32(math.NaN()), float32(math.Inf(1)), 3e38})
	Add(&c, []int64{3})
	if got, want := c.Checksum(), []float64{6, 1*1 - 2*2 + 3*6, 1*1 + 2*2 + 3*6}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	ones := make([]float64, 62)
	for i := range ones {
		ones[i] = 1
	}
	if got := Of(ones); got[1] != 2*31*32/2 {
		t.Errorf("the weights repeat: %v", got)
	}
}
