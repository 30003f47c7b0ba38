package profile

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

// Event is one step of a run.
type Event struct {
	Op       string   // the operation; operations that run together are joined by +
	Dims     []string // the names of the dimensions of the first result, if known
	Line     string   // the user's line
	Graph    string
	Nodes    []any // the nodes of the graph as it ran (*graph.Node); several if they ran together
	Start    time.Time
	Duration time.Duration
	Bytes    int64 // of the results
	Live     int64 // bytes of results that are needed after the step or were needed by it
	Needed   int64 // the same without results that are views of others: a lower bound for any memory layout
	Held     int64 // bytes of memory that the run holds for results: what is needed, rounding, and what is not yet returned
}

// Profile collects the steps of runs. It is safe for concurrent use; the zero value is ready to
// use.
type Profile struct {
	mu     sync.Mutex
	events []Event
}

// Add records a step.
func (p *Profile) Add(e Event) {
	p.mu.Lock()
	p.events = append(p.events, e)
	p.mu.Unlock()
}

// Events returns the collected steps in the order in which they ended.
func (p *Profile) Events() []Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Event(nil), p.events...)
}

// Peak returns the largest number of bytes that results took at one time.
func (p *Profile) Peak() int64 {
	var most int64
	for _, e := range p.Events() {
		most = max(most, e.Live)
	}
	return most
}

// Memory returns the largest number of bytes that runs held for results at one time, and the
// largest number that they needed, which is the lower bound for the order of their steps.
func (p *Profile) Memory() (held, needed int64) {
	for _, e := range p.Events() {
		held, needed = max(held, e.Held), max(needed, e.Needed)
	}
	return held, needed
}

// WriteTrace writes the steps as a trace for chrome://tracing and Perfetto, in the Trace
// Event Format: complete events in microseconds, and a counter of live bytes.
func (p *Profile) WriteTrace(w io.Writer) error {
	type event struct {
		Name  string         `json:"name"`
		Cat   string         `json:"cat,omitempty"`
		Phase string         `json:"ph"`
		Time  float64        `json:"ts"`
		Dur   float64        `json:"dur,omitempty"`
		PID   int            `json:"pid"`
		TID   int            `json:"tid"`
		Args  map[string]any `json:"args,omitempty"`
	}
	events := p.Events()
	out := struct {
		Events []event `json:"traceEvents"`
		Unit   string  `json:"displayTimeUnit"`
	}{Events: []event{}, Unit: "ns"}
	var zero time.Time
	for _, e := range events {
		if zero.IsZero() || e.Start.Before(zero) {
			zero = e.Start
		}
	}
	for _, e := range events {
		at := float64(e.Start.Sub(zero)) / 1e3
		dur := float64(e.Duration) / 1e3
		out.Events = append(out.Events,
			event{Name: e.Op, Cat: e.Graph, Phase: "X", Time: at, Dur: dur, PID: 1, TID: 1, Args: map[string]any{"line": e.Line, "bytes": e.Bytes, "dims": e.Dims}},
			event{Name: "live bytes", Phase: "C", Time: at + dur, PID: 1, TID: 1, Args: map[string]any{"bytes": e.Live, "held": e.Held}})
	}
	return json.NewEncoder(w).Encode(out)
}
