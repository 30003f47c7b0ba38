package memory

import (
	"fmt"
	"math"
	"runtime/debug"
	"sync"
)

// Budget returns the default limit for a single result in bytes: half of the memory that the
// machine, the control group and the resource limits leave to the process, and at most the limit of
// the Go runtime (GOMEMLIMIT).
func Budget() int64 {
	return min(hard()/2, debug.SetMemoryLimit(-1))
}

// Total returns the memory available to the process in bytes, or math.MaxInt64 if it is unknown.
// Nothing larger can be allocated.
func Total() int64 { return hard() }

// hard is Total.
var hard = sync.OnceValue(func() int64 {
	least := int64(math.MaxInt64)
	for _, n := range limits() {
		if n > 0 {
			least = min(least, n)
		}
	}
	return least
})

// Times returns the product of nonnegative sizes, or math.MaxInt64 if it overflows.
func Times(sizes ...int64) int64 {
	n := int64(1)
	for _, s := range sizes {
		if s == 0 {
			return 0
		}
		if n > math.MaxInt64/s {
			n = math.MaxInt64
		} else {
			n *= s
		}
	}
	return n
}

// Size formats a number of bytes with three digits: "320 GB".
func Size(n int64) string {
	x, units := float64(n), []string{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"}
	i := 0
	for ; x >= 999.5 && i < len(units)-1; i++ {
		x /= 1000
	}
	return fmt.Sprintf("%.3g %s", x, units[i])
}
