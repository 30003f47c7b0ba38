package attention

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tenonml/tenon/internal/kernel/gemm"
)

// Scores with a small bound and scores without one give what the definition says, and the
// logarithms of the sums too.
func TestBounds(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 8))
		for _, s := range [][4]int{{1, boundedKeys, 8, 8}, {30, boundedKeys + 3, 16, 5}, {130, 600, 20, 9}, {5, boundedKeys - 1, 8, 8}} {
			for _, scale := range []float32{0, 0.01, 0.5, 3, -2} {
				t.Run(fmt.Sprint(s, scale), func(t *testing.T) {
					p := build(rng, s[0], s[1], s[2], s[3], 2)
					p.Scale = scale
					Forward(p)
					out, logSum, _, _, _ := reference(p, make([]float32, len(p.Out)))
					near(t, "out", p.Out, out, p.Width, p.OutRow)
					near(t, "log sum", p.LogSum, logSum, 1, 1)
				})
			}
		}
	})
}

// Where the bound is, and that numbers which are none have none.
func TestBounded(t *testing.T) {
	const rows, keys = 3, 70
	for _, c := range []struct {
		query, key float32
		want       bool
	}{
		{1, 1, true}, {2.4, 1, true}, {2.5, 1, false}, {1e20, 1, false}, {1e30, 1e30, false}, {0, 1e15, true}, {0, 1e30, false},
		{1, float32(math.Inf(1)), false}, {float32(math.NaN()), 1, false}, {1, float32(math.NaN()), false},
	} {
		p := Params[float32]{Queries: rows, Keys: keys, Depth: 9, Width: 1, QRow: 9, KRow: 9, VRow: 1, OutRow: 1, Scale: 1}
		p.Q, p.K, p.V, p.Out = make([]float32, 9*rows), make([]float32, 9*keys), make([]float32, keys), make([]float32, rows)
		for i := range 9 {
			p.Q[9+i], p.K[9*40+i] = c.query, c.key
		}
		eachFamily(t, func(t *testing.T) {
			s := &scratch{}
			s.room(rows, rowStride(keys), false)
			s.takeKeys(&p)
			if !gemm.HasPowers(&s.kt) {
				t.Skip("powers cannot be computed with products here")
			}
			if got := s.bounded(&p, 0, rows, rowStride(keys), 0); got != c.want {
				t.Errorf("queries of %v and keys of %v: bounded is %v, want %v", c.query, c.key, got, c.want)
			}
		})
	}
}
