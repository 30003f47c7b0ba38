package serve

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// A job is a waiting call.
type job struct {
	ctx      context.Context
	args     []tenon.Value
	size     size
	priority int // 1 goes first
	since    time.Time
	done     chan bool // true: its goroutine is to work, which happens at most once; false: it is answered
	answered atomic.Bool
	chosen   bool // its goroutine was told to work
	gone     bool // nobody waits for it
	out      []tenon.Value
	err      error
}

// A size is the size of calls.
type size struct{ rows, elements int }

func (s size) plus(t size) size { return size{s.rows + t.rows, s.elements + t.elements} }

// fits reports whether calls of a size may run as one.
func (s size) fits(o *Options) bool { return s.rows <= o.MaxRows && s.elements <= o.MaxBatchElements }

// sizeOf returns the rows and the number of elements of arguments.
func sizeOf(rows int, args []tenon.Value) size {
	s := size{rows: rows}
	for _, v := range args {
		s.elements += elementsOf(v)
	}
	return s
}

// elementsOf returns the number of elements of a Value, including those of its row splits and
// masks.
func elementsOf(v tenon.Value) int {
	switch v := v.(type) {
	case *tensor.Dense:
		return v.Shape().Size()
	case *tensor.Strings:
		return v.Shape().Size()
	}
	parts, err := v.Spec().Disassemble(v)
	n := 0
	for _, p := range parts {
		if err == nil && p != v {
			n += elementsOf(p)
		}
	}
	return n
}

// A queue joins the calls of a function. While the maximum number of batches runs, other calls wait
// for the next one.
type queue struct {
	mu      sync.Mutex
	waiting []*job        // by priority, and otherwise in order
	workers int           // goroutines that run batches, or are about to take one
	delayed bool          // one of them waits for more calls
	more    chan struct{} // tells it of each new call
	runs    []run         // by place
	cost    cost
}

// A run is a batch that is running, or an empty place.
type run struct {
	busy  bool
	size  size
	began time.Time
}

// starts gives a batch a place. The caller holds the lock.
func (q *queue) starts(z size) (place int) {
	if place = slices.IndexFunc(q.runs, func(r run) bool { return !r.busy }); place < 0 {
		place, q.runs = len(q.runs), append(q.runs, run{})
	}
	q.runs[place] = run{true, z, time.Now()}
	return place
}

// alone lets a call run immediately as a batch of its own, on its own goroutine, if no call is waiting and neither a
// delay nor a deadline has to be observed.
func (q *queue) alone(s *Server, ctx context.Context, z size) (place int, ok bool) {
	if _, ends := ctx.Deadline(); ends || s.opts.MaxDelay > 0 {
		return 0, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) > 0 || q.workers == s.opts.Batches {
		return 0, false
	}
	q.workers++
	return q.starts(z), true
}

// answer returns the answer of a call, after it was its turn.
func (q *queue) answer(s *Server, f *served, j *job) ([]tenon.Value, error) {
	first, err := q.add(s, j)
	if err != nil {
		return nil, err
	}
	switch {
	case first && j.chosen:
		q.work(s, f, j)
	case first:
		go q.work(s, f, nil)
	}
	for {
		select {
		case works := <-j.done:
			if !works {
				return j.out, j.err
			}
			q.work(s, f, j)
		case <-j.ctx.Done():
			if q.left(j) {
				go q.work(s, f, nil)
			}
			return nil, j.ctx.Err()
		}
	}
}

// works reports whether the goroutine of a call may run batches for others until its own call is
// answered. It may not if the call has a deadline.
func (j *job) works() bool {
	_, ok := j.ctx.Deadline()
	return !ok && !j.gone && !j.chosen
}

// add puts a job into the queue. It reports whether another worker is to take it, which is the job's own goroutine if
// it was chosen.
func (q *queue) add(s *Server, j *job) (first bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) >= max(s.opts.Queue, 1) {
		return false, &fault{status: 503, text: fmt.Sprintf("%d calls are waiting, which is the limit", len(q.waiting)), retry: true}
	}
	if err := q.inTime(s, j); err != nil {
		return false, err
	}
	q.waiting = inserted(q.waiting, j, func(j *job) int { return j.priority })
	if q.more == nil {
		q.more = make(chan struct{}, 1)
	}
	if q.delayed {
		select {
		case q.more <- struct{}{}:
		default:
		}
		return false, nil
	}
	if q.workers == s.opts.Batches {
		return false, nil
	}
	q.workers++
	j.chosen = j.works() // before any other goroutine may choose it
	return true, nil
}

