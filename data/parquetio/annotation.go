package parquetio

// A logical is what annotates a column or a group: what its values mean.
type logical struct {
	kind             int
	precision, scale int64 // of decimals
	unit             int   // of times: 1 to 3 for milli-, micro- and nanoseconds
	utc              bool
	bits             byte // of integers
	signed           bool
}

// The kinds of annotations, by their numbers in the schema. Intervals have an old annotation only.
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

// logical reads an annotation, a union of structs.
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

// convertedTypes are what the old annotations say, by their number.
var convertedTypes = []logical{
	{kind: logicalString}, {kind: logicalMap}, {kind: logicalMap}, {kind: logicalList}, {kind: logicalEnum}, {kind: logicalDecimal}, {kind: logicalDate},
	{kind: logicalTime, unit: 1, utc: true}, {kind: logicalTime, unit: 2, utc: true},
	{kind: logicalTimestamp, unit: 1, utc: true}, {kind: logicalTimestamp, unit: 2, utc: true},
	{kind: logicalInteger, bits: 8}, {kind: logicalInteger, bits: 16}, {kind: logicalInteger, bits: 32}, {kind: logicalInteger, bits: 64},
	{kind: logicalInteger, bits: 8, signed: true}, {kind: logicalInteger, bits: 16, signed: true}, {kind: logicalInteger, bits: 32, signed: true}, {kind: logicalInteger, bits: 64, signed: true},
	{kind: logicalJSON}, {kind: logicalBSON}, {kind: logicalInterval},
}

// order returns how the bounds in a file compare, unordered where the format does not say so.
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
