package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

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
	if f.Call == nil {
		return nil, faulty(http.StatusNotImplemented, "%s sends a stream of results; call it by /call/%s, generate_stream or ModelStreamInfer", f.Name, f.Name)
	}
	e := exchangeOf(ctx)
	e.called, e.rows = f, rows
	priority := s.level(e.priority)
	all := sizeOf(rows, args)
	if !f.Batched {
		all.rows = 1
		return s.single(ctx, f, args, all, priority, began)
	}
	if place, ok := f.queue.alone(s, ctx, all); ok {
		defer f.queue.ended(s, f, place, true)
		return s.single(ctx, f, args, all, priority, began)
	}
	return f.queue.answer(s, f, &job{ctx: ctx, args: args, size: all, priority: priority, since: began, done: make(chan bool, 2)})
}

// single runs a function for one call, which has been waiting since began.
func (s *Server) single(ctx context.Context, f *served, args []tenon.Value, z size, priority int, began time.Time) ([]tenon.Value, error) {
	leave, err := s.gate.enter(ctx, priority, func() time.Duration { return f.queue.cost.least(z.elements) })
	if err != nil {
		return nil, err
	}
	defer leave()
	f.counts.queued(time.Since(began))
	return f.timed(ctx, args, z)
}

// level returns the priority of a call: the requested one or, if there is no such priority, the
// middle one.
func (s *Server) level(asked int) int {
	if asked >= 1 && asked <= s.opts.Priorities {
		return asked
	}
	return (s.opts.Priorities + 2) / 2
}

// runBatch runs joined calls, or, if that fails, runs them one by one.
func (s *Server) runBatch(f *served, batch []*job) {
	ctx := batch[0].ctx
	if len(batch) > 1 {
		ctx = context.WithoutCancel(ctx) // the other calls must not be cancelled
	}
	var all size
	for _, j := range batch {
		all = all.plus(j.size)
	}
	leave, err := s.gate.enter(ctx, batch[0].priority, func() time.Duration { return f.queue.cost.least(all.elements) })
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
		if f.joined(ctx, batch, all) == nil {
			return
		}
	}
	for _, j := range batch {
		j.finish(f.timed(j.ctx, j.args, j.size))
	}
}

// timed calls the function, and records how long it takes.
func (f *served) timed(ctx context.Context, args []tenon.Value, z size) ([]tenon.Value, error) {
	began := time.Now()
	out, err := f.run(ctx, args, z.rows)
	if err == nil {
		f.queue.cost.add(z.elements, time.Since(began))
	}
	return out, err
}

// joined runs calls as one. Unless it returns an error, they are answered.
func (f *served) joined(ctx context.Context, batch []*job, all size) (err error) {
	defer tenon.Catch(&err)
	began := time.Now()
	args := make([]tenon.Value, len(f.Args))
	for i := range args {
		parts := make([]tenon.Value, len(batch))
		for k, j := range batch {
			parts[k] = j.args[i]
		}
		if args[i], err = f.Args[i].join(parts); err != nil {
			return err
		}
	}
	out, err := f.run(ctx, args, all.rows)
	if err != nil {
		return err
	}
	parts := make([][]tenon.Value, len(batch))
	at := 0
	for k, j := range batch {
		for i, v := range out {
			part, err := f.Results[i].slice(v, at, at+j.size.rows)
			if err != nil {
				return err
			}
			parts[k] = append(parts[k], part)
		}
		at += j.size.rows
	}
	f.queue.cost.add(all.elements, time.Since(began))
	for k, j := range batch {
		j.finish(parts[k], nil)
	}
	return nil
}

// run calls the function.
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
		return nil, errors.New("the function returned a wrong number of results")
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
		if n := f.Results[i].rowsOf(v); f.Batched && n != rows {
			return nil, fmt.Errorf("result %s has %d rows, want %d", f.Results[i].Name, n, rows)
		}
	}
	return out, nil
}

// stream runs a function that sends a stream of results.
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
	e := exchangeOf(ctx)
	e.called = f
	leave, err := s.gate.enter(ctx, s.level(e.priority), nil)
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
