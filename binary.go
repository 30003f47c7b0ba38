package tenon

import (
	"encoding/binary"
	"math"
	"reflect"

	"github.com/tenonml/tenon/shape"
)

// The binary form is a tag byte for each value, followed by its content. Integers
// are varints (zigzag if signed); strings are preceded by their length. The tags
// are stable, because files contain them.
const (
	tagNil byte = iota
	tagFalse
	tagTrue
	tagInt
	tagFloat
	tagStr
	tagDType
	tagShape
	tagNilSpec
	tagSpec
	tagList
	tagTuple
	tagNamedTuple
	tagDict
	tagArray
	tagSpecAgain // a Spec that was written before, as its number
)

// AppendBinary appends the binary form of a Spec. It holds the Specs of the
// components too, so a program that does not know the type can still read it. A
// Spec that occurs more than once is written only once.
func AppendBinary(b []byte, s Spec) []byte {
	w := writer{b: b}
	w.spec(s)
	return w.b
}

// AppendEncoding appends the binary form of an encoding.
func AppendEncoding(b []byte, e Encoding) []byte {
	w := writer{b: b}
	w.encoding(e)
	return w.b
}

type writer struct {
	b     []byte
	seen  map[Spec]uint64   // the numbers of the Specs written so far
	forms map[string]uint64 // the same, keyed by binary form, so that equal Specs are written once
	next  uint64
	plain bool // this writer produces a key for forms
}

func (w *writer) spec(s Spec) {
	if s == nil {
		w.b = append(w.b, tagNilSpec)
		return
	}
	same := reflect.TypeOf(s).Comparable()
	n, again := uint64(0), false
	if same {
		n, again = w.seen[s]
	}
	form := ""
	if !again && !w.plain {
		x := writer{plain: true}
		x.spec(s)
		form = string(x.b)
		if n, again = w.forms[form]; again && same {
			w.see(s, n)
		}
	}
	if again {
		w.b = binary.AppendUvarint(append(w.b, tagSpecAgain), n)
		return
	}
	w.b = append(w.b, tagSpec)
	w.string(s.TypeName())
	w.encoding(s.Encode())
	if IsLeaf(s) {
		w.b = append(w.b, 1) // no components, and not opaque
	} else {
		fields := s.Components()
		w.b = append(w.b, 0)
		w.b = binary.AppendUvarint(w.b, uint64(len(fields)))
		for _, f := range fields {
			w.string(f.Name)
			w.spec(f.Spec)
		}
	}
	if same {
		w.see(s, w.next)
	}
	if !w.plain {
		if w.forms == nil {
			w.forms = map[string]uint64{}
		}
		w.forms[form] = w.next
	}
	w.next++
}

func (w *writer) see(s Spec, n uint64) {
	if w.seen == nil {
		w.seen = map[Spec]uint64{}
	}
	w.seen[s] = n
}

func (w *writer) string(s string) {
	w.b = append(binary.AppendUvarint(w.b, uint64(len(s))), s...)
}

func (w *writer) shape(s shape.Shape) {
	w.b = binary.AppendVarint(w.b, int64(s.Rank()))
	for i := range s.Rank() {
		w.b = binary.AppendVarint(w.b, int64(s.Dim(i)))
	}
}

func (w *writer) elems(tag byte, es []Encoding) {
	w.b = binary.AppendUvarint(append(w.b, tag), uint64(len(es)))
	for _, x := range es {
		w.encoding(x)
	}
}

func (w *writer) entries(es []Entry) {
	w.b = binary.AppendUvarint(w.b, uint64(len(es)))
	for _, x := range es {
		w.string(x.Name)
		w.encoding(x.Value)
	}
}

func (w *writer) encoding(e Encoding) {
	switch e := e.(type) {
	case nil, Nil:
		w.b = append(w.b, tagNil)
	case Bool:
		if e {
			w.b = append(w.b, tagTrue)
		} else {
			w.b = append(w.b, tagFalse)
		}
	case Int:
		w.b = binary.AppendVarint(append(w.b, tagInt), int64(e))
	case Float:
		w.b = binary.LittleEndian.AppendUint64(append(w.b, tagFloat), math.Float64bits(float64(e)))
	case Str:
		w.b = append(w.b, tagStr)
		w.string(string(e))
	case DType:
		w.b = append(w.b, tagDType, byte(e.DType))
	case Shape:
		w.b = append(w.b, tagShape)
		w.shape(e.Shape)
	case SpecOf:
		w.spec(e.Spec)
	case List:
		w.elems(tagList, e)
	case Tuple:
		w.elems(tagTuple, e)
	case NamedTuple:
		w.b = append(w.b, tagNamedTuple)
		w.string(e.Name)
		w.entries(e.Fields)
	case Dict:
		w.b = append(w.b, tagDict)
		w.entries(e)
	case Array:
		w.b = append(w.b, tagArray, byte(e.DType))
		w.shape(e.Shape)
		w.string(e.Data)
	}
}
