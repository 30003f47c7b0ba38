package nn

import (
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// CTC returns, for each row of steps, the connectionist temporal classification loss: the negative
// logarithm of the probability that choosing a class at each step, and then removing repetitions and
// blanks, gives the row of labels (A. Graves et al., ICML 2006). It is +Inf, with a gradient of 0, if
// there are too few steps.
//
//	logits: [rows, (steps), classes], labels: [rows, (labels)] int32 or int64 without the blank → [rows]
//
// Both may be ragged, dense, or masked where rows have no more steps or labels.
//
// The gradient with respect to the logits is computed in the same pass; it cannot be differentiated
// again.
func CTC(logits, labels tensor.Tensor, blank int) tensor.Tensor {
	const fn = "nn.CTC"
	x, steps, wrap := rowsOf(fn, logits, 1)
	y, splits, _ := rowsOf(fn, labels, 0)
	i64 := func(x tensor.Tensor) tensor.Tensor { return ops.Cast(x, dtype.Int64) }
	out := op.EvalN(ctcOp, ops.Cast(x, dtype.Float64), i64(steps), i64(y), i64(splits), blank)
	return wrap(ops.Cast(out[0], x.DType()))
}

var ctcOp = op.Register(&op.Op{
	Name: "nn.ctc", GoName: "nn.CTC", Doc: "connectionist temporal classification", Results: 2,
	Statement: op.Statement{Axes: op.Opaque, By: op.ByRows, Control: op.Second | op.Third | op.Fourth, Missing: op.Refuse, Why: "the labels of a row are aligned with its steps"},
	Params:    []op.Param{{Name: "logits"}, {Name: "splits"}, {Name: "labels"}, {Name: "label_splits"}, {Name: "blank", Kind: op.Attr, Type: op.IntType, Default: 0}},
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		x, a, b := c.Tensor(0), c.Tensor(1).Shape(), c.Tensor(3).Shape()
		if s := x.Shape(); s.HasRank() && s.Rank() != 2 {
			return nil, c.Errorf(tenon.ErrShape, "the logits of all steps have the shape %v, want [steps, classes]", s)
		}
		if !a.CompatibleWith(b) {
			return nil, c.Errorf(tenon.ErrShape, "there are %d rows of steps and %d of labels", a.Dim(0)-1, b.Dim(0)-1)
		}
		n := shape.Unknown
		if a.HasRank() && a.Dim(0) >= 0 {
			n = max(0, a.Dim(0)-1)
		}
		return []tenon.Spec{tensor.NewSpec(dtype.Float64, shape.Of(n)), x.Spec()}, nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x, labels := tensor.Contiguous(c.Dense(0)), tensor.Elems[int64](tensor.Contiguous(c.Dense(2)))
		classes, blank := x.Dim(1), c.Int(4)
		splits, err := rows.Entries(c.Dense(1))
		if err != nil {
			return nil, err
		}
		ends, err := rows.Entries(c.Dense(3))
		if err != nil {
			return nil, err
		}
		if blank < 0 || blank >= classes {
			return nil, c.Errorf(tenon.ErrInvalid, "the blank %d is not one of %d classes", blank, classes)
		}
		if len(splits) != len(ends) || splits[len(splits)-1] != int64(x.Dim(0)) || ends[len(ends)-1] != int64(len(labels)) {
			return nil, c.Errorf(tenon.ErrShape, "%d rows of steps and %d of labels do not fit %d steps and %d labels", len(splits)-1, len(ends)-1, x.Dim(0), len(labels))
		}
		for r := range len(ends) - 1 {
			for i, l := range labels[ends[r]:ends[r+1]] {
				if l >= 0 && l < int64(classes) && l != int64(blank) {
					continue
				}
				what := fmt.Sprintf("not one of %d classes", classes)
				if l == int64(blank) {
					what = "the blank, which a row of labels does not contain"
				}
				e := c.Errorf(tenon.ErrInvalid, "label %d is %s", l, what)
				e.Where = fmt.Sprintf("labels[%d, %d]", r, i)
				return nil, e
			}
		}
		loss, grad := tensor.Uninit(dtype.Float64, shape.Of(len(splits)-1)), tensor.Uninit(dtype.Float64, x.Shape())
		in, out, by := tensor.Elems[float64](x), tensor.Elems[float64](loss), tensor.Elems[float64](grad)
		par.For(len(out), 1, func(from, to int) {
			for r := from; r < to; r++ {
				a, b := int(splits[r])*classes, int(splits[r+1])*classes
				out[r] = align(in[a:b], by[a:b], classes, labels[ends[r]:ends[r+1]], blank)
			}
		})
		return []tensor.Tensor{loss, grad}, nil
	},
})

