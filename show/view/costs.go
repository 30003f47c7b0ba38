package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/summary"
)

// costs are the measured costs of operations, and the kind that is shown as colour.
type costs struct {
	of     map[any]*cost // by node
	memory bool
	most   float64
}

// A cost is the total cost of an operation in all its runs.
type cost struct {
	runs     int
	time     time.Duration
	bytes    int64 // of its largest result
	together int   // number of operations that ran together with it
}

// measured returns the costs of operations in a profile, or nil if there is none.
func measured(o GraphOptions) *costs {
	if o.Profile == nil {
		return nil
	}
	c := &costs{of: map[any]*cost{}, memory: o.Memory}
	for _, e := range o.Profile.Events() {
		for _, n := range e.Nodes {
			x := c.of[n]
			if x == nil {
				x = &cost{}
				c.of[n] = x
			}
			x.runs++
			x.time += e.Duration
			x.bytes = max(x.bytes, e.Bytes)
			x.together = len(e.Nodes)
		}
	}
	for _, x := range c.of {
		c.most = max(c.most, c.weight(x))
	}
	return c
}

// weight is the cost that determines the colour of an operation.
func (c *costs) weight(x *cost) float64 {
	if c.memory {
		return float64(x.bytes)
	}
	return float64(x.time)
}

// show writes the cost of a node in its box.
func (c *costs) show(n *graph.Node, b *box) {
	if c == nil {
		return
	}
	x := c.of[n]
	if x == nil {
		b.title = strings.TrimSpace("was not run\n" + b.title)
		return
	}
	const levels = 9
	if c.most > 0 {
		b.class += fmt.Sprintf(" h%d", int(levels*c.weight(x)/c.most+0.5))
	}
	b.cost = short(x.time) + " · " + summary.Bytes(x.bytes)
	text := fmt.Sprintf("%d runs, %v, the largest result of %d bytes", x.runs, x.time, x.bytes)
	if x.together > 1 {
		text += fmt.Sprintf("; of %d operations that run together", x.together)
	}
	b.title = strings.TrimSpace(text + "\n" + b.title)
}

// short is a time with three digits.
func short(d time.Duration) string {
	for unit := time.Second; unit > time.Nanosecond; unit /= 1000 {
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.String()
}

// String explains the colours.
func (c *costs) String() string {
	if len(c.of) == 0 {
		return "no operation of this graph was measured"
	}
	if c.memory {
		return "stronger colour: more memory for the result, up to " + summary.Bytes(int64(c.most))
	}
	return "stronger colour: more time, up to " + short(time.Duration(c.most))
}
