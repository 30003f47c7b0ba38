package ext

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// kind says what memory of a Go type contains.
type kind uint8

const (
	// Static data.
	kindBool kind = iota
	kindInt
	kindUint
	kindFloat
	kindString
	kindBytes
	kindDType
	kindShape
	kindSpec
	kindScalar // an interface that holds nil, a bool, int, float64 or string

	// Places of Values.
	kindTensor // the interface tensor.Tensor
	kindValue  // the interface tenon.Value
	kindTyped  // any other type that is a Value
	kindBehind // a pointer to a type that is a Value itself

	// Containers of the kinds above.
	kindStruct
	kindSlice
	kindArray
	kindMap
	kindPointer // nil if it is empty
)

// node says how memory of a Go type is walked. It is made when a type is registered.
type node struct {
	typ    reflect.Type
	kind   kind
	size   uintptr
	fields []field // struct
	elem   *node   // slice, array, map, pointer
	n      int     // array
	places int     // number of Values it holds; open if that depends on the data
	sample any     // kindTyped: the zero value, whose first word identifies the type
	direct bool    // kindTyped: an interface holds the value itself, a pointer

	ignored   []reflect.StructField // struct: fields with the tag "-"
	recursive bool                  // the type refers to itself
	shares    bool                  // a copy shares memory with the original; see own
	deep      bool                  // it contains types that refer to themselves
}

// made holds the nodes that are being made, so that a type can refer to itself. What an interface
// may hold depends on the field's tag.
type made map[madeKey]*node

type madeKey struct {
	typ    reflect.Type
	static bool
}

// open is the number of places of a container whose length is data.
const open = -1

type field struct {
	name   string
	offset uintptr
	node   *node
	tag    *tag
	inline bool // an embedded struct, whose fields count as those of the outer struct
}

var (
	valueType    = reflect.TypeFor[tenon.Value]()
	tensorType   = reflect.TypeFor[tensor.Tensor]()
	specType     = reflect.TypeFor[tenon.Spec]()
	dtypeType    = reflect.TypeFor[dtype.DType]()
	shapeType    = reflect.TypeFor[shape.Shape]()
	encodingType = reflect.TypeFor[tenon.Encoding]()
)

func unsupported(path, format string, args ...any) error {
	return &tenon.Error{Kind: tenon.ErrUnsupported, Op: "ext.Register", Where: path, Msg: fmt.Sprintf(format, args...),
		Hint: "use Values, static data (bool, integers, floats, strings, dtype.DType, shape.Shape), structs, slices, arrays and maps of them, or leave the field out with the tag `tenon:\"-\"`"}
}

