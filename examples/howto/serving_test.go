package howto

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/tenonml/tenon/model/serve"
)

func Example_servingA() {
	type Item struct {
		Price float64
		Qty   int
	}
	type Order struct{ Items []Item }
	type Price struct{ Total float64 }

	price, err := serve.Rows("price", func(ctx context.Context, orders []Order) ([]Price, error) {
		prices := make([]Price, len(orders))
		for i, o := range orders {
			for _, x := range o.Items {
				prices[i].Total += x.Price * float64(x.Qty)
			}
		}
		return prices, nil
	})
	check(err)
	price.Batched = true
	s := serve.New(serve.Options{})
	check(s.Add(price))
	h := httptest.NewServer(s)
	defer h.Close()

	orders := []Order{{Items: []Item{{2.5, 2}, {1, 1}}}, {}}
	prices, err := serve.CallRows[Order, Price](context.Background(), &serve.Client{URL: h.URL}, "price", orders)
	fmt.Println(prices, err)
	// Output:
	// [{6} {0}] <nil>
}
