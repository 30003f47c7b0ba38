package shape

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon/internal/throw"
)

const u = Unknown

// thrown returns the text of what f throws.
func thrown(f func()) (text string) {
	defer func() {
		var err error
		if r := recover(); r != nil && throw.Recovered(r, &err) {
			text = err.Error()
		}
	}()
	f()
	return ""
}

func TestStringAndParse(t *testing.T) {
	for _, c := range []struct {
		s    Shape
		want string
	}{
		{Shape{}, "[]"},
		{Of(2, u, 3), "[2, ?, 3]"},
		{UnknownRank, "[...]"},
		{Of(1, 2, 3, 4, 5, 6, 7, 8), "[1, 2, 3, 4, 5, 6, 7, 8]"},
		{OfRank(2), "[?, ?]"},
		{OfRank(-1), "[...]"},
	} {
		if got := c.s.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
		if back, err := Parse(c.want); err != nil || !back.Equal(c.s) {
			t.Errorf("Parse(%s) = %v, %v", c.want, back, err)
		}
	}
	for _, bad := range []string{"", "[", "]", "2", "[2", "[a]", "[-1]", "[2,,3]", "[2 3]", "[99999999999999999999]", "[" + strings.Repeat("1,", 200) + "1]"} {
		if s, err := Parse(bad); err == nil {
			t.Errorf("Parse(%q) = %v", bad, s)
		}
	}
}

func TestFrom(t *testing.T) {
	if _, err := From([]int{2, -2}); err == nil || !strings.Contains(err.Error(), "size -2 of axis 1") {
		t.Errorf("got %v", err)
	}
	if _, err := From(make([]int, MaxRank+1)); err == nil {
		t.Error("a rank above the limit is accepted")
	}
	if s, err := From(make([]int, MaxRank)); err != nil || s.Rank() != MaxRank {
		t.Errorf("the highest rank: %v, %v", s, err)
	}
	if got := thrown(func() { Of(-7) }); !strings.Contains(got, "-7") {
		t.Errorf("Of(-7) throws %q", got)
	}
	dims := []int{1, 2, 3, 4, 5, 6, 7}
	s := Of(dims...)
	dims[0] = 9
	if s.Dim(0) != 1 {
		t.Error("the shape shares the caller's slice")
	}
	s.Dims()[1] = 9
	if s.Dim(1) != 2 {
		t.Error("Dims gives access to the shape's own sizes")
	}
}

func TestSize(t *testing.T) {
	for _, c := range []struct {
		s       Shape
		want    int
		checked int // -1: an error
	}{
		{Shape{}, 1, 1},
		{Of(2, 3), 6, 6},
		{Of(2, u), Unknown, -1},
		{Of(0, u), 0, 0},
		{Of(1<<40, 1<<40), math.MaxInt, -1},
		{Of(1<<32, 1<<32), math.MaxInt, -1}, // the product is 0 modulo 2^64
		{Of(1<<40, 1<<40, 0), 0, 0},
		{Of(math.MaxInt), math.MaxInt, -1}, // too many bytes
		{UnknownRank, Unknown, -1},
	} {
		if got := c.s.Size(); got != c.want {
			t.Errorf("%v has size %d, want %d", c.s, got, c.want)
		}
		got, err := c.s.CheckedSize(8)
		if err != nil {
			got = -1
		}
		if got != c.checked {
			t.Errorf("%v has checked size %d (%v), want %d", c.s, got, err, c.checked)
		}
	}
}

