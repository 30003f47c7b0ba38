package cases

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// An Object is a value as written: a JSON object with a key "type".
type Object = map[string]any

// A Kind is a type of value: how it is read and how an answer is compared with it.
type Kind struct {
	// Decode makes the library's value of a written one. An error of the library
	// counts as the answer of the case: some cases hold what has to be refused.
	Decode func(c *Case, o Object) (any, error)

	// Compare returns nil if got is the value that is written, and what differs
	// otherwise.
	Compare func(m *Matcher, want Object, got any) error
}

var kinds = map[string]Kind{}

// HandleKind says how values of a type are read and compared.
func HandleKind(name string, k Kind) {
	if _, ok := kinds[name]; ok || k.Decode == nil || k.Compare == nil {
		misread("kind %q is declared twice or incomplete", name)
	}
	kinds[name] = k
}

// ErrUnknown marks values of a type that nobody has declared, and operations
// that nobody does.
var ErrUnknown = errors.New("not known")

// Decode makes Go data of what is written: values by their kinds, numbers int
// or float64, everything else as it is.
func (c *Case) Decode(x any) (any, error) {
	switch x := x.(type) {
	case json.Number:
		return number(x)
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			var err error
			if out[i], err = c.Decode(e); err != nil {
				return nil, err
			}
		}
		return out, nil
	case Object:
		name, ok := x["type"].(string)
		if !ok {
			return c.decodeEntries(x)
		}
		k, ok := kinds[name]
		if !ok {
			return nil, fmt.Errorf("value type %q: %w", name, ErrUnknown)
		}
		return k.Decode(c, x)
	}
	return x, nil
}

func (c *Case) decodeEntries(o Object) (map[string]any, error) {
	out := make(map[string]any, len(o))
	for _, key := range slices.Sorted(maps.Keys(o)) {
		v, err := c.Decode(o[key])
		if err != nil {
			return nil, err
		}
		out[key] = v
	}
	return out, nil
}

// Plain makes Go data of JSON without looking for values: numbers become int or
// float64.
func Plain(x any) any {
	switch x := x.(type) {
	case json.Number:
		n, err := number(x)
		if err != nil {
			misread("%v", err)
		}
		return n
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = Plain(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, e := range x {
			out[k] = Plain(e)
		}
		return out
	}
	return x
}

// number returns an int, or a float64 where there is a point or an exponent.
func number(n json.Number) (any, error) {
	if i, err := strconv.Atoi(n.String()); err == nil {
		return i, nil
	}
	if u, err := strconv.ParseUint(n.String(), 10, 64); err == nil {
		return u, nil
	}
	f, err := strconv.ParseFloat(n.String(), 64)
	if err != nil {
		return nil, fmt.Errorf("%s is not a number: %w", n, err)
	}
	return f, nil
}
