package ext

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// goData returns an encoding as Go data, with each Spec that is not static replaced by the next
// component.
func goData(e tenon.Encoding, next func() tenon.Value) any {
	elems := func(es []tenon.Encoding) any {
		out := make([]any, len(es))
		for i, x := range es {
			out[i] = goData(x, next)
		}
		return out
	}
	switch e := e.(type) {
	case tenon.Bool:
		return bool(e)
	case tenon.Int:
		return int(e)
	case tenon.Float:
		return float64(e)
	case tenon.Str:
		return string(e)
	case tenon.DType:
		return e.DType
	case tenon.Shape:
		return e.Shape
	case tenon.SpecOf:
		if next == nil {
			return e.Spec
		}
		return next()
	case tenon.List:
		return elems(e)
	case tenon.Tuple:
		return elems(e)
	case tenon.Dict:
		return goFields(e, next)
	case tenon.NamedTuple:
		if e.Name == codec.Static && len(e.Fields) == 1 {
			return goData(e.Fields[0].Value, nil)
		}
		return goFields(e.Fields, next)
	}
	return nil
}

func goFields(es []tenon.Entry, next func() tenon.Value) map[string]any {
	out := make(map[string]any, len(es))
	for _, x := range es {
		out[x.Name] = goData(x.Value, next)
	}
	return out
}

func wrong(x any, want string) error {
	got := fmt.Sprintf("a %T", x)
	switch v := x.(type) {
	case nil:
		got = "nothing"
	case tenon.Value:
		got = tenon.String(v.Spec())
	case bool, int, float64, string:
		got = fmt.Sprintf("the %T %v", x, x)
	}
	return &tenon.Error{Kind: tenon.ErrDType, Msg: fmt.Sprintf("got %s, want %s", got, want)}
}

// build sets zeroed memory to Go data. Scalars must have the exact type: an int
// is neither a float64 nor a bool.
func (n *node) build(at unsafe.Pointer, x any, t *tag) error {
	r := reflect.ValueOf(x)
	switch n.kind {
	case kindBool:
		if r.Kind() != reflect.Bool {
			return wrong(x, "a bool")
		}
		*(*bool)(at) = r.Bool()
	case kindInt:
		if !r.CanInt() || n.at(at).OverflowInt(r.Int()) {
			return wrong(x, fmt.Sprintf("an integer that fits a %v", n.typ))
		}
		n.at(at).SetInt(r.Int())
	case kindUint:
		switch {
		case r.CanUint() && !n.at(at).OverflowUint(r.Uint()):
			n.at(at).SetUint(r.Uint())
		case r.CanInt() && r.Int() >= 0 && !n.at(at).OverflowUint(uint64(r.Int())):
			n.at(at).SetUint(uint64(r.Int()))
		default:
			return wrong(x, fmt.Sprintf("an integer that fits a %v", n.typ))
		}
	case kindFloat:
		if !r.CanFloat() {
			return wrong(x, "a floating-point number")
		}
		n.at(at).SetFloat(r.Float())
	case kindString:
		if r.Kind() != reflect.String {
			return wrong(x, "a string")
		}
		*(*string)(at) = r.String()
	case kindBytes:
		switch x := x.(type) {
		case string:
			n.at(at).SetBytes([]byte(x))
		case []byte:
			n.at(at).SetBytes(slices.Clone(x))
		default:
			return wrong(x, "bytes")
		}
	case kindDType:
		d, ok := x.(dtype.DType)
		if !ok {
			return wrong(x, "an element type")
		}
		*(*dtype.DType)(at) = d
	case kindShape:
		switch x := x.(type) {
		case shape.Shape:
			*(*shape.Shape)(at) = x
		case []int:
			s, err := shape.From(x)
			if err != nil {
				return err
			}
			*(*shape.Shape)(at) = s
		default:
			return wrong(x, "a shape")
		}
	case kindSpec:
		s, ok := x.(tenon.Spec)
		if !ok && x != nil {
			return wrong(x, "a Spec")
		}
		*(*tenon.Spec)(at) = s
	case kindScalar:
		if !codec.IsScalar(x) {
			return wrong(x, "nil, a bool, an int, a float64 or a string")
		}
		*(*any)(at) = x
	case kindStruct:
		return n.buildStruct(at, x)
	case kindSlice:
		if x == nil {
			return nil
		}
		if r.Kind() != reflect.Slice && r.Kind() != reflect.Array {
			return wrong(x, "a list")
		}
		if r.Len() == 0 {
			return nil
		}
		n.at(at).Set(reflect.MakeSlice(n.typ, r.Len(), r.Len()))
		return n.buildElems((*slice)(at).data, r, t)
	case kindArray:
		if r.Kind() != reflect.Slice && r.Kind() != reflect.Array || r.Len() != n.n {
			return wrong(x, fmt.Sprintf("%d elements", n.n))
		}
		return n.buildElems(at, r, t)
	case kindMap:
		return n.buildMap(at, x, t)
	case kindPointer:
		if x == nil {
			return nil
		}
		made := reflect.New(n.elem.typ)
		n.at(at).Set(made)
		if l, ok := x.([]any); ok && len(l) == 1 { // as in an encoding
			x = l[0]
		}
		return n.elem.build(made.UnsafePointer(), x, t)
	default:
		if x == nil {
			return n.store(at, nil)
		}
		v, ok := x.(tenon.Value)
		if !ok && (n.kind == kindTensor || n.kind == kindValue) && t.typeName == "" {
			c, err := tensor.Convert(x)
			if err != nil {
				return wrong(x, "a Value")
			}
			v, ok = c, true
		}
		if !ok {
			return wrong(x, "a "+cmpOr(t.typeName, n.typ.String()))
		}
		return n.store(at, v)
	}
	return nil
}

