package named

import (
	"fmt"
	"io"
	"strings"

	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// printed is the number of elements up to which they are printed.
const printed = 1000

// header prints "float32{Batch:8 Seq:512 Rep:256}".
func (t *Tensor) header() string {
	if t == nil {
		return "nil"
	}
	return t.spec.String()
}

// String prints element type, names and sizes, and the elements in the order in which
// they are stored, if there are no more than 1000 of them:
//
//	float32{Seq:2 Rep:3}
//	[[1. 2. 3.]
//	 [4. 5. 6.]]
func (t *Tensor) String() string { return fmt.Sprint(t) }

// Format prints the tensor for the verbs v and s as String does; with a plus flag all
// elements, and with a precision that many digits behind the point.
func (t *Tensor) Format(s fmt.State, verb rune) {
	switch {
	case t == nil:
		io.WriteString(s, "<nil>")
		return
	case verb != 'v' && verb != 's':
		fmt.Fprintf(s, "%%!%c(*named.Tensor=%s)", verb, t.header())
		return
	}
	io.WriteString(s, t.header())
	data, ok := op.Known(t.data)
	if !ok {
		if _, own := t.data.(op.Handler); !own { // symbolic
			return
		}
		data = t.data
	}
	if n := elements(data); n > printed && !s.Flag('+') {
		return
	}
	text := fmt.Sprintf(fmt.FormatString(plain{s}, verb), data)
	text = strings.TrimSuffix(text, " "+fmt.Sprint(data.Spec()))
	if strings.Contains(text, "\n") {
		text = "\n" + text
	} else {
		text = " " + text
	}
	io.WriteString(s, text)
}

// elements returns how many elements a concrete tensor has.
func elements(t tensor.Tensor) int {
	if r, ok := ragged.As(t); ok {
		return r.FlatValues().Shape().Size()
	}
	return t.Shape().Size()
}

// plain is a State without the sharp flag, which asks for Go syntax.
type plain struct{ fmt.State }

func (p plain) Flag(c int) bool { return c != '#' && p.State.Flag(c) }
