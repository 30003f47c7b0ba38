package op

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/internal/throw"
	"github.com/tenonml/tenon/tensor"
)

func line() string { return source.Line() }

// A Recorder is a tensor that records operations on it instead of running them.
type Recorder interface {
	tensor.Tensor

	// Record records a call in which the receiver is an argument.
	Record(c *Call) ([]tenon.Value, error)

	// RecordLevel orders recorders that meet in one call: the highest records.
	RecordLevel() int
}

// Do calls an operation with positional arguments.
func Do(o *Op, args ...any) ([]tenon.Value, error) {
	c, err := Bind(o, args, nil)
	if err != nil {
		return nil, err
	}
	return c.Do()
}

// Eval calls an operation that has one result. It throws errors; it is what the
// functions of the catalogue are made of.
func Eval(o *Op, args ...any) tensor.Tensor {
	return single(o, tenon.Must(Do(o, args...)))
}

// EvalN calls an operation and returns all results. It throws errors.
func EvalN(o *Op, args ...any) []tensor.Tensor {
	return tensors(o, tenon.Must(Do(o, args...)))
}

// Unary calls an operation on one tensor, by the short way where there is one.
func Unary(o *Op, x any) tensor.Tensor {
	if d, ok := x.(*tensor.Dense); ok && o.Fast1 != nil && d != nil {
		if out := o.Fast1(d); out != nil {
			return out
		}
	}
	if out := o.answered(x, nil, 1); out != nil {
		return out
	}
	return Eval(o, x)
}

// Binary calls an operation on two tensors, by the short way where there is one.
func Binary(o *Op, x, y any) tensor.Tensor {
	if o.Fast2 != nil {
		a, _ := x.(*tensor.Dense)
		b, _ := y.(*tensor.Dense)
		switch {
		case a != nil && b == nil:
			b = o.constant(y, a)
		case b != nil && a == nil:
			a = o.constant(x, b)
		}
		if a != nil && b != nil {
			if out := o.Fast2(a, b); out != nil {
				return out
			}
		}
	}
	if out := o.answered(x, y, 2); out != nil {
		return out
	}
	return Eval(o, x, y)
}

// constant returns a Go number beside a tensor as binding would convert it, or nil
// where it is none or binding has to decide.
func (o *Op) constant(x any, beside *tensor.Dense) *tensor.Dense {
	if len(o.Params) != 2 || o.Params[0].Group == 0 || o.Params[0].Group != o.Params[1].Group {
		return nil
	}
	switch x.(type) {
	case int, float64, float32:
		t, _ := tensor.ScalarLike(x, beside.DType())
		d, _ := t.(*tensor.Dense)
		return d
	}
	return nil
}

// Apply calls the operation of c with other tensor arguments, in the order of
// [Call.Values], and the same attributes. It throws errors. Handlers use it to
// pass an operation on to the parts of a value.
func Apply(c *Call, values ...tenon.Value) tensor.Tensor {
	if out := c.Op.fast(values); out != nil {
		return out
	}
	return single(c.Op, tenon.Must(c.apply(values)))
}

// ApplyN is Apply for operations with any number of results.
func ApplyN(c *Call, values ...tenon.Value) []tensor.Tensor {
	if out := c.Op.fast(values); out != nil {
		return []tensor.Tensor{out}
	}
	return tensors(c.Op, tenon.Must(c.apply(values)))
}

// fast computes the result for dense tensors by the short way, for operations
// whose only parameters they are, and returns nil where the general way has to
// be taken.
func (o *Op) fast(values []tenon.Value) *tensor.Dense {
	if len(values) != len(o.Params) {
		return nil
	}
	switch {
	case len(values) == 1 && o.Fast1 != nil:
		if x, ok := values[0].(*tensor.Dense); ok && x != nil {
			return o.Fast1(x)
		}
	case len(values) == 2 && o.Fast2 != nil:
		x, okx := values[0].(*tensor.Dense)
		y, oky := values[1].(*tensor.Dense)
		if okx && oky && x != nil && y != nil {
			return o.Fast2(x, y)
		}
	}
	return nil
}

func (c *Call) apply(values []tenon.Value) ([]tenon.Value, error) {
	if n := c.countValues(); n != len(values) {
		return nil, c.Errorf(tenon.ErrInvalid, "applied to %d values in place of %d", len(values), n)
	}
	for i, v := range values {
		if v == nil {
			return nil, c.Errorf(tenon.ErrDType, "applied to a nil value at position %d", i)
		}
	}
	return c.WithValues(values).Do()
}

// One is what a handler returns for an operation with one result.
func One(v tenon.Value) ([]tenon.Value, error) { return []tenon.Value{v}, nil }

func single(o *Op, out []tenon.Value) tensor.Tensor {
	if len(out) != 1 {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, o.Func(), fmt.Sprintf("has %d results where one is expected", len(out))))
	}
	return asTensor(o, out[0])
}

