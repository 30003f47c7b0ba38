package named

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// network makes a search of tensors given by the numbers of their names.
func network(tensors [][]int, sizes []float64, keep ...int) *search {
	s := &search{ids: make([]id, len(sizes)), sizes: sizes, words: (len(sizes) + 63) / 64}
	s.keep = s.set()
	for _, k := range keep {
		s.keep.add(k)
	}
	for _, t := range tensors {
		set := s.set()
		for _, n := range t {
			set.add(n)
		}
		s.sets = append(s.sets, set)
	}
	return s
}

// costOf contracts sets of names in the order of pairs, by the definition.
func costOf(s *search, tensors [][]int, keep []int, pairs [][2]int) float64 {
	live := append([][]int(nil), tensors...)
	total := 0.0
	for _, p := range pairs {
		seen := map[int]bool{}
		for _, t := range p {
			for _, n := range live[t] {
				seen[n] = true
			}
			live[t] = nil
		}
		needed := map[int]bool{}
		for _, k := range keep {
			needed[k] = true
		}
		for _, t := range live {
			for _, n := range t {
				needed[n] = true
			}
		}
		c, summed := 1.0, false
		var out []int
		for n := range seen {
			c *= s.sizes[n]
			if needed[n] {
				out = append(out, n)
			} else {
				summed = true
			}
		}
		live = append(live, out)
		total += c * flopsPer(summed)
	}
	return total
}

func TestChainsAreContractedInTheBestOrder(t *testing.T) {
	for _, n := range []int{3, 10, 11, 20, 40, 80, 100} {
		r := rand.New(rand.NewPCG(uint64(n), 2))
		sizes := make([]float64, n+1)
		for i := range sizes {
			sizes[i] = float64(2 + r.IntN(60))
		}
		tensors := make([][]int, n)
		for i, at := range r.Perm(n) { // the operands need not stand in the order of the chain
			tensors[at] = []int{i, i + 1}
		}
		best := make([][]float64, n)
		for i := range best {
			best[i] = make([]float64, n)
		}
		for l := 1; l < n; l++ {
			for i := 0; i+l < n; i++ {
				best[i][i+l] = math.Inf(1)
				for m := i; m < i+l; m++ {
					best[i][i+l] = min(best[i][i+l], best[i][m]+best[m+1][i+l]+2*sizes[i]*sizes[m+1]*sizes[i+l+1])
				}
			}
		}
		s := network(tensors, sizes, 0, n)
		if got, want := costOf(s, tensors, []int{0, n}, s.pairs()), best[0][n-1]; got > 1.1*want {
			t.Errorf("chain of %d: %.4g operations, the best order has %.4g (%.2f times)", n, got, want, got/want)
		}
	}
}

// randomTree returns tensors that are joined to a tree by names, with one name more each that
// the result keeps now and then.
func randomTree(r *rand.Rand, n, size int) (tensors [][]int, sizes []float64, keep []int) {
	tensors = make([][]int, n)
	for i := 1; i < n; i++ {
		at := r.IntN(i)
		tensors[at], tensors[i] = append(tensors[at], len(sizes)), append(tensors[i], len(sizes))
		sizes = append(sizes, float64(2+r.IntN(size)))
	}
	for i := range tensors {
		if r.IntN(4) == 0 {
			tensors[i], keep = append(tensors[i], len(sizes)), append(keep, len(sizes))
			sizes = append(sizes, 2)
		}
	}
	return tensors, sizes, keep
}

func TestTreesAreContractedNearlyInTheBestOrder(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 3))
		tensors, sizes, keep := randomTree(r, 11+int(seed%2), 40)
		s := network(tensors, sizes, keep...)
		got, want := costOf(s, tensors, keep, s.pairs()), s.exact(s.leaves(), s.keep).cost
		if got > 1.1*want {
			t.Errorf("tree %d: %.4g operations, the best order has %.4g (%.2f times)", seed, got, want, got/want)
		}
	}
	for _, n := range []int{30, 60, 100} {
		r := rand.New(rand.NewPCG(uint64(n), 4))
		tensors, sizes, keep := randomTree(r, n, 12)
		s := network(tensors, sizes, keep...)
		got := costOf(s, tensors, keep, s.pairs())
		best := got
		for try := range 40 { // what a longer search finds
			best = min(best, s.improved(s.greedy(r, try+1)).cost)
		}
		if got > 1.1*best {
			t.Errorf("tree of %d: %.4g operations, a longer search finds %.4g (%.2f times)", n, got, best, got/best)
		}
	}
}

// orders.json has the operations of the best of several searches of opt_einsum for each
// contraction: chains, rings, trees, grids, random graphs, and names of three tensors.
func TestOrdersAreAsCheapAsThoseOfOptEinsum(t *testing.T) {
	var cases []struct {
		Kind       string
		Tensors    [][]int
		Sizes      []float64
		Keep       []int
		Method     string
		Operations float64
	}
	b, err := os.ReadFile("testdata/orders.json")
	if err == nil {
		err = json.Unmarshal(b, &cases)
	}
	if err != nil || len(cases) < 30 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, c := range cases {
		s := network(c.Tensors, c.Sizes, c.Keep...)
		got := costOf(s, c.Tensors, c.Keep, s.pairs())
		if got > 1.1*c.Operations {
			t.Errorf("%s of %d: %.4g operations, opt_einsum's %s takes %.4g (%.2f times)", c.Kind, len(c.Tensors), got, c.Method, c.Operations, got/c.Operations)
		}
		t.Logf("%s of %d: %.3f times the operations of %s", c.Kind, len(c.Tensors), got/c.Operations, c.Method)
	}
}

func BenchmarkOrder(b *testing.B) {
	for _, n := range []int{10, 20, 50, 100} {
		tensors, sizes, keep := randomTree(rand.New(rand.NewPCG(1, 4)), n, 12)
		s := network(tensors, sizes, keep...)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				s.pairs()
			}
		})
	}
}
