package serve

import (
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/message"
	"github.com/tenonml/tenon/tensor"
)

// Protocol buffer messages are read and written field by field, directly from and to tensors.

// A field is a field of a message.
type field struct {
	num  protowire.Number
	kind protowire.Type
	n    uint64 // of a number
	b    []byte // of a field with a length; part of the message
}

// A fieldNumber is the number of a field in a message.
type fieldNumber = protowire.Number

// text returns the bytes of a field with a length.
func (f field) text() string { return string(f.b) }

var errWire error = badInput("the message is not a valid protocol buffer")

// wired returns errWire for a malformed message.
func wired(err error) error {
	if _, ok := err.(*message.Error); ok {
		return errWire
	}
	return err
}

// eachField calls do for each field of a message. Groups are skipped.
func eachField(b []byte, do func(f field) error) error {
	return wired(message.Each(b, func(t message.Tag, n uint64, data []byte) error {
		if t.Type() == protowire.StartGroupType {
			return nil
		}
		return do(field{t.Number(), t.Type(), n, data})
	}))
}

// numbers calls do for each number of a field: one, or packed ones of a kind.
func (f field) numbers(kind protowire.Type, do func(n uint64) error) error {
	switch f.kind {
	case kind:
		return do(f.n)
	case protowire.BytesType:
		return wired(message.Packed(f.b, kind, do))
	}
	return errWire
}

// count returns the number of numbers in a field, if it is well-formed.
func (f field) count(kind protowire.Type) int {
	switch {
	case f.kind != protowire.BytesType:
		return 1
	case kind == protowire.Fixed32Type:
		return len(f.b) / 4
	case kind == protowire.Fixed64Type:
		return len(f.b) / 8
	}
	n := 0
	for _, x := range f.b {
		if x < 1<<7 { // the last byte of a number
			n++
		}
	}
	return n
}

// countOf returns how often a message has a field.
func countOf(b []byte, num fieldNumber) (n int, err error) {
	err = eachField(b, func(f field) error {
		if f.num == num {
			n++
		}
		return nil
	})
	return n, err
}

// A fieldTable gives the field of a message that holds elements of a type.
type fieldTable map[dtype.DType]fieldNumber

// holds reports whether a field holds elements of any type.
func (t fieldTable) holds(num fieldNumber) bool {
	for _, n := range t {
		if n == num {
			return true
		}
	}
	return false
}

// kindOf returns how elements of a type are encoded in a message.
func kindOf(dt dtype.DType) protowire.Type {
	switch dt {
	case dtype.Float32:
		return protowire.Fixed32Type
	case dtype.Float64:
		return protowire.Fixed64Type
	case dtype.String:
		return protowire.BytesType
	}
	return protowire.VarintType
}

// typed adds the elements in the fields of a message.
func (e *elements) typed(name string, b []byte, t fieldTable) error {
	want, ok := t[e.dt]
	kind := kindOf(e.dt)
	n, err := countOf(b, want)
	if err != nil {
		return err
	}
	if kind == protowire.BytesType {
		e.texts = slices.Grow(e.texts, n)
	} else {
		e.bytes = slices.Grow(e.bytes, e.dt.Size()*n)
	}
	return eachField(b, func(f field) error {
		switch {
		case !t.holds(f.num) || f.kind == protowire.BytesType && len(f.b) == 0 && kind != protowire.BytesType:
			return nil
		case !ok || f.num != want:
			return badInput("%s has elements in a field that is not that of %s", name, datatype(e.dt))
		case kind == protowire.BytesType:
			if f.kind != protowire.BytesType {
				return errWire
			}
			e.n++
			e.texts = append(e.texts, string(f.b))
			return nil
		}
		e.bytes = slices.Grow(e.bytes, e.dt.Size()*f.count(kind))
		return f.numbers(kind, func(n uint64) error { return e.bits(name, n) })
	})
}

// bits adds an element given by its bits; an integer may have more bits than its type.
func (e *elements) bits(name string, n uint64) error {
	e.n++
	size := e.dt.Size()
	switch {
	case e.dt == dtype.Bool:
		n = min(n, 1)
	case e.dt.IsFloat(), size == 8:
	case e.dt.IsUnsigned():
		if n>>(8*size) != 0 {
			return badInput("%s: %d does not fit a %s", name, n, datatype(e.dt))
		}
	default:
		shift := 64 - 8*size
		if int64(n)<<shift>>shift != int64(n) {
			return badInput("%s: %d does not fit a %s", name, int64(n), datatype(e.dt))
		}
	}
	switch size {
	case 1:
		e.bytes = append(e.bytes, byte(n))
	case 2:
		e.bytes = binary.LittleEndian.AppendUint16(e.bytes, uint16(n))
	case 4:
		e.bytes = binary.LittleEndian.AppendUint32(e.bytes, uint32(n))
	default:
		e.bytes = binary.LittleEndian.AppendUint64(e.bytes, n)
	}
	return nil
}

// appendTyped appends the elements of a column as a field of a message.
func appendTyped(b []byte, t tensor.Tensor, num fieldNumber) []byte {
	r := readerOf(t)
	n := t.Shape().Size()
	if r.dt == dtype.String {
		for i := range n {
			b = protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), r.texts.At(i))
		}
		return b
	}
	if n == 0 {
		return b
	}
	b = protowire.AppendTag(b, num, protowire.BytesType)
	if kindOf(r.dt) != protowire.VarintType {
		return protowire.AppendBytes(b, r.bytes[:n*r.dt.Size()])
	}
	var packed []byte
	shift := 64 - 8*r.dt.Size()
	signed := !r.dt.IsUnsigned() && !r.dt.IsFloat() && r.dt != dtype.Bool
	for i := range n {
		v := r.bits(i)
		if signed {
			v = uint64(int64(v<<shift) >> shift)
		}
		packed = protowire.AppendVarint(packed, v)
	}
	return protowire.AppendBytes(b, packed)
}

func appendString(b []byte, num fieldNumber, s string) []byte {
	if s == "" {
		return b
	}
	return message.AppendBytes(b, num, s)
}

func appendNumber(b []byte, num fieldNumber, n uint64) []byte {
	if n == 0 {
		return b
	}
	return message.AppendVarint(b, num, n)
}

func appendTrue(b []byte, num fieldNumber) []byte { return appendNumber(b, num, 1) }

// appendMessage appends a message, even an empty one.
func appendMessage(b []byte, num fieldNumber, m []byte) []byte {
	return message.AppendBytes(b, num, m)
}

// appendEntry appends an entry of a map from strings to messages.
func appendEntry(b []byte, num fieldNumber, key string, m []byte) []byte {
	return appendMessage(b, num, appendMessage(appendString(nil, 1, key), 2, m))
}

// appendPacked appends sizes of axes.
func appendPacked(b []byte, num fieldNumber, list []int) []byte {
	if len(list) == 0 {
		return b
	}
	var packed []byte
	for _, n := range list {
		packed = protowire.AppendVarint(packed, uint64(n))
	}
	return appendMessage(b, num, packed)
}

// entry reads an entry of a map.
func entry(b []byte) (key string, value []byte, err error) {
	err = eachField(b, func(f field) error {
		switch f.num {
		case 1:
			key = f.text()
		case 2:
			value = f.b
		}
		return nil
	})
	return key, value, err
}
