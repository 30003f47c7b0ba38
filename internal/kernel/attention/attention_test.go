package attention

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// reference computes the definition in float64 and returns the results, the
// logarithms of the sums, and the gradients for a cotangent of the results.
func reference[T float](p Params[T], dout []T) (out, logSum, dq, dk, dv []float64) {
	out, logSum = make([]float64, p.Queries*p.Width), make([]float64, p.Queries)
	dq, dk, dv = make([]float64, p.Queries*p.Depth), make([]float64, p.Keys*p.Depth), make([]float64, p.Keys*p.Width)
	for i := range p.Queries {
		prob := make([]float64, p.visible(i))
		most := math.Inf(-1)
		for j := range prob {
			for d := range p.Depth {
				prob[j] += float64(p.Q[i*p.QRow+d]) * float64(p.K[j*p.KRow+d]) * float64(p.Scale)
			}
			if p.Mask != nil && !p.sees(i, j) {
				prob[j] = math.Inf(-1)
			}
			most = max(most, prob[j])
		}
		if math.IsInf(most, -1) {
			logSum[i] = most
			continue
		}
		sum := 0.0
		for j := range prob {
			prob[j] = math.Exp(prob[j] - most)
			sum += prob[j]
		}
		logSum[i] = most + math.Log(sum)
		dp, mean := make([]float64, len(prob)), 0.0
		for j := range prob {
			prob[j] /= sum
			for w := range p.Width {
				v := float64(p.V[j*p.VRow+w])
				out[i*p.Width+w] += prob[j] * v
				dv[j*p.Width+w] += prob[j] * float64(dout[i*p.OutRow+w])
				dp[j] += v * float64(dout[i*p.OutRow+w])
			}
			mean += prob[j] * dp[j]
		}
		for j := range prob {
			ds := prob[j] * (dp[j] - mean) * float64(p.Scale)
			for d := range p.Depth {
				dq[i*p.Depth+d] += ds * float64(p.K[j*p.KRow+d])
				dk[j*p.Depth+d] += ds * float64(p.Q[i*p.QRow+d])
			}
		}
	}
	return out, logSum, dq, dk, dv
}

func random(rng *rand.Rand, n int) []float32 { return randomOf[float32](rng, n) }

func randomOf[T float](rng *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = 4 * (T(rng.Float32()) - 0.5)
	}
	return x
}

// build makes a head with random operands, whose rows are gap elements further
// apart than they are long.
func build(rng *rand.Rand, queries, keys, depth, width, gap int) Params[float32] {
	return buildOf[float32](rng, queries, keys, depth, width, gap)
}

func buildOf[T float](rng *rand.Rand, queries, keys, depth, width, gap int) Params[T] {
	p := Params[T]{Queries: queries, Keys: keys, Depth: depth, Width: width,
		QRow: depth + gap, KRow: depth + gap, VRow: width + gap, OutRow: width + gap, Scale: 0.7}
	p.Q, p.K, p.V = randomOf[T](rng, queries*p.QRow), randomOf[T](rng, keys*p.KRow), randomOf[T](rng, keys*p.VRow)
	p.Out, p.LogSum = make([]T, queries*p.OutRow), make([]T, queries)
	return p
}

// near compares rows of cols elements, stride apart, with the compact want.
func near[T float](t *testing.T, what string, got []T, want []float64, cols, stride int) {
	t.Helper()
	for n, w := range want {
		g := float64(got[n/max(cols, 1)*stride+n%max(cols, 1)])
		if g == w {
			continue
		}
		if d := math.Abs(g - w); !(d <= 2e-5*(1+math.Abs(w))) {
			t.Fatalf("%s[%d] is %v, want %v", what, n, g, w)
		}
	}
}

// eachFamily runs f with every family of row kernels that can run here.
func eachFamily(t *testing.T, f func(t *testing.T)) {
	for family := range table.Each() {
		t.Run(family.String(), f)
	}
}

