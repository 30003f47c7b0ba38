package ext

import (
	"math"
	"reflect"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/shape"
)

// encode returns the encoding of a template. Each place takes the next Spec, nil
// if it is empty.
func (n *node) encode(at unsafe.Pointer, specs *[]tenon.Spec) tenon.Encoding {
	switch n.kind {
	case kindBool:
		return tenon.Bool(*(*bool)(at))
	case kindInt:
		return tenon.Int(n.at(at).Int())
	case kindUint:
		return tenon.Int(int64(n.at(at).Uint()))
	case kindFloat:
		return tenon.Float(n.at(at).Float())
	case kindString:
		return tenon.Str(*(*string)(at))
	case kindBytes:
		return tenon.Str(*(*[]byte)(at))
	case kindDType:
		return tenon.DType{DType: *(*dtype.DType)(at)}
	case kindShape:
		return tenon.Shape{Shape: *(*shape.Shape)(at)}
	case kindSpec:
		return codec.EncodeSpec(*(*tenon.Spec)(at))
	case kindScalar:
		return codec.EncodeScalar(*(*any)(at))
	case kindStruct:
		return tenon.NamedTuple{Name: "struct", Fields: n.encodeFields(at, specs)}
	case kindSlice:
		s := (*slice)(at)
		out := make(tenon.List, s.len)
		for i := range out {
			out[i] = n.elem.encode(unsafe.Add(s.data, uintptr(i)*n.elem.size), specs)
		}
		return out
	case kindArray:
		out := make(tenon.Tuple, n.n)
		for i := range out {
			out[i] = n.elem.encode(unsafe.Add(at, uintptr(i)*n.elem.size), specs)
		}
		return out
	case kindMap:
		out := tenon.Dict{}
		n.entries(at, func(k string, elem unsafe.Pointer) error {
			out = append(out, tenon.Entry{Name: k, Value: n.elem.encode(elem, specs)})
			return nil
		})
		return out
	case kindPointer:
		p := *(*unsafe.Pointer)(at)
		if p == nil {
			return tenon.Nil{}
		}
		return tenon.Tuple{n.elem.encode(p, specs)}
	}
	s := (*specs)[0]
	*specs = (*specs)[1:]
	if s == nil {
		return tenon.Nil{}
	}
	return tenon.SpecOf{Spec: s}
}

func (n *node) encodeFields(at unsafe.Pointer, specs *[]tenon.Spec) []tenon.Entry {
	out := make([]tenon.Entry, 0, len(n.fields))
	for i := range n.fields {
		f := &n.fields[i]
		if f.inline {
			out = append(out, f.node.encodeFields(unsafe.Add(at, f.offset), specs)...)
			continue
		}
		out = append(out, tenon.Entry{Name: f.name, Value: f.node.encode(unsafe.Add(at, f.offset), specs)})
	}
	return out
}

