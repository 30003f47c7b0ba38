package serve

import (
	"context"
	"fmt"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/rowwise"
)

// An Arg is an argument or a result. Without a Spec it is any dense tensor, whose type is part
// of the call.
type Arg struct {
	Name string
	Spec tenon.Spec

	// Axis is the axis along which calls of a batched function are joined, by default the first one. Other axes
	// are possible for tensors only, such as those whose first axis is time.
	Axis int
}

// A Func is a function to serve.
type Func struct {
	Name    string
	Version string // default "1"
	Doc     string
	Args    []Arg
	Results []Arg

	// Call computes the results. It may throw.
	Call func(ctx context.Context, args []tenon.Value) ([]tenon.Value, error)

	// Stream, used instead of Call, sends any number of results.
	Stream func(ctx context.Context, args []tenon.Value, send func(results []tenon.Value) error) error

	// Batched says that rows are independent: for joined rows, the function returns the joined
	// results. All arguments and results must have an axis of rows, of any size.
	Batched bool

	found  *rowwise.Finding // what the statements of its operations tell; nil for a function of the program
	said   bool             // the model says that rows are independent
	warmed bool             // it has run for the model's warm-up inputs
}

// check returns an error if a definition is invalid.
func (f *Func) check() error {
	wrong := func(format string, args ...any) error {
		return tenon.NewError(tenon.ErrInvalid, "serve.Add", f.Name+": "+fmt.Sprintf(format, args...))
	}
	if f.Version == "" {
		f.Version = "1"
	}
	if f.Name == "" || strings.ContainsAny(f.Name, "/:\x00") {
		return wrong("the name is empty or has characters with a meaning in paths")
	}
	if (f.Call == nil) == (f.Stream == nil) {
		return wrong("set either Call or Stream")
	}
	for _, list := range [][]Arg{f.Args, f.Results} {
		seen := map[string]bool{}
		for _, a := range list {
			if a.Name == "" || seen[a.Name] {
				return wrong("the names of arguments and results must be set, and unique")
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
				return wrong("%s has no %s of any size, but the function is batched", a.Name, axis)
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

// A served is a function with its counters.
type served struct {
	Func
	version         string
	in, out         []*layout // of arguments and results; nil for any dense tensor
	inputs, outputs []flat    // their columns
	counts          *counts
	queue           queue
}

// newServed prepares a function that has been checked.
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
			out[i], _ = layoutOf(a.Name, a.Spec) // the Spec has been checked
		}
	}
	return out
}

// arg returns the argument with a name.
func (f *served) arg(name string) (*Arg, bool) {
	for i := range f.Args {
		if f.Args[i].Name == name {
			return &f.Args[i], true
		}
	}
	return nil, false
}
