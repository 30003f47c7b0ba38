package structured_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// columnOf returns records with one field.
func columnOf(v tensor.Tensor) *structured.Tensor {
	return tenon.Must(structured.FromFields([]structured.Field{{Name: "k", Value: v}}, shape.OfRank(1), structured.Options{}))
}

// Keys of all element types: 1, 2, 1, missing, 2, missing, 1.
func TestKeysOfAllTypes(t *testing.T) {
	number := tensor.Of([]int64{1, 2, 1, 0, 2, 1, 1})
	mask := []bool{true, true, true, false, true, false, true}
	for _, d := range dtype.All() {
		var v tensor.Tensor
		switch {
		case d.IsString():
			v = tensor.Of([]string{"one", "two", "one", "x", "two", "y", "one"})
		case d.IsBool():
			v = tensor.Of([]bool{true, false, true, false, false, true, true})
		default:
			v = ops.Cast(number, d)
		}
		g := columnOf(tenon.Must(masked.New(v, mask))).GroupBy("k")
		if got := fmt.Sprint(tensor.Data[int64](g.IDs())); got != "[0 1 0 2 1 2 0]" {
			t.Errorf("%v: groups %s", d, got)
		}
		if got := known(g.Len()); got != 3 {
			t.Errorf("%v: %d groups", d, got)
		}
		plain := columnOf(v)
		j := plain.Join(columnOf(tenon.Must(masked.New(v, mask))), structured.JoinOptions{On: []string{"k"}, Kind: structured.Nested, As: "l"})
		want := "[3 2 3 0 2 3 3]"
		if d.IsBool() {
			want = "[3 2 3 2 2 3 3]"
		} else if d.IsString() {
			want = "[3 2 3 0 2 0 3]"
		}
		if got := fmt.Sprint(tensor.Data[int64](j.Lengths("l"))); got != want {
			t.Errorf("%v: partners %s, want %s", d, got, want)
		}
	}
}

func TestKeysOfOneValue(t *testing.T) {
	nan, zero := math.NaN(), math.Copysign(0, -1)
	s := columnOf(tensor.Of([]float64{nan, 0, math.Float64frombits(0x7ff8000000000001), zero}))
	if got := fmt.Sprint(tensor.Data[int64](s.GroupBy("k").IDs())); got != "[0 1 0 1]" {
		t.Errorf("groups %s", got)
	}
	if got := fmt.Sprint(columnText(t, s.Join(s, structured.JoinOptions{Kind: structured.Semi, On: []string{"k"}}), "k")); got != "[NaN 0 NaN -0]" {
		t.Errorf("partners %s", got)
	}
}

// Keys may be records, in dictionaries, and narrower on one side.
func TestOtherKeys(t *testing.T) {
	s := shop(t)
	twice := ops.Concat([]tensor.Tensor{s, s}, 0).(*structured.Tensor)
	if got := columnText(t, twice.GroupBy("geo").Aggregate(structured.Count()), "count"); fmt.Sprint(got) != "[2 2 2]" {
		t.Errorf("got %v", got)
	}
	if got := twice.Join(s.Select("geo", "id"), structured.JoinOptions{On: []string{"geo"}, Suffix: "_2"}); known(got.NRows()) != 6 {
		t.Errorf("got %v", got)
	}
	words := tenon.Must(structured.NewDictionary([]int{0, 1, 2, 2, 0}, []string{"a", "b", "a", "unused"}))
	if got := fmt.Sprint(tensor.Data[int64](columnOf(words).GroupBy("k").IDs())); got != "[0 1 0 0 0]" {
		t.Errorf("words: groups %s", got)
	}
	if got := fmt.Sprint(columnText(t, columnOf(words).GroupBy("k").Sorted().Aggregate(structured.Count()), "count")); got != "[4 1]" {
		t.Errorf("words: counts %s", got)
	}
	narrow, wide := columnOf(tensor.Of([]int8{1, 2, 3})), columnOf(tensor.Of([]float32{3, 2.5, 1}))
	if got := fmt.Sprint(columnText(t, narrow.Join(wide, structured.JoinOptions{On: []string{"k"}}), "k")); got != "[1 3]" {
		t.Errorf("got %s", got)
	}
	short := tenon.Must(s.WithShapeDType(dtype.Int32))
	if got := fmt.Sprint(plainOf(t, short.Join(short.Select("id", "orders").Rename("orders", "more"), structured.JoinOptions{On: []string{"id"}}).Filter("@.id > 1").Path("more.qty"))); got != "[[] [4]]" {
		t.Errorf("int32 splits: got %s", got)
	}
}

// What is missing in a left join has fields of every kind.
func TestMissingEntries(t *testing.T) {
	union := tenon.Must(structured.FromNested(list{1, "x"}, structured.NestedOptions{Unions: true}))
	right := tenon.Must(structured.FromFields([]structured.Field{
		{Name: "k", Value: tensor.Of([]int64{5, 7})},
		{Name: "vector", Value: tensor.Of([]float32{1, 2, 3, 4}, 2, 2)},
		{Name: "word", Value: tenon.Must(structured.EncodeStrings([]string{"a", "b"}))},
		{Name: "any", Value: union},
	}, shape.Of(2), structured.Options{}))
	left := columnOf(tensor.Of([]int64{7, 6}))
	j := left.Join(right, structured.JoinOptions{Kind: structured.Left, On: []string{"k"}})
	if got := fmt.Sprint(plainOf(t, j.Path("vector"))); got != "[[3 4] <nil>]" {
		t.Errorf("vector: %s", got)
	}
	word := j.Path("word").(*masked.Tensor)
	if got := fmt.Sprint(plainOf(t, masked.Fill(word, "none"))); got != "[b none]" {
		t.Errorf("word: %s", got)
	}
	if m := j.Path("any").(*masked.Tensor); fmt.Sprint(plainOf(t, m.Mask())) != "[true false]" {
		t.Errorf("any: %v", m)
	}
	none := left.Join(right.Filter("@.k > 9"), structured.JoinOptions{Kind: structured.Left, On: []string{"k"}})
	if got := fmt.Sprint(plainOf(t, none.Path("vector"))); got != "[<nil> <nil>]" {
		t.Errorf("no right rows: %s", got)
	}
}

func TestLengths(t *testing.T) {
	s := shop(t)
	for path, want := range map[string]string{"orders": "[3 0 1]", "tags": "[2 0 1]", "orders.items": "[[2 0 1] [] [1]]"} {
		if got := fmt.Sprint(plainOf(t, s.Lengths(path))); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	if got := fmt.Sprint(plainOf(t, s.Path("$[0]").(*structured.Tensor).Lengths("orders"))); got != "3" {
		t.Errorf("a single record: %s", got)
	}
	if _, err := tenon.Try(func() tensor.Tensor { return s.Lengths("id") }); !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "does not contain lists") {
		t.Errorf("got %v", err)
	}
}

func TestVectorsInGroups(t *testing.T) {
	s := columnOf(tensor.Of([]int64{1, 2, 1})).With("v", tensor.Of([]float64{1, 2, 3, 4, 5, 6}, 3, 2))
	g := s.GroupBy("k").Aggregate(structured.Sum("v"), structured.Max("v").As("max"), structured.List("v").As("all"))
	if got := fmt.Sprint(plainOf(t, g.Path("v")), plainOf(t, g.Path("max")), plainOf(t, g.Path("all"))); got != "[[6 8] [3 4]] [[5 6] [3 4]] [[[1 2] [5 6]] [[3 4]]]" {
		t.Errorf("got %s", got)
	}
}
