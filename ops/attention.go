package ops

import (
	"math"
	"slices"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/gemm"
	"github.com/tenonml/tenon/internal/kernel/reduce"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// AttentionOptions says which keys a query sees.
type AttentionOptions struct {
	Scale  float64 // factor of the scores; 0 stands for 1/√d
	Causal bool    // query i sees keys up to i, counted from the last query and key
	Mask   any     // true where a query sees a key: […, n, m], or what broadcasts to that
}

// Attention returns, for each query, the mean of the values weighted with the softmax
// of the scaled scores query·key (Vaswani et al., arXiv:1706.03762). A query that
// sees no key gets zeros. Leading axes broadcast.
//
//	query: […, n, d], key: […, m, d], value: […, m, e], floating  →  […, n, e]
//
// The scores of one block of queries are kept at a time. With a mask, the gradient computes
// all of them again; float32 without one has the kernels of rows of different lengths.
//
// Gradient: with the weights p and dp = ct·valueᵀ, ds = p·(dp - Σ p·dp)·scale: ds·key
// for the query, dsᵀ·query for the key, pᵀ·ct for the value.
func Attention(query, key, value any, o AttentionOptions) tensor.Tensor {
	return op.Eval(attentionOp, query, key, value, o.Mask, o.Scale, o.Causal)
}

var attentionOp = op.Register(&op.Op{
	Name: "attention", Statement: op.Statement{Axes: op.Contract, Missing: op.Refuse, Zero: op.Zero{Linear: []op.Operands{three}}}, Doc: "means of values weighted with the softmax of query·key", Results: 1,
	Params: []op.Param{
		{Name: "query", Group: 1, Takes: op.Floats, Rank: 2}, {Name: "key", Group: 1, Rank: 2}, {Name: "value", Group: 1, Rank: 2}, {Name: "mask", Takes: op.Bools, Optional: true},
		{Name: "scale", Kind: op.Attr, Type: op.FloatType, Default: 0.0}, {Name: "causal", Kind: op.Attr, Type: op.BoolType, Default: false},
	},
	Shape: func(c *op.Call) (shape.Shape, error) {
		n, d := matrixSizes(c.Tensor(0).Shape(), false)
		m, d2 := matrixSizes(c.Tensor(1).Shape(), false)
		m2, e := matrixSizes(c.Tensor(2).Shape(), false)
		if err := sameSize(c, "sizes of queries and keys", d, d2); err != nil {
			return shape.Shape{}, err
		}
		if err := sameSize(c, "numbers of keys and values", m, m2); err != nil {
			return shape.Shape{}, err
		}
		batch, err := attentionBatch(c)
		if err != nil {
			return shape.Shape{}, err
		}
		if c.Has(3) {
			scores, mask := shape.Of(n, m), c.Tensor(3).Shape()
			if mask.Rank() > 2 {
				mask = mask.Tail(mask.Rank() - 2)
			}
			if s, err := broadcast(c, scores, mask); err != nil || !s.CompatibleWith(scores) {
				return s, c.Errorf(tenon.ErrShape, "the mask's shape %v does not broadcast to that of the scores, %v", mask, scores)
			}
		}
		return shape.Concat(batch, shape.Of(n, e)), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		d := c.Dense(0).DType()
		if d == dtype.Float64 {
			return c.Result(attend[float64](c, d))
		}
		if r := attentionRoles(c); r != nil {
			in := func(i int) *tensor.Dense { return castDense(c.Dense(i), dtype.Float32) }
			return c.Result(castDense(r.forward(in(0), in(1), in(2)), d))
		}
		return c.Result(castDense(attend[float32](c, dtype.Float32), d))
	},
	Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) { return batchAligned(c, batched, 2) },
})

func init() { attentionOp.VJP = vjpAttention }

// attentionBatch returns the leading axes of the result.
func attentionBatch(c *op.Call) (shape.Shape, error) {
	qk, err := broadcastPrefix(c, c.Tensor(0).Shape(), c.Tensor(1).Shape(), 2)
	if err != nil {
		return qk, err
	}
	v := c.Tensor(2).Shape()
	if !v.HasRank() || !qk.HasRank() {
		return shape.UnknownRank, nil
	}
	s, err := broadcast(c, qk, v.Slice(0, v.Rank()-2))
	if err != nil || !c.Has(3) {
		return s, err
	}
	mask := c.Tensor(3).Shape()
	switch {
	case !mask.HasRank():
		return mask, nil
	case mask.Rank() <= 2:
		return s, nil
	}
	return broadcast(c, s, mask.Slice(0, mask.Rank()-2))
}

