package parquetio

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tenonml/tenon"
)

// leafType returns the type of Arrow that a column becomes.
func leafType(fn string, p *schema.PrimitiveNode) arrow.DataType {
	if t := annotated(fn, p); t != nil {
		return t
	}
	switch p.PhysicalType() {
	case parquet.Types.Boolean:
		return arrow.FixedWidthTypes.Boolean
	case parquet.Types.Int32:
		return arrow.PrimitiveTypes.Int32
	case parquet.Types.Int64:
		return arrow.PrimitiveTypes.Int64
	case parquet.Types.Int96:
		return &arrow.TimestampType{Unit: arrow.Nanosecond}
	case parquet.Types.Float:
		return arrow.PrimitiveTypes.Float32
	case parquet.Types.Double:
		return arrow.PrimitiveTypes.Float64
	case parquet.Types.ByteArray:
		return arrow.BinaryTypes.LargeBinary
	case parquet.Types.FixedLenByteArray:
		if n := p.TypeLength(); n > 0 {
			return &arrow.FixedSizeBinaryType{ByteWidth: n}
		}
	}
	tenon.Throw(fail(tenon.ErrInvalid, fn, p.Path(), "a column of type %v and length %d", p.PhysicalType(), p.TypeLength()))
	return nil
}

// annotated returns the type that the annotation of a column says, nil where there is none
// or none that goes with the type of its values.
func annotated(fn string, p *schema.PrimitiveNode) arrow.DataType {
	switch l := p.LogicalType().(type) {
	case schema.IntLogicalType:
		return intType(l, p.PhysicalType())
	case *schema.IntLogicalType:
		return intType(*l, p.PhysicalType())
	case schema.TimestampLogicalType:
		return timestampType(l, p.PhysicalType())
	case *schema.TimestampLogicalType:
		return timestampType(*l, p.PhysicalType())
	case schema.TimeLogicalType:
		return timeType(l.TimeUnit(), p.PhysicalType())
	case *schema.TimeLogicalType:
		return timeType(l.TimeUnit(), p.PhysicalType())
	case schema.DecimalLogicalType:
		return decimalType(fn, l, p)
	case *schema.DecimalLogicalType:
		return decimalType(fn, *l, p)
	}
	bytes, fixed := p.PhysicalType() == parquet.Types.ByteArray, p.PhysicalType() == parquet.Types.FixedLenByteArray
	switch {
	case bytes && (is[schema.StringLogicalType](p) || is[schema.EnumLogicalType](p) || is[schema.JSONLogicalType](p)):
		return arrow.BinaryTypes.LargeString
	case p.PhysicalType() == parquet.Types.Int32 && is[schema.DateLogicalType](p):
		return arrow.FixedWidthTypes.Date32
	case fixed && p.TypeLength() == 2 && is[schema.Float16LogicalType](p):
		return arrow.FixedWidthTypes.Float16
	case fixed && p.TypeLength() == 12 && (is[schema.IntervalLogicalType](p) || p.ConvertedType() == schema.ConvertedTypes.Interval):
		return arrow.FixedWidthTypes.MonthDayNanoInterval
	case is[schema.NullLogicalType](p) || is[schema.UnknownLogicalType](p) && p.ConvertedType() == schema.ConvertedTypes.NA:
		return arrow.Null
	}
	return nil
}

func intType(l schema.IntLogicalType, t parquet.Type) arrow.DataType {
	wide := t == parquet.Types.Int64
	if !wide && t != parquet.Types.Int32 || wide != (l.BitWidth() == 64) {
		return nil
	}
	signed := map[int8]arrow.DataType{8: arrow.PrimitiveTypes.Int8, 16: arrow.PrimitiveTypes.Int16, 32: arrow.PrimitiveTypes.Int32, 64: arrow.PrimitiveTypes.Int64}
	unsigned := map[int8]arrow.DataType{8: arrow.PrimitiveTypes.Uint8, 16: arrow.PrimitiveTypes.Uint16, 32: arrow.PrimitiveTypes.Uint32, 64: arrow.PrimitiveTypes.Uint64}
	if l.IsSigned() {
		return signed[l.BitWidth()]
	}
	return unsigned[l.BitWidth()]
}

var units = map[schema.TimeUnitType]arrow.TimeUnit{
	schema.TimeUnitMillis: arrow.Millisecond, schema.TimeUnitMicros: arrow.Microsecond, schema.TimeUnitNanos: arrow.Nanosecond,
}

func timestampType(l schema.TimestampLogicalType, t parquet.Type) arrow.DataType {
	unit, ok := units[l.TimeUnit()]
	if !ok || t != parquet.Types.Int64 {
		return nil
	}
	zone := ""
	if l.IsAdjustedToUTC() || l.IsFromConvertedType() {
		zone = "UTC"
	}
	return &arrow.TimestampType{Unit: unit, TimeZone: zone}
}

func timeType(u schema.TimeUnitType, t parquet.Type) arrow.DataType {
	switch unit, ok := units[u]; {
	case ok && unit == arrow.Millisecond && t == parquet.Types.Int32:
		return arrow.FixedWidthTypes.Time32ms
	case ok && unit != arrow.Millisecond && t == parquet.Types.Int64:
		return &arrow.Time64Type{Unit: unit}
	}
	return nil
}

// maxDigits is how many digits a decimal number of 256 bits has.
const maxDigits = 76

func decimalType(fn string, l schema.DecimalLogicalType, p *schema.PrimitiveNode) arrow.DataType {
	n, t := p.TypeLength(), p.PhysicalType()
	if l.Precision() <= 0 || l.Precision() > maxDigits || l.Scale() < 0 || l.Scale() > l.Precision() || t == parquet.Types.FixedLenByteArray && (n <= 0 || n > 32) {
		tenon.Throw(fail(tenon.ErrUnsupported, fn, p.Path(), "a decimal of %d digits, %d of them behind the point", l.Precision(), l.Scale()))
	}
	if t == parquet.Types.Int32 || t == parquet.Types.Int64 || l.Precision() <= 38 && t == parquet.Types.FixedLenByteArray && n <= 16 {
		return &arrow.Decimal128Type{Precision: min(l.Precision(), 38), Scale: l.Scale()}
	}
	return &arrow.Decimal256Type{Precision: l.Precision(), Scale: l.Scale()}
}
