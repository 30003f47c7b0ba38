package protoio

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon"
)

// Fields of StructuredValue, of which one is set.
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
	elements     = 1 // of ListValue and TupleValue, and the entries of DictValue
	entryKey     = 1
	entryValue   = 2
	namedName    = 1
	namedEntries = 2
)

// maxDepth bounds the nesting of messages that are read.
const maxDepth = 100

// Options says how names of types here and in tensorflow belong together. The zero
// value takes a type's own name.
type Options struct {
	// Classes has the names that tensorflow knows types by, without ".Spec", by
	// [tenon.Spec]'s TypeName: {"example.com/graphs.Digraph": "graphs.Digraph"}.
	Classes map[string]string
}

// AppendStructure appends the StructuredValue message of e to b. A Spec inside it
// ([tenon.SpecOf]) is written as tensorflow writes its own where it has the type,
// so that TensorFlow reads it back as one: dense, ragged, sparse and structured tensors,
// row partitions and ragged shapes. A type that package ext derives from a struct, or whose encoding is a
// tuple with its name, becomes an extension type, any other a registered type; neither
// loses anything when it is read here.
//
// What tensorflow's Specs cannot say is dropped, which leaves a Spec above the given
// one: the numbers of values of partitions inside a ragged Spec. Fields of records
// come back in the order of their names.
func AppendStructure(b []byte, e tenon.Encoding, o Options) (out []byte, err error) {
	defer tenon.Catch(&err)
	return encoder{o}.value(b, e)
}

type encoder struct{ o Options }

func (w encoder) value(b []byte, e tenon.Encoding) ([]byte, error) {
	switch e := e.(type) {
	case nil, tenon.Nil:
		return appendBytes(b, noneValue, ""), nil
	case tenon.Float:
		b = protowire.AppendTag(b, floatValue, protowire.Fixed64Type)
		return protowire.AppendFixed64(b, math.Float64bits(float64(e))), nil
	case tenon.Int:
		return appendVarint(b, intValue, protowire.EncodeZigZag(int64(e))), nil
	case tenon.Str:
		if !utf8.ValidString(string(e)) {
			return b, fail(tenon.ErrInvalid, "", "%q is not UTF-8, which protocol buffers ask of strings", string(e))
		}
		return appendBytes(b, stringValue, e), nil
	case tenon.Bool:
		return appendVarint(b, boolValue, protowire.EncodeBool(bool(e))), nil
	case tenon.Shape:
		return appendBytes(b, shapeValue, appendShape(nil, e.Shape)), nil
	case tenon.DType:
		n, err := dtypeNumber(e.DType)
		return appendVarint(b, dtypeValue, n), err
	case tenon.SpecOf:
		return w.spec(b, e.Spec)
	case tenon.List:
		return w.sequence(b, listValue, e)
	case tenon.Tuple:
		return w.sequence(b, tupleValue, e)
	case tenon.NamedTuple:
		return appendMessage(b, namedValue, func(m []byte) ([]byte, error) {
			if e.Name != "" {
				m = appendBytes(m, namedName, e.Name)
			}
			return w.entries(m, namedEntries, e.Fields)
		})
	case tenon.Dict:
		sorted := slices.Clone(e)
		slices.SortStableFunc(sorted, func(x, y tenon.Entry) int { return compare(x.Name, y.Name) })
		return appendMessage(b, dictValue, func(m []byte) ([]byte, error) { return w.entries(m, elements, sorted) })
	case tenon.Array:
		return appendMessage(b, numpyValue, func(m []byte) ([]byte, error) { return appendTensor(m, e) })
	}
	return b, fail(tenon.ErrInvalid, "", "a %T is no encoding", e)
}

func (w encoder) sequence(b []byte, n protowire.Number, es []tenon.Encoding) ([]byte, error) {
	return appendMessage(b, n, func(m []byte) (_ []byte, err error) {
		for i, e := range es {
			m, err = appendMessage(m, elements, func(m []byte) ([]byte, error) { return w.value(m, e) })
			if err != nil {
				return m, within(err, fmt.Sprintf("[%d]", i))
			}
		}
		return m, nil
	})
}

// entries writes the fields of a named tuple or the entries of a map, which have
// the same form.
func (w encoder) entries(b []byte, n protowire.Number, es []tenon.Entry) (_ []byte, err error) {
	for _, e := range es {
		if !utf8.ValidString(e.Name) {
			return b, fail(tenon.ErrInvalid, "", "the name %q is not UTF-8", e.Name)
		}
		b, err = appendMessage(b, n, func(m []byte) ([]byte, error) {
			m = appendBytes(m, entryKey, e.Name)
			return appendMessage(m, entryValue, func(m []byte) ([]byte, error) { return w.value(m, e.Value) })
		})
		if err != nil {
			return b, within(err, "."+e.Name)
		}
	}
	return b, nil
}

