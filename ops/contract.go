package ops

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Contract sums products of the elements of two tensors whose axes are labeled by arbitrary
// integers: axes with the same label are matched, and those that the result lacks are summed over.
// It does what [Einsum] does with two operands, for code that has numbers rather than letters.
//
//	ops.Contract(x, y, []int{0, 1}, []int{1, 2}, []int{0, 2})   // a matrix product
//
// A label occurs at most once in each operand and in the result; one that the result lacks must be
// in both operands. The operands may be views with any strides, and the result is written in the
// order asked for: nothing is transposed if a batch of matrix products with strides can do it.
//
// Gradient: the contraction of ct with the other operand.
func Contract(a, b any, aLabels, bLabels, out []int) tensor.Tensor {
	return op.Eval(contractOp, a, b, aLabels, bLabels, out)
}

var contractOp = op.Register(&op.Op{
	Name: "contract", Statement: contracts, Doc: "sums of products over axes with the same labels", Results: 1, Strided: true,
	Params: []op.Param{
		{Name: "a", Group: 1, Takes: op.Numbers}, {Name: "b", Group: 1},
		{Name: "a_labels", Kind: op.Attr, Type: op.IntsType},
		{Name: "b_labels", Kind: op.Attr, Type: op.IntsType},
		{Name: "out_labels", Kind: op.Attr, Type: op.IntsType},
	},
	Shape: func(c *op.Call) (shape.Shape, error) {
		k, err := NewContraction(c.Ints(2), c.Ints(3), c.Ints(4))
		if err != nil {
			return shape.Shape{}, c.Fail(err)
		}
		dims, err := k.infer(c)
		return shape.Of(dims...), err
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		k, err := NewContraction(c.Ints(2), c.Ints(3), c.Ints(4))
		if err != nil {
			return nil, err
		}
		return c.Result(k.dense(c.Dense(0), c.Dense(1)))
	},
})

func init() {
	contractOp.Batch = func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
		labels := [3][]int{c.Ints(2), c.Ints(3), c.Ints(4)}
		fresh := 0
		for _, l := range slices.Concat(labels[0], labels[1]) {
			fresh = max(fresh, l+1)
		}
		for i := range labels {
			if i == 2 || batched[i] {
				labels[i] = append([]int{fresh}, labels[i]...)
			}
		}
		return c.Result(Contract(c.Value(0), c.Value(1), labels[0], labels[1], labels[2]))
	}
	contractOp.VJP = func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
		a, b, al, bl, out := c.Tensor(0), c.Tensor(1), c.Ints(2), c.Ints(3), c.Ints(4)
		return []tensor.Tensor{Contract(ct[0], conj(b), out, bl, al), Contract(conj(a), ct[0], al, out, bl)}
	}
}

// A Contraction is a call of [Contract] that has been prepared for repeated use
// with different operands.
type Contraction struct {
	a, b, out []int
	axes      []labelled
	at        []int // for each axis of the result, its index in axes

	// The product of two matrices, in either order, transposed or not.
	matrices, swapped, transA, transB bool
}

// labelled says where a label occurs: its axis in each operand and in the result, or -1.
type labelled struct{ a, b, out int }

// NewContraction prepares a contraction and checks its labels; see [Contract].
func NewContraction(aLabels, bLabels, out []int) (*Contraction, error) {
	k := &Contraction{a: aLabels, b: bLabels, out: out, axes: make([]labelled, 0, len(aLabels)+len(bLabels))}
	bad := func(format string, args ...any) (*Contraction, error) {
		return nil, tenon.NewError(tenon.ErrInvalid, "", fmt.Sprintf(format, args...))
	}
	for i, list := range [][]int{aLabels, bLabels, out} {
		for at, l := range list {
			if slices.Index(list, l) != at {
				return bad("label %d occurs twice in %v", l, list)
			}
			inA, inB := slices.Index(aLabels, l), slices.Index(bLabels, l)
			x := labelled{inA, inB, slices.Index(out, l)}
			switch {
			case i == 2 && inA < 0 && inB < 0:
				return bad("no operand has the result's label %d", l)
			case x.out < 0 && (inA < 0 || inB < 0):
				return bad("label %d is in one operand only, and not in the result", l)
			case i == 0, i == 1 && inA < 0:
				k.axes = append(k.axes, x)
			}
		}
	}
	k.at = make([]int, len(out))
	for i, x := range k.axes {
		if x.out >= 0 {
			k.at[x.out] = i
		}
	}
	k.recognise()
	return k, nil
}

