package tenon

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/internal/throw"
)

// The kinds of errors. Test for them with errors.Is.
var (
	ErrShape       = errors.New("shape error")        // sizes or ranks do not fit
	ErrDType       = errors.New("type error")         // a wrong element type or kind of value
	ErrAxis        = errors.New("axis error")         // an axis that does not exist or is repeated
	ErrRange       = errors.New("index out of range") // an index in a key is out of bounds
	ErrNotFound    = errors.New("not found")          // a name, field or key that is not there
	ErrUnsupported = errors.New("unsupported")        // the operation has no meaning for these values
	ErrInvalid     = errors.New("invalid argument")   // any other argument that is wrong
)

// An Error says what went wrong, where, and how to fix it.
type Error struct {
	Kind  error    // one of the sentinels above
	Op    string   // the operation: "ops.MatMul"
	Args  []string // the Specs of its arguments
	Where string   // the attribute, path or row at fault: "axis", "jets[12].hits", "row 4711"
	Line  string   // the user's own source line: "search/model.go:41"
	Msg   string   // what is wrong
	Hint  string   // one concrete way to fix it
	Err   error    // the cause, if there is one
}

// Error returns the known parts on one line:
//
//	ops.MatMul(float32[?, 64], float32[32, 16]): inner sizes 64 and 32 differ (at search/model.go:41); did you mean the second operand transposed?
//
// The verb %+v prints them on separate lines, for people to read.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(oneLine(e.statement(error.Error)))
	if e.Line != "" {
		b.WriteString(" (at " + e.Line + ")")
	}
	if e.Hint != "" {
		b.WriteString("; " + oneLine(e.Hint))
	}
	return b.String()
}

// Format prints the error on one line. The verb %+v prints the place and the hint on lines below:
//
//	ops.MatMul(float32[?, 64], float32[32, 16]): inner sizes 64 and 32 differ
//	  at search/model.go:41
//	  did you mean the second operand transposed?
func (e *Error) Format(s fmt.State, verb rune) {
	switch {
	case verb == 'v' && s.Flag('+'):
		io.WriteString(s, e.long())
	case verb == 'q':
		io.WriteString(s, strconv.Quote(e.Error()))
	default:
		io.WriteString(s, e.Error())
	}
}

// MarshalText returns the same line as Error. Package log/slog calls it when it writes an error as
// text, where it would otherwise use %+v, and package encoding/json for an error in a struct.
func (e *Error) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// long returns the text on several lines.
func (e *Error) long() string {
	text := e.statement(func(err error) string { return fmt.Sprintf("%+v", err) })
	if e.Line != "" {
		text += "\n  at " + e.Line
	}
	if e.Hint != "" {
		text += "\n  " + e.Hint
	}
	return text
}

// statement returns the text of the error without the place and the hint.
func (e *Error) statement(cause func(error) string) string {
	var b strings.Builder
	b.WriteString(e.Op)
	if len(e.Args) > 0 {
		b.WriteByte('(')
		b.WriteString(strings.Join(e.Args, ", "))
		b.WriteByte(')')
	}
	part := func(s string) {
		if b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(s)
	}
	if e.Where != "" {
		part(e.Where)
	}
	if e.Msg != "" {
		part(e.Msg)
	}
	if e.Err != nil {
		part(cause(e.Err))
	} else if e.Msg == "" && e.Kind != nil {
		part(e.Kind.Error())
	}
	return b.String()
}

// oneLine joins the lines of a text.
func oneLine(s string) string {
	if !strings.Contains(s, "\n") {
		return s
	}
	var parts []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, "; ")
}

// Unwrap returns the kind and the cause, for errors.Is.
func (e *Error) Unwrap() []error {
	var errs []error
	if e.Kind != nil {
		errs = append(errs, e.Kind)
	}
	if e.Err != nil {
		errs = append(errs, e.Err)
	}
	return errs
}

// NewError returns an error of the given kind with the caller's source line.
func NewError(kind error, op, msg string) *Error {
	return &Error{Kind: kind, Op: op, Msg: msg, Line: source.Line()}
}

// WithHint sets a concrete way to fix the error, and returns it.
func (e *Error) WithHint(hint string) *Error {
	e.Hint = hint
	return e
}

// At sets the attribute, path or row at fault, and returns the error.
func (e *Error) At(where string) *Error {
	e.Where = where
	return e
}

// AsError returns err as an *Error. It wraps any other error in one of kind
// ErrInvalid and returns nil for nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		if error(e) == err {
			return e
		}
		return &Error{Kind: e.Kind, Msg: err.Error()}
	}
	return &Error{Kind: ErrInvalid, Err: err, Line: source.Line()}
}

// Try runs f and returns what it returns, or the error that an expression
// function inside it threw. Any other panic propagates.
func Try[T any](f func() T) (v T, err error) {
	defer Catch(&err)
	return f(), nil
}

// Catch stores a thrown error in *err, as an *Error. It must be deferred
// directly:
//
//	defer tenon.Catch(&err)
func Catch(err *error) {
	var thrown error
	if r := recover(); r != nil {
		if !throw.Recovered(r, &thrown) {
			throw.Again(r)
		}
		*err = AsError(thrown)
	}
}

// Throw makes the expression function that calls it fail with err, to be
// caught by [Try] or [Catch]. It does nothing for nil.
func Throw(err error) {
	if err != nil {
		throw.Throw(AsError(err))
	}
}

// Must returns v, or throws err.
func Must[T any](v T, err error) T {
	Throw(err)
	return v
}
