package dist

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/scale/dist/internal/wire"
)

// A Comm is a group of ranks that work together, as seen by one of them. It may be used by one
// goroutine at a time.
type Comm struct {
	t     wire.Transport
	world *world
	ranks []int  // the number of each rank in the world
	calls uint64 // operations so far, the same on all ranks

	counts heads // room
}

// Options are the options of a group of ranks.
type Options struct {
	// Timeout is how long a rank waits for the others in one operation before it gives up; 0
	// stands for 10 minutes.
	Timeout time.Duration
}

// world is what all groups of a process share.
type world struct {
	t       wire.Transport
	timeout time.Duration
	spin    time.Duration // how long a rank polls without sleeping
	failed  *tenon.Error  // the first error, which is final
	stuck   map[int]waits // what other ranks have said they are waiting for
	told    bool          // the others know the error
	pending []wire.Request
}

// waits is what a rank has said it is waiting for, and when it said so.
type waits struct {
	what  string
	heard time.Time
}

// New returns the group of all ranks of a transport. It is called by packages that provide a
// transport.
func New(t wire.Transport, o Options) *Comm {
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Minute
	}
	ranks := make([]int, t.Size())
	for i := range ranks {
		ranks[i] = i
	}
	w := &world{t: t, timeout: o.Timeout, spin: spin, stuck: map[int]waits{}}
	if _, ok := t.(*simulated); ok {
		w.spin = 50 * time.Microsecond // the others run on the same processors
	}
	return &Comm{t: t, world: w, ranks: ranks}
}

// Rank returns the number of this rank, counting from 0.
func (c *Comm) Rank() int { return c.t.Rank() }

// Size returns the number of ranks.
func (c *Comm) Size() int { return c.t.Size() }

// Err returns the error that has ended the work of the ranks, or nil if there is none.
func (c *Comm) Err() error {
	if c.world.failed == nil {
		return nil
	}
	return c.world.failed
}

// Share returns the range [lo, hi) of n entries that belongs to a rank. The parts of ranks differ
// by at most one entry.
func Share(n, ranks, rank int) (lo, hi int) { return n * rank / ranks, n * (rank + 1) / ranks }

// shares returns the sizes of all parts.
func shares(n, ranks int) []int {
	out := make([]int, ranks)
	for r := range out {
		lo, hi := Share(n, ranks, r)
		out[r] = hi - lo
	}
	return out
}

// Split returns the group of the ranks that pass the same colour, ordered by their keys, and by
// their ranks if keys are equal. All ranks must call it.
func (c *Comm) Split(ctx context.Context, colour, key int) (*Comm, error) {
	colours, err := c.meet(ctx, call{kind: "split"}, colour)
	if err != nil {
		return nil, err
	}
	colours = slices.Clone(colours)
	keys, err := c.meet(ctx, call{kind: "split"}, key)
	if err != nil {
		return nil, err
	}
	keys = slices.Clone(keys)
	var members []int
	for r, x := range colours {
		if x == colour {
			members = append(members, r)
		}
	}
	slices.SortStableFunc(members, func(a, b int) int { return keys[a] - keys[b] })
	t, err := c.t.Split(slices.Index(colours, colour), members)
	if err != nil {
		return nil, c.Fail(err)
	}
	out := &Comm{t: t, world: c.world}
	for _, m := range members {
		out.ranks = append(out.ranks, c.ranks[m])
	}
	return out, nil
}

// Fail tells all ranks that this one cannot continue, and why: their current and all later
// calls return an error that names this rank and the reason. Fail returns that error.
func (c *Comm) Fail(err error) error { return c.world.fail(err) }

func (w *world) fail(err error) error {
	if err == nil {
		return nil
	}
	if w.failed == nil {
		w.failed = failure(w.t.Rank(), err)
	}
	w.tell()
	return w.failed
}

