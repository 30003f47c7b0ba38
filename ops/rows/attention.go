package rows

import (
	"math"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/attention"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// AttentionOptions says which keys a query sees. The zero value is one head that sees
// all keys of its row.
type AttentionOptions struct {
	Heads  int     // that lie beside each other in an item; 0 stands for 1
	Scale  float64 // factor of the scores; 0 stands for 1/√(size of a query's head)
	Causal bool    // query i sees keys up to i, counted from the last query and key of the row
}

// Attention returns, for each query of a row, the mean of the row's values weighted with
// the softmax of the scaled scores query·key (Vaswani et al., arXiv:1706.03762), for
// each head by itself. A query that sees no key gets zeros.
//
//	query: [n, heads·d], key: [m, heads·d], value: [m, heads·e], float32 or float64;
//	splits of n queries and of m keys, as many rows each → [n, heads·e]
//
// Neither padding nor all scores at a time are in memory. Gradient: of query, key and
// value; gradients of higher order fill the rows up to one length and keep all scores.
func Attention(query, key, value, querySplits, keySplits any, o AttentionOptions) tensor.Tensor {
	return op.Eval(attentionOp, query, key, value, querySplits, keySplits, max(1, o.Heads), o.Scale, o.Causal)
}

var attentionOp, attentionGradOp *op.Op

func init() {
	operands := []op.Param{{Name: "query", Group: 1}, {Name: "key", Group: 1}, {Name: "value", Group: 1}}
	attrs := []op.Param{
		{Name: "heads", Kind: op.Attr, Type: op.IntType, Default: 1},
		{Name: "scale", Kind: op.Attr, Type: op.FloatType, Default: 0.0},
		{Name: "causal", Kind: op.Attr, Type: op.BoolType, Default: false},
	}
	splits := []op.Param{{Name: "query_splits"}, {Name: "key_splits"}}
	params := func(lists ...[]op.Param) (out []op.Param) {
		for _, l := range lists {
			out = append(out, l...)
		}
		return out
	}
	attentionOp = op.Register(&op.Op{
		Name: "ragged.attention", Statement: op.Statement{Axes: op.Contract, By: op.ByRows, Control: four | five, Missing: op.Refuse, Zero: op.Zero{Linear: []op.Operands{three}}}, Doc: "Attention among the items of rows.",
		Params: params(operands, splits, attrs), Results: 1,
		Infer: func(c *op.Call) ([]tenon.Spec, error) {
			if err := attentionArgs(c, 3, 5); err != nil {
				return nil, err
			}
			q := c.Tensor(0)
			return specs(spec(q.DType(), shape.Of(q.Shape().Dim(0), c.Tensor(2).Shape().Dim(-1))))
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			a, err := newAttention(c, 3, 5)
			if err != nil {
				return nil, err
			}
			out := tensor.NewDense(c.Tensor(0).DType(), shape.Of(a.n, c.Dense(2).Dim(1)))
			if out.DType() == dtype.Float64 {
				e := tensor.Elems[float64]
				attend64(a, e(c.Dense(0)), e(c.Dense(1)), e(c.Dense(2)), e(out))
				return results(out)
			}
			e := tensor.Elems[float32]
			q, k, v, dst := e(c.Dense(0)), e(c.Dense(1)), e(c.Dense(2)), e(out)
			a.eachRow(func(r int) {
				p := a.row(r, q, k, v)
				p.Out = dst[int(a.qs[r])*a.heads*a.width:]
				attention.Forward(p, a.batch(0))
			})
			return results(out)
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			g := op.EvalN(attentionGradOp, c.Value(0), c.Value(1), c.Value(2), ct[0], c.Value(3), c.Value(4), c.Int(5), c.Float(6), c.Bool(7))
			return []tensor.Tensor{g[0], g[1], g[2], nil, nil}
		},
	})
	attentionGradOp = op.Register(&op.Op{
		Name: "ragged.attention_grad", Statement: op.Statement{Axes: op.Contract, By: op.ByRows, Control: five | six, Missing: op.Refuse, Zero: op.Zero{Linear: []op.Operands{four}}}, Doc: "The gradients of attention among the items of rows.",
		Params: params(operands, []op.Param{{Name: "ct", Group: 1}}, splits, attrs), Results: 3,
		Infer: func(c *op.Call) ([]tenon.Spec, error) {
			if err := attentionArgs(c, 4, 6); err != nil {
				return nil, err
			}
			return specs(c.Tensor(0).Spec(), c.Tensor(1).Spec(), c.Tensor(2).Spec())
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			a, err := newAttention(c, 4, 6)
			if err != nil {
				return nil, err
			}
			if want := shape.Of(a.n, c.Dense(2).Dim(1)); !c.Dense(3).Shape().Equal(want) {
				return nil, c.Errorf(tenon.ErrShape, "the cotangent has shape %v, the result %v", c.Dense(3).Shape(), want)
			}
			d := c.Tensor(0).DType()
			dq, dk, dv := tensor.NewDense(d, c.Dense(0).Shape()), tensor.NewDense(d, c.Dense(1).Shape()), tensor.NewDense(d, c.Dense(2).Shape())
			if d == dtype.Float64 {
				e := tensor.Elems[float64]
				attendGrad64(a, e(c.Dense(0)), e(c.Dense(1)), e(c.Dense(2)), e(c.Dense(3)), e(dq), e(dk), e(dv))
				return results(dq, dk, dv)
			}
			e := tensor.Elems[float32]
			q, k, v, ct := e(c.Dense(0)), e(c.Dense(1)), e(c.Dense(2)), e(c.Dense(3))
			gq, gk, gv := e(dq), e(dk), e(dv)
			scratch := sync.Pool{New: func() any { return new([]float32) }}
			a.eachRow(func(r int) {
				p := a.row(r, q, k, v)
				batch := a.batch(p.Queries)
				if attention.NeedsForward[float32](p.Keys) {
					buf := scratch.Get().(*[]float32)
					defer scratch.Put(buf)
					size := p.Queries * p.OutRow
					if n := size + p.Queries*a.heads; len(*buf) < n {
						*buf = make([]float32, n)
					}
					p.Out, p.LogSum = (*buf)[:size], (*buf)[size:]
					attention.Forward(p, batch)
				}
				q0, k0 := int(a.qs[r])*p.QRow, int(a.ks[r])
				attention.Backward(p, attention.Gradients[float32]{
					DOut: ct[int(a.qs[r])*p.OutRow:], DQ: gq[q0:], DK: gk[k0*p.KRow:], DV: gv[k0*p.VRow:],
				}, batch)
			})
			return results(dq, dk, dv)
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor { return vjpAttentionGrad(c, ct) },
	})
}

// attentionArgs checks query, key and value, the splits from argument at on and the
// attributes from argument attr on.
func attentionArgs(c *op.Call, at, attr int) error {
	heads := c.Int(attr)
	if heads < 1 {
		return c.Errorf(tenon.ErrInvalid, "there are %d heads, want at least 1", heads)
	}
	for i := range at {
		t := c.Tensor(i)
		if d := t.DType(); d != dtype.Float32 && d != dtype.Float64 {
			return c.Errorf(tenon.ErrDType, "%s has the element type %v, want float32 or float64", name(c, i), d)
		}
		s := t.Shape()
		if s.HasRank() && s.Rank() != 2 {
			return c.Errorf(tenon.ErrShape, "%s has shape %v, want a matrix with a row for each item", name(c, i), s)
		}
		if n := s.Dim(-1); n >= 0 && n%heads != 0 {
			return c.Errorf(tenon.ErrShape, "%s has %d columns, which %d heads do not divide", name(c, i), n, heads)
		}
	}
	q, k, v := c.Tensor(0).Shape(), c.Tensor(1).Shape(), c.Tensor(2).Shape()
	if a, b := q.Dim(-1), k.Dim(-1); a >= 0 && b >= 0 && a != b {
		return c.Errorf(tenon.ErrShape, "queries have %d columns and keys %d", a, b)
	}
	if a, b := k.Dim(0), v.Dim(0); a >= 0 && b >= 0 && a != b {
		return c.Errorf(tenon.ErrShape, "there are %d keys and %d values", a, b)
	}
	rows := [2]int{}
	for i, s := range []shape.Shape{q, k} {
		n, nvals, err := c.Partition(at + i)
		if err != nil {
			return err
		}
		if have := s.Dim(0); have >= 0 && nvals >= 0 && have != nvals {
			return c.Errorf(tenon.ErrShape, "%s ends at %d, there are %d items", name(c, at+i), nvals, have)
		}
		rows[i] = n
	}
	if rows[0] >= 0 && rows[1] >= 0 && rows[0] != rows[1] {
		return c.Errorf(tenon.ErrShape, "there are %d rows of queries and %d of keys", rows[0], rows[1])
	}
	return nil
}

// rowAttention is attention among rows, with sizes that have been checked.
type rowAttention struct {
	heads, depth, width int
	n                   int // queries
	qs, ks              []int64
	scale               float64
	causal              bool
}

func newAttention(c *op.Call, at, attr int) (*rowAttention, error) {
	q, k, v := c.Dense(0), c.Dense(1), c.Dense(2)
	a := &rowAttention{heads: c.Int(attr), n: q.Dim(0), scale: c.Float(attr + 1), causal: c.Bool(attr + 2)}
	var err error
	if a.qs, err = partitionOf(c, at, q.Dim(0)); err != nil {
		return nil, err
	}
	if a.ks, err = partitionOf(c, at+1, k.Dim(0)); err != nil {
		return nil, err
	}
	if len(a.qs) != len(a.ks) {
		return nil, c.Errorf(tenon.ErrShape, "there are %d rows of queries and %d of keys", len(a.qs)-1, len(a.ks)-1)
	}
	if v.Dim(0) != k.Dim(0) || k.Dim(1) != q.Dim(1) || q.Dim(1)%a.heads != 0 || v.Dim(1)%a.heads != 0 {
		return nil, c.Errorf(tenon.ErrShape, "queries %v, keys %v and values %v do not belong together for %d heads", q.Shape(), k.Shape(), v.Shape(), a.heads)
	}
	a.depth, a.width = q.Dim(1)/a.heads, v.Dim(1)/a.heads
	if a.scale == 0 {
		a.scale = 1 / math.Sqrt(float64(max(1, a.depth)))
	}
	return a, nil
}

// eachRow calls f for the rows that have queries and keys, on all workers.
func (a *rowAttention) eachRow(f func(r int)) {
	rows := len(a.qs) - 1
	const work = 1 << 18 // multiply-adds that are worth handing over
	mean := float64(a.n) * float64(a.ks[rows]) / float64(max(1, rows*rows)) * float64(a.heads*(a.depth+a.width))
	par.For(rows, max(1, int(work/max(1, mean))), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			if a.qs[r] < a.qs[r+1] && a.ks[r] < a.ks[r+1] && a.width > 0 {
				f(r)
			}
		}
	})
}

