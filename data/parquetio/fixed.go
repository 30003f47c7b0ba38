package parquetio

import (
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Parquet has no fixed-size lists. The sizes of such lists are stored next to the Spec of a column:
// for each list, in schema order, its size, or - for other lists.

// keyLists is the metadata key of the list sizes of a column.
const keyLists = "tenon.lists"

// sizes returns the sizes of the lists in a type.
func sizes(t arrow.DataType) []string {
	var out []string
	switch t := t.(type) {
	case *arrow.FixedSizeListType:
		out = append(out, strconv.Itoa(int(t.Len())))
	case arrow.ListLikeType:
		out = append(out, "-")
	}
	if n, ok := t.(arrow.NestedType); ok {
		for _, f := range n.Fields() {
			out = append(out, sizes(f.Type)...)
		}
	}
	return out
}

// resized returns an array with its lists converted to fixed-size lists. Lists whose data does not
// have that size are unchanged.
func resized(d arrow.ArrayData, left *[]string) arrow.ArrayData {
	list, ok := d.DataType().(arrow.ListLikeType)
	size := 0
	if ok && len(*left) > 0 {
		size, _ = strconv.Atoi((*left)[0]) // 0 for other lists
		*left = (*left)[1:]
	}
	children, same := make([]arrow.ArrayData, len(d.Children())), true
	for i, c := range d.Children() {
		children[i] = resized(c, left)
		same = same && children[i] == c
	}
	if !ok {
		s, isRecord := d.DataType().(*arrow.StructType)
		if same || !isRecord {
			return d
		}
		fields := s.Fields()
		for i := range fields {
			fields[i].Type = children[i].DataType()
		}
		return array.NewData(arrow.StructOf(fields...), d.Len(), d.Buffers(), children, d.NullN(), d.Offset())
	}
	item := list.ElemField()
	if len(children) == 1 {
		item.Type = children[0].DataType()
	}
	l, isList := array.MakeFromData(d).(*array.LargeList)
	if !isList {
		return d // a map
	}
	if size > 0 && uniform(l, int64(size)) {
		return array.NewData(arrow.FixedSizeListOfField(int32(size), item), d.Len(), []*memory.Buffer{d.Buffers()[0]}, children, d.NullN(), 0)
	}
	if same {
		return d
	}
	return array.NewData(arrow.LargeListOfField(item), d.Len(), d.Buffers(), children, d.NullN(), d.Offset())
}

// uniform reports whether all lists have the given number of elements.
func uniform(l *array.LargeList, size int64) bool {
	for i := range l.Len() {
		if a, b := l.ValueOffsets(i); a != int64(i)*size || b != a+size {
			return false
		}
	}
	return int64(l.ListValues().Len()) == int64(l.Len())*size
}

// restored returns columns with the types they had when they were written.
func restored(b arrow.RecordBatch) arrow.RecordBatch {
	fields, cols := b.Schema().Fields(), make([]arrow.Array, b.NumCols())
	for i := range cols {
		cols[i] = b.Column(i)
		if text, ok := fields[i].Metadata.GetValue(keyLists); ok {
			left := strings.Split(text, " ")
			cols[i] = array.MakeFromData(resized(cols[i].Data(), &left))
			fields[i].Type = cols[i].DataType()
			if !strings.Contains(text, "-") && cols[i].DataType().ID() == arrow.LARGE_LIST {
				fields[i].Metadata = arrow.Metadata{} // the type has changed
			}
		}
	}
	md := b.Schema().Metadata()
	return array.NewRecordBatch(arrow.NewSchema(fields, &md), cols, b.NumRows())
}
