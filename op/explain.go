package op

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
)

// An Explanation says how a call was answered.
type Explanation struct {
	Op     string
	Asked  []string // the types whose handlers were asked, in order
	Answer string   // the type that answered, "kernel", "recorder", or "nobody"

	// Overridden reports whether the type answered with code written for this operation; see
	// [Overrider].
	Overridden bool

	Results []tenon.Value
	Err     error
	steps   []string
}

type trace struct{ e *Explanation }

func (t *trace) asked(o *Op, cand *candidate, outcome string) {
	if t == nil {
		return
	}
	t.e.Asked = append(t.e.Asked, cand.name)
	h, ok := cand.method.(Overrider)
	own := ok && h.Overrides(o) || slices.ContainsFunc(cand.handlers, func(h *handler) bool { return h.match.Op == o })
	if outcome != "declined" {
		t.e.Answer, t.e.Overridden = cand.name, own
	}
	if own {
		outcome += ", by a handler of its own for the operation"
	}
	t.e.steps = append(t.e.steps, cand.name+" "+outcome)
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

// Explain calls an operation and reports who was asked, in which order, and who answered.
func Explain(o *Op, args ...any) Explanation {
	c, err := Bind(o, args, nil)
	if err != nil {
		return Explanation{Op: o.Name, Answer: "nobody", Err: err, steps: []string{"the arguments do not bind: " + err.Error()}}
	}
	return c.Explain()
}

// Explain runs a bound call and reports who was asked, in which order, and who answered.
func (c *Call) Explain() Explanation {
	e := Explanation{Op: c.Op.Name}
	a, err := c.answer(&trace{&e})
	e.Results, e.Err = a.list(), err
	return e
}

// String returns one line for each step.
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
