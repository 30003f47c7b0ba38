package memtest

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tenonml/tenon/internal/arena"
)

// fileOf is the environment variable with which the started process gets the name of its file.
const fileOf = "TENON_MEMTEST_FILE"

// Measured does nothing except in a process that [Peak] has started. There it reads a file, reports the
// memory held, and returns true, which means that the test is over. The result of read is kept alive to
// the end.
func Measured(t *testing.T, read func(name string) any) bool {
	name := os.Getenv(fileOf)
	if name == "" {
		return false
	}
	before := held(t)
	v := read(name)
	os.Stdout.WriteString("peak " + strconv.Itoa(held(t)-before) + "\n")
	runtime.KeepAlive(v)
	return true
}

// Skip skips a test if memory cannot be measured: on systems other than Linux, in short runs, under the race
// detector, which allocates shadow memory, and if released buffers are quarantined to detect their use.
func Skip(t *testing.T) {
	if arena.Debugging() {
		t.Skip("released memory is quarantined")
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux reports the peak memory of a process")
	}
	info, ok := debug.ReadBuildInfo()
	if testing.Short() || ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("it reads a large file, and the race detector allocates shadow memory")
	}
}

// Peak starts the test again in a process that reads a file, and returns the most bytes that it held at any
// time.
func Peak(t *testing.T, name string) int {
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), fileOf+"="+name, "GOGC=5", "GOMAXPROCS=1")
	out, err := cmd.CombinedOutput()
	_, after, ok := strings.Cut(string(out), "peak ")
	digits, _, _ := strings.Cut(after, "\n")
	peak, bad := strconv.Atoi(digits)
	if err != nil || !ok || bad != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return peak
}

// held returns the peak memory of the process.
func held(t *testing.T) int {
	b, err := os.ReadFile("/proc/self/status")
	_, after, ok := strings.Cut(string(b), "VmHWM:")
	digits, _, _ := strings.Cut(strings.TrimSpace(after), " kB")
	n, bad := strconv.Atoi(digits)
	if err != nil || !ok || bad != nil {
		t.Fatal(err, bad)
	}
	return n << 10
}
