package op_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// box is a tensor-like Value whose type and answers a test chooses.
type box struct {
	name    string
	refines []string
	handle  op.HandlerFunc // nil: declines
}

func (b *box) Spec() tenon.Spec   { return boxSpec{b} }
func (b *box) DType() dtype.DType { return dtype.Float32 }
func (b *box) Shape() shape.Shape { return shape.Of() }
func (b *box) String() string     { return b.name }
func (b *box) HandleOp(c *op.Call) ([]tenon.Value, error) {
	if b.handle == nil {
		return nil, op.NotHandled
	}
	return b.handle(c)
}

type boxSpec struct{ b *box }

func (s boxSpec) TypeName() string                               { return "op_test." + s.b.name }
func (s boxSpec) Encode() tenon.Encoding                         { return tenon.Nil{} }
func (s boxSpec) Components() []tenon.Field                      { return nil }
func (s boxSpec) Disassemble(tenon.Value) ([]tenon.Value, error) { return nil, nil }
func (s boxSpec) Assemble([]tenon.Value) (tenon.Value, error)    { return s.b, nil }
func (s boxSpec) Refines() []string                              { return s.b.refines }

// self answers with the box that is asked.
func newBox(name string, refines ...string) *box {
	b := &box{name: name, refines: refines}
	b.handle = func(*op.Call) ([]tenon.Value, error) { return op.One(b) }
	return b
}

// picky is a box that takes only values of its own type beside it.
type picky struct{ *box }

func (p picky) AcceptsOp(v tenon.Value) bool { _, ok := v.(picky); return ok }

// plain is a box without an answer that stands for a tensor.
type plain struct{ *box }

func (p plain) HandleOp(*op.Call) ([]tenon.Value, error) { return nil, op.NotHandled }
func (p plain) AsTensor() (tensor.Tensor, error) {
	if p.name == "Bad" {
		return nil, tenon.NewError(tenon.ErrUnsupported, "", "it cannot")
	}
	return tensor.Scalar(float32(7)), nil
}

func TestWhoAnswers(t *testing.T) {
	o := define(t, op.Op{Name: "test.two", Params: binary})
	x := tensor.Scalar(float32(1))
	a, b, sub := newBox("A"), newBox("B"), newBox("S", "op_test.A")
	declines := newBox("D")
	declines.handle = nil
	for _, c := range []struct {
		name   string
		args   []any
		answer string
		asked  []string
	}{
		{"tensors only", []any{x, x}, "kernel", nil},
		{"left to right", []any{a, b}, "op_test.A", []string{"op_test.A"}},
		{"the refinement first", []any{a, sub}, "op_test.S", []string{"op_test.S"}},
		{"declined", []any{declines, b}, "op_test.B", []string{"op_test.D", "op_test.B"}},
		{"a constant beside", []any{2, b}, "op_test.B", []string{"op_test.B"}},
		{"picky beside a tensor", []any{picky{newBox("P")}, b}, "op_test.B", []string{"op_test.B"}},
		{"picky among its own", []any{picky{newBox("P")}, picky{newBox("P")}}, "op_test.P", []string{"op_test.P"}},
		{"nobody, but it converts", []any{plain{newBox("C")}, x}, "kernel", []string{"op_test.C"}},
	} {
		e := op.Explain(o, c.args...)
		if e.Err != nil || e.Answer != c.answer || !reflect.DeepEqual(e.Asked, c.asked) {
			t.Errorf("%s: %s answered of %v, %v, want %s of %v", c.name, e.Answer, e.Asked, e.Err, c.answer, c.asked)
		}
	}
	out, err := op.Do(o, plain{newBox("C")}, x)
	if err != nil || tensor.Item[float32](out[0]) != 7 {
		t.Errorf("converted: %v, %v", out, err)
	}
	if _, err := op.Do(o, plain{newBox("Bad")}, x); !errors.Is(err, tenon.ErrUnsupported) {
		t.Errorf("the conversion's error: %v", err)
	}
	_, err = op.Do(o, declines, x)
	if !errors.Is(err, tenon.ErrDType) || !strings.Contains(err.Error(), "no handler accepts op_test.D; asked and declined: op_test.D") {
		t.Errorf("nobody: %v", err)
	}
	text := op.Explain(o, declines, b).String()
	if text != "test.two:\n  1. op_test.D declined\n  2. op_test.B answered\n" {
		t.Errorf("the explanation is\n%s", text)
	}
	if e := op.Explain(o, 1); e.Answer != "nobody" || e.Err == nil || !strings.Contains(e.String(), "do not bind") {
		t.Errorf("got %v", e)
	}
}

