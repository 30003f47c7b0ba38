package interp

import "github.com/tenonml/tenon/graph"

// Steps returns the names of a plan's steps.
func Steps(g *graph.Graph) []string {
	var names []string
	for _, s := range For(g).steps {
		names = append(names, s.name())
	}
	return names
}