// tell posts the error to the other ranks, once.
func (w *world) tell() {
	if w.told {
		return
	}
	w.told = true
	text := w.failed.Error()
	for r := range w.t.Size() {
		if r != w.t.Rank() {
			w.t.Post(r, []byte("!"+text[:min(len(text), maxNotice-1)])) // a rank that is gone needs no notice
		}
	}
}

const maxNotice = 2048

// failure returns the error of a rank.
func failure(rank int, err error) *tenon.Error {
	if e, ok := err.(*tenon.Error); ok && strings.HasPrefix(e.Op, "dist") {
		return e
	}
	return &tenon.Error{Kind: tenon.AsError(err).Kind, Op: "dist", Where: fmt.Sprintf("rank %d", rank), Err: err}
}

// wait waits for a request of an operation, and handles notices meanwhile.
func (c *Comm) wait(ctx context.Context, what call, r wire.Request) error {
	if done, err := r.Done(); done {
		if err == nil { // the others may have waited for this rank, in vain
			err = c.listen(what)
		}
		return c.ended(err)
	}
	w := c.world
	var started, asked time.Time
	for i := 1; ; i++ {
		if done, err := r.Done(); done {
			return c.ended(err)
		}
		if i%32 != 0 {
			continue
		}
		if err := c.listen(what); err != nil {
			return c.abandon(r, err)
		}
		if ctx.Err() != nil {
			return c.abandon(r, w.fail(ctx.Err()))
		}
		now := time.Now()
		if started.IsZero() {
			started = now
		}
		waited := now.Sub(started)
		if asked.IsZero() && (waited > w.timeout || c.joined(what)) {
			asked = now
			w.ask(c.name(what))
		}
		if !asked.IsZero() && now.Sub(asked) > w.grace() {
			return c.abandon(r, w.fail(c.blame(what, asked)))
		}
		switch {
		case waited < w.spin:
			runtime.Gosched()
		case waited < 50*spin:
			time.Sleep(20 * time.Microsecond)
		default:
			time.Sleep(time.Millisecond)
		}
	}
}

// spin is how long a rank of a job polls without sleeping: frequent calls of MPI move data faster.
const spin = 20 * time.Millisecond

// abandon keeps the memory of a request alive, because the request may still be under way.
func (c *Comm) abandon(r wire.Request, err error) error {
	c.world.pending = append(c.world.pending, r)
	return err
}

// ended handles the end of a request.
func (c *Comm) ended(err error) error {
	if err != nil {
		return c.world.fail(err)
	}
	return nil
}

// listen reads the notices of other ranks while this one waits: "!" is followed by an error, "?" by what a rank is
// waiting for, "=" by the answer to that, and "+" is the transport's notice that a rank has died. It returns the
// error.
func (c *Comm) listen(what call) error {
	w := c.world
	for w.failed == nil {
		from, notice, ok := w.t.Notice()
		if !ok {
			return nil
		}
		if len(notice) == 0 {
			continue
		}
		text := string(notice[1:])
		switch notice[0] {
		case '!':
			w.failed = &tenon.Error{Kind: tenon.ErrInvalid, Op: "dist", Msg: strings.TrimPrefix(text, "dist: ")}
			w.told = true
		case '+':
			return w.fail(&tenon.Error{Kind: tenon.ErrInvalid, Op: "dist", Msg: fmt.Sprintf("rank %d has died: %s; this rank was in %s", from, text, c.name(what)),
				Hint: "check the output of that rank, and restart the job from its last checkpoint"})
		case '?':
			w.stuck[from] = waits{text, time.Now()}
			w.t.Post(from, []byte("="+c.name(what)))
		case '=':
			w.stuck[from] = waits{text, time.Now()}
		}
	}
	return w.failed
}

// joined reports whether another rank has timed out in what this one waits for.
func (c *Comm) joined(what call) bool {
	if len(c.world.stuck) == 0 {
		return false
	}
	name := c.name(what)
	for _, x := range c.world.stuck {
		if x.what == name {
			return true
		}
	}
	return false
}

