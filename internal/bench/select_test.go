package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// A user is a record of the orders file, as encoding/json reads it.
type user struct {
	ID     int64
	Active bool
	Age    *int64
	Email  *string
	Geo    struct{ Lat, Lon float64 }
	Tags   []string
	Orders []struct {
		Cat   string
		Qty   int64
		Price float64
		Note  *string
		Items []struct{ K int64 }
	}
}

func someUsers(t *testing.T) ([]user, *structured.Tensor) {
	t.Helper()
	text := appendOrders(nil, 700)
	var users []user
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
		var u user
		if err := d.Decode(&u); err != nil {
			t.Fatal(err)
		}
		users = append(users, u)
	}
	s, err := jsonl.Read(jsonl.Bytes(text), jsonl.Options{Schema: ordersSpec()})
	if err != nil {
		t.Fatal(err)
	}
	return users, s
}

func TestStructuredSelect(t *testing.T) {
	users, table := someUsers(t)
	type sums struct {
		count, items int64
		total, top   float64
	}
	groups := map[string]*sums{}
	var rows, ids int64
	prices := 0.0
	for _, u := range users {
		if u.Geo.Lat <= 0 || !u.Active {
			continue
		}
		rows, ids = rows+1, ids+u.ID
		for _, o := range u.Orders {
			g := groups[o.Cat]
			if g == nil {
				g = &sums{}
				groups[o.Cat] = g
			}
			g.count, g.items = g.count+1, g.items+int64(len(o.Items))
			g.total, g.top = g.total+float64(o.Qty)*o.Price, max(g.top, o.Price)
			prices += o.Price
		}
	}
	q := ordersQuery(table)
	cats := q.Path("cat").(*tensor.Strings).Slice()
	if len(cats) != len(groups) || !slices.IsSorted(cats) {
		t.Fatalf("categories %v", cats)
	}
	for i, cat := range cats {
		got := sums{tensor.Data[int64](q.Path("count"))[i], tensor.Data[int64](q.Path("items"))[i], tensor.Data[float64](q.Path("total"))[i], tensor.Data[float64](q.Path("price"))[i]}
		if want := *groups[cat]; got.count != want.count || got.items != want.items || math.Abs(got.total-want.total) > 1e-9*want.total || got.top != want.top {
			t.Errorf("%s: got %v, want %v", cat, got, want)
		}
	}
	p := ordersProject(table)
	if got := fmt.Sprint(p.FieldNames(), p.Path("orders").(*structured.Tensor).FieldNames(), floatOf(p.NRows())); got != fmt.Sprint([]string{"id", "orders"}, []string{"cat", "price"}, rows) {
		t.Errorf("got %s", got)
	}
	chosen, sum := tensor.Data[int64](p.Path("id")), int64(0)
	for _, id := range chosen {
		sum += id
	}
	if sum != ids {
		t.Errorf("ids %v add up to %d, want %d", chosen, sum, ids)
	}
}

func TestOrderFacts(t *testing.T) {
	users, table := someUsers(t)
	var orders, items, tags, ids, active, ages, aged, mailed, noted, qty, ks float64
	for _, u := range users {
		ids += float64(u.ID)
		if u.Active {
			active++
		}
		if u.Age != nil {
			ages, aged = ages+float64(*u.Age), aged+1
		}
		if u.Email != nil {
			mailed++
		}
		tags += float64(len(u.Tags))
		for _, o := range u.Orders {
			orders, qty = orders+1, qty+float64(o.Qty)
			if o.Note != nil {
				noted++
			}
			for _, i := range o.Items {
				items, ks = items+1, ks+float64(i.K)
			}
		}
	}
	f := orderFacts(table)
	got := []float64{f[0], f[1], f[2], f[3], f[4], f[5], f[7], f[8], f[9], f[10], f[13], f[15]}
	if want := []float64{float64(len(users)), orders, items, tags, ids, active, ages, aged, mailed, noted, qty, ks}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
