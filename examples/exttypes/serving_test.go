package exttypes_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/model/serve"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// inServing sends the values to a function of another process, as tensors with derived names and as JSON,
// and batches of them to one whose calls are joined.
func inServing(t *testing.T, r row) {
	c, err := servedSame(t, merged(r), false)
	if err != nil {
		refused(t, "the function", err)
		return
	}
	ctx := context.Background()
	for _, x := range []tenon.Value{r.a, r.b} {
		sameParts(t, "as tensors", must(c.Call(ctx, "same", x))[0], x)
		for out, err := range c.Stream(ctx, "same", x) {
			sameText(t, "as JSON", must(out, err)[0], x)
		}
	}
	batch, err := ext.Stack(r.a, r.b)
	if err != nil {
		return
	}
	row := must(batch.Spec().(tenon.Batcher).Unbatched())
	if c, err = servedSame(t, must(row.(tenon.Batcher).Batched(shape.Unknown)), true); err != nil {
		refused(t, "the function of rows", err)
		return
	}
	var g sync.WaitGroup
	for i := range 2 {
		g.Go(func() {
			x := must(ext.Gather(batch, []int64{int64(i), int64(1 - i)}))
			out, err := c.Call(ctx, "same", x)
			if err != nil {
				t.Errorf("call %d: %v", i, err)
				return
			}
			sameParts(t, fmt.Sprint("call ", i), out[0], x)
		})
	}
	g.Wait()
}

// servedSame serves a function that returns what it is given.
func servedSame(t *testing.T, s tenon.Spec, batched bool) (*serve.Client, error) {
	x := []serve.Arg{{Name: "x", Spec: s}}
	server := serve.New(serve.Options{MaxDelay: 50 * time.Millisecond, MaxRows: 4})
	err := server.Add(serve.Func{Name: "same", Args: x, Results: x, Batched: batched,
		Call: func(_ context.Context, a []tenon.Value) ([]tenon.Value, error) { return a, nil }})
	h := httptest.NewServer(server)
	t.Cleanup(h.Close)
	return &serve.Client{URL: h.URL}, err
}

// sameText compares what values say: what stands where something is missing does not go with JSON.
func sameText(t *testing.T, what string, got, want tenon.Value) {
	t.Helper()
	a, err := tensor.AppendJSON(nil, got)
	if err != nil {
		sameParts(t, what, got, want)
		return
	}
	if b := must(tensor.AppendJSON(nil, want)); !bytes.Equal(a, b) {
		t.Errorf("%s: got %s, want %s", what, a, b)
	}
}
