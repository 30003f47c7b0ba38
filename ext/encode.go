package ext

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// staticSpec is the name of the tuple that static Specs are wrapped in, to tell them
// from the Specs of components.
const staticSpec = "static"

// encode returns the encoding of a template. Each place takes the next Spec, nil
// where nothing stands.
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
		s := *(*tenon.Spec)(at)
		if s == nil {
			return tenon.Nil{}
		}
		return tenon.NamedTuple{Name: staticSpec, Fields: []tenon.Entry{{Name: "spec", Value: tenon.SpecOf{Spec: s}}}}
	case kindScalar:
		return encodeScalar(*(*any)(at))
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

func encodeScalar(x any) tenon.Encoding {
	switch x := x.(type) {
	case bool:
		return tenon.Bool(x)
	case int:
		return tenon.Int(x)
	case float64:
		return tenon.Float(x)
	case string:
		return tenon.Str(x)
	}
	return tenon.Nil{}
}

func badEncoding(format string, args ...any) error {
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: "ext.Decode", Msg: fmt.Sprintf(format, args...)}
}

// decode reads what encode writes into zeroed memory, and appends the Spec of each
// place, nil where nothing stands. The tag is that of the field around.
func (n *node) decode(at unsafe.Pointer, e tenon.Encoding, t *tag, specs *[]tenon.Spec) error {
	switch n.kind {
	case kindBool:
		x, err := tenon.As[tenon.Bool](e)
		*(*bool)(at) = bool(x)
		return err
	case kindInt:
		x, err := tenon.As[tenon.Int](e)
		if err == nil && n.at(at).OverflowInt(int64(x)) {
			err = badEncoding("%d does not fit a %v", x, n.typ)
		}
		n.at(at).SetInt(int64(x))
		return err
	case kindUint:
		x, err := tenon.As[tenon.Int](e)
		if err == nil && (n.at(at).OverflowUint(uint64(x)) || x < 0 && n.size < 8) {
			err = badEncoding("%d does not fit a %v", x, n.typ)
		}
		n.at(at).SetUint(uint64(x))
		return err
	case kindFloat:
		x, err := tenon.As[tenon.Float](e)
		if f := float64(x); err == nil && n.size == 4 && float64(float32(f)) != f && !math.IsNaN(f) {
			err = badEncoding("%v is no %v", f, n.typ)
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
		return decodeSpec((*tenon.Spec)(at), e)
	case kindScalar:
		return decodeScalar((*any)(at), e)
	case kindStruct:
		x, err := tenon.As[tenon.NamedTuple](e)
		if err == nil && x.Name != "struct" {
			err = badEncoding("the tuple is called %q, want a struct", x.Name)
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
			err = badEncoding("there are %d elements, want %d", len(l), n.n)
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
			err = badEncoding("there are %d elements, want 1", len(l))
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
	if _, ok := e.(tenon.Nil); ok {
		if !t.optional {
			return badEncoding("nothing stands where a Value is required")
		}
		*specs = append(*specs, nil)
		return nil
	}
	s, err := tenon.As[tenon.SpecOf](e)
	if err != nil {
		return err
	}
	if s.Spec == nil {
		return badEncoding("the Spec is nil")
	}
	want := t.typeName
	if w := n; w.kind == kindBehind || w.kind == kindTyped {
		if w.kind == kindBehind {
			w = w.elem
		}
		if i := infoOf(w.typ); i != nil {
			want = i.name
		}
	}
	if _, opaque := s.Spec.(*tenon.Opaque); want != "" && s.Spec.TypeName() != want || opaque && n.kind != kindValue {
		return badEncoding("the Spec is %s, want one of %s", tenon.String(s.Spec), cmpOr(want, n.typ.String()))
	}
	*specs = append(*specs, s.Spec)
	return nil
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
			return badEncoding("the encoding has the fields %v, the type %v", entryNames(entries), fieldNames(fields))
		}
		if err := f.node.decode(unsafe.Add(at, f.offset), entries[i].Value, f.tag, specs); err != nil {
			return within(f.name, err)
		}
	}
	if len(entries) > len(fields) {
		return badEncoding("the encoding has the fields %v, the type %v", entryNames(entries), fieldNames(fields))
	}
	return nil
}

func entryNames(entries []tenon.Entry) []string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Name
	}
	return out
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
			return within(index(i), err)
		}
	}
	return nil
}

func (n *node) decodeMap(at unsafe.Pointer, e tenon.Encoding, t *tag, specs *[]tenon.Spec) error {
	d, err := tenon.As[tenon.Dict](e)
	if err != nil || len(d) == 0 {
		return err
	}
	m := reflect.MakeMapWithSize(n.typ, len(d))
	key := reflect.New(n.typ.Key()).Elem()
	for i, x := range d {
		if i > 0 && d[i-1].Name >= x.Name {
			return badEncoding("the keys are not in order at %q", x.Name)
		}
		elem := reflect.New(n.elem.typ)
		if err := n.elem.decode(elem.UnsafePointer(), x.Value, t, specs); err != nil {
			return within(entry(x.Name), err)
		}
		key.SetString(x.Name)
		m.SetMapIndex(key, elem.Elem())
	}
	n.at(at).Set(m)
	return nil
}

func decodeSpec(at *tenon.Spec, e tenon.Encoding) error {
	if _, ok := e.(tenon.Nil); ok {
		return nil
	}
	t, err := tenon.As[tenon.NamedTuple](e)
	if err != nil {
		return err
	}
	if t.Name != staticSpec || len(t.Fields) != 1 || t.Fields[0].Name != "spec" {
		return badEncoding("%s is no static Spec", tenon.EncodingText(e))
	}
	s, err := tenon.As[tenon.SpecOf](t.Fields[0].Value)
	if err == nil && s.Spec == nil {
		err = badEncoding("the Spec is nil")
	}
	*at = s.Spec
	return err
}

func decodeScalar(at *any, e tenon.Encoding) error {
	switch e := e.(type) {
	case tenon.Nil:
	case tenon.Bool:
		*at = bool(e)
	case tenon.Int:
		*at = int(e)
	case tenon.Float:
		*at = float64(e)
	case tenon.Str:
		*at = string(e)
	default:
		return badEncoding("%s is neither nil, a bool, a number nor a string", tenon.EncodingText(e))
	}
	return nil
}
