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

// fileOf is the variable of the environment that tells a started process its file.
const fileOf = "TENON_MEMTEST_FILE"

// Measured reads a file in the process that [Peak] started, says what it held, and reports true: the test
// is over then. Elsewhere it does nothing. What read returns is held to the end.
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

// Skip leaves a test out where memory cannot be told: on other systems than Linux, in short runs, under the race
// detector, which holds shadow memory of its own, and where released buffers are kept to find their use.
func Skip(t *testing.T) {
	if arena.Debugging() {
		t.Skip("memory that is given back is kept aside")
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells what a process held at once")
	}
	info, ok := debug.ReadBuildInfo()
	if testing.Short() || ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("it reads a large file; the race detector holds shadow memory of its own")
	}
}

// Peak starts the test again in a process that reads a file, and returns the most bytes that it held at once.
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

// held returns the most memory that the process has held.
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
