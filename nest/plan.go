package nest

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// kind says how values of a type are walked.
type kind uint8

const (
	kindLeaf   kind = iota // a concrete type whose values are leaves
	kindTensor             // the interface tensor.Tensor
	kindValue              // the interface tenon.Value
	kindAny                // any other interface: the contents decide
	kindNode               // a concrete type that implements Node
	kindSlice
	kindArray
	kindMap
	kindStruct
	kindPointer
)

// plan says how values of one Go type are walked. It is made once per type.
type plan struct {
	typ    reflect.Type
	kind   kind
	size   uintptr
	direct bool // an interface holds the value itself, since it is a single pointer
	nils   bool // kindLeaf: the value can be nil, which is not a leaf
	box    any  // the zero value, to make interfaces of
	ptr    any  // a nil pointer to the type, to make reflect.Values of

	run     int   // number of tensors, if memory of the type holds nothing else
	elem    *plan // slice, array, map, pointer
	n       int   // array
	fields  []field
	static  []field
	beside  []field // fields that are not walked: unexported ones, and those with the tag "-"
	hidden  []field // unexported fields of types that can hold anything: see hides
	partial bool    // a struct with fields taken from the template
	keys    keyKind
	slices  bool      // map: from strings to slices, see sliceMap
	runs    bool      // map: from strings to slices that are runs
	key     any       // map: a nil pointer to the key type
	list    any       // map: a nil pointer to a slice of elements
	buffers sync.Pool // map: *slice, memory for the elements of one

	adopt func(v tenon.Value, like any) (any, error) // kindLeaf: see Adopt; nil for most types

	leaves atomic.Int32 // number of leaves of the value flattened last, to reserve room
	total  atomic.Int64 // slice: total number of elements in the value packed last
}

type field struct {
	name   string
	offset uintptr
	plan   *plan // nil for a static field
	typ    reflect.Type
}

var (
	plans      sync.Map // reflect.Type → *plan or *failure
	valueType  = reflect.TypeFor[tenon.Value]()
	specType   = reflect.TypeFor[tenon.Spec]()
	tensorType = reflect.TypeFor[tensor.Tensor]()
	leafType   = reflect.TypeFor[Leaf]()
	nodeType   = reflect.TypeFor[Node]()
)

// recent caches plans, each in a slot chosen by the address of its type.
var recent [64]atomic.Pointer[plan]

// planOf returns the plan of the contents of an interface; see planFor.
func planOf(x any) (*plan, *failure) {
	typ := words(&x)[0]
	last := &recent[uintptr(typ)>>6%uintptr(len(recent))]
	if p := last.Load(); p != nil && words(&p.box)[0] == typ {
		return p, nil
	}
	p, err := planFor(reflect.TypeOf(x))
	if err == nil {
		last.Store(p)
	}
	return p, err
}

// planTo returns the plan of the type that a nil pointer points to; see planFor.
func planTo(ptr any) (*plan, *failure) {
	typ := words(&ptr)[0]
	last := &recent[uintptr(typ)>>6%uintptr(len(recent))]
	if p := last.Load(); p != nil && words(&p.ptr)[0] == typ {
		return p, nil
	}
	p, err := planFor(reflect.TypeOf(ptr).Elem())
	if err == nil {
		last.Store(p)
	}
	return p, err
}

// planFor returns the plan of a type. A type that cannot be walked is an error
// whose path leads to the part at fault.
func planFor(t reflect.Type) (*plan, *failure) {
	if x, ok := plans.Load(t); ok {
		switch x := x.(type) {
		case *plan:
			return x, nil
		case *failure:
			f := *x // the caller adds to its path
			f.path = append(Path(nil), x.path...)
			return nil, &f
		}
	}
	made := map[reflect.Type]*plan{}
	p, err := compile(t, made)
	if err != nil {
		plans.Store(t, err)
		return planFor(t)
	}
	for t, p := range made {
		plans.LoadOrStore(t, p)
	}
	return p, nil
}