func TestForwardAndBackward(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		for _, s := range [][4]int{
			{1, 1, 1, 1}, {3, 5, 4, 2}, {7, 17, 8, 9}, {33, 50, 16, 5}, {50, 33, 16, 8},
			{130, 130, 8, 8}, {3, 1100, 4, 3}, {140, 600, 4, 4}, {4, 0, 3, 2}, {5, 6, 0, 2},
		} {
			for _, causal := range []bool{false, true} {
				for _, masked := range []bool{false, true} {
					for _, gap := range []int{0, 3} {
						name := fmt.Sprint(s, causal, masked, gap)
						t.Run(name, func(t *testing.T) { forwardAndBackward[float32](t, s, causal, masked, gap) })
						t.Run(name+" float64", func(t *testing.T) { forwardAndBackward[float64](t, s, causal, masked, gap) })
					}
				}
			}
		}
	})
}

func forwardAndBackward[T float](t *testing.T, s [4]int, causal, masked bool, gap int) {
	rng := rand.New(rand.NewPCG(1, 2))
	p := buildOf[T](rng, s[0], s[1], s[2], s[3], gap)
	p.Causal = causal
	if masked { // the first query sees nothing, and no query the first 520 keys but one
		p.MaskRow, p.MaskCol = 2*s[1]+1, 2
		p.Mask = make([]bool, s[0]*p.MaskRow)
		for i := p.MaskRow; i < len(p.Mask); i++ {
			p.Mask[i] = rng.IntN(3) > 0 && (i%p.MaskRow > 2*520 || s[1] < 520 || i < 2*p.MaskRow)
		}
	}
	Forward(p)
	g := Gradients[T]{DOut: randomOf[T](rng, len(p.Out)), DQ: randomOf[T](rng, len(p.Q)), DK: randomOf[T](rng, len(p.K)), DV: randomOf[T](rng, len(p.V))}
	out, logSum, dq, dk, dv := reference(p, g.DOut)
	near(t, "out", p.Out, out, p.Width, p.OutRow)
	near(t, "log sum", p.LogSum, logSum, 1, 1)
	Backward(p, g)
	near(t, "dq", g.DQ, dq, p.Depth, p.QRow)
	near(t, "dk", g.DK, dk, p.Depth, p.KRow)
	near(t, "dv", g.DV, dv, p.Width, p.VRow)
}

// Heads that lie beside each other in a row, as after one projection for all of them.
func TestBatchOfInterleavedHeads(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const sequences, heads, length, depth = 2, 3, 20, 8
	const row = heads * depth
	p := Params[float32]{Queries: length, Keys: length, Depth: depth, Width: depth, QRow: row, KRow: row, VRow: row, OutRow: row, Scale: 0.3, Causal: true}
	n := sequences * length * row
	p.Q, p.K, p.V, p.Out = random(rng, n), random(rng, n), random(rng, n), make([]float32, n)
	p.LogSum = make([]float32, sequences*heads*length)
	batch := []Batch{
		{sequences, length * row, length * row, length * row, length * row, heads * length, 0},
		{heads, depth, depth, depth, depth, length, 0},
	}
	Forward(p, batch...)
	g := Gradients[float32]{DOut: random(rng, n), DQ: make([]float32, n), DK: make([]float32, n), DV: make([]float32, n)}
	Backward(p, g, batch...)
	for s := range sequences {
		for h := range heads {
			at := s*length*row + h*depth
			one := p
			one.Q, one.K, one.V = p.Q[at:], p.K[at:], p.V[at:]
			out, logSum, dq, dk, dv := reference(one, g.DOut[at:])
			near(t, "out", p.Out[at:], out, depth, row)
			near(t, "log sum", p.LogSum[(s*heads+h)*length:], logSum, 1, 1)
			near(t, "dq", g.DQ[at:], dq, depth, row)
			near(t, "dk", g.DK[at:], dk, depth, row)
			near(t, "dv", g.DV[at:], dv, depth, row)
		}
	}
}