func attentionScale(c *op.Call) float64 {
	if s := c.Float(4); s != 0 {
		return s
	}
	return 1 / math.Sqrt(float64(max(1, c.Tensor(0).Shape().Dim(-1))))
}

// attentionRoles returns what the kernel of attend, which keeps no scores, needs to know of a
// call, and nil where it is not for it: where a mask hides keys, matrices broadcast or sizes
// are not known.
func attentionRoles(c *op.Call) *roles {
	q, k, v := c.Tensor(0).Shape(), c.Tensor(1).Shape(), c.Tensor(2).Shape()
	rank := q.Rank()
	if c.Has(3) || !q.IsFull() || !k.IsFull() || !v.IsFull() || k.Rank() != rank || v.Rank() != rank || !q.Slice(0, rank-2).Equal(k.Slice(0, rank-2)) ||
		!q.Slice(0, rank-2).Equal(v.Slice(0, rank-2)) {
		return nil
	}
	batch := make([]int, rank-2)
	for i := range batch {
		batch[i] = 4 + i
	}
	l := func(row, col int) []int { return append(slices.Clone(batch), row, col) }
	r, err := rolesOf(c, [4][]int{l(0, 2), l(1, 2), l(1, 3), l(0, 3)}, attentionScale(c), c.Bool(5))
	if err != nil {
		return nil
	}
	return r
}

// queryBlock is the number of queries whose scores are kept at a time.
const queryBlock = 64

// attend computes the attention in type T, which d names.
func attend[T float32 | float64](c *op.Call, d dtype.DType) *tensor.Dense {
	s := outShape(c, 0)
	out := tensor.NewDense(d, s)
	batch := s.Slice(0, s.Rank()-2)
	n, e := s.Dim(-2), s.Dim(-1)
	q, k, v := castDense(c.Dense(0), d), castDense(c.Dense(1), d), castDense(c.Dense(2), d)
	m, width := k.Dim(-2), k.Dim(-1)
	if out.Len() == 0 || m == 0 {
		return out
	}
	at := func(x *tensor.Dense) []int { return matrixOffsets(x, batch) }
	qAt, kAt, vAt := at(q), at(k), at(v)
	mask, maskAt := attentionMask(c, batch, n, m)
	qs, ks, vs, dst := tensor.Elems[T](q), tensor.Elems[T](k), tensor.Elems[T](v), tensor.Elems[T](out)
	scale := T(attentionScale(c))
	blocks := (n + queryBlock - 1) / queryBlock
	tasks := batch.Size() * blocks
	work := queryBlock * m * (width + e) // multiplications of a task
	pool := sync.Pool{New: func() any { s := make([]T, queryBlock*m); return &s }}
	par.For(tasks, max(1, 1<<20/max(1, work)), func(lo, hi int) {
		buf := pool.Get().(*[]T)
		defer pool.Put(buf)
		for t := lo; t < hi; t++ {
			b, first := t/blocks, t%blocks*queryBlock
			rows := min(queryBlock, n-first)
			seen := m // keys that a query of the block may see
			if c.Bool(5) {
				seen = max(0, min(m, first+rows+m-n))
			}
			dst := dst[(b*n+first)*e:][:rows*e]
			if seen == 0 {
				continue
			}
			scores := (*buf)[:rows*seen]
			gemm.Multiply(gemm.Params[T]{
				M: rows, N: seen, K: width, Alpha: scale, Serial: tasks > 1,
				A: qs[qAt[b]+first*width:], ARow: width, ACol: 1,
				B: ks[kAt[b]:], BRow: 1, BCol: width,
				C: scores, CRow: seen, CCol: 1,
			})
			for r := range rows {
				limit := seen
				if c.Bool(5) {
					limit = max(0, min(m, first+r+1+m-n))
				}
				var row []bool
				if mask != nil {
					row = mask[maskAt[b]+(first+r)*m:][:m]
				}
				weigh(scores[r*seen:(r+1)*seen], limit, row)
			}
			gemm.Multiply(gemm.Params[T]{
				M: rows, N: e, K: seen, Alpha: 1, Serial: tasks > 1,
				A: scores, ARow: seen, ACol: 1,
				B: vs[vAt[b]:], BRow: e, BCol: 1,
				C: dst, CRow: e, CCol: 1,
			})
		}
	})
	return out
}

