package fused

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
)

// chainArrays are arrays of a test: what they hold, and for a number for each row the ends of rows.
type chainArrays[T float] struct {
	forms  []ArrayForm
	in     [][]T
	splits []int64
}

// reference runs steps one after the other, each by the loop of its own.
func (a *chainArrays[T]) reference(steps []ChainStep, n int) [][]T {
	values := make([][]T, len(steps))
	full := func(o int) []T {
		switch {
		case o < 0:
			return values[-1-o]
		case a.forms[o] == Single:
			x := make([]T, n)
			for i := range x {
				x[i] = a.in[o][0]
			}
			return x
		}
		return a.in[o]
	}
	for k, s := range steps {
		values[k] = make([]T, n)
		if s.Op == elementwise.None {
			for r, v := range a.in[s.Operands[0]] {
				for i := a.splits[r]; i < a.splits[r+1]; i++ {
					values[k][i] = v
				}
			}
			continue
		}
		if _, operands := codeOf(s.Op); operands == 1 {
			elementwise.Unary[T](s.Op)(values[k], full(s.Operands[0]))
		} else {
			elementwise.Binary[T](s.Op)(values[k], full(s.Operands[0]), full(s.Operands[1]))
		}
	}
	return values
}

// run runs steps as a chain, in several calls that end where rows may or may not, and returns what it
// writes to each array; offset moves results away from lines of the cache.
func (a *chainArrays[T]) run(t *testing.T, steps []ChainStep, n, offset int, past bool) map[int][]T {
	t.Helper()
	d := dtype.Of[T]()
	c := NewChain(d, steps, a.forms)
	if c == nil {
		t.Fatal("no chain")
	}
	var r ChainRun
	r.Start(c)
	for i, x := range a.in {
		switch p := unsafe.Pointer(unsafe.SliceData(x)); a.forms[i] {
		case Single:
			r.SetSingle(i, p)
		case PerRow:
			r.SetRows(i, uintptr(p), &a.splits[1:2][0])
		default:
			r.Set(i, uintptr(p))
		}
	}
	const guard = 100
	outs := map[int][]T{}
	for _, s := range steps {
		if s.Out < 0 {
			continue
		}
		out := make([]T, guard+offset+n+guard)
		for i := range out {
			out[i] = -77
		}
		outs[s.Out] = out
		at := uintptr(unsafe.Pointer(&out[guard+offset]))
		if past {
			r.Past(s.Out, at)
		} else {
			r.Set(s.Out, at)
		}
	}
	r.Run(0, n/3)
	r.Run(n/3, n/3)
	r.Run(n/3, n)
	for i, out := range outs {
		for k, v := range out {
			if (k < guard+offset || k >= guard+offset+n) && v != -77 {
				t.Fatalf("n = %d: array %d was written at %d", n, i, k-guard-offset)
			}
		}
		outs[i] = out[guard+offset:][:n]
	}
	return outs
}

func testChains[T float](t *testing.T) {
	if !HasChains(dtype.Of[T]()) {
		return // the steps run one by one
	}
	r := rand.New(rand.NewPCG(3, 5))
	odd := []T{0, T(math.Copysign(0, -1)), T(math.NaN()), T(math.Inf(1)), T(math.Inf(-1)), 1, -2.5, 1e-40, 3.5}
	values := func(n int) []T {
		x := make([]T, n)
		for i := range x {
			if x[i] = T(r.NormFloat64() * 3); r.IntN(9) == 0 {
				x[i] = odd[r.IntN(len(odd))]
			}
		}
		return x
	}
	splits := func(longest int) []int64 {
		s := []int64{0}
		for range 120 {
			s = append(s, s[len(s)-1]+int64(r.IntN(longest+1)*r.IntN(2)))
		}
		return s
	}
	for round := range 120 {
		a := &chainArrays[T]{splits: splits([]int{1, 7, 20, 40, 300}[round%5])}
		n := int(a.splits[len(a.splits)-1])
		for i := range 5 {
			f := []ArrayForm{PerElement, PerRow, Single, PerElement, PerRow}[i]
			a.forms = append(a.forms, f)
			a.in = append(a.in, values(map[ArrayForm]int{PerElement: n, PerRow: len(a.splits) - 1, Single: 1}[f]))
		}
		var steps []ChainStep
		inputs := len(a.forms)
		for k := range 1 + r.IntN(12) {
			s := ChainStep{Out: -1}
			if s.Op = chainOps[(round+k*5)%len(chainOps)]; r.IntN(5) == 0 {
				s.Op, s.Operands[0] = elementwise.None, 1+3*r.IntN(2)
			}
			for j := range s.Operands {
				switch pick := r.IntN(3); {
				case s.Op == elementwise.None:
				case pick == 0 || k == 0:
					s.Operands[j] = []int{0, 2, 3}[r.IntN(3)]
				case pick == 1:
					s.Operands[j] = -k // of the step before
				default:
					s.Operands[j] = -1 - r.IntN(k)
				}
			}
			steps = append(steps, s)
		}
		for k := range steps {
			if k == len(steps)-1 || r.IntN(5) == 0 {
				steps[k].Out = len(a.forms)
				a.forms = append(a.forms, PerElement)
			}
		}
		a.in = a.in[:inputs]
		want := a.reference(steps, n)
		for _, past := range []bool{false, true} {
			got := a.run(t, steps, n, r.IntN(20), past)
			for k, s := range steps {
				if s.Out < 0 {
					continue
				}
				for i, v := range got[s.Out] {
					if w := want[k][i]; math.Float64bits(float64(v)) != math.Float64bits(float64(w)) && (v == v || w == w) {
						t.Fatalf("%v: step %d, element %d of %d is %v, want %v", steps, k, i, n, v, w)
					}
				}
			}
		}
	}
}