func tensors(o *Op, out []tenon.Value) []tensor.Tensor {
	ts := make([]tensor.Tensor, len(out))
	for i, v := range out {
		ts[i] = asTensor(o, v)
	}
	return ts
}

func asTensor(o *Op, v tenon.Value) tensor.Tensor {
	t, ok := v.(tensor.Tensor)
	if !ok {
		e := tenon.NewError(tenon.ErrDType, o.Func(), fmt.Sprintf("was answered with a %s, which has no element type and shape", v.Spec().TypeName()))
		e.Hint = "give the type DType and Shape methods, or call the operation with op.Do"
		tenon.Throw(e)
	}
	return t
}

// Do runs a bound call.
func (c *Call) Do() ([]tenon.Value, error) { return c.do(nil) }

// do finds who answers. A trace, if there is one, is told who is asked.
func (c *Call) do(t *trace) ([]tenon.Value, error) {
	plain, rec := c.scan()
	if !plain {
		var room [4]tenon.Value
		values := c.appendValues(room[:0])
		var seats [4]candidate
		cands := candidates(seats[:0], values, rec != nil)
		var declined []string
		for i := range cands {
			if !cands[i].takes(c, values) {
				declined = append(declined, cands[i].name+" (without being asked)")
				continue
			}
			out, err := c.ask(&cands[i], values)
			if err != nil && errors.Is(err, NotHandled) {
				t.asked(cands[i].name, "declined")
				declined = append(declined, cands[i].name)
				continue
			}
			if err != nil {
				t.asked(cands[i].name, "failed")
				return nil, err
			}
			t.asked(cands[i].name, "answered")
			return out, nil
		}
		d, err := c.converted(values, declined)
		if err != nil {
			t.answered("nobody")
			return nil, err
		}
		c = d
		_, rec = c.scan()
	}
	c, err := c.promoted()
	if err != nil {
		return nil, err
	}
	if rec != nil {
		// A promotion may have wrapped operands, so look again.
		_, rec = c.scan()
		t.answered("the recorder " + fmt.Sprintf("%T", rec))
		return rec.Record(c)
	}
	t.answered("the kernel")
	return c.Run()
}

// scan reports whether all tensor arguments are plain (concrete or recorders),
// and the recorder with the highest level among them.
func (c *Call) scan() (plain bool, rec Recorder) {
	plain = true
	see := func(v tenon.Value) {
		switch v := v.(type) {
		case *tensor.Dense, *tensor.Strings, nil:
		case Recorder:
			if rec == nil || v.RecordLevel() > rec.RecordLevel() {
				rec = v
			}
		default:
			plain = false
		}
	}
	for _, i := range c.Op.tensors {
		switch v := c.Args[i].(type) {
		case []tenon.Value:
			for _, x := range v {
				see(x)
			}
		case tenon.Value:
			see(v)
		}
	}
	return plain, rec
}

// Run runs the kernel of a call whose tensor arguments are all concrete and
// promoted.
func (c *Call) Run() ([]tenon.Value, error) {
	out, err := c.Op.Infer(c)
	if err != nil {
		return nil, c.Fail(err)
	}
	k := c
	if !c.Op.Strided {
		k = c.contiguous()
	}
	k.Out = out
	res, err := k.kernel()
	if err != nil {
		return nil, c.Fail(err)
	}
	vals := make([]tenon.Value, len(res))
	for i, r := range res {
		vals[i] = r
	}
	return vals, nil
}

func (c *Call) kernel() (out []tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return c.Op.Kernel(c)
}

// contiguous returns the call with row-major arguments.
func (c *Call) contiguous() *Call {
	gaps := func(v any) bool {
		d, ok := v.(*tensor.Dense)
		return ok && d != nil && !d.IsContiguous()
	}
	out := c
	for _, i := range c.Op.tensors {
		switch v := c.Args[i].(type) {
		case *tensor.Dense:
			if gaps(v) {
				out = out.WithArg(i, tensor.Contiguous(v))
			}
		case []tenon.Value:
			if slices.ContainsFunc(v, func(x tenon.Value) bool { return gaps(x) }) {
				l := slices.Clone(v)
				for k, x := range l {
					if d, ok := x.(*tensor.Dense); ok {
						l[k] = tensor.Contiguous(d)
					}
				}
				out = out.WithArg(i, l)
			}
		}
	}
	return out
}

// candidate is somebody to ask.
type candidate struct {
	name     string // of the type whose handler it is
	value    tenon.Value
	handlers []*handler
	method   Handler
	willing  bool // the method takes the call
}

