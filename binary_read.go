package tenon

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/slab"
	"github.com/tenonml/tenon/shape"
)

// maxWeight bounds the number of encodings and Specs in the result. What is
// written once and referred to repeatedly counts each time.
const maxWeight = 1 << 20

// DecodeBinary reads the Spec at the start of b and returns what follows it. A
// type that is not registered decodes to an *Opaque.
func DecodeBinary(b []byte) (Spec, []byte, error) {
	r := &reader{b: b, all: len(b)}
	e, err := r.encoding(0)
	if err != nil {
		return nil, nil, err
	}
	s, ok := e.(SpecOf)
	if !ok || s.Spec == nil {
		return nil, nil, r.fail("expected a spec, got a %s", kindName(e))
	}
	if s.Spec == nil {
		return nil, nil, r.fail("expected a spec, got the mark of a missing one")
	}
	return s.Spec, r.b, nil
}

// DecodeEncoding reads the encoding at the start of b and returns what follows it.
func DecodeEncoding(b []byte) (Encoding, []byte, error) {
	r := &reader{b: b, all: len(b)}
	e, err := r.encoding(0)
	return e, r.b, err
}

type reader struct {
	b      []byte
	all    int
	specs  []Spec // the Specs read so far, by number
	weigh  []int  // the weight of each
	weight int    // the weight of everything read so far

	texts map[string]Encoding // the first short strings, which tend to recur

	// Lists are built on a stack and copied out at their final size.
	items     []Encoding
	named     []Entry
	itemRoom  slab.Slab[Encoding]
	namedRoom slab.Slab[Entry]
}

// Limits on the strings kept for reuse: their length and their number.
const (
	shortText  = 32
	shortTexts = 1024
)

func (r *reader) fail(format string, args ...any) error {
	e := NewError(ErrInvalid, "tenon.DecodeBinary", fmt.Sprintf(format, args...))
	e.Where = fmt.Sprintf("byte %d", r.all-len(r.b))
	return e
}

