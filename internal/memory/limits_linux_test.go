package memory

import (
	"slices"
	"testing"
)

func TestFilesOfControlGroups(t *testing.T) {
	got := groupFiles("12:cpu,cpuacct:/a\n4:memory:/docker/x\n0::/user.slice/b\n")
	want := []string{
		"/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.limit_in_bytes",
		"/sys/fs/cgroup/user.slice/b/memory.max", "/sys/fs/cgroup/user.slice/memory.max", "/sys/fs/cgroup/memory.max",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if n := total([]byte("MemFree: 1 kB\nMemTotal:       16384 kB\n")); n != 16<<20 {
		t.Errorf("the memory of the machine is %d", n)
	}
}
