package protoio

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
)

// A tag is a field's number with its wire type, as it stands before the field.
// A field of a known number with another wire type is an unknown field, which
// protocol buffers skip.
type tag uint64

func varintTag(n protowire.Number) tag  { return tag(n)<<3 | tag(protowire.VarintType) }
func bytesTag(n protowire.Number) tag   { return tag(n)<<3 | tag(protowire.BytesType) }
func fixed64Tag(n protowire.Number) tag { return tag(n)<<3 | tag(protowire.Fixed64Type) }

// eachField calls f with the fields of a message in order: with the number of a
// varint or fixed field, and the bytes of one with a length.
func eachField(b []byte, f func(t tag, n uint64, data []byte) error) error {
	for at := 0; at < len(b); {
		num, typ, size := protowire.ConsumeTag(b[at:])
		if size < 0 {
			return badField(at, protowire.ParseError(size))
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
			return badField(start, protowire.ParseError(size))
		}
		at += size
		if err := f(tag(num)<<3|tag(typ), n, data); err != nil {
			return err
		}
	}
	return nil
}

func badField(at int, err error) error {
	return fail(tenon.ErrInvalid, fmt.Sprintf("byte %d", at), "the message is malformed: %v", err)
}

// fail returns an error of the package.
func fail(kind error, where, format string, args ...any) error {
	return &tenon.Error{Kind: kind, Op: "protoio", Where: where, Msg: fmt.Sprintf(format, args...), Line: source.Line()}
}

// appendMessage appends a field that holds a message, written by f.
func appendMessage(b []byte, n protowire.Number, f func([]byte) ([]byte, error)) ([]byte, error) {
	inner, err := f(nil)
	if err != nil {
		return b, err
	}
	return appendBytes(b, n, inner), nil
}

func appendBytes[T ~string | ~[]byte](b []byte, n protowire.Number, data T) []byte {
	b = protowire.AppendTag(b, n, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(len(data)))
	return append(b, data...)
}

func appendVarint(b []byte, n protowire.Number, x uint64) []byte {
	b = protowire.AppendTag(b, n, protowire.VarintType)
	return protowire.AppendVarint(b, x)
}