// row describes the first head of a row, but for the result; batch leads to the other heads.
func (a *rowAttention) row(r int, q, k, v []float32) attention.Params[float32] {
	q0, k0 := int(a.qs[r]), int(a.ks[r])
	return attention.Params[float32]{
		Queries: int(a.qs[r+1]) - q0, Keys: int(a.ks[r+1]) - k0, Depth: a.depth, Width: a.width,
		Q: q[q0*a.heads*a.depth:], QRow: a.heads * a.depth, K: k[k0*a.heads*a.depth:], KRow: a.heads * a.depth,
		V: v[k0*a.heads*a.width:], VRow: a.heads * a.width, OutRow: a.heads * a.width,
		Scale: float32(a.scale), Causal: a.causal,
	}
}

func (a *rowAttention) batch(queries int) attention.Batch {
	return attention.Batch{Size: a.heads, Q: a.depth, K: a.depth, V: a.width, Out: a.width, LogSum: queries}
}

// weights64 calls f for each query that sees a key and each head, with the weights of the
// keys of its row from k0 on.
func (a *rowAttention) weights64(q, k []float64, f func(i, k0, h int, w []float64)) {
	a.eachRow(func(r int) {
		q0, q1, k0, k1 := int(a.qs[r]), int(a.qs[r+1]), int(a.ks[r]), int(a.ks[r+1])
		w := make([]float64, k1-k0)
		for i := q0; i < q1; i++ {
			seen := k1 - k0
			if a.causal {
				seen = min(seen, i-q0+1+(k1-k0)-(q1-q0))
			}
			if seen <= 0 {
				continue
			}
			for h := range a.heads {
				x := q[(i*a.heads+h)*a.depth:][:a.depth]
				top, sum := math.Inf(-1), 0.0
				for j := range seen {
					w[j] = a.scale * dotProduct(x, k[((k0+j)*a.heads+h)*a.depth:][:a.depth])
					top = max(top, w[j])
				}
				for j := range seen {
					w[j] = math.Exp(w[j] - top)
					sum += w[j]
				}
				for j := range seen {
					w[j] /= sum
				}
				f(i, k0, h, w[:seen])
			}
		}
	})
}

