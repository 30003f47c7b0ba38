package structured

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// composed is the Spec of a type that consists only of records: unions and maps.
type composed struct {
	rec  *Spec
	kind *composition
}

// A composition says how a type is made from records.
type composition struct {
	name string
	what string                               // what is wrong with records that do not fit
	fits func(*Spec) bool                     // whether records fit
	like func(*Spec) tenon.Spec               // the Spec of the value made from records
	of   func(*Tensor) (tensor.Tensor, error) // the value made from records that fit, if it is valid
}

func (k *composition) decode(e tenon.Encoding) (tenon.Spec, error) {
	o, err := tenon.As[tenon.SpecOf](e)
	if err != nil {
		return nil, err
	}
	s, ok := o.Spec.(*Spec)
	if !ok || !k.fits(s) {
		return nil, tenon.NewError(tenon.ErrInvalid, k.name, k.what)
	}
	return k.like(s), nil
}

func (s composed) records() *Spec            { return s.rec }
func (s composed) like(rec *Spec) tenon.Spec { return s.kind.like(rec) }

// DType returns dtype.None: there is no single element type.
func (composed) DType() dtype.DType { return dtype.None }

// Shape returns the static shape.
func (s composed) Shape() shape.Shape { return s.rec.Shape() }

// TypeName returns the registered name.
func (s composed) TypeName() string { return s.kind.name }

// Encode returns the Spec of the records.
func (s composed) Encode() tenon.Encoding { return tenon.SpecOf{Spec: s.rec} }

// Components returns the records.
func (s composed) Components() []tenon.Field {
	return []tenon.Field{{Name: "elements", Spec: s.rec}}
}

// Disassemble returns the records.
func (s composed) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	c, ok := v.(composite)
	if !ok || v.Spec().TypeName() != s.kind.name {
		return nil, tenon.NewError(tenon.ErrDType, s.kind.name, s.kind.what)
	}
	return []tenon.Value{c.records()}, nil
}

// Assemble makes a value from records.
func (s composed) Assemble(components []tenon.Value) (v tenon.Value, err error) {
	defer tenon.Catch(&err)
	tenon.Throw(tenon.CheckComponents(s.like(s.rec), components))
	t, ok := components[0].(*Tensor)
	if !ok || !s.kind.fits(t.typ()) {
		return nil, tenon.NewError(tenon.ErrDType, s.kind.name, s.kind.what)
	}
	return s.kind.of(t)
}

// Batched adds an outermost dimension.
func (s composed) Batched(n int) (tenon.Spec, error) { return s.with(s.rec.Batched(n)) }

// Unbatched removes the outermost dimension.
func (s composed) Unbatched() (tenon.Spec, error) { return s.with(s.rec.Unbatched()) }

func (s composed) with(rec tenon.Spec, err error) (tenon.Spec, error) {
	if err != nil {
		return nil, err
	}
	return s.like(rec.(*Spec)), nil
}

// Box returns the value itself, since operations can stack, slice and take it apart.
func (s composed) Box(v tenon.Value, minRank int) ([]tenon.Value, error) {
	return tensor.Box(s.like(s.rec), v, minRank)
}

// Unbox returns the value itself.
func (s composed) Unbox(tensors []tenon.Value) (tenon.Value, error) {
	return tensor.Unbox(s.like(s.rec), tensors)
}
