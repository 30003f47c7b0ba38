package ops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Einsum sums products of elements by Einstein's convention, as
// numpy.einsum does:
//
//	ops.Einsum("bij,bjk->bik", x, y)     // batched matrix products
//	ops.Einsum("...i,...i", x, y)        // dot products over the last axis
//	ops.Einsum("ii->i", x)               // a diagonal
//
// The equation names the axes of each operand, separated by commas, and after the arrow those of
// the result; axes that the result lacks are summed over. Without an arrow, the result has the axes
// of the ellipsis, followed by the letters that occur once in alphabetical order. Axes of an
// ellipsis broadcast; axes with the same letter must have the same size. Spaces are ignored.
//
// Three or more operands are contracted in pairs, in the order that takes the fewest
// multiplications (found exactly for up to six operands, greedily beyond).
//
// Gradient: for each operand, the einsum of ct and the other operands.
func Einsum(equation string, operands ...any) tensor.Tensor {
	list := make([]tenon.Value, len(operands))
	for i, x := range operands {
		var ok bool
		if list[i], ok = x.(tenon.Value); !ok { // binding converts them to tensors
			return op.Eval(einsumOp, slices.Clone(operands), equation)
		}
	}
	return op.Eval(einsumOp, list, equation)
}

var einsumOp = op.Register(&op.Op{
	Name: "einsum", Statement: op.Statement{Axes: op.Contract, Monoid: op.Sums, Missing: op.Skip, Zero: op.Zero{Keeps: true}}, Doc: "sums of products by Einstein's convention", Results: 1, Strided: true,
	Params: []op.Param{
		{Name: "operands", Kind: op.Tensors, Group: 1, Takes: op.Numbers},
		{Name: "equation", Kind: op.Attr, Type: op.StringType},
	},
	Shape: func(c *op.Call) (shape.Shape, error) {
		e, err := parseEinsum(c, c.Str(1), len(c.List(0)))
		if err != nil {
			return shape.Shape{}, err
		}
		return e.infer(c)
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		operands := make([]*tensor.Dense, len(c.List(0)))
		for i, v := range c.List(0) {
			operands[i] = v.(*tensor.Dense)
		}
		p, err := planEinsum(c, c.Str(1), operands, outShape(c, 0))
		if err != nil {
			return nil, err
		}
		return c.Result(p.contracted(operands))
	},
})

func init() {
	einsumOp.Batch = func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
		e, err := parseEinsum(c, c.Str(1), len(c.List(0)))
		if err != nil {
			return nil, err
		}
		batch := e.unused()
		for i, b := range batched {
			if b {
				e.in[i] = string(batch) + e.in[i]
			}
		}
		e.out = string(batch) + e.out
		return c.Result(op.Eval(einsumOp, c.List(0), e.String()))
	}
	einsumOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		operands := c.List(0)
		e, err := parseEinsum(c, c.Str(1), len(operands))
		tenon.Throw(err)
		grads := make([]tensor.Tensor, len(operands))
		for i := range operands {
			grads[i] = e.gradient(operands, i, ct[0])
		}
		return grads
	}
}

// dots stands for the axes of an ellipsis among the letters of a term.
const dots = '…'

// An equation is a parsed equation of an einsum: a letter for each axis.
type equation struct {
	in  []string
	out string
}

// String writes the equation so that it can be parsed again.
func (e *equation) String() string {
	return strings.ReplaceAll(strings.Join(e.in, ",")+"->"+e.out, string(dots), "...")
}