// recognise finds out whether the contraction is a product of two matrices.
func (k *Contraction) recognise() {
	if len(k.a) != 2 || len(k.b) != 2 || len(k.out) != 2 || len(k.axes) != 3 {
		return
	}
	first, second := k.a, k.b
	if k.swapped = slices.Contains(k.b, k.out[0]); k.swapped {
		first, second = second, first
	}
	k.matrices = slices.Contains(second, k.out[1]) && !slices.Contains(first, k.out[1]) && !slices.Contains(second, k.out[0])
	k.transA, k.transB = first[0] != k.out[0], second[1] != k.out[1]
}

// infer returns the sizes of the result.
func (k *Contraction) infer(c *op.Call) ([]int, error) {
	s, t := c.Tensor(0).Shape(), c.Tensor(1).Shape()
	for i, x := range []struct {
		s      shape.Shape
		labels []int
	}{{s, k.a}, {t, k.b}} {
		if x.s.HasRank() && x.s.Rank() != len(x.labels) {
			return nil, c.Errorf(tenon.ErrShape, "%s has rank %d, its labels are %v", c.Op.Params[i].Name, x.s.Rank(), x.labels)
		}
	}
	dims := make([]int, len(k.out))
	for _, x := range k.axes {
		n := shape.Unknown
		if x.a >= 0 {
			n = s.Dim(x.a)
		}
		if x.b >= 0 {
			m := t.Dim(x.b)
			if err := sameSize(c, "sizes of axes with one label", n, m); err != nil {
				return nil, err
			}
			n = max(n, m)
		}
		if x.out >= 0 {
			dims[x.out] = n
		}
	}
	return dims, nil
}

// Of contracts two tensors. It throws errors. Dense tensors go straight to the
// kernel.
func (k *Contraction) Of(a, b tensor.Tensor) tensor.Tensor {
	x, ok := a.(*tensor.Dense)
	y, ok2 := b.(*tensor.Dense)
	if ok && ok2 {
		if out := k.Dense(x, y); out != nil {
			return out
		}
	}
	return op.Eval(contractOp, a, b, k.a, k.b, k.out)
}

// Dense contracts two dense tensors. It returns nil if their sizes do not match or their element
// types differ.
func (k *Contraction) Dense(a, b *tensor.Dense) *tensor.Dense {
	if k.matrices {
		x, y := a, b
		if k.swapped {
			x, y = b, a
		}
		if out, ok := multiplied(x, y, k.transA, k.transB, nil).(*tensor.Dense); ok {
			return out
		}
	}
	if !k.takes(a, b) {
		return nil
	}
	return k.dense(a, b)
}

// takes reports whether the operands need no promotion and cause no error.
func (k *Contraction) takes(a, b *tensor.Dense) bool {
	if a.DType() != b.DType() || !hasProducts(a.DType()) || a.Rank() != len(k.a) || b.Rank() != len(k.b) {
		return false
	}
	for _, x := range k.axes {
		if x.a >= 0 && x.b >= 0 && a.Dim(x.a) != b.Dim(x.b) {
			return false
		}
	}
	return true
}

// A Product describes the matrix products that a [Contraction] consists of.
type Product struct {
	Batch, M, N, K int  // Batch products of an M×K and a K×N matrix
	CopiesA        bool // the axes of the operand cannot be those of a strided matrix,
	CopiesB        bool // so it is copied first
	Transposed     bool // the result is a view whose axes are in a different order in memory
}

// Plan returns the products that the contraction consists of for operands with
// the given sizes and strides (in elements).
func (k *Contraction) Plan(aDims, aStrides, bDims, bStrides []int) Product {
	var l contractLayout
	l.plan(k, place{aDims, aStrides}, place{bDims, bStrides})
	p := Product{Batch: 1, M: l.m.size, N: l.n.size, K: l.k.size, CopiesA: l.copyA, CopiesB: l.copyB, Transposed: l.natural}
	for _, d := range l.batch[:l.batches] {
		p.Batch *= d.size
	}
	if l.copyA || l.copyB || l.natural {
		p.Batch, p.M, p.N, p.K = 1, 1, 1, 1
		for _, x := range k.axes {
			switch {
			case x.out < 0:
				p.K *= aDims[x.a]
			case x.a >= 0 && x.b >= 0:
				p.Batch *= aDims[x.a]
			case x.a >= 0:
				p.M *= aDims[x.a]
			default:
				p.N *= bDims[x.b]
			}
		}
	}
	return p
}