// compile makes the node of a type. A type can refer to itself only through a pointer, a slice or a
// map, whose node is in made while it is being made.
func compile(t reflect.Type, path string, t0 *tag, made made) (*node, error) {
	id := madeKey{t, t0.static}
	if n, ok := made[id]; ok {
		n.recursive = true
		return n, nil
	}
	n := &node{typ: t, size: t.Size()}
	switch t.Kind() {
	case reflect.Slice, reflect.Map, reflect.Pointer:
		made[id] = n
		n.places = open // until more is known
		defer delete(made, id)
	}
	var err error
	switch k := t.Kind(); {
	case t == tensorType:
		n.kind, n.places = kindTensor, 1
	case t == valueType:
		n.kind, n.places = kindValue, 1
	case t == dtypeType:
		n.kind = kindDType
	case t == shapeType:
		n.kind = kindShape
	case t == specType:
		n.kind = kindSpec
	case k == reflect.Pointer && t.Elem().Kind() == reflect.Struct && t.Elem().Implements(valueType):
		n.kind, n.places = kindBehind, 1
		n.elem, err = compile(t.Elem(), path, t0, made)
	case t.Implements(valueType):
		n.kind, n.places = kindTyped, 1
		if k != reflect.Interface {
			n.sample = reflect.Zero(t).Interface()
			n.direct = words(&n.sample)[1] == nil && t.Size() == unsafe.Sizeof(uintptr(0))
		}
	case k == reflect.Struct && reflect.PointerTo(t).Implements(valueType):
		return nil, unsupported(path, "a %v is not a Value, but a pointer to it is: hold a *%v", t, t)
	case t.Implements(specType), t.Implements(encodingType):
		return nil, unsupported(path, "a %v is static data of another type: hold it as a tenon.Spec", t)
	case k == reflect.Interface:
		if t.NumMethod() != 0 || !t0.static {
			return nil, unsupported(path, "the interface %v holds anything; an `any` with the tag `tenon:\"static\"` holds nil, a bool, an int, a float64 or a string", t)
		}
		n.kind = kindScalar
	case k == reflect.Bool:
		n.kind = kindBool
	case k >= reflect.Int && k <= reflect.Int64:
		n.kind = kindInt
	case k >= reflect.Uint && k <= reflect.Uint64:
		n.kind = kindUint
	case k == reflect.Float32 || k == reflect.Float64:
		n.kind = kindFloat
	case k == reflect.String:
		n.kind = kindString
	case k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		n.kind, n.places = kindBytes, 0
	case k == reflect.Slice:
		n.kind, n.places = kindSlice, open
		n.elem, err = compile(t.Elem(), path+"[]", t0, made)
	case k == reflect.Array:
		n.kind, n.n = kindArray, t.Len()
		if n.elem, err = compile(t.Elem(), path+"[]", t0, made); err == nil {
			n.places = n.n * n.elem.places
		}
	case k == reflect.Map:
		if t.Key().Kind() != reflect.String {
			return nil, unsupported(path, "the keys of a map are strings, not %v", t.Key())
		}
		n.kind, n.places = kindMap, open
		n.elem, err = compile(t.Elem(), path+"[]", t0, made)
	case k == reflect.Pointer:
		n.kind, n.places = kindPointer, open
		n.elem, err = compile(t.Elem(), path, t0, made)
	case k == reflect.Struct:
		n.kind = kindStruct
		err = n.structure(path, made)
	default:
		return nil, unsupported(path, "a %v is neither a Value nor static data", t)
	}
	if err != nil {
		return nil, err
	}
	n.settle()
	return n, nil
}

// settle finds containers that contain no Values.
func (n *node) settle() {
	switch n.kind {
	case kindSlice, kindMap, kindPointer:
		if n.elem.places == 0 && !n.recursive {
			n.places = 0
		}
	case kindArray:
		if n.elem.places < 0 && n.n > 0 {
			n.places = open
		}
	}
}

// structure adds the fields of a struct.
func (n *node) structure(path string, made made) error {
	for i := range n.typ.NumField() {
		f := n.typ.Field(i)
		at := strings.TrimPrefix(path+"."+f.Name, ".")
		t, err := parseTag(f, at)
		if err != nil {
			return err
		}
		if t.ignored {
			n.ignored = append(n.ignored, f)
			continue
		}
		x := field{name: t.name, offset: f.Offset, tag: t}
		if f.Anonymous {
			s := f.Type
			if s.Kind() != reflect.Struct {
				return unsupported(at, "an embedded %v: embed the struct itself", s)
			}
			x.inline = true
			x.node = &node{typ: s, size: s.Size(), kind: kindStruct}
			err = x.node.structure(path, made)
		} else if !f.IsExported() {
			return unsupported(at, "the field is not exported, so values cannot be assembled")
		} else {
			x.node, err = compile(f.Type, at, t, made)
		}
		if err != nil {
			return err
		}
		if err := t.fits(x.node, at); err != nil {
			return err
		}
		n.fields = append(n.fields, x)
		if n.places >= 0 {
			n.places += x.node.places
			if x.node.places < 0 {
				n.places = open
			}
		}
	}
	return nil
}

// flat returns the fields of a struct, with embedded structs replaced by their fields.
func (n *node) flat(base uintptr, out []field) []field {
	for _, f := range n.fields {
		f.offset += base
		if f.inline {
			out = f.node.flat(f.offset, out)
			continue
		}
		out = append(out, f)
	}
	return out
}

// words are the two words of an interface: its type, and the value or a pointer to it.
func words[I any](x *I) *[2]unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(x)) }

// at returns the addressable reflect.Value of memory.
func (n *node) at(p unsafe.Pointer) reflect.Value { return reflect.NewAt(n.typ, p).Elem() }
