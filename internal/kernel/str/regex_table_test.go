package str

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// Many strings are matched by tables as package regexp matches each: patterns of all kinds, and strings that are no ASCII.
func TestManyAreMatchedByTables(t *testing.T) {
	patterns := []string{
		".*Y1.*9.*", "(?i)ab*c", "(a|b)*abb", "[a-c]+x?", "[^a]*", "(?s).*a.*b", ".*a\n?b.*", "a{2,4}", "(?:a|ab)(?:c|bcd)", "", "a|", "a*?b", "(a*)*b", "\\d+|\\w", "^ab$", "\\bab\\b.*",
		"é.*", "[à-é]a", "(?i)K", "(?i)s+", "\\x00+", "(a|b|c|d|e){9}x", "(x+x+)+y", strings.Repeat("a?", 20) + strings.Repeat("a", 20), "[[:alpha:]]\\pL",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var random func(depth int) string
	random = func(depth int) string {
		atoms := []string{"a", "b", "c", ".", "[ab]", "[^b]", "é", "Y", "(?:)"}
		if depth == 0 || rng.IntN(3) == 0 {
			return atoms[rng.IntN(len(atoms))]
		}
		x, y := random(depth-1), random(depth-1)
		return []string{x + y, "(?:" + x + "|" + y + ")", "(?:" + x + ")*", "(?:" + x + ")+" + y, "(?:" + x + ")?", "(" + x + "){0,2}" + y}[rng.IntN(6)]
	}
	for range 200 {
		patterns = append(patterns, random(4))
	}
	strs := []string{"", "a", "ab", "abb", "abc", "AbC", "aab\nb", "a\nb", "CITY159", "CITY951", "é", "éa", "aé", "\xff", "a\xffb", "K", "ſ", "S", "\x00", "xxxy", strings.Repeat("x", 100), strings.Repeat("a", 30)}
	for range 100 {
		b := make([]byte, rng.IntN(9))
		for i := range b {
			b[i] = "abcY19\n"[rng.IntN(7)]
		}
		strs = append(strs, string(b))
	}
	x, tables := later(strs...), 0
	out := make([]bool, len(strs))
	for _, p := range patterns {
		if err := RegexFullMatch(out, x, p); err != nil {
			t.Fatalf("%q: %v", p, err)
		}
		if tableOf(p) != nil {
			tables++
		}
		re := regexp.MustCompile(`\A(?:` + p + `)\z`)
		for i, s := range strs {
			if want := re.MatchString(s); out[i] != want {
				t.Errorf("%q matches all of %q: %v, want %v", p, s, out[i], want)
			}
		}
	}
	if tables < 200 {
		t.Errorf("%d of %d patterns have tables", tables, len(patterns))
	}
}

func BenchmarkFullMatch(b *testing.B) {
	strs := make([]string, 1_000_000)
	for i := range strs {
		strs[i] = "CITY" + string([]byte{'0' + byte(i%10), '0' + byte(i/10%10), '0' + byte(i/100%10)})
	}
	x, out := later(strs...), make([]bool, len(strs))
	for b.Loop() {
		if err := RegexFullMatch(out, x, ".*Y1.*9.*"); err != nil {
			b.Fatal(err)
		}
	}
}
