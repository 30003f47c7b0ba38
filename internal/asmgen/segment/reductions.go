package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

type instruction = func(...Op)

// A reduction combines the elements of a row.
type reduction struct {
	name    string
	doc     string
	combine func(m vec.Machine, a vec.V, b any) vec.V
	into    [4]instruction          // combine as one instruction, by element type
	fill    func(m vec.Machine) any // what stands behind the end of a row, if not zeros
	ordered bool                    // what holds NaN is left to the caller

	// How the results follow from what the rows were reduced to: they are that if not said
	// otherwise. A second pass comes behind it.
	last   func(m vec.Machine, total vec.V, splits gp) vec.V
	second pass
}

// A pass is what is done to the rows of a batch once more, with the result of each.
type pass int

const (
	none    pass = iota
	locate       // look for the first element that is the result
	squares      // add up the squared distances from the result
)

var (
	sum  = reduction{name: "sum", doc: "sums", combine: vec.Machine.Add, into: [4]instruction{VADDPS, VADDPD, VPADDD, VPADDQ}}
	prod = reduction{name: "prod", doc: "products", combine: vec.Machine.Mul, into: [4]instruction{VMULPS, VMULPD, VPMULLD, VPMULLQ},
		fill: func(vec.Machine) any { return vec.Const(1) }}
	greatest = reduction{name: "max", doc: "largest elements", combine: vec.Machine.Max, into: [4]instruction{nil, nil, VPMAXSD, VPMAXSQ}, ordered: true, fill: lowest}
	least    = reduction{name: "min", doc: "smallest elements", combine: vec.Machine.Min, into: [4]instruction{nil, nil, VPMINSD, VPMINSQ}, ordered: true, fill: highest}

	mean = sum.then("mean", "means", average)
	// Rows of exponentials are multiplied by their inverses.
	inverses = sum.then("inverse", "inverses of the sums", func(m vec.Machine, total vec.V, _ gp) vec.V {
		return m.Div(m.Load(vec.Const(1)), total)
	})
	// Variances are these over the lengths.
	distances = sum.then("distances", "sums of squared distances from the mean", average).again(squares)
	argMax    = greatest.then("argMax", "positions of the first largest elements", nil).again(locate)
	argMin    = least.then("argMin", "positions of the first smallest elements", nil).again(locate)
)

// then returns a reduction that goes on from the results of r.
func (r reduction) then(name, doc string, last func(m vec.Machine, total vec.V, splits gp) vec.V) reduction {
	r.name, r.doc, r.last = name, doc, last
	return r
}

// again returns r with a second pass.
func (r reduction) again(second pass) reduction {
	r.second = second
	return r
}

func average(m vec.Machine, total vec.V, splits gp) vec.V { return m.Div(total, lengths(m, splits)) }

// lowest is the identity of max.
func lowest(m vec.Machine) any {
	if m.Elem.IsFloat() {
		return vec.Const(math.Inf(-1))
	}
	return m.SignBit()
}

// highest is the identity of min.
func highest(m vec.Machine) any {
	if m.Elem.IsFloat() {
		return vec.Const(math.Inf(1))
	}
	return ^m.SignBit()
}

// reductions writes the reductions of rows of elements of m.
func reductions(m vec.Machine) {
	for _, r := range []reduction{sum, prod, greatest, least, argMax, argMin} {
		reduce(m, m.Elem, r)
	}
	// Means of integers, and distances of all, are float64, which they are added up in.
	wide := m.As(vec.Float64)
	if m.Elem.IsFloat() {
		reduce(m, m.Elem, mean)
		reduce(m, m.Elem, inverses)
		reduce(wide, m.Elem, distances)
	} else if m.Wide || m.Elem != vec.Int64 { // which AVX2 does not convert
		reduce(wide, m.Elem, mean)
		reduce(wide, m.Elem, distances)
	}
}
