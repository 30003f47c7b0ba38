package dataset

import (
	"fmt"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"
)

// Stats are what the stages of a dataset have done since [Dataset.Measure].
type Stats struct{ root stage }

// A Stage is what one stage of a dataset has done.
type Stage struct {
	Name     string
	Depth    int           // how many stages are behind it
	Elements int64         // that it computed or handed on
	Total    time.Duration // in it and the stages before it, summed over the goroutines that run them
	Own      time.Duration // in it
	Waiting  time.Duration // of the loop for Prefetch
	Workers  int           // of Prefetch, the most there were
	Bytes    int64         // of elements that Prefetch held, the most there were
}

// Measure begins to measure the stages of a dataset in the loops that begin from now on.
// Datasets that share stages share what is measured. It costs about a tenth of a microsecond
// for each element of each stage.
func (d *Dataset[T]) Measure() *Stats {
	var on func(s stage)
	on = func(s stage) {
		s.meters().on.Store(true)
		for _, b := range s.stages() {
			on(b)
		}
	}
	on(d.n)
	return &Stats{d.n}
}

// Stages returns what the stages have done, the last one first and each before those that it
// reads.
func (s *Stats) Stages() []Stage {
	var out []Stage
	var walk func(s stage, depth int)
	walk = func(s stage, depth int) {
		m := s.meters()
		total := time.Duration(m.nanos.Load())
		x := Stage{Name: m.name, Depth: depth, Elements: m.elements.Load(), Total: total, Own: total,
			Waiting: time.Duration(m.waiting.Load()), Workers: int(m.workers.Load()), Bytes: m.bytes.Load()}
		for _, b := range s.stages() {
			x.Own -= time.Duration(b.meters().nanos.Load())
		}
		x.Own = max(0, x.Own)
		out = append(out, x)
		for _, b := range s.stages() {
			walk(b, depth+1)
		}
	}
	walk(s.root, 0)
	return out
}

// String returns a table of the stages.
func (s *Stats) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "stage\telements\town\ttotal\twaiting\tworkers\tbytes")
	for _, x := range s.Stages() {
		fmt.Fprintf(w, "%s%s\t%d\t%v\t%v\t%v\t%d\t%d\n", strings.Repeat("  ", x.Depth), x.Name, x.Elements, x.Own, x.Total, x.Waiting, x.Workers, x.Bytes)
	}
	_ = w.Flush() // a strings.Builder takes everything
	return b.String()
}

// stage is a node of any type.
type stage interface {
	meters() *meter
	stages() []stage
}

func (n *node[T]) meters() *meter  { return &n.meter }
func (n *node[T]) stages() []stage { return n.below }

// meter counts what a stage does, where on says so.
type meter struct {
	name                                     string
	on                                       atomic.Bool
	elements, nanos, waiting, workers, bytes atomic.Int64
}

func (m *meter) took(start time.Time, elements int64) {
	m.nanos.Add(int64(time.Since(start)))
	m.elements.Add(elements)
}

// most keeps the largest number.
func most(to *atomic.Int64, x int64) {
	for old := to.Load(); x > old && !to.CompareAndSwap(old, x); old = to.Load() {
	}
}

// metered returns next with its time, and that of computing what it gives, measured.
func metered[T any](m *meter, next func() (item[T], bool)) func() (item[T], bool) {
	return func() (item[T], bool) {
		start := time.Now()
		it, ok := next()
		if !ok {
			m.took(start, 0)
			return it, ok
		}
		m.took(start, 1)
		if get := it.get; get != nil {
			it.get = func() (T, error) {
				defer m.took(time.Now(), 0)
				return get()
			}
		}
		return it, ok
	}
}
