// Package site tests the pages that Hugo makes of docs.
package site

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	id   = regexp.MustCompile(`id="?([^"\s>]+)`)
)

// TestSite makes the site, follows each link within it, and searches it in a Chromium without a server. A
// hugo in PATH saves building the one of go.mod.
func TestSite(t *testing.T) {
	out := t.TempDir()
	hugo := []string{"go", "tool", "hugo"}
	if path, err := exec.LookPath("hugo"); err == nil {
		hugo = []string{path}
	}
	cmd := exec.CommandContext(t.Context(), hugo[0], append(hugo[1:], "--destination", out, "--panicOnWarning")...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	pages, ids := map[string]string{}, map[string]map[string]bool{}
	err := filepath.WalkDir(out, func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".html") {
			return err
		}
		text, err := os.ReadFile(path)
		pages[path], ids[path] = string(text), map[string]bool{}
		for _, m := range id.FindAllStringSubmatch(string(text), -1) {
			ids[path][m[1]] = true
		}
		return err
	})
	if err != nil || len(pages) < 30 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for path, text := range pages {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			to, anchor, _ := strings.Cut(m[1], "#")
			file := path
			if to != "" {
				file = filepath.Join(filepath.Dir(path), filepath.FromSlash(to))
			}
			if _, err := os.Stat(file); err != nil || strings.HasPrefix(to, "/") {
				t.Errorf("%s: the link %s leads nowhere", path, m[1])
			} else if anchor != "" && !ids[file][anchor] {
				t.Errorf("%s: %s has no heading %s", path, to, anchor)
			}
		}
	}

	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("the search is tested in chromium")
	}
	url := "file://" + filepath.ToSlash(filepath.Join(out, "howto", "records.html")) + "?q=checkpoint+interrupt"
	dom, err := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom", url).Output()
	if err != nil || !strings.Contains(string(dom), `<a href="../howto/training.html#resume-after-an-interrupt">`) {
		t.Errorf("the search finds nothing: %v", err)
	}
}
