package rows

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/internal/kernel/gather"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// An embedding bag is a sum of weighted rows of a table, for each row of ids:
//
//	bag[r] = Σ_{i in row r} w_i table[id_i]
//
// It is linear in the table and in the weights, and its two gradients are linear
// in the same way, so the three operations in this file are each other's
// gradients. None of them allocates a tensor with a row of the table for each id.
var bagOp, bagTableOp, bagWeightOp *op.Op

func init() {
	ids, weights := indices("ids"), op.Param{Name: "weights", Group: 1}
	table := op.Param{Name: "table", Group: 1}
	bagOp = op.Register(&op.Op{
		Name: "ragged.embedding_bag", Statement: contracts([]op.Operands{one, three}, two|four), Doc: "Weighted sums of rows of a table.",
		Params: []op.Param{table, ids, weights, splitsParam}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) {
			nrows := bagArgs(c, 1, 3)
			bagTypes(c, 0, 2)
			return shape.Of(nrows, c.Tensor(0).Shape().Dim(-1)), nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			splits := rowSplits(c, 3, c.Dense(1).Len())
			at := bagIDs(c, 1, c.Dense(0).Dim(0))
			out := tensor.NewDense(c.Tensor(0).DType(), shape.Of(len(splits)-1, c.Dense(0).Dim(1)))
			if out.DType() == dtype.Float32 {
				bag[float32](out, c.Dense(0), at, c.Dense(2), splits)
			} else {
				bag[float64](out, c.Dense(0), at, c.Dense(2), splits)
			}
			return results(out)
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			t := c.Tensor(0)
			return []tensor.Tensor{
				op.Eval(bagTableOp, ct[0], c.Value(1), c.Value(2), c.Value(3), tableSize(t)),
				nil,
				op.Eval(bagWeightOp, ct[0], t, c.Value(1), c.Value(3)),
				nil,
			}
		},
	})
	bagTableOp = op.Register(&op.Op{
		Name: "ragged.embedding_bag_table", Statement: contracts([]op.Operands{one, three}, two|four|five), Doc: "The gradient of an embedding bag with respect to its table.",
		Params:  []op.Param{{Name: "ct", Group: 1}, ids, weights, splitsParam, sizeParam("size")},
		Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) {
			bagArgs(c, 1, 3)
			bagTypes(c, 0, 2)
			return shape.Of(count(c, 4), c.Tensor(0).Shape().Dim(-1)), nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			splits := rowSplits(c, 3, c.Dense(1).Len())
			if len(splits)-1 != c.Dense(0).Dim(0) {
				return nil, c.Errorf(tenon.ErrShape, "there are %d rows of ids and %d of cotangents", len(splits)-1, c.Dense(0).Dim(0))
			}
			size := outShape(c, 0).Dim(0)
			at := bagIDs(c, 1, size)
			out := tensor.NewDense(c.Tensor(0).DType(), shape.Of(size, c.Dense(0).Dim(1)))
			if out.DType() == dtype.Float32 {
				bagTable[float32](out, c.Dense(0), at, c.Dense(2), splits)
			} else {
				bagTable[float64](out, c.Dense(0), at, c.Dense(2), splits)
			}
			return results(out)
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			return []tensor.Tensor{
				op.Eval(bagOp, ct[0], c.Value(1), c.Value(2), c.Value(3)),
				nil,
				op.Eval(bagWeightOp, c.Value(0), ct[0], c.Value(1), c.Value(3)),
				nil, nil,
			}
		},
	})
	bagWeightOp = op.Register(&op.Op{
		Name: "ragged.embedding_bag_weights", Statement: contracts([]op.Operands{one, two}, three|four), Doc: "The gradient of an embedding bag with respect to its weights.",
		Params: []op.Param{{Name: "ct", Group: 1}, table, ids, splitsParam}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) {
			bagArgs(c, 2, 3)
			bagTypes(c, 0, 1)
			agree(c, tenon.ErrShape, "the cotangents have %d columns, the table %d", c.Tensor(0).Shape().Dim(-1), c.Tensor(1).Shape().Dim(-1))
			return c.Tensor(2).Shape(), nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			splits := rowSplits(c, 3, c.Dense(2).Len())
			if len(splits)-1 != c.Dense(0).Dim(0) || c.Dense(0).Dim(1) != c.Dense(1).Dim(1) {
				return nil, c.Errorf(tenon.ErrShape, "the cotangents %v do not belong to %d rows of ids and the table %v", c.Dense(0).Shape(), len(splits)-1, c.Dense(1).Shape())
			}
			at := bagIDs(c, 2, c.Dense(1).Dim(0))
			out := tensor.NewDense(c.Tensor(0).DType(), c.Dense(2).Shape())
			if out.DType() == dtype.Float32 {
				bagWeights[float32](out, c.Dense(0), c.Dense(1), at, splits)
			} else {
				bagWeights[float64](out, c.Dense(0), c.Dense(1), at, splits)
			}
			return results(out)
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			return []tensor.Tensor{
				op.Eval(bagOp, c.Value(1), c.Value(2), ct[0], c.Value(3)),
				op.Eval(bagTableOp, c.Value(0), c.Value(2), ct[0], c.Value(3), tableSize(c.Tensor(1))),
				nil, nil,
			}
		},
	})
}

