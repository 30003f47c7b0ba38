package memory

import (
	"bytes"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// limits returns the memory of the machine, the limits of the control groups of the process, and
// the limit of its address space.
func limits() []int64 {
	var out []int64
	if data, err := os.ReadFile("/proc/meminfo"); err == nil {
		out = append(out, total(data))
	}
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &r); err == nil && uint64(r.Cur) < math.MaxInt64 {
		out = append(out, int64(r.Cur))
	}
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for _, file := range groupFiles(string(groups)) {
		data, err := os.ReadFile(file)
		if n, bad := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil && bad == nil {
			out = append(out, n)
		}
	}
	return out
}

// total returns the value of the line MemTotal in bytes.
func total(meminfo []byte) int64 {
	for line := range bytes.Lines(meminfo) {
		f := bytes.Fields(line)
		if len(f) == 3 && string(f[0]) == "MemTotal:" {
			if n, err := strconv.ParseInt(string(f[1]), 10, 64); err == nil && n < math.MaxInt64/1024 {
				return n * 1024
			}
		}
	}
	return 0
}

// groupFiles returns the files with the limits of the control groups, version 2 and 1, that
// /proc/self/cgroup lists, and of their parent groups.
func groupFiles(groups string) []string {
	var out []string
	for line := range strings.Lines(groups) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		root, name := "/sys/fs/cgroup", "memory.max"
		if f[1] != "" {
			if !strings.Contains(","+f[1]+",", ",memory,") {
				continue
			}
			root, name = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		for dir := path.Clean("/" + f[2]); ; dir = path.Dir(dir) {
			out = append(out, path.Join(root, dir, name))
			if dir == "/" {
				break
			}
		}
	}
	return out
}
