package main

import (
	"encoding/json"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// A runner times the cases of one workload.
type runner struct {
	out      io.Writer
	workload string
	size     string
	threads  int
	budget   time.Duration
	only     []string // names of cases; empty: all
	err      error

	// instead, if it is set, gets a case in place of the clock.
	instead func(c benchCase, f func() any)
}

// benchCase describes what a case counts. The zero value of all fields but the
// name is "nothing".
type benchCase struct {
	name  string
	inner int     // operations in one call
	bytes float64 // moved by one operation
	flops float64
	items float64
	unit  string // of the items
	check func(result any) []float64
	note  string
	facts *Facts // what is told beside the time; check may fill it

	// newRows says that a ragged result has a partition of its own, not an argument's.
	newRows bool
}

// Facts are what results are besides quick.
type Facts struct {
	Fill      float64 `json:"fill,omitempty"` // how full bins are
	Bins      int     `json:"bins,omitempty"`
	FileBytes int64   `json:"file_bytes,omitempty"`
}

// line is what is printed of a case.
type line struct {
	*Facts

	Workload   string    `json:"workload"`
	Case       string    `json:"case"`
	Peer       string    `json:"peer"`
	Size       string    `json:"size"`
	Threads    int       `json:"threads"`
	Metric     string    `json:"metric"`
	Median     float64   `json:"median"`
	Min        float64   `json:"min"`
	Runs       int       `json:"runs"`
	Inner      int       `json:"inner,omitempty"`
	Throughput float64   `json:"throughput,omitempty"`
	Unit       string    `json:"throughput_unit,omitempty"`
	Flops      float64   `json:"flops,omitempty"`
	Bytes      float64   `json:"bytes,omitempty"`
	Items      float64   `json:"items,omitempty"`
	First      float64   `json:"first_s,omitempty"`
	Checksum   []float64 `json:"checksum,omitempty"`
	Note       string    `json:"note,omitempty"`
	Faults     float64   `json:"faults"`
	OtherCPU   float64   `json:"other_cpu"`

	// Of requests.
	P50 float64 `json:"p50,omitempty"`
	P99 float64 `json:"p99,omitempty"`
	QPS float64 `json:"qps,omitempty"`

	// Of memory.
	Seconds       float64 `json:"seconds,omitempty"`
	PeakOverInput float64 `json:"peak_over_input,omitempty"`
	HeldOverInput float64 `json:"held_over_input,omitempty"`
}

// pick returns the value for the size of this run.
func (r *runner) pick(full, small, tiny int) int {
	switch r.size {
	case "full":
		return full
	case "small":
		return small
	}
	return tiny
}

// want reports whether a case is to be run, for cases that are dear to prepare.
func (r *runner) want(name string) bool { return len(r.only) == 0 || slices.Contains(r.only, name) }

// A case is warm after warmRuns runs and warmFor: what is measured is how it goes on, not
// how it starts, which is told apart. Memory that is collected comes back only after a
// whole cycle of the collector, of four megabytes at least; until then each page is new to
// the process, at the price of a fault.
const (
	warmRuns = 2
	warmFor  = 30 * time.Millisecond
	minRuns  = 5
	maxRuns  = 60
)

// run times f, which does c.inner operations and returns their result. It returns
// the median and the minimum seconds of one operation, and false where the case
// is not to be run.
func (r *runner) run(c benchCase, f func() any) (median, least float64, ok bool) {
	if !r.want(c.name) || r.err != nil {
		return 0, 0, false
	}
	if r.instead != nil {
		r.instead(c, f)
		return 0, 0, false
	}
	l := line{Note: c.note}
	load := startLoad()
	start := time.Now()
	result := f()
	first := time.Since(start)
	l.First = first.Seconds()
	if c.check != nil {
		l.Checksum = c.check(result)
	}
	c.drop(result)
	warm, atLeast := warmRuns, minRuns
	switch {
	case first > 5*r.budget:
		warm, atLeast = 0, 1
	case first > r.budget:
		warm, atLeast = 0, 2
	case first*(warmRuns+minRuns) > 4*r.budget:
		warm, atLeast = 1, 3
	}
	for start = time.Now(); warm > 0 || first < warmFor && time.Since(start) < warmFor; warm-- {
		c.drop(f())
	}
	runtime.GC()
	var times []float64
	faults := pageFaults()
	for start = time.Now(); len(times) < atLeast || len(times) < maxRuns && time.Since(start) < r.budget; {
		before := time.Now()
		result = f()
		times = append(times, time.Since(before).Seconds())
		c.drop(result)
	}
	inner := float64(max(1, c.inner))
	l.Faults = float64(pageFaults()-faults) / float64(len(times)) / inner
	l.OtherCPU = load.others()
	return r.emit(c, times, l)
}

// drop gives back the memory of a result whose time has been taken. The peers' driver deletes
// theirs at the same place, and in a loop inside of a case their binding of the next one does,
// for they count references.
func (c *benchCase) drop(result any) {
	switch t := result.(type) {
	case *tensor.Dense:
		tensor.Release(t)
	case *ragged.Tensor:
		tensor.Release(t.FlatValues())
		if c.newRows {
			tensor.Release(t.Partition().RowSplits())
		}
	}
}

// emit prints the line of a case, given the seconds of its samples.
func (r *runner) emit(c benchCase, times []float64, l line) (median, least float64, ok bool) {
	return r.emitAs("seconds", c, times, l)
}

// emitAs is emit for samples of something else than seconds.
func (r *runner) emitAs(metric string, c benchCase, times []float64, l line) (median, least float64, ok bool) {
	inner := float64(max(1, c.inner))
	slices.Sort(times)
	n := len(times)
	median, least = (times[(n-1)/2]+times[n/2])/2/inner, times[0]/inner
	l.Workload, l.Case, l.Peer, l.Size, l.Threads = r.workload, c.name, "tenon", r.size, r.threads
	l.Metric, l.Median, l.Min, l.Runs = metric, median, least, n
	l.Facts = c.facts
	l.Flops, l.Bytes, l.Items = c.flops, c.bytes, c.items
	if c.inner > 1 {
		l.Inner = c.inner
	}
	switch {
	case metric != "seconds":
	case c.flops > 0:
		l.Throughput, l.Unit = c.flops/median/1e9, "GFLOP/s"
	case c.bytes > 0:
		l.Throughput, l.Unit = c.bytes/median/1e9, "GB/s"
	case c.items > 0:
		l.Throughput, l.Unit = c.items/median, c.unit+"/s"
	}
	r.err = json.NewEncoder(r.out).Encode(l)
	return median, least, r.err == nil
}

// difference prints a case whose time is computed from those of others.
func (r *runner) difference(name string, median, least float64, note string) {
	if !r.want(name) || r.err != nil {
		return
	}
	l := line{Workload: r.workload, Case: name, Peer: "tenon", Size: r.size, Threads: r.threads, Metric: "seconds",
		Median: median, Min: least, Runs: 1, Note: note}
	r.err = json.NewEncoder(r.out).Encode(l)
}
