package token

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"Read reads a file.", "read reads a file"},
		{"ReadFile", "read file"},
		{"parseHTTPUrl2", "parse http url 2"},
		{"HTTPServer", "http server"},
		{"aB", "a b"},
		{"ABc", "a bc"},
		{"A", "a"},
		{"URLs and IDs", "urls and ids"},
		{"URLsFor", "urls for"},
		{"isX", "is x"},
		{"UTF-8", "utf 8"},
		{"utf8", "utf 8"},
		{"SHA256Sum", "sha 256 sum"},
		{"x86_64", "x 86 64"},
		{"[]map[string]*T", "map string t"},
		{"the file's lines don't 'end'", "the file lines don end"},
		{"ÄpfelBaum größe", "äpfel baum größe"},
		{"日本語", "日本語"},
		{"a\xffb", "a b"},
		{"net/http.Client", "net http client"},
	} {
		if got := strings.Join(Words(nil, c.in), " "); got != c.want {
			t.Errorf("Words(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestStemmer(t *testing.T) {
	var s Stemmer
	for range 2 { // computed, then remembered
		got := s.Append([]string{"kept"}, "Readers reading URLs generously; the strings.Builder's 64")
		want := []string{"kept", "reader", "read", "url", "generous", "the", "string", "builder", "64"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"parseHTTPUrl2", "IDs' x's", "ÄÖü3Ⅷ", "\xff'\xfe", "ǅx"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var stemmer Stemmer
		for _, w := range Words(nil, s) {
			if w == "" {
				t.Fatalf("an empty word in %q", s)
			}
			if strings.ContainsFunc(w, func(r rune) bool { return unicode.IsSpace(r) || r < 0x80 && unicode.IsPunct(r) }) {
				t.Errorf("word %q of %q holds a separator", w, s)
			}
			if stemmer.Stem(w) == "" {
				t.Errorf("the stem of %q is empty", w)
			}
		}
	})
}