func TestSpecialScores(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		for n := range 40 {
			x := make([]float32, n+1)
			for i := range x {
				x[i] = float32(i) - 100
			}
			x[n/2] = float32(math.Inf(-1))
			x[n] = 2
			if got := table.Now().maximum(x); got != 2 {
				t.Errorf("maximum of %d elements is %v, want 2", n+1, got)
			}
			sum := table.Now().exponentials(x, 2)
			want := 0.0
			for i, got := range x {
				w := math.Exp(float64(i) - 102)
				switch i {
				case n:
					w = 1
				case n / 2:
					w = 0
				}
				want += w
				if math.Abs(float64(got)-w) > 1e-6*w+1e-42 {
					t.Errorf("exponential %d of %d is %v, want %v", i, n+1, got, w)
				}
			}
			if math.Abs(float64(sum)-want) > 1e-6*want {
				t.Errorf("the sum of %d exponentials is %v, want %v", n+1, sum, want)
			}
		}
		rng := rand.New(rand.NewPCG(5, 6))
		p := build(rng, 3, 20, 4, 4, 0)
		p.Q[5] = float32(math.NaN())
		Forward(p)
		for i, v := range p.Out {
			if isNaN := v != v; isNaN != (i/4 == 1) {
				t.Errorf("a NaN in query 1: result %d is %v", i, v)
			}
		}
	})
}

func TestWorkersDoNotChangeResults(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	p := build(rng, 300, 700, 32, 40, 0)
	g := Gradients[float32]{DOut: random(rng, len(p.Out))}
	run := func(procs int) []float32 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		q := p
		q.Out = make([]float32, len(p.Out))
		Forward(q)
		q.Out = append([]float32(nil), q.Out...)
		g.DQ, g.DK, g.DV = make([]float32, len(p.Q)), make([]float32, len(p.K)), make([]float32, len(p.V))
		Backward(q, g)
		return slices.Concat(q.Out, g.DQ, g.DK, g.DV)
	}
	one := run(1)
	for _, procs := range []int{2, 5} {
		if !slices.Equal(one, run(procs)) {
			t.Errorf("%d workers change the result", procs)
		}
	}
}

// A product that is computed head by head is the same as one that is computed before.
func TestForwardOfProducts(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(11, 12))
		const sequences, heads, queries, keys, inner, depth, width = 2, 3, 140, 150, 20, 9, 17
		x, z := random(rng, sequences*queries*inner), random(rng, sequences*keys*inner)
		w := [3][]float32{random(rng, heads*inner*depth), random(rng, heads*depth*inner), random(rng, inner*heads*width)}
		of := [3]Product{
			{A: x, ARow: inner, ACol: 1, B: w[0], BRow: depth, BCol: 1, K: inner},
			{A: z, ARow: inner, ACol: 1, B: w[1], BRow: 1, BCol: inner, K: inner},        // transposed
			{A: z, ARow: 1, ACol: keys, B: w[2], BRow: heads * width, BCol: 1, K: inner}, // both with strides
		}
		batch := []ProductBatch{
			{Size: sequences, Out: heads * queries * width, A: [3]int{queries * inner, keys * inner, keys * inner}},
			{Size: heads, Out: queries * width, B: [3]int{inner * depth, inner * depth, width}},
		}
		for _, causal := range []bool{false, true} {
			p := Params[float32]{Queries: queries, Keys: keys, Depth: depth, Width: width, OutRow: width, Scale: 0.02, Causal: causal}
			p.Out = make([]float32, sequences*heads*queries*width)
			var first []float32
			for _, procs := range []int{1, 2, 16} { // the last are more than there are heads
				func() {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
					clear(p.Out)
					ForwardOf(p, of, batch...)
				}()
				if first == nil {
					first = slices.Clone(p.Out)
				} else if !slices.Equal(first, p.Out) {
					t.Errorf("causal %v: %d workers change the result", causal, procs)
				}
			}
			for s := range sequences {
				for h := range heads {
					one := p
					one.QRow, one.KRow, one.VRow = depth, depth, width
					one.Q, one.K, one.V = make([]float32, queries*depth), make([]float32, keys*depth), make([]float32, keys*width)
					for k, c := range [][]float32{one.Q, one.K, one.V} {
						cols := []int{depth, depth, width}[k]
						f := of[k]
						for i := range c {
							at := s*batch[0].A[k] + i/cols*f.ARow
							bt := h*batch[1].B[k] + i%cols*f.BCol
							for l := range f.K {
								c[i] += f.A[at+l*f.ACol] * f.B[bt+l*f.BRow]
							}
						}
					}
					out, _, _, _, _ := reference(one, make([]float32, queries*width))
					near(t, "out", p.Out[(s*heads+h)*queries*width:], out, width, width)
				}
			}
		}
	})
}

