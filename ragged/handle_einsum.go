package ragged

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	handle(einsum, "einsum")          // labels of ragged axes
	handle(onTaken(dot), "dot")       // products and a sum
	handle(onTaken(matVec), "matvec") // a matrix with one column
}

// dot sums products over the last axis, which may be ragged.
func dot(c *op.Call, x, y tensor.Tensor) ([]tenon.Value, error) {
	if rankOf(x) == 0 || rankOf(y) == 0 {
		return nil, c.Errorf(tenon.ErrShape, "a scalar has no last axis")
	}
	return op.One(ops.Sum(ops.Mul(x, y), -1))
}

// matVec multiplies each matrix by its vector, treating the vector as a matrix
// with one column.
func matVec(c *op.Call, a, x tensor.Tensor) ([]tenon.Value, error) {
	if t, ok := a.(*Tensor); ok && rankOf(x) == 1 && t.flat.Shape().Rank() >= 2 {
		return op.One(t.with(ops.MatVec(t.flat, x)))
	}
	return op.One(ops.Squeeze(ops.MatMul(a, ops.ExpandDims(x, -1)), -1))
}

// einsum sums products over labeled axes. The labels of a ragged operand's partitioned axes, its
// first ones, say which rows belong together: each operand that has these labels must begin with
// them, in the same order and with the same rows. The result keeps them in front, except that inner
// ones may be summed over; then the products are summed row by row.
func einsum(c *op.Call) ([]tenon.Value, error) {
	list := c.List(0)
	for _, v := range list {
		if t, ok := v.(tensor.Tensor); !ok || !taken(t) {
			return nil, op.NotHandled
		}
	}
	e, err := einsumOfRows(c)
	if err != nil {
		return nil, err
	}
	first := list[e.first].(*Tensor)
	if e.spread >= 0 {
		ts := make([]tensor.Tensor, len(list))
		for i, v := range list {
			ts[i] = v.(tensor.Tensor)
		}
		return op.One(spreadProduct(c, ts, slices.Clone(e.in), e.out, e.lead, first, e.spread))
	}
	k := len(first.parts)
	flats := make([]any, len(list))
	for i, v := range list {
		if flats[i] = v; !e.leads[i] {
			continue
		}
		flats[i] = sameOuterRows(c, first, v.(tensor.Tensor), k)
	}
	y := first.with(ops.Einsum(e.flat, flats...))
	if e.kept > k {
		return op.One(y)
	}
	return op.One(ops.Sum(y, rising(e.kept, k+1)...))
}

// rowsEinsum is an analyzed equation for operands of certain ranks.
type rowsEinsum struct {
	in     []string // labels of the operands
	out    string   // labels of the result
	lead   string   // labels of the partitioned axes and of the one outside of them
	first  int      // index of the operand that has these partitions
	spread int      // index of an operand that has only some of these labels, or -1
	leads  []bool   // for each operand, whether it begins with these labels
	flat   string   // the equation of the flat values, in which a single axis replaces these
	kept   int      // number of these axes that are not summed over
}

// Equations are cached with the ranks of their operands. A program has few different ones; a cache
// that grows too large is cleared.
var (
	rowsEinsums   = map[string]*rowsEinsum{}
	rowsEinsumsMu sync.RWMutex
)

const maxRowsEinsums = 4096

// einsumOfRows returns the analyzed equation of a call.
func einsumOfRows(c *op.Call) (*rowsEinsum, error) {
	var room [128]byte
	key := append(strconv.AppendInt(room[:0], int64(len(c.Str(1))), 36), ' ')
	key = append(key, c.Str(1)...)
	for _, v := range c.List(0) {
		_, parts := split(v.(tensor.Tensor))
		key = append(key, byte(rankOf(v.(tensor.Tensor))), byte(len(parts)))
	}
	rowsEinsumsMu.RLock()
	e := rowsEinsums[string(key)]
	rowsEinsumsMu.RUnlock()
	if e != nil {
		return e, nil
	}
	e, err := newRowsEinsum(c)
	if err != nil {
		return nil, err
	}
	rowsEinsumsMu.Lock()
	defer rowsEinsumsMu.Unlock()
	if len(rowsEinsums) >= maxRowsEinsums {
		clear(rowsEinsums)
	}
	rowsEinsums[string(key)] = e
	return e, nil
}