func init() {
	ctcOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		each := rows.Repeat(ct[0], c.Tensor(1), c.Tensor(0).Shape().Dim(0))
		return []tensor.Tensor{ops.Mul(ops.ExpandDims(each, -1), out[1]), nil, nil, nil}
	}
}

// align returns the loss of one row, and writes its gradient: the softmax minus the expected
// frequency of each class at a step, over all alignments that give the labels.
func align(x, grad []float64, classes int, labels []int64, blank int) float64 {
	steps, states := len(x)/classes, 2*len(labels)+1
	if steps == 0 {
		if states == 1 {
			return 0
		}
		return math.Inf(1)
	}
	// The states are the labels with a blank before, between and after them.
	at := func(s int) int {
		if s%2 == 0 {
			return blank
		}
		return int(labels[s/2])
	}
	skips := func(s int) bool { return s%2 == 1 && s > 1 && at(s) != at(s-2) }
	logs := grad // log softmax, overwritten by the gradient at the end
	for t := range steps {
		row, to := x[t*classes:(t+1)*classes], logs[t*classes:(t+1)*classes]
		z := math.Inf(-1)
		for _, v := range row {
			z = logAdd(z, v)
		}
		for i, v := range row {
			to[i] = v - z
		}
	}
	// ahead[t, s] is over all paths that are at s at step t, up to and including that step;
	// behind is over the rest of the path.
	ahead, behind := make([]float64, steps*states), make([]float64, steps*states)
	for i := range ahead {
		ahead[i], behind[i] = math.Inf(-1), math.Inf(-1)
	}
	ahead[0] = logs[at(0)]
	if states > 1 {
		ahead[1] = logs[at(1)]
	}
	for t := 1; t < steps; t++ {
		before, now := ahead[(t-1)*states:t*states], ahead[t*states:(t+1)*states]
		for s := range now {
			v := before[s]
			if s > 0 {
				v = logAdd(v, before[s-1])
			}
			if skips(s) {
				v = logAdd(v, before[s-2])
			}
			now[s] = v + logs[t*classes+at(s)]
		}
	}
	last := (steps - 1) * states
	total := ahead[last+states-1]
	behind[last+states-1] = 0
	if states > 1 {
		total = logAdd(total, ahead[last+states-2])
		behind[last+states-2] = 0
	}
	if math.IsInf(total, -1) {
		clear(grad)
		return math.Inf(1)
	}
	for t := steps - 2; t >= 0; t-- {
		now, next := behind[t*states:(t+1)*states], behind[(t+1)*states:(t+2)*states]
		from := func(s int) float64 { return next[s] + logs[(t+1)*classes+at(s)] }
		for s := range now {
			v := from(s)
			if s+1 < states {
				v = logAdd(v, from(s+1))
			}
			if s+2 < states && skips(s+2) {
				v = logAdd(v, from(s+2))
			}
			now[s] = v
		}
	}
	for i, v := range logs {
		grad[i] = math.Exp(v)
	}
	for t := range steps {
		for s := range states {
			grad[t*classes+at(s)] -= math.Exp(ahead[t*states+s] + behind[t*states+s] - total)
		}
	}
	return -total
}

// logAdd returns log(eᵃ + eᵇ).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) || math.IsInf(a, 1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}
