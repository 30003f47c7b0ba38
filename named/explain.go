package named

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// An Explanation describes how tensors are contracted.
type Explanation struct {
	Steps []ContractStep
	FLOPs float64 // multiplications and additions of all steps
	Naive float64 // those of a single loop over all dimensions, for comparison
	Bytes float64 // bytes read and written by all steps
}

// A ContractStep is the contraction of two tensors.
type ContractStep struct {
	A, B  string // the tensors in the order in which their dimensions are stored: "{Seq:8 Rep:64}"
	Out   string
	Over  string // the names that are summed over
	FLOPs float64
	Bytes float64

	// Product describes the matrix products of the step; nil if it is an elementwise product, or
	// its sizes are not known.
	Product *ops.Product
}

// Explain describes what [Contract] does with operands, without doing it: the order of the pairs,
// the layouts of intermediate results, the matrix products and their cost. For ragged dimensions it
// counts the actual elements.
//
//	fmt.Println(named.Explain[Rep](x, w))
func (d Dims) Explain(operands ...tenon.Value) Explanation {
	const fn = "named.Explain"
	dims := d.group()
	ts := make([]*Tensor, len(operands))
	all := none
	for i, x := range operands {
		ts[i] = tensorOf(fn, x)
		all = all.and(ts[i].spec.names)
	}
	tenon.Throw(errAlone(fn, several(ts), dims))
	checkSizes(over(fn, dims), ts)
	live := make([]sketch, 0, 2*len(ts))
	for _, t := range ts {
		live = append(live, sketchOf(t))
	}
	e := Explanation{Naive: float64(max(len(ts)-1, 1)) + flopsPer(len(dims.ids) > 0) - 1}
	for _, n := range all.ids {
		e.Naive *= sizeIn(live, n)
	}
	if len(ts) < 2 {
		return e
	}
	steps := []pairStep{{0, 1, dims}}
	if len(ts) > 2 {
		steps = orderFor(ts, dims).steps
	}
	for _, s := range steps {
		step, out := explainStep(live[s.a], live[s.b], s.sum)
		e.Steps = append(e.Steps, step)
		e.FLOPs += step.FLOPs
		e.Bytes += step.Bytes
		live = append(live, out)
	}
	return e
}

// A sketch is a tensor without elements: names, sizes, strides, and bytes per element.
type sketch struct {
	names   *layout
	dims    []int
	strides []int
	bytes   int
	outer   *layout // the partitioned dimensions of a ragged tensor, which come first
	rows    int     // number of rows of its flat values; -1 if it is not known
}

func sketchOf(t *Tensor) sketch {
	s := sketch{names: t.spec.names, dims: t.data.Shape().Dims(), bytes: t.DType().Size()}
	if x, ok := t.data.(*tensor.Dense); ok {
		s.strides = x.Strides()
		return s
	}
	s.strides = rowMajor(s.dims)
	if x, ok := ragged.As(t.data); ok {
		s.outer, s.rows = t.outer(), x.FlatValues().Shape().Dim(0)
	}
	return s
}

// packed returns the sketch of the flat values.
func (s sketch) packed() sketch {
	k := len(s.outer.ids)
	dims := append([]int{s.rows}, s.dims[k:]...)
	return sketch{names: layoutOf(append([]id{packedID}, s.names.ids[k:]...)), dims: dims, strides: rowMajor(dims), bytes: s.bytes}
}

// unpacked is the inverse of packed for a sketch derived from the flat values.
func (s sketch) unpacked(flat sketch) sketch {
	out := sketch{bytes: flat.bytes, outer: s.outer, rows: s.rows}
	k := len(s.outer.ids)
	ids, dims := slices.Clone(s.outer.ids), slices.Clone(s.dims[:k])
	for i, n := range flat.names.ids {
		if n != packedID {
			ids, dims = append(ids, n), append(dims, flat.dims[i])
		}
	}
	out.names, out.dims, out.strides = layoutOf(ids), dims, rowMajor(dims)
	return out
}

func rowMajor(dims []int) []int {
	out := make([]int, len(dims))
	n := 1
	for i := len(dims) - 1; i >= 0; i-- {
		out[i], n = n, n*max(dims[i], 1)
	}
	return out
}

func (s sketch) size(n id) float64 {
	if at := s.names.index(n); at >= 0 && s.dims[at] >= 0 {
		return float64(s.dims[at])
	} else if at == 1 && s.outer != nil && len(s.outer.ids) == 2 && s.rows >= 0 && s.dims[0] > 0 {
		return float64(s.rows) / float64(s.dims[0]) // on average
	} else if at >= 0 {
		return unknownSize
	}
	return -1
}

func sizeIn(ss []sketch, n id) float64 {
	for _, s := range ss {
		if k := s.size(n); k >= 0 {
			return k
		}
	}
	return 1
}

