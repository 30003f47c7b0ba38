package browser

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// DOM returns the elements of a page after its scripts have run. The test is skipped if no Chromium
// is installed.
func DOM(t testing.TB, url string) string {
	t.Helper()
	return run(t, url, false, "--dump-dom")
}

// Picture returns a screenshot of a page in a window of the given size, in the light or dark colour
// scheme. The test is skipped if no Chromium is installed.
func Picture(t testing.TB, url, size string, dark bool) image.Image {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.png")
	run(t, url, dark, "--screenshot="+file, "--window-size="+size)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// Colours returns how often each colour occurs in a picture, sampling every third row and column.
func Colours(img image.Image) map[[3]uint8]int {
	b, colours := img.Bounds(), map[[3]uint8]int{}
	for y := b.Min.Y; y < b.Max.Y; y += 3 {
		for x := b.Min.X; x < b.Max.X; x += 3 {
			red, green, blue, _ := img.At(x, y).RGBA()
			colours[[3]uint8{uint8(red >> 8), uint8(green >> 8), uint8(blue >> 8)}]++
		}
	}
	return colours
}

func run(t testing.TB, url string, dark bool, more ...string) string {
	t.Helper()
	program, err := find()
	if err != nil {
		t.Skip(err)
	}
	const most = 2 * time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), most)
	defer cancel()
	args := append(append(flags(t, dark), "--virtual-time-budget=5000"), more...)
	cmd := exec.CommandContext(ctx, program, append(args, url)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	return out.String()
}

// flags returns the flags of a headless Chromium with a profile of its own.
func flags(t testing.TB, dark bool) []string {
	t.Helper()
	dir, err := os.MkdirTemp("", "browser")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 10 { // its last process may still be writing; give up after a few attempts
			if os.RemoveAll(dir) == nil {
				return
			}
		}
	})
	scheme := "1"
	if dark {
		scheme = "0"
	}
	return []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--hide-scrollbars",
		"--user-data-dir=" + dir, "--blink-settings=preferredColorScheme=" + scheme,
	}
}

// find returns the path of a Chromium executable.
func find() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			return p, nil
		}
	}
	return "", errors.New("no Chromium is installed")
}
