package serve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/model/serve"
)

// A cutConn is closed after so many bytes each way.
type cutConn struct {
	net.Conn
	in, out int
	cuts    *atomic.Int64
	once    sync.Once
}

func (c *cutConn) cut() {
	c.once.Do(func() { c.cuts.Add(1); c.Close() })
}

func (c *cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b[:min(len(b), c.in)])
	if c.in -= n; c.in == 0 {
		c.cut()
	}
	return n, err
}

func (c *cutConn) Write(b []byte) (int, error) {
	if len(b) < c.out {
		c.out -= len(b)
		return c.Conn.Write(b)
	}
	n, err := c.Conn.Write(b[:c.out])
	c.cut()
	return n, errors.Join(err, net.ErrClosed)
}

// numbered sends the number i in one of the protocols, and returns whether it came back.
func numbered(ctx context.Context, plain *http.Client, rpc *connect.Client[[]byte, []byte], url string, i int) (bool, error) {
	send := func(path, media, body, want string, headers ...string) (bool, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+path, strings.NewReader(body))
		if err != nil {
			return false, err
		}
		r.Header.Set("Content-Type", media)
		for k := 0; k < len(headers); k += 2 {
			r.Header.Set(headers[k], headers[k+1])
		}
		res, err := plain.Do(r)
		if err != nil {
			return false, err
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		return res.StatusCode == 200 && strings.Contains(string(b), want), err
	}
	long := strings.Repeat(",1", i%200)
	switch i % 4 {
	case 0:
		return send("/call/same", "application/json", fmt.Sprintf(`{"x":[[%d%s],[]]}`, i, long), fmt.Sprintf(`{"x":[[%d%s],[]]}`, i, long))
	case 1:
		return send("/v1/models/same:predict", "application/json", fmt.Sprintf(`{"instances":[[%d%s]]}`, i, long), fmt.Sprintf(`{"predictions":[[%d%s]]}`, i, long))
	case 2:
		head := `{"parameters":{"binary_data_output":true},"inputs":[{"name":"x.flat_values","datatype":"INT64","shape":[2],"parameters":{"binary_data_size":16}},{"name":"x.row_splits.0","datatype":"INT64","shape":[2],"parameters":{"binary_data_size":16}}]}`
		numbers := longs(int64(i), 7)
		return send("/v2/models/same/infer", "application/octet-stream", head+string(numbers)+string(longs(0, 2)), string(numbers), "Inference-Header-Content-Length", fmt.Sprint(len(head)))
	}
	flat := longs(int64(i), 9)
	q := msg(1, "same", 5, msg(1, "x.flat_values", 2, "INT64", 3, 2), 5, msg(1, "x.row_splits.0", 2, "INT64", 3, 2), 7, flat, 7, longs(0, 2))
	r, err := rpc.CallUnary(ctx, connect.NewRequest(&q))
	return err == nil && bytes.Contains(*r.Msg, flat), err
}

// While calls with numbers go on in four protocols, about one connection in a hundred calls is cut at a
// random byte: each answer has its call's number, only calls on connections that were cut fail, and
// nothing stays behind.
func TestCutConnectionsMixNothingUp(t *testing.T) {
	s := serve.New(serve.Options{MaxMemory: 1 << 20})
	lists := []serve.Arg{{Name: "x", Spec: rows(dtype.Int64)}}
	if err := s.Add(serve.Func{Name: "same", Args: lists, Results: lists, Batched: true,
		Call: func(_ context.Context, a []tenon.Value) ([]tenon.Value, error) { return a, nil }}); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, 0) }()
	const workers, calls, bytesOfACall = 8, 400, 700
	var cuts, failed atomic.Int64
	var g sync.WaitGroup
	began := time.Now()
	for w := range workers {
		g.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 5))
			dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
				c, err := new(net.Dialer).DialContext(ctx, network, addr)
				return &cutConn{Conn: c, in: 1 + r.IntN(200*bytesOfACall), out: 1 + r.IntN(200*bytesOfACall), cuts: &cuts}, err
			}
			one, two := &http.Transport{DialContext: dial, MaxConnsPerHost: 1}, &http.Transport{DialContext: dial, Protocols: new(http.Protocols)}
			two.Protocols.SetUnencryptedHTTP2(true)
			defer one.CloseIdleConnections()
			defer two.CloseIdleConnections()
			url := "http://" + l.Addr().String()
			rpc := connect.NewClient[[]byte, []byte](&http.Client{Transport: two}, url+infer, connect.WithGRPC(), connect.WithCodec(plain{}))
			for i := range calls {
				ok, err := numbered(ctx, &http.Client{Transport: one}, rpc, url, w*calls+i)
				if err != nil {
					failed.Add(1)
				} else if !ok {
					t.Errorf("call %d has another's answer, or none", w*calls+i)
				}
			}
		})
	}
	g.Wait()
	if cuts.Load() < 5 || failed.Load() > cuts.Load() {
		t.Errorf("%d connections were cut, %d calls failed", cuts.Load(), failed.Load())
	}
	t.Logf("%d connections were cut, %d of %d calls failed, %.0f calls a second", cuts.Load(), failed.Load(), workers*calls, workers*calls/time.Since(began).Seconds())
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	var b strings.Builder
	if err := s.WriteMetrics(&b); err != nil || !strings.Contains(b.String(), `nv_inference_pending_request_count{model="same",version="1"} 0`) {
		t.Errorf("%v %s", err, b.String())
	}
}

// Requests leave nothing behind: after thousands more the heap has as many objects.
func TestRequestsLeaveNothingBehind(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures memory")
	}
	s := serve.New(serve.Options{})
	for _, f := range functions() {
		if err := s.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	objects := func(requests int) int {
		for i := range requests {
			path, body := "/call/sum", fmt.Sprintf(`{"x":[[%d],[1,2]]}`, i)
			switch i % 4 {
			case 1:
				path, body = "/v1/models/same:predict", fmt.Sprintf(`{"instances":[{"name":"%d","tags":["a"]}]}`, i)
			case 2:
				path, body = "/call/fault", `{}`
			case 3:
				path, body = fmt.Sprintf("/v2/models/nobody%d/infer", i), `{}`
			}
			r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
			s.ServeHTTP(httptest.NewRecorder(), r)
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what pools hold
		runtime.ReadMemStats(&m)
		return int(m.HeapObjects)
	}
	const few, many = 500, 5000
	before := objects(few)
	if after := objects(many); after > before+many/10 {
		t.Errorf("%d objects after %d requests, %d after %d more", before, few, after, many)
	}
}
