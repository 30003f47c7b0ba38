package nn_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// The numbers are those of scikit-learn's StandardScaler, MinMaxScaler and MaxAbsScaler.
func TestScalers(t *testing.T) {
	x := tensor.Of([]float64{1, -2, 7, 3, 4, 7, 5, -8, 7}, 3, 3)
	s := math.Sqrt(24)
	for how, want := range map[nn.Scaling][]float64{
		nn.Standard: {-2 / math.Sqrt(8.0/3), 0, 0, 0, 6 / s, 0, 2 / math.Sqrt(8.0/3), -6 / s, 0},
		nn.MinMax:   {0, 0.5, 0, 0.5, 1, 0, 1, 0, 0},
		nn.MaxAbs:   {0.2, -0.25, 1, 0.6, 0.5, 1, 1, -1, 1},
		nn.Unscaled: {1, -2, 7, 3, 4, 7, 5, -8, 7},
	} {
		// Seen at once, row by row, in two streams, and as rows of different lengths.
		each := nn.NewMoments(3)
		for _, row := range ops.Unstack(x, 0) {
			each = each.Update(ops.ExpandDims(row, 0))
		}
		first, rest := nn.NewMoments(3).Update(ops.Index(x, 0)), nn.NewMoments(3).Update(ops.Slice(x, []int{1, 0}, []int{2, 3}))
		rows := tenon.Must(ragged.FromRowLengths(x, []int64{2, 0, 1}))
		traced := function.New(func(x tensor.Tensor) nn.Moments { return nn.NewMoments(3).Update(x) }, function.Options{}).Call(x)
		for i, m := range []nn.Moments{nn.NewMoments(3).Update(x), each, first.Merge(rest), nn.NewMoments(3).Update(rows), traced, nn.NewMoments(3).Merge(each)} {
			l := m.Scaler(how, dtype.Float64)
			y := l.Apply(x)
			if err := tensor.AllClose(y, tensor.Of(want, 3, 3)); err != nil {
				t.Errorf("%q, stream %d: %v", how, i, err)
			}
			if err := tensor.AllClose(l.Inverse(y), x); err != nil {
				t.Errorf("%q: %v", how, err)
			}
			if got, _ := l.Apply(rows).(*ragged.Tensor); got == nil || tensor.AllClose(got.FlatValues(), y) != nil {
				t.Errorf("%q of rows: %v", how, got)
			}
		}
	}
	if v := nn.NewMoments(1).Variance(); !math.IsNaN(tensor.Item[float64](ops.Index(v, 0))) {
		t.Errorf("the variance of nothing is %v", v)
	}
	same := ops.Fill([]int{1001, 1}, 1e8/3) // its sum is rounded
	if y := nn.NewMoments(1).Update(same).Update(same).Scaler(nn.Standard, dtype.Float64).Apply(tensor.Of([]float64{5}, 1, 1)); tensor.Data[float64](y)[0] != 0 {
		t.Errorf("a constant feature is scaled to %v", y)
	}
	// Nothing seen scales nothing.
	if y := nn.NewMoments(1).Scaler(nn.MinMax).Apply(tensor.Of([]float32{3})); tensor.Data[float32](y)[0] != 3 {
		t.Errorf("scaled by nothing: %v", y)
	}
}

func TestMomentsLeaveOutWhatIsMissing(t *testing.T) {
	nan := math.NaN()
	want := nn.NewMoments(2).Update(tensor.Of([]float64{1, 2, 3, 6}, 2, 2))
	gappy := tensor.Of([]float64{1, 2, nan, nan, 3, 6}, 3, 2)
	hidden := tenon.Must(masked.New(tensor.Of([]float64{1, 2, 99, -99, 3, 6}, 3, 2), tensor.Of([]bool{true, false, true})))
	cells := tenon.Must(masked.New(tensor.Of([]float64{1, 2, 99, -99, 3, 6}, 3, 2), tensor.Of([]bool{true, true, false, false, true, true}, 3, 2)))
	byName := named.Of(ops.Transpose(tensor.Of([]float64{1, 2, 3, 6}, 2, 2), 1, 0), rep{}, batch{})
	names := nn.Names{In: rep{}}
	for i, m := range []nn.Moments{nn.NewMoments(2).Update(gappy), nn.NewMoments(2).Update(hidden), nn.NewMoments(2).Update(cells), nn.NewMoments(2, names).Update(byName)} {
		for _, c := range [][2]tensor.Tensor{{m.Count, want.Count}, {m.Mean, want.Mean}, {m.Squares, want.Squares}, {m.Least, want.Least}, {m.Greatest, want.Greatest}} {
			if err := tensor.AllClose(c[0], c[1]); err != nil {
				t.Errorf("%d: %v", i, err)
			}
		}
	}
	y := nn.NewMoments(2, names).Update(byName).Scaler(nn.MinMax, dtype.Float64).Apply(byName)
	if got := tensor.Data[float64](named.Unnamed(y, batch{}, rep{})); !slices.Equal(got, []float64{0, 0, 1, 1}) {
		t.Errorf("named: %v", got)
	}
	_, err := tenon.Try(func() nn.Moments { return nn.NewMoments(3).Update(gappy) })
	if !errors.Is(err, tenon.ErrShape) {
		t.Errorf("3 features of 2: %v", err)
	}
	_, err = tenon.Try(func() nn.Scaler { return nn.NewMoments(3).Scaler("log") })
	if !errors.Is(err, tenon.ErrNotFound) {
		t.Errorf("an unknown scaling: %v", err)
	}
}

