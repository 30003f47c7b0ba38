//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package memory

import "golang.org/x/sys/unix"

// limits returns the memory of the machine.
func limits() []int64 {
	for _, name := range []string{"hw.memsize", "hw.physmem64", "hw.physmem"} {
		if n, err := unix.SysctlUint64(name); err == nil && n < 1<<62 {
			return []int64{int64(n)}
		}
	}
	return nil
}
