package parquetio

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// storable returns columns without types that Parquet lacks: durations, and times of day in seconds,
// become numbers. The Spec of the column records the original type.
func storable(b arrow.RecordBatch) arrow.RecordBatch {
	fields, cols := b.Schema().Fields(), make([]arrow.Array, b.NumCols())
	for i := range cols {
		d := stored(b.Column(i).Data())
		cols[i], fields[i].Type = array.MakeFromData(d), d.DataType()
	}
	md := b.Schema().Metadata()
	return array.NewRecordBatch(arrow.NewSchema(fields, &md), cols, b.NumRows())
}

func stored(d arrow.ArrayData) arrow.ArrayData {
	t := storedType(d.DataType())
	if arrow.TypeEqual(t, d.DataType()) {
		return d
	}
	children := make([]arrow.ArrayData, len(d.Children()))
	for i, c := range d.Children() {
		children[i] = stored(c)
	}
	return array.NewData(t, d.Len(), d.Buffers(), children, d.NullN(), d.Offset())
}

func storedType(t arrow.DataType) arrow.DataType {
	of := func(f arrow.Field) arrow.Field {
		f.Type = storedType(f.Type)
		return f
	}
	switch t := t.(type) {
	case *arrow.DurationType:
		return arrow.PrimitiveTypes.Int64
	case *arrow.Time32Type:
		if t.Unit == arrow.Second {
			return arrow.PrimitiveTypes.Int32
		}
	case *arrow.StructType:
		fields := t.Fields()
		for i := range fields {
			fields[i] = of(fields[i])
		}
		return arrow.StructOf(fields...)
	case *arrow.ListType:
		return arrow.ListOfField(of(t.ElemField()))
	case *arrow.LargeListType:
		return arrow.LargeListOfField(of(t.ElemField()))
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(t.Len(), of(t.ElemField()))
	case *arrow.MapType:
		return arrow.MapOfFields(of(t.KeyField()), of(t.ItemField()))
	}
	return t
}
