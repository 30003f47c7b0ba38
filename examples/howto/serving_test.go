package howto

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/model/serve"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func Example_servingA() {
	texts, labels := ragged.FromSlices([][]int64{{0, 1}, {2}, {1, 0, 1}, {2, 2}}), tensor.Of([]float32{1, 0, 1, 0})
	score := func(emb nn.Embedding, words *ragged.Tensor) tensor.Tensor {
		return ops.Squeeze(emb.Bag(words, nil, nn.BagMean), 1)
	}
	loss := func(emb nn.Embedding, _ int, _ tensor.Tensor) tensor.Tensor {
		return ops.Mean(nn.BinaryCrossEntropy(score(emb, texts), labels))
	}
	data := train.Source[int]{Batches: 1, At: func(_ context.Context, i int) (int, error) { return i, nil }}
	folder := filepath.Join(folder, "mood") // of all versions
	check(os.MkdirAll(folder, 0o755))

	fit, err := train.Fit(context.Background(), nn.NewEmbedding(ops.RandomKey(1), 3, 1), loss, train.FitOptions[nn.Embedding, int]{Options: train.Options{Optimizer: train.SGD(1.0)}, Data: data, Epochs: 50})
	check(err)
	good := function.New(func(words *ragged.Tensor) tensor.Tensor { return ops.Greater(score(fit.Params, words), 0) })
	m := saved.NewModel()
	check(m.Add("good", good, tenon.Must(ragged.NewSpec(dtype.Int64, shape.Of(-1, -1), 1, dtype.Int64))))
	check(m.Save(filepath.Join(folder, "1")))
	s := serve.New(serve.Options{})
	check(s.AddFolder(context.Background(), serve.Folder{Path: folder}))
	h := httptest.NewServer(s) // s.ListenAndServe(ctx, ":8000", 5*time.Second) in a program that serves
	defer h.Close()
	answer, err := http.Post(h.URL+"/call/mood", "application/json", strings.NewReader(`{"x0": [[1, 0], [2, 2, 2]]}`))
	check(err)
	text, err := io.ReadAll(answer.Body)
	fmt.Println(string(text), err)
	// Output:
	// {"y0":[true,false]} <nil>
}

func Example_servingB() {
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
