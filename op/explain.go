package op

import (
	"fmt"
	"strings"

	"github.com/tenonml/tenon"
)

// An Explanation tells how a call was answered.
type Explanation struct {
	Op      string
	Asked   []string // the types whose handlers were asked, in order
	Answer  string   // the type that answered, "kernel", "recorder", or "nobody"
	Results []tenon.Value
	Err     error
	steps   []string
}

type trace struct{ e *Explanation }

func (t *trace) asked(name, outcome string) {
	if t == nil {
		return
	}
	t.e.Asked = append(t.e.Asked, name)
	t.e.steps = append(t.e.steps, name+" "+outcome)
	if outcome != "declined" {
		t.e.Answer = name
	}
}

func (t *trace) answered(who string) {
	if t == nil {
		return
	}
	t.e.steps = append(t.e.steps, who+" answered")
	switch {
	case strings.HasPrefix(who, "the recorder"):
		t.e.Answer = "recorder"
	case who == "nobody":
		t.e.Answer = who
	default:
		t.e.Answer = "kernel"
	}
}

// Explain calls an operation and tells who was asked, in which order, and who answered.
func Explain(o *Op, args ...any) Explanation {
	c, err := Bind(o, args, nil)
	if err != nil {
		return Explanation{Op: o.Name, Answer: "nobody", Err: err, steps: []string{"the arguments do not bind: " + err.Error()}}
	}
	return c.Explain()
}

// Explain runs a bound call and tells who was asked, in which order, and who answered.
func (c *Call) Explain() Explanation {
	e := Explanation{Op: c.Op.Name}
	a, err := c.answer(&trace{&e})
	e.Results, e.Err = a.list(), err
	return e
}

// String prints a line for each step.
func (e Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:\n", e.Op)
	for i, s := range e.steps {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, s)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, "  error: %v\n", e.Err)
	}
	return b.String()
}
