package tenon

import (
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/tenonml/tenon/internal/source"
)

// A Decoder makes a Spec of its encoding. What it gets may come from a hostile
// file: it checks everything.
type Decoder func(Encoding) (Spec, error)

type registration struct {
	decode Decoder
	line   string
}

var (
	registryMu sync.RWMutex
	registry   = map[string]registration{}
)

var nameForm = regexp.MustCompile(`^([\p{L}\p{N}_\-~]+[./])+[\p{L}_][\p{L}\p{N}_]*$`)

// Register makes a type of Spec known by name, so that what [AppendBinary] and
// [Text] write can be read again. A name is a Go-like path, such as
// "ragged.Tensor" or "example.com/graphs.Digraph". It throws where the name is
// malformed or already taken, and says by whom; call it from init.
func Register(name string, decode Decoder) {
	Throw(register(name, decode))
}

func register(name string, decode Decoder) error {
	if !nameForm.MatchString(name) {
		return &Error{Kind: ErrInvalid, Op: "tenon.Register", Msg: fmt.Sprintf("%q is not a type name", name), Line: source.Line(),
			Hint: `use a package path and a name, such as "example.com/graphs.Digraph"`}
	}
	if decode == nil {
		return NewError(ErrInvalid, "tenon.Register", fmt.Sprintf("the decoder of %q is nil", name))
	}
	line := source.Line()
	registryMu.Lock()
	defer registryMu.Unlock()
	if r, ok := registry[name]; ok {
		return &Error{Kind: ErrInvalid, Op: "tenon.Register", Line: line,
			Msg: fmt.Sprintf("the name %q is already registered, at %s", name, r.line)}
	}
	registry[name] = registration{decode: decode, line: line}
	return nil
}

// Unregister removes a name again, for tests that register types of their own.
func Unregister(name string) error {
	registryMu.Lock()
	defer registryMu.Unlock()
	if _, ok := registry[name]; !ok {
		return NewError(ErrNotFound, "tenon.Unregister", fmt.Sprintf("no type is registered as %q", name))
	}
	delete(registry, name)
	return nil
}

// Registered reports whether a name is known.
func Registered(name string) bool {
	registryMu.RLock()
	defer registryMu.RUnlock()
	_, ok := registry[name]
	return ok
}

// TypeNames returns the registered names in order.
func TypeNames() []string {
	registryMu.RLock()
	defer registryMu.RUnlock()
	names := make([]string, 0, len(registry))
	for n := range registry {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Decode makes the Spec of a registered type from its encoding.
func Decode(name string, e Encoding) (Spec, error) {
	registryMu.RLock()
	r, ok := registry[name]
	registryMu.RUnlock()
	if !ok {
		return nil, &Error{Kind: ErrNotFound, Op: "tenon.Decode", Line: source.Line(),
			Msg:  fmt.Sprintf("no type is registered as %q", name),
			Hint: "import the package that defines it"}
	}
	s, err := r.decode(e)
	if err != nil {
		return nil, AsError(err)
	}
	return s, nil
}
