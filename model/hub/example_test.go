package hub_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/model/hub"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// ExampleClient keeps a model in a registry, and gets it from there.
func ExampleClient() {
	ctx := context.Background()
	dir, _ := os.MkdirTemp("", "hub")
	defer os.RemoveAll(dir)
	server, err := hub.NewServer(filepath.Join(dir, "registry"), hub.ServerOptions{})
	if err != nil {
		panic(err)
	}
	web := httptest.NewServer(server)
	defer web.Close()
	defer server.Close()

	m := saved.NewModel()
	double := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Mul(x, 2.0) })
	if err := m.Add("double", double, tensor.Scalar(1.0)); err != nil {
		panic(err)
	}
	c := hub.Client{Cache: filepath.Join(dir, "cache")}
	ref := strings.TrimPrefix(web.URL, "http://") + "/team/double:v1"
	if _, err := c.PushModel(ctx, m, ref); err != nil {
		panic(err)
	}
	again, err := c.Open(ctx, ref)
	if err != nil {
		panic(err)
	}
	out, err := again.Function("double").Call(tensor.Scalar(21.0))
	fmt.Println(out, err)
	// Output: [42.0 float64[]] <nil>
}