// Sums of exponentials times values do not overflow where weights times values do not.
func TestGreatValues(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		p := build(rand.New(rand.NewPCG(13, 14)), 3, 1000, 4, 5, 0)
		clear(p.Q)
		for i := range p.V {
			p.V[i] = 3e38
		}
		Forward(p)
		for i, v := range p.Out {
			if math.Abs(float64(v)-3e38) > 3e34 {
				t.Fatalf("the mean of a thousand times 3e38 is %v (element %d)", v, i)
			}
		}
	})
}

func TestBadDescriptionsPanic(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	good := build(rng, 4, 5, 3, 2, 0)
	for want, f := range map[string]func(p Params[float32]){
		"K has 14 elements, 15 are described":     func(p Params[float32]) { p.K = p.K[:14]; Forward(p) },
		"-1 queries":                              func(p Params[float32]) { p.Queries = -1; Forward(p) },
		"rows of V have 2 elements and start 1":   func(p Params[float32]) { p.VRow = 1; Forward(p) },
		"Q has 12 elements, 24 are described":     func(p Params[float32]) { Forward(p, Batch{2, 12, 0, 0, 0, 0, 0}) },
		"needs the LogSum":                        func(p Params[float32]) { p.LogSum, p.Keys = nil, 2000; Backward(p, Gradients[float32]{}) },
		"DQ has 0 elements, its operand has 12":   func(p Params[float32]) { Backward(p, Gradients[float32]{}) },
		"products for 1025 keys":                  func(p Params[float32]) { p.Keys = 1025; ForwardOf(p, [3]Product{}) },
		"heads that share an operand would write": func(p Params[float32]) { Backward(p, Gradients[float32]{}, Batch{Size: 2}) },
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, want) {
					t.Errorf("panic %q, want one with %q", got, want)
				}
			}()
			f(good)
		}()
	}
}

func BenchmarkAttention(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, heads := range []int{1, 32} {
		const n, d = 512, 64
		p := build(rng, n, n, d, d, 0)
		p.Q, p.K, p.V, p.Out = random(rng, heads*n*d), random(rng, heads*n*d), random(rng, heads*n*d), make([]float32, heads*n*d)
		p.LogSum = make([]float32, heads*n)
		batch := Batch{heads, n * d, n * d, n * d, n * d, n, 0}
		flops := 4 * float64(heads*n*n*d)
		b.Run(fmt.Sprintf("forward/%d", heads), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Forward(p, batch)
			}
			b.ReportMetric(flops*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
		g := Gradients[float32]{DOut: random(rng, len(p.Out)), DQ: make([]float32, len(p.Q)), DK: make([]float32, len(p.K)), DV: make([]float32, len(p.V))}
		b.Run(fmt.Sprintf("backward/%d", heads), func(b *testing.B) {
			for b.Loop() {
				Backward(p, g, batch)
			}
			b.ReportMetric(2.5*flops*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
}

// BenchmarkShort is rows of a few tokens with four heads beside each other.
func BenchmarkShort(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	const heads, d, row = 4, 32, 128
	for _, n := range []int{8, 25, 45} {
		p := build(rng, n, n, d, d, row-d)
		batch := Batch{heads, d, d, d, d, n, 0}
		b.Run(fmt.Sprintf("forward/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			p.LogSum = nil
			for b.Loop() {
				Forward(p, batch)
			}
		})
		g := Gradients[float32]{DOut: random(rng, len(p.Out)), DQ: make([]float32, len(p.Q)), DK: make([]float32, len(p.K)), DV: make([]float32, len(p.V))}
		b.Run(fmt.Sprintf("backward/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Backward(p, g, batch)
			}
		})
	}
}
