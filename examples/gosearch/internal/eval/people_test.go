package eval

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon/examples/gosearch/internal/asked"
	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
)

// Every answer, also to a question that is learned from, is a public function of the standard library at hand, and each question is
// asked once.
func TestPeople(t *testing.T) {
	questions := People()
	parts := map[Part]int{}
	seen := map[string]bool{}
	for _, q := range questions {
		if seen[q.Text] || q.Text == "" || len(q.Answers) == 0 {
			t.Errorf("%q is asked twice, or has no answer", q.Text)
		}
		seen[q.Text] = true
		parts[q.Part]++
	}
	if want := map[Part]int{Choosing: 902, Reporting: 100, Unseen: 302}; !maps.Equal(parts, want) {
		t.Errorf("questions by part: %v, want %v", parts, want)
	}

	for _, q := range asked.Std() {
		questions = append(questions, Everyday{Text: q.Text, Answers: q.Answers})
	}
	loc := decl.Locate()
	dirs, err := loc.Resolve()
	if err != nil {
		t.Skip("needs the source of the standard library: ", err)
	}
	folders := map[string]bool{} // of the answers, and no others: it takes a third of the time
	for _, q := range questions {
		for _, a := range q.Answers {
			pkg := a[:strings.LastIndexByte(a, '/')+1]
			rest, _, _ := strings.Cut(a[len(pkg):], ".")
			top, _, _ := strings.Cut(pkg+rest, "/")
			folders[filepath.Join(dirs[0], top)] = true
		}
	}
	r, err := loc.Walk(t.Context(), slices.Sorted(maps.Keys(folders)), decl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	public := map[string]bool{}
	for i := range r.Decls {
		for _, p := range r.Decls[i].Paths() {
			public[p] = public[p] || r.Decls[i].Public()
		}
	}
	for _, q := range questions {
		for _, a := range q.Answers {
			if !public[a] {
				t.Errorf("%q: there is no %s", q.Text, a)
			}
		}
	}
}