// tableSize returns the number of rows of a table.
func tableSize(t tensor.Tensor) any {
	if n := t.Shape().Dim(0); n >= 0 {
		return int64(n)
	}
	return ops.Gather(ops.Shape(t), int64(0), 0)
}

// EmbeddingBag returns, for each row of ids, the sum of the table's rows with these ids, each
// multiplied by its weight.
//
//	table: [size, width] float32 or float64; ids: [n] int32 or int64; weights: [n]; splits of n values → [rows, width]
//
// An id outside the table is an error. Gradients: for the table and for the weights.
func EmbeddingBag(table, ids, weights, splits any) tensor.Tensor {
	return op.Eval(bagOp, table, ids, weights, splits)
}

// bagArgs checks ids and splits and returns the number of rows.
func bagArgs(c *op.Call, ids, splits int) (nrows int) {
	nrows, nvals := partition(c, splits)
	agree(c, tenon.ErrShape, "there are %d ids, the splits end at %d", length(c, ids), nvals)
	return nrows
}

// bagTypes checks the matrix and the other operand of a bag.
func bagTypes(c *op.Call, matrix, other int) {
	m, o, want := c.Tensor(matrix), c.Tensor(other), name(c, other)
	if d := m.DType(); d != dtype.Float32 && d != dtype.Float64 {
		tenon.Throw(c.Errorf(tenon.ErrDType, "%s has the element type %v, want float32 or float64", name(c, matrix), d))
	}
	if s := m.Shape(); s.HasRank() && s.Rank() != 2 {
		tenon.Throw(c.Errorf(tenon.ErrShape, "%s has shape %v, want a matrix", name(c, matrix), s))
	}
	if s := o.Shape(); s.HasRank() && (want == "weights" && s.Rank() != 1 || want == "table" && s.Rank() != 2) {
		tenon.Throw(c.Errorf(tenon.ErrShape, "%s has shape %v", want, s))
	}
	if want == "weights" {
		agree(c, tenon.ErrShape, "there are %d ids and %d weights", length(c, 1), o.Shape().Dim(0))
	}
}

// bagIDs returns the ids of a kernel's call, all of which are below limit.
func bagIDs(c *op.Call, i, limit int) []int64 {
	at := wide(c.Dense(i))
	tenon.Throw(gather.Check(at, int64(limit)))
	return at
}

// bagGrain is the approximate number of ids that a worker takes at a time.
const bagGrain = 256

type bagFloat interface{ float32 | float64 }

