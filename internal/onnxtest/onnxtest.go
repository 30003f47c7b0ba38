package onnxtest

import (
	"bytes"
	"errors"
	"fmt"
	"math/cmplx"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/optable"
	"github.com/tenonml/tenon/model/onnx"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

// Check writes the only function of a model, reads it back and compares the results of both for arguments, the Values
// that the function takes; Values made of tensors are passed as these tensors. Floating-point results may differ by
// the given number of ulps, relative to the larger of their size and 1; others must be equal. An error of kind
// [tenon.ErrUnsupported] means that the function cannot be written.
func Check(name string, m *saved.Model, units float64, args ...tenon.Value) error {
	var b bytes.Buffer
	if err := onnx.Encode(&b, m); err != nil {
		return err
	}
	in, inputs, err := tensorsOf(args)
	if err != nil {
		return err
	}
	results, err := m.Functions()[0].CallFlat(args)
	if err != nil {
		return err
	}
	want, _, err := tensorsOf(results)
	if err != nil {
		return err
	}
	if err := keep(name, b.Bytes(), units, in, want); err != nil {
		return err
	}
	read, err := onnx.Parse(b.Bytes())
	if err != nil {
		return fmt.Errorf("reading what was written: %v", err)
	}
	got, err := read.Call(inputs...)
	if err != nil {
		return fmt.Errorf("calling what was written: %v", err)
	}
	for i, w := range want {
		if err := near(got[i].(tensor.Tensor), w, units); err != nil {
			return fmt.Errorf("result %d: %v", i, err)
		}
	}
	return nil
}

// tensorsOf returns the tensors that make up Values.
func tensorsOf(values []tenon.Value) (list []tensor.Tensor, same []any, err error) {
	for _, v := range values {
		parts, err := nest.Flatten(v, nest.Options{Expand: true})
		if err != nil {
			return nil, nil, err
		}
		for _, p := range parts {
			list, same = append(list, p.(tensor.Tensor)), append(same, p)
		}
	}
	return list, same, nil
}

// near compares tensors.
func near(got, want tensor.Tensor, units float64) error {
	if got.DType() != want.DType() {
		return fmt.Errorf("got elements of type %v, want %v", got.DType(), want.DType())
	}
	g, w := optable.ArrayOf(got), optable.ArrayOf(want)
	if !slices.Equal(g.Shape, w.Shape) || !slices.Equal(g.S, w.S) {
		return fmt.Errorf("got %v %q, want %v %q", g.Shape, g.S, w.Shape, w.S)
	}
	tolerance := units * optable.Precision(want.DType())
	for k, x := range w.X {
		y := g.X[k]
		if x == y || cmplx.IsNaN(x) && cmplx.IsNaN(y) {
			continue
		}
		if size := max(1, cmplx.Abs(x)); !(cmplx.Abs(x-y) <= tolerance*size) || cmplx.IsInf(x) {
			return fmt.Errorf("element %d is %v, want %v", k, y, x)
		}
	}
	return nil
}

// keep writes a case to the folder, if there is one.
func keep(name string, model []byte, units float64, args, want []tensor.Tensor) error {
	dir := os.Getenv("TENON_ONNX_OUT")
	if dir == "" {
		return nil
	}
	data := filepath.Join(dir, name, "test_data_set_0")
	err := os.MkdirAll(data, 0o777)
	put := func(path string, b []byte) {
		err = errors.Join(err, os.WriteFile(path, b, 0o666))
	}
	put(filepath.Join(dir, name, "model.onnx"), model)
	put(filepath.Join(dir, name, "units"), []byte(strconv.FormatFloat(units, 'g', -1, 64)))
	for i, x := range args {
		put(filepath.Join(data, fmt.Sprintf("input_%d.pb", i)), onnx.MarshalTensor("", x))
	}
	for i, x := range want {
		put(filepath.Join(data, fmt.Sprintf("output_%d.pb", i)), onnx.MarshalTensor("", x))
	}
	return err
}
