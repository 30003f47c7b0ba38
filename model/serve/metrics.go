package serve

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// counts is what is counted of a function, by Triton's names.
type counts struct {
	success, backend, other    atomic.Int64 // calls
	rows, runs                 atomic.Int64
	request, queue, in, inside atomic.Int64 // microseconds
	out                        atomic.Int64
	pending                    atomic.Int64
}

// finished counts a call that has ended.
func (c *counts) finished(began time.Time, err error) {
	c.request.Add(time.Since(began).Microseconds())
	var f *fault
	switch {
	case err == nil:
		c.success.Add(1)
	case errors.As(err, &f) && f.status != http.StatusInternalServerError:
		c.other.Add(1)
	default:
		c.backend.Add(1)
	}
}

func (c *counts) queued(d time.Duration) { c.queue.Add(d.Microseconds()) }

// ran counts a run of the function for so many rows.
func (c *counts) ran(d time.Duration, rows int) {
	c.runs.Add(1)
	c.rows.Add(int64(rows))
	c.inside.Add(d.Microseconds())
}

// metrics answers in the text format of Prometheus.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	type series struct {
		name, kind, help string
		value            func(c *counts) *atomic.Int64
		labels           string
	}
	all := []series{
		{"nv_inference_request_success", "counter", "Calls that were answered", func(c *counts) *atomic.Int64 { return &c.success }, ""},
		{"nv_inference_request_failure", "counter", "Calls that failed", func(c *counts) *atomic.Int64 { return &c.backend }, `,reason="BACKEND"`},
		{"nv_inference_request_failure", "", "", func(c *counts) *atomic.Int64 { return &c.other }, `,reason="OTHER"`},
		{"nv_inference_count", "counter", "Rows", func(c *counts) *atomic.Int64 { return &c.rows }, ""},
		{"nv_inference_exec_count", "counter", "Runs of the function", func(c *counts) *atomic.Int64 { return &c.runs }, ""},
		{"nv_inference_request_duration_us", "counter", "Microseconds of calls", func(c *counts) *atomic.Int64 { return &c.request }, ""},
		{"nv_inference_queue_duration_us", "counter", "Microseconds of waiting", func(c *counts) *atomic.Int64 { return &c.queue }, ""},
		{"nv_inference_compute_input_duration_us", "counter", "Microseconds of reading arguments", func(c *counts) *atomic.Int64 { return &c.in }, ""},
		{"nv_inference_compute_infer_duration_us", "counter", "Microseconds of running", func(c *counts) *atomic.Int64 { return &c.inside }, ""},
		{"nv_inference_compute_output_duration_us", "counter", "Microseconds of writing results", func(c *counts) *atomic.Int64 { return &c.out }, ""},
		{"nv_inference_pending_request_count", "gauge", "Calls that run or wait", func(c *counts) *atomic.Int64 { return &c.pending }, ""},
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	for _, x := range all {
		if x.kind != "" {
			fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", x.name, x.help, x.name, x.kind)
		}
		for _, f := range s.list() {
			fmt.Fprintf(w, "%s{model=%q,version=\"1\"%s} %d\n", x.name, f.Name, x.labels, x.value(&f.counts).Load())
		}
	}
}