// within puts a step of the path before the place that an error names.
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

// DecodeStructure reads a StructuredValue message. A tensor and an array of numpy
// are both a [tenon.Array]. The Spec of a type that is not registered is a
// [*tenon.Opaque], which can be written again without loss; a kind of Spec that has
// no meaning outside of tensorflow, such as that of a variable, is an error of kind
// ErrUnsupported.
func DecodeStructure(b []byte, o Options) (e tenon.Encoding, err error) {
	defer tenon.Catch(&err)
	r := decoder{types: make(map[string]string, len(o.Classes))}
	for name, class := range o.Classes {
		r.types[class] = name
	}
	return r.value(b, 0)
}

type decoder struct {
	types map[string]string // names of types by tensorflow's names
}

// value reads a StructuredValue. Of several fields the last one counts, and a
// message that comes in pieces is put together, as protocol buffers prescribe.
func (r decoder) value(b []byte, depth int) (tenon.Encoding, error) {
	if depth > maxDepth {
		return nil, fail(tenon.ErrInvalid, "", "values are nested more than %d deep", maxDepth)
	}
	var last tag
	var number uint64
	var message []byte
	err := eachField(b, func(t tag, n uint64, data []byte) error {
		if !isValue(t) {
			return nil
		}
		if t == last && t&7 == tag(protowire.BytesType) && t != bytesTag(stringValue) {
			message = slices.Concat(message, data)
		} else {
			message = data
		}
		last, number = t, n
		return nil
	})
	if err != nil {
		return nil, err
	}
	switch last {
	case varintTag(intValue):
		return tenon.Int(protowire.DecodeZigZag(number)), nil
	case varintTag(boolValue):
		return tenon.Bool(number != 0), nil
	case varintTag(dtypeValue):
		d, err := parseDType(number)
		return tenon.DType{DType: d}, err
	case fixed64Tag(floatValue):
		return tenon.Float(math.Float64frombits(number)), nil
	}
	return r.message(last, message, depth)
}

func isValue(t tag) bool {
	switch t {
	case bytesTag(noneValue), fixed64Tag(floatValue), varintTag(intValue), bytesTag(stringValue), varintTag(boolValue),
		bytesTag(shapeValue), varintTag(dtypeValue), bytesTag(specValue), bytesTag(typeSpec), bytesTag(boundedSpec),
		bytesTag(listValue), bytesTag(tupleValue), bytesTag(dictValue), bytesTag(namedValue), bytesTag(tensorValue), bytesTag(numpyValue):
		return true
	}
	return false
}

func (r decoder) message(t tag, b []byte, depth int) (tenon.Encoding, error) {
	switch t {
	case bytesTag(noneValue):
		return tenon.Nil{}, nil
	case bytesTag(stringValue):
		return tenon.Str(b), nil
	case bytesTag(shapeValue):
		s, err := parseShape(b)
		return tenon.Shape{Shape: s}, err
	case bytesTag(specValue):
		s, err := parseTensorSpec(b)
		return tenon.SpecOf{Spec: s}, err
	case bytesTag(boundedSpec):
		s, err := parseBounded(b)
		return tenon.SpecOf{Spec: s}, err
	case bytesTag(typeSpec):
		s, err := r.typeSpec(b, depth+1)
		return tenon.SpecOf{Spec: s}, err
	case bytesTag(listValue):
		es, err := r.sequence(b, depth+1)
		return tenon.List(es), err
	case bytesTag(tupleValue):
		es, err := r.sequence(b, depth+1)
		return tenon.Tuple(es), err
	case bytesTag(dictValue):
		es, err := r.entries(b, elements, depth+1)
		m := make(map[string]tenon.Encoding, len(es))
		for _, e := range es {
			m[e.Name] = e.Value
		}
		return tenon.NewDict(m), err
	case bytesTag(namedValue):
		return r.named(b, depth+1)
	case bytesTag(tensorValue), bytesTag(numpyValue):
		return parseTensor(b)
	}
	return nil, fail(tenon.ErrInvalid, "", "the message holds no value")
}

func (r decoder) sequence(b []byte, depth int) ([]tenon.Encoding, error) {
	es := []tenon.Encoding{}
	err := eachField(b, func(t tag, _ uint64, data []byte) error {
		if t != bytesTag(elements) {
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
	err := eachField(b, func(t tag, _ uint64, data []byte) error {
		if t == bytesTag(namedName) {
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
	err := eachField(b, func(t tag, _ uint64, data []byte) error {
		if t != bytesTag(n) {
			return nil
		}
		name, value := "", []byte(nil)
		err := eachField(data, func(t tag, _ uint64, data []byte) error {
			switch t {
			case bytesTag(entryKey):
				name = string(data)
			case bytesTag(entryValue):
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
