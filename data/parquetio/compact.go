package parquetio

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// compact returns an array in which lists that are missing have no elements, as Parquet has
// them: it stores none, so that what a mask hides is left out.
func compact(d arrow.ArrayData) (arrow.ArrayData, error) {
	if _, ok := d.DataType().(arrow.NestedType); !ok || len(d.Children()) == 0 {
		return d, nil
	}
	a := array.MakeFromData(d)
	if l, ok := a.(array.ListLike); ok && a.NullN() > 0 {
		if _, fixed := a.(*array.FixedSizeList); !fixed {
			var err error
			if d, err = withoutHidden(l, d); err != nil {
				return nil, err
			}
		}
	}
	children := make([]arrow.ArrayData, len(d.Children()))
	same := true
	for i, c := range d.Children() {
		var err error
		if children[i], err = compact(c); err != nil {
			return nil, err
		}
		same = same && children[i] == c
	}
	if same {
		return d, nil
	}
	return array.NewData(d.DataType(), d.Len(), d.Buffers(), children, d.NullN(), d.Offset()), nil
}

// withoutHidden returns lists without the elements of those that are missing.
func withoutHidden(l array.ListLike, d arrow.ArrayData) (arrow.ArrayData, error) {
	ends := make([]int64, l.Len()+1)
	var runs []arrow.Array // of elements that stay
	from, to := int64(0), int64(0)
	for i := range l.Len() {
		ends[i+1] = ends[i]
		if l.IsNull(i) {
			continue
		}
		a, b := l.ValueOffsets(i)
		ends[i+1] += b - a
		if a != to {
			if to > from {
				runs = append(runs, array.NewSlice(l.ListValues(), from, to))
			}
			from = a
		}
		to = b
	}
	if to > from || len(runs) == 0 {
		runs = append(runs, array.NewSlice(l.ListValues(), from, to))
	}
	values := runs[0]
	if len(runs) > 1 {
		var err error
		if values, err = array.Concatenate(runs, memory.DefaultAllocator); err != nil {
			return nil, err
		}
	}
	bits := make([]byte, (l.Len()+7)/8)
	for i := range l.Len() {
		if l.IsValid(i) {
			bits[i>>3] |= 1 << (i & 7)
		}
	}
	offsets := arrow.Int64Traits.CastToBytes(ends)
	if d.DataType().ID() != arrow.LARGE_LIST {
		short := make([]int32, len(ends))
		for i, e := range ends {
			short[i] = int32(e)
		}
		offsets = arrow.Int32Traits.CastToBytes(short)
	}
	return array.NewData(d.DataType(), l.Len(), []*memory.Buffer{memory.NewBufferBytes(bits), memory.NewBufferBytes(offsets)}, []arrow.ArrayData{values.Data()}, l.NullN(), 0), nil
}
