package ragged_test

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// least prints the nanoseconds of f: the least of many short bursts, which hardly anything interrupts.
func least(name string, f func()) {
	n := 1
	for {
		s := time.Now()
		for range n {
			f()
		}
		if time.Since(s) > 100*time.Microsecond {
			break
		}
		n *= 2
	}
	var all []time.Duration
	for range 100 {
		s := time.Now()
		for range n {
			f()
		}
		all = append(all, time.Since(s))
	}
	slices.Sort(all)
	fmt.Printf("Benchmark%s %d %.1f ns/op %d B/op %d allocs/op\n", name, n, float64(all[5])/float64(n), 0, int(testing.AllocsPerRun(10, f)))
}
