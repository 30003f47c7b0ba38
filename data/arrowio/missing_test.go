package arrowio_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// What a Spec says is there has to be there, at each depth.
func TestMissingElementsNeedAMask(t *testing.T) {
	numbers := tensor.Of([]int64{1, 2, 3}, 3)
	lists := must(ragged.FromRowSplits(numbers, []int64{0, 2, 3}))
	inside := must(ragged.FromRowSplits(must(masked.New(numbers, tensor.Of([]bool{true, false, true}, 3))), []int64{0, 2, 3}))
	words := must(structured.EncodeStrings([]string{"a", "b", "a"}))
	dense := func(d dtype.DType) tenon.Spec { return tensor.NewSpec(d, shape.Of(-1)) }
	rows := must(ragged.NewSpec(dtype.Int64, shape.Of(-1, -1), 1, dtype.Int64))
	for _, c := range []struct {
		name   string
		column tensor.Tensor
		spec   tenon.Spec
		fits   bool
	}{
		{"numbers", numbers, dense(dtype.Int64), true},
		{"optional numbers", must(masked.New(numbers, tensor.Of([]bool{true, false, true}, 3))), dense(dtype.Int64), false},
		{"optional numbers, all there", must(masked.New(numbers, tensor.Of([]bool{true, true, true}, 3))), dense(dtype.Int64), true},
		{"optional numbers as such", must(masked.New(numbers, tensor.Of([]bool{true, false, true}, 3))), must(masked.NewSpec(dense(dtype.Int64), 1)), true},
		{"lists", lists, rows, true},
		{"optional lists", must(masked.New(lists, tensor.Of([]bool{true, false}, 2))), rows, false},
		{"lists of optional numbers", inside, rows, false},
		{"words of a dictionary", words, dense(dtype.String), true},
	} {
		v := must(structured.FromFields([]structured.Field{{Name: "x", Value: c.column}}, shape.Of(c.column.Shape().Dim(0)), structured.Options{}))
		var b bytes.Buffer
		if err := arrowio.Encode(&b, v, arrowio.WriteOptions{Stream: true, Plain: true}); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		want := must(structured.NewSpec(shape.Of(-1), []tenon.Field{{Name: "x", Spec: c.spec}}))
		got, err := arrowio.Decode(b.Bytes(), arrowio.ReadOptions{Spec: want})
		switch {
		case !c.fits && !errors.Is(err, tenon.ErrDType):
			t.Errorf("%s: %v, %v, want an error of kind ErrDType", c.name, got, err)
		case c.fits && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.fits && !tenon.Compatible(got.Spec(), want):
			t.Errorf("%s: %s, want %s", c.name, tenon.String(got.Spec()), tenon.String(want))
		}
	}
}

// Lists of several sizes are no axis of a tensor, though there may be as many elements.
func TestListsThatAreNoAxis(t *testing.T) {
	for _, splits := range [][]int64{{0, 2, 2}, {0, 0, 2}, {0, 1, 2}} {
		x := must(ragged.FromRowSplits(of([]int32{1, 2}), splits))
		for _, s := range []tenon.Spec{tensor.NewSpec(dtype.Int32, shape.Of(2)), tensor.NewSpec(dtype.Int32, shape.Of(-1)), tensor.NewSpec(dtype.Int32, shape.Of(-1, 1))} {
			v, err := arrowio.Decode(encoded(t, x, arrowio.WriteOptions{Plain: true}), arrowio.ReadOptions{Spec: s})
			if s.(*tensor.Spec).Shape().Rank() == 2 && splits[1] == 1 {
				if err != nil || !tenon.Compatible(v.Spec(), s) {
					t.Errorf("%v as %v: %v, %v", splits, s, v, err)
				}
			} else if !errors.Is(err, tenon.ErrDType) {
				t.Errorf("%v as %v: %v, %v", splits, s, v, err)
			}
		}
	}
}
