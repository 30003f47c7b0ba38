package named

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/dimtext"
)

// origin says where a tensor comes from: the line that created or renamed it.
type origin struct {
	pc       uintptr // 0: unknown
	from, to id      // for a renaming; equal otherwise
}

// here returns the caller of the exported function that calls it. The line is looked up only when
// an error needs it.
func here() origin { return calledFrom(4) }

func calledFrom(skip int) origin {
	var pcs [1]uintptr
	runtime.Callers(skip, pcs[:])
	return origin{pc: pcs[0]}
}

// String returns "head.go:18 Rename SeqLen→KeySeq", or "" if nothing is known.
func (o origin) String() string {
	if o.pc == 0 {
		return ""
	}
	f, _ := runtime.CallersFrames([]uintptr{o.pc}).Next()
	s := filepath.Base(f.File) + ":" + strconv.Itoa(f.Line)
	if o.from != o.to {
		s += fmt.Sprintf(" Rename %v→%v", o.from, o.to)
	}
	return s
}

// one is an operand with its role in an operation.
type one struct {
	role string
	t    *Tensor
}

// pair gives two operands their roles.
func pair(a, b *Tensor) []one { return []one{{"left", a}, {"right", b}} }

// several gives any number of operands their roles.
func several(ts []*Tensor) []one {
	switch len(ts) {
	case 1:
		return []one{{"tensor", ts[0]}}
	case 2:
		return pair(ts[0], ts[1])
	}
	out := make([]one, len(ts))
	for i, t := range ts {
		out[i] = one{fmt.Sprintf("operand %d", i), t}
	}
	return out
}

// scopeOf returns all names that a message about operands mentions, so that each can be printed in
// a form that distinguishes it from the others.
func scopeOf(operands []one, more ...id) *layout {
	s := layoutOf(more)
	for _, o := range operands {
		s = s.and(o.t.spec.names)
	}
	return s
}

// operands describes tensors, with names printed so that they are distinguished
// within l.
func (l *layout) operands(operands []one) []dimtext.Operand {
	out := make([]dimtext.Operand, len(operands))
	for i, o := range operands {
		out[i] = dimtext.Operand{Role: o.role, Dims: l.dimTexts(o.t), From: o.t.from.String()}
	}
	return out
}

func (o one) text() dimtext.Operand { return o.t.spec.names.operands([]one{o})[0] }

// dimTexts returns the dimensions of a tensor for a message.
func (l *layout) dimTexts(t *Tensor) []dimtext.Dim {
	out := make([]dimtext.Dim, len(t.spec.names.ids))
	for i, n := range t.spec.names.ids {
		out[i] = dimtext.Dim{Name: l.text(n), Size: t.data.Shape().Dim(i)}
		if t.raggedAxis(i) {
			out[i].Size = dimtext.Ragged
		}
	}
	return out
}

// lines describes operands, one on each line of a message.
func lines(operands ...one) string {
	return dimtext.Lines(scopeOf(operands).operands(operands)...)
}

// line describes the tensor on one line of a message.
func (t *Tensor) line(role string) string { return lines(one{role, t}) }

func newError(kind error, fn, msg string) *tenon.Error { return tenon.NewError(kind, fn, msg) }

// fail throws an error.
func fail(kind error, fn, format string, args ...any) {
	tenon.Throw(newError(kind, fn, fmt.Sprintf(format, args...)))
}

// needsFunc throws an error if a function argument is nil.
func needsFunc(fn string, missing bool) {
	if missing {
		fail(tenon.ErrInvalid, fn, "the function is nil")
	}
}

func worded(kind error, fn, msg, hint string) *tenon.Error {
	return newError(kind, fn, msg).WithHint(hint)
}

// errMissing returns an error that says that an operand lacks a name; it is about
// the first operand that does.
func errMissing(fn string, n id, operands ...one) error {
	at := slices.IndexFunc(operands, func(o one) bool { return !o.t.spec.names.has(n) })
	s := scopeOf(operands, n)
	msg, hint := dimtext.Missing(s.text(n), max(at, 0), s.operands(operands)...)
	for _, o := range operands {
		if o.t.side != nil && o.t.side.hidden.has(n) {
			hint = fmt.Sprintf("%v is what named.Lift takes the function over: the function does not see it", n)
		}
	}
	return worded(tenon.ErrNotFound, fn, msg, hint)
}

func throwMissing(fn string, n id, operands ...one) { tenon.Throw(errMissing(fn, n, operands...)) }

// errAbout returns an error about a name of operands, in the words of package
// dimtext.
func errAbout(fn string, words func(name string, operands ...dimtext.Operand) (msg, hint string), n id, operands ...one) error {
	s := scopeOf(operands, n)
	msg, hint := words(s.text(n), s.operands(operands)...)
	return worded(tenon.ErrInvalid, fn, msg, hint)
}

func errShared(fn string, n id, a, b *Tensor) error {
	return errAbout(fn, dimtext.Shared, n, pair(a, b)...)
}

func errSizes(fn string, n id, operands ...one) error {
	return errAbout(fn, dimtext.SizesDiffer, n, operands...)
}

func errTaken(fn string, n id, operands ...one) error {
	return errAbout(fn, dimtext.Taken, n, operands...)
}

func errSubset(fn string, operands ...one) error {
	msg, hint := dimtext.NoSubset(scopeOf(operands).operands(operands)...)
	return worded(tenon.ErrInvalid, fn, msg, hint)
}

// throwTwice throws an error that says that a list contains a name twice.
func throwTwice(fn string, n id, l *layout) {
	s := make([]string, len(l.ids))
	for i, x := range l.ids {
		s[i] = l.text(x)
	}
	msg, hint := dimtext.Twice(n.String(), s)
	tenon.Throw(worded(tenon.ErrInvalid, fn, msg, hint))
}

// over returns the name of a call for errors: "named.Dot over KqRep".
func over(fn string, l *layout) string {
	if len(l.ids) == 0 {
		return fn
	}
	return fn + " over " + l.String()
}

// errHidden returns an error that says that an operand has a name over which
// another one is lifted.
func errHidden(fn string, n id, operands ...one) error {
	msg := fmt.Sprintf("%v is what named.Lift takes the function over, and a tensor from outside has it\n%s", n, lines(operands...))
	return worded(tenon.ErrInvalid, fn, msg, fmt.Sprintf("pass the tensor to the lifted function as an argument, so that it is taken apart along %v too", n))
}

// inNames runs an operation on the contents of named tensors. An error that depends on their
// elements, which only the operation can detect, is converted to one of fn that describes the
// operands by name.
func inNames[T any](fn string, operands []one, f func() T) T {
	x, err := tenon.Try(f)
	if err != nil {
		e := *tenon.AsError(err)
		e.Op, e.Args, e.Hint = fn, nil, "" // a hint would be about axes
		e.Msg += "\n" + lines(operands...)
		tenon.Throw(&e)
	}
	return x
}
