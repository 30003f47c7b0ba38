package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

func init() { register("model_load", modelLoad) }

// modelLoad saves and opens a model of 300 matrices and 10,000 operations, and calls it once;
// and the matrices alone, by their names.
func modelLoad(r *runner) {
	dir, err := os.MkdirTemp("", "model_load")
	if err != nil {
		r.err = err
		return
	}
	defer os.RemoveAll(dir)
	n, width, tail := r.pick(300, 20, 4), r.pick(288, 32, 8), r.pick(100, 8, 8)
	weights, vars := make(map[string]tensor.Tensor, n), make(map[string]*state.Variable, n)
	names := make([]string, n)
	var bytes float64
	for i := range n {
		names[i] = fmt.Sprintf("layer%03d.w", i)
		w := ops.Mul(sym(35, i, 1, width, width), float32(0.1))
		weights[names[i]], vars[names[i]] = w, tenon.Must(state.New(w))
		bytes += float64(4 * width * width)
	}
	x := sym(35, 1000, 1, 8, width)
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		for _, name := range names {
			x = ops.MatMul(x, vars[name])
			for range 16 {
				x = ops.Mul(x, float32(0.5))
				x = ops.Add(x, x)
			}
		}
		for k := range tail {
			if k%2 == 0 {
				x = ops.Mul(x, float32(0.5))
			} else {
				x = ops.Add(x, x)
			}
		}
		return x
	}, function.Options{Name: "f"})
	m := saved.NewModel()
	if r.err = m.Name(vars); r.err == nil {
		r.err = m.Add("f", f, tensor.NewSpec(dtype.Float32, shape.Of(-1, width)))
	}
	path, file := filepath.Join(dir, "m.zip"), filepath.Join(dir, "w.safetensors")
	if r.err == nil {
		r.err = m.Save(path)
	}
	if r.err == nil {
		r.err = saved.Write(file, weights, saved.WriteOptions{Rename: saved.Dotted})
	}
	if r.err != nil {
		return
	}
	open := func() *saved.Model { return tenon.Must(saved.OpenModel(path, saved.ModelOptions{Map: true})) }
	r.run(benchCase{name: "save", bytes: bytes}, func() any { return m.Save(path) })
	r.run(benchCase{name: "open", note: "weights mapped"}, func() any { return open().Close() })
	r.run(benchCase{name: "first_call", note: "weights mapped", check: func(x any) []float64 { return flatSum(x.(tensor.Tensor)) }}, func() any {
		m := open()
		out := tenon.Must(m.Function("f").Call(x))
		tenon.Throw(m.Close())
		return out[0]
	})
	r.run(benchCase{name: "weights_save", bytes: bytes}, func() any { return saved.Write(file, weights, saved.WriteOptions{Rename: saved.Dotted}) })
	r.run(benchCase{name: "weights_load", bytes: bytes, check: func(x any) []float64 {
		all := make([]tensor.Tensor, n)
		for i, name := range names {
			all[i] = x.(map[string]tensor.Tensor)[name]
		}
		return flatSum(all...)
	}}, func() any {
		g := tenon.Must(saved.Open(file))
		out := make(map[string]tensor.Tensor, n)
		for _, name := range g.Tensors() {
			v := tenon.Must(g.Tensor(name))
			out[name] = v
		}
		tenon.Throw(g.Close())
		return out
	})
}
