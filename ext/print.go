package ext

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/tenonml/tenon"
)

// String returns the text of a value of a registered type, for its String method:
//
//	Masked(Values=[1 2], Mask=[true false])
func String(v tenon.Value) string {
	if v == nil {
		return "nil"
	}
	d, ok := specOf(v.Spec())
	if !ok {
		return fmt.Sprint(v)
	}
	p, ok := d.info.unbox(v)
	if !ok {
		return d.String()
	}
	return d.info.short + d.info.node.fieldsText(p, "(", "=", ")")
}

func (n *node) fieldsText(p unsafe.Pointer, before, between, after string) string {
	var parts []string
	for _, f := range n.flat(0, nil) {
		parts = append(parts, f.name+between+f.node.text(unsafe.Add(p, f.offset)))
	}
	return before + strings.Join(parts, ", ") + after
}

func (n *node) text(at unsafe.Pointer) string {
	elems := func(first unsafe.Pointer, k int) string {
		parts := make([]string, k)
		for i := range parts {
			parts[i] = n.elem.text(unsafe.Add(first, uintptr(i)*n.elem.size))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	switch n.kind {
	case kindTensor, kindValue, kindTyped, kindBehind:
		v := n.load(at)
		if v == nil {
			return "nil"
		}
		if _, ok := v.(fmt.Stringer); !ok {
			if _, ok := specOf(v.Spec()); ok {
				return String(v)
			}
		}
		return fmt.Sprint(v)
	case kindString:
		return fmt.Sprintf("%q", *(*string)(at))
	case kindStruct:
		return n.fieldsText(at, "{", "=", "}")
	case kindSlice:
		s := (*slice)(at)
		return elems(s.data, s.len)
	case kindArray:
		return elems(at, n.n)
	case kindMap:
		var parts []string
		n.entries(at, func(k string, elem unsafe.Pointer) error {
			parts = append(parts, k+": "+n.elem.text(elem))
			return nil
		})
		return "{" + strings.Join(parts, ", ") + "}"
	case kindPointer:
		if p := *(*unsafe.Pointer)(at); p != nil {
			return n.elem.text(p)
		}
		return "nil"
	}
	return fmt.Sprint(n.at(at).Interface())
}
