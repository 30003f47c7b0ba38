package arrowio

import (
	"encoding/binary"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// uuidName is the canonical extension type of UUIDs.
const uuidName = "arrow.uuid"

// most is the maximum number of digits of a 128-bit decimal.
const most = 38

// elementType returns the type of the elements of an array, or false if they are plain numbers or strings.
// name is that of an extension type.
func elementType(name string, t arrow.DataType) (element.Type, bool) {
	switch t := t.(type) {
	case *arrow.TimestampType:
		return element.TimestampOf(t.Unit.Multiplier(), t.TimeZone), true
	case *arrow.Date32Type, *arrow.Date64Type:
		return element.DateType, true
	case *arrow.Time32Type:
		return element.TimeOf(t.Unit.Multiplier()), true
	case *arrow.Time64Type:
		return element.TimeOf(t.Unit.Multiplier()), true
	case *arrow.DurationType:
		return element.DurationOf(t.Unit.Multiplier()), true
	case arrow.DecimalType:
		p, s := int(t.GetPrecision()), int(t.GetScale())
		return element.DecimalOf(p, s), p >= 1 && p <= most && s <= p && s >= -most
	case *arrow.FixedSizeBinaryType:
		if name == uuidName && t.ByteWidth == element.UUIDType.Width {
			return element.UUIDType, true
		}
		return element.FixedOf(t.ByteWidth), true
	}
	return element.Type{}, false
}

var unitsOf = map[time.Duration]arrow.TimeUnit{time.Second: arrow.Second, time.Millisecond: arrow.Millisecond, time.Microsecond: arrow.Microsecond, time.Nanosecond: arrow.Nanosecond}

// arrowType is the inverse of elementType.
func arrowType(t element.Type) arrow.DataType {
	unit := unitsOf[t.Unit]
	switch t.Kind {
	case element.Timestamp:
		return &arrow.TimestampType{Unit: unit, TimeZone: t.Zone}
	case element.Date:
		return arrow.FixedWidthTypes.Date32
	case element.Time:
		if t.Unit >= time.Millisecond {
			return &arrow.Time32Type{Unit: unit}
		}
		return &arrow.Time64Type{Unit: unit}
	case element.Duration:
		return &arrow.DurationType{Unit: unit}
	case element.Decimal:
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	}
	return &arrow.FixedSizeBinaryType{ByteWidth: t.Width}
}

// elements returns an array, whose type determines the meaning of its elements, as a vector of
// elements.
func (r *reading) elements(at, name string, d arrow.ArrayData) (tensor.Tensor, bool) {
	t, ok := elementType(name, d.DataType())
	if !ok {
		return nil, false
	}
	if t.Kind == element.Decimal {
		return r.decimalsOf(at, t, d), true
	}
	x := r.vector(at, d, dtype.None)
	switch d.DataType().(type) {
	case *arrow.Date64Type:
		x = ops.Cast(ops.FloorDiv(x, (24*time.Hour).Milliseconds()), dtype.Int32)
	case *arrow.Time32Type:
		x = ops.Cast(x, dtype.Int64)
	}
	return element.Tensor{Data: x, Type: t}, true
}

// decimalsOf returns decimals of any width as elements.
func (r *reading) decimalsOf(at string, t element.Type, d arrow.ArrayData) tensor.Tensor {
	width, n := d.DataType().(arrow.FixedWidthDataType).BitWidth()/8, d.Len()
	b := bytesOf(d, 1, width, 0)
	r.take(at, 16*int64(n))
	high, low := make([]int64, n), make([]int64, n)
	for i := range n {
		switch x := b[i*width : (i+1)*width]; width {
		case 4:
			low[i] = int64(int32(binary.LittleEndian.Uint32(x)))
			high[i] = low[i] >> 63
		case 8:
			low[i] = int64(binary.LittleEndian.Uint64(x))
			high[i] = low[i] >> 63
		default: // what is above is the sign
			low[i], high[i] = int64(binary.LittleEndian.Uint64(x)), int64(binary.LittleEndian.Uint64(x[8:]))
		}
	}
	if !t.IsWide() {
		return element.Tensor{Data: tensor.Vector(low), Type: t}
	}
	return tenon.Must(element.FromHalves(high, low, t))
}

// elementsOf reads the rows of elements described by a Spec.
func (r *reading) elementsOf(at, name, meta string, f arrow.Field, d arrow.ArrayData, s element.Spec) tenon.Value {
	dims, want := []int{d.Len()}, s.Shape().Dims()
	for {
		l, ok := r.level(d)
		if !ok {
			break
		}
		d, dims = l.child, append(dims, l.k)
	}
	if len(want) > 0 {
		dims = append([]int{dims[0]}, want[1:]...)
	}
	x, ok := r.elements(at, name, d)
	if !ok { // the format lacks the type, as Parquet lacks durations
		x = tenon.Must(element.New(r.vector(at, d, dtype.None), s.Type()))
	}
	x = tenon.Must(element.To(x, s.Type()))
	if product(dims) != x.Shape().Size() {
		tenon.Throw(r.mismatch(at, f.Type, tenon.String(s)))
	}
	if len(dims) == 1 {
		return x
	}
	return ops.Reshape(x, dims)
}

// elementRows returns the rows of elements.
func elementRows(v element.Tensor, lists int) part {
	typ := arrowType(v.Type)
	n := v.Shape().Size()
	leaf := part{}
	switch v.Type.Kind {
	case element.Decimal:
		leaf.data = array.NewData(typ, n, []*memory.Buffer{nil, buffer(decimalBytes(v))}, nil, 0, 0)
	case element.Fixed, element.UUID:
		s := known(v.Data).(*tensor.Strings)
		b := make([]byte, n*v.Type.Width) // missing elements may have arbitrary text
		for i := range n {
			copy(b[i*v.Type.Width:(i+1)*v.Type.Width], s.At(i))
		}
		leaf.data = array.NewData(typ, n, []*memory.Buffer{nil, buffer(b)}, nil, 0, 0)
	default:
		x := known(v.Data).(tensor.Tensor)
		if _, short := typ.(*arrow.Time32Type); short {
			x = ops.Cast(x, dtype.Int32)
		}
		leaf.data = array.NewData(typ, n, []*memory.Buffer{nil, buffer(tensor.Contiguous(x.(*tensor.Dense)).Bytes())}, nil, 0, 0)
	}
	if v.Type.Kind == element.UUID {
		leaf = leaf.with(keyExtName, uuidName).with(keyExtMeta, "")
	}
	return shaped(leaf, v.Shape().Dims(), lists, nil)
}

// decimalBytes returns decimals of 128 bits each.
func decimalBytes(v element.Tensor) []byte {
	high := tensor.Data[int64](known(v.Data).(tensor.Tensor))
	var low []int64
	if v.Low != nil {
		low = tensor.Data[int64](known(v.Low).(tensor.Tensor))
	}
	out := make([]byte, 0, 16*len(high))
	for i, h := range high {
		l := uint64(h)
		if low != nil {
			l = uint64(low[i])
		} else {
			h >>= 63
		}
		out = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(out, l), uint64(h))
	}
	return out
}
