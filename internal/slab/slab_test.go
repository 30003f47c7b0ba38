package slab_test

import (
	"slices"
	"testing"

	"github.com/tenonml/tenon/internal/slab"
)

// TestTake checks that pieces do not overlap, are zero, and have no room behind them.
func TestTake(t *testing.T) {
	var s slab.Slab[int]
	if s.Take(0) != nil || s.Copy(nil) != nil {
		t.Error("none is something")
	}
	var all [][]int
	for i := range 2000 {
		p := s.Take(i%7 + i/100)
		if len(p) != cap(p) || slices.Max(append(p, 0)) != 0 {
			t.Fatalf("piece %d is %v of %d", i, p, cap(p))
		}
		for k := range p {
			p[k] = i
		}
		all = append(all, p)
	}
	for i, p := range all {
		for _, x := range p {
			if x != i {
				t.Fatalf("piece %d holds %d", i, x)
			}
		}
	}
	if c := s.Copy([]int{1, 2}); !slices.Equal(c, []int{1, 2}) || cap(c) != 2 {
		t.Errorf("a copy is %v", c)
	}
	if n := testing.AllocsPerRun(1000, func() { *s.New() = 1 }); n > 0.1 {
		t.Errorf("a value takes %v allocations", n)
	}
}
