package main

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenonml/tenon/examples/gosearch/internal/store"
	"github.com/tenonml/tenon/internal/browser"
)

// The page in a real browser: it asks, and shows what it is answered.
func TestPageInBrowser(t *testing.T) {
	m, err := store.Open(filepath.Join(trainedFolder(t), modelFolder))
	if err != nil {
		t.Fatal(err)
	}
	s := newSearcher(m)
	server := httptest.NewServer(served(t, s))
	defer server.Close()
	answers, _, err := s.search("parses the duration", 10, false)
	if err != nil {
		t.Fatal(err)
	}
	dom := browser.DOM(t, server.URL+"/?q="+url.QueryEscape("parses the duration zzyzx"))
	if n := strings.Count(dom, `class="package"`); n != len(answers) {
		t.Errorf("%d answers are shown, want %d", n, len(answers))
	}
	for _, want := range []string{answers[0].Signature, fmt.Sprintf(":%d</div>", answers[0].Line), "unknown: zzyzx"} {
		if !strings.Contains(dom, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	if dom := browser.DOM(t, server.URL+"/?q=zzyzx"); !strings.Contains(dom, "none of the words is known: zzyzx") || strings.Contains(dom, `class="package"`) {
		t.Error("the page does not say that no word is known")
	}
	shows(t, server.URL+"/?q="+url.QueryEscape("sorts the slice"))
}

// The report in a real browser.
func TestReportInBrowser(t *testing.T) {
	report := "file://" + filepath.ToSlash(filepath.Join(trainedFolder(t), modelFolder, "report.html"))
	if dom := browser.DOM(t, report); strings.Count(dom, "<svg") != 3 || strings.Count(dom, "<img") != 0 {
		t.Errorf("%d drawings and %d pictures, want 3 and 0", strings.Count(dom, "<svg"), strings.Count(dom, "<img"))
	}
	shows(t, report)
}

// shows fails where the picture of a page is of few colours.
func shows(t *testing.T, page string) {
	t.Helper()
	if n := len(browser.Colours(browser.Picture(t, page, "1000,900", false))); n < 10 {
		t.Errorf("the picture of %s has %d colours", page, n)
	}
}
