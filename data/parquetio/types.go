package parquetio

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tenonml/tenon"
)

// leafType returns the Arrow type of a column.
func leafType(fn string, e *schemaElement) arrow.DataType {
	if t := annotated(fn, e); t != nil {
		return t
	}
	k := e.logical.kind
	known := k == logicalInterval || k > 0 && k <= logicalFloat16
	if known && !(e.typ == typeByteArray && k == logicalBSON || e.typ == typeFixed && k == logicalUUID && e.length == 16) {
		tenon.Throw(fail(tenon.ErrInvalid, fn, e.path, "logical type %d is not valid for a column of type %v and length %d", k, e.typ, e.length))
	}
	switch e.typ {
	case typeBoolean:
		return arrow.FixedWidthTypes.Boolean
	case typeInt32:
		return arrow.PrimitiveTypes.Int32
	case typeInt64:
		return arrow.PrimitiveTypes.Int64
	case typeInt96:
		return &arrow.TimestampType{Unit: arrow.Nanosecond}
	case typeFloat:
		return arrow.PrimitiveTypes.Float32
	case typeDouble:
		return arrow.PrimitiveTypes.Float64
	case typeByteArray:
		return arrow.BinaryTypes.LargeBinary
	case typeFixed:
		if e.length > 0 {
			return &arrow.FixedSizeBinaryType{ByteWidth: e.length}
		}
	}
	tenon.Throw(fail(tenon.ErrInvalid, fn, e.path, "unsupported column of type %v and length %d", e.typ, e.length))
	return nil
}

// annotated returns the type given by the annotation of a column, or nil if there is none that fits
// the type of its values.
func annotated(fn string, e *schemaElement) arrow.DataType {
	bytes, fixed := e.typ == typeByteArray, e.typ == typeFixed
	switch l := e.logical; {
	case l.kind == logicalInteger:
		return intType(l, e.typ)
	case l.kind == logicalTimestamp:
		return timestampType(l, e.typ)
	case l.kind == logicalTime:
		return timeType(l, e.typ)
	case l.kind == logicalDecimal:
		return decimalType(fn, e)
	case bytes && (l.kind == logicalString || l.kind == logicalEnum || l.kind == logicalJSON):
		return arrow.BinaryTypes.LargeString
	case e.typ == typeInt32 && l.kind == logicalDate:
		return arrow.FixedWidthTypes.Date32
	case fixed && e.length == 2 && l.kind == logicalFloat16:
		return arrow.FixedWidthTypes.Float16
	case fixed && e.length == 12 && l.kind == logicalInterval:
		return arrow.FixedWidthTypes.MonthDayNanoInterval
	case l.kind == logicalNull:
		return arrow.Null
	}
	return nil
}

func intType(l logical, t physical) arrow.DataType {
	wide := t == typeInt64
	if !wide && t != typeInt32 || wide != (l.bits == 64) {
		return nil
	}
	signed := map[byte]arrow.DataType{8: arrow.PrimitiveTypes.Int8, 16: arrow.PrimitiveTypes.Int16, 32: arrow.PrimitiveTypes.Int32, 64: arrow.PrimitiveTypes.Int64}
	unsigned := map[byte]arrow.DataType{8: arrow.PrimitiveTypes.Uint8, 16: arrow.PrimitiveTypes.Uint16, 32: arrow.PrimitiveTypes.Uint32, 64: arrow.PrimitiveTypes.Uint64}
	if l.signed {
		return signed[l.bits]
	}
	return unsigned[l.bits]
}

// units are the units of times, by their numbers in the schema.
var units = map[int]arrow.TimeUnit{1: arrow.Millisecond, 2: arrow.Microsecond, 3: arrow.Nanosecond}

func timestampType(l logical, t physical) arrow.DataType {
	unit, ok := units[l.unit]
	if !ok || t != typeInt64 {
		return nil
	}
	zone := ""
	if l.utc {
		zone = "UTC"
	}
	return &arrow.TimestampType{Unit: unit, TimeZone: zone}
}

func timeType(l logical, t physical) arrow.DataType {
	switch unit, ok := units[l.unit]; {
	case ok && unit == arrow.Millisecond && t == typeInt32:
		return arrow.FixedWidthTypes.Time32ms
	case ok && unit != arrow.Millisecond && t == typeInt64:
		return &arrow.Time64Type{Unit: unit}
	}
	return nil
}

// maxDigits is the maximum number of digits of a 256-bit decimal.
const maxDigits = 76

func decimalType(fn string, e *schemaElement) arrow.DataType {
	n, t, p, s := e.length, e.typ, e.logical.precision, e.logical.scale
	if p <= 0 || p > maxDigits || s < 0 || s > p || t == typeFixed && (n <= 0 || n > 32) {
		tenon.Throw(fail(tenon.ErrUnsupported, fn, e.path, "unsupported decimal with precision %d and scale %d", p, s))
	}
	if t == typeInt32 || t == typeInt64 || p <= 38 && t == typeFixed && n <= 16 {
		return &arrow.Decimal128Type{Precision: int32(min(p, 38)), Scale: int32(s)}
	}
	return &arrow.Decimal256Type{Precision: int32(p), Scale: int32(s)}
}