func TestListsAreSearched(t *testing.T) {
	o := define(t, op.Op{Name: "test.list", Params: []op.Param{{Name: "list", Kind: op.Tensors}}})
	a := newBox("A")
	out, err := op.Do(o, []any{1.5, a, 2})
	if err != nil || out[0] != tenon.Value(a) {
		t.Errorf("got %v, %v", out, err)
	}
}

func TestBadHandlers(t *testing.T) {
	o := define(t, op.Op{Name: "test.bad", Params: unary})
	cases := []struct {
		name   string
		handle func(b *box) op.HandlerFunc
		kind   error
		text   string
	}{
		{"panics", func(*box) op.HandlerFunc { return func(*op.Call) ([]tenon.Value, error) { panic("oh") } }, tenon.ErrInvalid, "the handler of op_test.H panicked: oh"},
		{"throws", func(*box) op.HandlerFunc {
			return func(*op.Call) ([]tenon.Value, error) {
				tenon.Throw(tenon.NewError(tenon.ErrAxis, "", "thrown"))
				return nil, nil
			}
		}, tenon.ErrAxis, "test.Bad(<op_test.H nil>): thrown"},
		{"fails", func(*box) op.HandlerFunc {
			return func(*op.Call) ([]tenon.Value, error) { return nil, errors.New("plain") }
		}, tenon.ErrInvalid, "plain"},
		{"returns none", func(*box) op.HandlerFunc { return func(*op.Call) ([]tenon.Value, error) { return nil, nil } }, tenon.ErrInvalid, "returned 0 results, the operation has 1"},
		{"returns nil", func(*box) op.HandlerFunc { return func(*op.Call) ([]tenon.Value, error) { return op.One(nil) } }, tenon.ErrInvalid, "returned nil as result 0"},
		{"calls itself by a function", func(b *box) op.HandlerFunc {
			return func(c *op.Call) ([]tenon.Value, error) { return op.One(op.Eval(c.Op, b)) }
		}, tenon.ErrInvalid, "calls itself without end"},
		{"calls itself by way of others", func(b *box) op.HandlerFunc {
			return func(c *op.Call) ([]tenon.Value, error) {
				next := newBox("I")
				next.handle = func(d *op.Call) ([]tenon.Value, error) { return op.One(op.Apply(d, b)) }
				return op.One(op.Apply(c, next))
			}
		}, tenon.ErrInvalid, "calls itself without end"},
		{"calls itself", func(b *box) op.HandlerFunc { return func(c *op.Call) ([]tenon.Value, error) { return op.Do(c.Op, b) } }, tenon.ErrInvalid, "calls itself without end"},
	}
	for _, c := range cases {
		b := newBox("H")
		b.handle = c.handle(b)
		_, err := op.Do(o, b)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v", c.name, err)
		}
		var e *tenon.Error
		if err := thrown(func() { op.Eval(o, b) }); !errors.As(err, &e) || !strings.Contains(err.Error(), c.text) || len(e.Args) != 1 || e.Op != "test.Bad" {
			t.Errorf("%s: threw %v", c.name, err)
		}
	}
	b := newBox("H")
	b.handle = func(*op.Call) ([]tenon.Value, error) { panic("oh") }
	_, err := op.Do(o, b)
	var s interface{ Stack() []byte }
	if !errors.As(err, &s) || !strings.Contains(string(s.Stack()), "dispatch_test.go") {
		t.Errorf("the stack of the panic is not kept: %v", err)
	}
}

// TestDeepHandlersAreNotMistakenForEndlessOnes nests values and asks many at once.
func TestDeepHandlersAreNotMistakenForEndlessOnes(t *testing.T) {
	o := define(t, op.Op{Name: "test.deep", Params: unary})
	inner := tenon.Value(tensor.Scalar(float32(3)))
	for range 100 {
		b, next := newBox("N"), inner
		b.handle = func(c *op.Call) ([]tenon.Value, error) { return op.Do(c.Op, next) }
		inner = b
	}
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			out, err := op.Do(o, inner)
			if err != nil || tensor.Item[float32](out[0]) != 3 {
				t.Errorf("got %v, %v", out, err)
			}
		})
	}
	wg.Wait()
}

