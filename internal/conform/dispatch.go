package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	cases.Handle(map[string]cases.Func{
		"dispatch.resolve":  resolve,
		"dispatch.bind":     bind,
		"dispatch.op_class": opClass,
	})
}

// prefix stands before the names of classes and operations of the cases, to
// make them names of types that no library type has.
const prefix = "conform."

// A class is a type of Value that a case declares.
type class struct {
	name    string
	refines []string // with what those refine in turn, nearest first
}

func (c *class) TypeName() string                               { return prefix + c.name }
func (c *class) Encode() tenon.Encoding                         { return tenon.Nil{} }
func (c *class) Components() []tenon.Field                      { return nil }
func (c *class) Disassemble(tenon.Value) ([]tenon.Value, error) { return nil, nil }
func (c *class) Assemble([]tenon.Value) (tenon.Value, error)    { return &classValue{c}, nil }
func (c *class) Refines() []string                              { return c.refines }

// classValue is a value of a class; convertible one that stands for a tensor.
type (
	classValue  struct{ class *class }
	convertible struct{ classValue }
)

func (v *classValue) Spec() tenon.Spec                  { return v.class }
func (v *convertible) AsTensor() (tensor.Tensor, error) { return tensor.Scalar(float32(0)), nil }

// typeName returns the name of the type that a case calls name.
func typeName(name string) string {
	if name == "Tensor" {
		return tensor.TypeName
	}
	return prefix + name
}

func resolve(c *cases.Case) (any, error) {
	values := map[string]tenon.Value{"Tensor": tensor.Scalar(float32(0))}
	classes := map[string]*class{}
	for _, decl := range cases.List[map[string]any](c.Attrs["classes"]) {
		cl := &class{name: cases.As[string](decl["name"])}
		if decl["refines"] != nil {
			for _, name := range cases.List[string](decl["refines"]) {
				cl.refines = append(cl.refines, prefix+name)
				cl.refines = append(cl.refines, classes[name].refines...)
			}
		}
		classes[cl.name] = cl
		values[cl.name] = &classValue{cl}
		if decl["converts"] == true {
			values[cl.name] = &convertible{classValue{cl}}
		}
		if h, ok := decl["handler"].(map[string]any); ok {
			remove, err := declareHandler(cl, h)
			if err != nil {
				return nil, err
			}
			defer remove()
		}
	}
	call := cases.As[map[string]any](c.Attrs["call"])
	o, err := declareOp(cases.As[string](call["op"]), cases.List[map[string]any](c.Attrs["params"]))
	if err != nil {
		return nil, err
	}
	defer op.Unregister(o)
	arg := func(kind op.Kind, x any) any {
		switch {
		case kind == op.Tensor:
			return values[cases.As[string](x)]
		case kind == op.Tensors:
			list := []tenon.Value{}
			for _, name := range cases.List[string](x) {
				list = append(list, values[name])
			}
			return list
		}
		if name, ok := x.(string); ok && values[name] != nil {
			return values[name]
		}
		return x
	}
	var args []any
	for i, x := range cases.List[any](call["args"]) {
		args = append(args, arg(o.Params[i].Kind, x))
	}
	named := map[string]any{}
	if call["kwargs"] != nil {
		for name, x := range cases.As[map[string]any](call["kwargs"]) {
			named[name] = arg(o.Params[o.Param(name)].Kind, x)
		}
	}
	bound, err := op.Bind(o, args, named)
	if err != nil {
		return nil, err
	}
	e := bound.Explain()
	if e.Err != nil {
		return nil, e.Err
	}
	asked := []string{}
	for _, name := range e.Asked {
		asked = append(asked, name[len(prefix):])
	}
	by := "default"
	if e.Answer != "kernel" {
		by = e.Answer[len(prefix):]
	}
	return map[string]any{"answered_by": by, "asked": asked}, nil
}

// declareHandler registers what a case says of a class's handler.
func declareHandler(cl *class, h map[string]any) (remove func(), err error) {
	answers := cases.As[map[string]any](h["ops"])
	m := op.Match{Any: true}
	if h["accepts"] != nil {
		for _, name := range cases.List[string](h["accepts"]) {
			m.Types = append(m.Types, typeName(name))
		}
	}
	return op.Handle(prefix+cl.name, m, func(c *op.Call) ([]tenon.Value, error) {
		answer, ok := answers[c.Op.Name[len(prefix):]]
		if !ok {
			answer = answers["*"]
		}
		if answer != "handle" {
			return nil, op.NotHandled
		}
		return op.One(&classValue{cl})
	})
}

func declareOp(name string, params []map[string]any) (o *op.Op, err error) {
	defer tenon.Catch(&err)
	o = &op.Op{
		Name:      prefix + name,
		Statement: op.Statement{Axes: op.Opaque, Why: "declared by a case"},
		Results:   1,
		Infer: func(*op.Call) ([]tenon.Spec, error) {
			return []tenon.Spec{tensor.NewSpec(dtype.Float32, shape.Shape{})}, nil
		},
		Kernel: func(*op.Call) ([]tensor.Tensor, error) { return []tensor.Tensor{tensor.Scalar(float32(0))}, nil },
	}
	for _, p := range params {
		kind, ok := map[any]op.Kind{"tensor": op.Tensor, "tensors": op.Tensors, "other": op.Attr, nil: op.Attr}[p["kind"]]
		if !ok {
			return nil, errors.New("a parameter of unknown kind")
		}
		def, optional := p["default"]
		o.Params = append(o.Params, op.Param{
			Name: cases.As[string](p["name"]), Kind: kind, Default: def,
			Optional: optional && def == nil || p["kind"] == "other", KeyOnly: p["keyword_only"] == true,
		})
	}
	return op.Register(o), nil
}

func bind(c *cases.Case) (any, error) {
	o, err := declareOp("bind", cases.List[map[string]any](c.Attrs["params"]))
	if err != nil {
		return nil, err
	}
	defer op.Unregister(o)
	bound, err := op.Bind(o, cases.List[any](c.Attrs["args"]), cases.As[map[string]any](c.Attrs["kwargs"]))
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for i, p := range o.Params {
		out[p.Name] = bound.Args[i]
	}
	return out, nil
}

func opClass(c *cases.Case) (any, error) {
	name := c.Str(0)
	o, ok := op.Lookup(name)
	if !ok { // the reference's name, which may have a prefix
		for _, prefix := range []string{"math.", "nn.", "bitwise."} {
			name = strings.TrimPrefix(name, prefix)
		}
		o, ok = op.Lookup(opName(name))
	}
	if !ok {
		return nil, fmt.Errorf("operation %s: %w", c.Str(0), cases.ErrUnknown)
	}
	switch {
	case o.IsUnaryElementwise(), o.IsBinaryElementwise(), o.IsReduction():
		return o.Class.String(), nil
	}
	return "other", nil
}
