package jsonl_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/jsonl"
)

// One record is read as a whole: its text, once where its size is known, and its columns, not
// more than two and a half times while they grow. The test starts a process for each, whose
// heap says what there was at once.
func TestOneBigRecordTakesItsTextAndColumns(t *testing.T) {
	if name := os.Getenv("JSONL_BIG_RECORD"); name != "" {
		before := peak(t)
		v := tenon.Must(jsonl.ReadFile(name, jsonl.Options{Format: jsonl.Document}))
		os.Stdout.WriteString("peak " + strconv.Itoa(peak(t)-before) + "\n")
		runtime.KeepAlive(v)
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells what a process held at once")
	}
	if testing.Short() || underRaceDetector() {
		t.Skip("it reads 60 MB of text; the race detector holds shadow memory of its own")
	}
	const n = 2_000_000
	var numbers, fractions, words bytes.Buffer
	for i := range n {
		sep := ","
		if i == 0 {
			sep = ""
		}
		numbers.WriteString(sep + strconv.Itoa(i*7))
		fractions.WriteString(sep + strconv.FormatFloat(float64(i)/3, 'g', 17, 64))
		if i < n/8 {
			words.WriteString("a word, and another one, of which there are many. ")
		}
	}
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text    string
		columns int
	}{
		"integers":   {`{"id":1,"v":[` + numbers.String() + `]}`, 8 * n},
		"fractions":  {`{"v":[` + fractions.String() + `],"id":1}`, 8 * n},
		"one string": {`{"v":"` + words.String() + `"}`, words.Len()},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "-test.run", "^TestOneBigRecordTakesItsTextAndColumns$")
		cmd.Env = append(os.Environ(), "JSONL_BIG_RECORD="+path, "GOGC=5", "GOMAXPROCS=1")
		out, err := cmd.CombinedOutput()
		_, after, ok := strings.Cut(string(out), "peak ")
		digits, _, _ := strings.Cut(after, "\n")
		peak, bad := strconv.Atoi(digits)
		if err != nil || !ok || bad != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if most := len(c.text) + 5*c.columns/2 + 8<<20; peak > most {
			t.Errorf("%s: %d bytes for a text of %d and columns of %d, want %d at most", name, peak, len(c.text), c.columns, most)
		}
		t.Logf("%s: text %d, columns %d, peak %d", name, len(c.text), c.columns, peak)
	}
}

// underRaceDetector reports whether the test was built with -race.
func underRaceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// peak returns the most memory that the process has held.
func peak(t *testing.T) int {
	b, err := os.ReadFile("/proc/self/status")
	_, after, ok := strings.Cut(string(b), "VmHWM:")
	digits, _, _ := strings.Cut(strings.TrimSpace(after), " kB")
	n, bad := strconv.Atoi(digits)
	if err != nil || !ok || bad != nil {
		t.Fatal(err, bad)
	}
	return n << 10
}
