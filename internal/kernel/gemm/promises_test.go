package gemm

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenonml/tenon/internal/kernel/gctest"
)

// The bits of a result do not depend on the number of workers.
func TestWorkersDoNotChangeResults(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, s := range [][3]int{{200, 300, 700}, {1, 3000, 900}, {3000, 1, 900}, {900, 7, 400}, {7, 2500, 400}, {2600, 300, 64}} {
		for _, a := range []layout{rowMajor, colMajor} {
			for _, b := range []layout{rowMajor, colMajor} {
				p := build[float32](rng, s[0], s[1], s[2], a, b, rowMajor)
				run := func(procs int, serial bool) []float32 {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
					q := p
					q.Serial = serial
					q.C = make([]float32, len(p.C))
					Multiply(q)
					return q.C
				}
				one := run(1, false)
				for _, procs := range []int{2, 3, 8} {
					for _, serial := range []bool{false, true} {
						if !slices.Equal(one, run(procs, serial)) {
							t.Errorf("%v with strides A %d,%d B %d,%d: %d workers, serial %v, change the result", s, p.ARow, p.ACol, p.BRow, p.BCol, procs, serial)
						}
					}
				}
			}
		}
	}
}

// Each element of C is given to Then once.
func TestThenSeesEachElementOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for _, s := range [][3]int{{300, 301, 302}, {1, 900, 1200}} {
		p := build[float64](rng, s[0], s[1], s[2], rowMajor, rowMajor, gaps)
		var n atomic.Int64
		p.Then = func(c []float64) { n.Add(int64(len(c))) }
		Multiply(p)
		if want := int64(s[0] * s[1]); n.Load() != want {
			t.Errorf("%v: Then saw %d elements of %d", s, n.Load(), want)
		}
	}
}

// The collector can stop a goroutine that computes a long product.
func TestCollectionIsNotHeldUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	square := build[float32](rng, 1024, 1024, 1024, rowMajor, rowMajor, rowMajor)
	vector := build[float32](rng, 1, 4096, 8192, rowMajor, rowMajor, rowMajor)
	for name, p := range map[string]Params[float32]{"matrix": square, "vector": vector} {
		t.Run(name, func(t *testing.T) { gctest.StopsDuring(t, func() { Multiply(p) }) })
	}
}

// With one processor, goroutines that wait for it run while a long product is computed.
func TestLongProductsLetOthersRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	rng := rand.New(rand.NewPCG(19, 20))
	p := build[float32](rng, 512, 512, 512, rowMajor, rowMajor, rowMajor)
	var ran atomic.Bool
	go ran.Store(true)
	Multiply(p)
	if !ran.Load() {
		t.Error("another goroutine had to wait until the end")
	}
}

func TestBadDescriptionsPanic(t *testing.T) {
	good := Params[int32]{M: 2, N: 3, K: 4, A: make([]int32, 8), B: make([]int32, 12), C: make([]int32, 6),
		ARow: 4, ACol: 1, BRow: 3, BCol: 1, CRow: 3, CCol: 1, Alpha: 1}
	Multiply(good)
	for want, change := range map[string]func(p *Params[int32]){
		"A has 7 elements, its last index is 7":    func(p *Params[int32]) { p.A = p.A[:7] },
		"B has 12 elements, its last index is 14":  func(p *Params[int32]) { p.BRow = 4; p.BCol = 1 },
		"C has 6 elements, its last index is 6":    func(p *Params[int32]) { p.CRow = 4 },
		"product of sizes m=-1":                    func(p *Params[int32]) { p.M = -1 },
		"a dimension of A has size 2 and stride -": func(p *Params[int32]) { p.ARow = -4 },
		"reaches beyond all memory":                func(p *Params[int32]) { p.BRow = 1 << 62 },
		"share memory":                             func(p *Params[int32]) { p.CRow = 2 },
		"1 bias values for 3 columns":              func(p *Params[int32]) { p.Bias = make([]int32, 1) },
	} {
		p := good
		change(&p)
		if got := panicText(func() { Multiply(p) }); !strings.Contains(got, want) {
			t.Errorf("panic %q, want one with %q", got, want)
		}
	}
	if got := panicText(func() { Multiply(good, Batch{Size: 2, A: 0, B: 0, C: 0}) }); !strings.Contains(got, "same C") {
		t.Errorf("a batch with one C: %q", got)
	}
	if got := panicText(func() { Multiply(good, Batch{Size: 2, A: 1, B: 0, C: 6}) }); !strings.Contains(got, "A has 8 elements, its last index is 8") {
		t.Errorf("a batch beyond A: %q", got)
	}
}

func panicText(f func()) (text string) {
	defer func() { text, _ = recover().(string) }()
	f()
	return ""
}
