package serve

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/anatomy"
	"github.com/tenonml/tenon/internal/rowwise"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
)

// An Arg is an argument or a result. Without a Spec it is any dense tensor, whose type
// comes with the call.
type Arg struct {
	Name string
	Spec tenon.Spec
}

// A Func is a function that is served.
type Func struct {
	Name    string
	Version string // default "1"
	Doc     string
	Args    []Arg
	Results []Arg

	// Call computes the results. It may throw.
	Call func(ctx context.Context, args []tenon.Value) ([]tenon.Value, error)

	// Stream, instead of Call, sends any number of results.
	Stream func(ctx context.Context, args []tenon.Value, send func(results []tenon.Value) error) error

	// Batched says that rows are independent: the function of joined rows is the joined
	// results. All arguments and results have a first axis for rows.
	Batched bool

	found  *rowwise.Finding // what the statements of its operations tell; nil of functions of the program
	said   bool             // the model says that rows are independent
	warmed bool             // it has run for the model's warm-up inputs
}

// check reports what is wrong with a definition.
func (f *Func) check() error {
	wrong := func(format string, args ...any) error {
		return tenon.NewError(tenon.ErrInvalid, "serve.Add", f.Name+": "+fmt.Sprintf(format, args...))
	}
	if f.Version == "" {
		f.Version = "1"
	}
	if f.Name == "" || strings.ContainsAny(f.Name, "/:\x00") {
		return wrong("the name is empty or has characters that paths give a meaning")
	}
	if (f.Call == nil) == (f.Stream == nil) {
		return wrong("a function has Call or Stream")
	}
	for _, list := range [][]Arg{f.Args, f.Results} {
		seen := map[string]bool{}
		for _, a := range list {
			if a.Name == "" || seen[a.Name] {
				return wrong("names of arguments and results are there, and unique")
			}
			seen[a.Name] = true
			if a.Spec == nil {
				continue
			}
			if _, err := layoutOf(a.Name, a.Spec); err != nil {
				return wrong("%v", err)
			}
			if f.Batched && !hasRows(a.Spec) {
				return wrong("%s has no first axis of any size, and the function is batched", a.Name)
			}
		}
	}
	return nil
}

// hasRows reports whether values of a Spec have a first axis of any size.
func hasRows(s tenon.Spec) bool {
	a := anatomy.OfSpec(s)
	switch a.Kind {
	case anatomy.Optional, anatomy.Named, anatomy.Union, anatomy.Map, anatomy.Held:
		return hasRows(a.Inner)
	case anatomy.Records:
		t, ok := s.(*structured.Spec)
		return ok && t.Rank() > 0 && t.NRows() < 0
	}
	if t, ok := s.(interface{ Shape() shape.Shape }); ok {
		return t.Shape().Rank() > 0 && t.Shape().Dim(0) < 0
	}
	return byRows(s) && !slices.ContainsFunc(a.Fields, func(f tenon.Field) bool { return !hasRows(f.Spec) })
}

func argName(prefix string, i any, path string) string {
	if path == "" {
		return fmt.Sprintf("%s%v", prefix, i)
	}
	return path
}

// served is a function with what was counted of it.
type served struct {
	Func
	version         string
	in, out         []*layout // of arguments and results; nil where any dense tensor is
	inputs, outputs []flat    // their columns
	counts          *counts
	queue           queue
}

// newServed prepares a function that was checked.
func newServed(f Func) *served {
	x := &served{Func: f, version: f.Version, counts: new(counts)}
	x.in, x.out = layoutsOf(f.Args), layoutsOf(f.Results)
	x.inputs, x.outputs = flats(f.Args, x.in), flats(f.Results, x.out)
	return x
}

func layoutsOf(list []Arg) []*layout {
	out := make([]*layout, len(list))
	for i, a := range list {
		if a.Spec != nil {
			out[i], _ = layoutOf(a.Name, a.Spec) // which was checked
		}
	}
	return out
}

// arg returns the argument of a name.
func (f *served) arg(name string) (*Arg, bool) {
	for i := range f.Args {
		if f.Args[i].Name == name {
			return &f.Args[i], true
		}
	}
	return nil, false
}

// sameRows checks that all arguments with rows have the same number of them, and returns
// it; 1 where no argument has rows.
func (f *served) sameRows(args []tenon.Value) (int, error) {
	n, first := -1, ""
	for i, a := range f.Args {
		if a.Spec == nil || !hasRows(a.Spec) {
			continue
		}
		switch rows := rowsOf(args[i]); {
		case n < 0:
			n, first = rows, a.Name
		case rows != n:
			return 0, badInput("%s has %d rows, %s has %d", first, n, a.Name, rows)
		}
	}
	if n < 0 {
		n = 1
	}
	return n, nil
}
