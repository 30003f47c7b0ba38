package tenon

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tenonml/tenon/internal/source"
)

// A Decoder makes a Spec from its encoding. The encoding may come from a hostile
// file, so a Decoder must check everything.
type Decoder func(Encoding) (Spec, error)

type registration struct {
	decode Decoder
	place  source.Place
}

var (
	registryMu sync.RWMutex
	registry   = map[string]registration{}
)

// isTypeName reports whether a name is a Go-like path: elements of letters, digits and
// _, - or ~, each followed by a dot or a slash, and an identifier at the end.
func isTypeName(name string) bool {
	cut := strings.LastIndexAny(name, "./")
	if cut < 0 {
		return false
	}
	word := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }
	last := name[cut+1:]
	if first, _ := utf8.DecodeRuneInString(last); last == "" || !word(first) || unicode.IsNumber(first) {
		return false
	}
	for _, r := range last {
		if !word(r) {
			return false
		}
	}
	empty := true
	for _, r := range name[:cut+1] {
		switch {
		case r != '.' && r != '/':
			if !word(r) && r != '-' && r != '~' {
				return false
			}
			empty = false
		case empty:
			return false
		default:
			empty = true
		}
	}
	return true
}

// Register registers a type of Spec under a name, so that what [AppendBinary] and
// [Text] write can be read again. The name is a Go-like path, such as
// "ragged.Tensor" or "example.com/graphs.Digraph". Register throws if the name is
// malformed or already taken, and says by whom. Call it from init.
func Register(name string, decode Decoder) {
	Throw(register(name, decode))
}

func register(name string, decode Decoder) error {
	if !isTypeName(name) {
		return &Error{Kind: ErrInvalid, Op: "tenon.Register", Msg: fmt.Sprintf("%q is not a type name", name), Line: source.Line(),
			Hint: `use a package path and a name, such as "example.com/graphs.Digraph"`}
	}
	if decode == nil {
		return NewError(ErrInvalid, "tenon.Register", fmt.Sprintf("the decoder of %q is nil", name))
	}
	place := source.Here()
	registryMu.Lock()
	defer registryMu.Unlock()
	if r, ok := registry[name]; ok {
		by := "at " + r.place.String()
		if by == "at " {
			by = "by this module" // only places outside this module are recorded
		}
		return &Error{Kind: ErrInvalid, Op: "tenon.Register", Line: source.Line(),
			Msg: fmt.Sprintf("the name %q is already registered, %s", name, by)}
	}
	registry[name] = registration{decode, place}
	return nil
}

// Unregister removes a name. It is meant for tests that register types of their
// own.
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
