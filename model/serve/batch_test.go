package serve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// timed returns a batched function that notes the numbers of each run, and takes perElement for
// each of them.
func timed(runs *[][]int64, perElement time.Duration) Func {
	numbers := []Arg{{Name: "x", Spec: tensor.NewSpec(dtype.Int64, shape.Of(-1))}}
	return Func{Name: "timed", Args: numbers, Results: numbers, Batched: true, Call: func(_ context.Context, a []tenon.Value) ([]tenon.Value, error) {
		x := tensor.Data[int64](a[0])
		*runs = append(*runs, slices.Clone(x))
		<-time.After(time.Duration(len(x)) * perElement)
		return a, nil
	}}
}

// sent calls a function with n times the same number and tells its answer.
func sent(s *Server, ctx context.Context, priority, n int, x int64) <-chan error {
	f, err := s.model("timed", "")
	done := make(chan error, 1)
	ctx = context.WithValue(ctx, exchangeKey{}, &exchange{priority: priority})
	go func() {
		if err == nil {
			_, err = s.call(ctx, f, []tenon.Value{tensor.Of(slices.Repeat([]int64{x}, n))})
		}
		done <- err
	}()
	synctest.Wait()
	return done
}

// While a first call runs, others wait; they are run by their priority and in batches as large as
// is allowed.
func TestBatchesKeepToTheirBudgets(t *testing.T) {
	type waiting struct {
		priority, n int
		x           int64
	}
	for _, c := range []struct {
		name  string
		o     Options
		calls []waiting
		want  string
	}{
		{"all at once", Options{}, []waiting{{0, 1, 1}, {0, 2, 2}, {0, 1, 3}}, "[[0] [1 2 2 3]]"},
		{"rows", Options{MaxRows: 3}, []waiting{{0, 1, 1}, {0, 2, 2}, {0, 1, 3}, {0, 5, 4}}, "[[0] [1 2 2] [3] [4 4 4 4 4]]"},
		{"elements", Options{MaxBatchElements: 2}, []waiting{{0, 1, 1}, {0, 2, 2}, {0, 1, 3}}, "[[0] [1] [2 2] [3]]"},
		{"priorities", Options{MaxRows: 1, Priorities: 3}, []waiting{{3, 1, 1}, {0, 1, 2}, {1, 1, 3}, {2, 1, 4}, {1, 1, 5}, {9, 1, 6}}, "[[0] [3] [5] [2] [4] [6] [1]]"},
		{"one level", Options{MaxRows: 1}, []waiting{{3, 1, 1}, {1, 1, 2}}, "[[0] [1] [2]]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runs [][]int64
				c.o.Batches = 1
				s := New(c.o)
				if err := s.Add(timed(&runs, time.Second)); err != nil {
					t.Fatal(err)
				}
				done := []<-chan error{sent(s, t.Context(), 0, 1, 0)}
				for _, w := range c.calls {
					done = append(done, sent(s, t.Context(), w.priority, w.n, w.x))
				}
				for i, d := range done {
					if err := <-d; err != nil {
						t.Errorf("call %d: %v", i, err)
					}
				}
				if got := fmt.Sprint(runs); got != c.want {
					t.Errorf("runs %s, want %s", got, c.want)
				}
			})
		})
	}
}

// A call that cannot be answered in time is refused when it comes; others are not. Calls of a function that
// is not batched run one by one.
func TestCallsThatWouldBeLateAreRefused(t *testing.T) {
	for _, c := range []struct {
		name          string
		known, ahead  int // runs before; calls of ten elements that wait
		idle, timeout time.Duration
		n             int
		refused       bool
	}{
		{"in time", 20, 0, 0, 200 * time.Millisecond, 10, false},
		{"too large itself", 20, 0, 0, 50 * time.Millisecond, 10, true},
		{"too many ahead", 20, 3, 0, 200 * time.Millisecond, 10, true},
		{"time enough for those ahead", 20, 3, 0, 500 * time.Millisecond, 10, false},
		{"cost not known", 3, 3, 0, 200 * time.Millisecond, 10, false},
		{"cost known long ago", 20, 0, time.Minute, 50 * time.Millisecond, 10, false},
	} {
		for _, batched := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%v", c.name, batched), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var runs [][]int64
					s := New(Options{MaxRows: 10, MaxConcurrent: 1})
					f := timed(&runs, 10*time.Millisecond)
					f.Batched = batched
					if err := s.Add(f); err != nil {
						t.Fatal(err)
					}
					for i := range c.known {
						if err := <-sent(s, t.Context(), 0, 1+i%10, 0); err != nil {
							t.Fatal(err)
						}
					}
					<-time.After(c.idle)
					var ahead []<-chan error
					for range c.ahead {
						ahead = append(ahead, sent(s, t.Context(), 0, 10, 0))
					}
					ctx, cancel := context.WithTimeout(t.Context(), c.timeout)
					defer cancel()
					began := time.Now()
					err := <-sent(s, ctx, 0, c.n, 1)
					var wrong *fault
					if refused := errors.As(err, &wrong) && wrong.retry && wrong.status == 503; refused != c.refused || refused && time.Since(began) > 0 {
						t.Errorf("after %v: %v", time.Since(began), err)
					}
					for _, d := range ahead {
						if err := <-d; err != nil {
							t.Error(err)
						}
					}
					known, _ := s.model("timed", "")
					if got := known.counts.rejected.Load() == 1; got != c.refused {
						t.Errorf("counted as refused: %v", got)
					}
					<-time.After(time.Second) // of the bubble's clock: the function may still run
				})
			})
		}
	}
}

