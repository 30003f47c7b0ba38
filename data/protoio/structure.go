package protoio

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/message"
)

// Fields of StructuredValue, exactly one of which is set.
const (
	noneValue    = 1
	floatValue   = 11
	intValue     = 12
	stringValue  = 13
	boolValue    = 14
	shapeValue   = 31
	dtypeValue   = 32
	specValue    = 33
	typeSpec     = 34
	boundedSpec  = 35
	listValue    = 51
	tupleValue   = 52
	dictValue    = 53
	namedValue   = 54
	tensorValue  = 55
	numpyValue   = 56
	elements     = 1 // elements of ListValue and TupleValue, and entries of DictValue
	entryKey     = 1
	entryValue   = 2
	namedName    = 1
	namedEntries = 2
)

// maxDepth limits the nesting of messages when reading.
const maxDepth = 100

// Options maps type names in Tenon to type names in TensorFlow. The zero value leaves names
// unchanged.
type Options struct {
	// Classes maps the TypeName of a [tenon.Spec] to its name in TensorFlow, without ".Spec":
	// {"example.com/graphs.Digraph": "graphs.Digraph"}.
	Classes map[string]string
}

// AppendStructure appends the StructuredValue message of e to b. A Spec inside it ([tenon.SpecOf]) is
// written in TensorFlow's own form if TensorFlow has the type, and TensorFlow reads it back as such:
// dense, ragged, sparse and structured tensors, row partitions and ragged shapes. A type that package ext
// derives from a struct, or whose encoding is a tuple with its name, becomes an extension type, and any
// other type a registered type; both are read back here without loss.
//
// What TensorFlow's Specs cannot represent is dropped, so that the result is a more general Spec: the
// numbers of values of partitions inside a ragged Spec. Fields of records are read back sorted by name.
func AppendStructure(b []byte, e tenon.Encoding, o Options) (out []byte, err error) {
	defer tenon.Catch(&err)
	return encoder{o}.value(b, e)
}

type encoder struct{ o Options }

func (w encoder) value(b []byte, e tenon.Encoding) ([]byte, error) {
	switch e := e.(type) {
	case nil, tenon.Nil:
		return message.AppendBytes(b, noneValue, ""), nil
	case tenon.Float:
		b = protowire.AppendTag(b, floatValue, protowire.Fixed64Type)
		return protowire.AppendFixed64(b, math.Float64bits(float64(e))), nil
	case tenon.Int:
		return message.AppendVarint(b, intValue, protowire.EncodeZigZag(int64(e))), nil
	case tenon.Str:
		if !utf8.ValidString(string(e)) {
			return b, fail(tenon.ErrInvalid, "", "%q is not UTF-8, which protocol buffers require of strings", string(e))
		}
		return message.AppendBytes(b, stringValue, e), nil
	case tenon.Bool:
		return message.AppendVarint(b, boolValue, protowire.EncodeBool(bool(e))), nil
	case tenon.Shape:
		return message.AppendBytes(b, shapeValue, appendShape(nil, e.Shape)), nil
	case tenon.DType:
		n, err := dtypeNumber(e.DType)
		return message.AppendVarint(b, dtypeValue, n), err
	case tenon.SpecOf:
		return w.spec(b, e.Spec)
	case tenon.List:
		return w.sequence(b, listValue, e)
	case tenon.Tuple:
		return w.sequence(b, tupleValue, e)
	case tenon.NamedTuple:
		return message.Append(b, namedValue, func(m []byte) ([]byte, error) {
			if e.Name != "" {
				m = message.AppendBytes(m, namedName, e.Name)
			}
			return w.entries(m, namedEntries, e.Fields)
		})
	case tenon.Dict:
		sorted := slices.Clone(e)
		slices.SortStableFunc(sorted, func(x, y tenon.Entry) int { return compare(x.Name, y.Name) })
		return message.Append(b, dictValue, func(m []byte) ([]byte, error) { return w.entries(m, elements, sorted) })
	case tenon.Array:
		return message.Append(b, numpyValue, func(m []byte) ([]byte, error) { return appendTensor(m, e) })
	}
	return b, fail(tenon.ErrInvalid, "", "unknown encoding %T", e)
}

func (w encoder) sequence(b []byte, n protowire.Number, es []tenon.Encoding) ([]byte, error) {
	return message.Append(b, n, func(m []byte) (_ []byte, err error) {
		for i, e := range es {
			m, err = message.Append(m, elements, func(m []byte) ([]byte, error) { return w.value(m, e) })
			if err != nil {
				return m, within(err, fmt.Sprintf("[%d]", i))
			}
		}
		return m, nil
	})
}

// entries writes the fields of a named tuple or the entries of a map, which have the same form.
func (w encoder) entries(b []byte, n protowire.Number, es []tenon.Entry) (_ []byte, err error) {
	for _, e := range es {
		if !utf8.ValidString(e.Name) {
			return b, fail(tenon.ErrInvalid, "", "the name %q is not UTF-8", e.Name)
		}
		b, err = message.Append(b, n, func(m []byte) ([]byte, error) {
			m = message.AppendBytes(m, entryKey, e.Name)
			return message.Append(m, entryValue, func(m []byte) ([]byte, error) { return w.value(m, e.Value) })
		})
		if err != nil {
			return b, within(err, "."+e.Name)
		}
	}
	return b, nil
}