func newRowsEinsum(c *op.Call) (*rowsEinsum, error) {
	in, out, err := terms(c)
	if err != nil {
		return nil, err
	}
	e := &rowsEinsum{in: in, out: out, spread: -1, leads: make([]bool, len(in))}
	for i, v := range c.List(0) {
		t := v.(tensor.Tensor)
		if n := len([]rune(in[i])); n != rankOf(t) {
			return nil, c.Errorf(tenon.ErrShape, "the term %q names %d axes, operand %d has %d", in[i], n, i, rankOf(t))
		}
		if r, ok := t.(*Tensor); ok && len(r.parts)+1 > len([]rune(e.lead)) {
			e.first, e.lead = i, string([]rune(in[i])[:len(r.parts)+1])
		}
	}
	const merged = '\ue3ff'
	flats := make([]string, len(in))
	for i, term := range in {
		e.leads[i] = strings.HasPrefix(term, e.lead)
		if !e.leads[i] && strings.ContainsAny(term, e.lead) {
			e.spread = i
			return e, nil
		}
		if flats[i] = term; e.leads[i] {
			flats[i] = string(merged) + strings.TrimPrefix(term, e.lead)
		}
	}
	rest, kept := resultLabels(out, e.lead)
	if rest == nil {
		err := c.Errorf(tenon.ErrUnsupported, "the ragged axes %q must come first in the result, outermost first, or be summed over", e.lead)
		err.Hint = "name them first in the result"
		return nil, err
	}
	e.flat, e.kept = strings.Join(flats, ",")+"->"+string(merged)+string(rest), kept
	return e, nil
}

// spreadProduct is einsum with an operand that has only some of the labels of the ragged axes, the
// outer ones, in front: it is repeated for the entries of the others.
func spreadProduct(c *op.Call, ts []tensor.Tensor, in []string, out, lead string, first *Tensor, i int) tensor.Tensor {
	n := 0
	runes, labels := []rune(lead), []rune(in[i])
	for n < len(runes) && n < len(labels) && runes[n] == labels[n] {
		n++
	}
	if n == 0 || strings.ContainsAny(string(labels[n:]), lead) {
		tenon.Throw(c.Errorf(tenon.ErrUnsupported, "the term %q must begin with the outer ones of the ragged axes %q", in[i], lead))
	}
	flat, parts := split(atLeast(ts[i], n-1))
	samePartitions(c.Op.Func(), first.parts[:n-1], parts)
	below := build(flat, parts[n-1:])
	for _, p := range first.parts[n-1:] {
		below = gatherRows(below, ops.Cast(p.ValueRowIDs(), dtype.Int64))
	}
	ts[i], in[i] = onTop(below, first.parts), lead+string(labels[n:])
	return ops.Einsum(strings.Join(in, ",")+"->"+out, anyTensors(ts)...)
}

// terms returns the labels of an einsum's operands and result.
func terms(c *op.Call) (in []string, out string, err error) {
	text := strings.ReplaceAll(c.Str(1), " ", "")
	if strings.Contains(text, ".") {
		return nil, "", c.Errorf(tenon.ErrUnsupported, "ragged operands need a label for each axis, not an ellipsis")
	}
	terms, out, arrow := strings.Cut(text, "->")
	in = strings.Split(terms, ",")
	if len(in) != len(c.List(0)) {
		return nil, "", c.Errorf(tenon.ErrInvalid, "the equation %q has %d terms for %d operands", text, len(in), len(c.List(0)))
	}
	if !arrow {
		var once []rune
		for _, r := range terms {
			if r != ',' && strings.Count(terms, string(r)) == 1 {
				once = append(once, r)
			}
		}
		slices.Sort(once)
		out = string(once)
	}
	return in, out, nil
}

// resultLabels returns the labels of the result after those of ragged axes, and the number of
// ragged ones that it keeps. It returns nil if these are not in front in their order.
func resultLabels(out, lead string) (rest []rune, kept int) {
	labels, leads := []rune(out), []rune(lead)
	for kept < len(labels) && kept < len(leads) && labels[kept] == leads[kept] {
		kept++
	}
	rest = append([]rune{}, labels[kept:]...)
	if strings.ContainsAny(string(rest), lead) {
		return nil, 0
	}
	return rest, kept
}

func anyTensors(ts []tensor.Tensor) []any {
	out := make([]any, len(ts))
	for i, t := range ts {
		out[i] = t
	}
	return out
}
