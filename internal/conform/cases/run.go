package cases

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/tenonml/tenon"
)

// A Func does an operation that cases name. It returns a value of the library,
// plain data, or a slice where there are several results; it may throw.
type Func func(c *Case) (any, error)

var funcs = map[string]Func{}

// Handle says how the operations with the given names are done.
func Handle(ops map[string]Func) {
	for name, f := range ops {
		if _, ok := funcs[name]; ok || f == nil {
			misread("operation %q is declared twice or empty", name)
		}
		funcs[name] = f
	}
}

// Known reports whether an operation is known.
func Known(op string) bool { return funcs[op] != nil }

// Status is how a case ended.
type Status uint8

// The ends of a case.
const (
	Passed Status = iota
	Failed
	Skipped // the operation or a type of value is not known
)

// A Result is how a case ended, and why.
type Result struct {
	Case   *Case
	Status Status
	Reason string // of a failed or skipped case
}

// Run runs a case once. The case's arguments are decoded on the way.
func Run(c *Case) Result {
	f := funcs[c.Op]
	if f == nil {
		return Result{c, Skipped, fmt.Sprintf("operation %s is not known", c.Op)}
	}
	got, err := answer(c, f)
	var wrong *misreading
	switch {
	case errors.Is(err, ErrUnknown):
		return Result{c, Skipped, err.Error()}
	case errors.As(err, &wrong):
		return Result{c, Failed, err.Error()}
	}
	if err = check(c, got, err); err != nil {
		if errors.Is(err, ErrUnknown) {
			return Result{c, Skipped, err.Error()}
		}
		return Result{c, Failed, err.Error()}
	}
	return Result{Case: c}
}

// answer decodes the arguments and does the operation. A panic that was not
// thrown is an error that no case expects.
func answer(c *Case, f Func) (got any, err error) {
	defer func() {
		if r := recover(); r != nil {
			got, err = nil, &misreading{fmt.Sprintf("panic: %v\n%s", r, debug.Stack())}
		}
	}()
	return guarded(c, f)
}

func guarded(c *Case, f Func) (got any, err error) {
	defer tenon.Catch(&err)
	args, err := c.Decode(c.Args)
	if err != nil {
		return nil, err
	}
	c.Args, _ = args.([]any)
	if c.Attrs, err = c.decodeEntries(c.Attrs); err != nil {
		return nil, err
	}
	return f(c)
}

func check(c *Case, got any, err error) error {
	switch {
	case c.Error != nil && err == nil:
		return fmt.Errorf("got %v, want an error of kind %s", got, c.Error.Kind)
	case c.Error != nil:
		if k := ErrorKind(err); k != c.Error.Kind {
			return fmt.Errorf("got the error %q of kind %s, want kind %s", err, k, c.Error.Kind)
		}
		return nil
	case err != nil:
		return err
	}
	return match(&Matcher{Case: c, Tol: c.Tol}, c.Want, got)
}

func match(m *Matcher, want, got any) (err error) {
	defer tenon.Catch(&err)
	return m.Match(want, got)
}

// ErrorKind returns the kind of an error as cases name it.
func ErrorKind(err error) string {
	var e *tenon.Error
	if !errors.As(err, &e) {
		return fmt.Sprintf("%T, which is no *tenon.Error", err)
	}
	switch e.Kind {
	case tenon.ErrShape, tenon.ErrAxis, tenon.ErrInvalid:
		return "invalid_argument"
	case tenon.ErrDType:
		return "type"
	case tenon.ErrRange:
		return "out_of_range"
	case tenon.ErrNotFound:
		return "not_found"
	case tenon.ErrUnsupported:
		return "unsupported"
	}
	return fmt.Sprintf("%v, which is not a kind", e.Kind)
}