// candidates returns whom to ask, in order, in the memory of cands. Recorders
// are not asked, if there are any.
func candidates(cands []candidate, values []tenon.Value, recorders bool) []candidate {
	for _, v := range values {
		switch v.(type) {
		case *tensor.Dense, *tensor.Strings:
			continue
		}
		if recorders {
			if _, ok := v.(Recorder); ok {
				continue
			}
		}
		spec := v.Spec()
		cand, ok := handlerOf(spec.TypeName(), v)
		for _, name := range ancestors(spec) {
			if ok {
				break
			}
			cand, ok = handlerOf(name, nil)
			cand.value = v
		}
		if !ok || slices.ContainsFunc(cands, func(x candidate) bool { return x.name == cand.name }) {
			continue
		}
		if len(cands) == 0 {
			cands = append(cands, cand)
			continue
		}
		up := ancestors(spec)
		at := slices.IndexFunc(cands, func(x candidate) bool { return contains(up, x.name) })
		if at < 0 {
			at = len(cands)
		}
		cands = slices.Insert(cands, at, cand)
	}
	return cands
}

func handlerOf(name string, v tenon.Value) (candidate, bool) {
	m, _ := v.(Handler)
	hs := registered(name)
	return candidate{name: name, value: v, handlers: hs, method: m}, m != nil || len(hs) > 0
}

// takes reports whether the candidate wants to be asked about the call.
func (cand *candidate) takes(c *Call, values []tenon.Value) bool {
	cand.willing = cand.methodTakes(values)
	return cand.willing || len(cand.handlers) > 0 &&
		slices.ContainsFunc(cand.handlers, func(h *handler) bool { return h.match.takes(c, values) })
}

func (cand *candidate) methodTakes(values []tenon.Value) bool {
	if cand.method == nil {
		return false
	}
	a, ok := cand.method.(Accepter)
	return !ok || !slices.ContainsFunc(values, func(v tenon.Value) bool { return !a.AcceptsOp(v) })
}

// ancestors returns the names of the types that s refines, nearest first.
func ancestors(s tenon.Spec) []string {
	r, ok := s.(tenon.Refiner)
	if !ok {
		return nil
	}
	return r.Refines()
}

// ask asks one candidate: the registered handlers first, then the type's method.
func (c *Call) ask(cand *candidate, values []tenon.Value) ([]tenon.Value, error) {
	for _, h := range cand.handlers {
		if !h.match.takes(c, values) {
			continue
		}
		out, err := c.guarded(h.f, nil, cand.name)
		if err == nil || !errors.Is(err, NotHandled) {
			return out, err
		}
	}
	if !cand.willing {
		return nil, NotHandled
	}
	return c.guarded(nil, cand.method, cand.name)
}

// guarded calls f, or else the method of h. A panic that is not ours becomes an
// error that names the handler, and so do handlers that call one another without
// end and results that are none.
func (c *Call) guarded(f HandlerFunc, h Handler, name string) (out []tenon.Value, err error) {
	defer c.recovered(name, &err)
	var here byte
	if c.sampled(uintptr(unsafe.Pointer(&here))) && tooDeep() {
		return nil, &tenon.Error{Kind: tenon.ErrInvalid, Msg: fmt.Sprintf("the handler of %s calls itself without end", name),
			Hint: "a handler has to pass the operation on to the parts of its value, not to the value"}
	}
	if f != nil {
		out, err = f(c)
	} else {
		out, err = h.HandleOp(c)
	}
	if err != nil {
		return nil, err
	}
	return c.counted(out, name)
}

// recovered completes the error of a handler at the end of its call.
func (c *Call) recovered(name string, err *error) {
	if r := recover(); r != nil && !throw.Recovered(r, err) {
		*err = &tenon.Error{Kind: tenon.ErrInvalid, Msg: fmt.Sprintf("the handler of %s panicked: %v", name, r), Err: &handlerPanic{debug.Stack()}}
	}
	if *err != nil && !errors.Is(*err, NotHandled) {
		*err = c.Fail(*err)
	}
}

// counted checks what a handler returned.
func (c *Call) counted(out []tenon.Value, name string) ([]tenon.Value, error) {
	if n := c.Op.Results; n >= 0 && len(out) != n {
		return nil, c.Errorf(tenon.ErrInvalid, "the handler of %s returned %d results, the operation has %d", name, len(out), n)
	}
	if i := slices.IndexFunc(out, func(v tenon.Value) bool { return v == nil }); i >= 0 {
		return nil, c.Errorf(tenon.ErrInvalid, "the handler of %s returned nil as result %d", name, i)
	}
	return out, nil
}

// handlerPanic keeps the stack of a handler's panic for whoever looks for it.
type handlerPanic struct{ stack []byte }

func (h *handlerPanic) Error() string { return "see the cause for its stack" }

// Stack returns the stack at the panic.
func (h *handlerPanic) Stack() []byte { return h.stack }

