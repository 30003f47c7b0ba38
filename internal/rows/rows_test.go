package rows_test

import (
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// R has a field whose rows differ in length.
type R struct {
	X tensor.Tensor
	R *ragged.Tensor
}

func (v R) Spec() tenon.Spec { return ext.SpecOf(v) }

func init() { ext.Register[R]("rows_test.R") }

func TestStackIsBelowTheSpecOfABatch(t *testing.T) {
	a, b := ragged.FromSlices([][]float64{{1}, {2, 3}}), ragged.FromSlices([][]float64{{1, 5}, {2, 3}})
	x := tensor.Tensor(tensor.Of([]float64{1, 2}))
	for _, pair := range [][2]tenon.Value{{R{x, a}, R{x, b}}, {a, b}, {x, x}} {
		s := tenon.Must(ext.Stack(pair[0], pair[1]))
		merged, _ := tenon.Merge(pair[0].Spec(), pair[1].Spec())
		want := tenon.Must(merged.(tenon.Batcher).Batched(2))
		if !tenon.Subtype(s.Spec(), want) {
			t.Errorf("the Spec of a batch is %s, not below %s", tenon.Text(s.Spec()), tenon.Text(want))
		}
		for i, v := range pair {
			row := tenon.Must(ext.Row(s, i))
			if fmt.Sprint(row) != fmt.Sprint(v) {
				t.Errorf("row %d is %v, want %v", i, row, v)
			}
		}
	}
}