func bag[T bagFloat](out, table *tensor.Dense, ids []int64, weights *tensor.Dense, splits []int64) {
	dst, src, w := tensor.Elems[T](out), tensor.Elems[T](table), tensor.Elems[T](weights)
	width := table.Dim(1)
	k := kernelsOf[T]()
	nrows := len(splits) - 1
	grain := max(1, bagGrain*nrows/max(1, len(ids)))
	if nrows <= grain {
		bagRows(k, dst, src, w, ids, splits, width, 0, nrows)
		return
	}
	par.For(nrows, grain, func(lo, hi int) { bagRows(k, dst, src, w, ids, splits, width, lo, hi) })
}

func bagRows[T bagFloat](k *bagKernels[T], dst, src, w []T, ids, splits []int64, width, lo, hi int) {
	var tmp []T
	for r := lo; r < hi; r++ {
		row := dst[r*width : (r+1)*width]
		for i := splits[r]; i < splits[r+1]; i++ {
			at := int(ids[i]) * width
			if i == splits[r] {
				k.scale(row, src[at:at+width], w[i])
				continue
			}
			if tmp == nil {
				tmp = make([]T, width)
			}
			k.scale(tmp, src[at:at+width], w[i])
			k.add(row, row, tmp)
		}
	}
}

// bagKernels are the kernels that add up rows. They are looked up once.
type bagKernels[T bagFloat] struct {
	scale func(dst, x []T, y T) int
	add   func(dst, x, y []T) int
}

func newBagKernels[T bagFloat]() *bagKernels[T] {
	return &bagKernels[T]{elementwise.BinaryVS[T](elementwise.Mul), elementwise.Binary[T](elementwise.Add)}
}

var (
	bagKernels32 = newBagKernels[float32]()
	bagKernels64 = newBagKernels[float64]()
)

func kernelsOf[T bagFloat]() *bagKernels[T] {
	if k, ok := any(bagKernels32).(*bagKernels[T]); ok {
		return k
	}
	return any(bagKernels64).(*bagKernels[T])
}

// bagTable adds up by columns, so that workers never write to the same element
// and additions are made in the order of the ids.
func bagTable[T bagFloat](out, ct *tensor.Dense, ids []int64, weights *tensor.Dense, splits []int64) {
	dst, src, w := tensor.Elems[T](out), tensor.Elems[T](ct), tensor.Elems[T](weights)
	width := ct.Dim(1)
	k := kernelsOf[T]()
	const columns = 128
	par.For(width, columns, func(lo, hi int) {
		tmp := make([]T, hi-lo)
		for r := range len(splits) - 1 {
			row := src[r*width+lo : r*width+hi]
			for i := splits[r]; i < splits[r+1]; i++ {
				at := int(ids[i]) * width
				k.scale(tmp, row, w[i])
				to := dst[at+lo : at+hi]
				k.add(to, to, tmp)
			}
		}
	})
}

func bagWeights[T bagFloat](out, ct, table *tensor.Dense, ids []int64, splits []int64) {
	dst, rows, src := tensor.Elems[T](out), tensor.Elems[T](ct), tensor.Elems[T](table)
	width := table.Dim(1)
	nrows := len(splits) - 1
	grain := max(1, bagGrain*nrows/max(1, len(ids)))
	par.For(nrows, grain, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			row := rows[r*width : (r+1)*width]
			for i := splits[r]; i < splits[r+1]; i++ {
				at := int(ids[i]) * width
				dst[i] = dotProduct(row, src[at:at+width])
			}
		}
	})
}

// dotProduct keeps eight sums, which the processor can compute in parallel.
func dotProduct[T bagFloat](x, y []T) T {
	y = y[:len(x)]
	var s [8]T
	i := 0
	for ; i+8 <= len(x); i += 8 {
		a, b := (*[8]T)(x[i:]), (*[8]T)(y[i:])
		for k := range s {
			s[k] += a[k] * b[k]
		}
	}
	for ; i < len(x); i++ {
		s[0] += x[i] * y[i]
	}
	return (s[0] + s[1]) + (s[2] + s[3]) + ((s[4] + s[5]) + (s[6] + s[7]))
}
