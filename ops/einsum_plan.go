package ops

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A contraction is the plan of an einsum for operands of certain shapes.
type contraction struct {
	operands []einsumTerm
	out      []int // labels of the result
	steps    []einsumStep
	shape    shape.Shape // of the result

	axes         []int // remaining axes that are finally summed over
	labels, kept []int // labels of the other axes, and those that the result has
}

// An einsumTerm says how the axes of an operand map to labels.
type einsumTerm struct {
	axes   []int // the label of each axis; an axis of size 1 that broadcasts has none (-1)
	labels []int // of the remaining axes, each once
}

// An einsumStep contracts two of the remaining tensors; the result is appended to them.
type einsumStep struct {
	a, b         int
	aOnly, bOnly []int // axes that are summed over first, since no other tensor has them
	product      *Contraction
}

// Plans are cached by equation and shapes. A program has few different ones; a cache that grows too
// large is cleared.
var (
	einsumPlans   = map[string]*contraction{}
	einsumPlansMu sync.RWMutex
)

const maxEinsumPlans = 4096

// einsumKey appends the key of a cached plan: the equation, preceded by its length, and the sizes
// of each operand.
func einsumKey(key []byte, equation string, operands []*tensor.Dense) []byte {
	key = append(strconv.AppendInt(key, int64(len(equation)), 36), ' ')
	key = append(key, equation...)
	for _, x := range operands {
		key = append(key, '|')
		for a := range x.Rank() {
			key = append(strconv.AppendInt(key, int64(x.Dim(a)), 36), ' ')
		}
	}
	return key
}

// plannedEinsum returns a cached plan, or nil if there is none.
func plannedEinsum(equation string, operands []*tensor.Dense) *contraction {
	var room [128]byte
	key := einsumKey(room[:0], equation, operands)
	einsumPlansMu.RLock()
	defer einsumPlansMu.RUnlock()
	return einsumPlans[string(key)]
}

// planEinsum returns the plan of a call with a result of shape out.
func planEinsum(c *op.Call, equation string, operands []*tensor.Dense, out shape.Shape) (*contraction, error) {
	if p := plannedEinsum(equation, operands); p != nil {
		return p, nil
	}
	e, err := parseEinsum(c, equation, len(operands))
	if err != nil {
		return nil, err
	}
	shapes := make([]shape.Shape, len(operands))
	for i, x := range operands {
		shapes[i] = x.Shape()
	}
	p := e.plan(shapes)
	p.shape = out
	einsumPlansMu.Lock()
	defer einsumPlansMu.Unlock()
	if len(einsumPlans) >= maxEinsumPlans {
		clear(einsumPlans)
	}
	einsumPlans[string(einsumKey(nil, equation, operands))] = p
	return p, nil
}

// contracted carries out the plan.
func (p *contraction) contracted(operands []*tensor.Dense) *tensor.Dense {
	out := p.run(operands)
	if !out.Shape().Equal(p.shape) {
		out = out.Reshaped(p.shape)
	}
	return out
}

// plan numbers the letters and the axes of the ellipsis, which count from its end, and orders the
// steps.
func (e *equation) plan(shapes []shape.Shape) *contraction {
	number := map[rune]int{}
	var ellipsis []int // labels of the ellipsis, the last axis first
	var sizes []int    // by label
	fresh := func() int {
		sizes = append(sizes, 1)
		return len(sizes) - 1
	}
	labelsOf := func(term string, rank int) []int {
		letters := []rune(term)
		extra := rank - len(letters) + 1
		var out []int
		for _, r := range letters {
			if r == dots {
				for len(ellipsis) < extra {
					ellipsis = append(ellipsis, fresh())
				}
				for k := extra - 1; k >= 0; k-- {
					out = append(out, ellipsis[k])
				}
				continue
			}
			if _, ok := number[r]; !ok {
				number[r] = fresh()
			}
			out = append(out, number[r])
		}
		return out
	}
	p := &contraction{operands: make([]einsumTerm, len(e.in))}
	for i, term := range e.in {
		p.operands[i].axes = labelsOf(term, shapes[i].Rank())
		for a, l := range p.operands[i].axes {
			sizes[l] = max(sizes[l], shapes[i].Dim(a))
		}
	}
	// A size of 0 counts too, but max has hidden it.
	for i := range e.in {
		for a, l := range p.operands[i].axes {
			if shapes[i].Dim(a) == 0 {
				sizes[l] = 0
			}
		}
	}
	for i := range p.operands {
		t := &p.operands[i]
		for a, l := range t.axes {
			switch {
			case shapes[i].Dim(a) == 1 && sizes[l] != 1:
				t.axes[a] = -1
			case !slices.Contains(t.labels, l):
				t.labels = append(t.labels, l)
			}
		}
	}
	p.out = labelsOf(e.out, len(ellipsis)+len([]rune(strings.ReplaceAll(e.out, string(dots), ""))))
	p.order(sizes)
	p.end()
	return p
}

