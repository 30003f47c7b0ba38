package str

import (
	"slices"
	"strings"
	"testing"
)

// same fails the test where a column does not hold the given strings.
func same(t *testing.T, got Column, want ...string) {
	t.Helper()
	if got := got.Strings(); !slices.Equal(got, want) {
		t.Errorf("strings %.500q, want %.500q", got, want)
	}
}

// later is a column whose offsets do not start at 0.
func later(s ...string) Column {
	c := Of(append([]string{"skipped"}, s...)...)
	return Column{Offsets: c.Offsets[1:], Bytes: c.Bytes}
}

func TestColumn(t *testing.T) {
	for _, c := range []Column{Of("a", "", "bcd"), later("a", "", "bcd")} {
		if c.Len() != 3 || c.Size() != 4 || string(c.At(2)) != "bcd" {
			t.Errorf("%d strings of %d bytes, the last %q", c.Len(), c.Size(), c.At(2))
		}
	}
	var zero Column
	if zero.Len() != 0 || zero.Size() != 0 || len(zero.Strings()) != 0 {
		t.Error("the zero column is not empty")
	}
	same(t, Of())
}

func TestGather(t *testing.T) {
	x := later("a", "", "bcd")
	got, err := Gather(x, []int32{2, 2, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, "bcd", "bcd", "", "a")
	if _, err := Gather(x, []int64{0, 3}); err == nil || !strings.Contains(err.Error(), "index 3 at position 1") {
		t.Errorf("error %v", err)
	}
	if _, err := Gather(Column{}, []int64{0}); err == nil {
		t.Error("no error for an empty column")
	}
	same(t, Concat(x, Column{}, later("e"), Of()), "a", "", "bcd", "e")
	same(t, Concat())
	same(t, Fill(2, []byte("xy")), "xy", "xy")
}

// Results of more than one chunk are joined in order.
func TestManyChunks(t *testing.T) {
	n := 3*chunk + 5
	words := make([]string, n)
	for i := range words {
		words[i] = strings.Repeat("x", i%7) + " " + strings.Repeat("Y", i%3)
	}
	x := Of(words...)
	splits := make([]int64, x.Len()+1)
	pieces := Split(splits, x, "", 0)
	var want []string
	for i, w := range words {
		if int64(len(want)) != splits[i] {
			t.Fatalf("split %d is %d, want %d", i, splits[i], len(want))
		}
		want = append(want, strings.Fields(w)...)
	}
	same(t, pieces, want...)
	idx := make([]int64, n)
	for i := range idx {
		idx[i] = int64(n - 1 - i)
	}
	got, err := Gather(x, idx)
	slices.Reverse(words)
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, words...)
}

func TestCompareAndEqual(t *testing.T) {
	a, b := later("a", "ab", "\xff", ""), Of("a", "aa", "\x00", "x")
	got := make([]int8, 4)
	Compare(got, a, b)
	if !slices.Equal(got, []int8{0, 1, 1, -1}) {
		t.Errorf("Compare = %v", got)
	}
	Compare(got, a, Of("ab"))
	if !slices.Equal(got, []int8{-1, 0, 1, -1}) {
		t.Errorf("Compare with one = %v", got)
	}
	eq := make([]bool, 4)
	Equal(eq, Of("ab"), a)
	if !slices.Equal(eq, []bool{false, true, false, false}) {
		t.Errorf("Equal = %v", eq)
	}
}

func TestJoin(t *testing.T) {
	same(t, Join([]Column{Of("a", "b"), Of("-"), later("c", "")}, 2, "/"), "a/-/c", "b/-/")
	same(t, Join([]Column{Of("a")}, 3, "/"), "a", "a", "a")
	x := later("a", "b", "c")
	same(t, JoinRows(x, []int64{0, 2, 2, 3}, ", "), "a, b", "", "c")
	same(t, JoinRows(Column{}, []int64{0}, ", "))
	same(t, JoinAt(x, []int64{0, 2, 1}, []int64{0, 2, 3}, "+"), "a+c", "b")
}

func TestLengths(t *testing.T) {
	x := later("Étude", "日本語", "a\xff\x80b", "")
	long := strings.Repeat("aé日💩\xff\x80", 50)
	for n := range 60 {
		one := make([]int64, 1)
		if Lengths(one, later(long[n:]), Char); one[0] != int64(countOneByOne(long[n:])) {
			t.Errorf("%q has %d characters", long[n:], one[0])
		}
	}
	got := make([]int32, 4)
	if Lengths(got, x, Byte); !slices.Equal(got, []int32{6, 9, 4, 0}) {
		t.Errorf("bytes %v", got)
	}
	if Lengths(got, x, Char); !slices.Equal(got, []int32{5, 3, 3, 0}) {
		t.Errorf("characters %v", got)
	}
}

func countOneByOne(s string) (n int) {
	for i := range len(s) {
		if s[i]&0xc0 != 0x80 {
			n++
		}
	}
	return n
}