// weigh makes weights of the scores of one query, which sees the first limit keys
// where the mask, if there is one, says so.
func weigh[T float32 | float64](scores []T, limit int, mask []bool) {
	clear(scores[limit:])
	scores = scores[:limit]
	if limit == 0 {
		return
	}
	if mask != nil {
		some := false
		for i := range scores {
			if !mask[i] {
				scores[i] = T(math.Inf(-1))
			} else {
				some = true
			}
		}
		if !some {
			clear(scores)
			return
		}
	}
	reduce.Softmax(scores, scores, limit)
}

// matrixOffsets returns where the matrix of x begins for each index of the batch, to
// which x's leading axes broadcast.
func matrixOffsets(x *tensor.Dense, batch shape.Shape) []int {
	size := x.Dim(-2) * x.Dim(-1)
	lead := x.Shape().Slice(0, x.Rank()-2)
	index := move.Copied(move.Stretched(move.Positions(0, lead), batch))
	out := make([]int, batch.Size())
	for i, p := range tensor.Elems[int64](index) {
		out[i] = int(p) * size
	}
	return out
}

// attentionMask returns the mask as [matrices, n, m] and the start of each batch index's
// matrix, or nil.
func attentionMask(c *op.Call, batch shape.Shape, n, m int) ([]bool, []int) {
	mask := c.Dense(3)
	if mask == nil {
		return nil, nil
	}
	lead := shape.Shape{}
	if r := mask.Rank(); r > 2 {
		lead = mask.Shape().Slice(0, r-2)
	}
	full := move.Copied(move.Stretched(mask, shape.Concat(lead, shape.Of(n, m))))
	return tensor.Elems[bool](full), matrixOffsets(full, batch)
}

func vjpAttention(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	q, k, v, g := c.Tensor(0), c.Tensor(1), c.Tensor(2), ct[0]
	if r := attentionRoles(c); r != nil && q.DType() == dtype.Float32 {
		return op.EvalN(attendGradOp, q, k, v, g, r.labels[0], r.labels[1], r.labels[2], r.labels[3], r.scale, r.causal)
	}
	scale := any(attentionScale(c))
	if c.Float(4) == 0 && q.Shape().Dim(-1) < 0 {
		scale = Rsqrt(Cast(sizeOperand(q, -1), q.DType()))
	}
	scores := Mul(MatMulT(q, k, false, true), scale)
	allowed := c.Tensor(3)
	if c.Bool(5) {
		causal := keysSeen(sizeOperand(q, -2), sizeOperand(k, -2))
		if allowed != nil {
			causal = LogicalAnd(causal, allowed)
		}
		allowed = causal
	}
	var p tensor.Tensor
	if allowed == nil {
		p = Softmax(scores, -1)
	} else {
		p = seenWeights(scores, allowed)
	}
	dp := MatMulT(g, v, false, true)
	ds := Mul(op.Eval(softmaxGradOp, p, dp, -1), scale)
	grads := []tensor.Tensor{
		sumTo(MatMul(ds, k), q), sumTo(MatMulT(ds, q, true, false), k), sumTo(MatMulT(p, g, true, false), v),
	}
	if c.Has(3) {
		grads = append(grads, nil)
	}
	return grads
}

// keysSeen returns which of m keys each of n queries sees that sees those up to itself.
func keysSeen(n, m any) tensor.Tensor {
	return LessEqual(Range(0, m, 1), ExpandDims(Add(Range(0, n, 1), Sub(m, n)), -1))
}

// seenWeights returns the softmax of the scores of keys that a query sees. One that sees none
// gets weights 0, not NaN: so its scores are not -Inf.
func seenWeights(scores, seen tensor.Tensor) tensor.Tensor {
	d := scores.DType()
	return Where(seen, Softmax(Where(seen, scores, lowestOf(d)), -1), zeroOf(d))
}

// lowestOf returns the least finite number of a floating type.
func lowestOf(d dtype.DType) *tensor.Dense {
	switch d {
	case dtype.Float16:
		return tensor.Scalar(dtype.F16(0xfbff)).(*tensor.Dense)
	case dtype.BFloat16:
		return tensor.Scalar(dtype.BF16(0xff7f)).(*tensor.Dense)
	case dtype.Float32:
		return tensor.Scalar(float32(-maxFloat32)).(*tensor.Dense)
	}
	return tensor.Scalar(-maxFloat64).(*tensor.Dense)
}