func TestVocabulary(t *testing.T) {
	var seen, other nn.Tally
	for i, x := range []tensor.Tensor{
		tensor.Of([]string{"b", "a", "c", "b"}, 2, 2),
		ragged.FromSlices([][]string{{"b"}, {}, {"é", "a"}}),
		tenon.Must(masked.New(tensor.Of([]string{"b", "z"}), tensor.Of([]bool{true, false}))),
		named.Of(tensor.Of([]string{"c"}), batch{}),
	} {
		into := &seen
		if i > 1 {
			into = &other
		}
		if err := into.Update(x); err != nil {
			t.Fatal(err)
		}
	}
	seen.Merge(other)
	v := seen.Vocabulary() // b: 4, a: 2, c: 2, é: 1
	ask := tensor.Of([]string{"a", "b", "c", "é", "z", ""}, 2, 3)
	want := []int64{2, 1, 3, 4, 0, 0}
	check := func(name string, got tensor.Tensor, want []int64) {
		t.Helper()
		if g := tensor.Data[int64](got); !slices.Equal(g, want) {
			t.Errorf("%s: %v, want %v", name, g, want)
		}
	}
	check("dense", v.Lookup(ask), want)
	check("traced", function.New(func(v nn.Vocabulary, x tensor.Tensor) tensor.Tensor { return v.Lookup(x) }, function.Options{}).Call(v, ask), want)
	check("ragged", v.Lookup(ragged.FromSlices([][]string{{"c"}, {}, {"q", "b"}})).(*ragged.Tensor).FlatValues(), []int64{3, 0, 1})
	check("masked", masked.Fill(v.Lookup(tenon.Must(masked.New(tensor.Of([]string{"c", "a"}), tensor.Of([]bool{false, true})))), int64(9)), []int64{9, 2})
	check("named", named.Unnamed(v.Lookup(named.Of(ask, batch{}, rep{})), batch{}, rep{}), want)
	check("the most frequent", seen.Vocabulary(nn.VocabularyOptions{Most: 1}).Lookup(ask), []int64{0, 1, 0, 0, 0, 0})
	check("at least twice", seen.Vocabulary(nn.VocabularyOptions{Least: 2}).Lookup(ask), []int64{2, 1, 3, 0, 0, 0})
	check("no words", new(nn.Tally).Vocabulary().Lookup(ask), make([]int64, 6))
	if got := v.Words(tensor.Of([]int64{0, 4, 1})).(*tensor.Strings).Slice(); !slices.Equal(got, []string{"", "é", "b"}) {
		t.Errorf("words: %q", got)
	}
	if got := v.OneHot(tensor.Of([]string{"c", "?"})); !slices.Equal(tensor.Data[float32](got), []float32{0, 0, 0, 1, 0, 1, 0, 0, 0, 0}) {
		t.Errorf("one hot: %v", got)
	}
	if got := v.Counts(ragged.FromSlices([][]string{{"b", "x", "b"}, {}, {"a"}}), dtype.Float64); !slices.Equal(tensor.Data[float64](got), []float64{1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0}) {
		t.Errorf("counts: %v", got)
	}
	var codes nn.Tally
	if err := codes.Update(tensor.Of([]int32{70, -3, 70, 5})); err != nil {
		t.Fatal(err)
	}
	numbers := codes.Vocabulary()
	check("integers", numbers.Lookup(tensor.Of([]int32{5, 70, 6})), []int64{3, 1, 0})
	check("back", numbers.Words(tensor.Of([]int64{2, 0})), []int64{-3, 0})
	for name, f := range map[string]func() tensor.Tensor{
		"integers of strings": func() tensor.Tensor { return v.Lookup(tensor.Of([]int64{1})) },
		"fractions":           func() tensor.Tensor { return numbers.Lookup(tensor.Of([]float32{1})) },
		"an id too many":      func() tensor.Tensor { return v.Words(tensor.Of([]int64{5})) },
		"the same twice":      func() tensor.Tensor { return nn.NewVocabulary([]string{"a", "b", "a"}).IDs },
		"lists of lists":      func() tensor.Tensor { return v.Counts(ragged.FromSlices2([][][]string{{{"a"}}})) },
		"no name":             func() tensor.Tensor { return v.OneHot(named.Of(ask, batch{}, rep{})) },
	} {
		if _, err := tenon.Try(f); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := codes.Update(ask); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("both kinds: %v", err)
	}
	if err := codes.Update(tensor.Of([]float32{1})); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("fractions: %v", err)
	}
}
