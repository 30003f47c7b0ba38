package serve_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/model/serve"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A function over ragged rows, served as JSON: a list of lists in, a number for each out.
func Example() {
	sums := function.New(func(rows *ragged.Tensor) tensor.Tensor { return ops.Sum(rows, 1) })
	spec, err := ragged.NewSpec(dtype.Float64, shape.Of(-1, -1), 1, dtype.Int64)
	if err != nil {
		log.Fatal(err)
	}
	s := serve.New(serve.Options{})
	if err := s.AddFunction("sums", sums, spec); err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(s) // a program that serves calls s.ListenAndServe(ctx, ":8000", 5*time.Second)
	defer server.Close()

	answer, err := http.Post(server.URL+"/call/sums", "application/json", strings.NewReader(`{"x0": [[1, 2], [], [3.5]]}`))
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	fmt.Println(string(text), err)
	// Output: {"y0":[3.0,0.0,3.5]} <nil>
}

// Rows serves a function over Go structs, one for each row, and CallRows calls it.
func ExampleRows() {
	type Box struct{ Width, Height float64 }
	type Area struct{ Area float64 }
	area, err := serve.Rows("area", func(_ context.Context, boxes []Box) ([]Area, error) {
		areas := make([]Area, len(boxes))
		for i, b := range boxes {
			areas[i].Area = b.Width * b.Height
		}
		return areas, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	s := serve.New(serve.Options{})
	if err := s.Add(area); err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(s)
	defer server.Close()

	areas, err := serve.CallRows[Box, Area](context.Background(), &serve.Client{URL: server.URL}, "area", []Box{{2, 3}, {1, 1}})
	fmt.Println(areas, err)
	// Output: [{6} {1}] <nil>
}