// The cost of runs is found in spite of noise, and never said to be more than it is.
func TestCostIsALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c cost
		for i := range 200 {
			n := i * 37 % 100
			noise := time.Duration(i%7-3) * 100 * time.Microsecond
			c.add(n, 5*time.Millisecond+time.Duration(n)*time.Millisecond+noise)
		}
		least := c.predict()
		for _, n := range []int{0, 10, 50, 99, 500} {
			want := 5 + float64(n)
			if got := least(n).Seconds() * 1e3; got > want || got < want*0.9-1 {
				t.Errorf("%d elements: %.2f ms, want %.0f", n, got, want)
			}
		}
		var flat cost
		for range 20 {
			flat.add(3, time.Millisecond)
		}
		if got := flat.predict()(1000); math.Abs(got.Seconds()-1e-3) > 1e-6 {
			t.Errorf("without a slope: %v", got)
		}
	})
}

// Places are given by priority; a call that goes while it waits leaves its place to others.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{bound: 1, most: 3}
		leave, err := g.enter(t.Context(), 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		var order []int
		gone, cancel := context.WithCancel(t.Context())
		for _, p := range []int{3, 1, 2} {
			ctx := t.Context()
			if p == 1 {
				ctx = gone
			}
			go func() {
				leave, err := g.enter(ctx, p, nil)
				if err != nil {
					order = append(order, -p)
					return
				}
				order = append(order, p)
				leave()
			}()
			synctest.Wait()
		}
		if _, err := g.enter(t.Context(), 1, nil); faultOf(err).status != 503 {
			t.Errorf("a fourth one: %v", err)
		}
		cancel()
		synctest.Wait()
		leave()
		synctest.Wait()
		if !slices.Equal(order, []int{-1, 2, 3}) || g.running != 0 {
			t.Errorf("%v, %d run", order, g.running)
		}
	})
}

// As many batches run at once as may; while one of them waits for more calls, these join it.
func TestBatchesRunAtOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		o     Options
		calls int
		runs  int
		took  time.Duration
	}{
		{"one place", Options{MaxRows: 1, Batches: 1}, 4, 4, 4 * time.Second},
		{"two places", Options{MaxRows: 1, Batches: 2}, 4, 4, 2 * time.Second},
		{"others wait for one of two places", Options{Batches: 2}, 6, 3, 2 * time.Second},
		{"more places than calls", Options{Batches: 8}, 4, 4, time.Second},
		{"no more than calls that may run", Options{Batches: 8, MaxConcurrent: 1}, 4, 2, 2 * time.Second},
		{"a delay", Options{Batches: 8, MaxDelay: time.Second}, 4, 1, 2 * time.Second},
		{"a delay and full batches", Options{Batches: 2, MaxDelay: time.Second, MaxRows: 2}, 4, 2, time.Second},
		{"a delay and more than one batch", Options{Batches: 2, MaxDelay: time.Second, MaxRows: 3}, 4, 2, 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(c.o)
				numbers := []Arg{{Name: "x", Spec: tensor.NewSpec(dtype.Int64, shape.Of(-1))}}
				err := s.Add(Func{Name: "timed", Args: numbers, Results: numbers, Batched: true, Call: func(_ context.Context, a []tenon.Value) ([]tenon.Value, error) {
					<-time.After(time.Second)
					return a, nil
				}})
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				var done []<-chan error
				for i := range c.calls {
					done = append(done, sent(s, t.Context(), 0, 1, int64(i)))
				}
				for _, d := range done {
					if err := <-d; err != nil {
						t.Error(err)
					}
				}
				synctest.Wait()
				f, _ := s.model("timed", "")
				if got := f.counts.runs.Load(); got != int64(c.runs) || time.Since(began) != c.took {
					t.Errorf("%d runs in %v, want %d in %v", got, time.Since(began), c.runs, c.took)
				}
				if f.queue.workers != 0 || slices.ContainsFunc(f.queue.runs, func(r run) bool { return r.busy }) || len(f.queue.waiting) != 0 {
					t.Errorf("%d workers, %d runs and %d calls are left", f.queue.workers, len(f.queue.runs), len(f.queue.waiting))
				}
			})
		})
	}
}