func TestEdits(t *testing.T) {
	long := Of(1, 2, 3, 4, 5, 6, 7)
	for _, c := range []struct {
		name string
		got  func() Shape
		want string
	}{
		{"With", func() Shape { return Of(2, 3).With(-1, 5) }, "[2, 5]"},
		{"With, long", func() Shape { return long.With(0, u) }, "[?, 2, 3, 4, 5, 6, 7]"},
		{"With, unknown rank", func() Shape { return UnknownRank.With(3, 1) }, "[...]"},
		{"Insert", func() Shape { return Of(2, 3).Insert(0, u) }, "[?, 2, 3]"},
		{"Insert at the end", func() Shape { return Of(1, 2, 3, 4, 5, 6).Insert(6, 7) }, "[1, 2, 3, 4, 5, 6, 7]"},
		{"Remove", func() Shape { return long.Remove(-1) }, "[1, 2, 3, 4, 5, 6]"},
		{"Slice", func() Shape { return long.Slice(2, 4) }, "[3, 4]"},
		{"Tail", func() Shape { return Of(2, 3).Tail(2) }, "[]"},
		{"Tail, unknown rank", func() Shape { return UnknownRank.Tail(2) }, "[...]"},
		{"Concat", func() Shape { return Concat(Of(1), Shape{}, Of(2, 3)) }, "[1, 2, 3]"},
		{"Concat, unknown rank", func() Shape { return Concat(Of(1), UnknownRank) }, "[...]"},
		{"Relaxed", func() Shape { return Of(1, 2).Relaxed() }, "[?, ?]"},
	} {
		if got := c.got(); got.String() != c.want {
			t.Errorf("%s: got %v, want %s", c.name, got, c.want)
		}
	}
	if long.Dim(0) != 1 {
		t.Error("With has changed its receiver")
	}
	for name, f := range map[string]func(){
		"With axis":        func() { Of(2).With(1, 3) },
		"With size":        func() { Of(2).With(0, -2) },
		"Insert axis":      func() { Of(2).Insert(2, 1) },
		"Insert size":      func() { Of(2).Insert(0, -9) },
		"Insert, rank":     func() { OfRank(MaxRank).Insert(0, 1) },
		"Remove":           func() { Of(2).Remove(-2) },
		"Slice":            func() { Of(2, 3).Slice(2, 1) },
		"Tail":             func() { Of(2, 3).Tail(3) },
		"Concat, too long": func() { Concat(OfRank(100), OfRank(100)) },
	} {
		if thrown(f) == "" {
			t.Errorf("%s does not throw", name)
		}
	}
}

func TestAxis(t *testing.T) {
	s := Of(2, 3, 4)
	for _, c := range []struct{ axis, want int }{{0, 0}, {-1, 2}, {-3, 0}, {2, 2}} {
		if got, err := s.Axis(c.axis); err != nil || got != c.want {
			t.Errorf("Axis(%d) = %d, %v", c.axis, got, err)
		}
	}
	for _, bad := range []int{3, -4} {
		if _, err := s.Axis(bad); err == nil {
			t.Errorf("Axis(%d) is accepted", bad)
		}
	}
	if got, err := UnknownRank.Axis(-5); err != nil || got != -5 {
		t.Errorf("of an unknown rank: %d, %v", got, err)
	}
}

