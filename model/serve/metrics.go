package serve

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// counts are the counters of a function, by Triton's names.
type counts struct {
	success, backend, other    atomic.Int64 // calls
	rejected, cancelled        atomic.Int64
	rows, runs                 atomic.Int64
	request, queue, in, inside atomic.Int64 // microseconds
	out                        atomic.Int64
	pending                    atomic.Int64
	latency                    [len(latencies) + 1]atomic.Int64
}

// latencies are the upper bounds of the histogram of the times of calls.
var latencies = [...]time.Duration{500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond,
	25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second}

// took counts the time of a request.
func (c *counts) took(d time.Duration) {
	i := 0
	for i < len(latencies) && d > latencies[i] {
		i++
	}
	c.latency[i].Add(1)
}

// failures returns the number of calls that failed, for whatever reason.
func (c *counts) failures() int64 {
	return c.backend.Load() + c.other.Load() + c.rejected.Load() + c.cancelled.Load()
}

// finished counts a call that has ended.
func (c *counts) finished(began time.Time, err error) {
	c.request.Add(time.Since(began).Microseconds())
	if err == nil {
		c.success.Add(1)
		return
	}
	var f *fault
	own := errors.As(err, &f) // an error of the server, not of the function
	switch status := faultOf(err).status; {
	case status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests:
		c.rejected.Add(1)
	case status == http.StatusGatewayTimeout || status == statusGone:
		c.cancelled.Add(1)
	case own && status != http.StatusInternalServerError:
		c.other.Add(1)
	default:
		c.backend.Add(1)
	}
}

func (c *counts) queued(d time.Duration) { c.queue.Add(d.Microseconds()) }

// ran counts a run of the function for a number of rows.
func (c *counts) ran(d time.Duration, rows int) {
	c.runs.Add(1)
	c.rows.Add(int64(rows))
	c.inside.Add(d.Microseconds())
}

// metrics answers in Prometheus's text format.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	return s.WriteMetrics(w)
}

// WriteMetrics writes the counters of the functions in Prometheus's text format.
func (s *Server) WriteMetrics(to io.Writer) error {
	w := bufio.NewWriter(to)
	type series struct {
		name, kind, help string
		value            func(c *counts) *atomic.Int64
		labels           string
	}
	all := []series{
		{"nv_inference_request_success", "counter", "Calls that were answered", func(c *counts) *atomic.Int64 { return &c.success }, ""},
		{"nv_inference_request_failure", "counter", "Calls that failed", func(c *counts) *atomic.Int64 { return &c.backend }, `,reason="BACKEND"`},
		{"nv_inference_request_failure", "", "", func(c *counts) *atomic.Int64 { return &c.rejected }, `,reason="REJECTED"`},
		{"nv_inference_request_failure", "", "", func(c *counts) *atomic.Int64 { return &c.cancelled }, `,reason="CANCELED"`},
		{"nv_inference_request_failure", "", "", func(c *counts) *atomic.Int64 { return &c.other }, `,reason="OTHER"`},
		{"nv_inference_count", "counter", "Rows", func(c *counts) *atomic.Int64 { return &c.rows }, ""},
		{"nv_inference_exec_count", "counter", "Runs of the function", func(c *counts) *atomic.Int64 { return &c.runs }, ""},
		{"nv_inference_request_duration_us", "counter", "Microseconds of calls", func(c *counts) *atomic.Int64 { return &c.request }, ""},
		{"nv_inference_queue_duration_us", "counter", "Microseconds of waiting", func(c *counts) *atomic.Int64 { return &c.queue }, ""},
		{"nv_inference_compute_input_duration_us", "counter", "Microseconds of reading arguments", func(c *counts) *atomic.Int64 { return &c.in }, ""},
		{"nv_inference_compute_infer_duration_us", "counter", "Microseconds of running", func(c *counts) *atomic.Int64 { return &c.inside }, ""},
		{"nv_inference_compute_output_duration_us", "counter", "Microseconds of writing results", func(c *counts) *atomic.Int64 { return &c.out }, ""},
		{"nv_inference_pending_request_count", "gauge", "Calls that are running or waiting", func(c *counts) *atomic.Int64 { return &c.pending }, ""},
	}
	for _, x := range all {
		if x.kind != "" {
			fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", x.name, x.help, x.name, x.kind)
		}
		for _, f := range s.list() {
			fmt.Fprintf(w, "%s{model=%q,version=%q%s} %d\n", x.name, f.Name, f.version, x.labels, x.value(f.counts).Load())
		}
	}
	const name = "tenon_request_duration_seconds"
	fmt.Fprintf(w, "# HELP %s Times of requests\n# TYPE %s histogram\n", name, name)
	for _, f := range s.list() {
		labels := fmt.Sprintf("model=%q,version=%q", f.Name, f.version)
		total := int64(0)
		for i := range f.counts.latency {
			total += f.counts.latency[i].Load()
			end := "+Inf"
			if i < len(latencies) {
				end = strconv.FormatFloat(latencies[i].Seconds(), 'g', -1, 64)
			}
			fmt.Fprintf(w, "%s_bucket{%s,le=%q} %d\n", name, labels, end, total)
		}
		fmt.Fprintf(w, "%s_sum{%s} %g\n%s_count{%s} %d\n", name, labels, float64(f.counts.request.Load())/1e6, name, labels, total)
	}
	return w.Flush()
}
