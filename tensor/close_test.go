package tensor_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func TestAllClose(t *testing.T) {
	of := func(x ...float64) tenon.Value { return tensor.Of(x) }
	rows := func(x ...float32) tenon.Value {
		return tenon.Must(ragged.FromRowSplits(tensor.Of(x), []int64{0, 1, 3}))
	}
	nan := math.NaN()
	for name, c := range map[string]struct {
		a, b tenon.Value
		o    tensor.CloseOptions
		want string // "": close
	}{
		"equal":             {of(1, 2), of(1, 2), tensor.CloseOptions{Exact: true}, ""},
		"near":              {of(1, 2), of(1, 2+1e-6), tensor.CloseOptions{}, ""},
		"exact":             {of(1, 2), of(1, 2+1e-6), tensor.CloseOptions{Exact: true}, "1 of 2"},
		"the worst":         {of(1, 2, 4), of(1.1, 2.1, 3), tensor.CloseOptions{}, "[2]: got 4, want 3: the distance 1 is beyond 1e-08 + 1e-05·|want|; 3 of 3"},
		"tolerance":         {of(1), of(1.1), tensor.CloseOptions{ATol: 0.2}, ""},
		"NaN":               {of(nan), of(nan), tensor.CloseOptions{}, "got NaN, want NaN"},
		"NaN allowed":       {of(nan), of(nan), tensor.CloseOptions{NaN: true}, ""},
		"infinite":          {of(math.Inf(1)), of(1e300), tensor.CloseOptions{RTol: 1}, "got +Inf"},
		"both infinite":     {of(math.Inf(1)), of(math.Inf(1)), tensor.CloseOptions{}, ""},
		"shape":             {of(1, 2), of(1), tensor.CloseOptions{}, "got float64[2], want float64[1]"},
		"type":              {of(1), tensor.Of([]float32{1}), tensor.CloseOptions{}, "float32[1]"},
		"integers":          {tensor.Of([]int8{1, 2}), tensor.Of([]int8{1, 3}), tensor.CloseOptions{ATol: 5}, "[1]: got 2, want 3"},
		"strings":           {tensor.Of([]string{"a", "b"}, 2, 1), tensor.Of([]string{"a", "c"}, 2, 1), tensor.CloseOptions{}, `[1 0]: got "b", want "c"`},
		"complex":           {tensor.Of([]complex64{1 + 2i}), tensor.Of([]complex64{1 + 3i}), tensor.CloseOptions{}, "got (1+2i), want (1+3i)"},
		"half":              {tensor.Of([]dtype.F16{dtype.F16From64(1)}), tensor.Of([]dtype.F16{dtype.F16From64(1.005)}), tensor.CloseOptions{}, ""},
		"rows":              {rows(1, 2, 3), rows(1, 2, 3.00001), tensor.CloseOptions{}, ""},
		"rows that differ":  {rows(1, 2, 3), rows(1, 2, 4), tensor.CloseOptions{}, "[2]: got 3, want 4"},
		"one of them a nil": {nil, of(1), tensor.CloseOptions{}, "nil"},
	} {
		err := tensor.AllClose(c.a, c.b, c.o)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (!errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestConvertKeepsTypeAndRankOfNothing(t *testing.T) {
	for _, c := range []struct {
		x    any
		want string
	}{
		{[][]float32{}, "float32[0, 0]"},
		{[][][2]int32{}, "int32[0, 0, 2]"},
		{[][]string{{}, {}}, "string[2, 0]"},
		{[][][]bool{{}, {}}, "bool[2, 0, 0]"},
		{[]uint8{}, "uint8[0]"},
		{[]any{}, "float64[0]"},
		{[][]any{}, "float64[0, 0]"},
	} {
		got, err := tensor.Convert(c.x)
		if err != nil || tenon.String(got.Spec()) != c.want {
			t.Errorf("%T: got %v, %v, want %s", c.x, got, err, c.want)
		}
	}
}
