package mesh

import (
	"fmt"
	"strings"
)

// A Collective is a collective operation of a program.
type Collective struct {
	Kind  string // "all_reduce"
	Axis  string // of the mesh
	Ranks int    // number of participating ranks
	Bytes int64  // of the operand of one rank; 0 if unknown
	Of    string // the tensor: "float32[8@data, 64]"
	Line  string // the line of the program that caused it
}

// Moved returns the minimum number of bytes that a rank sends: 2(n-1)/n of the operand for an all-reduce, (n-1)/n
// for a reduce-scatter or an exchange of parts, and n-1 times the operand for an all-gather.
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

// An Explanation says what a program does on a mesh.
type Explanation struct {
	Mesh, Plan         string
	Arguments, Results []string // how each tensor is divided
	ArgumentBytes      int64    // of this rank
	Collectives        []Collective

	work work
}

// Moved returns the minimum number of bytes that a rank sends in all collectives.
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
