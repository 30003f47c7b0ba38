package memory

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

func TestBudgetFollowsTheLimits(t *testing.T) {
	if n := hard(); runtime.GOOS == "linux" && (n < 1<<24 || n == math.MaxInt64) {
		t.Errorf("the memory of the process is %d", n)
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 20))
	if n := Budget(); n != 1<<20 {
		t.Errorf("with a limit of 1 MiB the budget is %d", n)
	}
}

func TestTimesAndSizes(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want string
	}{
		{Times(3, 0, math.MaxInt64), "0 bytes"},
		{Times(200_000, 200_000, 8), "320 GB"},
		{Times(1<<40, 1<<40), "9.22 EB"},
		{999, "999 bytes"},
		{999_600, "1 MB"},
		{1 << 30, "1.07 GB"},
	} {
		if got := Size(c.n); got != c.want {
			t.Errorf("%d: got %s, want %s", c.n, got, c.want)
		}
	}
}
