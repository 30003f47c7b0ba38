package parquetio_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// The row groups of a file are read one after another: what the process holds at once, text that is
// decompressed included, are two of them at most, however many the file has. The test starts a process
// that reads, whose heap says what there was.
func TestStreamsHoldTwoRowGroups(t *testing.T) {
	const (
		columns = 8
		rows    = 400_000
		group   = columns * rows * 8
	)
	if name := os.Getenv("PARQUET_STREAM"); name != "" {
		f := must(parquetio.Open(name, parquetio.ReadOptions{}))
		before := peak(t)
		for v, err := range f.All() {
			if err != nil {
				t.Fatal(err)
			}
			runtime.KeepAlive(v)
		}
		os.Stdout.WriteString("peak " + strconv.Itoa(peak(t)-before) + "\n")
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells what a process held at once")
	}
	if testing.Short() || underRaceDetector() {
		t.Skip("it writes and reads 77 MB; the race detector holds shadow memory of its own")
	}
	const groups = 3
	rng := rand.New(rand.NewPCG(1, 2))
	var fields []structured.Field
	for c := range columns {
		x := make([]float64, groups*rows)
		for i := range x {
			x[i] = rng.Float64()
		}
		v := tensor.Tensor(tensor.Of(x))
		if c == 0 { // each row one number
			v = must(ragged.FromUniformRowLength(v, 1, nil))
		}
		fields = append(fields, structured.Field{Name: "x" + strconv.Itoa(c), Value: v})
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := parquetio.WriteFile(path, must(structured.FromFields(fields, shape.Of(groups*rows), structured.Options{})), parquetio.WriteOptions{GroupRows: rows}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestStreamsHoldTwoRowGroups$")
	cmd.Env = append(os.Environ(), "PARQUET_STREAM="+path, "GOGC=5", "GOMAXPROCS=1")
	out, err := cmd.CombinedOutput()
	_, after, ok := strings.Cut(string(out), "peak ")
	digits, _, _ := strings.Cut(after, "\n")
	peak, bad := strconv.Atoi(digits)
	if err != nil || !ok || bad != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// What decompresses holds some memory of its own; a third row group would be more.
	if most := 2*group + 16<<20; peak > most {
		t.Errorf("%d bytes for row groups of %d, want %d at most", peak, group, most)
	}
	t.Logf("row groups of %d: peak %d", group, peak)
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
