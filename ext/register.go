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
	// Version is the version of the encoding. It must be increased whenever the
	// fields change; values stored under an older version are loaded through
	// Migrations.
	Version int

	// Migrations map an older version to a migration that makes the fields of a
	// later one.
	Migrations map[int]Migration

	// Spec returns the Spec that users of the type see, if it has methods of its own: a type that
	// embeds the *Spec it is given.
	//
	//	type MaskedSpec struct{ *ext.Spec }
	//
	//	func (s MaskedSpec) DType() dtype.DType { return s.Tensor("Values").DType() }
	//
	//	ext.Options{Spec: func(s *ext.Spec) tenon.Spec { return MaskedSpec{s} }}
	Spec func(*Spec) tenon.Spec
}

// Migration makes the fields of a version from those of an older one. A field
// holds a Value, static data (bool, int, float64, string, dtype.DType,
// shape.Shape), a []any, a map[string]any, or nil if it is empty. The function
// may change the map.
type Migration struct {
	To int // the version of the result
	Do func(fields map[string]any) (map[string]any, error)
}

// A Validator is a type that checks its own values when they are made by [New]
// and when they come from outside ([Check]). What the tags say has been checked
// before. The data of tensors may be symbolic.
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
// Register throws an error if a field is of a kind that cannot be stored, the name or Go type is
// taken, or a tag makes no sense. Call it from init.
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
		return unsupported("", "a %v is not a struct", t)
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

// ofStruct sets up boxing for the values of a struct type.
func ofStruct[T tenon.Value](i *info) {
	var zero T
	sample := tenon.Value(zero)
	word := words(&sample)[0]
	// A struct that consists of a single pointer is stored directly in an
	// interface.
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

// ofPointer sets up boxing for the values of a pointer type.
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

// checkMethod checks that the Spec method is the type's own: a type that embeds
// another one inherits the other's unless it defines its own.
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

// answers returns the type name, quoted, for which the Spec method of a zero value answers. A
// method that is not SpecOf may fail for a zero value.
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

// Unregister reverses [Register]. It is meant for tests that define types.
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

// SpecOf returns the Spec of a value of a registered type. The type's Spec method
// returns it. It throws if the type is not registered.
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

// catching returns the error that f throws.
func catching(f func()) (err error) {
	defer tenon.Catch(&err)
	f()
	return nil
}
