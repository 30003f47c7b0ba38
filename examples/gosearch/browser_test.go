package main

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenonml/tenon/examples/gosearch/internal/store"
)

// browser runs a headless browser on a page and returns what it prints.
func browser(t *testing.T, page string, flags ...string) string {
	t.Helper()
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			program = p
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium is installed")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args := append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
		"--user-data-dir=" + t.TempDir(), "--window-size=1000,900", "--virtual-time-budget=5000",
	}, flags...)
	cmd := exec.CommandContext(ctx, program, append(args, page)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	return out.String()
}

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
	dom := browser(t, server.URL+"/?q="+url.QueryEscape("parses the duration zzyzx"), "--dump-dom")
	if n := strings.Count(dom, `class="package"`); n != len(answers) {
		t.Errorf("%d answers are shown, want %d", n, len(answers))
	}
	for _, want := range []string{answers[0].Signature, fmt.Sprintf(":%d</div>", answers[0].Line), "not known: zzyzx"} {
		if !strings.Contains(dom, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	if dom := browser(t, server.URL+"/?q=zzyzx", "--dump-dom"); !strings.Contains(dom, "none of the words is known: zzyzx") || strings.Contains(dom, `class="package"`) {
		t.Error("the page does not say that no word is known")
	}
	file := filepath.Join(t.TempDir(), "page.png")
	browser(t, server.URL+"/?q="+url.QueryEscape("sorts the slice"), "--screenshot="+file)
	shows(t, file)
}

// The report in a real browser.
func TestReportInBrowser(t *testing.T) {
	report := "file://" + filepath.ToSlash(filepath.Join(trainedFolder(t), modelFolder, "report.html"))
	if dom := browser(t, report, "--dump-dom"); strings.Count(dom, "<svg") != 1 || strings.Count(dom, "<img") != 3 {
		t.Errorf("%d drawings and %d plots, want 1 and 3", strings.Count(dom, "<svg"), strings.Count(dom, "<img"))
	}
	file := filepath.Join(t.TempDir(), "report.png")
	browser(t, report, "--screenshot="+file)
	shows(t, file)
}

// shows fails where a picture is of one colour.
func shows(t *testing.T, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	b, colours := img.Bounds(), map[string]int{}
	for y := b.Min.Y; y < b.Max.Y; y += 3 {
		for x := b.Min.X; x < b.Max.X; x += 3 {
			colours[fmt.Sprint(img.At(x, y))]++
		}
	}
	if len(colours) < 10 {
		t.Errorf("the picture %v has %d colours", b, len(colours))
	}
}
