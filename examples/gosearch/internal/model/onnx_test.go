package model

import (
	"bytes"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/internal/onnxtest"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// The encoder is saved, loaded by what knows none of the types here, and written as ONNX: all three
// give the same vectors of texts of any length, also of one without tokens.
func TestEncoderIsWritten(t *testing.T) {
	v, questions, declarations := collection(40)
	p, err := nn.Variables(New(v, 1))
	if err != nil {
		t.Fatal(err)
	}
	m := saved.NewModel()
	if err := m.Name(p); err != nil {
		t.Fatal(err)
	}
	many := shape.Of(shape.Unknown)
	texts, err := ragged.NewSpec(dtype.Int64, shape.Of(shape.Unknown, shape.Unknown), 1, dtype.Int64)
	if err != nil {
		t.Fatal(err)
	}
	encode := function.New(func(tokens *ragged.Tensor, fields tensor.Tensor) tensor.Tensor {
		return p.Encode(Texts{tokens, fields})
	})
	if err := m.Add("encode", encode, texts, tensor.NewSpec(dtype.Int64, many)); err != nil {
		t.Fatal(err)
	}
	var ids, fields []int64
	splits := []int64{0, 0}
	rows := append([]Row{{}}, append(questions[:3:3], declarations[:4]...)...)
	for _, r := range rows[1:] {
		ids, fields, splits = appendRow(ids, fields, splits, r, nil)
	}
	x := textsOf(ids, fields, splits)
	if err := onnxtest.Check("model_gosearch", m, 64, x.Tokens, x.Fields); err != nil {
		t.Error(err)
	}
	var file bytes.Buffer
	if err := m.Encode(&file); err != nil {
		t.Fatal(err)
	}
	loaded, err := saved.DecodeModel(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	out, err := loaded.Function("encode").CallFlat([]tenon.Value{x.Tokens, x.Fields})
	if err != nil {
		t.Fatal(err)
	}
	want := tensor.Of(NewEncoder(New(v, 1)).Vectors(rows), len(rows), Width)
	if !tensor.Equal(out[0].(tensor.Tensor), want) {
		t.Error("the loaded model gives other vectors than the program's own")
	}
}