func attend64(a *rowAttention, q, k, v, out []float64) {
	a.weights64(q, k, func(i, k0, h int, w []float64) {
		dst := out[(i*a.heads+h)*a.width:][:a.width]
		for j, p := range w {
			for t, x := range v[((k0+j)*a.heads+h)*a.width:][:a.width] {
				dst[t] += p * x
			}
		}
	})
}

func attendGrad64(a *rowAttention, q, k, v, ct, dq, dk, dv []float64) {
	a.weights64(q, k, func(i, k0, h int, w []float64) {
		g := ct[(i*a.heads+h)*a.width:][:a.width]
		x, dx := q[(i*a.heads+h)*a.depth:][:a.depth], dq[(i*a.heads+h)*a.depth:][:a.depth]
		dp, mean := make([]float64, len(w)), 0.0
		for j, p := range w {
			dp[j] = dotProduct(g, v[((k0+j)*a.heads+h)*a.width:][:a.width])
			mean += p * dp[j]
		}
		for j, p := range w {
			at := (k0+j)*a.heads + h
			y, dy, dz := k[at*a.depth:][:a.depth], dk[at*a.depth:][:a.depth], dv[at*a.width:][:a.width]
			ds := p * (dp[j] - mean) * a.scale
			for t := range x {
				dx[t] += ds * y[t]
				dy[t] += ds * x[t]
			}
			for t := range g {
				dz[t] += p * g[t]
			}
		}
	})
}