// ask asks the others what they are waiting for, and says what this rank is waiting for.
func (w *world) ask(what string) {
	for r := range w.t.Size() {
		if r != w.t.Rank() {
			w.t.Post(r, []byte("?"+what))
		}
	}
}

// grace is the time that the answers of other ranks may take.
func (w *world) grace() time.Duration {
	return min(max(w.timeout/10, 20*time.Millisecond), 5*time.Second)
}

// blame returns the error of waiting in vain. It names the ranks that have not answered that
// they are waiting, too, since they were asked.
func (c *Comm) blame(what call, asked time.Time) error {
	var missing []string
	name := c.name(what)
	for _, r := range c.ranks {
		if x := c.world.stuck[r]; x.what != name && x.heard.Before(asked) && r != c.world.t.Rank() {
			missing = append(missing, fmt.Sprint(r))
		}
	}
	e := &tenon.Error{Kind: tenon.ErrInvalid, Op: "dist", Hint: "check the output of that rank: it has died, or it is late; Options.Timeout sets how long the others wait"}
	switch len(missing) {
	case 0:
		e.Msg = fmt.Sprintf("all ranks are waiting, this one in %s", name)
		for _, r := range c.ranks {
			if x, ok := c.world.stuck[r]; ok {
				e.Msg += fmt.Sprintf(", rank %d in %s", r, x.what)
			}
		}
		e.Hint = "ranks must call the same operations in the same order"
	case 1:
		e.Msg = fmt.Sprintf("rank %s did not reach %s within %v", missing[0], name, c.world.timeout)
	default:
		e.Msg = fmt.Sprintf("ranks %s did not reach %s within %v", strings.Join(missing, ", "), name, c.world.timeout)
	}
	return e
}

func (c *Comm) name(what call) string { return fmt.Sprintf("operation %d, %v", c.calls, what) }

// Close ends the work of the ranks. It is the last call on the group of all ranks, and waits until
// all ranks have called it.
func (c *Comm) Close(ctx context.Context) error {
	_, err := c.meet(ctx, call{kind: "the end"}, 0)
	return errors.Join(err, c.world.t.Close(err != nil))
}

// Run calls f with the group of all ranks and a context that has it, and closes the group afterwards. If f
// returns an error, throws one or panics, all other ranks get an error that names this rank and the
// reason.
func (c *Comm) Run(ctx context.Context, f func(ctx context.Context, c *Comm) error) error {
	err := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		defer tenon.Catch(&err)
		return f(With(ctx, c, nil), c)
	}()
	if err != nil {
		if first := c.Err(); first == nil {
			err = c.Fail(err)
		} else if !errors.Is(err, first) {
			err = errors.Join(err, first)
		}
		return errors.Join(err, c.world.t.Close(true))
	}
	return c.Close(ctx)
}

type ctxKey struct{}

// With returns a context for calls of traced functions. Their collective operations use the
// group c, or, if their Group option is set, the group with that name.
func With(ctx context.Context, c *Comm, groups map[string]*Comm) context.Context {
	all := map[string]*Comm{"": c}
	for name, g := range groups {
		all[name] = g
	}
	return context.WithValue(ctx, ctxKey{}, all)
}

// Of returns the group of ranks of a context with a name, or that of all ranks for "". It is an
// error if there is none.
func Of(ctx context.Context, group string) (*Comm, error) {
	all, _ := ctx.Value(ctxKey{}).(map[string]*Comm)
	if c := all[group]; c != nil {
		return c, nil
	}
	e := &tenon.Error{Kind: tenon.ErrNotFound, Op: "dist", Msg: "the context has no group of ranks"}
	if group != "" {
		e.Msg = fmt.Sprintf("the context has no group of ranks called %q", group)
	}
	e.Hint = "call traced functions with the context that dist.With returns; dist.Alone() is a group of one rank"
	return nil, e
}
