package tensor

import (
	"math"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

func TestEqual(t *testing.T) {
	nan := math.NaN()
	same := EqualOptions{NaN: true}
	for _, c := range []struct {
		name string
		a, b tenon.Value
		o    EqualOptions
		want bool
	}{
		{"nil", nil, nil, EqualOptions{}, true},
		{"nil and a tensor", nil, Scalar(1), EqualOptions{}, false},
		{"numbers", Of([]int{1, 2}), Of([]int{1, 2}), EqualOptions{}, true},
		{"other numbers", Of([]int{1, 2}), Of([]int{1, 3}), EqualOptions{}, false},
		{"types", Of([]int32{1}), Of([]int64{1}), EqualOptions{}, false},
		{"shapes", Of([]int{1, 2}), Of([]int{1, 2}, 2, 1), EqualOptions{}, false},
		{"NaN", Scalar(nan), Scalar(nan), EqualOptions{}, false},
		{"NaN asked for", Scalar(nan), Scalar(nan), same, true},
		{"NaN and a number", Scalar(nan), Scalar(1.0), same, false},
		{"float32 NaN", Scalar(float32(nan)), Scalar(float32(nan)), same, true},
		{"float16 NaN", Scalar(dtype.F16From(float32(nan))), Scalar(dtype.F16(0xfe01)), same, true},
		{"bfloat16 zeros", Scalar(dtype.BF16(0)), Scalar(dtype.BF16(0x8000)), EqualOptions{}, true},
		{"zeros", Scalar(0.0), Scalar(math.Copysign(0, -1)), EqualOptions{}, true},
		{"complex NaN", Scalar(complex(nan, 1)), Scalar(complex(nan, 1)), same, true},
		{"complex", Scalar(complex64(1i)), Scalar(complex64(2i)), same, false},
		{"strings", Of([]string{"a", "b"}), Of([]string{"a", "b"}), EqualOptions{}, true},
		{"other strings", Of([]string{"ab", ""}), Of([]string{"a", "b"}), EqualOptions{}, false},
		{"strings and numbers", Of([]string{"a"}), Of([]int{1}), EqualOptions{}, false},
		{"numbers and strings", Of([]int{1}), Of([]string{"a"}), EqualOptions{}, false},
		{"a view", Vector([]int{1, 2}).View(1, shape.Of(2), []int{-1}), Of([]int{2, 1}), EqualOptions{}, true},
	} {
		if got := Equal(c.a, c.b, c.o); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	spec := tenon.NewOpaque("example.com/x.T", tenon.Int(1), []tenon.Field{{Name: "a", Spec: NewSpec(dtype.Int64, shape.Of(1))}})
	make := func(x int) tenon.Value {
		v, err := spec.Assemble([]tenon.Value{Of([]int{x})})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if !Equal(make(1), make(1), EqualOptions{}) || Equal(make(1), make(2), EqualOptions{}) || Equal(make(1), Scalar(1), EqualOptions{}) {
		t.Error("values made of components")
	}
}
