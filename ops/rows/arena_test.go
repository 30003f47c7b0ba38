package rows_test

import (
	"bytes"
	"testing"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Results whose memory comes from the pool do not depend on what was in it.
func TestResultsAreWrittenWhole(t *testing.T) {
	const n = 40000
	x := tensor.Contiguous(ops.Cast(ops.Mod(ops.Mul(ops.Range(0, n, 1), 7919), 1013), dtype.Float32).(*tensor.Dense))
	m := x.Reshaped(shape.Of(200, 200))
	ids := ops.Mod(ops.Range(0, n, 1), 30011)
	lengths := ops.Mod(ops.Range(0, 400, 1), 201)
	splits := rows.FromLengths(lengths)
	v := ops.Slice(x, []int{0}, tensor.Of([]int64{tensor.Data[int64](splits)[400]}))
	at := ops.Reshape(ops.Reverse(ops.Range(0, 400, 1), 0), []int{-1})
	mask := ops.Equal(ops.Mod(ops.Range(0, n, 1), 3), 0)
	square := ops.Cast(ops.Mod(ops.Cast(m, dtype.Int64), 200), dtype.Int64)
	all := func(x ...tensor.Tensor) []tensor.Tensor { return x }
	for name, f := range map[string]func() []tensor.Tensor{
		"concat": func() []tensor.Tensor { return all(ops.Concat([]any{m, m}, 1), ops.Concat([]any{x, x}, 0)) }, "stack": func() []tensor.Tensor { return all(ops.Stack([]any{m, m}, 2)) },
		"tile": func() []tensor.Tensor { return all(ops.Tile(m, []int{2, 3})) }, "repeat": func() []tensor.Tensor { return all(ops.Repeat(m, 3, 1), ops.Repeat(x, ops.Mod(ids, 3), 0)) },
		"pad": func() []tensor.Tensor {
			return all(ops.Pad(m, [][]int{{3, 5}, {7, 2}}, ops.PadOptions{Mode: ops.PadReflect}), ops.Pad(m, [][]int{{3, 5}, {7, 2}}, ops.PadOptions{}))
		},
		"gather": func() []tensor.Tensor {
			return all(ops.Gather(x, ids, 0), ops.Gather(m, ops.Mod(at, 200), 1), ops.GatherND(x, ops.ExpandDims(ids, 1), 0))
		},
		"along": func() []tensor.Tensor { return all(ops.TakeAlongAxis(m, square, 1), ops.PutAlongAxis(m, square, m, 1)) }, "roll": func() []tensor.Tensor { return all(ops.Roll(m, 17, 1)) },
		"order": func() []tensor.Tensor {
			top, p := ops.TopK(m, 190)
			return all(ops.Sort(m, 0, ops.SortOptions{}), ops.ArgSort(m, 1, ops.SortOptions{}), top, p)
		},
		"mask":   func() []tensor.Tensor { return all(ops.BooleanMask(x, mask, 0), ops.Nonzero(mask)) },
		"copies": func() []tensor.Tensor { return all(ops.Transpose(m), ops.Reverse(x, 0), ops.Fill([]int{n}, 2)) },
		"segments": func() []tensor.Tensor {
			return all(ops.SegmentSum(x, ids, n), ops.SegmentMax(x, ids, n), ops.SegmentMean(x, ids, n), ops.SegmentProd(x, ids, n))
		},
		"scatter": func() []tensor.Tensor { return all(ops.ScatterND(ops.ExpandDims(ids, 1), x, []int{n})) },
		"band":    func() []tensor.Tensor { return all(ops.Tril(m, 3), ops.Diag(ops.Slice(x, []int{0}, []int{300}))) },
		"one hot": func() []tensor.Tensor {
			return all(ops.OneHot(lengths, 201, -1, ops.OneHotOptions{}), ops.SequenceMask(lengths, 201))
		},
		"rows reduced": func() []tensor.Tensor {
			w := ops.ExpandDims(v, 1)
			wide := ops.Concat([]any{w, w}, 1)
			many := rows.Uniform(1, n)
			return all(rows.Sum(x, many), rows.Max(x, many), rows.Mean(x, many), rows.Prod(wide, splits), rows.ArgMax(x, many))
		},
		"rows along": func() []tensor.Tensor {
			return all(rows.Softmax(v, splits), rows.LogSoftmax(v, splits), rows.CumSum(v, splits, rows.CumOptions{}), rows.CumProd(v, splits, rows.CumOptions{Exclusive: true}), rows.Shift(v, splits, 3), rows.Shift(v, splits, -300), rows.LinearScan(v, v, splits, true))
		},
		"rows moved": func() []tensor.Tensor {
			g, gs := rows.Gather(v, splits, at)
			s, ss := rows.Slice(v, splits, key.Range(nil, nil, -2))
			c, cs := rows.Concat([]any{v, v}, []any{splits, splits})
			p, found := rows.Pick(ops.Repeat(ops.ExpandDims(v, 1), 9, 1), splits, 100, nil)
			return all(g, gs, s, ss, c, cs, p, found, rows.Repeat(lengths, splits, -1), rows.Reverse(v, splits), rows.Roll(v, splits, 5), rows.Sort(v, splits, rows.SortOptions{}), rows.ArgSort(v, splits, rows.SortOptions{}))
		},
		"rows padded": func() []tensor.Tensor {
			d := rows.ToDense(v, splits, 300, nil)
			return all(d, rows.FromDense(d, splits), rows.BinCount(ops.Cast(v, dtype.Int64), splits, 500, rows.BinCountOptions{}))
		},
	} {
		poison(0)
		first := f()
		poison(0xFF)
		for i, y := range f() {
			a, b := tensor.Contiguous(first[i].(*tensor.Dense)), tensor.Contiguous(y.(*tensor.Dense))
			if !bytes.Equal(a.Bytes()[:a.Len()*a.DType().Size()], b.Bytes()[:b.Len()*b.DType().Size()]) {
				t.Errorf("%s, result %d holds what was in memory before", name, i)
			}
		}
	}
}

// poison fills free buffers of the pool.
func poison(b byte) {
	var held []*tensor.Dense
	for size := 64 << 10; size <= 2<<20; size += size / 4 {
		for range 3 {
			d := tensor.Uninit(dtype.Uint8, shape.Of(size))
			all := d.Bytes()
			for i := range all {
				all[i] = b
			}
			held = append(held, d)
		}
	}
	for _, d := range held {
		tensor.Release(d)
	}
}
