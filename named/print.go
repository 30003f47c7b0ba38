package named

import (
	"fmt"
	"io"
	"strings"

	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// printed is the largest number of elements for which they are printed.
const printed = 1000

// header returns "float32{Batch:8 Seq:512 Rep:256}".
func (t *Tensor) header() string {
	if t == nil {
		return "nil"
	}
	return t.spec.String()
}

// String returns the element type, names and sizes, and, if there are no more than 1000, the
// elements in the order in which they are stored:
//
//	float32{Seq:2 Rep:3}
//	[[1. 2. 3.]
//	 [4. 5. 6.]]
func (t *Tensor) String() string { return fmt.Sprint(t) }

// Format prints the tensor for the verbs v and s as String does. A plus flag prints all elements,
// and a precision sets the number of digits after the point.
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

// elements returns the number of elements of a concrete tensor.
func elements(t tensor.Tensor) int {
	if r, ok := ragged.As(t); ok {
		return r.FlatValues().Shape().Size()
	}
	return t.Shape().Size()
}

// plain is a fmt.State without the sharp flag, which would request Go syntax.
type plain struct{ fmt.State }

func (p plain) Flag(c int) bool { return c != '#' && p.State.Flag(c) }
