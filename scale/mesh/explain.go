package mesh

import (
	"fmt"
	"strings"
)

// A Collective is one operation of several ranks in a program.
type Collective struct {
	Kind  string // "all_reduce"
	Axis  string // of the mesh
	Ranks int    // that take part
	Bytes int64  // of the operand of one rank; 0 where its size is not known
	Of    string // the tensor: "float32[8@data, 64]"
	Line  string // of the program, that caused it
}

// Moved returns the bytes that a rank sends at least, by the methods that need the fewest: 2(n-1)/n of an operand
// that is reduced for all, (n-1)/n of one that is reduced or exchanged in parts, and n-1 times one that is gathered.
func (c Collective) Moved() int64 {
	n := int64(c.Ranks)
	switch c.Kind {
	case "all_reduce":
		return 2 * c.Bytes * (n - 1) / n
	case "all_gather":
		return c.Bytes * (n - 1)
	}
	return c.Bytes * (n - 1) / n
}

// An Explanation is what a program does on a mesh.
type Explanation struct {
	Mesh, Plan         string
	Arguments, Results []string // how each tensor is divided
	ArgumentBytes      int64    // of this rank
	Collectives        []Collective

	work work
}

// Moved returns the bytes that a rank sends at least in all collectives.
func (e Explanation) Moved() int64 {
	n := int64(0)
	for _, c := range e.Collectives {
		n += c.Moved()
	}
	return n
}

// String prints the collectives, one on a line.
func (e Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "mesh %s, plan %s\n", e.Mesh, e.Plan)
	for _, c := range e.Collectives {
		fmt.Fprintf(&b, "%s over %s: %s, %d bytes, %s\n", c.Kind, c.Axis, c.Of, c.Bytes, c.Line)
	}
	fmt.Fprintf(&b, "%d collectives, at least %d bytes sent by a rank\n", len(e.Collectives), e.Moved())
	return b.String()
}