func TestSubstr(t *testing.T) {
	words := Of("walnut", "hazel")
	utf := later("Étude", "naïve")
	for _, c := range []struct {
		x           Column
		pos, length []int64
		unit        Unit
		want        []string // nil for an error
	}{
		{words, []int64{1}, []int64{3}, Byte, []string{"aln", "aze"}},
		{words, []int64{-2}, []int64{2}, Byte, []string{"ut", "el"}},
		{words, []int64{0}, []int64{99}, Byte, []string{"walnut", "hazel"}},
		{words, []int64{2, 5}, []int64{0, 1}, Byte, []string{"", ""}},
		{words, []int64{2}, []int64{-5}, Byte, []string{"lnut", "zel"}},
		{words, []int64{6}, []int64{1}, Byte, nil},
		{words, []int64{-6}, []int64{1}, Byte, nil},
		{words, []int64{1 << 62}, []int64{1 << 62}, Byte, nil},
		{words, []int64{-1 << 63}, []int64{1}, Byte, nil},
		{words, []int64{1}, []int64{1<<63 - 1}, Byte, []string{"alnut", "azel"}},
		{utf, []int64{1}, []int64{2}, Char, []string{"tu", "aï"}},
		{utf, []int64{-3}, []int64{1}, Char, []string{"u", "ï"}},
		{utf, []int64{5}, []int64{1}, Char, []string{"", ""}},
		{utf, []int64{0}, []int64{-1}, Char, []string{"Étude", "naïve"}},
		{utf, []int64{6}, []int64{1}, Char, nil},
		{Of("a\xff\x80b"), []int64{1}, []int64{2}, Char, []string{"\xff\x80b"}},
	} {
		got, err := Substr(c.x, c.pos, c.length, c.unit)
		if (err != nil) != (c.want == nil) {
			t.Errorf("Substr(%q, %v, %v): error %v", c.x.Strings(), c.pos, c.length, err)
			continue
		}
		if err == nil {
			same(t, got, c.want...)
		}
	}
}

func TestStrip(t *testing.T) {
	same(t, Strip(later(" a ", "\tb\n", "", "  ", "\x0b\x0ca \x1c\u0085\u2003", "\x00a\x00")),
		"a", "b", "", "", "a \x1c\u0085\u2003", "\x00a\x00")
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		s, separator string
		max          int
		want         []string
	}{
		{"a b  c", "", 0, []string{"a", "b", "c"}},
		{" d\t\n", "", -1, []string{"d"}},
		{"", "", 0, nil},
		{"  ", "", 2, nil},
		{" a  b c ", "", 1, []string{"a", "b c "}},
		{"a b ", "", 1, []string{"a", "b "}},
		{"a ", "", 1, []string{"a", ""}},
		{"a,b", ",", 0, []string{"a", "b"}},
		{",c,", ",", 0, []string{"", "c", ""}},
		{"", ",", 0, []string{""}},
		{"a--b--c", "--", 1, []string{"a", "b--c"}},
		{"aXXXb", "XX", 0, []string{"a", "Xb"}},
		{"XX", "XX", 5, []string{"", ""}},
	} {
		splits := make([]int64, 2)
		got := Split(splits, later(c.s), c.separator, c.max)
		same(t, got, c.want...)
		if !slices.Equal(splits, []int64{0, int64(len(c.want))}) {
			t.Errorf("Split(%q, %q, %d): splits %v", c.s, c.separator, c.max, splits)
		}
	}
	splits := make([]int64, 4)
	got := SplitBytes(splits, later("é", "", "a"))
	same(t, got, "\xc3", "\xa9", "a")
	if !slices.Equal(splits, []int64{0, 2, 2, 3}) {
		t.Errorf("splits %v", splits)
	}
	if got := SplitBytes(splits[:1], Column{}); got.Len() != 0 || splits[0] != 0 {
		t.Errorf("no strings: %v, splits %v", got, splits)
	}
}

func TestCase(t *testing.T) {
	x := later("Pear-Tree Ü", "naïve", "\xff[`{@")
	same(t, Lower(x), "pear-tree Ü", "naïve", "\xff[`{@")
	same(t, Upper(x), "PEAR-TREE Ü", "NAïVE", "\xff[`{@")
	same(t, LowerUTF8(x), "pear-tree ü", "naïve", "\ufffd[`{@")
	same(t, UpperUTF8(x), "PEAR-TREE Ü", "NAÏVE", "\ufffd[`{@")
	var all, upper, lower [3 * 256]byte // in every position of a word of eight
	for i := range all {
		b := byte(i * 3)
		all[i], upper[i], lower[i] = b, b, b
		if 'a' <= b && b <= 'z' {
			upper[i] = b - 0x20
		} else if 'A' <= b && b <= 'Z' {
			lower[i] = b + 0x20
		}
	}
	for skip := range 8 {
		same(t, Upper(Of(string(all[skip:]))), string(upper[skip:]))
		same(t, Lower(Of(string(all[skip:]))), string(lower[skip:]))
	}
	special := Of("ß", "İ", "ΑΣ", "ΑΣ.", "Σ", "ﬁ", "ǆ", "ŉ", "ΑΣΑ", "A\u00adΣ", "a\xffb\xe2\x82c")
	same(t, UpperUTF8(special), "SS", "İ", "ΑΣ", "ΑΣ.", "Σ", "FI", "Ǆ", "ʼN", "ΑΣΑ", "A\u00adΣ", "A\ufffdB\ufffdC")
	same(t, LowerUTF8(special), "ß", "i̇", "ας", "ας.", "σ", "ﬁ", "ǆ", "ŉ", "ασα", "a\u00adς", "a\ufffdb\ufffdc")
}