// compile makes the plan of a type and of the types it consists of. Types that
// are still being compiled are found in made, so that a type may refer to itself.
func compile(t reflect.Type, made map[reflect.Type]*plan) (*plan, *failure) {
	if p, ok := made[t]; ok {
		return p, nil
	}
	p := &plan{typ: t, size: t.Size(), ptr: nilPointer(t)}
	made[t] = p
	if t.Kind() != reflect.Interface {
		p.box = reflect.Zero(t).Interface()
		p.direct = words(&p.box)[1] == nil && t.Size() == unsafe.Sizeof(uintptr(0))
	}
	var err *failure
	switch k := t.Kind(); {
	case t == tensorType:
		p.kind = kindTensor
	case t == valueType:
		p.kind = kindValue
	case k == reflect.Interface:
		p.kind = kindAny
	case t.Implements(valueType), t.Implements(specType), t.Implements(leafType):
		p.leaf()
		p.adopt = adopterOf(t)
	case k == reflect.Struct && (reflect.PointerTo(t).Implements(valueType) || reflect.PointerTo(t).Implements(specType)):
		return nil, fail(tenon.ErrDType, "a %v is not a Value, but a pointer to it is: hold a *%v", t, t)
	case t.Implements(nodeType):
		p.kind = kindNode
	case k == reflect.Slice || k == reflect.Array:
		if dtype.OfType(t.Elem()) != dtype.None {
			p.leaf()
			break
		}
		p.kind = kindSlice
		if k == reflect.Array {
			p.kind, p.n = kindArray, t.Len()
		}
		p.elem, err = compile(t.Elem(), made)
	case k == reflect.Pointer:
		p.kind = kindPointer
		p.elem, err = compile(t.Elem(), made)
	case k == reflect.Map:
		p.kind = kindMap
		p.key, p.list = nilPointer(t.Key()), nilPointer(reflect.SliceOf(t.Elem()))
		if p.keys, err = keysOf(t.Key()); err == nil {
			p.elem, err = compile(t.Elem(), made)
			p.slices = err == nil && p.keys == stringKeys && p.elem.kind == kindSlice
			p.runs = p.slices && p.elem.elem.run > 0
		}
	case k == reflect.Struct:
		p.kind = kindStruct
		err = p.structure(made)
	default:
		p.leaf()
	}
	p.joined()
	return p, err
}

func (p *plan) leaf() {
	p.kind = kindLeaf
	switch p.typ.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		p.nils = true
	}
}

func (p *plan) structure(made map[reflect.Type]*plan) *failure {
	for i := range p.typ.NumField() {
		f := p.typ.Field(i)
		name, static, ignored, err := tag(f)
		if err != nil {
			return err.at(f.Name)
		}
		if !f.IsExported() || ignored {
			p.partial = true
			p.beside = append(p.beside, field{name: f.Name, offset: f.Offset, typ: f.Type})
			if !ignored {
				if err := p.unexported(f); err != nil {
					return err
				}
			}
			continue
		}
		x := field{name: name, offset: f.Offset, typ: f.Type}
		if static {
			p.partial = true
			p.static = append(p.static, x)
			continue
		}
		if x.plan, err = compile(f.Type, made); err != nil {
			return err.at(name)
		}
		p.fields = append(p.fields, x)
	}
	return nil
}

// tagKeys are the keywords of tags: those of this package, and those of package ext, which
// documents them.
var tagKeys = []string{"-", "static", "name", "optional", "dense", "type", "default", "oneof", "dtype", "rank", "shape", "len", "batch"}

// tag reads a field's tenon tag. Keywords of other packages are left to them; an unknown keyword is
// an error.
func tag(f reflect.StructField) (name string, static, ignored bool, err *failure) {
	name = f.Name
	for item := range strings.SplitSeq(f.Tag.Get("tenon"), ",") {
		switch key, value, _ := strings.Cut(strings.TrimSpace(item), "="); key {
		case "":
		case "-":
			ignored = true
		case "static":
			static = true
		case "name":
			name = value
		default:
			if !slices.Contains(tagKeys, key) {
				err := fail(tenon.ErrInvalid, "the tag has the unknown item %q", item)
				err.hint = "there are " + strings.Join(tagKeys, ", ")
				return "", false, false, err
			}
		}
	}
	return name, static, ignored, nil
}

// words are the two words of an empty interface: its type, and the value or a
// pointer to it.
func words(x *any) *[2]unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(x)) }

func nilPointer(t reflect.Type) any { return reflect.Zero(reflect.PointerTo(t)).Interface() }

// valueAt returns the addressable reflect.Value of memory, given a nil pointer to
// its type. It does what reflect.NewAt does, but without looking up the type.
func valueAt(ptr any, at unsafe.Pointer) reflect.Value {
	words(&ptr)[1] = at
	return reflect.ValueOf(ptr).Elem()
}

func (p *plan) value(at unsafe.Pointer) reflect.Value { return valueAt(p.ptr, at) }
