package arrowio

import (
	"encoding/json"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// variableShape returns tensors of different shapes as one ragged tensor: trailing dimensions that
// have the same size in all tensors according to the metadata become axes, and the other dimensions
// are partitioned. Dimensions are named if the metadata names them.
func (r *reading) variableShape(at, meta string, d arrow.ArrayData) tensor.Tensor {
	data, sizes, m := r.variableParts(at, meta, d)
	n, rank := d.Len(), sizes.Shape().Dim(1)
	shapes := tensor.Data[int32](sizes)
	ends := data.ends
	order := r.rowMajor(at, m, shapes, n, rank, ends)

	// The trailing dimensions of uniform size become axes.
	plain := 0
	for plain < rank-1 && len(m.Uniform) == rank && m.Uniform[logical(m, rank-1-plain)] != nil {
		plain++
	}
	values := r.natural(at+".data[]", data.item, data.child)
	if order != nil {
		values = ops.Gather(values, tensor.Vector(order), 0)
	}
	tail := make([]int, plain)
	for i := range tail {
		tail[i] = *m.Uniform[logical(m, rank-plain+i)]
	}
	parts := r.boxes(at, m, shapes, n, rank, rank-plain)
	count, _ := parts[len(parts)-1].Splits64()
	dims := append([]int{int(count[len(count)-1])}, tail...)
	if product(dims) != data.child.Len() {
		tenon.Throw(r.badShape(at, meta))
	}
	v := tenon.Must(ragged.FromPartitions(reshaped(values, dims...), parts...))
	names := make([]string, len(m.DimNames))
	for i := range names {
		names[i] = m.DimNames[logical(m, i)]
	}
	if x, ok := withNames(v, names); ok {
		return x
	}
	return v
}

func (r *reading) badShape(at, meta string) error {
	return fail(tenon.ErrInvalid, r.fn, at, "the shapes or the metadata %q do not match the data of %s", meta, variableShape)
}

// logical returns the stored dimension of a logical dimension.
func logical(m *shapeMeta, i int) int {
	if len(m.Permutation) > 0 {
		return m.Permutation[i]
	}
	return i
}

// variableParts takes the storage apart: the lists of elements, and their sizes int32[n, rank],
// whose products must be the lengths of the lists.
func (r *reading) variableParts(at, meta string, d arrow.ArrayData) (level, *tensor.Dense, *shapeMeta) {
	m := &shapeMeta{}
	if meta != "" {
		if err := json.Unmarshal([]byte(meta), m); err != nil {
			tenon.Throw(r.badShape(at, meta))
		}
	}
	t, ok := d.DataType().(*arrow.StructType)
	if !ok || t.NumFields() != 2 || t.Field(0).Name != "data" || t.Field(1).Name != "shape" {
		tenon.Throw(r.mismatch(at, d.DataType(), "the storage of "+variableShape))
	}
	list := slice(d.Children()[0], d.Offset(), d.Offset()+d.Len())
	size := slice(d.Children()[1], d.Offset(), d.Offset()+d.Len())
	data, ok := r.level(list)
	dims, ok2 := r.level(size)
	if !ok || !ok2 || data.k >= 0 || dims.k <= 0 || dims.child.DataType().ID() != arrow.INT32 || !m.fits(dims.k) {
		tenon.Throw(r.mismatch(at, d.DataType(), "the storage of "+variableShape))
	}
	sizes := tensor.Contiguous(r.vector(at, dims.child, dtype.Int32).(*tensor.Dense))
	shapes, missing := tensor.Data[int32](sizes), valid(d)
	if (missing != nil || valid(list) != nil || valid(size) != nil || valid(dims.child) != nil) && len(shapes) > 0 {
		tenon.Throw(fail(tenon.ErrUnsupported, r.fn, at, "unsupported missing tensors in %s", variableShape))
	}
	for i := range d.Len() {
		count := 1
		for j, k := range shapes[i*dims.k : (i+1)*dims.k] {
			if k < 0 || len(m.Uniform) == dims.k && m.Uniform[j] != nil && *m.Uniform[j] != int(k) {
				tenon.Throw(r.badShape(at, meta))
			}
			if count *= int(k); count > math.MaxInt32 {
				tenon.Throw(r.badShape(at, meta))
			}
		}
		if int64(count) != data.ends[i+1]-data.ends[i] {
			tenon.Throw(r.badShape(at, meta))
		}
	}
	return data, reshaped(sizes, d.Len(), dims.k).(*tensor.Dense), m
}

// boxes returns the partitions of the leading dimensions of tensors.
func (r *reading) boxes(at string, m *shapeMeta, shapes []int32, n, rank, ragged_ int) []*ragged.RowPartition {
	repeat := make([]int, n) // number of rows of each tensor in the enclosing dimension
	for i := range repeat {
		repeat[i] = 1
	}
	var out []*ragged.RowPartition
	for j := range ragged_ {
		splits, total := []int64{0}, int64(0)
		for i := range n {
			k := int64(shapes[i*rank+logical(m, j)])
			r.take(at, 8*int64(repeat[i]))
			for range repeat[i] {
				total += k
				splits = append(splits, total)
			}
			repeat[i] *= int(k)
		}
		out = append(out, tenon.Must(ragged.PartitionFromRowSplits(splits, ragged.PartitionOptions{})))
	}
	return out
}

// rowMajor returns the positions of the elements in the data, in the order of the dimensions, or
// nil if they are stored in that order.
func (r *reading) rowMajor(at string, m *shapeMeta, shapes []int32, n, rank int, ends []int64) []int64 {
	same := true
	for i, k := range m.Permutation {
		same = same && i == k
	}
	if same {
		return nil
	}
	r.take(at, 8*(ends[len(ends)-1]-ends[0]))
	var out []int64
	strides, index := make([]int64, rank), make([]int32, rank)
	for i := range n {
		stored := shapes[i*rank : (i+1)*rank]
		step := int64(1)
		for j := rank - 1; j >= 0; j-- {
			strides[j], step = step, step*int64(stored[j])
		}
		for range ends[i+1] - ends[i] {
			pos := ends[i] - ends[0]
			for j, k := range m.Permutation {
				pos += int64(index[j]) * strides[k]
			}
			out = append(out, pos)
			for j := rank - 1; j >= 0; j-- {
				if index[j]++; index[j] < stored[m.Permutation[j]] {
					break
				}
				index[j] = 0
			}
		}
	}
	return out
}
