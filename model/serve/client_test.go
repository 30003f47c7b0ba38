package serve_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/model/serve"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

type order struct {
	ID    int64 `json:"id"`
	Items []struct {
		Name  string  `json:"name"`
		Price float64 `json:"price"`
	} `json:"items"`
	Coupon *string `json:"coupon"`
}

type price struct {
	ID    int64
	Total float64
}

func prices(_ context.Context, rows []order) ([]price, error) {
	var out []price
	for i, o := range rows {
		p := price{ID: o.ID}
		for _, item := range o.Items {
			if item.Price < 0 {
				return nil, tenon.NewError(tenon.ErrInvalid, "prices", fmt.Sprintf("order %d costs less than nothing", i))
			}
			p.Total += item.Price
		}
		if o.Coupon != nil {
			p.Total /= 2
		}
		out = append(out, p)
	}
	return out, nil
}

// The same structs stand on both sides.
func TestClientCallsWithStructs(t *testing.T) {
	s := serve.New(serve.Options{})
	f := tenon.Must(serve.Rows("prices", prices))
	f.Batched = true
	if err := s.Add(f); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	defer h.Close()
	c := &serve.Client{URL: h.URL}
	orders := make([]order, 3)
	coupon := "half"
	for i := range orders {
		orders[i].ID = int64(i)
		for k := range i {
			orders[i].Items = append(orders[i].Items, struct {
				Name  string  `json:"name"`
				Price float64 `json:"price"`
			}{fmt.Sprint("item ", k), float64(k + 1)})
		}
	}
	orders[2].Coupon = &coupon
	got, err := serve.CallRows[order, price](t.Context(), c, "prices", orders)
	if err != nil || fmt.Sprint(got) != "[{0 0} {1 1} {2 1.5}]" {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := serve.CallRows[order, price](t.Context(), c, "prices", nil); err != nil || len(got) != 0 {
		t.Errorf("no rows: %v, %v", got, err)
	}
	orders[1].Items[0].Price = -1
	_, err = serve.CallRows[order, price](t.Context(), c, "prices", orders)
	var remote *serve.RemoteError
	if !errors.As(err, &remote) || remote.Status != 400 || !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "order 1 costs less than nothing") {
		t.Errorf("got %v", err)
	}
	if status, body := post(t, h.URL+"/call/prices", `{"id":[7],"items":[[{"name":"a","price":2}]],"coupon":[null]}`); status != 200 || body != `{"ID":[7],"Total":[2.0]}` {
		t.Errorf("%d %s", status, body)
	}
}

func TestClientSendsValuesOfAnyType(t *testing.T) {
	h := newServer(t, serve.Options{})
	c := &serve.Client{URL: h.URL + "/"}
	rows := tenon.Must(ragged.FromRowSplits(tensor.Of([]float64{1, 2.5, 4}, 3), []int64{0, 2, 2, 3}))
	out, err := c.Call(t.Context(), "sum", rows)
	if err != nil || fmt.Sprint(out) != "[[3.5 0.  4. ] float64[3]]" {
		t.Errorf("%v, %v", out, err)
	}
	people := tenon.Must(structured.FromNested([]any{map[string]any{"name": "ann", "tags": []any{"a"}, "age": int32(7)}, map[string]any{"name": "bob", "tags": []any{"b"}}},
		structured.NestedOptions{Spec: functions()[1].Args[0].Spec}))
	out, err = c.Call(t.Context(), "same", people)
	if err != nil || !tensor.Equal(out[0].(tensor.Tensor), people, tensor.EqualOptions{}) {
		t.Errorf("%v, %v", out, err)
	}
	args, results, err := c.Function(t.Context(), "sum")
	if err != nil || len(args) != 1 || args[0].Name != "x" || !tenon.Compatible(rows.Spec(), args[0].Spec) || results[0].Name != "y" {
		t.Errorf("%v, %v, %v", args, results, err)
	}
	n := 0
	for out, err := range c.Stream(t.Context(), "count", tensor.Scalar(int64(3))) {
		if err != nil || tensor.Item[int64](out[0]) != int64(n) {
			t.Fatalf("result %d: %v, %v", n, out, err)
		}
		n++
	}
	if n != 3 {
		t.Errorf("%d results", n)
	}
	for _, c2 := range []struct {
		name string
		args []tenon.Value
		want error
	}{
		{"nothing", nil, tenon.ErrNotFound},
		{"sum", nil, tenon.ErrInvalid},
		{"sum", []tenon.Value{tensor.Scalar(true)}, tenon.ErrInvalid},
		{"sum", []tenon.Value{ops.Neg(rows)}, tenon.ErrInvalid},
	} {
		if _, err := c.Call(t.Context(), c2.name, c2.args...); !errors.Is(err, c2.want) {
			t.Errorf("%s: %v, want %v", c2.name, err, c2.want)
		}
	}
	late, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := c.Call(late, "wait", tensor.Scalar(true)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want that the deadline has passed", err)
	}
}

// A traced function is served without being saved.
func TestTracedFunctionsAreServed(t *testing.T) {
	s := serve.New(serve.Options{})
	double := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Mul(x, 2.0) })
	if err := s.AddFunction("double", double, dense(dtype.Float64, -1)); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	defer h.Close()
	out, err := (&serve.Client{URL: h.URL}).Call(t.Context(), "double", tensor.Of([]float64{1, 2}, 2))
	if err != nil || fmt.Sprint(out) != "[[2. 4.] float64[2]]" {
		t.Errorf("%v, %v", out, err)
	}
}
