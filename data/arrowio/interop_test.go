package arrowio_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// The files in testdata were written by pyarrow 26: see make.py beside them.

func rowsOf(splits []int64, data any) tensor.Tensor {
	return must(ragged.FromRowSplits(data, splits))
}

// written are the columns of types.arrow.
func written() map[string]tenon.Value {
	list := must(masked.New(
		must(masked.New(rowsOf([]int64{0, 2, 2, 2}, []float32{1.5, 0}), rowsOf([]int64{0, 2, 2, 2}, []bool{true, false}))),
		[]bool{true, false, true}))
	return map[string]tenon.Value{
		"int":    must(masked.New([]int16{1, 0, 3}, []bool{true, false, true})),
		"bool":   of([]bool{true, false, true}),
		"text":   must(masked.New([]string{"a", "βγ", ""}, []bool{true, true, false})),
		"bytes":  of([]string{"\xff", "", "ok"}),
		"view":   must(masked.New([]string{"short", "a text that is longer than twelve bytes", ""}, []bool{true, true, false})),
		"fixed":  must(element.New([]string{"abcd", "efgh", "ijkl"}, element.FixedOf(4))),
		"day":    must(element.New([]int32{1, -1, 10957}, element.DateType)),
		"time":   must(element.New([]int64{1, 2, 3}, element.TimestampOf(time.Microsecond, "UTC"))),
		"list":   list,
		"nested": must(ragged.FromNestedRowSplits([]string{"x", "y", "z"}, []int64{0, 2, 2, 3}, []int64{0, 1, 1, 3})),
		"pair":   of([]uint8{1, 2, 3, 4, 5, 6}, 3, 2),
		"codes":  of([]int64{20, 10, 20}),
		"null":   must(masked.New([]bool{false, false, false}, []bool{false, false, false})),
		"truth":  of([]bool{true, false, true}),
		"image":  named.Of(of(iota_(18), 3, 2, 3), named.Rows{}, named.Dynamic("H"), named.Dynamic("W")),
		"turned": of([]int32{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11, 12, 15, 13, 16, 14, 17}, 3, 3, 2),
	}
}

