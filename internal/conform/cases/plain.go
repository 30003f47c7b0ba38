package cases

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"reflect"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// Dict is a nest with keys.
type Dict map[string]any

// Tuple is a nest whose length is part of its kind. A list is a []any.
type Tuple []any

// JSON is plain nested data: a leaf, whatever it holds.
type JSON struct{ Value any }

// NestLeaf lets package nest leave it whole.
func (JSON) NestLeaf() {}

// Named is a tuple with a name and names for its elements.
type Named struct {
	Name  string
	Keys  []string
	Items []any
}

func init() {
	HandleKind("json", Kind{
		Decode: func(_ *Case, o Object) (any, error) { return JSON{Plain(o["value"])}, nil },
		Compare: func(m *Matcher, want Object, got any) error {
			if j, ok := got.(JSON); ok {
				got = j.Value
			}
			return m.MatchPlain(want["value"], got)
		},
	})
	HandleKind("dict", Kind{
		Decode: func(c *Case, o Object) (any, error) {
			m, err := c.decodeEntries(As[Object](o["items"]))
			return Dict(m), err
		},
		Compare: func(m *Matcher, want Object, got any) error { return m.MatchEntries(As[Object](want["items"]), got) },
	})
	HandleKind("list", Kind{
		Decode: func(c *Case, o Object) (any, error) { return c.Decode(As[[]any](o["items"])) },
		Compare: func(m *Matcher, want Object, got any) error {
			if _, ok := got.(Tuple); ok {
				return fmt.Errorf("got a tuple, want a list")
			}
			return m.MatchList(As[[]any](want["items"]), got)
		},
	})
	HandleKind("tuple", Kind{
		Decode: func(c *Case, o Object) (any, error) {
			l, err := c.Decode(As[[]any](o["items"]))
			if err != nil {
				return nil, err
			}
			return Tuple(l.([]any)), nil
		},
		Compare: func(m *Matcher, want Object, got any) error {
			if _, ok := got.(Tuple); !ok && reflect.TypeOf(got) != nil && reflect.TypeOf(got).Kind() == reflect.Slice {
				return fmt.Errorf("got a list, want a tuple")
			}
			return m.MatchList(As[[]any](want["items"]), got)
		},
	})
	HandleKind("namedtuple", Kind{Decode: decodeNamed, Compare: compareNamed})
	HandleKind("bytes", Kind{
		Decode: func(_ *Case, o Object) (any, error) { return unbase64(o["b64"]), nil },
		Compare: func(m *Matcher, want Object, got any) error {
			b, ok := got.([]byte)
			if !ok || !bytes.Equal(b, unbase64(want["b64"])) {
				return fmt.Errorf("got %x, want %x", got, unbase64(want["b64"]))
			}
			return nil
		},
	})
	HandleKind("dtype", Kind{
		Decode: func(_ *Case, o Object) (any, error) { return DType(o["dtype"]), nil },
		Compare: func(m *Matcher, want Object, got any) error {
			if d, ok := got.(dtype.DType); !ok || d != DType(want["dtype"]) {
				return fmt.Errorf("got %v, want dtype %v", got, want["dtype"])
			}
			return nil
		},
	})
	HandleKind("tensor_shape", Kind{
		Decode: func(_ *Case, o Object) (any, error) { return Shape(o["shape"]), nil },
		Compare: func(m *Matcher, want Object, got any) error {
			if s, ok := got.(shape.Shape); !ok || !s.Equal(Shape(want["shape"])) {
				return fmt.Errorf("got %v, want shape %v", got, want["shape"])
			}
			return nil
		},
	})
}

func unbase64(x any) []byte {
	b, err := base64.StdEncoding.DecodeString(As[string](x))
	if err != nil {
		misread("%v", err)
	}
	return b
}

func decodeNamed(c *Case, o Object) (any, error) {
	n := Named{Name: As[string](o["name"])}
	for _, item := range As[[]any](o["items"]) {
		pair := As[[]any](item)
		v, err := c.Decode(pair[1])
		if err != nil {
			return nil, err
		}
		n.Keys = append(n.Keys, As[string](pair[0]))
		n.Items = append(n.Items, v)
	}
	return n, nil
}

func compareNamed(m *Matcher, want Object, got any) error {
	n, ok := got.(Named)
	items := As[[]any](want["items"])
	if !ok || n.Name != want["name"] || len(n.Items) != len(items) {
		return fmt.Errorf("got %v, want the named tuple %v", got, want["name"])
	}
	for i, item := range items {
		pair := As[[]any](item)
		if n.Keys[i] != pair[0] {
			return fmt.Errorf("field %d is %q, want %q", i, n.Keys[i], pair[0])
		}
		if err := m.Match(pair[1], n.Items[i]); err != nil {
			return fmt.Errorf(".%s: %w", n.Keys[i], err)
		}
	}
	return nil
}