// TestChain compares chains with the same functions one by one, bit for bit.
func TestChain(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		testChains[float32](t)
		testChains[float64](t)
	})
}

// A step for each function, on all lengths around those of steps.
func TestChainLengths(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		if !HasChains(dtype.Float32) {
			return
		}
		for _, op := range chainOps {
			for n := 0; n < 600; n += 1 + n/40 {
				a := &chainArrays[float32]{forms: []ArrayForm{PerElement, PerElement, PerElement}, in: [][]float32{make([]float32, n), make([]float32, n)}}
				for i := range n {
					a.in[0][i], a.in[1][i] = float32(i)*0.37-20, float32(i%7)-3
				}
				steps := []ChainStep{{Op: op, Operands: [2]int{0, 1}, Out: 2}}
				want, got := a.reference(steps, n)[0], a.run(t, steps, n, n%16, n%2 == 0)[2]
				for i := range want {
					if math.Float32bits(want[i]) != math.Float32bits(got[i]) && want[i] == want[i] {
						t.Fatalf("%v, n = %d: element %d is %v, want %v", op, n, i, got[i], want[i])
					}
				}
			}
		}
	})
}

func TestChainRefuses(t *testing.T) {
	if HasChains(dtype.Int32) || HasChains(dtype.Float16) || InChain(elementwise.Exp) || InChain(elementwise.None) || !InChain(elementwise.Relu) {
		t.Error("chains are of simple functions of float32 and float64")
	}
}

func BenchmarkChain(b *testing.B) {
	if !HasChains(dtype.Float32) {
		return
	}
	// relu(x·y + c) with a c for each row: in the first two caches, and from memory.
	for _, rows := range []int{400, 1 << 20} {
		splits := []int64{0}
		r := rand.New(rand.NewPCG(1, 1))
		for range rows {
			splits = append(splits, splits[len(splits)-1]+int64(r.IntN(21)))
		}
		n := int(splits[rows])
		x, y, c, out := make([]float32, n), make([]float32, n), make([]float32, rows), make([]float32, n)
		for i := range x {
			x[i], y[i], out[i] = 1, 2, 3 // memory that was never written is not there
		}
		steps := []ChainStep{{elementwise.None, [2]int{2}, -1}, {elementwise.Mul, [2]int{0, 1}, -1}, {elementwise.Add, [2]int{-2, -1}, -1}, {elementwise.Relu, [2]int{-3}, 3}}
		for _, full := range []bool{false, true} {
			forms := []ArrayForm{PerElement, PerElement, PerRow, PerElement}
			if full {
				steps, forms = []ChainStep{{elementwise.Mul, [2]int{0, 1}, -1}, {elementwise.Add, [2]int{-1, 0}, -1}, {elementwise.Relu, [2]int{-2}, 3}}, forms[:4]
			}
			chain := NewChain(dtype.Float32, steps, forms)
			var run ChainRun
			b.Run(fmt.Sprint(n, "/", full), func(b *testing.B) {
				b.SetBytes(int64(12 * n))
				for b.Loop() {
					run.Start(chain)
					run.Set(0, uintptr(unsafe.Pointer(&x[0])))
					run.Set(1, uintptr(unsafe.Pointer(&y[0])))
					run.SetRows(2, uintptr(unsafe.Pointer(&c[0])), &splits[1])
					if n > 1<<20 {
						run.Past(3, uintptr(unsafe.Pointer(&out[0])))
					} else {
						run.Set(3, uintptr(unsafe.Pointer(&out[0])))
					}
					run.Run(0, n)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
			})
		}
	}
}