// A handler that calls itself would overflow the stack, which Go does not
// recover from. So once in a while, before a handler is asked, the stack is looked
// at. Handlers that wait for one another stand at different places of the stack, so
// that one in sampling of them is looked at long before the stack is full.
const (
	sampling = 512
	maxDepth = 300
	frames   = 3 // a handler at work has at least so many frames on the stack
)

// sampled picks about one in sampling of calls, by its address and the place on the
// stack where a handler is asked: the same call may come back to the same handler.
func (c *Call) sampled(here uintptr) bool {
	return uint64(uintptr(unsafe.Pointer(c))^here)*0x9E3779B97F4A7C15>>(64-9) == 0
}

// tooDeep reports whether more than maxDepth handlers are at work on this stack.
// It costs little where the stack is short.
func tooDeep() bool {
	var one [1]uintptr
	if runtime.Callers(maxDepth*frames, one[:]) == 0 {
		return false
	}
	pcs := make([]uintptr, 20*maxDepth*frames)
	stack := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	n := 0
	for {
		f, more := stack.Next()
		if strings.HasSuffix(f.Function, "op.(*Call).guarded") {
			n++
		}
		if !more || n > maxDepth {
			return n > maxDepth
		}
	}
}

// converted replaces values that stand for plain tensors by those tensors, and
// fails where a value is left that nobody answers for.
func (c *Call) converted(values []tenon.Value, declined []string) (*Call, error) {
	out := slices.Clone(values)
	for i, v := range values {
		switch v := v.(type) {
		case *tensor.Dense, *tensor.Strings, Recorder:
		case Converter:
			t, err := v.AsTensor()
			if err != nil {
				return nil, c.Fail(err)
			}
			out[i] = t
		default:
			return nil, c.nobody(v, declined)
		}
	}
	return c.WithValues(out), nil
}

func (c *Call) nobody(v tenon.Value, declined []string) error {
	e := c.Errorf(tenon.ErrDType, "nobody answers for %s", v.Spec().TypeName())
	if len(declined) > 0 {
		e.Msg += "; asked and declined: " + strings.Join(declined, ", ")
	}
	_, opaque := v.(*tenon.OpaqueValue)
	switch {
	case opaque:
		e.Hint = "the type is not known in this program: import the package that defines " + v.Spec().TypeName()
	case len(declined) == 0:
		e.Hint = "give the type a HandleOp method, or register a handler with op.Handle"
	}
	return e
}

// castOp is the operation that promotion inserts; the catalogue sets it.
var castOp *Op

// SetCast tells dispatch which operation converts element types: parameters x
// and dtype.
func SetCast(o *Op) { castOp = o }

// promoted casts the tensors of each group to their common element type.
func (c *Call) promoted() (*Call, error) {
	out := c
	for g := uint8(1); g < 4; g++ {
		common, differ := dtype.None, false
		var err error
		for _, i := range c.Op.tensors {
			if c.Op.Params[i].Group != g {
				continue
			}
			each(c.Args[i], func(t tensor.Tensor) {
				d := t.DType()
				switch {
				case err != nil || d == common:
				case common == dtype.None:
					common = d
				default:
					differ = true
					common, err = dtype.Promote(common, d)
				}
			})
		}
		if err != nil {
			return nil, c.Errorf(tenon.ErrDType, "%v", strings.TrimPrefix(err.Error(), "dtype: "))
		}
		if !differ {
			continue
		}
		out = &Call{Op: c.Op, Args: slices.Clone(out.Args), ctx: c.ctx}
		for _, i := range c.Op.tensors {
			if c.Op.Params[i].Group != g {
				continue
			}
			if out.Args[i], err = castArg(out.Args[i], common); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func each(arg any, f func(tensor.Tensor)) {
	switch v := arg.(type) {
	case tensor.Tensor:
		f(v)
	case []tenon.Value:
		for _, x := range v {
			if t, ok := x.(tensor.Tensor); ok {
				f(t)
			}
		}
	}
}

func castArg(arg any, d dtype.DType) (any, error) {
	cast := func(t tenon.Value) (tenon.Value, error) {
		if x, ok := t.(tensor.Tensor); !ok || x.DType() == d {
			return t, nil
		}
		out, err := Do(castOp, t, d)
		if err != nil {
			return nil, err
		}
		return out[0], nil
	}
	switch v := arg.(type) {
	case tenon.Value:
		return cast(v)
	case []tenon.Value:
		l := slices.Clone(v)
		for i, x := range l {
			y, err := cast(x)
			if err != nil {
				return nil, err
			}
			l[i] = y
		}
		return l, nil
	}
	return arg, nil
}

var levels atomic.Int64

// NextLevel returns the level of a new recorder. Recorders made later have
// higher levels: the innermost of nested traces is the latest.
func NextLevel() int { return int(levels.Add(1)) }
