// Command weightstest is the counterpart of exchange.py, which writes and reads files of weights and models with
// other programs.
//
//	weightstest write DIR    writes weights.safetensors, model.zip, weights.npz, model.onnx, and what they hold as wanted.npz
//	weightstest read DIR     reads each file below DIR/from and writes what it holds as an .npz beside it
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/model/onnx"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/model/weights"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

func main() {
	err := fmt.Errorf("usage: weightstest write|read DIR")
	if len(os.Args) == 3 {
		switch dir := os.Args[2]; os.Args[1] {
		case "write":
			err = write(dir)
		case "read":
			err = read(filepath.Join(dir, "from"))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// values returns tensors of all element types that other programs support, with several ranks.
func values() map[string]tensor.Tensor {
	out := map[string]tensor.Tensor{
		"floats": tensor.Of([]float64{0, math.Copysign(0, -1), 1.5, math.MaxFloat64, math.Inf(-1), math.NaN()}, 2, 3),
		"scalar": tensor.Scalar(int64(math.MinInt64)),
		"empty":  tensor.Of([]float32{}, 0, 3),
		"rank4":  ops.Reshape(ops.Range(int32(0), int32(24), int32(1)), []int{2, 1, 3, 4}),
	}
	for _, d := range []dtype.DType{dtype.Bool, dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64, dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Uint64, dtype.Float16, dtype.Float32, dtype.Float64} {
		out["type."+d.String()] = ops.Cast([]int64{0, 1, 2, 100}, d)
	}
	return out
}

// write writes files for other programs.
func write(dir string) error {
	all := values()
	w, b := must(state.New(tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2))), must(state.New([]float32{0.5, -0.5}))
	m := saved.NewModel()
	f := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Softmax(ops.Relu(ops.Add(ops.MatMul(x, w), b)), -1) })
	if err := errors.Join(m.Name(map[string]any{"w": w, "b": b}), m.Add("predict", f, tensor.NewSpec(dtype.Float32, shape.Of(-1, 3)))); err != nil {
		return err
	}
	x := tensor.Of([]float32{1, -1, 0.25, 0, 2, -3}, 2, 3)
	out, err := m.Function("predict").Call(x)
	if err != nil {
		return err
	}
	wanted := map[string]tensor.Tensor{"model.w": w.Value(), "model.b": b.Value(), "model.x": x, "model.y": out[0].(tensor.Tensor)}
	for name, t := range all {
		wanted["weights."+name] = t
	}
	keep := map[string]any{"words": tensor.Of([]string{"a", "", "größer"}), "rows": ragged.FromSlices([][]int32{{1, 2}, {}, {3}}), "half": ops.Cast([]float32{1, 2.5}, dtype.BFloat16)}
	for name, t := range all {
		keep[name] = t
	}
	return errors.Join(
		saved.Write(filepath.Join(dir, "weights.safetensors"), keep, saved.WriteOptions{Rename: saved.Dotted, Metadata: map[string]string{"author": "weightstest"}}),
		m.Save(filepath.Join(dir, "model.zip")),
		onnx.Write(filepath.Join(dir, "model.onnx"), m),
		npz(filepath.Join(dir, "weights.npz"), all), npz(filepath.Join(dir, "wanted.npz"), wanted))
}

func npz(name string, all map[string]tensor.Tensor) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(weights.WriteNPZ(f, all), f.Close())
}

// read reads the files that other programs have written. An ONNX model is called with the inputs
// next to it.
func read(dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, ".got.npz") || strings.Contains(name, ".in.") {
			return err
		}
		got := name + ".got.npz"
		switch {
		case strings.HasSuffix(name, ".onnx"):
			return called(name, got)
		case strings.Contains(filepath.Base(name), ".data-0"), strings.HasSuffix(name, "-of-00002.safetensors"), filepath.Base(name) == "checkpoint":
			return nil // part of another file
		case strings.HasSuffix(name, ".index"):
			name = strings.TrimSuffix(name, ".index")
		}
		all, err := weights.Load(name)
		if err != nil {
			return err
		}
		for k, t := range all {
			if t.DType() == dtype.BFloat16 {
				all[k] = ops.Cast(t, dtype.Float32) // NumPy cannot represent it otherwise
			}
		}
		return npz(got, all)
	})
}

// called runs an ONNX model.
func called(name, got string) error {
	m, err := onnx.Open(name)
	if err != nil {
		return err
	}
	in, err := weights.Load(strings.TrimSuffix(name, ".onnx") + ".in.npz")
	if err != nil {
		return err
	}
	args := make([]any, len(m.Inputs))
	for i, p := range m.Inputs {
		args[i] = in[p.Name]
	}
	out, err := m.Call(args...)
	if err != nil {
		return err
	}
	all := map[string]tensor.Tensor{}
	for i, p := range m.Outputs {
		all[p.Name] = out[i].(tensor.Tensor)
	}
	return npz(got, all)
}

func must[T any](v T, err error) T {
	tenon.Throw(err)
	return v
}
