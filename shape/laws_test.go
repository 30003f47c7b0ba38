package shape

import (
	"testing"

	"pgregory.net/rapid"
)

// anyShape draws a shape with few sizes, so that pairs are often related.
func anyShape(t *rapid.T, name string) Shape {
	rank := rapid.IntRange(-1, 3).Draw(t, name+" rank")
	if rapid.IntRange(0, 20).Draw(t, name+" long") == 0 {
		rank = 8
	}
	if rank < 0 {
		return UnknownRank
	}
	dims := make([]int, rank)
	for i := range dims {
		dims[i] = rapid.IntRange(-1, 3).Draw(t, name)
	}
	return Of(dims...)
}

func TestLattice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := anyShape(t, "a"), anyShape(t, "b"), anyShape(t, "c")
		law := func(ok bool, name string) {
			if !ok {
				t.Fatalf("%s: a %v, b %v, c %v", name, a, b, c)
			}
		}
		law(a.SubtypeOf(a) && a.CompatibleWith(a) && a.Equal(a), "reflexive")
		law(!(a.SubtypeOf(b) && b.SubtypeOf(a)) || a.Equal(b), "antisymmetric")
		law(!(a.SubtypeOf(b) && b.SubtypeOf(c)) || a.SubtypeOf(c), "transitive")
		law(a.CompatibleWith(b) == b.CompatibleWith(a), "compatible is symmetric")
		law(!a.SubtypeOf(b) || a.CompatibleWith(b), "a subtype is compatible")

		j := Join(a, b)
		law(j.Equal(Join(b, a)), "join commutes")
		law(Join(j, c).Equal(Join(a, Join(b, c))), "join associates")
		law(a.SubtypeOf(j) && b.SubtypeOf(j), "the join is above both")
		law(!(a.SubtypeOf(c) && b.SubtypeOf(c)) || j.SubtypeOf(c), "the join is the least above both")
		law(a.SubtypeOf(b) == j.Equal(b), "the join of ordered shapes is the upper one")

		m, err := Merge(a, b)
		n, other := Merge(b, a)
		law((err == nil) == (other == nil) && (err != nil || m.Equal(n)), "merge commutes")
		law((err == nil) == a.CompatibleWith(b), "compatible shapes merge")
		if err == nil {
			law(m.SubtypeOf(a) && m.SubtypeOf(b), "the merge is below both")
			law(!(c.SubtypeOf(a) && c.SubtypeOf(b)) || c.SubtypeOf(m), "the merge is the greatest below both")
		}
	})
}

func TestBroadcastLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyShape(t, "a"), anyShape(t, "b")
		x, err := Broadcast(a, b)
		y, other := Broadcast(b, a)
		if (err == nil) != (other == nil) || err == nil && !x.Equal(y) {
			t.Fatalf("%v and %v: %v and %v", a, b, x, y)
		}
		if s, err := Broadcast(a, Shape{}); err != nil || !s.Equal(a) {
			t.Fatalf("%v with a scalar is %v, %v", a, s, err)
		}
		if err == nil && a.IsFull() && b.IsFull() && !x.IsFull() {
			t.Fatalf("%v and %v: %v", a, b, x)
		}
		// What is known of shapes that know less agrees with what holds for the shapes.
		ra, rb := Join(a, anyShape(t, "c")), Join(b, anyShape(t, "d"))
		if r, rerr := Broadcast(ra, rb); err == nil && (rerr != nil || !x.CompatibleWith(r)) {
			t.Fatalf("%v and %v give %v, but %v and %v give %v, %v", a, b, x, ra, rb, r, rerr)
		}
	})
}

func TestTextLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyShape(t, "s")
		if back, err := Parse(s.String()); err != nil || !back.Equal(s) {
			t.Fatalf("%v reads back as %v, %v", s, back, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"[]", "[2, ?, 3]", "[...]", "[1,2]", "[ 7 ]", "[-1]", "[99999999999999999999]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		if back, err := Parse(s.String()); err != nil || !back.Equal(s) {
			t.Fatalf("%q is %v, which reads back as %v, %v", text, s, back, err)
		}
		if n := s.Size(); n < Unknown {
			t.Fatalf("%v has size %d", s, n)
		}
	})
}
