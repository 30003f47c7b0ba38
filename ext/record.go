package ext

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/internal/source"
)

// A Type is a type of Value that is declared at run time, for example from a schema in a file. Its
// values are [*Record]s.
type Type struct{ info *info }

// Record is a value of a [Type], with fields by name.
type Record struct {
	info *info
	p    unsafe.Pointer
}

// Declare declares a type of Value with the fields of a Go struct type, which may come from
// reflect.StructOf. The tags are those of [Register].
func Declare(name string, structure reflect.Type, opts ...Options) (*Type, error) {
	if structure == nil || structure.Kind() != reflect.Struct {
		return nil, unsupported("", "a %v is not a struct", structure)
	}
	i, err := compileInfo(name, structure)
	if err != nil {
		return nil, err
	}
	if len(opts) > 0 {
		i.wrap, i.version, i.migrate = opts[0].Spec, opts[0].Version, opts[0].Migrations
		if err := i.checkMigrations(); err != nil {
			return nil, err
		}
	}
	i.ofPointer(func(p unsafe.Pointer) tenon.Value { return &Record{i, p} }, func(v tenon.Value) (unsafe.Pointer, bool) {
		r, ok := v.(*Record)
		if !ok || r == nil || r.info != i {
			return nil, false
		}
		return r.p, true
	})
	return &Type{i}, i.register()
}

// Forget reverses [Declare].
func (t *Type) Forget() error { return unregister(t.info) }

// Name returns the name of the type.
func (t *Type) Name() string { return t.info.name }

// Fields returns the names of the fields in order.
func (t *Type) Fields() []string { return t.info.names }

// New makes a value from fields by name. Scalars must have the exact type: an int
// is neither a float64 nor a bool. A missing field gets its default if its tag
// has one. Then the value is checked as by the function [New].
func (t *Type) New(fields map[string]any) (*Record, error) {
	r, err := t.Make(fields)
	if err != nil {
		return nil, err
	}
	if err := t.info.check(r, r.p); err != nil {
		return nil, err
	}
	return r, nil
}

// Make is [Type.New] without checking relations, for values that are known to
// satisfy them and for batches.
func (t *Type) Make(fields map[string]any) (*Record, error) {
	p := reflect.New(t.info.node.typ).UnsafePointer()
	all := t.info.node.flat(0, nil)
	err := buildFields(all, p, fields)
	for _, f := range all {
		if err == nil {
			if err = f.complete(unsafe.Add(p, f.offset)); err != nil {
				err = codec.Within(f.name, err)
			}
		}
	}
	if err == nil {
		err = t.info.checkOneOf(p)
	}
	if err != nil {
		e := *tenon.AsError(err)
		e.Op, e.Line = t.info.name, source.Line()
		return nil, &e
	}
	return &Record{t.info, p}, nil
}

// Spec returns the Spec of the fields.
func (r *Record) Spec() tenon.Spec { return r.info.specOf(r.p).outer }

// Field returns the field with the given name, as the Go type with which it was
// declared.
func (r *Record) Field(name string) (any, error) {
	for _, f := range r.info.node.flat(0, nil) {
		if f.name == name {
			return f.node.at(unsafe.Add(r.p, f.offset)).Interface(), nil
		}
	}
	return nil, &tenon.Error{Kind: tenon.ErrNotFound, Op: r.info.name, Where: name, Line: source.Line(),
		Msg: fmt.Sprintf("there is no such field; there are %v", r.info.names)}
}

// String returns the type and its fields.
func (r *Record) String() string { return String(r) }
