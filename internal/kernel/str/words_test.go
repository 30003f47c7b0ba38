package str

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestNGrams(t *testing.T) {
	x := later("a", "b", "c", "d", "e", "f", "g")
	splits := []int64{0, 4, 4, 5, 7}
	for _, c := range []struct {
		name   string
		o      NGramOptions
		want   string
		splits []int64
	}{
		{"bigrams", NGramOptions{Widths: []int{2}, Separator: " "}, "a b,b c,c d,f g", []int64{0, 3, 3, 3, 4}},
		{"two widths", NGramOptions{Widths: []int{1, 3}, Separator: " "}, "a,b,c,d,a b c,b c d,e,f,g", []int64{0, 6, 6, 7, 9}},
		{"padded", NGramOptions{Widths: []int{3}, Left: "<", Right: ">", PadWidth: -1},
			"<<a,<ab,abc,bcd,cd>,d>>,<<>,<>>,<<e,<e>,e>>,<<f,<fg,fg>,g>>", []int64{0, 6, 8, 11, 15}},
		{"padded by one", NGramOptions{Widths: []int{3}, Left: "<", Right: ">", PadWidth: 1},
			"<ab,abc,bcd,cd>,<e>,<fg,fg>", []int64{0, 4, 4, 5, 7}},
		{"padding is less than the width", NGramOptions{Widths: []int{2}, Left: "<", Right: ">", PadWidth: 5},
			"<a,ab,bc,cd,d>,<>,<e,e>,<f,fg,g>", []int64{0, 5, 6, 8, 11}},
		{"short rows", NGramOptions{Widths: []int{3}, Separator: " ", PreserveShort: true}, "a b c,b c d,e,f g", []int64{0, 2, 2, 3, 4}},
		{"short padded rows", NGramOptions{Widths: []int{5}, Left: "<", Right: ">", PadWidth: 1, PreserveShort: true},
			"<abcd,abcd>,<e>,<fg>", []int64{0, 2, 2, 3, 4}},
		{"no widths", NGramOptions{PreserveShort: true}, "", []int64{0, 0, 0, 0, 0}},
	} {
		outSplits := make([]int64, len(splits))
		got, err := NGrams(outSplits, x, splits, c.o)
		if s := strings.Join(got.Strings(), ","); err != nil || s != c.want || !slices.Equal(outSplits, c.splits) {
			t.Errorf("%s: %s, %v, %v", c.name, s, outSplits, err)
		}
	}
	for _, o := range []NGramOptions{{Widths: []int{0}}, {Widths: []int{1}, PadWidth: -2}} {
		if _, err := NGrams(make([]int64, len(splits)), x, splits, o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

func TestRegex(t *testing.T) {
	x := later("walnut", "hazel", "beech", "")
	match := make([]bool, 4)
	if err := RegexFullMatch(match, x, ".*e.*|w"); err != nil || !slices.Equal(match, []bool{false, true, true, false}) {
		t.Errorf("%v, %v", match, err)
	}
	for _, bad := range []string{"(", "a)(b"} {
		if err := RegexFullMatch(match, x, bad); err == nil {
			t.Errorf("pattern %q is accepted", bad)
		}
	}
	for _, c := range []struct {
		s, pattern, rewrite string
		global              bool
		want                string
	}{
		{"beech", "[aeiou]", "*", true, "b**ch"},
		{"walnut", "(.)(.)", `\2\1`, false, "awlnut"},
		{"baac", "a*", "x", true, "xbxcx"},
		{"abaa", "(a)(b)?", `[\1\2]`, true, "[ab][a][a]"},
		{"a", "a", `\\`, true, `\`},
		{"bab", "a", `\0\0`, true, "baab"},
		{"abc", "", "-", true, "-a-b-c-"},
		{"abc", "b*", "-", false, "-abc"},
	} {
		got, err := RegexReplace(Of(c.s), c.pattern, c.rewrite, c.global)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, c.want)
	}
	for _, c := range [][2]string{{"(", "x"}, {"a", `\1`}, {"a", `\`}, {"a", `\x`}} {
		if _, err := RegexReplace(x, c[0], c[1], true); err == nil {
			t.Errorf("pattern %q, rewrite %q are accepted", c[0], c[1])
		}
	}
}

func TestFingerprint64(t *testing.T) {
	for _, c := range []struct {
		s    string
		want uint64
	}{
		{"", 11160318154034397263},
		{"a", 12917804110809363939},
		{"hello", 13009744463427800296},
		{"hello wo", 3616420679985843595},
		{"hello world", 6381520714923946011},
		{"0123456789abcdef", 6105018409752412263},
		{"0123456789abcdefg", 12024047538191061578},
		{"0123456789abcdefghijklmnopqrstuv", 5309998426329684901},
		{"0123456789abcdefghijklmnopqrstuvw", 11705224861392408063},
		{strings.Repeat("x", 64), 6916188127298655160},
		{strings.Repeat("x", 65), 4935023790501551929},
		{strings.Repeat("x", 100), 6590480085648050719},
		{strings.Repeat("x", 128), 5868382771906808855},
		{strings.Repeat("x", 129), 17793147381016297142},
		{strings.Repeat("abc", 500), 12033782697311862584},
	} {
		if got := Fingerprint64([]byte(c.s)); got != c.want {
			t.Errorf("Fingerprint64(%.20q, %d bytes) = %d, want %d", c.s, len(c.s), got, c.want)
		}
	}
	out := make([]uint64, 2)
	if Fingerprints(out, later("hello", "a")); out[0] != 13009744463427800296 || out[1] != 12917804110809363939 {
		t.Errorf("Fingerprints = %v", out)
	}
}

func TestSipHash(t *testing.T) {
	// The test vector of the paper's appendix.
	key := [2]uint64{0x0706050403020100, 0x0f0e0d0c0b0a0908}
	input := make([]byte, 15)
	for i := range input {
		input[i] = byte(i)
	}
	if got := SipHash(input, key); got != 0xa129ca6149be45e5 {
		t.Errorf("SipHash = %x", got)
	}
	out := make([]uint64, 3)
	SipHashes(out, later("hello", "abc", ""), [2]uint64{1, 2})
	for i, h := range out {
		out[i] = h % (1<<62 + 1)
	}
	if !slices.Equal(out, []uint64{2957200328589801622, 1250540936487842202, 443797209252341625}) {
		t.Errorf("SipHashes = %v", out)
	}
}

func randomWords(n, alphabet, longest int) []string {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	words := make([]string, n)
	for i := range words {
		b := make([]byte, rng.IntN(longest+1))
		for j := range b {
			b[j] = byte('a' + rng.IntN(alphabet))
			if rng.IntN(20) == 0 {
				b[j] = byte(rng.IntN(256))
			}
		}
		words[i] = string(b)
	}
	return words
}

func TestUnique(t *testing.T) {
	for _, n := range []int{0, 1, 5, 10000} {
		words := randomWords(n, 3, 4)
		x := later(words...)
		inverse := make([]int64, n)
		first, counts := Unique(inverse, x)
		ids := map[string]int64{}
		var wantFirst, wantCounts []int64
		for i, w := range words {
			id, ok := ids[w]
			if !ok {
				id = int64(len(ids))
				ids[w] = id
				wantFirst = append(wantFirst, int64(i))
				wantCounts = append(wantCounts, 0)
			}
			wantCounts[id]++
			if inverse[i] != id {
				t.Fatalf("n %d: string %d has number %d, want %d", n, i, inverse[i], id)
			}
		}
		if !slices.Equal(first, wantFirst) || !slices.Equal(counts, wantCounts) {
			t.Errorf("n %d: first %v, counts %v", n, first, counts)
		}
	}
	inverse := make([]int64, 5)
	splits, first, counts := UniqueRows(inverse, later("a", "b", "a", "b", "b"), []int64{0, 3, 3, 5})
	if !slices.Equal(splits, []int64{0, 2, 2, 3}) || !slices.Equal(first, []int64{0, 1, 3}) ||
		!slices.Equal(counts, []int64{2, 1, 2}) || !slices.Equal(inverse, []int64{0, 1, 0, 0, 0}) {
		t.Errorf("UniqueRows: %v, %v, %v, %v", splits, first, counts, inverse)
	}
}

func TestOrder(t *testing.T) {
	words := randomWords(2000, 2, 12)
	x := later(words...)
	for _, descending := range []bool{false, true} {
		want := make([]int64, len(words))
		for i := range want {
			want[i] = int64(i)
		}
		slices.SortStableFunc(want, func(a, b int64) int {
			if descending {
				return strings.Compare(words[b], words[a])
			}
			return strings.Compare(words[a], words[b])
		})
		got := make([]int64, len(words))
		if ArgSort(got, x, descending); !slices.Equal(got, want) {
			t.Errorf("ArgSort, descending %v", descending)
		}
	}
	got := make([]int64, 5)
	ArgSortRows(got, later("b", "a", "c", "c", "a"), []int64{0, 2, 2, 5}, true)
	if !slices.Equal(got, []int64{0, 1, 0, 1, 2}) {
		t.Errorf("ArgSortRows = %v", got)
	}

	slices.Sort(words)
	sorted := later(words...)
	probes := append(randomWords(100, 2, 5), "", "\xff\xff")
	left, right := make([]int64, len(probes)), make([]int64, len(probes))
	SearchSorted(left, sorted, Of(probes...), false)
	SearchSorted(right, sorted, Of(probes...), true)
	for i, p := range probes {
		at, _ := slices.BinarySearch(words, p)
		end, _ := slices.BinarySearch(words, p+"\x00")
		if left[i] != int64(at) || right[i] != int64(end) {
			t.Errorf("SearchSorted(%q) = %d, %d, want %d, %d", p, left[i], right[i], at, end)
		}
	}
	if SearchSorted(left[:1], Column{}, Of("a"), true); left[0] != 0 {
		t.Errorf("SearchSorted in nothing = %d", left[0])
	}
}

// Patterns whose matches begin with few bytes, or do not look around, are searched for in
// another way than others: all find what package regexp does.
func TestRegexBegins(t *testing.T) {
	words := []string{"", "a", "abc", "xaay", "ÄÖ", "äöü", "a\xffb", "\xc3", "caféé", "Kk\u212a", "aXbX", "x y z", "foo foo", "ab\nab", "日本語", "\ufffd"}
	words = append(words, slices.Repeat(words, fewKept/len(words))...) // many are searched at once
	patterns := []string{"a", "[a-c]", "[a-c]+", "a*", "(a|b)c?", "^a", "a$", `\ba`, "é", "[^a]", "[^\x00-\x7f]", "(?i)k", "(?i:É)", ".", "(?s).", "x|$", "foo", "(fo)(o)?", "[日-語]", `\x{FFFD}`, "(?m)^ab$", "b|^a", "a{2}", "a.*", ".*a", ".*a.*", "(?s).*b.*", "(?s)a.*", "(?s).*b", "(?s:.*)ab.*", "foo.*", ".*ab", "ab.*", ".*\\x{FFFD}", "日本語", "日本.*", "ab\n.*", "(?i)a.*", "a.*b", ".*b$", ".*"}
	for _, p := range patterns {
		re := regexp.MustCompile(p)
		whole := regexp.MustCompile(`\A(?:` + p + `)\z`)
		match := make([]bool, len(words))
		if err := RegexFullMatch(match, Of(words...), p); err != nil {
			t.Fatal(err)
		}
		for _, global := range []bool{true, false} {
			got, err := RegexReplace(Of(words...), p, `<\0>`, global)
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range words {
				n, want, end := -1, "", 0
				if !global {
					n = 1
				}
				for _, m := range re.FindAllStringIndex(w, n) {
					want += w[end:m[0]] + "<" + w[m[0]:m[1]] + ">"
					end = m[1]
				}
				if want += w[end:]; string(got.At(i)) != want {
					t.Errorf("%q in %q, global %v: %q, want %q", p, w, global, got.At(i), want)
				}
				if match[i] != whole.MatchString(w) {
					t.Errorf("%q matches %q: %v", p, w, match[i])
				}
			}
		}
	}
}

func TestBuckets(t *testing.T) {
	hashes := []uint64{0, 1, 5, 1<<63 - 2, 1<<63 - 1, 1 << 63, 1<<63 + 1, 1<<64 - 3, 1<<64 - 2, 1<<64 - 1}
	for _, n := range []uint64{1, 2, 3, 5, 7, 10, 64, 1000, 1<<32 - 1, 1<<32 + 1, 1<<61 + 3, 1<<62 - 1, 1 << 62, 1<<62 + 1, 1<<63 - 1, 1<<63 + 5} {
		got := slices.Clone(hashes)
		Buckets(got, n)
		for i, h := range hashes {
			if got[i] != h%n {
				t.Errorf("%d modulo %d: %d, want %d", h, n, got[i], h%n)
			}
		}
	}
}