// decode reads the result of encode into zeroed memory and appends the Spec of each place, nil if
// it is empty. The tag is that of the enclosing field.
func (n *node) decode(at unsafe.Pointer, e tenon.Encoding, t *tag, specs *[]tenon.Spec) error {
	switch n.kind {
	case kindBool:
		x, err := tenon.As[tenon.Bool](e)
		*(*bool)(at) = bool(x)
		return err
	case kindInt:
		x, err := tenon.As[tenon.Int](e)
		if err == nil && n.at(at).OverflowInt(int64(x)) {
			err = codec.Bad("%d does not fit a %v", x, n.typ)
		}
		n.at(at).SetInt(int64(x))
		return err
	case kindUint:
		x, err := tenon.As[tenon.Int](e)
		if err == nil && (n.at(at).OverflowUint(uint64(x)) || x < 0 && n.size < 8) {
			err = codec.Bad("%d does not fit a %v", x, n.typ)
		}
		n.at(at).SetUint(uint64(x))
		return err
	case kindFloat:
		x, err := tenon.As[tenon.Float](e)
		if f := float64(x); err == nil && n.size == 4 && float64(float32(f)) != f && !math.IsNaN(f) {
			err = codec.Bad("%v is not a %v", f, n.typ)
		}
		n.at(at).SetFloat(float64(x))
		return err
	case kindString:
		x, err := tenon.As[tenon.Str](e)
		*(*string)(at) = string(x)
		return err
	case kindBytes:
		x, err := tenon.As[tenon.Str](e)
		n.at(at).SetBytes([]byte(x))
		return err
	case kindDType:
		x, err := tenon.As[tenon.DType](e)
		*(*dtype.DType)(at) = x.DType
		return err
	case kindShape:
		x, err := tenon.As[tenon.Shape](e)
		*(*shape.Shape)(at) = x.Shape
		return err
	case kindSpec:
		return codec.DecodeSpec((*tenon.Spec)(at), e)
	case kindScalar:
		return codec.DecodeScalar((*any)(at), e)
	case kindStruct:
		x, err := tenon.As[tenon.NamedTuple](e)
		if err == nil && x.Name != "struct" {
			err = codec.Bad("the tuple is called %q, want a struct", x.Name)
		}
		if err != nil {
			return err
		}
		return n.decodeFields(at, x.Fields, specs)
	case kindSlice:
		l, err := tenon.As[tenon.List](e)
		if err != nil || len(l) == 0 {
			return err
		}
		n.at(at).Set(reflect.MakeSlice(n.typ, len(l), len(l)))
		return n.decodeElems((*slice)(at).data, l, t, specs)
	case kindArray:
		l, err := tenon.As[tenon.Tuple](e)
		if err == nil && len(l) != n.n {
			err = codec.Bad("there are %d elements, want %d", len(l), n.n)
		}
		if err != nil {
			return err
		}
		return n.decodeElems(at, l, t, specs)
	case kindMap:
		return n.decodeMap(at, e, t, specs)
	case kindPointer:
		if _, ok := e.(tenon.Nil); ok {
			return nil
		}
		l, err := tenon.As[tenon.Tuple](e)
		if err == nil && len(l) != 1 {
			err = codec.Bad("there are %d elements, want 1", len(l))
		}
		if err != nil {
			return err
		}
		made := reflect.New(n.elem.typ)
		n.at(at).Set(made)
		return n.elem.decode(made.UnsafePointer(), l[0], t, specs)
	}
	return n.decodePlace(e, t, specs)
}

func (n *node) decodePlace(e tenon.Encoding, t *tag, specs *[]tenon.Spec) error {
	want := t.typeName
	if want == "" && n.kind == kindTyped {
		want = codec.NameOf(n.typ)
	}
	if want == "" && n.kind == kindBehind {
		want = codec.NameOf(n.elem.typ)
	}
	return codec.ReadPlace(e, want, n.typ.String(), t.optional || n.kind == kindBehind, n.kind == kindValue, specs)
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (n *node) decodeFields(at unsafe.Pointer, entries []tenon.Entry, specs *[]tenon.Spec) error {
	fields := n.flat(0, nil)
	for i, f := range fields {
		if i >= len(entries) || entries[i].Name != f.name {
			return codec.Bad("the encoding has the fields %v, the type %v", codec.EntryNames(entries), fieldNames(fields))
		}
		if err := f.node.decode(unsafe.Add(at, f.offset), entries[i].Value, f.tag, specs); err != nil {
			return codec.Within(f.name, err)
		}
	}
	if len(entries) > len(fields) {
		return codec.Bad("the encoding has the fields %v, the type %v", codec.EntryNames(entries), fieldNames(fields))
	}
	return nil
}

func fieldNames(fields []field) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.name
	}
	return out
}

func (n *node) decodeElems(at unsafe.Pointer, l []tenon.Encoding, t *tag, specs *[]tenon.Spec) error {
	for i, x := range l {
		if err := n.elem.decode(unsafe.Add(at, uintptr(i)*n.elem.size), x, t, specs); err != nil {
			return codec.Within(codec.At(i), err)
		}
	}
	return nil
}

func (n *node) decodeMap(at unsafe.Pointer, e tenon.Encoding, t *tag, specs *[]tenon.Spec) error {
	d, err := codec.DecodeDict(e)
	if err != nil || len(d) == 0 {
		return err
	}
	m := reflect.MakeMapWithSize(n.typ, len(d))
	key := reflect.New(n.typ.Key()).Elem()
	for _, x := range d {
		elem := reflect.New(n.elem.typ)
		if err := n.elem.decode(elem.UnsafePointer(), x.Value, t, specs); err != nil {
			return codec.Within(codec.Entry(x.Name), err)
		}
		key.SetString(x.Name)
		m.SetMapIndex(key, elem.Elem())
	}
	n.at(at).Set(m)
	return nil
}