// A labelSet is a set of labels, for planning only. Labels beyond its width share
// bits, which affects only the choice of the order.
type labelSet = uint64

func setOf(labels []int) labelSet {
	var s labelSet
	for _, l := range labels {
		s |= 1 << (l % 64)
	}
	return s
}

func (s sizesOf) volume(set labelSet) float64 {
	v := 1.0
	for ; set != 0; set &= set - 1 {
		v *= float64(s[bits.TrailingZeros64(set)%max(1, len(s))])
	}
	return v
}

type sizesOf []int

// order determines the steps.
func (p *contraction) order(sizes []int) {
	n := len(p.operands)
	if n < 2 {
		return
	}
	sets := make([]labelSet, n)
	for i, t := range p.operands {
		sets[i] = setOf(t.labels)
	}
	var pairs [][2]int
	if n <= 6 {
		pairs = bestOrder(sets, setOf(p.out), sizes)
	} else {
		pairs = greedyOrder(sets, setOf(p.out), sizes)
	}
	labels := make([][]int, n)
	for i, t := range p.operands {
		labels[i] = t.labels
	}
	live := make([]bool, n, 2*n)
	for i := range live {
		live[i] = true
	}
	for _, pair := range pairs {
		a, b := pair[0], pair[1]
		live[a], live[b] = false, false
		kept := slices.Clone(p.out)
		for i, ok := range live {
			if ok {
				kept = append(kept, labels[i]...)
			}
		}
		var out []int
		for _, l := range slices.Concat(labels[a], labels[b]) {
			if slices.Contains(kept, l) && !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
		if len(p.steps) == n-2 {
			out = slices.DeleteFunc(slices.Clone(p.out), func(l int) bool { return !slices.Contains(out, l) })
		}
		step := einsumStep{a: a, b: b}
		var aLabels, bLabels []int
		step.aOnly, aLabels = alone(labels[a], labels[b], out)
		step.bOnly, bLabels = alone(labels[b], labels[a], out)
		step.product = tenon.Must(NewContraction(aLabels, bLabels, out))
		p.steps = append(p.steps, step)
		labels = append(labels, out)
		live = append(live, true)
	}
}

// bestOrder tries all orders: for each subset of operands, it finds the cheapest
// way to get its product from two smaller subsets. Tensors are numbered as they
// are made.
func bestOrder(sets []labelSet, out labelSet, sizes sizesOf) [][2]int {
	n := len(sets)
	full := 1<<n - 1
	union := make([]labelSet, full+1)
	for s := 1; s <= full; s++ {
		low := bits.TrailingZeros(uint(s))
		union[s] = union[s&(s-1)] | sets[low]
	}
	kept := func(s int) labelSet { return union[s] & (out | union[full&^s]) }
	cost := make([]float64, full+1)
	split := make([]int, full+1)
	for s := 1; s <= full; s++ {
		if s&(s-1) == 0 {
			continue
		}
		cost[s] = -1
		for a := (s - 1) & s; a > s&^a; a = (a - 1) & s {
			b := s &^ a
			c := cost[a] + cost[b] + sizes.volume(kept(a)|kept(b))
			if cost[s] < 0 || c < cost[s] {
				cost[s], split[s] = c, a
			}
		}
	}
	var pairs [][2]int
	var emit func(s int) int
	emit = func(s int) int {
		if s&(s-1) == 0 {
			return bits.TrailingZeros(uint(s))
		}
		a := emit(split[s])
		b := emit(s &^ split[s])
		pairs = append(pairs, [2]int{min(a, b), max(a, b)})
		return n + len(pairs) - 1
	}
	emit(full)
	return pairs
}

// greedyOrder repeatedly takes the pair with the lowest cost: the number of
// multiplications minus the number of elements that are no longer needed.
func greedyOrder(sets []labelSet, out labelSet, sizes sizesOf) [][2]int {
	type live struct {
		id  int
		set labelSet
	}
	var left []live
	for i, s := range sets {
		left = append(left, live{i, s})
	}
	var pairs [][2]int
	for next := len(sets); len(left) > 1; next++ {
		best, bi, bj := 0.0, -1, -1
		for i := range left {
			for j := i + 1; j < len(left); j++ {
				c := sizes.volume(left[i].set|left[j].set) - sizes.volume(left[i].set) - sizes.volume(left[j].set)
				if bi < 0 || c < best {
					best, bi, bj = c, i, j
				}
			}
		}
		rest := out
		for k, l := range left {
			if k != bi && k != bj {
				rest |= l.set
			}
		}
		merged := live{next, (left[bi].set | left[bj].set) & rest}
		pairs = append(pairs, [2]int{left[bi].id, left[bj].id})
		left = append(slices.Delete(slices.Delete(left, bj, bj+1), bi, bi+1), merged)
	}
	return pairs
}

// run contracts the operands.
func (p *contraction) run(operands []*tensor.Dense) *tensor.Dense {
	var room [8]*tensor.Dense
	ts := room[:0]
	for i, x := range operands {
		ts = append(ts, p.operands[i].diagonal(x))
	}
	for _, s := range p.steps {
		ts = append(ts, s.product.dense(summedOver(ts[s.a], s.aOnly), summedOver(ts[s.b], s.bOnly)))
	}
	return arranged(summedOver(ts[len(ts)-1], p.axes), p.labels, p.kept)
}

// end plans what follows the steps.
func (p *contraction) end() {
	labels := p.operands[0].labels
	if n := len(p.steps); n > 0 {
		labels = p.steps[n-1].product.out
	}
	p.axes, p.labels = alone(labels, nil, p.out)
	// An axis of the ellipsis may have size 1 in all operands, so that none has its label.
	p.kept = slices.DeleteFunc(slices.Clone(p.out), func(l int) bool { return !slices.Contains(p.labels, l) })
}

// alone returns the axes whose labels are neither in other nor in out, and the labels of the other
// axes.
func alone(labels, other, out []int) (axes, kept []int) {
	for i, l := range labels {
		if slices.Contains(other, l) || slices.Contains(out, l) {
			kept = append(kept, l)
		} else {
			axes = append(axes, i)
		}
	}
	return axes, kept
}

// summedOver sums x over some axes and removes them.
func summedOver(x *tensor.Dense, axes []int) *tensor.Dense {
	if len(axes) == 0 {
		return x
	}
	d := x.DType()
	return reduceDense(sumOf(d), x, axes, op.Reduced(x.Shape(), axes, false), d)
}

// diagonal returns a view of x with one axis for each label: an axis that broadcasts is removed,
// and axes with the same label become one axis that runs along the diagonal.
func (t *einsumTerm) diagonal(x *tensor.Dense) *tensor.Dense {
	if len(t.labels) == len(t.axes) {
		return x
	}
	own := x.Strides()
	dims, strides := make([]int, len(t.labels)), make([]int, len(t.labels))
	for a, l := range t.axes {
		if l < 0 {
			continue
		}
		k := slices.Index(t.labels, l)
		dims[k] = x.Dim(a)
		strides[k] += own[a]
	}
	return x.View(0, shape.Of(dims...), strides)
}
