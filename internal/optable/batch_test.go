package optable

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/batching"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// The rule of an operation on rows, its own or the one that its statement gives, against the
// operation on row after row, for each choice of batched arguments.
func TestBatch(t *testing.T) {
	eachCall(t, func(t *testing.T, r Row, c Call) {
		o := r.Definition()
		if r.Ref == nil {
			return
		}
		call, err := op.NewCall(o, c.Args...)
		if err == nil {
			call, err = promote(call)
		}
		if err != nil {
			t.Fatal(err)
		}
		values := call.Values()
		if slices.ContainsFunc(values, func(v tenon.Value) bool { return v.(tensor.Tensor).Shape().Size() > 1000 }) {
			return
		}
		for set := 1; set < 1<<len(values) && set < 16; set++ {
			batched := make([]bool, len(values))
			for i := range batched {
				batched[i] = set>>i&1 == 1
			}
			batchOnce(t, r, call, values, batched)
		}
	})
}

func batchOnce(t *testing.T, r Row, call *op.Call, values []tenon.Value, batched []bool) {
	t.Helper()
	const rows = 3
	stacked := slices.Clone(values)
	var want [rows][]tenon.Value
	parts := make([][]tenon.Value, rows)
	for k := range rows {
		parts[k] = slices.Clone(values)
		for i, b := range batched {
			if b {
				parts[k][i] = turned(values[i].(tensor.Tensor), k)
			}
		}
		out, err := call.WithValues(parts[k]).Do()
		if err != nil {
			return // the arguments of the other rows make no sense, such as turned shapes
		}
		want[k] = out
	}
	for k := range rows {
		for i := range want[k] {
			if !want[k][i].(tensor.Tensor).Shape().Equal(want[0][i].(tensor.Tensor).Shape()) {
				return // the results of rows differ in shape
			}
		}
	}
	for i, b := range batched {
		if b {
			column := make([]tensor.Tensor, rows)
			for k := range rows {
				column[k] = parts[k][i].(tensor.Tensor)
			}
			stacked[i] = stackOf(column)
		}
	}
	got, err := batching.Rule(call.WithValues(stacked), batched)
	if errors.Is(err, op.NotHandled) {
		return
	}
	if err != nil {
		t.Errorf("batched %v: %v", batched, err)
		return
	}
	for i := range want[0] {
		column := make([]tensor.Tensor, rows)
		for k := range rows {
			column[k] = want[k][i].(tensor.Tensor)
		}
		if r, ok := got[i].(*ragged.Tensor); ok { // results of rows that may differ in length
			for k, x := range column {
				compare(t, fmt.Sprintf("batched %v, result %d, row %d", batched, i, k), ArrayOf(ops.Index(r, k)), ArrayOf(x), 0)
			}
			continue
		}
		compare(t, fmt.Sprintf("batched %v, result %d", batched, i), ArrayOf(got[i]), ArrayOf(stackOf(column)), 4*r.Tolerance(column[0].DType()))
	}
}

// turned returns x with its elements moved by k places, so that rows differ.
func turned(x tensor.Tensor, k int) tensor.Tensor {
	if s, ok := x.(*tensor.Strings); ok {
		l := s.Slice()
		if len(l) == 0 {
			return x
		}
		k %= len(l)
		return tensor.Of(append(l[k:], l[:k]...)).(*tensor.Strings).Reshaped(x.Shape())
	}
	d := tensor.Contiguous(x.(*tensor.Dense))
	if d.Len() == 0 {
		return x
	}
	out := tensor.NewDense(d.DType(), d.Shape())
	cut := k % d.Len() * d.DType().Size()
	b := d.Bytes()
	copy(out.Bytes(), append(slices.Clone(b[cut:]), b[:cut]...))
	return out
}

func stackOf(xs []tensor.Tensor) tensor.Tensor {
	if _, ok := xs[0].(*tensor.Strings); ok {
		var all []string
		for _, x := range xs {
			all = append(all, x.(*tensor.Strings).Slice()...)
		}
		return tensor.Of(all).(*tensor.Strings).Reshaped(xs[0].Shape().Insert(0, len(xs)))
	}
	out := tensor.NewDense(xs[0].DType(), xs[0].Shape().Insert(0, len(xs)))
	n := 0
	for _, x := range xs {
		n += copy(out.Bytes()[n:], tensor.Contiguous(x.(*tensor.Dense)).Bytes())
	}
	return out
}
