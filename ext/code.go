package ext

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext/codec"
)

// codes holds the code of struct types, without its static type.
var codes sync.Map // reflect.Type → *code

type code struct {
	values func(p unsafe.Pointer, out []tenon.Value) []tenon.Value
	fill   func(p unsafe.Pointer, values []tenon.Value) ([]tenon.Value, error)
	same   func(p, q unsafe.Pointer) bool
	match  func(p unsafe.Pointer, specs []tenon.Spec) ([]tenon.Spec, bool)
	names  func(p unsafe.Pointer, out []string) []string
	encode func(p unsafe.Pointer, specs *[]tenon.Spec) []tenon.Entry
	decode func(p unsafe.Pointer, fields []tenon.Entry, specs *[]tenon.Spec) error
}

// Generated makes a registered type use the code that cmd/tenongen wrote. That file calls it from
// init, before or after the type is registered.
func Generated[S any](c codec.Code[S]) {
	e := &code{
		values: func(p unsafe.Pointer, out []tenon.Value) []tenon.Value { return c.Values((*S)(p), out) },
		fill: func(p unsafe.Pointer, values []tenon.Value) ([]tenon.Value, error) {
			return c.Fill((*S)(p), values)
		},
		same:   func(p, q unsafe.Pointer) bool { return c.Same((*S)(p), (*S)(q)) },
		match:  func(p unsafe.Pointer, specs []tenon.Spec) ([]tenon.Spec, bool) { return c.Match((*S)(p), specs) },
		names:  func(p unsafe.Pointer, out []string) []string { return c.Names((*S)(p), out) },
		encode: func(p unsafe.Pointer, specs *[]tenon.Spec) []tenon.Entry { return c.Encode((*S)(p), specs) },
		decode: func(p unsafe.Pointer, fields []tenon.Entry, specs *[]tenon.Spec) error {
			return c.Decode((*S)(p), fields, specs)
		},
	}
	codes.Store(reflect.TypeFor[S](), e)
	infos.Range(func(_, x any) bool {
		if i := x.(*info); i.node.typ == reflect.TypeFor[S]() {
			i.code.Store(e)
		}
		return true
	})
}

func init() {
	codec.NameOf = func(t reflect.Type) string {
		if i := infoOf(t); i != nil {
			return i.name
		}
		return ""
	}
}

// The walks of a type, which use its generated code if there is any.

func (i *info) appendValues(p unsafe.Pointer, out []tenon.Value) []tenon.Value {
	if c := i.code.Load(); c != nil {
		return c.values(p, out)
	}
	return i.node.appendValues(p, out)
}

func (i *info) fill(p unsafe.Pointer, values []tenon.Value) error {
	var err error
	if c := i.code.Load(); c != nil {
		_, err = c.fill(p, values)
	} else {
		_, err = i.node.fill(p, values)
	}
	return err
}

func (i *info) same(p, q unsafe.Pointer) bool {
	if c := i.code.Load(); c != nil {
		return c.same(p, q)
	}
	return i.node.same(p, q)
}

func (i *info) appendNames(p unsafe.Pointer, out []string) []string {
	if c := i.code.Load(); c != nil {
		return c.names(p, out)
	}
	return i.node.appendNames(p, "", out)
}

func (i *info) encodeFields(p unsafe.Pointer, specs *[]tenon.Spec) []tenon.Entry {
	if c := i.code.Load(); c != nil {
		return c.encode(p, specs)
	}
	return i.node.encodeFields(p, specs)
}

func (i *info) decodeFields(p unsafe.Pointer, fields []tenon.Entry, specs *[]tenon.Spec) error {
	if c := i.code.Load(); c != nil {
		return c.decode(p, fields, specs)
	}
	return i.node.decodeFields(p, fields, specs)
}