func (s sketch) elements() float64 {
	v := 1.0
	for _, n := range s.names.ids {
		v *= s.size(n)
	}
	return v
}

func (s sketch) String() string {
	out := make([]string, len(s.dims))
	for i, n := range s.names.ids {
		if out[i] = fmt.Sprintf("%s:%d", s.names.text(n), s.dims[i]); s.dims[i] < 0 {
			out[i] = s.names.text(n) + ":?"
		}
		if s.outer != nil && i > 0 && i < len(s.outer.ids) && s.dims[i] < 0 {
			out[i] = s.names.text(n) + "~"
		}
	}
	return "{" + strings.Join(out, " ") + "}"
}

func explainStep(a, b sketch, sum *layout) (ContractStep, sketch) {
	x, y, base := a, b, a
	switch {
	case a.outer != nil && len(sum.both(a.outer).ids) == 0 && (b.outer == a.outer || b.outer == nil && len(b.names.both(a.outer).ids) == 0):
		if x = a.packed(); b.outer != nil {
			y = b.packed()
		}
	case a.outer == nil && b.outer != nil && len(sum.both(b.outer).ids) == 0 && len(a.names.both(b.outer).ids) == 0:
		y, base = b.packed(), b
	default:
		return explainPair(a, b, sum)
	}
	step, out := explainPair(x, y, sum)
	out = base.unpacked(out)
	step.A, step.B, step.Out = a.String(), b.String(), out.String()
	return step, out
}

// explainPair is explainStep for tensors that are contracted in the order in
// which they are stored.
func explainPair(a, b sketch, sum *layout) (ContractStep, sketch) {
	c := tenon.Must(newContraction(a.names, b.names, sum))
	step := ContractStep{A: a.String(), B: b.String(), Over: sum.String(), FLOPs: flopsPer(len(sum.ids) > 0)}
	for _, n := range a.names.and(b.names).ids {
		step.FLOPs *= sizeIn([]sketch{a, b}, n)
	}
	out := sketch{names: c.out, bytes: a.bytes}
	for _, n := range c.out.ids {
		k := -1
		for _, s := range []sketch{a, b} {
			if at := s.names.index(n); at >= 0 && s.dims[at] >= 0 {
				k = s.dims[at]
			}
		}
		out.dims = append(out.dims, k)
	}
	out.strides = rowMajor(out.dims)
	step.Out = out.String()
	step.Bytes = a.elements()*float64(a.bytes) + b.elements()*float64(b.bytes) + out.elements()*float64(out.bytes)
	if c.product != nil && slices.Min(append(a.dims, 0)) >= 0 && slices.Min(append(b.dims, 0)) >= 0 {
		p := c.product.Plan(a.dims, a.strides, b.dims, b.strides)
		step.Product = &p
	}
	return step, out
}

// String returns a line for each step, and the totals:
//
//  1. {Seq:8 Rep:64} · {Rep:64 Kq:16} over Rep → {Seq:8 Kq:16}
//     1 product of 8×64 and 64×16, 16.4 kFLOP, 6.66 kB
//     16.4 kFLOP, 6.66 kB
func (e Explanation) String() string {
	var b strings.Builder
	for i, s := range e.Steps {
		fmt.Fprintf(&b, "%d. %s · %s", i+1, s.A, s.B)
		if s.Over != "" {
			fmt.Fprintf(&b, " over %s", s.Over)
		}
		fmt.Fprintf(&b, " → %s\n   ", s.Out)
		if p := s.Product; p != nil {
			word := "products"
			if p.Batch == 1 {
				word = "product"
			}
			fmt.Fprintf(&b, "%d %s of %d×%d and %d×%d", p.Batch, word, p.M, p.K, p.K, p.N)
			switch {
			case p.CopiesA:
				b.WriteString(", copies the first")
			case p.CopiesB:
				b.WriteString(", copies the second")
			}
			if p.Transposed {
				b.WriteString(", result transposed")
			}
		} else {
			b.WriteString("elementwise product")
		}
		fmt.Fprintf(&b, ", %s, %s\n", amount(s.FLOPs, "FLOP"), amount(s.Bytes, "B"))
	}
	fmt.Fprintf(&b, "%s, %s", amount(e.FLOPs, "FLOP"), amount(e.Bytes, "B"))
	if e.Naive > 1.01*e.FLOPs && len(e.Steps) > 1 {
		fmt.Fprintf(&b, "; in one loop %s", amount(e.Naive, "FLOP"))
	}
	return b.String()
}

// amount formats a number with three digits and a unit.
func amount(x float64, unit string) string {
	prefix := ""
	for _, p := range []string{"k", "M", "G", "T", "P"} {
		if x < 999.5 {
			break
		}
		x, prefix = x/1000, p
	}
	return fmt.Sprintf("%.3g %s%s", x, prefix, unit)
}
