package ext

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

// CastOptions say when a cast is applied. The zero value means that the cast loses nothing and is
// applied wherever it helps.
type CastOptions struct {
	// Explicit means that the cast loses information, so that only [Convert] applies it.
	Explicit bool
}

// castRule is a declared cast.
type castRule struct {
	from, to reflect.Type
	explicit bool
	line     string
	accepts  func(v tenon.Value) bool
	apply    func(v tenon.Value) (tenon.Value, error)
}

var casts struct {
	sync.RWMutex
	rules []*castRule
}

// Cast declares how values of one type are converted to values of another. At least one of the
// types must be registered with this package. If branches return both types, their result has the
// type that the other can be cast to; arguments of a function with a declared signature are cast to
// it; [Convert] casts on request. The type tensor.Tensor stands for dense tensors. The function
// gets symbolic values too, and may throw. The function that Cast returns removes the declaration.
//
//	ext.Cast(func(x tensor.Tensor) (Masked, error) { … }, ext.CastOptions{})
func Cast[From, To tenon.Value](f func(From) (To, error), o CastOptions) (remove func(), err error) {
	r := &castRule{from: reflect.TypeFor[From](), to: reflect.TypeFor[To](), explicit: o.Explicit, line: source.Line()}
	if infoOf(r.from) == nil && infoOf(r.to) == nil || r.from == r.to {
		return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "ext.Cast", Line: r.line,
			Msg: fmt.Sprintf("a cast is between two types of which one is registered, not from %v to %v", r.from, r.to)}
	}
	r.accepts = func(v tenon.Value) bool {
		if r.from == tensorType {
			return tenon.IsLeaf(v.Spec())
		}
		_, ok := v.(From)
		return ok
	}
	r.apply = func(v tenon.Value) (out tenon.Value, err error) {
		defer tenon.Catch(&err)
		x, err := f(v.(From))
		if err != nil {
			return nil, err
		}
		if any(x) == nil {
			return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "ext.Cast", Msg: fmt.Sprintf("the cast from %v to %v returned nil", r.from, r.to)}
		}
		return x, nil
	}
	casts.Lock()
	defer casts.Unlock()
	for _, old := range casts.rules {
		if old.from == r.from && old.to == r.to {
			return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "ext.Cast", Line: r.line,
				Msg: fmt.Sprintf("there is a cast from %v to %v already, at %s", r.from, r.to, old.line)}
		}
	}
	casts.rules = append(slices.Clone(casts.rules), r)
	return func() {
		casts.Lock()
		defer casts.Unlock()
		casts.rules = slices.DeleteFunc(slices.Clone(casts.rules), func(x *castRule) bool { return x == r })
	}, nil
}

// Convert returns v as a To: v itself, the To that it embeds, or the result of a declared cast,
// including explicit ones. The type tensor.Tensor stands for dense tensors.
func Convert[To tenon.Value](v tenon.Value) (To, error) {
	if x, ok := As[To](v); ok && (reflect.TypeFor[To]() != tensorType || tenon.IsLeaf(v.Spec())) {
		return x, nil
	}
	var zero To
	if v == nil {
		return zero, &tenon.Error{Kind: tenon.ErrInvalid, Op: "ext.Convert", Msg: "the value is nil", Line: source.Line()}
	}
	for _, r := range rules(true) {
		if r.to != reflect.TypeFor[To]() || !r.accepts(v) {
			continue
		}
		out, err := r.apply(v)
		return as[To]("ext.Convert", out, err)
	}
	return zero, &tenon.Error{Kind: tenon.ErrUnsupported, Op: "ext.Convert", Line: source.Line(),
		Msg: fmt.Sprintf("no cast is declared from %s to %v", tenon.String(v.Spec()), reflect.TypeFor[To]()), Hint: "declare one with ext.Cast"}
}

// rules returns the declared casts, with or without explicit ones.
func rules(explicit bool) []*castRule {
	casts.RLock()
	defer casts.RUnlock()
	if explicit {
		return casts.rules
	}
	var out []*castRule
	for _, r := range casts.rules {
		if !r.explicit {
			out = append(out, r)
		}
	}
	return out
}

// CastSpec returns the Spec that values of both the receiver and other can be cast to. It is of the
// receiver's type or of the other's.
func (s *Spec) CastSpec(other tenon.Spec) (tenon.Spec, bool) {
	if other == nil || len(rules(false)) == 0 {
		return nil, false
	}
	for _, r := range rules(false) {
		from, to := other, s.outer
		if r.to != s.info.typ {
			if r.from != s.info.typ {
				continue
			}
			from, to = s.outer, other
		}
		v, err := symbolic(from)
		if err != nil || !r.accepts(v) {
			continue
		}
		out, err := r.apply(v)
		if err != nil {
			continue
		}
		if m, ok := tenon.Merge(to, out.Spec()); ok {
			return m, true
		}
	}
	return nil, false
}

// symbolic returns a value of a Spec without data.
func symbolic(s tenon.Spec) (tenon.Value, error) {
	parts, err := nest.Flatten(s, nest.Options{Expand: true})
	if err != nil {
		return nil, err
	}
	g := graph.New("cast")
	for i, p := range parts {
		t, ok := p.(*tensor.Spec)
		if !ok {
			return nil, &tenon.Error{Kind: tenon.ErrDType, Op: "ext.Cast", Msg: fmt.Sprintf("a component is a %T, not a tensor", p)}
		}
		parts[i] = g.Param(t)
	}
	x, err := nest.Pack[any](s, parts, nest.Options{Expand: true})
	if err != nil {
		return nil, err
	}
	return x.(tenon.Value), nil
}

// Cast returns v as a value of the receiver, using a cast that loses nothing.
func (s *Spec) Cast(v tenon.Value) (tenon.Value, error) {
	if v == nil {
		return nil, s.fail(tenon.ErrInvalid, "Cast", "", "the value is nil")
	}
	if tenon.Belongs(v, s) {
		return v, nil
	}
	for _, r := range rules(false) {
		if r.to == s.info.typ && s.info.typ != nil && r.accepts(v) {
			return s.checked(r, v, s)
		}
	}
	return nil, s.fail(tenon.ErrUnsupported, "Cast", "", fmt.Sprintf("no cast is declared from %s", tenon.String(v.Spec())))
}

// CastTo returns v, a value of the receiver, as a value of another type to which it can be cast
// without loss.
func (s *Spec) CastTo(v tenon.Value, to tenon.Spec) (tenon.Value, error) {
	for _, r := range rules(false) {
		if r.from != s.info.typ || s.info.typ == nil || !r.accepts(v) {
			continue
		}
		if out, err := s.checked(r, v, to); err == nil {
			return out, nil
		}
	}
	return nil, s.fail(tenon.ErrUnsupported, "CastTo", "", fmt.Sprintf("no cast is declared to %s", tenon.String(to)))
}

func (s *Spec) checked(r *castRule, v tenon.Value, to tenon.Spec) (tenon.Value, error) {
	out, err := r.apply(v)
	if err != nil {
		return nil, err
	}
	if !tenon.Compatible(to, out.Spec()) {
		return nil, s.fail(tenon.ErrDType, "Cast", "", fmt.Sprintf("the cast gives %s, want %s", tenon.String(out.Spec()), tenon.String(to)))
	}
	return out, nil
}
