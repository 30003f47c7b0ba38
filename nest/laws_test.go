package nest_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenonml/tenon/nest"
)

// structure draws a structure of any shape with small integers as leaves.
func structure(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	if depth == 0 {
		kind = 0
	}
	n := rapid.IntRange(0, 3).Draw(t, "n")
	switch kind {
	case 1:
		l := make([]any, n)
		for i := range l {
			l[i] = structure(t, depth-1)
		}
		return l
	case 2:
		m := map[string]any{}
		for range n {
			m[rapid.StringN(0, 2, 4).Draw(t, "key")] = structure(t, depth-1)
		}
		return m
	case 3:
		l := make(tuple, n)
		for i := range l {
			l[i] = structure(t, depth-1)
		}
		return l
	case 4:
		m := map[int][]any{}
		for i := range n {
			m[rapid.Int().Draw(t, "key")] = []any{structure(t, depth-1), i}
		}
		return m
	case 5:
		return &struct{ A, B any }{structure(t, depth-1), structure(t, depth-1)}
	case 6:
		return nil
	}
	return rapid.IntRange(0, 9).Draw(t, "leaf")
}

func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := structure(t, 4)
		paths, leaves, err := nest.FlattenWithPaths(x, nest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, p := range paths {
			if seen[p.String()] {
				t.Fatalf("two leaves have the path %v", p)
			}
			seen[p.String()] = true
		}
		back, err := nest.Pack(x, leaves, nest.Options{})
		if err != nil || !reflect.DeepEqual(back, x) {
			t.Fatalf("packed again: %v, %v", back, err)
		}
		if err := nest.Same(x, back, nest.Options{}); err != nil {
			t.Fatal(err)
		}
		whole, err := nest.FlattenUpTo(x, x, nest.Options{})
		if err != nil || !reflect.DeepEqual(whole, leaves) {
			t.Fatalf("up to itself: %v, %v", whole, err)
		}
		next, err := nest.Map(func(l []any) (any, error) { return l[0].(int) + l[1].(int), nil }, nest.Options{}, x, back)
		if err != nil {
			t.Fatal(err)
		}
		doubled, err := nest.Flatten(next, nest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range leaves {
			if doubled[i] != 2*leaves[i].(int) {
				t.Fatalf("leaf %d is %v, was %v", i, doubled[i], leaves[i])
			}
		}
	})
}

// TestSameIsSymmetric compares pairs of structures both ways.
func TestSameIsSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := structure(t, 2), structure(t, 2)
		for _, o := range []nest.Options{{}, {AnyTypes: true}} {
			x, y := nest.Same(a, b, o), nest.Same(b, a, o)
			if (x == nil) != (y == nil) {
				t.Fatalf("%v against %v", x, y)
			}
			if x == nil {
				l, err := nest.Flatten(b, nest.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := nest.Pack(a, l, nest.Options{}); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
