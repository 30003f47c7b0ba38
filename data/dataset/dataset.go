package dataset

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
)

// A Dataset is a sequence of elements. It is immutable; its methods return others.
type Dataset[T any] struct {
	n   *node[T]
	err error // from its making; reading returns it
}

// An ElementError is an error of an element.
type ElementError struct {
	Index int64  // the number of the element in the dataset where the error arose
	Where string // what the element was read from, a file and a place in it; "" where that is not known
	Err   error
	Stack string // where a function panicked that Prefetch ran; "" otherwise
}

// Error returns "element 17: …", or "element 17 (events.parquet: row group 2, row 5): …".
func (e *ElementError) Error() string {
	if e.Where != "" {
		return fmt.Sprintf("dataset: element %d (%s): %v", e.Index, e.Where, e.Err)
	}
	return fmt.Sprintf("dataset: element %d: %v", e.Index, e.Err)
}

// Unwrap returns the error itself.
func (e *ElementError) Unwrap() error { return e.Err }

// at returns err as that of element i, unless it is one of an element already.
func elementError(i int64, err error) error {
	var e *ElementError
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &ElementError{Index: i, Err: err}
}

// placedError is elementError with what the element was read from.
func placedError(i int64, where func() string, err error) error {
	var e *ElementError
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &ElementError{Index: i, Where: where(), Err: err}
}

// numberedError is elementError, also for the error of an element that did not know its
// number.
func numberedError(i int64, err error) error {
	var e *ElementError
	if errors.As(err, &e) && e.Index < 0 {
		e.Index = i
	}
	return elementError(i, err)
}

func invalid(op, format string, args ...any) error { return errOf(op, format, args...) }

func errOf(op, format string, args ...any) *tenon.Error {
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: "dataset." + op, Msg: fmt.Sprintf(format, args...), Line: source.Line()}
}

// unnumbered is the error of what needs numbers.
func unnumbered(op string) error {
	return &tenon.Error{Kind: tenon.ErrUnsupported, Op: "dataset." + op, Msg: "a stream has no numbered elements", Line: source.Line(),
		Hint: "use ShuffleWindow to shuffle a stream, or pass the result of Collect to FromSlice"}
}

// derived returns a dataset with the errors of what it is made of.
func derived[T any](n *node[T], errs ...error) *Dataset[T] {
	n.meter.name = n.name
	for _, err := range errs {
		if err != nil {
			return failing[T](err)
		}
	}
	return &Dataset[T]{n: n}
}

// Err returns what was wrong in the making of the dataset. Reading it returns the same.
func (d *Dataset[T]) Err() error { return d.err }

// Len returns the number of elements, and false for a stream, where only reading tells
// it.
func (d *Dataset[T]) Len() (int64, bool) {
	if d.err != nil || d.n.size == nil {
		return 0, false
	}
	n, err := d.n.size()
	return n, err == nil
}

// At returns element i. It is an error of kind tenon.ErrRange where there is none, and of
// kind tenon.ErrUnsupported for a stream.
func (d *Dataset[T]) At(i int64) (x T, err error) {
	if d.err != nil {
		return x, d.err
	}
	if d.n.get == nil {
		return x, unnumbered("At")
	}
	n, err := d.n.size()
	if err != nil {
		return x, err
	}
	if i < 0 || i >= n {
		return x, &tenon.Error{Kind: tenon.ErrRange, Op: "dataset.At", Msg: fmt.Sprintf("element %d of %d does not exist", i, n), Line: source.Line()}
	}
	return d.n.at(i)
}

// Specs returns the name and Spec of each Value in an element, with the sizes that all
// elements share. Where they are not known without reading, they are those of the first
// element.
func (d *Dataset[T]) Specs() ([]tenon.Field, error) {
	if d.err != nil {
		return nil, d.err
	}
	if s := d.n.fields(); s != nil {
		return s, nil
	}
	for x, err := range d.All(context.Background()) {
		if err != nil {
			return nil, err
		}
		return specsOf(x)
	}
	return nil, invalid("Specs", "there is no element")
}

// All returns the elements in order.
func (d *Dataset[T]) All(ctx context.Context) iter.Seq2[T, error] { return d.From(ctx, 0) }

// From returns the elements from a position on: the number of elements that were read
// before. An error comes last; that of a context that has ended is its cause.
func (d *Dataset[T]) From(ctx context.Context, position int64) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		err := d.err
		if err == nil && position < 0 {
			err = invalid("From", "the position %d is negative", position)
		}
		if err != nil {
			yield(zero, err)
			return
		}
		c := &Cursor[T]{ctx: ctx, w: d.n.walk(opening[T]{ctx: ctx, skip: position}), position: position}
		defer c.Close()
		c.each(yield)
	}
}

// Collect reads all elements.
func (d *Dataset[T]) Collect(ctx context.Context) ([]T, error) {
	var out []T
	for x, err := range d.All(ctx) {
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}
