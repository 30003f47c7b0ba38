package serve

import (
	"context"
	"fmt"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/rowwise"
)

// An Arg is an argument or a result. Without a Spec it is any dense tensor, whose type
// comes with the call.
type Arg struct {
	Name string
	Spec tenon.Spec

	// Axis is the one along which calls of a batched function are joined: the first one by default. Another one
	// is for tensors, such as those whose first axis is time.
	Axis int
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
	// results. All arguments and results have an axis for rows, of any size.
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
			if err := a.check(); err != nil {
				return wrong("%v", err)
			}
			if a.Spec == nil {
				continue
			}
			if _, err := layoutOf(a.Name, a.Spec); err != nil {
				return wrong("%v", err)
			}
			if f.Batched && !a.hasRows() {
				axis := "first axis"
				if a.Axis > 0 {
					axis = fmt.Sprintf("axis %d", a.Axis)
				}
				return wrong("%s has no %s of any size, and the function is batched", a.Name, axis)
			}
		}
	}
	return nil
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