func TestHandle(t *testing.T) {
	o := define(t, op.Op{Name: "test.handled", Statement: op.Statement{Axes: op.Map}, Params: unary})
	other := define(t, op.Op{Name: "test.other", Statement: op.Statement{Axes: op.Reduce}, Params: unary})
	say := func(name string) op.HandlerFunc {
		return func(*op.Call) ([]tenon.Value, error) { return op.One(newBox(name)) }
	}
	decline := func(*op.Call) ([]tenon.Value, error) { return nil, op.NotHandled }
	a := newBox("A")
	answer := func(o *op.Op) string {
		out, err := op.Do(o, a)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(out[0])
	}
	add := func(m op.Match, f op.HandlerFunc) func() {
		t.Helper()
		remove, err := op.Handle("op_test.A", m, f)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(remove)
		return remove
	}
	step := func(want, wantOther string) {
		t.Helper()
		if got := answer(o); got != want {
			t.Errorf("%s answers, want %s", got, want)
		}
		if got := answer(other); got != wantOther {
			t.Errorf("for the other %s answers, want %s", got, wantOther)
		}
	}
	step("A", "A")
	add(op.Match{Any: true}, say("any"))
	step("any", "any")
	add(op.Match{Class: op.UnaryElementwise}, say("class"))
	step("class", "any")
	remove := add(op.Match{Op: o}, say("op"))
	step("op", "any")
	remove()
	step("class", "any")
	remove()
	add(op.Match{Op: o}, decline)
	step("class", "any")
	add(op.Match{Op: other, Types: []string{"op_test.B"}}, say("with B"))
	step("class", "any")

	_, err := op.Handle("op_test.A", op.Match{Class: op.UnaryElementwise}, say("again"))
	if !errors.Is(err, tenon.ErrInvalid) || strings.Count(err.Error(), "dispatch_test.go:") != 2 {
		t.Errorf("the same claim twice: %v", err)
	}
	for name, f := range map[string]func() (func(), error){
		"nothing":      func() (func(), error) { return op.Handle("op_test.A", op.Match{}, decline) },
		"no function":  func() (func(), error) { return op.Handle("op_test.A", op.Match{Any: true}, nil) },
		"plain tensor": func() (func(), error) { return op.Handle(tensor.TypeName, op.Match{Any: true}, decline) },
	} {
		if _, err := f(); !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLateRegistration(t *testing.T) {
	b := newBox("Late")
	b.handle = nil
	early := define(t, op.Op{Name: "test.early", Statement: op.Statement{Axes: op.Map}, Params: unary})
	remove, err := op.Handle("op_test.Late", op.Match{Class: op.UnaryElementwise}, func(*op.Call) ([]tenon.Value, error) { return op.One(b) })
	if err != nil {
		t.Fatal(err)
	}
	late := define(t, op.Op{Name: "test.late", Statement: op.Statement{Axes: op.Map}, Params: unary})
	for _, o := range []*op.Op{early, late} {
		if out, err := op.Do(o, b); err != nil || out[0] != tenon.Value(b) {
			t.Errorf("%s: %v, %v", o, out, err)
		}
	}
	remove()
	if _, err := op.Do(late, b); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("removed: %v", err)
	}
}

// bare is a Value without a HandleOp of its own.
type bare struct{ b *box }

func (b bare) Spec() tenon.Spec { return boxSpec(b) }

func TestInheritedHandlers(t *testing.T) {
	o := define(t, op.Op{Name: "test.inherit", Params: binary})
	answer := newBox("Answer")
	remove, err := op.Handle("op_test.Base", op.Match{Any: true}, func(*op.Call) ([]tenon.Value, error) { return op.One(answer) })
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	e := op.Explain(o, bare{newBox("Child", "op_test.Mid", "op_test.Base")}, 1)
	if e.Err != nil || !reflect.DeepEqual(e.Asked, []string{"op_test.Base"}) || e.Results[0] != tenon.Value(answer) {
		t.Errorf("a type without a handler: %v, %v", e.Asked, e.Err)
	}
	own := newBox("Own", "op_test.Base")
	own.handle = nil
	if e := op.Explain(o, own, 1); !errors.Is(e.Err, tenon.ErrDType) || !reflect.DeepEqual(e.Asked, []string{"op_test.Own"}) {
		t.Errorf("a type with a handler that declines: %v, %v", e.Asked, e.Err)
	}
	if _, err := op.Do(o, bare{newBox("Alone")}, 1); !errors.Is(err, tenon.ErrDType) || !strings.Contains(err.Error(), "give the type a HandleOp method") {
		t.Errorf("nobody's: %v", err)
	}
}

// recorder is a symbolic tensor.
type recorder struct {
	spec  *tensor.Spec
	level int
	calls *[]string
}

func (r *recorder) Spec() tenon.Spec   { return r.spec }
func (r *recorder) DType() dtype.DType { return r.spec.DType() }
func (r *recorder) Shape() shape.Shape { return r.spec.Shape() }
func (r *recorder) RecordLevel() int   { return r.level }
func (r *recorder) Record(c *op.Call) ([]tenon.Value, error) {
	*r.calls = append(*r.calls, fmt.Sprintf("%d %s", r.level, c.Op))
	return op.One(r)
}

func TestRecorders(t *testing.T) {
	var calls []string
	spec := tensor.NewSpec(dtype.Float32, shape.Of(-1))
	low, high := &recorder{spec, 1, &calls}, &recorder{spec, 2, &calls}
	o := define(t, op.Op{Name: "test.recorded", Params: binary})
	if out, err := op.Do(o, low, high); err != nil || out[0] != tenon.Value(high) {
		t.Errorf("got %v, %v", out, err)
	}
	if out, err := op.Do(o, 2, low); err != nil || out[0] != tenon.Value(low) {
		t.Errorf("got %v, %v", out, err)
	}
	b := newBox("A")
	if out, err := op.Do(o, low, b); err != nil || out[0] != tenon.Value(b) {
		t.Errorf("a handler comes before the recorder: %v, %v", out, err)
	}
	if want := []string{"2 test.recorded", "1 test.recorded"}; !reflect.DeepEqual(calls, want) {
		t.Errorf("recorded %v", calls)
	}
	if e := op.Explain(o, low, high); e.Answer != "recorder" {
		t.Errorf("%s answers", e.Answer)
	}
}

func TestKernels(t *testing.T) {
	view := tensor.Vector([]int{1, 2}).View(1, shape.Of(2), []int{-1})
	contiguous := func(c *op.Call) ([]tensor.Tensor, error) {
		ok := true
		for _, v := range c.Values() {
			ok = ok && v.(*tensor.Dense).IsContiguous()
		}
		if c.Out == nil {
			return nil, errors.New("the Specs of the results are missing")
		}
		return []tensor.Tensor{tensor.Scalar(ok)}, nil
	}
	params := []op.Param{{Name: "x"}, {Name: "list", Kind: op.Tensors}}
	rows := define(t, op.Op{Name: "test.rows", Params: params, Kernel: contiguous})
	strided := define(t, op.Op{Name: "test.strided", Params: params, Kernel: contiguous, Strided: true})
	for o, want := range map[*op.Op]bool{rows: true, strided: false} {
		out, err := op.Do(o, view, []tenon.Value{view, view})
		if err != nil || tensor.Item[bool](out[0]) != want {
			t.Errorf("%s: %v, %v", o, out, err)
		}
	}
	throws := define(t, op.Op{Name: "test.throws", Params: unary, Kernel: func(*op.Call) ([]tensor.Tensor, error) {
		tenon.Throw(tenon.NewError(tenon.ErrRange, "", "row 3"))
		return nil, nil
	}})
	if _, err := op.Do(throws, view); !errors.Is(err, tenon.ErrRange) || !strings.HasPrefix(err.Error(), "test.Throws(int64[2]): row 3") {
		t.Errorf("got %v", err)
	}
}

func TestEvalAndApply(t *testing.T) {
	loops := 0
	double := func(in []dtype.DType) (op.BlockFunc, dtype.DType) {
		if in[0] != dtype.Float32 {
			return nil, dtype.None
		}
		return func(dst unsafe.Pointer, x [3]unsafe.Pointer, n int, _ uint8) {
			loops++
			for i, v := range unsafe.Slice((*float32)(x[0]), n) {
				unsafe.Slice((*float32)(dst), n)[i] = 2 * v
			}
		}, in[0]
	}
	o := define(t, op.Op{Name: "test.even", Params: unary, Block: double})
	two := define(t, op.Op{Name: "test.even2", Params: binary, Block: double})
	x, long := tensor.Scalar(float32(1)), tensor.Of([]float32{1, 2})
	view := tensor.Of([]float32{1, 0, 2, 0}).(*tensor.Dense).View(0, shape.Of(2), []int{2})
	for name, c := range map[string]struct {
		o    *op.Op
		args []any
		loop bool
	}{
		"one array":             {o, []any{long}, true},
		"one shape":             {two, []any{long, tensor.Of([]float32{3, 4})}, true},
		"other element types":   {o, []any{tensor.Of([]int32{1, 2})}, false},
		"a number":              {two, []any{long, 2}, true},
		"a scalar":              {two, []any{long, x}, true},
		"another shape":         {two, []any{long, tensor.Of([]float32{1}, 1)}, false},
		"gaps":                  {o, []any{view}, false},
		"nothing":               {o, []any{tensor.Of([]float32{})}, false},
		"more than a small one": {o, []any{tensor.Of(make([]float32, 1<<13))}, false},
	} {
		before := loops
		if y := op.Eval(c.o, c.args...); (loops > before) != c.loop || c.loop && !tensor.Equal(y, tensor.Of([]float32{2, 4}), tensor.EqualOptions{}) {
			t.Errorf("%s: the loop in front runs %d times and gives %v", name, loops-before, y)
		}
	}
	loops = 0
	c, err := op.NewCall(o, long)
	if err != nil {
		t.Fatal(err)
	}
	if y := op.Apply(c, x); tensor.Item[float32](y) != 2 || loops != 1 || op.ApplyN(c, tensor.Of([]int32{1}))[0].DType() != dtype.Int32 {
		t.Error("Apply")
	}
	if err := thrown(func() { op.Apply(c, x, x) }); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("too many values: %v", err)
	}
	if err := thrown(func() { op.Apply(c, nil) }); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("nil: %v", err)
	}
	var none *tensor.Dense
	if err := thrown(func() { op.Eval(o, none) }); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("a nil pointer: %v", err)
	}
	odd := define(t, op.Op{Name: "test.odd", Params: unary, Results: -1, Kernel: func(c *op.Call) ([]tensor.Tensor, error) { return []tensor.Tensor{c.Tensor(0), c.Tensor(0)}, nil }})
	if err := thrown(func() { op.Eval(odd, x) }); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("two results where one is expected: %v", err)
	}
	if out := op.EvalN(odd, x); len(out) != 2 {
		t.Errorf("got %v", out)
	}
}

