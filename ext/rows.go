package ext

import (
	"fmt"
	"reflect"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/tensor"
)

// Stack returns one value that holds the given ones as its rows: every field that is a Value gains
// an outermost axis. Their Specs must merge; static data are kept. Ragged fields stay ragged, with
// rows of any length; other fields have equal sizes. Values of types that this package did not
// derive are stacked by the rules of their Specs.
func Stack[T tenon.Value](values ...T) (T, error) {
	return together("ext.Stack", values, func(vs []tenon.Value) (tenon.Value, error) { return rows.Stack(vs, nil) })
}

// Concat returns one value with the rows of all the given ones, in order.
func Concat[T tenon.Value](values ...T) (T, error) {
	return together("ext.Concat", values, rows.Concat)
}

// Unstack returns the rows of a value; it is the inverse of [Stack]. The number of rows must be
// known.
func Unstack[T tenon.Value](x T) ([]T, error) {
	n, err := Rows(x)
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Op: "ext.Unstack", Msg: "the number of rows is not known", Line: source.Line()}
	}
	out := make([]T, n)
	for i := range out {
		if out[i], err = Row(x, i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Row returns row i of a value.
func Row[T tenon.Value](x T, i int) (T, error) {
	v, err := rows.Take(x, i)
	return as[T]("ext.Row", v, err)
}

// Slice returns the rows of a value from lo up to, but not including, hi.
func Slice[T tenon.Value](x T, lo, hi int) (T, error) {
	v, err := rows.Slice(x, lo, hi)
	return as[T]("ext.Slice", v, err)
}

// Gather returns the rows of a value listed in a vector of integers.
func Gather[T tenon.Value](x T, indices any) (T, error) {
	at, err := tensor.Convert(indices)
	if err != nil {
		var zero T
		return zero, err
	}
	v, err := rows.Gather(x, at)
	return as[T]("ext.Gather", v, err)
}

// Rows returns the number of rows of a batch, or shape.Unknown if it is not known. It returns an
// error if fields have different numbers of rows.
func Rows(x tenon.Value) (int, error) {
	n, err := rows.Count(x)
	return n, rows.Named("ext.Rows", err)
}

// SharedComponents reports which components have the tag batch=keep.
func (s *Spec) SharedComponents() []bool {
	out := make([]bool, len(s.fields))
	for k, p := range s.policies() {
		out[k] = p == batchKeep
	}
	return out
}

// WithComponents returns a Spec with the same static data and other Specs for its
// components, such as those of ragged rows instead of dense ones.
func (s *Spec) WithComponents(specs []tenon.Spec) (tenon.Spec, error) {
	if len(specs) != len(s.fields) {
		return nil, s.fail(tenon.ErrInvalid, "WithComponents", "", fmt.Sprintf("got %d components, want %d", len(specs), len(s.fields)))
	}
	out := &Spec{info: s.info, like: s.like, slots: make([]tenon.Spec, len(s.slots))}
	k := 0
	for i, slot := range s.slots {
		if slot != nil {
			out.slots[i] = lasting(specs[k])
			k++
		}
	}
	out.seal()
	return out.outer, nil
}

// policies returns the batch policy of each component.
func (s *Spec) policies() []policy {
	out := make([]policy, 0, len(s.fields))
	k := 0
	for _, f := range s.info.node.flat(0, nil) {
		n := 1
		if f.node.places < 0 || f.node.places > 1 {
			n = len(f.node.appendNames(at(s.like, f.offset), "", nil))
		} else if f.node.places == 0 {
			n = 0
		}
		for range n {
			if s.slots[k] != nil {
				out = append(out, f.tag.batch)
			}
			k++
		}
	}
	return out
}

// together joins values of one Go type.
func together[T tenon.Value](fn string, values []T, join func([]tenon.Value) (tenon.Value, error)) (T, error) {
	vs := make([]tenon.Value, len(values))
	for i, v := range values {
		vs[i] = v
	}
	v, err := join(vs)
	return as[T](fn, v, err)
}

func named(fn string, err error) error { return rows.Named(fn, err) }

func as[T tenon.Value](fn string, v tenon.Value, err error) (T, error) {
	if err != nil {
		var zero T
		return zero, named(fn, err)
	}
	x, ok := v.(T)
	if !ok {
		return x, &tenon.Error{Kind: tenon.ErrDType, Op: fn, Msg: fmt.Sprintf("the result is %s, not a %v", tenon.String(v.Spec()), reflect.TypeFor[T]()), Line: source.Line()}
	}
	return x, nil
}
