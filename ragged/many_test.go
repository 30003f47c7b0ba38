package ragged_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
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

// TestTuplesOfManyRows chooses some of each row, and one of each of two rows, of numbers and
// of strings.
func TestTuplesOfManyRows(t *testing.T) {
	var rows [][]int64
	var names [][]string
	for r := range 400 {
		row := make([]int64, r*5%8)
		name := make([]string, len(row))
		for i := range row {
			row[i], name[i] = int64(10*r+i), string(rune('a'+(r+i)%26))
		}
		rows, names = append(rows, row), append(names, name)
	}
	x, words := ragged.FromSlices(rows), ragged.FromSlices(names)
	// ways lists the positions of combinations of n of m.
	var ways func(m, n, from int, again bool) [][]int
	ways = func(m, n, from int, again bool) (out [][]int) {
		if n == 0 {
			return [][]int{nil}
		}
		for i := from; i < m; i++ {
			next := i + 1
			if again {
				next = i
			}
			for _, rest := range ways(m, n-1, next, again) {
				out = append(out, append([]int{i}, rest...))
			}
		}
		return out
	}
	same := func(what string, got tensor.Tensor, want any) {
		t.Helper()
		w := tenon.Must(want.(*ragged.Tensor).Nested())
		if g := tenon.Must(got.(*ragged.Tensor).Nested()); !reflect.DeepEqual(g, w) {
			t.Errorf("%s: got %v, want %v", what, g, w)
		}
	}
	for n := 1; n <= 4; n++ {
		for _, o := range []ragged.CombinationOptions{{}, {Replacement: true}} {
			numbers, texts, places := make([][][]int64, n), make([][][]string, n), make([][][]int64, n)
			for r, row := range rows {
				for d := range n {
					numbers[d], texts[d], places[d] = append(numbers[d], nil), append(texts[d], nil), append(places[d], nil)
				}
				for _, way := range ways(len(row), n, 0, o.Replacement) {
					for d, i := range way {
						numbers[d][r], texts[d][r], places[d][r] = append(numbers[d][r], row[i]), append(texts[d][r], names[r][i]), append(places[d][r], int64(i))
					}
				}
			}
			gotNumbers, gotTexts := tenon.Must(ragged.Combinations(x, n, 1, o)), tenon.Must(ragged.Combinations(words, n, 1, o))
			gotPlaces := tenon.Must(ragged.ArgCombinations(words, n, 1, o))
			for d := range n {
				same("numbers", gotNumbers[d], ragged.FromSlices(numbers[d]))
				same("strings", gotTexts[d], ragged.FromSlices(texts[d]))
				same("positions", gotPlaces[d], ragged.FromSlices(places[d]))
			}
		}
	}
	backwards := ops.Index(words, key.Range(nil, nil, -1))
	firsts, seconds, nested := make([][]int64, len(rows)), make([][]string, len(rows)), make([][][]int64, len(rows))
	for r, row := range rows {
		other := names[len(names)-1-r]
		for _, v := range row {
			again := slices.Repeat([]int64{v}, len(other))
			firsts[r], seconds[r], nested[r] = append(firsts[r], again...), append(seconds[r], other...), append(nested[r], again)
		}
	}
	got := tenon.Must(ragged.Cartesian([]tensor.Tensor{x, backwards}, 1, ragged.CartesianOptions{}))
	same("first of a product", got[0], ragged.FromSlices(firsts))
	same("second of a product", got[1], ragged.FromSlices(seconds))
	got = tenon.Must(ragged.Cartesian([]tensor.Tensor{x, backwards}, 1, ragged.CartesianOptions{Nested: true}))
	same("first of a nested product", got[0], ragged.FromSlices2(nested))
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
