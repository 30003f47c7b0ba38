package ext

import (
	"fmt"
	"reflect"
	"strconv"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/calls"
	"github.com/tenonml/tenon/internal/source"
)

// Options change how a type is registered. The zero value is the default.
type Options struct {
	// Version is the version of the encoding. It is raised whenever the fields
	// change; what is stored under an older one is loaded through Migrations.
	Version int

	// Migrations have, for an older version, what makes fields of a later one.
	Migrations map[int]Migration

	// Spec returns the Spec that users of the type see, where it has methods of its
	// own: a type that embeds the *Spec it is given.
	//
	//	type MaskedSpec struct{ *ext.Spec }
	//
	//	func (s MaskedSpec) DType() dtype.DType { return s.Tensor("Values").DType() }
	//
	//	ext.Options{Spec: func(s *ext.Spec) tenon.Spec { return MaskedSpec{s} }}
	Spec func(*Spec) tenon.Spec
}

// Migration makes the fields of a version of those of an older one. A field holds
// a Value, static data (bool, int, float64, string, dtype.DType, shape.Shape), a
// []any, a map[string]any, or nil where there is nothing. It may change the map.
type Migration struct {
	To int // the version of the result
	Do func(fields map[string]any) (map[string]any, error)
}

// A Validator is a type that checks its values where they are made by [New] and
// where they arrive from outside ([Check]): what its tags say holds already. The
// data of tensors may be symbolic.
type Validator interface {
	tenon.Value
	Validate() error
}

// Register derives everything that a type of Value needs from a struct: its Spec,
// encoding, components, batching, boxing and printing. T is a struct, or a pointer to
// one, with a Spec method of one line:
//
//	type Masked struct {
//		Values tensor.Tensor
//		Mask   tensor.Tensor `tenon:"dtype=bool,shape=Values"`
//	}
//
//	func (m Masked) Spec() tenon.Spec { return ext.SpecOf(m) }
//
//	func init() { ext.Register[Masked]("example.com/masked.Masked") }
//
// A field of a kind that cannot be stored, a name or Go type that is taken, and a
// tag that makes no sense are errors, which it throws; call it from init.
func Register[T tenon.Value](name string, opts ...Options) {
	var o Options
	if len(opts) > 0 {
		o = opts[0]
	}
	tenon.Throw(register[T](name, o))
}

func register[T tenon.Value](name string, o Options) error {
	t := reflect.TypeFor[T]()
	structure := t
	if t.Kind() == reflect.Pointer {
		structure = t.Elem()
	}
	if structure.Kind() != reflect.Struct {
		return unsupported("", "a %v is no struct", t)
	}
	i, err := compileInfo(name, structure)
	if err != nil {
		e := *tenon.AsError(err)
		if e.Line == "" {
			e.Line = source.Line()
		}
		return &e
	}
	i.typ, i.wrap, i.version = t, o.Spec, o.Version
	if i.migrate = o.Migrations; i.migrate != nil {
		if err := i.checkMigrations(); err != nil {
			return err
		}
	}
	if t.Kind() == reflect.Pointer {
		i.ofPointer(func(p unsafe.Pointer) tenon.Value { return *(*T)(unsafe.Pointer(&p)) }, func(v tenon.Value) (unsafe.Pointer, bool) {
			x, ok := v.(T)
			if !ok {
				return nil, false
			}
			return *(*unsafe.Pointer)(unsafe.Pointer(&x)), true
		})
	} else {
		ofStruct[T](i)
	}
	if t.Implements(reflect.TypeFor[Validator]()) {
		i.validate = func(v tenon.Value) error { return v.(Validator).Validate() }
	}
	if err := i.register(); err != nil {
		return err
	}
	calls.Register[T]()
	return i.checkMethod()
}

