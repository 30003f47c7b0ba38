package ragged_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// TestPaddingOfManyRows pads rows of which there are enough to be moved whole, and a few of
// them at a time.
func TestPaddingOfManyRows(t *testing.T) {
	var rows [][]float32
	var names [][]string
	for r := range 600 {
		row := make([]float32, r*7%6)
		name := make([]string, len(row))
		for i := range row {
			row[i], name[i] = float32(r+i), string(rune('a'+r%26))
		}
		rows, names = append(rows, row), append(names, name)
	}
	for _, o := range []ragged.PadOptions{{}, {Clip: true}} {
		for _, target := range []int{0, 3, 9} {
			pad := func(x *ragged.Tensor) (values, mask []any) {
				y := tenon.Must(ragged.PadMissing(x, target, 1, o)).(*masked.Tensor)
				filled, there := y.Values().(*ragged.Tensor), y.Mask().(*ragged.Tensor)
				return tenon.Must(filled.Nested()), tenon.Must(there.Nested())
			}
			for _, part := range []func(lo, hi int) *ragged.Tensor{
				func(lo, hi int) *ragged.Tensor { return ragged.FromSlices(rows[lo:hi]) },
				func(lo, hi int) *ragged.Tensor { return ragged.FromSlices(names[lo:hi]) },
			} {
				values, mask := pad(part(0, len(rows)))
				for lo := 0; lo < len(rows); lo += 10 {
					wantValues, wantMask := pad(part(lo, lo+10))
					if !reflect.DeepEqual(values[lo:lo+10], wantValues) || !reflect.DeepEqual(mask[lo:lo+10], wantMask) {
						t.Fatalf("%+v to %d: rows from %d are %v %v, want %v %v", o, target, lo, values[lo:lo+10], mask[lo:lo+10], wantValues, wantMask)
					}
				}
			}
		}
	}
}

// TestMeanDownManyRows compares means over rows with sums and numbers of rows.
func TestMeanDownManyRows(t *testing.T) {
	var rows [][]float64
	for r := range 400 {
		row := make([]float64, r*5%7)
		for i := range row {
			row[i] = float64(r * i)
		}
		rows = append(rows, row)
	}
	sums, counts := make([]float64, 6), make([]float64, 6)
	for _, row := range rows {
		for i, v := range row {
			sums[i] += v
			counts[i]++
		}
	}
	for i, n := range counts {
		sums[i] /= n
	}
	x := ragged.FromSlices(rows)
	if got := tensor.Data[float64](ops.Mean(x, 0)); !slices.Equal(got, sums) {
		t.Errorf("got %v, want %v", got, sums)
	}
}
