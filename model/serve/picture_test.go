package serve_test

import (
	"context"
	"image/png"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenonml/tenon/internal/browser"
	"github.com/tenonml/tenon/model/serve"
)

// An Order and its Price are what a function of the pictures takes and returns.
type (
	Order struct {
		ID    int64
		Items []struct {
			Price float64
			Qty   int64
		}
		Note *string
	}
	Price struct {
		ID    int64
		Total float64
	}
)

// The page is drawn in light and in dark colours as the system of who looks at it has them.
func TestPictures(t *testing.T) {
	s := serve.New(serve.Options{Name: "shop"})
	price, err := serve.Rows("price", func(_ context.Context, orders []Order) ([]Price, error) {
		out := make([]Price, len(orders))
		for i, o := range orders {
			out[i].ID = o.ID
			for _, x := range o.Items {
				out[i].Total += x.Price * float64(x.Qty)
			}
		}
		return out, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	price.Batched, price.Doc = true, "The total of each order: the sum of its items' prices, times how many there are."
	for _, f := range append([]serve.Func{price}, functions()[:2]...) {
		if err := s.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	h := httptest.NewServer(s)
	defer h.Close()
	for range 200 {
		if status, got := post(t, h.URL+"/call/price", `{"ID":[1,2],"Items":[[{"Price":2.5,"Qty":2}],[]],"Note":[null,"soon"]}`); status != 200 {
			t.Fatal(got)
		}
	}
	for _, c := range []struct {
		name string
		dark bool
	}{{"serving-light.png", false}, {"serving-dark.png", true}} {
		img := browser.Picture(t, h.URL+"/?call=price", "1000,1000", c.dark)
		colours := browser.Colours(img)
		ground, most := [3]uint8{}, 0
		for colour, n := range colours {
			if n > most {
				ground, most = colour, n
			}
		}
		if dark := ground[0] < 64 && ground[1] < 64 && ground[2] < 64; dark != c.dark || len(colours) < 10 {
			t.Errorf("%s: the ground is %v, and there are %d colours", c.name, ground, len(colours))
		}
		if !*serve.Update {
			continue
		}
		f, err := os.Create(filepath.Join("..", "..", "docs", c.name))
		if err != nil {
			t.Fatal(err)
		}
		if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, img); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