func TestReadPyarrow(t *testing.T) {
	for _, name := range []string{"types.arrow", "types.arrows"} { // the second has two batches
		v, err := arrowio.ReadFile("testdata/"+name, arrowio.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		rec := v.(*structured.Tensor)
		for field, want := range written() {
			if err := alike(want, must(rec.Field(field))); err != nil {
				t.Errorf("%s: %s: %v", name, field, err)
			}
		}
		for field, want := range map[string]string{
			"struct": `?{a: ?int64, b: string}`,
			"points": `var * {x: float64, y: var * int32}`,
			"map":    `map[string, int32]`,
			"words":  `?dictionary[string]`,
		} {
			got := structured.Datashape(must(rec.Field(field)).Spec())
			if !strings.HasSuffix(got, want) {
				t.Errorf("%s: %s is %s, want … %s", name, field, got, want)
			}
		}
		if got := must(rec.Field("points", "y")).(*ragged.Tensor); got.String() != "[[[1]] [] [[] [2 3]]] int32[3, ~, ~]" {
			t.Errorf("%s: points.y is %v", name, got)
		}
		if got := must(rec.Field("map")).(*structured.Map).Values(); tensor.Data[int32](got.(*ragged.Tensor).FlatValues())[2] != 3 {
			t.Errorf("%s: the values of map are %v", name, got)
		}
		if got, ok := must(rec.Field("words")).(*masked.Tensor).Values().(*structured.Dictionary); !ok || got.Words().Shape().Dim(0) != 1 {
			t.Errorf("%s: words are %v", name, must(rec.Field("words")))
		}
		for _, field := range []string{"sparse", "dense"} {
			u := must(rec.Field(field)).(*structured.Union)
			numbers, texts := must(u.Variant("number")), must(u.Variant("string"))
			if got := masked.Compress(numbers); !tensor.Item[bool](ops.All(ops.Equal(got, []int64{1, 3}))) {
				t.Errorf("%s: numbers of %s are %v", name, field, got)
			}
			if got := masked.Compress(texts).(*tensor.Strings); got.Len() != 1 || got.At(0) != "two" {
				t.Errorf("%s: texts of %s are %v", name, field, got)
			}
		}
	}
}

// alike compares without regard to sizes that a Spec may know or not.
func alike(want, got tenon.Value) error {
	if r, ok := want.(*ragged.Tensor); ok {
		g, ok := got.(*ragged.Tensor)
		if ok && g.RaggedRank() == r.RaggedRank() {
			got = must(g.WithSplitsDType(r.Partition().DType()))
		}
	}
	if m, ok := want.(*masked.Tensor); ok {
		if g, ok := got.(*masked.Tensor); ok {
			if err := alike(m.Mask(), g.Mask()); err != nil {
				return err
			}
			return alike(m.Values(), g.Values())
		}
	}
	return same(want, got)
}

// A slice begins in the middle of its buffers.
func TestReadSlice(t *testing.T) {
	whole := must(arrowio.ReadFile("testdata/types.arrow", arrowio.ReadOptions{Columns: []string{"nested", "pair", "bool", "fixed", "image"}})).(*structured.Tensor)
	part := must(arrowio.ReadFile("testdata/slice.arrow", arrowio.ReadOptions{Columns: []string{"nested", "pair", "bool", "fixed", "image"}})).(*structured.Tensor)
	for _, f := range part.Unzip() {
		want := must(whole.Field(f.Name))
		if n, ok := want.(*named.Tensor); ok {
			if got, want := named.Unnamed(f.Value, f.Value.(*named.Tensor).Dims().Names()...), named.Unnamed(n, n.Dims().Names()...); !tensor.Equal(got, ops.Slice(want, []int{1, 0, 0}, []int{2, 2, 3}), tensor.EqualOptions{}) {
				t.Errorf("%s is %v", f.Name, got)
			}
			continue
		}
		if got, want := f.Value, ops.Gather(want, []int{1, 2}, 0); tensor.Item[bool](ops.Any(ops.NotEqual(flat(got), flat(want)))) {
			t.Errorf("%s is %v, want %v", f.Name, got, want)
		}
	}
}

func flat(x tensor.Tensor) tensor.Tensor {
	if r, ok := x.(*ragged.Tensor); ok {
		return r.FlatValues()
	}
	return x
}

func TestReadVariableShape(t *testing.T) {
	for name, want := range map[string]struct{ text, spec string }{
		"variable":        {"[[[0 1 2] [3 4 5]] [[6 7]]]", "int64{Rows:2 H~ W~}"},
		"variable_turned": {"[[[0 3] [1 4] [2 5]] [[6] [7]]]", "int64[2, ~, ~]"},
	} {
		rec := must(arrowio.ReadFile("testdata/"+name+".arrow", arrowio.ReadOptions{})).(*structured.Tensor)
		v := must(rec.Field("v"))
		if got := tenon.String(v.Spec()); got != want.spec {
			t.Errorf("%s: %s, want %s", name, got, want.spec)
		}
		text := strings.Join(strings.Fields(strings.ReplaceAll(strings.ReplaceAll(v.(interface{ String() string }).String(), want.spec, ""), "\n", " ")), " ")
		if text != want.text {
			t.Errorf("%s: %s, want %s", name, text, want.text)
		}
	}
}

// Types that have no counterpart come back in a form that loses nothing, and never keep
// the other columns of a file from being read.
func TestTypesWithoutCounterpartAreRead(t *testing.T) {
	v, err := arrowio.ReadFile("testdata/decimal.arrow", arrowio.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := alike(must(element.Parse([]string{"1.50"}, element.DecimalOf(3, 2))), must(v.(*structured.Tensor).Field("price"))); err != nil {
		t.Error(err)
	}
	mem := memory.DefaultAllocator
	wide := func(text string, scale int32) arrow.Array {
		b := array.NewDecimal128Builder(mem, &arrow.Decimal128Type{Precision: 38, Scale: scale})
		b.Append(must(decimal128.FromString(text, 38, scale)))
		b.AppendNull()
		return b.NewArray()
	}
	narrow := array.NewDecimal32Builder(mem, &arrow.Decimal32Type{Precision: 5, Scale: 3})
	narrow.AppendValues([]decimal.Decimal32{-5, 12345}, nil)
	month := array.NewMonthDayNanoIntervalBuilder(mem)
	month.AppendValues([]arrow.MonthDayNanoInterval{{Months: 1, Days: -2, Nanoseconds: 3}, {}}, nil)
	runs := array.NewRunEndEncodedBuilder(mem, arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String)
	runs.Append(2)
	runs.ValueBuilder().(*array.StringBuilder).Append("x")
	runs.Append(1)
	runs.ValueBuilder().(*array.StringBuilder).Append("y")
	views := array.NewListViewBuilder(mem, arrow.PrimitiveTypes.Int64)
	items := views.ValueBuilder().(*array.Int64Builder)
	items.AppendValues([]int64{1, 2, 3}, nil)
	views.AppendDimensions(1, 2)
	views.AppendDimensions(0, 2)
	for name, c := range map[string]struct {
		a    arrow.Array
		want string
	}{
		"decimal":            {wide("-12.30", 2), `masked(["-12.30" "0.00"] string[2] decimal(38, 2), [ true false]`},
		"decimal below one":  {wide("0.05", 2), `masked(["0.05" "0.00"] string[2] decimal(38, 2)`},
		"decimal of hundred": {wide("1200", -2), `masked(["1200" "0"] string[2] decimal(38, -2)`},
		"decimal32":          {narrow.NewArray(), `["-0.005" "12.345"]`},
		"runs":               {runs.NewArray(), `["x" "x" "y"]`},
		"sliced runs":        {array.NewSlice(runsOf(t), 1, 3), `["x" "y"]`},
		"views":              {views.NewArray(), `[[2 3] [1 2]]`},
	} {
		v, err := arrowio.FromArray(arrow.Field{Name: name}, c.a, arrowio.ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := fmt.Sprint(v); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
	rec := must(arrowio.FromArray(arrow.Field{Name: "i"}, month.NewArray(), arrowio.ReadOptions{})).(*structured.Tensor)
	if got := tensor.Data[int64](must(rec.Field("nanoseconds"))); got[0] != 3 {
		t.Errorf("nanoseconds are %v", got)
	}
	if got := structured.Datashape(rec.Spec()); got != "2 * {months: int32, days: int32, nanoseconds: int64}" {
		t.Error(got)
	}
}

func runsOf(t *testing.T) arrow.Array {
	t.Helper()
	b := array.NewRunEndEncodedBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Int16, arrow.BinaryTypes.String)
	b.Append(2)
	b.ValueBuilder().(*array.StringBuilder).Append("x")
	b.Append(1)
	b.ValueBuilder().(*array.StringBuilder).Append("y")
	return b.NewArray()
}
