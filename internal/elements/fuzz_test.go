package elements

import (
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// FuzzElement reads elements of a cache that nobody has checked.
func FuzzElement(f *testing.F) {
	type row struct {
		V tenon.Value
		N int
		S []string
	}
	like := row{tensor.Scalar(1.5), 1, []string{"a"}}
	for _, v := range []tenon.Value{like.V, tensor.Of([]string{"x", "", "\xff"}), tensor.Of([]int16{1, 2, 3}), ragged.FromSlices([][]float32{{1}, {}, {2, 3}})} {
		b, err := Append(nil, row{v, 2, []string{"b"}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 4096 {
			return
		}
		x, err := Read(b, like)
		if err != nil {
			return
		}
		_ = fmt.Sprint(x)
		again, err := Append(nil, x)
		if err != nil {
			t.Fatal(err)
		}
		y, err := Read(again, like)
		if err != nil || !tenon.Equal(x.V.Spec(), y.V.Spec()) || x.N != y.N {
			t.Fatalf("%v is written and read as %v, %v", x, y, err)
		}
	})
}
