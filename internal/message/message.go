package message

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// A Tag is a field's number with its wire type, as it precedes the field. A field with a known
// number but a different wire type is an unknown field, which protocol buffers skip.
type Tag uint64

// Varint returns the tag of a field of integers, enumerations or booleans.
func Varint(n protowire.Number) Tag { return Tag(n)<<3 | Tag(protowire.VarintType) }

// Bytes returns the tag of a length-delimited field: bytes, a string, a message, packed numbers.
func Bytes(n protowire.Number) Tag { return Tag(n)<<3 | Tag(protowire.BytesType) }

// Fixed32 returns the tag of a field of four bytes, such as float.
func Fixed32(n protowire.Number) Tag { return Tag(n)<<3 | Tag(protowire.Fixed32Type) }

// Fixed64 returns the tag of a field of eight bytes, such as double.
func Fixed64(n protowire.Number) Tag { return Tag(n)<<3 | Tag(protowire.Fixed64Type) }

// Number returns the number of the field.
func (t Tag) Number() protowire.Number { return protowire.Number(t >> 3) }

// Type returns the wire type of the field.
func (t Tag) Type() protowire.Type { return protowire.Type(t & 7) }

// An Error says at which byte a message is malformed.
type Error struct {
	At  int
	Err error
}

// Error says what is malformed.
func (e *Error) Error() string { return "the message is malformed: " + e.Err.Error() }

// Unwrap returns the error of package protowire.
func (e *Error) Unwrap() error { return e.Err }

// Each calls f with the fields of a message in order: with the number in a varint or fixed field,
// or the bytes of a length-delimited field, which are a slice of b. It returns the first error of
// f, or an *[Error].
func Each(b []byte, f func(t Tag, n uint64, data []byte) error) error {
	for at := 0; at < len(b); {
		num, typ, size := protowire.ConsumeTag(b[at:])
		if size < 0 {
			return &Error{at, protowire.ParseError(size)}
		}
		start := at
		at += size
		var n uint64
		var data []byte
		switch typ {
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(b[at:])
		case protowire.Fixed32Type:
			var x uint32
			x, size = protowire.ConsumeFixed32(b[at:])
			n = uint64(x)
		case protowire.Fixed64Type:
			n, size = protowire.ConsumeFixed64(b[at:])
		case protowire.BytesType:
			data, size = protowire.ConsumeBytes(b[at:])
		default:
			size = protowire.ConsumeFieldValue(num, typ, b[at:])
		}
		if size < 0 {
			return &Error{start, protowire.ParseError(size)}
		}
		at += size
		if err := f(Tag(num)<<3|Tag(typ), n, data); err != nil {
			return err
		}
	}
	return nil
}

// Packed calls f with each number of a packed field of the given wire type. It returns the first
// error of f, or an *[Error].
func Packed(b []byte, typ protowire.Type, f func(n uint64) error) error {
	for at := 0; at < len(b); {
		var n uint64
		var size int
		switch typ {
		case protowire.Fixed32Type:
			var x uint32
			x, size = protowire.ConsumeFixed32(b[at:])
			n = uint64(x)
		case protowire.Fixed64Type:
			n, size = protowire.ConsumeFixed64(b[at:])
		default:
			n, size = protowire.ConsumeVarint(b[at:])
		}
		if size < 0 {
			return &Error{at, protowire.ParseError(size)}
		}
		at += size
		if err := f(n); err != nil {
			return err
		}
	}
	return nil
}

// Append appends a field that contains a message, which f writes.
func Append(b []byte, n protowire.Number, f func([]byte) ([]byte, error)) ([]byte, error) {
	inner, err := f(nil)
	if err != nil {
		return b, err
	}
	return AppendBytes(b, n, inner), nil
}

// AppendBytes appends a field of bytes or a string.
func AppendBytes[T ~string | ~[]byte](b []byte, n protowire.Number, data T) []byte {
	b = protowire.AppendTag(b, n, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(len(data)))
	return append(b, data...)
}

// AppendVarint appends a field with an integer, enumeration or boolean.
func AppendVarint(b []byte, n protowire.Number, x uint64) []byte {
	b = protowire.AppendTag(b, n, protowire.VarintType)
	return protowire.AppendVarint(b, x)
}
