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
	var deep [][][]float32
	for r := range 600 {
		row := make([]float32, r*7%6)
		name := make([]string, len(row))
		for i := range row {
			row[i], name[i] = float32(r+i), string(rune('a'+r%26))
		}
		rows, names, deep = append(rows, row), append(names, name), append(deep, make([][]float32, r*3%5))
		for i := range deep[r] {
			deep[r][i] = row[:min(i, len(row))]
		}
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
				func(lo, hi int) *ragged.Tensor { return ragged.FromSlices2(deep[lo:hi]) },
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

// TestConcatOfDeepRows joins lists of rows along their middle axes, of strings and of numbers
// one level deeper.
func TestConcatOfDeepRows(t *testing.T) {
	type lists = [][][]string
	one, two := lists{{{"a"}, {}, {"b", "c"}}, {}, {{"d"}}, {{}}}, lists{{}, {{"e", "f"}}, {{}, {"g"}}, {}}
	words := func(x lists) tensor.Tensor { return tenon.Must(ragged.Const(x, ragged.Options{})) }
	// numbers makes a row of each word, of up to two of its letter.
	numbers := func(x lists) tensor.Tensor {
		out := make([][][][]int64, len(x))
		for i, list := range x {
			out[i] = make([][][]int64, len(list))
			for j, row := range list {
				out[i][j] = make([][]int64, len(row))
				for k, word := range row {
					out[i][j][k] = slices.Repeat([]int64{int64(word[0])}, int(word[0])%3)
				}
			}
		}
		return tenon.Must(ragged.Const(out, ragged.Options{}))
	}
	for _, made := range []func(x lists) tensor.Tensor{words, numbers} {
		for _, c := range []struct {
			axis  int
			parts []lists
			want  lists
		}{
			{1, []lists{one, two, one}, lists{{{"a"}, {}, {"b", "c"}, {"a"}, {}, {"b", "c"}}, {{"e", "f"}}, {{"d"}, {}, {"g"}, {"d"}}, {{}, {}}}},
			{1, []lists{two, one}, lists{{{"a"}, {}, {"b", "c"}}, {{"e", "f"}}, {{}, {"g"}, {"d"}}, {{}}}},
			{2, []lists{two, two}, lists{{}, {{"e", "f", "e", "f"}}, {{}, {"g", "g"}}, {}}},
		} {
			var parts []tensor.Tensor
			for _, p := range c.parts {
				parts = append(parts, made(p))
			}
			got, want := ops.Concat(parts, c.axis).(*ragged.Tensor), made(c.want).(*ragged.Tensor)
			if g, w := tenon.Must(got.Nested()), tenon.Must(want.Nested()); !reflect.DeepEqual(g, w) {
				t.Errorf("axis %d: got %v, want %v", c.axis, g, w)
			}
			if got.RaggedRank() != want.RaggedRank() {
				t.Errorf("axis %d: got ragged rank %d, want %d", c.axis, got.RaggedRank(), want.RaggedRank())
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
