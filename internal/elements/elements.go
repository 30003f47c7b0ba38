package elements

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// SizeOf returns the approximate size of an element in bytes.
func SizeOf(x any) int64 {
	leaves, err := nest.Flatten(x, nest.Options{})
	if err != nil {
		return int64(reflect.TypeOf(&x).Elem().Size())
	}
	n := int64(0)
	for _, l := range leaves {
		switch l := l.(type) {
		case tenon.Value:
			n += valueSize(l, 0)
		case string:
			n += int64(len(l))
		case []byte:
			n += int64(len(l))
		default:
			n += 16
		}
	}
	return n
}

func valueSize(v tenon.Value, depth int) int64 {
	switch t := v.(type) {
	case *tensor.Dense:
		return int64(t.Len())*int64(t.DType().Size()) + 64
	case *tensor.Strings:
		o := t.Offsets()
		return int64(len(o))*8 + o[len(o)-1] - o[0] + 64
	}
	if depth > maxDepth {
		return 0
	}
	parts, err := v.Spec().Disassemble(v)
	if err != nil {
		return 0
	}
	n := int64(64)
	for _, p := range parts {
		n += valueSize(p, depth+1)
	}
	return n
}

const (
	maxDepth  = 200 // nesting of Values in Values
	alignment = 8   // alignment of the elements of tensors
)

// Kinds of leaves.
const (
	leafValue = 'v'
	leafPlain = 'j'
)

// appendLeaf appends a leaf of a structure.
func appendLeaf(b []byte, leaf any) ([]byte, error) {
	v, ok := leaf.(tenon.Value)
	if !ok {
		text, err := json.Marshal(leaf)
		if err != nil {
			return b, err
		}
		return appendBytes(append(b, leafPlain), text), nil
	}
	return appendValue(append(b, leafValue), v, 0)
}

func appendBytes(b, x []byte) []byte { return append(binary.AppendUvarint(b, uint64(len(x))), x...) }

func appendValue(b []byte, v tenon.Value, depth int) ([]byte, error) {
	v, err := tensor.Settled(v)
	if err != nil {
		return b, err
	}
	s := v.Spec()
	b = appendBytes(b, tenon.AppendBinary(nil, s))
	if tenon.IsLeaf(s) {
		switch t := v.(type) {
		case *tensor.Dense:
			return appendAligned(b, tensor.Contiguous(t).Bytes()), nil
		case *tensor.Strings:
			for i := range t.Len() {
				b = appendBytes(b, []byte(t.At(i)))
			}
			return b, nil
		}
		return b, fmt.Errorf("a %T cannot be stored", v)
	}
	parts, err := s.Disassemble(v)
	if err != nil || depth > maxDepth {
		return b, err
	}
	for _, p := range parts {
		if b, err = appendValue(b, p, depth+1); err != nil {
			return b, err
		}
	}
	return b, nil
}

// appendAligned appends bytes, aligned so that tensors can use them in place.
func appendAligned(b, x []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(x)))
	for len(b)%alignment > 0 {
		b = append(b, 0)
	}
	return append(b, x...)
}

// decoder decodes the output of appendLeaf.
type decoder struct {
	b  []byte
	at int
}

func (d *decoder) bytes() ([]byte, error) {
	n, k := binary.Uvarint(d.b[d.at:])
	if k <= 0 || n > uint64(len(d.b)-d.at-k) {
		return nil, fmt.Errorf("the data is damaged at byte %d", d.at)
	}
	d.at += k
	x := d.b[d.at : d.at+int(n) : d.at+int(n)]
	d.at += int(n)
	return x, nil
}

func (d *decoder) aligned() ([]byte, error) {
	n, k := binary.Uvarint(d.b[d.at:])
	if k <= 0 {
		return nil, fmt.Errorf("the data is damaged at byte %d", d.at)
	}
	at := (d.at + k + alignment - 1) / alignment * alignment
	if at > len(d.b) || n > uint64(len(d.b)-at) {
		return nil, fmt.Errorf("the data is damaged at byte %d", d.at)
	}
	d.at = at + int(n)
	return d.b[at:d.at:d.at], nil
}

// leaf decodes a leaf of the same type as like.
func (d *decoder) leaf(like any) (any, error) {
	if d.at >= len(d.b) {
		return nil, fmt.Errorf("the data ends at byte %d", d.at)
	}
	d.at++
	switch d.b[d.at-1] {
	case leafPlain:
		text, err := d.bytes()
		if err != nil {
			return nil, err
		}
		if like == nil {
			return nil, nil
		}
		to := reflect.New(reflect.TypeOf(like))
		if err := json.Unmarshal(text, to.Interface()); err != nil {
			return nil, err
		}
		return to.Elem().Interface(), nil
	case leafValue:
		return d.value(0)
	}
	return nil, fmt.Errorf("the data is damaged at byte %d", d.at-1)
}

func (d *decoder) value(depth int) (tenon.Value, error) {
	text, err := d.bytes()
	if err != nil {
		return nil, err
	}
	s, rest, err := tenon.DecodeBinary(text)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 || depth > maxDepth {
		return nil, fmt.Errorf("the data is damaged at byte %d", d.at)
	}
	if tenon.IsLeaf(s) {
		t, ok := s.(*tensor.Spec)
		if !ok || !t.Shape().IsFull() {
			return nil, fmt.Errorf("a tensor of %v is damaged", s)
		}
		if t.DType() == dtype.String {
			return d.strings(t.Shape())
		}
		b, err := d.aligned()
		if err != nil {
			return nil, err
		}
		return tensor.FromBytes(t.DType(), t.Shape(), b)
	}
	parts := make([]tenon.Value, len(s.Components()))
	for i := range parts {
		if parts[i], err = d.value(depth + 1); err != nil {
			return nil, err
		}
	}
	return s.Assemble(parts)
}

func (d *decoder) strings(s shape.Shape) (tenon.Value, error) {
	n := s.Size()
	if n < 0 || n > len(d.b)-d.at { // each takes at least one byte
		return nil, fmt.Errorf("%d strings in %d bytes", n, len(d.b)-d.at)
	}
	offsets, text := make([]int64, n+1), []byte{}
	for i := range n {
		x, err := d.bytes()
		if err != nil {
			return nil, err
		}
		text = append(text, x...)
		offsets[i+1] = int64(len(text))
	}
	return tensor.NewStrings(offsets, text, s)
}

// Append appends the encoding of all leaves of an element.
func Append(b []byte, x any) ([]byte, error) {
	leaves, err := nest.Flatten(x, nest.Options{})
	if err != nil {
		return b, err
	}
	for _, l := range leaves {
		if b, err = appendLeaf(b, l); err != nil {
			return b, err
		}
	}
	for len(b)%alignment > 0 {
		b = append(b, 0)
	}
	return b, nil
}

// Read decodes an element that has the same structure as like.
func Read[T any](b []byte, like T) (x T, err error) {
	leaves, err := nest.Flatten(like, nest.Options{})
	if err != nil {
		return x, err
	}
	defer tenon.Catch(&err)
	d := &decoder{b: b}
	for i, l := range leaves {
		if leaves[i], err = d.leaf(l); err != nil {
			return x, err
		}
	}
	return nest.Pack(like, leaves, nest.Options{})
}
