package op

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// A Recorder is a tensor that records operations on it instead of running them.
type Recorder interface {
	tensor.Tensor

	// Record records a call in which the receiver is an argument.
	Record(c *Call) ([]tenon.Value, error)

	// RecordLevel determines who records a call with several recorders: the one
	// with the highest level.
	RecordLevel() int
}

var levels atomic.Int64

// NextLevel returns the level of a new recorder. Recorders made later have higher
// levels, since the innermost of nested traces is made last.
func NextLevel() int { return int(levels.Add(1)) }

// Do runs a bound call.
func (c *Call) Do() ([]tenon.Value, error) {
	a, err := c.answer(nil)
	return a.list(), err
}

// DoTensors is [Call.Do] for calls whose results are tensors, such as those of a graph's nodes.
func (c *Call) DoTensors() ([]tensor.Tensor, error) {
	a, err := c.answer(nil)
	if err != nil {
		return nil, err
	}
	return a.all(c.Op)
}

// answer finds the one who answers the call and lets it do so. A trace, if there is one, records
// who is asked.
func (c *Call) answer(t *trace) (answer, error) {
	plain, rec, only := c.scan()
	if only != nil && t == nil {
		out, err := c.guarded(nil, only, "")
		if err == nil || !errors.Is(err, NotHandled) {
			return answer{values: out}, err
		} // a handler that declined is asked again, for the record
	}
	if !plain {
		out, d, err := c.asked(t, rec != nil)
		if d == nil {
			return answer{values: out}, err
		}
		c = d
		_, rec, _ = c.scan()
	}
	c, err := c.promoted()
	if err != nil {
		return answer{}, err
	}
	if rec != nil {
		// A promotion may have wrapped operands, so look again.
		_, rec, _ = c.scan()
		t.answered("the recorder " + fmt.Sprintf("%T", rec))
		out, err := rec.Record(c)
		return answer{values: out}, err
	}
	t.answered("the kernel")
	out, err := c.Run()
	return answer{tensors: out}, err
}

// asked asks the candidates in turn. If all decline, it returns the call with the values that stand
// for plain tensors replaced by those tensors.
func (c *Call) asked(t *trace, recorders bool) (out []tenon.Value, plain *Call, err error) {
	values := c.Values()
	cands := candidates(nil, values, recorders)
	var declined []string
	for i := range cands {
		if !cands[i].takes(c, values) {
			declined = append(declined, cands[i].name+" (without being asked)")
			continue
		}
		out, err := c.ask(&cands[i], values)
		if err != nil && errors.Is(err, NotHandled) {
			t.asked(c.Op, &cands[i], "declined")
			declined = append(declined, cands[i].name)
			continue
		}
		if err != nil {
			t.asked(c.Op, &cands[i], "failed")
			return nil, nil, err
		}
		t.asked(c.Op, &cands[i], "answered")
		return out, nil, nil
	}
	if plain, err = c.converted(values, declined); err != nil {
		t.answered("nobody")
	}
	return nil, plain, err
}

// scan looks at the tensor arguments. It finds out whether all are plain (concrete or recorders),
// and which recorder among them has the highest level. If all arguments other than tensors in
// memory have the same Go type, and values of that type answer for themselves without further
// conditions, only is the one to ask; it is nil if others may have a say.
func (c *Call) scan() (plain bool, rec Recorder, only Handler) {
	var first tenon.Value
	same := true
	see := func(v tenon.Value) {
		switch v := v.(type) {
		case *tensor.Dense, *tensor.Strings, nil:
		case Recorder:
			if rec == nil || v.RecordLevel() > rec.RecordLevel() {
				rec = v
			}
		default:
			if first == nil {
				first = v
			}
			same = same && reflect.TypeOf(first) == reflect.TypeOf(v)
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
	if first != nil && same && rec == nil {
		only = c.Op.memory.alone(first)
	}
	return first == nil, rec, only
}

// lone is a Go type whose values are the only ones to be asked about a call whose other arguments
// are plain tensors: they are Handlers but not Accepters, and the registry has no handler for them.
type lone struct {
	typ reflect.Type
	in  *registry
}

// alone returns v if it is the one to ask, and nil if others must be considered. The last Go type
// among an operation's arguments is remembered.
func (m *remembered) alone(v tenon.Value) Handler {
	typ, now := reflect.TypeOf(v), handlers.Load()
	if k := m.lone.Load(); k != nil && k.typ == typ && k.in == now {
		return v.(Handler)
	}
	h, ok := v.(Handler)
	if _, picky := v.(Accepter); !ok || picky || len(registered(v.Spec().TypeName())) > 0 {
		return nil
	}
	m.lone.Store(&lone{typ, now})
	return h
}

// candidate is a value or type that may answer a call.
type candidate struct {
	name     string // of the type that the handler belongs to
	value    tenon.Value
	handlers []*handler
	method   Handler
	willing  bool // the method accepts the call
}

// candidates returns the candidates to ask, in order, using the memory of cands.
// It omits recorders if recorders is set.
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
		at := slices.IndexFunc(cands, func(x candidate) bool { return slices.Contains(up, x.name) })
		if at < 0 {
			at = len(cands)
		}
		cands = slices.Insert(cands, at, cand)
	}
	return cands
}

func handlerOf(name string, v tenon.Value) (candidate, bool) {
	m, _ := v.(Handler)
	if f, ok := v.(Formed); ok && m == nil {
		m = formHandler{f}
	}
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

// converted replaces values that stand for plain tensors by those tensors. It
// fails if there is a value left that nobody answers for.
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

// unanswered returns the error for a call whose operands nobody handles, which says who was asked.
func (c *Call) unanswered() *tenon.Error {
	for _, v := range c.Values() {
		if _, leaf := v.(*tensor.Dense); v != nil && !leaf && !tenon.IsLeaf(v.Spec()) {
			return tenon.AsError(c.nobody(v, nil))
		}
	}
	return c.Errorf(tenon.ErrDType, "no handler accepts these operands")
}

func (c *Call) nobody(v tenon.Value, declined []string) error {
	e := c.Errorf(tenon.ErrDType, "no handler accepts %s", v.Spec().TypeName())
	if len(declined) > 0 {
		e.Msg += "; asked and declined: " + strings.Join(declined, ", ")
	}
	_, opaque := v.(*tenon.OpaqueValue)
	switch {
	case opaque:
		e.Hint = "the type is not registered in this program: import the package that defines " + v.Spec().TypeName()
	case len(declined) == 0:
		e.Hint = fmt.Sprintf("give the type a HandleOp method that answers %q, or register a handler with op.Handle", c.Op.Name)
	default:
		e.Hint = fmt.Sprintf("one of them would have to answer %q", c.Op.Name)
	}
	return e
}
