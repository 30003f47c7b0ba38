package parquetio

// A logical is the logical type of a column or group: the meaning of its values.
type logical struct {
	kind             int
	precision, scale int64 // of decimals
	unit             int   // unit of times: 1 to 3 for milli-, micro- and nanoseconds
	utc              bool
	bits             byte // bits of integers
	signed           bool
}

// The kinds of logical types, by their numbers in the schema. Intervals have only a converted type.
const (
	logicalString    = 1
	logicalMap       = 2
	logicalList      = 3
	logicalEnum      = 4
	logicalDecimal   = 5
	logicalDate      = 6
	logicalTime      = 7
	logicalTimestamp = 8
	logicalInteger   = 10
	logicalNull      = 11
	logicalJSON      = 12
	logicalBSON      = 13
	logicalUUID      = 14
	logicalFloat16   = 15
	logicalInterval  = -1
)

// logical reads a logical type, a union of structs.
func (w *thrift) logical() logical {
	var l logical
	w.fields(func(id int, kind byte) bool {
		if kind != kindStruct {
			return false
		}
		l.kind = id
		w.fields(func(id int, kind byte) bool {
			switch l.kind {
			case logicalDecimal:
				return id == 1 && w.number(kind, &l.scale) || id == 2 && w.number(kind, &l.precision)
			case logicalTime, logicalTimestamp:
				if id == 2 && kind == kindStruct {
					w.fields(func(id int, _ byte) bool {
						l.unit = id
						return false
					})
					return true
				}
				l.utc = l.utc || id == 1 && kind == kindTrue
			case logicalInteger:
				if id == 1 && kind == kindByte {
					l.bits = w.byte()
					return true
				}
				l.signed = l.signed || id == 2 && kind == kindTrue
			}
			return false
		})
		return true
	})
	return l
}

// convertedTypes are the logical types that correspond to converted types, the older form of
// annotation, by number.
var convertedTypes = []logical{
	{kind: logicalString}, {kind: logicalMap}, {kind: logicalMap}, {kind: logicalList}, {kind: logicalEnum}, {kind: logicalDecimal}, {kind: logicalDate},
	{kind: logicalTime, unit: 1, utc: true}, {kind: logicalTime, unit: 2, utc: true},
	{kind: logicalTimestamp, unit: 1, utc: true}, {kind: logicalTimestamp, unit: 2, utc: true},
	{kind: logicalInteger, bits: 8}, {kind: logicalInteger, bits: 16}, {kind: logicalInteger, bits: 32}, {kind: logicalInteger, bits: 64},
	{kind: logicalInteger, bits: 8, signed: true}, {kind: logicalInteger, bits: 16, signed: true}, {kind: logicalInteger, bits: 32, signed: true}, {kind: logicalInteger, bits: 64, signed: true},
	{kind: logicalJSON}, {kind: logicalBSON}, {kind: logicalInterval},
}

// order returns the order of the bounds in a file, or unordered if the format does not define one.
func (e *schemaElement) order() order {
	text := e.typ.text()
	switch k := e.logical.kind; {
	case k == 0 && e.typ == typeInt96:
		return unordered
	case k == 0 && !text, k == logicalDecimal, k == logicalFloat16 && text:
		return signed
	case k == 0, text && (k == logicalString || k == logicalEnum || k == logicalJSON || k == logicalBSON || k == logicalUUID):
		return unsigned
	case !text && (k == logicalDate || k == logicalTime || k == logicalTimestamp || k == logicalInteger && e.logical.signed):
		return signed
	case !text && k == logicalInteger:
		return unsigned
	}
	return unordered
}