// TestCallsAreKept: a call belongs to the handler that is asked, also after it has
// returned, and calls inside of calls and beside them do not disturb one another.
func TestCallsAreKept(t *testing.T) {
	o := define(t, op.Op{Name: "test.kept", Params: binary, Statement: op.Statement{Axes: op.Map}})
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
	inner.handle = func(c *op.Call) ([]tenon.Value, error) { return op.One(c.Value(0)) }
	outer := newBox("Back")
	outer.handle = func(c *op.Call) ([]tenon.Value, error) {
		first := op.Apply(c, inner, inner)
		y, ok := op.Arg[*box](c, 1)
		if first != tensor.Tensor(inner) || !ok || c.Op != o {
			t.Errorf("a call inside of the call changes it: %v, %v", first, c.Args)
		}
		return op.One(y)
	}
	x := tensor.Scalar(float32(1))
	for i := range 10 {
		op.Eval(o, keeper, x)
		if got := op.Eval(o, outer, results[i]); got != tensor.Tensor(results[i]) {
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
				if got := op.Eval(o, outer, want); got != tensor.Tensor(want) {
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

// TestWhatIsRememberedFollowsRegistration: handlers that come and go, and values of other
// types in the same place, are found by an operation that remembers its last arguments.
func TestWhatIsRememberedFollowsRegistration(t *testing.T) {
	o := define(t, op.Op{Name: "test.remembered", Params: unary})
	own, other := newBox("Own"), newBox("Other")
	who := func() tenon.Value {
		out, err := op.Do(o, own)
		if err != nil {
			t.Fatal(err)
		}
		return out[0]
	}
	for range 2 {
		if who() != tenon.Value(own) {
			t.Fatal("the value does not answer for itself")
		}
		remove, err := op.Handle("op_test.Own", op.Match{Op: o}, func(*op.Call) ([]tenon.Value, error) { return op.One(other) })
		if err != nil {
			t.Fatal(err)
		}
		if who() != tenon.Value(other) {
			t.Error("a handler that was registered is not asked")
		}
		remove()
	}
	if y := op.Eval(o, tensor.Scalar(int32(1))); y.DType() != dtype.Int32 {
		t.Errorf("a plain tensor: %v", y)
	}
}
