package structured_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// Fields may be of any type of element: they are printed, compared, sorted, grouped, joined and computed with as others.
func TestFieldsOfElements(t *testing.T) {
	parse := func(typ element.Type, texts ...string) tensor.Tensor { return tenon.Must(element.Parse(texts, typ)) }
	at := parse(element.TimestampOf(time.Second, "UTC"), "2024-02-29T10:00:00Z", "2023-01-01T00:00:00Z", "2024-02-29T11:00:00Z", "2023-01-01T00:00:00Z")
	day := parse(element.DateType, "2024-02-29", "2023-01-01", "2024-02-29", "2023-01-01")
	price := tenon.Must(masked.New(parse(element.DecimalOf(10, 2), "12.30", "0.05", "1", "7"), []bool{true, true, false, true}))
	wide := parse(element.DecimalOf(30, 1), "1.5", "-2", "1.5", "99999999999999999999")
	id := parse(element.UUIDType, "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002", "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000003")
	took := tenon.Must(ragged.FromRowSplits(parse(element.DurationOf(time.Millisecond), "PT1S", "PT2S", "PT0.5S"), []int64{0, 2, 2, 3, 3}))
	s := tenon.Must(structured.FromFields([]structured.Field{
		{Name: "at", Value: at}, {Name: "day", Value: day}, {Name: "price", Value: price}, {Name: "wide", Value: wide}, {Name: "id", Value: id}, {Name: "took", Value: took},
	}, shape.Of(4), structured.Options{NRows: 4}))
	if got, want := s.Spec().(*structured.Spec).Datashape(), "4 * {at: timestamp[s, UTC], day: date, price: ?decimal(10, 2), wide: decimal(30, 1), id: uuid, took: var * duration[ms]}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	texts := func(v tensor.Tensor) string { return fmt.Sprint(plainData(t, v)) }
	if got := s.String(); !strings.Contains(got, "12.30") || !strings.Contains(got, "2024-02-29 10:00:00 +0000 UTC") {
		t.Errorf("got %s", got)
	}
	for name, c := range map[string]struct {
		f    func() tensor.Tensor
		want string
	}{
		"sorted by time": {func() tensor.Tensor {
			return tenon.Must(s.Sort(0, structured.By{Path: []string{"at"}, Descending: true})).Path("day")
		}, "[2024-02-29 2024-02-29 2023-01-01 2023-01-01]"},
		"sorted by price": {func() tensor.Tensor {
			return tenon.Must(s.Sort(0, structured.By{Path: []string{"price"}})).Path("price")
		}, "[0.05 7.00 12.30 <nil>]"},
		"sorted by decimal": {func() tensor.Tensor { return tenon.Must(s.Sort(0, structured.By{Path: []string{"wide"}})).Path("wide") }, "[-2.0 1.5 1.5 99999999999999999999.0]"},
		"filtered": {func() tensor.Tensor {
			return s.Filter(`@.at >= "2024-01-01T00:00:00Z"`).Path("wide")
		}, "[1.5 1.5]"},
		"groups of days": {func() tensor.Tensor {
			return s.GroupBy("day").Aggregate(structured.Count(), structured.Max("at")).Path("at")
		}, "[2024-02-29 11:00:00 +0000 UTC 2023-01-01 00:00:00 +0000 UTC]"},
		"groups of ids":      {func() tensor.Tensor { return s.GroupBy("id").Aggregate(structured.Count()).Path("id") }, "[00000000-0000-4000-8000-000000000001 00000000-0000-4000-8000-000000000002 00000000-0000-4000-8000-000000000003]"},
		"groups of prices":   {func() tensor.Tensor { return s.GroupBy("price").Aggregate(structured.Count()).Path("price") }, "[12.30 0.05 <nil> 7.00]"},
		"groups of wide":     {func() tensor.Tensor { return s.GroupBy("wide").Sorted().Aggregate(structured.Count()).Path("wide") }, "[-2.0 1.5 99999999999999999999.0]"},
		"the prices of days": {func() tensor.Tensor { return s.GroupBy("day").Aggregate(structured.Sum("price")).Path("price") }, "[12.30 7.05]"},
		"the time of rows":   {func() tensor.Tensor { return ops.Sum(s.Path("took"), 1) }, "[3s 0s 500ms 0s]"},
		"ends":               {func() tensor.Tensor { return ops.Add(s.Path("at"), ops.Sum(s.Path("took"), 1)) }, "[2024-02-29 10:00:03 +0000 UTC 2023-01-01 00:00:00 +0000 UTC 2024-02-29 11:00:00.5 +0000 UTC 2023-01-01 00:00:00 +0000 UTC]"},
		"joined": {func() tensor.Tensor {
			other := tenon.Must(structured.FromFields([]structured.Field{{Name: "day", Value: parse(element.DateType, "2023-01-01")}, {Name: "x", Value: tensor.Vector([]int64{7})}}, shape.Of(1), structured.Options{NRows: 1}))
			return s.Join(other, structured.JoinOptions{On: []string{"day"}}).Path("x")
		}, "[7 7]"},
	} {
		v, err := tenon.Try(c.f)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := texts(v); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
	if !s.Equal(ops.Gather(s, []int{0, 1, 2, 3}, 0).(*structured.Tensor)) {
		t.Error("the records differ from themselves")
	}
}

func plainData(t *testing.T, v tensor.Tensor) any {
	t.Helper()
	x, err := tensor.Plain(v)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Elements in plain data come back as elements, in records, lists, maps and unions, alone and by their Spec.
func TestNestedElements(t *testing.T) {
	item := func(text string, typ element.Type) element.Item { return tenon.Must(element.ItemOf(text, typ)) }
	at := time.Date(2024, 2, 29, 10, 11, 12, 5, time.UTC)
	day, price, clock := element.DateType, element.DecimalOf(30, 2), element.TimeOf(time.Millisecond)
	id := [16]byte{0: 1, 15: 2}
	rows := list{
		rec{"at": at, "took": time.Second, "day": item("2024-02-29", day), "price": item("1.5", price), "clock": item("10:11:12.5", clock), "id": id,
			"all": list{item("2.25", price), item("-3", price)}, "by": map[int32]any{2: "b", 1: "a"}, "when": map[time.Time]float64{at: 1}, "some": item("2024-02-29", day)},
		rec{"at": at.Add(time.Hour), "took": -time.Minute, "day": item("1970-01-01", day), "price": item("0", price), "clock": item("00:00", clock), "id": [16]byte{},
			"all": list{}, "by": map[int32]any{}, "when": map[time.Time]float64{}, "some": nil},
	}
	s := read(t, rows, structured.NestedOptions{Missing: structured.MissingMasked})
	want := "2 * {all: var * decimal(30, 2), at: timestamp[ns, UTC], by: map[int32, string], clock: time[ms], day: date, id: uuid, price: decimal(30, 2), some: ?date, took: duration[ns], when: map[timestamp[ns, UTC], float64]}"
	same(t, "type", s.Spec().(*structured.Spec).Datashape(), want)
	same(t, "data", sprint(plain(t, s)), "[map[all:[2.25 -3.00] at:2024-02-29 10:11:12.000000005 +0000 UTC by:[map[key:1 value:a] map[key:2 value:b]] clock:10:11:12.500 day:2024-02-29 "+
		"id:01000000-0000-0000-0000-000000000002 price:1.50 some:2024-02-29 took:1s when:[map[key:2024-02-29 10:11:12.000000005 +0000 UTC value:1]]] "+
		"map[all:[] at:2024-02-29 11:11:12.000000005 +0000 UTC by:[] clock:00:00:00.000 day:1970-01-01 id:00000000-0000-0000-0000-000000000000 price:0.00 some:<nil> took:-1m0s when:[]]]")
	for what, data := range map[string]any{"what ToNested returns": plain(t, s), "the data themselves": rows} {
		again := read(t, data, structured.NestedOptions{Spec: s.Spec()})
		if !tenon.Equal(again.Spec(), s.Spec()) || sprint(plain(t, again)) != sprint(plain(t, s)) {
			t.Errorf("%s: got %v, want %v", what, again, s)
		}
	}
	// Of every type, alone, as a list, as lists of one size, and with what is missing; texts are as good as elements.
	for _, c := range []struct {
		typ   element.Type
		texts []string
	}{
		{element.TimestampOf(time.Second, "Europe/Berlin"), []string{"2024-02-29T10:11:12+01:00", "1970-01-01T01:00:00+01:00"}},
		{element.TimestampOf(time.Microsecond, ""), []string{"2024-02-29T10:11:12.000005", "0001-01-01T00:00:00.000000"}},
		{day, []string{"9999-12-31", "0001-01-01"}}, {clock, []string{"23:59:59.999", "00:00:00.000"}}, {element.DurationOf(time.Millisecond), []string{"PT1.5S", "-PT1S"}},
		{element.DecimalOf(5, 3), []string{"12.345", "-0.001"}}, {price, []string{"9999999999999999999999999999.99", "0.00"}},
		{element.UUIDType, []string{"00000000-0000-4000-8000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff"}}, {element.FixedOf(2), []string{"AAE=", "//8="}},
	} {
		v := tenon.Must(element.Parse(c.texts, c.typ))
		some := tenon.Must(masked.New(v, []bool{true, false}))
		for what, x := range map[string]tensor.Tensor{
			"one": ops.Index(v, 1), "a list": v, "a matrix": ops.Stack([]tensor.Tensor{v, v}, 0), "missing": some,
			"rows": tenon.Must(ragged.FromRowSplits(v, []int64{0, 0, 2})), "rows with gaps": tenon.Must(structured.Divide(some, tenon.Must(ragged.PartitionFromRowSplits([]int64{0, 2, 2}, ragged.PartitionOptions{})))),
		} {
			data := tenon.Must(tensor.Plain(x))
			again, err := structured.FromNested(data, structured.NestedOptions{Spec: x.Spec()})
			if err != nil || !tenon.Equal(again.Spec(), x.Spec()) || sprint(tenon.Must(tensor.Plain(again))) != sprint(data) {
				t.Errorf("%v, %s: got %v, %v, want %v", c.typ, what, again, err, x)
			}
		}
		texts, err := structured.FromNested(list{c.texts[0], c.texts[1]}, structured.NestedOptions{Spec: v.Spec()})
		if err != nil || sprint(texts) != sprint(v) {
			t.Errorf("%v: texts are %v, %v, want %v", c.typ, texts, err, v)
		}
	}
	// Errors name the place and say what is wrong; a union holds elements of several types.
	u := tenon.Must(structured.FromNested(list{time.Second, item("2024-02-29", day), 3}, structured.NestedOptions{Unions: true}))
	same(t, "union", structured.Datashape(u.Spec()), "3 * union[duration[ns], date, int64]")
	for _, c := range []struct {
		data any
		o    structured.NestedOptions
		want string
	}{
		{list{rec{"a": time.Second}, rec{"a": at}}, structured.NestedOptions{}, "a[1]: is a timestamp[ns, UTC], earlier rows have a duration[ns]"},
		{list{rec{"a": at}, rec{"a": "x"}}, structured.NestedOptions{Spec: read(t, list{rec{"a": at}}, structured.NestedOptions{}).Spec().(*structured.Spec)}, "want"},
		{list{at, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}, structured.NestedOptions{}, "[1]"},
		{list{"2024-02-30"}, structured.NestedOptions{Spec: tenon.Must(element.Parse([]string{"2024-02-29"}, day)).Spec()}, "2024-02-30"},
		{list{at}, structured.NestedOptions{Spec: tensor.Of([]int64{1}).Spec()}, "want int64"},
		{map[complex128]int{1: 1}, structured.NestedOptions{}, "complex128"},
	} {
		if _, err := structured.FromNested(c.data, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.data, err, c.want)
		}
	}
}
