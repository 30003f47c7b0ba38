package op_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// A handler that returns op.One may keep the call; one that returns the call's own One
// gives it back, and calls inside of calls and beside them do not disturb one another.
func TestCallsAreGivenBack(t *testing.T) {
	o := define(t, op.Op{Name: "test.given_back", Params: binary, Statement: op.Statement{Axes: op.Map}})
	results := make([]*box, 100)
	for i := range results {
		results[i] = newBox("Back")
	}
	var kept []*op.Call
	keeper := newBox("Keeper")
	keeper.handle = func(c *op.Call) ([]tenon.Value, error) {
		kept = append(kept, c)
		return op.One(c.Value(1))
	}
	inner := newBox("Back")
	inner.handle = func(c *op.Call) ([]tenon.Value, error) { return c.One(c.Value(0)) }
	outer := newBox("Back")
	outer.handle = func(c *op.Call) ([]tenon.Value, error) {
		first := op.Apply(c, inner, inner)
		y, ok := op.Arg[*box](c, 1)
		if first != tensor.Tensor(inner) || !ok || c.Op != o {
			t.Errorf("a call inside of the call changes it: %v, %v", first, c.Args)
		}
		return c.One(y)
	}
	x := tensor.Scalar(float32(1))
	for i := range 10 {
		op.Binary(o, keeper, x)
		if got := op.Binary(o, outer, results[i]); got != tensor.Tensor(results[i]) {
			t.Fatalf("call %d answers %v", i, got)
		}
	}
	for i, c := range kept {
		if c.Op != o || c.Value(0) != tenon.Value(keeper) || c.Value(1) != tenon.Value(x) {
			t.Errorf("kept call %d is %v %v", i, c.Op, c.Args)
		}
	}
	var wg sync.WaitGroup
	for _, want := range results {
		wg.Go(func() {
			for range 100 {
				if got := op.Binary(o, outer, want); got != tensor.Tensor(want) {
					t.Errorf("beside others: %v", got)
				}
			}
		})
	}
	wg.Wait()
	if _, ok := op.Arg[*recorder](kept[0], 0); ok {
		t.Error("an argument of another type")
	}
}

// What handlers do wrong is the same error by the short way as by the general one.
func TestBadHandlersTheShortWay(t *testing.T) {
	o := define(t, op.Op{Name: "test.short_bad", Params: binary, Statement: op.Statement{Axes: op.Map}, Results: 1})
	for name, c := range map[string]struct {
		handle func(b *box) op.HandlerFunc
		want   string
	}{
		"calls itself": {func(b *box) op.HandlerFunc {
			return func(c *op.Call) ([]tenon.Value, error) { return c.One(op.Binary(o, b, b)) }
		}, "calls itself without end"},
		"panics": {func(*box) op.HandlerFunc {
			return func(*op.Call) ([]tenon.Value, error) { var none []int; _ = none[3]; return nil, nil }
		}, "panicked"},
		"returns two": {func(b *box) op.HandlerFunc {
			return func(*op.Call) ([]tenon.Value, error) { return []tenon.Value{b, b}, nil }
		}, "returned 2 results"},
		"returns nil": {func(*box) op.HandlerFunc {
			return func(c *op.Call) ([]tenon.Value, error) { return c.One(nil) }
		}, "returned nil"},
		"declines": {func(*box) op.HandlerFunc { return nil }, "asked and declined"},
		"throws": {func(*box) op.HandlerFunc {
			return func(*op.Call) ([]tenon.Value, error) {
				tenon.Throw(tenon.NewError(tenon.ErrAxis, "", "no such axis"))
				return nil, nil
			}
		}, "no such axis"},
	} {
		b := newBox("ShortBad")
		b.handle = c.handle(b)
		for range 2 { // the second call has the memory of the first, if that was given back
			err := thrown(func() { op.Binary(o, b, b) })
			var e *tenon.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || len(e.Args) != 2 || e.Op != "test.ShortBad" {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
