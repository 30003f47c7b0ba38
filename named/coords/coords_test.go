package coords_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/named/coords"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

type (
	City  struct{ named.Dim[City] }
	Year  struct{ named.Dim[Year] }
	Other struct{ named.Dim[Other] }
)

func table(cities []string, years []int, x ...float64) *coords.Array {
	return coords.New(named.Of(tensor.Of(x, len(cities), len(years)), City{}, Year{}), coords.Along[City](cities), coords.Along[Year](years))
}

var temperatures = table([]string{"Oslo", "Rome"}, []int{2020, 2021, 2022}, 7, 6, 8, 16, 17, 15)

// series returns the labels and elements along the only dimension.
func series(a *coords.Array) string {
	n := a.Tensor().Dims().Names()
	if len(n) != 1 {
		return fmt.Sprint(a)
	}
	l, _ := a.Labels(n[0])
	return fmt.Sprint(l, tensor.Data[float64](named.Unnamed(a.Tensor())))
}

func TestSelect(t *testing.T) {
	oslo := coords.Select[City](temperatures, "Oslo")
	turned := coords.Apply(func(x *named.Tensor) *named.Tensor { return named.Order(x, Year{}, City{}) }, temperatures)
	tests := []struct {
		name string
		got  *coords.Array
		want string
	}{
		{"one", coords.Select[City](temperatures, "Rome"), "[2020 2021 2022] [16 17 15]"},
		{"another order of storage", coords.Select[City](turned, "Oslo"), "[2020 2021 2022] [7 6 8]"},
		{"several", coords.SelectAll[Year](oslo, 2022, 2020), "[2022 2020] [8 7]"},
		{"between", coords.Between[Year](oslo, 2021, 2100), "[2021 2022] [6 8]"},
		{"between nothing", coords.Between[Year](oslo, 1, 2), "[] []"},
		{"sorted", coords.SortBy[City](coords.Select[Year](coords.SelectAll[City](temperatures, "Rome", "Oslo"), 2020)), `["Oslo" "Rome"] [7 16]`},
		{"reduced", coords.Apply(func(x *named.Tensor) *named.Tensor { return named.Mean[Year](x) }, temperatures), `["Oslo" "Rome"] [7 16]`},
		{"filled", coords.Reindex[Year](oslo, tenon.Must(coords.NewLabels(2019, 2020)), -1.0), "[2019 2020] [-1 7]"},
		{"all filled", coords.Reindex[Year](coords.Between[Year](oslo, 1, 2), tenon.Must(coords.NewLabels(2019)), -1.0), "[2019] [-1]"},
		{"joined", coords.Concat[Year](oslo, coords.New(named.Of([]float64{9}, Year{}), coords.Along[Year](2030))), "[2020 2021 2022 2030] [7 6 8 9]"},
		{"between numbers of another kind", coords.Between[Year](oslo, 2020.5, 2021.5), "[2021] [6]"},
		{"the nearest", coords.Nearest[Year](temperatures, 2021.4, coords.NearestOptions{}), `["Oslo" "Rome"] [6 17]`},
		{"the first of the nearest", coords.Nearest[Year](temperatures, 2020.5, coords.NearestOptions{Within: 0.5}), `["Oslo" "Rome"] [7 16]`},
		{"the last one before", coords.Nearest[Year](temperatures, 2021.9, coords.NearestOptions{Before: true}), `["Oslo" "Rome"] [6 17]`},
		{"the first one after", coords.NearestAt(temperatures, Year{}, -1, coords.NearestOptions{After: true}), `["Oslo" "Rome"] [7 16]`},
		{"an integer as a floating number", coords.Select[Year](temperatures, 2022.0), `["Oslo" "Rome"] [8 15]`},
		{"sorted by a name that is a value", coords.SortByAt(coords.SelectAll[Year](oslo, 2022, 2020), Year{}), "[2020 2022] [7 8]"},
		{"filled by a name that is a value", coords.ReindexAt(oslo, Year{}, tenon.Must(coords.NewLabels(2022, 1)), 0), "[2022 1] [8 0]"},
		{"joined by a name that is a value", coords.ConcatAt(Year{}, oslo), "[2020 2021 2022] [7 6 8]"},
		{"by a name that is a value", coords.SelectAt(temperatures, Year{}, 2021), `["Oslo" "Rome"] [6 17]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := series(tt.got); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// Operations match positions by label, whatever the order of labels.
func TestAlignment(t *testing.T) {
	other := table([]string{"Rome", "Bern", "Oslo"}, []int{2021, 2022, 2023}, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	mean := coords.Apply(func(x *named.Tensor) *named.Tensor { return named.Mean[Year](x) }, temperatures)
	sum := ops.Add(temperatures, other).(*coords.Array)
	outer := coords.Align(coords.Outer, math.NaN(), temperatures, other)
	left := coords.Align(coords.Left, 0.0, temperatures, other)
	right := coords.Align(coords.Right, 0.0, temperatures, other)
	rome := coords.Select[City](temperatures, "Rome")
	tests := []struct {
		name string
		got  *coords.Array
		want string
	}{
		{"sum", coords.Select[City](sum, "Oslo"), "[2021 2022] [13 16]"},
		{"sum", coords.Select[City](sum, "Rome"), "[2021 2022] [18 17]"},
		{"difference", coords.Select[City](ops.Sub(temperatures, mean).(*coords.Array), "Oslo"), "[2020 2021 2022] [0 -1 1]"},
		{"outer join", coords.Select[City](outer[0], "Oslo"), "[2020 2021 2022 2023] [7 6 8 NaN]"},
		{"outer join", coords.Select[Year](outer[1], 2022), `["Oslo" "Rome" "Bern"] [8 2 5]`},
		{"left join", coords.Select[City](left[1], "Rome"), "[2020 2021 2022] [0 1 2]"},
		{"right join", coords.Select[City](right[0], "Rome"), "[2021 2022 2023] [17 15 0]"},
		{"right join", coords.Select[Year](right[0], 2021), `["Rome" "Bern" "Oslo"] [17 0 6]`},
		{"a number", ops.Mul(2.0, rome).(*coords.Array), "[2020 2021 2022] [32 34 30]"},
		{"a function", ops.Neg(rome).(*coords.Array), "[2020 2021 2022] [-16 -17 -15]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := series(tt.got); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	if x := tensor.Item[float64](named.Unnamed(ops.Max(temperatures).(*coords.Array).Tensor())); x != 17 {
		t.Errorf("the maximum is %v", x)
	}
}

func TestErrors(t *testing.T) {
	x := temperatures.Tensor()
	tests := []struct {
		name string
		kind error
		text string
		f    func()
	}{
		{"no such label", tenon.ErrNotFound, `there are ["Oslo" "Rome"]`, func() { coords.Select[City](temperatures, "Paris") }},
		{"no such kind of label", tenon.ErrNotFound, "no label along City is 3", func() { coords.Select[City](temperatures, 3) }},
		{"no such dimension", tenon.ErrNotFound, "has no Other", func() { coords.Select[Other](temperatures, 1) }},
		{"no labels", tenon.ErrNotFound, "no labels along City", func() { coords.Select[City](coords.New(x), "Oslo") }},
		{"sizes", tenon.ErrInvalid, "there are 1 labels", func() { coords.New(x, coords.Along[City]("Oslo")) }},
		{"twice", tenon.ErrInvalid, "occurs twice", func() { coords.Along[City]("Oslo", "Oslo") }},
		{"kinds", tenon.ErrDType, "follows", func() { coords.Along[City]("Oslo", 3) }},
		{"no label", tenon.ErrDType, "a label is", func() { coords.Along[City](math.NaN()) }},
		{"a dimension twice", tenon.ErrInvalid, "labels twice", func() { coords.New(x, coords.Along[City]("a", "b"), coords.Along[City]("a", "b")) }},
		{"selected twice", tenon.ErrInvalid, "selected twice", func() { coords.SelectAll[City](temperatures, "Oslo", "Oslo") }},
		{"exact", tenon.ErrInvalid, "differ", func() {
			coords.Align(coords.Exact, nil, temperatures, coords.SelectAll[City](temperatures, "Rome", "Oslo"))
		}},
		{"none is near", tenon.ErrNotFound, "no label along Year is near 2023.5", func() { coords.Nearest[Year](temperatures, 2023.5, coords.NearestOptions{Within: 1}) }},
		{"none is after", tenon.ErrNotFound, "there are [2020 2021 2022]", func() { coords.Nearest[Year](temperatures, 2023, coords.NearestOptions{After: true}) }},
		{"strings are not near", tenon.ErrDType, "strings have no distance", func() { coords.Nearest[City](temperatures, "Bern", coords.NearestOptions{}) }},
		{"a number is not near strings", tenon.ErrDType, "not of the kind", func() { coords.Nearest[City](temperatures, 3, coords.NearestOptions{}) }},
		{"join", tenon.ErrInvalid, "no join", func() { coords.Align("sideways", nil, temperatures, temperatures) }},
		{"bound", tenon.ErrDType, "not of the kind", func() { coords.Between[City](temperatures, 1, 2) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tenon.Try(func() int { tt.f(); return 0 })
			if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v, want an error of kind %q with %q", err, tt.kind, tt.text)
			}
		})
	}
}

func TestLaws(t *testing.T) {
	spectest.Laws(t, spectest.Options{},
		temperatures,
		coords.SelectAll[City](temperatures, "Rome"),
		coords.Select[City](temperatures, "Rome"),
		coords.New(named.Of([]float64{1, 2}, Year{}), coords.Along[Year](0.5, 1.5)),
		coords.New(temperatures.Tensor()),
	)
}

// Labels are static: a traced function selects by them.
func TestTraced(t *testing.T) {
	f := func(a *coords.Array) *coords.Array {
		return ops.Sub(a, coords.Select[Year](a, 2020)).(*coords.Array)
	}
	got := function.New(f).Call(temperatures)
	if s := series(coords.Select[City](got, "Rome")); s != "[2020 2021 2022] [0 1 -1]" {
		t.Errorf("got %s", s)
	}
	g := grad.Of(func(a *coords.Array) tensor.Tensor {
		return named.Unnamed(ops.Sum(coords.Select[Year](a, 2021).Tensor()).(*named.Tensor))
	})(temperatures)
	if s := series(coords.Select[City](g, "Rome")); s != "[2020 2021 2022] [0 1 0]" {
		t.Errorf("the gradient is %s", s)
	}
}

func Example() {
	x := coords.New(named.Of([][]float64{{7, 6, 8}, {16, 17, 15}}, City{}, Year{}),
		coords.Along[City]("Oslo", "Rome"), coords.Along[Year](2020, 2021, 2022))
	fmt.Println(coords.Select[City](x, "Rome"))
	fmt.Println(ops.Sub(x, coords.Select[Year](x, 2020)))
	// Output:
	// float64{Year:3} [16. 17. 15.]
	// Year: [2020 2021 2022]
	// float64{City:2 Year:3}
	// [[ 0. -1.  1.]
	//  [ 0.  1. -1.]]
	// City: ["Oslo" "Rome"]
	// Year: [2020 2021 2022]
}

// Arrays are rows of a batch, and labels stay: those along dimensions that batching gives
// another name, too. Rows with other labels do not go into one batch.
func TestBatchesKeepLabels(t *testing.T) {
	other := table([]string{"Oslo", "Rome"}, []int{2020, 2021, 2022}, 1, 2, 3, 4, 5, 6)
	many := tenon.Must(ext.Stack(temperatures, other))
	for i, want := range []*coords.Array{temperatures, other} {
		got := tenon.Must(ext.Row(many, i))
		if !tensor.Equal(got, want, tensor.EqualOptions{}) {
			t.Errorf("row %d is %v, want %v", i, got, want)
		}
	}
	rows := coords.New(named.Of([]float64{1, 2}, named.Rows{}), coords.AlongName(named.Rows{}, "a", "b"))
	twice := tenon.Must(ext.Stack(rows, rows))
	if got := tenon.String(twice.Spec()); got != `float64{Rows:2 Rows_2:2} Rows_2["a" "b"]` {
		t.Errorf("a batch of labelled rows is %s", got)
	}
	if got := tenon.Must(ext.Row(twice, 1)); !tensor.Equal(got, rows, tensor.EqualOptions{}) {
		t.Errorf("its row is %v", got)
	}
	if got := tenon.String(tenon.Must(rows.Spec().(tenon.Batcher).Unbatched())); got != "float64{}" {
		t.Errorf("a row of labelled rows is %s", got)
	}
	_, err := ext.Stack(temperatures, table([]string{"Oslo", "Bonn"}, []int{2020, 2021, 2022}, 1, 2, 3, 4, 5, 6))
	if !errors.Is(err, tenon.ErrDType) || !strings.Contains(err.Error(), "Bonn") {
		t.Errorf("other labels: %v", err)
	}
}