func parseEinsum(c *op.Call, text string, operands int) (*equation, error) {
	bad := func(format string, args ...any) (*equation, error) {
		return nil, c.Errorf(tenon.ErrInvalid, format, args...).At(fmt.Sprintf("equation %q", text))
	}
	t := strings.ReplaceAll(strings.ReplaceAll(text, " ", ""), "...", string(dots))
	in, out, arrow := strings.Cut(t, "->")
	e := &equation{in: strings.Split(in, ","), out: out}
	if len(e.in) != operands || operands == 0 {
		return bad("it has %d terms for %d operands", len(e.in), operands)
	}
	used := map[rune]int{}
	for _, term := range e.in {
		for _, r := range term {
			if !isLabel(r) {
				return bad("%q is not a letter", r)
			}
			used[r]++
		}
		if strings.Count(term, string(dots)) > 1 {
			return bad("the term %q has two ellipses", term)
		}
	}
	if !arrow {
		e.out = implicitOutput(used)
	}
	seen := map[rune]bool{}
	for _, r := range e.out {
		switch {
		case !isLabel(r):
			return bad("%q is not a letter", r)
		case used[r] == 0:
			return bad("the result has %q, which no operand has", label(r))
		case seen[r]:
			return bad("the result has %q twice", label(r))
		}
		seen[r] = true
	}
	return e, nil
}

func label(r rune) string {
	if r == dots {
		return "..."
	}
	return string(r)
}

func isLabel(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == dots || r >= firstSpare && r < firstSpare+0x400
}

// firstSpare is the first of the letters that gradients and batching use for axes
// of their own, in a Unicode private use area.
const firstSpare = '\ue000'

// unused returns a letter that does not occur in the equation.
func (e *equation) unused() rune {
	all := strings.Join(e.in, "")
	for r := firstSpare; ; r++ {
		if !strings.ContainsRune(all, r) {
			return r
		}
	}
}

// implicitOutput is the result of an equation without an arrow.
func implicitOutput(used map[rune]int) string {
	var once []rune
	for r, n := range used {
		if r != dots && n == 1 {
			once = append(once, r)
		}
	}
	slices.Sort(once)
	if used[dots] > 0 {
		once = append([]rune{dots}, once...)
	}
	return string(once)
}

// infer returns the shape of the result, as far as sizes and ranks are known.
func (e *equation) infer(c *op.Call) (shape.Shape, error) {
	sizes := map[rune]int{}
	ellipsis := shape.Shape{}
	for i, term := range e.in {
		s := c.List(0)[i].(tensor.Tensor).Shape()
		letters := []rune(term)
		open := slices.Index(letters, dots)
		if !s.HasRank() {
			if open >= 0 {
				ellipsis = shape.UnknownRank
				continue
			}
			s = shape.OfRank(len(letters))
		}
		extra := s.Rank() - len(letters)
		if open >= 0 {
			extra++
		}
		if extra < 0 || extra > 0 && open < 0 {
			return s, c.Errorf(tenon.ErrShape, "operand %d has rank %d, the term %q names %d axes", i, s.Rank(), e.term(i), len(letters))
		}
		axis := 0
		for _, r := range letters {
			if r == dots {
				var err error
				if ellipsis, err = broadcast(c, ellipsis, s.Slice(axis, axis+extra)); err != nil {
					return s, err
				}
				axis += extra
				continue
			}
			d := s.Dim(axis)
			axis++
			old, ok := sizes[r]
			switch {
			case !ok || old < 0:
				sizes[r] = d
			case d >= 0 && d != old:
				return s, c.Errorf(tenon.ErrShape, "axis %q has size %d in operand %d and %d before", label(r), d, i, old)
			}
		}
	}
	if !strings.ContainsRune(e.out, dots) && (!ellipsis.HasRank() || ellipsis.Rank() > 0) && strings.Contains(e.String(), "...") {
		return ellipsis, c.Errorf(tenon.ErrInvalid, "the result lacks the ellipsis of the operands")
	}
	var out shape.Shape
	for _, r := range e.out {
		if r == dots {
			out = shape.Concat(out, ellipsis)
		} else {
			out = shape.Concat(out, shape.Of(sizes[r]))
		}
	}
	return out, nil
}

func (e *equation) term(i int) string { return strings.ReplaceAll(e.in[i], string(dots), "...") }

