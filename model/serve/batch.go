package serve

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

// A job is a call that waits.
type job struct {
	ctx   context.Context
	args  []tenon.Value
	rows  int
	since time.Time
	done  chan struct{}
	out   []tenon.Value
	err   error
}

// A queue joins the calls of a function. While one batch runs, others wait for the next
// one.
type queue struct {
	mu      sync.Mutex
	waiting []*job
	running bool
	more    chan struct{} // told of each call that comes
}

// gate bounds how many calls run at once, and how many wait for it.
type gate struct {
	slots chan struct{} // nil: no bound
	most  int
	mu    sync.Mutex
	wait  int
}

// enter waits for a place. The deadline of ctx holds.
func (g *gate) enter(ctx context.Context) (leave func(), err error) {
	if g.slots == nil {
		return func() {}, ctx.Err()
	}
	leave = func() { <-g.slots }
	select {
	case g.slots <- struct{}{}:
		return leave, nil
	default:
	}
	g.mu.Lock()
	full := g.wait >= g.most
	if !full {
		g.wait++
	}
	g.mu.Unlock()
	if full {
		return nil, &fault{status: 503, text: fmt.Sprintf("%d calls run and %d wait, which is all that is allowed", cap(g.slots), g.most), retry: true}
	}
	defer func() {
		g.mu.Lock()
		g.wait--
		g.mu.Unlock()
	}()
	select {
	case g.slots <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// call runs a function for one request.
func (s *Server) call(ctx context.Context, f *served, args []tenon.Value) (out []tenon.Value, err error) {
	began := time.Now()
	f.counts.pending.Add(1)
	defer func() {
		f.counts.pending.Add(-1)
		f.counts.finished(began, err)
	}()
	rows, err := f.sameRows(args)
	if err != nil {
		return nil, err
	}
	e := exchangeOf(ctx)
	e.called, e.rows = f, rows
	if !f.Batched {
		leave, err := s.gate.enter(ctx)
		if err != nil {
			return nil, err
		}
		defer leave()
		f.counts.queued(time.Since(began))
		return f.run(ctx, args, 1)
	}
	j := &job{ctx: ctx, args: args, rows: rows, since: began, done: make(chan struct{})}
	if err := f.queue.add(s, f, j); err != nil {
		return nil, err
	}
	select {
	case <-j.done:
		return j.out, j.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// add puts a job into the queue and sees that somebody works on it.
func (q *queue) add(s *Server, f *served, j *job) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) >= max(s.opts.Queue, 1) {
		return &fault{status: 503, text: fmt.Sprintf("%d calls wait, which is all that is allowed", len(q.waiting)), retry: true}
	}
	q.waiting = append(q.waiting, j)
	if q.more == nil {
		q.more = make(chan struct{}, 1)
	}
	if !q.running {
		q.running = true
		go q.work(s, f)
		return nil
	}
	select {
	case q.more <- struct{}{}:
	default:
	}
	return nil
}

// work runs batches until nobody waits.
func (q *queue) work(s *Server, f *served) {
	for {
		q.delay(s)
		batch := q.take(s)
		if batch == nil {
			return
		}
		s.runBatch(f, batch)
	}
}

// delay waits until the first call has waited long enough, or a batch is full.
func (q *queue) delay(s *Server) {
	for s.opts.MaxDelay > 0 {
		q.mu.Lock()
		rows := 0
		for _, j := range q.waiting {
			rows += j.rows
		}
		left := time.Duration(0)
		if len(q.waiting) > 0 {
			left = s.opts.MaxDelay - time.Since(q.waiting[0].since)
		}
		q.mu.Unlock()
		if left <= 0 || rows >= s.opts.MaxRows {
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

// take returns the next batch, nil where nobody waits: calls in their order whose rows fit.
// The first one is taken whatever its size.
func (q *queue) take(s *Server) []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	var batch []*job
	rows := 0
	for len(q.waiting) > 0 {
		j := q.waiting[0]
		if j.ctx.Err() != nil {
			j.finish(nil, j.ctx.Err())
		} else if len(batch) > 0 && rows+j.rows > s.opts.MaxRows {
			break
		} else {
			batch, rows = append(batch, j), rows+j.rows
		}
		q.waiting = q.waiting[1:]
	}
	if len(batch) == 0 {
		q.waiting, q.running = nil, false
	}
	return batch
}

func (j *job) finish(out []tenon.Value, err error) {
	j.out, j.err = out, err
	close(j.done)
}

// runBatch runs calls joined, and one by one where that fails.
func (s *Server) runBatch(f *served, batch []*job) {
	ctx := batch[0].ctx
	if len(batch) > 1 {
		ctx = context.WithoutCancel(ctx) // others wait as well
	}
	leave, err := s.gate.enter(ctx)
	if err != nil {
		for _, j := range batch {
			j.finish(nil, err)
		}
		return
	}
	defer leave()
	for _, j := range batch {
		f.counts.queued(time.Since(j.since))
	}
	if len(batch) > 1 {
		if f.joined(ctx, batch) == nil {
			return
		}
	}
	for _, j := range batch {
		j.finish(f.run(j.ctx, j.args, j.rows))
	}
}

// joined runs calls as one. They are finished unless there is an error.
func (f *served) joined(ctx context.Context, batch []*job) (err error) {
	defer tenon.Catch(&err)
	args := make([]tenon.Value, len(f.Args))
	for i := range args {
		parts := make([]tenon.Value, len(batch))
		for k, j := range batch {
			parts[k] = j.args[i]
		}
		args[i] = ops.Concat(parts, 0)
	}
	rows := 0
	for _, j := range batch {
		rows += j.rows
	}
	out, err := f.run(ctx, args, rows)
	if err != nil {
		return err
	}
	parts := make([][]tenon.Value, len(batch))
	at := 0
	for k, j := range batch {
		for _, v := range out {
			parts[k] = append(parts[k], ops.Index(v, key.Range(at, at+j.rows, nil)))
		}
		at += j.rows
	}
	for k, j := range batch {
		j.finish(parts[k], nil)
	}
	return nil
}

// run calls the function itself.
func (f *served) run(ctx context.Context, args []tenon.Value, rows int) (out []tenon.Value, err error) {
	began := time.Now()
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, &fault{status: 500, text: f.Name + " failed"}
		}
		f.counts.ran(time.Since(began), rows)
	}()
	err = func() (err error) {
		defer tenon.Catch(&err)
		out, err = f.Call(ctx, args)
		return err
	}()
	if err != nil {
		return nil, err
	}
	if len(out) != len(f.Results) {
		return nil, errors.New("the function returned another number of results")
	}
	for i, v := range out {
		s := f.Results[i].Spec
		if c, ok := v.(tensor.Concreter); ok && (s == nil || !tenon.Compatible(v.Spec(), s)) {
			if t, err := c.Concrete(); err == nil {
				v = t
			}
		}
		out[i] = v
		if s != nil && !tenon.Compatible(v.Spec(), s) {
			return nil, fmt.Errorf("result %s is %s, want %s", f.Results[i].Name, tenon.String(v.Spec()), tenon.String(s))
		}
		if f.Batched && rowsOf(v) != rows {
			return nil, fmt.Errorf("result %s has %d rows for %d", f.Results[i].Name, rowsOf(v), rows)
		}
	}
	return out, nil
}

// stream runs a function that sends results.
func (s *Server) stream(ctx context.Context, f *served, args []tenon.Value, send func(results []tenon.Value) error) (err error) {
	began := time.Now()
	f.counts.pending.Add(1)
	defer func() {
		if r := recover(); r != nil {
			err = &fault{status: 500, text: f.Name + " failed"}
		}
		f.counts.pending.Add(-1)
		f.counts.ran(time.Since(began), 1)
		f.counts.finished(began, err)
	}()
	exchangeOf(ctx).called = f
	leave, err := s.gate.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return func() (err error) {
		defer tenon.Catch(&err)
		if f.Stream == nil {
			out, err := f.Call(ctx, args)
			if err != nil {
				return err
			}
			return send(out)
		}
		return f.Stream(ctx, args, send)
	}()
}
