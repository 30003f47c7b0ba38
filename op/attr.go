package op

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// An Attribute is the value of an attribute whose Go type another package defines. It encodes
// itself as plain data, from which the parameter's Convert function makes it again.
type Attribute interface {
	EncodeAttr() tenon.Encoding
}

// A SameAttribute is an attribute's value that can be compared with others. A value that cannot be
// compared is not even the same as itself.
type SameAttribute interface {
	Attribute
	SameAttr(a any) bool
}

// EncodeAttr returns an attribute's value as plain data, for graphs that are printed or stored. It
// returns false for what is not data, such as a Go function.
func EncodeAttr(a any) (tenon.Encoding, bool) {
	switch a := a.(type) {
	case nil:
		return tenon.Nil{}, true
	case bool:
		return tenon.Bool(a), true
	case int:
		return tenon.Int(a), true
	case float64:
		return tenon.Float(a), true
	case string:
		return tenon.Str(a), true
	case dtype.DType:
		return tenon.DType{DType: a}, true
	case shape.Shape:
		return tenon.Shape{Shape: a}, true
	case []int:
		if a == nil {
			return tenon.Nil{}, true
		}
		return tenon.Ints(a), true
	case []float64:
		if a == nil {
			return tenon.Nil{}, true
		}
		l := make(tenon.List, len(a))
		for i, x := range a {
			l[i] = tenon.Float(x)
		}
		return l, true
	case []string:
		if a == nil {
			return tenon.Nil{}, true
		}
		return tenon.Strs(a), true
	case tenon.Spec:
		return tenon.SpecOf{Spec: a}, true
	case Attribute:
		return a.EncodeAttr(), true
	case tenon.Encoding:
		return tenon.NamedTuple{Name: "encoding", Fields: []tenon.Entry{{Name: "value", Value: a}}}, true
	}
	return nil, false
}

// DecodeAttr decodes an attribute of parameter p from its plain data.
func DecodeAttr(p *Param, e tenon.Encoding) (any, error) {
	bad := func() (any, error) {
		return nil, tenon.NewError(tenon.ErrInvalid, "op.DecodeAttr", fmt.Sprintf("%s is not %s for %s", tenon.EncodingText(e), p.want(), p.Name))
	}
	var v any
	switch e := e.(type) {
	case tenon.Nil:
		if p.Default != nil || !p.Optional && p.Type != AnyType && p.Type != IntsType && p.Type != FloatsType && p.Type != StringsType {
			return bad()
		}
		return nil, nil
	case tenon.Bool:
		v = bool(e)
	case tenon.Int:
		v = int(e)
	case tenon.Float:
		v = float64(e)
	case tenon.Str:
		v = string(e)
	case tenon.DType:
		v = e.DType
	case tenon.Shape:
		v = e.Shape
	case tenon.SpecOf:
		v = e.Spec
	case tenon.List:
		l, ok := decodeList(p.Type, e)
		if !ok {
			return bad()
		}
		v = l
	case tenon.NamedTuple:
		x, ok := e.Get("value")
		if !ok || e.Name != "encoding" {
			return bad()
		}
		v = x
	default:
		return bad()
	}
	a, ok := p.attribute(v)
	if !ok {
		return bad()
	}
	return a, nil
}

func decodeList(t Type, l tenon.List) (any, bool) {
	if len(l) == 0 {
		switch t {
		case FloatsType:
			return []float64{}, true
		case StringsType:
			return []string{}, true
		}
		return []int{}, true
	}
	switch l[0].(type) {
	case tenon.Int:
		return decodeElems(l, func(e tenon.Int) int { return int(e) })
	case tenon.Float:
		return decodeElems(l, func(e tenon.Float) float64 { return float64(e) })
	case tenon.Str:
		return decodeElems(l, func(e tenon.Str) string { return string(e) })
	}
	return nil, false
}

func decodeElems[E tenon.Encoding, T any](l tenon.List, f func(E) T) ([]T, bool) {
	out := make([]T, len(l))
	for i, x := range l {
		e, ok := x.(E)
		if !ok {
			return nil, false
		}
		out[i] = f(e)
	}
	return out, true
}