func (r *reader) byte() (byte, error) {
	if len(r.b) == 0 {
		return 0, r.fail("the data is truncated")
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c, nil
}

func (r *reader) varint() (int64, error) {
	n, k := binary.Varint(r.b)
	if k <= 0 {
		return 0, r.fail("expected an integer")
	}
	r.b = r.b[k:]
	return n, nil
}

// length reads the number of items that follow. Each takes at least one byte, so
// the number cannot exceed the bytes that are left.
func (r *reader) length() (int, error) {
	n, k := binary.Uvarint(r.b)
	if k <= 0 || n > uint64(len(r.b)-k) {
		return 0, r.fail("expected a length that fits the data")
	}
	r.b = r.b[k:]
	return int(n), nil
}

func (r *reader) string() (string, error) {
	e, err := r.text()
	if err != nil {
		return "", err
	}
	return string(e.(Str)), nil
}

// text reads a string. Short strings are shared in memory.
func (r *reader) text() (Encoding, error) {
	n, err := r.length()
	if err != nil {
		return nil, err
	}
	b := r.b[:n]
	r.b = r.b[n:]
	if n > shortText {
		return Str(b), nil
	}
	if e, ok := r.texts[string(b)]; ok {
		return e, nil
	}
	if r.texts == nil {
		r.texts = map[string]Encoding{}
	}
	e := Encoding(Str(b))
	if len(r.texts) < shortTexts {
		r.texts[string(e.(Str))] = e
	}
	return e, nil
}

func (r *reader) dtype() (dtype.DType, error) {
	c, err := r.byte()
	if err != nil {
		return 0, err
	}
	if d := dtype.DType(c); d.IsValid() {
		return d, nil
	}
	return 0, r.fail("%d is not an element type", c)
}

func (r *reader) shape() (shape.Shape, error) {
	rank, err := r.varint()
	if err != nil {
		return shape.Shape{}, err
	}
	if rank == -1 {
		return shape.UnknownRank, nil
	}
	if rank < 0 || rank > shape.MaxRank {
		return shape.Shape{}, r.fail("%d is not a rank", rank)
	}
	var room [8]int
	dims := room[:0]
	for range rank {
		d, err := r.varint()
		if err != nil {
			return shape.Shape{}, err
		}
		dims = append(dims, int(d))
	}
	s, err := shape.From(dims)
	if err != nil {
		return s, r.fail("%v", err)
	}
	return s, nil
}

func (r *reader) encoding(depth int) (Encoding, error) {
	if depth > maxDepth {
		return nil, r.fail("nested more than %d deep", maxDepth)
	}
	tag, err := r.byte()
	if err != nil {
		return nil, err
	}
	if r.weight++; r.weight > maxWeight {
		return nil, r.fail("there are more than %d values", maxWeight)
	}
	switch tag {
	case tagNil:
		return Nil{}, nil
	case tagFalse, tagTrue:
		return Bool(tag == tagTrue), nil
	case tagInt:
		n, err := r.varint()
		return Int(n), err
	case tagFloat:
		if len(r.b) < 8 {
			return nil, r.fail("expected a float")
		}
		f := math.Float64frombits(binary.LittleEndian.Uint64(r.b))
		r.b = r.b[8:]
		return Float(f), nil
	case tagStr:
		return r.text()
	case tagDType:
		d, err := r.dtype()
		return DType{d}, err
	case tagShape:
		s, err := r.shape()
		return Shape{s}, err
	case tagNilSpec:
		return SpecOf{nil}, nil
	case tagSpec:
		before := r.weight
		s, err := r.spec(depth)
		r.specs = append(r.specs, s)
		r.weigh = append(r.weigh, r.weight-before)
		return SpecOf{s}, err
	case tagSpecAgain:
		n, k := binary.Uvarint(r.b)
		if k <= 0 || n >= uint64(len(r.specs)) {
			return nil, r.fail("expected the number of a spec read before")
		}
		r.b = r.b[k:]
		r.weight += r.weigh[n]
		return SpecOf{r.specs[n]}, nil
	case tagList:
		es, err := r.elems(depth)
		return List(es), err
	case tagTuple:
		es, err := r.elems(depth)
		return Tuple(es), err
	case tagNamedTuple:
		name, err := r.string()
		if err != nil {
			return nil, err
		}
		es, err := r.entries(depth)
		return NamedTuple{name, es}, err
	case tagDict:
		es, err := r.entries(depth)
		for i := 1; i < len(es); i++ {
			if es[i-1].Name >= es[i].Name {
				return nil, r.fail("dict keys are not in order at %q", es[i].Name)
			}
		}
		return Dict(es), err
	case tagArray:
		d, err := r.dtype()
		if err != nil {
			return nil, err
		}
		s, err := r.shape()
		if err != nil {
			return nil, err
		}
		data, err := r.string()
		if err != nil {
			return nil, err
		}
		return newArray(d, s, data)
	}
	return nil, r.fail("%d is not the tag of a value", tag)
}

func (r *reader) elems(depth int) ([]Encoding, error) {
	n, err := r.length()
	if err != nil {
		return nil, err
	}
	at := len(r.items)
	for range n {
		e, err := r.encoding(depth + 1)
		if err != nil {
			return nil, err
		}
		r.items = append(r.items, e)
	}
	es := r.itemRoom.Copy(r.items[at:])
	r.items = r.items[:at]
	return es, nil
}

func (r *reader) entries(depth int) ([]Entry, error) {
	n, err := r.length()
	if err != nil {
		return nil, err
	}
	at := len(r.named)
	for range n {
		name, err := r.string()
		if err != nil {
			return nil, err
		}
		v, err := r.encoding(depth + 1)
		if err != nil {
			return nil, err
		}
		r.named = append(r.named, Entry{name, v})
	}
	es := r.namedRoom.Copy(r.named[at:])
	r.named = r.named[:at]
	return es, nil
}

func (r *reader) spec(depth int) (Spec, error) {
	name, err := r.string()
	if err != nil {
		return nil, err
	}
	e, err := r.encoding(depth + 1)
	if err != nil {
		return nil, err
	}
	leaf, err := r.byte()
	if err != nil {
		return nil, err
	}
	switch leaf {
	case 0:
	case 1:
		return Decode(name, e)
	default:
		return nil, r.fail("%d is not a valid flag for leaf specs", leaf)
	}
	n, err := r.length()
	if err != nil {
		return nil, err
	}
	// Components that the type derives from its encoding are discarded, and so is their weight:
	// counting it would double the weight at each level of nesting.
	before := r.weight
	if Registered(name) {
		defer func() { r.weight = before }()
	}
	var fields []Field
	for range n {
		var f Field
		if f.Name, err = r.string(); err != nil {
			return nil, err
		}
		c, err := r.encoding(depth + 1)
		if err != nil {
			return nil, err
		}
		s, ok := c.(SpecOf)
		if !ok || s.Spec == nil {
			return nil, r.fail("component %q is not a spec", f.Name)
		}
		f.Spec = s.Spec
		fields = append(fields, f)
	}
	return decodeOrOpaque(name, e, fields, true)
}
