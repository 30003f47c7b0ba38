package rows

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// ByComponents is the Spec of a type whose values are stacked, and taken apart into rows,
// component by component.
type ByComponents interface {
	tenon.Batcher

	// SharedComponents reports for each component whether it is shared by all rows of a batch. It
	// returns nil if values are not stacked component by component.
	SharedComponents() []bool
}

// way is the way in which values of a Spec have rows.
type way uint8

const (
	none way = iota
	asTensor
	boxed
	byComponents
)

// wayOf returns how a value, which is a batch or may become a row of one, has rows, and which
// components all rows share.
func wayOf(v tenon.Value) (w way, shared []bool) {
	s := v.Spec()
	if tenon.IsLeaf(s) {
		return asTensor, nil
	}
	_, declared := s.(ByComponents)
	_, isBoxer := s.(tenon.Boxer)
	if _, ok := s.(tenon.Batcher); ok && isBoxer && !declared {
		if ts, err := s.(tenon.Boxer).Box(v, 0); err == nil && itself(ts, v) {
			return boxed, nil
		}
	}
	if shared, ok := Components(s); ok {
		return byComponents, shared
	}
	if _, ok := s.(tenon.Batcher); ok && isBoxer {
		return boxed, nil
	}
	if _, ok := v.(tensor.Tensor); ok {
		return asTensor, nil
	}
	return none, nil
}

// Components returns which components are shared by all rows of a batch, for values of s that are
// stacked component by component; ok is false for others. s may be the Spec of a batch or of a row.
func Components(s tenon.Spec) (shared []bool, ok bool) {
	b, ok := s.(tenon.Batcher)
	if !ok || tenon.IsLeaf(s) {
		return nil, false
	}
	if c, ok := s.(ByComponents); ok {
		shared := c.SharedComponents()
		return shared, shared != nil
	}
	shared, ok = inferred(b)
	if _, boxes := s.(tenon.Boxer); boxes && slices.Contains(shared, true) {
		return nil, false // a component that looks shared may be encoded
	}
	return shared, ok
}

// inferred determines from the Spec of a batch whether it is made component by component.
func inferred(s tenon.Batcher) (shared []bool, ok bool) {
	batch, err := s.Batched(shape.Unknown)
	if err != nil {
		return nil, false
	}
	row, whole := s.Components(), batch.Components()
	if len(row) != len(whole) || len(row) == 0 {
		return nil, false
	}
	shared = make([]bool, len(row))
	for k, f := range row {
		c, ok := f.Spec.(tenon.Batcher)
		if ok {
			if b, err := c.Batched(shape.Unknown); err == nil && tenon.Equal(b, whole[k].Spec) {
				continue
			}
		}
		if shared[k] = tenon.Equal(f.Spec, whole[k].Spec); !shared[k] {
			return nil, false
		}
	}
	return shared, slices.Contains(shared, false)
}

// RowSpec returns the Spec of one row of values of s.
func RowSpec(s tenon.Spec) (tenon.Spec, error) {
	b, ok := s.(tenon.Batcher)
	if !ok {
		return nil, noRows(s)
	}
	return b.Unbatched()
}

// BatchSpec returns the Spec of n rows described by s; n may be shape.Unknown.
func BatchSpec(s tenon.Spec, n int) (tenon.Spec, error) {
	b, ok := s.(tenon.Batcher)
	if !ok {
		return nil, fail(tenon.ErrUnsupported, "%s cannot be stacked: %s", tenon.String(s), lacks(s))
	}
	return b.Batched(n)
}

// resized returns the Spec of a batch with a different number of rows.
func resized(s tenon.Spec, n int) (tenon.Spec, error) {
	row, err := RowSpec(s)
	if err != nil {
		return nil, err
	}
	return BatchSpec(row, n)
}

func fail(kind error, format string, args ...any) *tenon.Error {
	return &tenon.Error{Kind: kind, Msg: fmt.Sprintf(format, args...), Line: source.Line()}
}

func noRows(s tenon.Spec) error {
	e := fail(tenon.ErrUnsupported, "%s has no rows to stack or to take: %s", tenon.String(s), lacks(s))
	if _, ok := s.(*tenon.Opaque); ok {
		e.Hint = "import the package that defines " + s.TypeName()
	} else if _, ok := s.(tenon.Batcher); !ok {
		e.Hint = "values have rows if their Spec has the methods Batched and Unbatched"
	}
	return e
}

// lacks describes what is missing in a Spec.
func lacks(s tenon.Spec) string {
	if _, ok := s.(*tenon.Opaque); ok {
		return "its type is not known in this program"
	}
	if _, ok := s.(tenon.Batcher); !ok {
		return "its Spec does not implement tenon.Batcher"
	}
	return "its Spec does not implement tenon.Boxer, and its batches are not made of those of its components"
}

// Named returns err as an error of a function of another package.
func Named(fn string, err error) error {
	if err == nil {
		return nil
	}
	e := *tenon.AsError(err)
	if e.Op == "" {
		e.Op = fn
	}
	if e.Line == "" {
		e.Line = source.Line()
	}
	return &e
}
