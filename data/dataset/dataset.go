package dataset

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
)

// A Dataset is a sequence of elements. It is immutable; its methods return new datasets.
type Dataset[T any] struct {
	n   *node[T]
	err error // error of its construction, returned by reading
}

// An ElementError is an error that occurred for an element.
type ElementError struct {
	Index int64  // number of the element in the dataset in which the error occurred
	Where string // origin of the element, such as a file and a position in it; "" if unknown
	Err   error
	Stack string // stack of a panic in a function run by Prefetch; otherwise ""
}

// Error returns "element 17: …", or "element 17 (events.parquet: row group 2, row 5): …".
func (e *ElementError) Error() string {
	if e.Where != "" {
		return fmt.Sprintf("dataset: element %d (%s): %v", e.Index, e.Where, e.Err)
	}
	return fmt.Sprintf("dataset: element %d: %v", e.Index, e.Err)
}

// Unwrap returns the underlying error.
func (e *ElementError) Unwrap() error { return e.Err }

// elementError returns err as the error of element i, unless it already is the error of an element.
func elementError(i int64, err error) error {
	var e *ElementError
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &ElementError{Index: i, Err: err}
}

// placedError is elementError with the origin of the element.
func placedError(i int64, where func() string, err error) error {
	var e *ElementError
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &ElementError{Index: i, Where: where(), Err: err}
}

// numberedError is elementError, but also fills in the number of an ElementError that lacks it.
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

// unnumbered is the error of operations that need numbered elements.
func unnumbered(op string) error {
	return &tenon.Error{Kind: tenon.ErrUnsupported, Op: "dataset." + op, Msg: "a stream has no numbered elements", Line: source.Line(),
		Hint: "use ShuffleWindow to shuffle a stream, or pass the result of Collect to FromSlice"}
}

// derived returns a dataset with the errors of its inputs.
func derived[T any](n *node[T], errs ...error) *Dataset[T] {
	n.meter.name = n.name
	for _, err := range errs {
		if err != nil {
			return failing[T](err)
		}
	}
	return &Dataset[T]{n: n}
}

// Err returns the error that occurred when the dataset was constructed. Reading the dataset returns
// the same error.
func (d *Dataset[T]) Err() error { return d.err }

// Len returns the number of elements, and false for a stream, whose length is known only after
// reading it.
func (d *Dataset[T]) Len() (int64, bool) {
	if d.err != nil || d.n.size == nil {
		return 0, false
	}
	n, err := d.n.size()
	return n, err == nil
}

// At returns element i. It returns an error of kind tenon.ErrRange if there is no such element, and
// of kind tenon.ErrUnsupported for a stream.
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

// Specs returns the name and Spec of each Value in an element, with the sizes that all elements
// share. If they cannot be known without reading, they are those of the first element.
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
	return nil, invalid("Specs", "the dataset has no elements")
}

// All returns the elements in order.
func (d *Dataset[T]) All(ctx context.Context) iter.Seq2[T, error] { return d.From(ctx, 0) }

// From returns the elements from a position on, which is the number of elements to skip. An error
// comes last; if the context has ended, it is the context's cause.
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