func TestMergeJoinBroadcast(t *testing.T) {
	for _, c := range []struct {
		a, b                   Shape
		join, merge, broadcast string // "" is an error
	}{
		{Of(3), Of(u), "[?]", "[3]", "[3]"},
		{Of(3), Of(4), "[?]", "", ""},
		{Of(1), Of(4), "[?]", "", "[4]"},
		{Of(2, 1), Of(5, 3, 1), "[...]", "", ""},
		{Of(2, 3), UnknownRank, "[...]", "[2, 3]", "[...]"},
		{Of(2, 3), Of(3), "[...]", "", "[2, 3]"},
		{Of(u, 1), Of(1, u), "[?, ?]", "[1, 1]", "[?, ?]"},
		{Of(0), Of(1), "[?]", "", "[0]"},
		{Shape{}, Of(7), "[...]", "", "[7]"},
		{Of(1, 1, 1, 1, 1, 1, 1, 2), Of(3, 1), "[...]", "", "[1, 1, 1, 1, 1, 1, 3, 2]"},
	} {
		text := func(s Shape, err error) string {
			if err != nil {
				return ""
			}
			return s.String()
		}
		got := []string{Join(c.a, c.b).String(), text(Merge(c.a, c.b)), text(Broadcast(c.a, c.b))}
		if d := cmp.Diff([]string{c.join, c.merge, c.broadcast}, got); d != "" {
			t.Errorf("%v, %v: join, merge, broadcast (-want +got)\n%s", c.a, c.b, d)
		}
		if got := c.a.CompatibleWith(c.b); got != (c.merge != "") {
			t.Errorf("%v and %v: compatible is %v", c.a, c.b, got)
		}
	}
	if _, err := Broadcast(Of(2, 3), Of(4)); err == nil || !strings.Contains(err.Error(), "sizes 3 and 4 at axis -1") {
		t.Errorf("got %v", err)
	}
	if s, err := Broadcast(); err != nil || !s.IsScalar() {
		t.Errorf("of nothing: %v, %v", s, err)
	}
}

func TestSmallShapesDoNotAllocate(t *testing.T) {
	a, b := Of(2, 3, 4), Of(3, 1)
	n := testing.AllocsPerRun(100, func() {
		c, err := Broadcast(a, b)
		if err != nil || c.Size() != 24 || !c.With(0, 5).CompatibleWith(Of(5, 3, 4)) {
			t.Error("wrong")
		}
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestLargeSizes: sizes of 1<<31 and more are kept apart from the others.
func TestLargeSizes(t *testing.T) {
	const big = 1 << 40
	s := Of(big, 2)
	for _, c := range []struct {
		got  Shape
		want []int
	}{
		{s, []int{big, 2}},
		{Of(3, 2).With(0, big), []int{big, 2}},
		{s.With(0, 1<<31-1), []int{1<<31 - 1, 2}},
		{s.Remove(0), []int{2}},
		{s.Insert(2, 7), []int{big, 2, 7}},
		{s.Slice(0, 1), []int{big}},
		{Join(s, Of(3, 2)), []int{u, 2}},
		{Concat(s, Of(1, 2, 3, 4)), []int{big, 2, 1, 2, 3, 4}},
		{Of(1, 2, 3, 4, 5), []int{1, 2, 3, 4, 5}},
		{Of(1, 2, 3, 4, 5).With(4, u), []int{1, 2, 3, 4, u}},
	} {
		want := Of(c.want...)
		if !cmp.Equal(c.got.Dims(), c.want) || !c.got.Equal(want) || !want.Equal(c.got) || c.got.Rank() != len(c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
		for i, d := range c.want {
			if c.got.Dim(i) != d || c.got.Dim(i-len(c.want)) != d {
				t.Errorf("%v: axis %d has size %d", c.got, i, c.got.Dim(i))
			}
		}
	}
	if got, err := Broadcast(Of(1, 2), s); err != nil || !got.Equal(s) || s.Size() != 2*big {
		t.Errorf("got %v of size %d, %v", got, s.Size(), err)
	}
	if Of(big).Equal(Of(0)) || Of(1<<32).Equal(Of(0)) || Of(0, 0).Equal(Of(0)) {
		t.Error("shapes that differ are equal")
	}
}

// Shapes are what they print as in JSON.
func TestTextOfShapes(t *testing.T) {
	want := []Shape{Of(), Of(2, u, 3), UnknownRank, Of(0)}
	b, err := json.Marshal(want)
	if got := string(b); err != nil || got != `["[]","[2, ?, 3]","[...]","[0]"]` {
		t.Errorf("%s, %v", got, err)
	}
	var back []Shape
	if err := json.Unmarshal(b, &back); err != nil || !slices.EqualFunc(back, want, Shape.Equal) {
		t.Errorf("got back %v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`["[-2]"]`), &back); err == nil {
		t.Error("a negative size is read")
	}
}