// left records that nobody waits for a job any more. It reports whether its goroutine was to
// work.
func (q *queue) left(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	j.gone = true
	select {
	case works := <-j.done:
		return works
	default:
		return false
	}
}

// passOn lets the goroutine of the first waiting call work, which would be woken for its answer
// anyway. The caller holds the lock, and has counted the worker.
func (q *queue) passOn(s *Server, f *served) {
	switch i := slices.IndexFunc(q.waiting, (*job).works); {
	case i >= 0:
		q.waiting[i].chosen = true
		q.waiting[i].done <- true
	case len(q.waiting) > 0:
		go q.work(s, f, nil)
	default:
		q.workers--
	}
}

// inTime rejects a call that cannot be answered before its deadline, judging by recent runs.
func (q *queue) inTime(s *Server, j *job) error {
	if _, ok := j.ctx.Deadline(); !ok {
		return nil
	}
	least := q.cost.predict()
	if least == nil {
		return nil
	}
	var front line
	batch := size{}
	if !slices.ContainsFunc(q.runs, func(r run) bool { return !r.busy }) && len(q.runs) == s.opts.Batches {
		for _, r := range q.runs {
			front.add(least(r.size.elements) - time.Since(r.began))
		}
	}
	for _, ahead := range q.waiting {
		if ahead.priority > j.priority {
			break
		}
		if ahead.ctx.Err() != nil {
			continue
		}
		if with := batch.plus(ahead.size); batch.rows > 0 && !with.fits(&s.opts) {
			front.add(least(batch.elements))
			batch = ahead.size
		} else {
			batch = with
		}
	}
	own := batch.plus(j.size)
	if batch.rows > 0 && !own.fits(&s.opts) {
		front.add(least(batch.elements))
		own = j.size
	}
	return late(j.ctx, max(s.gate.wait(j.priority), front.wait(s.opts.Batches))+least(own.elements))
}

// late returns an error if the deadline of a call passes before it can be answered.
func late(ctx context.Context, need time.Duration) error {
	end, ok := ctx.Deadline()
	if left := time.Until(end); ok && left < need {
		return &fault{status: 503, text: fmt.Sprintf("the call would take at least %v, but has %v left", need.Round(time.Microsecond), max(left, 0).Round(time.Microsecond)), retry: true}
	}
	return nil
}

// work runs batches until no call waits, or its own job is answered.
func (q *queue) work(s *Server, f *served, own *job) {
	for {
		q.delay(s)
		batch, place := q.take(s, f)
		if batch == nil {
			return
		}
		s.runBatch(f, batch)
		if q.ended(s, f, place, own != nil && own.answered.Load()) {
			return
		}
	}
}

// delay waits until the first call has waited long enough, or a batch is full.
func (q *queue) delay(s *Server) {
	for s.opts.MaxDelay > 0 {
		q.mu.Lock()
		q.delayed = true
		var all size
		left := time.Duration(0)
		for _, j := range q.waiting {
			all = all.plus(j.size)
			if l := s.opts.MaxDelay - time.Since(j.since); left == 0 || l < left {
				left = l
			}
		}
		q.mu.Unlock()
		if left <= 0 || all.rows >= s.opts.MaxRows || !all.fits(&s.opts) {
			return
		}
		t := time.NewTimer(left)
		select {
		case <-q.more:
		case <-t.C:
		}
		t.Stop()
	}
}

// ended records that a batch has run. It reports whether its worker should stop, because its own
// call is answered, or no call waits.
func (q *queue) ended(s *Server, f *served, place int, stop bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.runs[place] = run{}
	if stop {
		q.passOn(s, f)
	}
	return stop
}

// take returns the next batch, or nil if no call waits: calls in order as long as their rows
// and elements fit. The first call is taken whatever its size.
func (q *queue) take(s *Server, f *served) (batch []*job, place int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.delayed = false
	var all size
	taken := 0
	for _, j := range q.waiting {
		if j.ctx.Err() != nil {
			j.finish(nil, j.ctx.Err())
		} else if with := all.plus(j.size); len(batch) > 0 && !with.fits(&s.opts) {
			break
		} else {
			batch, all = append(batch, j), with
		}
		taken++
	}
	q.waiting = slices.Delete(q.waiting, 0, taken)
	if len(batch) == 0 {
		q.workers--
		return nil, 0
	}
	place = q.starts(all)
	if len(q.waiting) > 0 && q.workers < s.opts.Batches { // calls that arrived during the delay
		q.workers++
		q.passOn(s, f)
	}
	return batch, place
}

func (j *job) finish(out []tenon.Value, err error) {
	j.out, j.err = out, err
	j.answered.Store(true)
	j.done <- false
}
