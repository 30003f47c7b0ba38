package token

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAlike(t *testing.T) {
	for _, c := range []struct {
		stem string
		want []string
	}{
		{"mail", []string{"email"}},
		{"upgrad", []string{"hijack", "websocket"}}, // of two sets
		{"folder", []string{"dir", "directori", "path"}},
		{"strdup", []string{"copi"}}, // one way
		{"zzyzx", nil},
	} {
		if diff := cmp.Diff(c.want, Alike(c.stem)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.stem, diff)
		}
	}
}

// Each line has at least two words, none twice, and no line stands there twice.
func TestAlikeWords(t *testing.T) {
	lines := map[string]bool{}
	for line := range strings.Lines(alikeWords) {
		words := strings.Fields(strings.Replace(line, " > ", " ", 1))
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		sorted := slices.Compact(slices.Sorted(slices.Values(words)))
		key := strings.Join(sorted, " ")
		if len(words) < 2 || len(sorted) != len(words) || lines[key] {
			t.Errorf("%q has one word, the same word twice, or stands twice", line)
		}
		lines[key] = true
		if split := Words(nil, line); !slices.Equal(split, words) {
			t.Errorf("%q has the words %q", line, split)
		}
	}
}

func TestAsk(t *testing.T) {
	var tk Tokenizer
	known := func(stem string) bool { return slices.Contains([]string{"filenam", "word", "list", "email"}, stem) }
	got := tk.Ask("the file name, a wordlist of mails", known)
	want := []Asked{
		{Word: "the", Stem: "the", Stop: true},
		{Word: "file", Stem: "file", Alike: Alike("file")},
		{Word: "filename", Stem: "filenam", Compound: true, Alike: Alike("filenam")},
		{Word: "name", Stem: "name", Alike: Alike("name")},
		{Word: "a", Stem: "a", Stop: true},
		{Word: "wordlist", Stem: "wordlist"},
		{Word: "word", Stem: "word", Compound: true, Alike: Alike("word")},
		{Word: "list", Stem: "list", Compound: true, Alike: Alike("list")},
		{Word: "of", Stem: "of", Stop: true},
		{Word: "mails", Stem: "mail", Alike: []string{"email"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
