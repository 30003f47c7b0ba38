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