// ofStruct sets how values of a struct type are boxed.
func ofStruct[T tenon.Value](i *info) {
	var zero T
	sample := tenon.Value(zero)
	word := words(&sample)[0]
	// A struct that is a single pointer is held in an interface itself.
	direct := unsafe.Sizeof(zero) == unsafe.Sizeof(uintptr(0)) && words(&sample)[1] == nil
	i.clone = func(p unsafe.Pointer) unsafe.Pointer {
		x := new(T)
		*x = *(*T)(p)
		return unsafe.Pointer(x)
	}
	i.box = func(p unsafe.Pointer) tenon.Value {
		if direct {
			return *(*T)(p)
		}
		v := sample
		words(&v)[1] = p
		return v
	}
	i.unbox = func(v tenon.Value) (unsafe.Pointer, bool) {
		if words(&v)[0] != word {
			return nil, false
		}
		if direct {
			x := v.(T)
			return unsafe.Pointer(&x), true
		}
		return words(&v)[1], true
	}
}

// ofPointer sets how values of a pointer type are boxed.
func (i *info) ofPointer(box func(unsafe.Pointer) tenon.Value, unbox func(tenon.Value) (unsafe.Pointer, bool)) {
	i.clone = func(p unsafe.Pointer) unsafe.Pointer {
		x := reflect.New(i.node.typ)
		x.Elem().Set(i.node.at(p))
		return x.UnsafePointer()
	}
	i.box = box
	i.unbox = func(v tenon.Value) (unsafe.Pointer, bool) {
		p, ok := unbox(v)
		return p, ok && p != nil
	}
}

// checkMethod makes sure that the Spec method is the type's own: a type that
// embeds another one has the other's unless it defines it.
func (i *info) checkMethod() error {
	got, err := i.answers()
	if err != nil {
		return err
	}
	if got != strconv.Quote(i.name) {
		unregister(i)
		return &tenon.Error{Kind: tenon.ErrInvalid, Op: "ext.Register", Line: i.line,
			Msg:  fmt.Sprintf("the Spec method of %v answers for %s", i.typ, got),
			Hint: fmt.Sprintf("write: func (x %v) Spec() tenon.Spec { return ext.SpecOf(x) }", i.typ)}
	}
	return nil
}

// answers returns the name, quoted, that the Spec method of a zero value answers for. A method
// that is not SpecOf may not be made for one.
func (i *info) answers() (got string, err error) {
	defer func() {
		if r := recover(); r != nil {
			got = fmt.Sprintf("nothing: of a zero value it panics (%v)", r)
		}
	}()
	got = "nothing"
	err = catching(func() {
		v := i.box(reflect.New(i.node.typ).UnsafePointer())
		if s := v.Spec(); s != nil {
			got = strconv.Quote(s.TypeName())
		}
	})
	return got, err
}

// Unregister takes back what [Register] did, for tests that define types.
func Unregister[T tenon.Value]() error {
	i := infoOf(reflect.TypeFor[T]())
	if i == nil {
		return &tenon.Error{Kind: tenon.ErrNotFound, Op: "ext.Unregister", Msg: fmt.Sprintf("%v is not registered", reflect.TypeFor[T]())}
	}
	return unregister(i)
}

func unregister(i *info) error {
	registerMu.Lock()
	defer registerMu.Unlock()
	if i.typ != nil {
		infos.Delete(i.typ)
	}
	return tenon.Unregister(i.name)
}

// SpecOf returns the Spec of a value of a registered type; it is what the type's
// Spec method returns. It throws where the type is not registered.
func SpecOf[T tenon.Value](x T) tenon.Spec {
	i := infoOf(reflect.TypeFor[T]())
	if i == nil {
		tenon.Throw(notRegistered(reflect.TypeFor[T]()))
	}
	p := unsafe.Pointer(&x)
	if i.typ.Kind() == reflect.Pointer {
		if p = *(*unsafe.Pointer)(p); p == nil {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: "ext.SpecOf", Msg: fmt.Sprintf("a nil %v has no Spec", i.typ)})
		}
	}
	return i.specOf(p).outer
}

func notRegistered(t reflect.Type) error {
	return &tenon.Error{Kind: tenon.ErrNotFound, Op: "ext.SpecOf", Line: source.Line(), Msg: fmt.Sprintf("%v is not registered", t),
		Hint: "call ext.Register from an init function"}
}

// catching returns what f throws.
func catching(f func()) (err error) {
	defer tenon.Catch(&err)
	f()
	return nil
}
