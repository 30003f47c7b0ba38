package goroutine

import (
	"sync"
	"testing"
)

func TestID(t *testing.T) {
	if a, b := ID(), ID(); a != b || a == 0 {
		t.Errorf("one goroutine has the numbers %d and %d", a, b)
	}
	var mu sync.Mutex
	seen := map[uint64]bool{ID(): true}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			if seen[ID()] {
				t.Errorf("two goroutines have the number %d", ID())
			}
			seen[ID()] = true
		})
	}
	all.Wait()
}