func (n *node) buildElems(at unsafe.Pointer, r reflect.Value, t *tag) error {
	for i := range r.Len() {
		if err := n.elem.build(unsafe.Add(at, uintptr(i)*n.elem.size), r.Index(i).Interface(), t); err != nil {
			return codec.Within(codec.At(i), err)
		}
	}
	return nil
}

func (n *node) buildMap(at unsafe.Pointer, x any, t *tag) error {
	r := reflect.ValueOf(x)
	if x == nil {
		return nil
	}
	if r.Kind() != reflect.Map || r.Type().Key().Kind() != reflect.String {
		return wrong(x, "a map with strings as keys")
	}
	m := reflect.MakeMapWithSize(n.typ, r.Len())
	key := reflect.New(n.typ.Key()).Elem()
	for it := r.MapRange(); it.Next(); {
		elem := reflect.New(n.elem.typ)
		if err := n.elem.build(elem.UnsafePointer(), it.Value().Interface(), t); err != nil {
			return codec.Within(codec.Entry(it.Key().String()), err)
		}
		key.SetString(it.Key().String())
		m.SetMapIndex(key, elem.Elem())
	}
	n.at(at).Set(m)
	return nil
}

// buildStruct takes fields by name, or all of them in order.
func (n *node) buildStruct(at unsafe.Pointer, x any) error {
	fields := n.flat(0, nil)
	m, ok := x.(map[string]any)
	if !ok {
		r := reflect.ValueOf(x)
		if x == nil || r.Kind() != reflect.Slice && r.Kind() != reflect.Array {
			return wrong(x, fmt.Sprintf("the fields %v", fieldNames(fields)))
		}
		if r.Len() != len(fields) {
			return &tenon.Error{Kind: tenon.ErrDType, Msg: fmt.Sprintf("got %d elements, want %d", r.Len(), len(fields))}
		}
		m = make(map[string]any, len(fields))
		for i, f := range fields {
			m[f.name] = r.Index(i).Interface()
		}
	}
	return buildFields(fields, at, m)
}

func buildFields(fields []field, at unsafe.Pointer, m map[string]any) error {
	used := 0
	for _, f := range fields {
		x, ok := m[f.name]
		if ok {
			used++
		} else if f.tag.hasDef {
			var err error
			if x, err = f.tag.defaultOf(f.node); err != nil {
				return codec.Within(f.name, err)
			}
		} else if !f.tag.optional && f.node.kind != kindPointer {
			return &tenon.Error{Kind: tenon.ErrDType, Where: f.name, Msg: "the field is missing"}
		}
		if err := f.node.build(unsafe.Add(at, f.offset), x, f.tag); err != nil {
			return codec.Within(f.name, err)
		}
	}
	if used < len(m) {
		for name := range m {
			if !slices.Contains(fieldNames(fields), name) {
				return &tenon.Error{Kind: tenon.ErrDType, Where: name, Msg: fmt.Sprintf("there is no such field; there are %v", fieldNames(fields))}
			}
		}
	}
	return nil
}