// gradient returns the cotangent of operand i.
func (e *equation) gradient(operands []tenon.Value, i int, ct tensor.Tensor) tensor.Tensor {
	x := operands[i].(tensor.Tensor)
	terms, args := []string{e.out}, []any{ct}
	for k, o := range operands {
		if k != i {
			terms = append(terms, e.in[k])
			args = append(args, conj(o.(tensor.Tensor)))
		}
	}
	elsewhere := strings.Join(terms, "")
	// The letters of the operand, each once, and those of them that occur elsewhere.
	var unique, present []rune
	var missing []int
	term := []rune(e.in[i])
	fresh := &equation{in: append(terms, e.in[i])}
	for k, r := range term {
		if slices.Contains(term[:k], r) { // a diagonal: it gets its own letter
			other := fresh.unused()
			fresh.in = append(fresh.in, string(other))
			n := sizeOperand(x, axisFromEnd(term, slices.Index(term, r)))
			args = append(args, Eye(ct.DType(), n, n))
			terms = append(terms, string([]rune{r, other}))
			elsewhere += string([]rune{r, other})
			r = other
		}
		unique = append(unique, r)
	}
	for k, r := range unique {
		if strings.ContainsRune(elsewhere, r) || r == dots {
			present = append(present, r)
		} else {
			missing = append(missing, axisFromEnd(unique, k))
		}
	}
	if slices.Contains(present, dots) && !strings.ContainsRune(elsewhere, dots) {
		// An ellipsis without axes, which the result omits.
		present = slices.DeleteFunc(present, func(r rune) bool { return r == dots })
	}
	to := &equation{in: terms, out: string(present)}
	var g tensor.Tensor
	switch {
	case !strings.ContainsRune(elsewhere, dots) || slices.Contains(present, dots):
		g = op.Eval(einsumOp, args, to.String())
	case to.spell(args): // the operand is the same at all positions of an ellipsis
		g = op.Eval(einsumOp, args, to.String())
	default:
		to.out = string(dots) + to.out
		g = op.Eval(einsumOp, args, to.String())
		over := g.Shape().Rank() - len(present)
		if over < 0 {
			tenon.Throw(tenon.NewError(tenon.ErrUnsupported, "einsum", "the gradient needs to know the ranks of the operands"))
		}
		axes := make([]int, over)
		for k := range axes {
			axes[k] = k
		}
		g = Sum(g, axes...)
	}
	if len(missing) > 0 { // axes that only this operand has: all elements contribute equally
		rank := x.Shape().Rank()
		for k, a := range missing {
			if a < 0 && rank >= 0 {
				missing[k] = a + rank
			}
		}
		slices.Sort(missing)
		g = ExpandDims(g, missing...)
		return BroadcastTo(g, Shape(x))
	}
	return sumTo(g, x)
}

// spell replaces the ellipses of terms by letters, so that a result may lack some of their axes. It
// returns false, and changes nothing, if operands are broadcast along these axes or their sizes are
// not known.
func (e *equation) spell(operands []any) bool {
	letters := &equation{in: slices.Clone(e.in)}
	letters.in = append(letters.in, e.out)
	var behind []rune // those of the ellipsis, the last axis first
	sizes := map[rune]int{}
	spelled := slices.Clone(e.in)
	for i, term := range e.in {
		before, after, ok := strings.Cut(term, string(dots))
		if !ok {
			continue
		}
		s := operands[i].(tensor.Tensor).Shape()
		if !s.IsFull() {
			return false
		}
		open := len([]rune(before))
		n := s.Rank() - open - len([]rune(after))
		var own []rune
		for k := range n {
			if k == len(behind) {
				behind = append(behind, letters.unused())
				letters.in = append(letters.in, string(behind[k]))
			}
			r, d := behind[k], s.Dim(open+n-1-k)
			if old, ok := sizes[r]; ok && old != d {
				return false
			}
			sizes[r] = d
			own = append([]rune{r}, own...)
		}
		spelled[i] = before + string(own) + after
	}
	e.in = spelled
	return true
}

// axisFromEnd returns the axis of letter k of a term. It counts from the end if
// an ellipsis comes before it.
func axisFromEnd(term []rune, k int) int {
	if open := slices.Index(term, dots); open >= 0 && open < k {
		return k - len(term)
	}
	return k
}