// within prepends a step of the path to the place that an error names.
func within(err error, step string) error {
	e := *tenon.AsError(err)
	e.Where = step + e.Where
	return &e
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// DecodeStructure reads a StructuredValue message. A tensor and a NumPy array both become a
// [tenon.Array]. The Spec of a type that is not registered is a [*tenon.Opaque], which can be
// written again without loss; a kind of Spec that is meaningless outside of TensorFlow, such as
// that of a variable, is an error of kind ErrUnsupported.
func DecodeStructure(b []byte, o Options) (e tenon.Encoding, err error) {
	defer tenon.Catch(&err)
	r := decoder{types: make(map[string]string, len(o.Classes))}
	for name, class := range o.Classes {
		r.types[class] = name
	}
	return r.value(b, 0)
}

type decoder struct {
	types map[string]string // type names by TensorFlow's names
}

// value reads a StructuredValue. As protocol buffers prescribe, the last of several fields counts,
// and a message that comes in pieces is merged.
func (r decoder) value(b []byte, depth int) (tenon.Encoding, error) {
	if depth > maxDepth {
		return nil, fail(tenon.ErrInvalid, "", "values are nested more than %d deep", maxDepth)
	}
	var last message.Tag
	var number uint64
	var joined []byte
	err := eachField(b, func(t message.Tag, n uint64, data []byte) error {
		if !isValue(t) {
			return nil
		}
		if t == last && t&7 == message.Tag(protowire.BytesType) && t != message.Bytes(stringValue) {
			joined = slices.Concat(joined, data)
		} else {
			joined = data
		}
		last, number = t, n
		return nil
	})
	if err != nil {
		return nil, err
	}
	switch last {
	case message.Varint(intValue):
		return tenon.Int(protowire.DecodeZigZag(number)), nil
	case message.Varint(boolValue):
		return tenon.Bool(number != 0), nil
	case message.Varint(dtypeValue):
		d, err := parseDType(number)
		return tenon.DType{DType: d}, err
	case message.Fixed64(floatValue):
		return tenon.Float(math.Float64frombits(number)), nil
	}
	return r.message(last, joined, depth)
}

func isValue(t message.Tag) bool {
	switch t {
	case message.Bytes(noneValue), message.Fixed64(floatValue), message.Varint(intValue), message.Bytes(stringValue), message.Varint(boolValue),
		message.Bytes(shapeValue), message.Varint(dtypeValue), message.Bytes(specValue), message.Bytes(typeSpec), message.Bytes(boundedSpec),
		message.Bytes(listValue), message.Bytes(tupleValue), message.Bytes(dictValue), message.Bytes(namedValue), message.Bytes(tensorValue), message.Bytes(numpyValue):
		return true
	}
	return false
}

func (r decoder) message(t message.Tag, b []byte, depth int) (tenon.Encoding, error) {
	switch t {
	case message.Bytes(noneValue):
		return tenon.Nil{}, nil
	case message.Bytes(stringValue):
		return tenon.Str(b), nil
	case message.Bytes(shapeValue):
		s, err := parseShape(b)
		return tenon.Shape{Shape: s}, err
	case message.Bytes(specValue):
		s, err := parseTensorSpec(b)
		return tenon.SpecOf{Spec: s}, err
	case message.Bytes(boundedSpec):
		s, err := parseBounded(b)
		return tenon.SpecOf{Spec: s}, err
	case message.Bytes(typeSpec):
		s, err := r.typeSpec(b, depth+1)
		return tenon.SpecOf{Spec: s}, err
	case message.Bytes(listValue):
		es, err := r.sequence(b, depth+1)
		return tenon.List(es), err
	case message.Bytes(tupleValue):
		es, err := r.sequence(b, depth+1)
		return tenon.Tuple(es), err
	case message.Bytes(dictValue):
		es, err := r.entries(b, elements, depth+1)
		m := make(map[string]tenon.Encoding, len(es))
		for _, e := range es {
			m[e.Name] = e.Value
		}
		return tenon.NewDict(m), err
	case message.Bytes(namedValue):
		return r.named(b, depth+1)
	case message.Bytes(tensorValue), message.Bytes(numpyValue):
		return parseTensor(b)
	}
	return nil, fail(tenon.ErrInvalid, "", "the message holds no value")
}

func (r decoder) sequence(b []byte, depth int) ([]tenon.Encoding, error) {
	es := []tenon.Encoding{}
	err := eachField(b, func(t message.Tag, _ uint64, data []byte) error {
		if t != message.Bytes(elements) {
			return nil
		}
		e, err := r.value(data, depth)
		if err != nil {
			return within(err, fmt.Sprintf("[%d]", len(es)))
		}
		es = append(es, e)
		return nil
	})
	return es, err
}

func (r decoder) named(b []byte, depth int) (tenon.Encoding, error) {
	n := tenon.NamedTuple{}
	err := eachField(b, func(t message.Tag, _ uint64, data []byte) error {
		if t == message.Bytes(namedName) {
			n.Name = string(data)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	n.Fields, err = r.entries(b, namedEntries, depth)
	return n, err
}

func (r decoder) entries(b []byte, n protowire.Number, depth int) ([]tenon.Entry, error) {
	es := []tenon.Entry{}
	err := eachField(b, func(t message.Tag, _ uint64, data []byte) error {
		if t != message.Bytes(n) {
			return nil
		}
		name, value := "", []byte(nil)
		err := eachField(data, func(t message.Tag, _ uint64, data []byte) error {
			switch t {
			case message.Bytes(entryKey):
				name = string(data)
			case message.Bytes(entryValue):
				value = slices.Concat(value, data)
			}
			return nil
		})
		if err != nil {
			return err
		}
		e, err := r.value(value, depth)
		if err != nil {
			return within(err, "."+name)
		}
		es = append(es, tenon.Entry{Name: name, Value: e})
		return nil
	})
	return es, err
}
