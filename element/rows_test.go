package element_test

import (
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// Row splits are no elements: what is compared in rows are the values alone, however they are stored.
func TestOrderInRows(t *testing.T) {
	for _, typ := range []element.Type{element.DecimalOf(30, 2), element.DecimalOf(9, 2)} {
		x := tenon.Must(ragged.FromRowSplits(tenon.Must(element.Parse([]string{"3.00", "1.25", "2.50", "9.75", "9.75", "-1.00"}, typ)), []int64{0, 2, 2, 6}))
		if got, want := fmt.Sprint(nested(ops.ArgSort(x, 1, ops.SortOptions{}))), "[[1 0] [] [3 0 1 2]]"; got != want {
			t.Errorf("%v: order %s, want %s", typ, got, want)
		}
		if got, want := fmt.Sprint(nested(tenon.Must(ragged.RunLengths(x)))), "[[1 1] [] [1 2 1]]"; got != want {
			t.Errorf("%v: runs %s, want %s", typ, got, want)
		}
	}
}

func nested(x tensor.Tensor) any { return tenon.Must(x.(*ragged.Tensor).Plain()) }
