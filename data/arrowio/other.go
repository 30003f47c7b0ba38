package arrowio

import (
	"encoding/binary"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// other returns arrays of types without a direct counterpart as tensors, in a lossless form, or nil
// for all other types.
func (r *reading) other(at string, d arrow.ArrayData) tensor.Tensor {
	switch t := d.DataType().(type) {
	case arrow.DecimalType:
		return r.decimals(at, t, d)
	case *arrow.DayTimeIntervalType:
		return r.split(at, d, "days", "milliseconds")
	case *arrow.MonthDayNanoIntervalType:
		return r.split(at, d, "months", "days", "nanoseconds")
	case *arrow.RunEndEncodedType:
		return r.runs(at, t, d)
	case *arrow.ListViewType:
		return r.listViews(at, t.ElemField(), d, 4)
	case *arrow.LargeListViewType:
		return r.listViews(at, t.ElemField(), d, 8)
	}
	return nil
}

// decimals returns decimals as strings with as many digits after the point as the type's scale,
// which is exact for all of them.
func (r *reading) decimals(at string, t arrow.DecimalType, d arrow.ArrayData) tensor.Tensor {
	width := t.(arrow.FixedWidthDataType).BitWidth() / 8
	b, missing := bytesOf(d, 1, width, 0), valid(d)
	ends, text := make([]int64, d.Len()+1), []byte(nil)
	be := make([]byte, width)
	for i := range d.Len() {
		if missing == nil || missing[i] {
			for k, c := range b[i*width : (i+1)*width] {
				be[width-1-k] = c
			}
			had := len(text)
			text = appendDecimal(text, be, int(t.GetScale()))
			r.take(at, int64(len(text)-had))
		}
		ends[i+1] = int64(len(text))
	}
	return tenon.Must(tensor.NewStrings(ends, text, shape.Of(d.Len())))
}

// appendDecimal appends a big-endian two's complement number, divided by 10^scale.
func appendDecimal(dst, b []byte, scale int) []byte {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return element.AppendDecimal(dst, n.String(), scale)
}

// split returns intervals as records of their parts: int32, except for the third, which is int64.
func (r *reading) split(at string, d arrow.ArrayData, names ...string) tensor.Tensor {
	n, width := d.Len(), d.DataType().(arrow.FixedWidthDataType).BitWidth()/8
	r.take(at, int64(n)*int64(width))
	b := bytesOf(d, 1, width, 0)
	first, second, third := make([]int32, n), make([]int32, n), make([]int64, n)
	for i := range n {
		x := b[i*width : (i+1)*width]
		first[i], second[i] = int32(binary.LittleEndian.Uint32(x)), int32(binary.LittleEndian.Uint32(x[4:]))
		if width > 8 {
			third[i] = int64(binary.LittleEndian.Uint64(x[8:]))
		}
	}
	fields := []structured.Field{{Name: names[0], Value: tensor.Vector(first)}, {Name: names[1], Value: tensor.Vector(second)}}
	if width > 8 {
		fields = append(fields, structured.Field{Name: names[2], Value: tensor.Vector(third)})
	}
	return tenon.Must(structured.FromFields(fields, shape.Of(n), structured.Options{NRows: n}))
}

// runs returns the expanded elements of a run-end encoded array.
func (r *reading) runs(at string, t *arrow.RunEndEncodedType, d arrow.ArrayData) tensor.Tensor {
	ends := tensor.Data[int64](ops.Cast(r.vector(at, d.Children()[0], dtype.None), dtype.Int64))
	values := r.natural(at, t.Fields()[1], d.Children()[1])
	r.take(at, 16*int64(d.Len()))
	index := make([]int64, d.Len())
	run := 0
	for i := range index {
		for run < len(ends) && ends[run] <= int64(d.Offset()+i) {
			run++
		}
		if run == len(ends) || run >= d.Children()[1].Len() {
			tenon.Throw(fail(tenon.ErrInvalid, r.fn, at, "the runs end before element %d", i))
		}
		index[i] = int64(run)
	}
	if len(index) == 0 {
		return r.natural(at, t.Fields()[1], slice(d.Children()[1], 0, 0))
	}
	return ops.Gather(values, tensor.Vector(index), 0)
}

// listViews returns list views, whose elements may be anywhere, as consecutive lists.
func (r *reading) listViews(at string, item arrow.Field, d arrow.ArrayData, width int) tensor.Tensor {
	number := func(b []byte, i int) int64 {
		if width == 8 {
			return int64(binary.LittleEndian.Uint64(b[8*i:]))
		}
		return int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
	}
	from, sizes, missing := bytesOf(d, 1, width, 0), bytesOf(d, 2, width, 0), valid(d)
	n := int64(d.Children()[0].Len())
	splits, index := make([]int64, d.Len()+1), []int64(nil)
	for i := range d.Len() {
		if missing == nil || missing[i] {
			a, k := number(from, i), number(sizes, i)
			if a < 0 || k < 0 || a > n || k > n-a {
				tenon.Throw(fail(tenon.ErrInvalid, r.fn, at, "list %d has elements %d to %d, but there are only %d", i, a, a+k, n))
			}
			r.take(at, 16*k)
			for j := range k {
				index = append(index, a+j)
			}
		}
		splits[i+1] = int64(len(index))
	}
	values := r.natural(at+"[]", item, d.Children()[0])
	if len(index) == 0 {
		values = r.natural(at+"[]", item, slice(d.Children()[0], 0, 0))
	} else {
		values = ops.Gather(values, tensor.Vector(index), 0)
	}
	p := tenon.Must(ragged.PartitionFromRowSplits(splits, ragged.PartitionOptions{}))
	return tenon.Must(structured.Divide(unnamed(values), p))
}

// nulls returns n missing elements of a type, as the values of a masked tensor.
func (r *reading) nulls(at string, f arrow.Field, n int) tensor.Tensor {
	r.take(at, int64(n)*64)
	a := array.MakeArrayOfNull(memory.DefaultAllocator, f.Type, n)
	return r.present(at, "", "", a.Data())
}
