package key

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// A range means what it means in Python, for every combination of small bounds.
func TestSpan(t *testing.T) {
	bounds := []any{nil, -7, -6, -5, -2, -1, 0, 1, 3, 4, 5, 6, 9}
	for _, start := range bounds {
		for _, stop := range bounds {
			for _, step := range []any{nil, 1, 2, 3, 7, -1, -2, -3, -7} {
				for _, n := range []int{0, 1, 5} {
					first, count, by, known, err := Range(start, stop, step).Span(n)
					if err != nil || !known {
						t.Fatal(err, known)
					}
					var got []int
					for i := range count {
						got = append(got, first+i*by)
					}
					if want := python(start, stop, step, n); !slices.Equal(got, want) {
						t.Errorf("range(%v, %v, %v) of %d: %v, want %v", start, stop, step, n, got, want)
					}
				}
			}
		}
	}
}

// python lists the positions by what the language reference says: those of the
// infinite sequence from start that lie on the axis and before stop.
func python(start, stop, step any, n int) []int {
	s := 1
	if step != nil {
		s = step.(int)
	}
	lo, hi := 0, n
	if s < 0 {
		lo, hi = -1, n-1
	}
	clip := func(b any, def int) int {
		if b == nil {
			return def
		}
		i := b.(int)
		if i < 0 {
			i += n
		}
		return min(max(i, lo), hi)
	}
	from, to := clip(start, lo), clip(stop, hi)
	if s < 0 {
		from, to = clip(start, hi), clip(stop, lo)
	}
	var out []int
	for i := from; s > 0 && i < to || s < 0 && i > to; i += s {
		out = append(out, i)
	}
	return out
}

func TestSpanOfHugeBounds(t *testing.T) {
	first, count, step, _, err := Range(math.MinInt, math.MaxInt, math.MaxInt).Span(3)
	if first != 0 || count != 1 || step != math.MaxInt || err != nil {
		t.Errorf("%d, %d, %d, %v", first, count, step, err)
	}
	if _, _, _, _, err := Range(nil, nil, 0).Span(3); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("a step of 0: %v", err)
	}
}

func TestPosition(t *testing.T) {
	for _, c := range []struct {
		at     any
		n, got int
		fails  bool
	}{{0, 3, 0, false}, {-1, 3, 2, false}, {-3, 3, 0, false}, {3, 3, 0, true}, {-4, 3, 0, true}, {tensor.Scalar(int32(-2)), 3, 1, false}} {
		got, known, err := At(c.at).Position(c.n)
		if got != c.got || !known || (err != nil) != c.fails || err != nil && !errors.Is(err, tenon.ErrRange) {
			t.Errorf("position %v of %d: %d, %v, %v", c.at, c.n, got, known, err)
		}
	}
	if _, known, err := At(7).Position(-1); known || err != nil {
		t.Errorf("on an axis of unknown size: %v, %v", known, err)
	}
}

func TestText(t *testing.T) {
	one, mask := tensor.Scalar(1), tensor.Of([]bool{true, false})
	keys, err := List(1, From(2), To(-1), Range(nil, nil, -1), All, Ellipsis, NewAxis, "a, \"b\"", one, Range(one, 3, nil), mask)
	if err != nil {
		t.Fatal(err)
	}
	ks, values := Split(keys)
	const want = `1, 2:, :-1, ::-1, :, ..., newaxis, "a, \"b\"", $0, $1:3, @2`
	if ks.String() != want {
		t.Errorf("got %s, want %s", ks, want)
	}
	parsed, err := Parse(want)
	if d := cmp.Diff(ks, parsed); d != "" || err != nil {
		t.Error(d, err)
	}
	back, err := ks.With(values)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(keys, back, cmp.Comparer(func(a, b *tensor.Dense) bool { return a == b })); d != "" {
		t.Error(d)
	}
	if keys, err := Parse(""); err != nil || len(keys) != 0 {
		t.Errorf("no keys: %v, %v", keys, err)
	}
	plain := []Key{At(1), All}
	if ks, values := Split(plain); values != nil || &ks[0] != &plain[0] {
		t.Error("keys without values are copied")
	}
}

func TestBadText(t *testing.T) {
	for _, s := range []string{",", "1,,2", "x", "1:2:3:4", "$0", "@0", "$", `"open`, `"a" b`, "1:$9", "@-1"} {
		ks, err := Parse(s)
		if err == nil {
			_, err = ks.With(nil)
		}
		if !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "1, 2:", "::-1, ..., newaxis", `"a, b", 0`, "$0:$1, @0"} {
		f.Add(s)
	}
	values := []tenon.Value{tensor.Scalar(1), tensor.Of([]int{0})}
	f.Fuzz(func(t *testing.T, s string) {
		ks, err := Parse(s)
		if err != nil {
			return
		}
		again, err := Parse(ks.String())
		if err != nil || again.String() != ks.String() {
			t.Fatalf("%q, then %q: %v", ks, again, err)
		}
		keys, err := ks.With(values)
		if err != nil {
			return
		}
		numbered, vs := Split(keys)
		if back, err := numbered.With(vs); err != nil || len(back) != len(keys) {
			t.Fatalf("%q, then %q: %v", ks, numbered, err)
		}
	})
}

func TestExpand(t *testing.T) {
	for _, c := range []struct {
		keys []any
		rank int
		text string // of the keys, "" where it is an error
	}{
		{nil, 2, ":, :"}, {[]any{0}, 3, "0, :, :"}, {[]any{Ellipsis, 0}, 3, ":, :, 0"}, {[]any{NewAxis, 0, Ellipsis, 1}, 2, "newaxis, 0, 1"},
		{[]any{0, 0}, 1, ""}, {[]any{Ellipsis, Ellipsis}, 2, ""}, {[]any{"f"}, 2, ""}, {[]any{0}, -1, ""},
		{[]any{tensor.Of([]bool{true, false}, 2, 1), 0}, 3, "@0, 0"},
	} {
		keys, err := List(c.keys...)
		if err != nil {
			t.Fatal(err)
		}
		out, err := Expand(keys, c.rank)
		if ks, _ := Split(out); ks.String() != c.text || (err == nil) != (c.text != "") {
			t.Errorf("%v of rank %d: %q, %v", c.keys, c.rank, ks, err)
		}
	}
}

func TestListRefuses(t *testing.T) {
	for _, k := range []any{1.5, nil, At(nil), By(nil), Range(tensor.Of([]int{1}), nil, nil), Range("a", nil, nil), At(tensor.Scalar(1.0))} {
		if _, err := List(k); !errors.Is(err, tenon.ErrDType) {
			t.Errorf("%v: %v", k, err)
		}
	}
}
