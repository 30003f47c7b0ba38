package protoio_test

import (
	"bytes"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/protoio"
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
	defer tenon.Unregister(name)
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
