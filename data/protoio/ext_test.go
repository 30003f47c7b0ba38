package protoio_test

import (
	"bytes"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/protoio"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// point is conformance.Point of the cases, as a user derives it.
type point struct {
	X     tensor.Tensor `tenon:"name=x"`
	Y     tensor.Tensor `tenon:"name=y"`
	Label string        `tenon:"name=label"`
}

func (p point) Spec() tenon.Spec { return ext.SpecOf(p) }

// A derived type is an extension type to TensorFlow: the bytes are those that
// TensorFlow 2.21 writes for a type with these fields.
func TestDerivedTypes(t *testing.T) {
	const name = "example.com/protoio_test.Point"
	ext.Register[point](name)
	defer ext.Unregister[point]()
	want := unbase64(t, "kgJeCA0SQKIDPQoVogMSCgNqAXgKC4oCCBIEEgIIAhgBChGiAw4KA2oBeQoHigIEEgAYAQoRogMOCgdqBWxhYmVsCgNqAXAaFmNvbmZvcm1hbmNlLlBvaW50LlNwZWMgAg==")
	spec := point{X: tensor.Of([]float32{1, 2}), Y: tensor.Scalar(float32(3)), Label: "p"}.Spec()
	o := protoio.Options{Classes: map[string]string{name: "conformance.Point"}}
	got, err := protoio.AppendStructure(nil, tenon.SpecOf{Spec: spec}, o)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %x, %v", got, err)
	}
	back, err := protoio.DecodeStructure(want, o)
	if err != nil || !tenon.EqualEncoding(back, tenon.SpecOf{Spec: spec}) {
		t.Errorf("got back %v, %v", back, err)
	}
	plain, err := protoio.AppendStructure(nil, tenon.SpecOf{Spec: spec}, protoio.Options{})
	if err != nil {
		t.Fatal(err)
	}
	back, err = protoio.DecodeStructure(plain, protoio.Options{})
	if err != nil || !tenon.EqualEncoding(back, tenon.SpecOf{Spec: spec}) {
		t.Errorf("under its own name: got back %v, %v", back, err)
	}
}

// A Spec that was read before its type was known becomes the real one once it is, and
// so do values of it, which are checked then.
func TestUnknownTypesResolve(t *testing.T) {
	const name = "example.com/protoio_test.Late"
	ext.Register[point](name)
	spec := point{X: tensor.Of([]float32{1, 2}), Y: tensor.Scalar(float32(3)), Label: "p"}.Spec()
	for how, o := range map[string]protoio.Options{
		"its own name":  {},
		"another class": {Classes: map[string]string{name: "some.Class"}},
	} {
		b, err := protoio.AppendStructure(nil, tenon.SpecOf{Spec: spec}, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := ext.Unregister[point](); err != nil {
			t.Fatal(err)
		}
		e, err := protoio.DecodeStructure(b, o)
		if err != nil {
			t.Fatal(err)
		}
		opaque, ok := e.(tenon.SpecOf).Spec.(*tenon.Opaque)
		if !ok || opaque.TypeName() != name {
			t.Fatalf("%s: got %v", how, e)
		}
		v, err := opaque.Assemble([]tenon.Value{tensor.Of([]float32{4, 5}), tensor.Scalar(float32(6))})
		if err != nil {
			t.Fatal(err)
		}
		again, err := protoio.AppendStructure(nil, e, o)
		if err != nil || !bytes.Equal(again, b) {
			t.Errorf("%s: written again as %x, %v", how, again, err)
		}
		ext.Register[point](name)
		real, err := opaque.Resolve()
		if err != nil || tenon.Text(real) != tenon.Text(spec) {
			t.Errorf("%s: the Spec is %v, %v", how, real, err)
		}
		x, err := ext.Resolve(v)
		want := point{X: tensor.Of([]float32{4, 5}), Y: tensor.Scalar(float32(6)), Label: "p"}
		if err != nil || !tensor.Equal(x, want, tensor.EqualOptions{}) {
			t.Errorf("%s: the value is %v, %v", how, x, err)
		}
	}
	if err := ext.Unregister[point](); err != nil {
		t.Fatal(err)
	}
}

// Variants of a union keep the order of their tags, which is not that of their names.
func TestUnionsComeBack(t *testing.T) {
	u := tenon.Must(structured.NewUnion([]int64{1, 0, 1}, []structured.Field{
		{Name: "text", Value: tensor.Of([]string{"", "b", ""})}, {Name: "number", Value: tensor.Of([]float64{1, 0, 3})},
	}))
	b := tenon.Must(protoio.AppendStructure(nil, tenon.SpecOf{Spec: u.Spec()}, protoio.Options{}))
	e := tenon.Must(protoio.DecodeStructure(b, protoio.Options{}))
	if back := e.(tenon.SpecOf).Spec; !tenon.Equal(back, u.Spec()) {
		t.Errorf("got %v, want %v", back, u.Spec())
	}
	for i := range b {
		for _, bit := range []byte{1, 0x80} {
			damaged := bytes.Clone(b)
			damaged[i] ^= bit
			if e, err := protoio.DecodeStructure(damaged, protoio.Options{}); err == nil {
				tenon.AppendEncoding(nil, e)
			}
		}
	}
}
