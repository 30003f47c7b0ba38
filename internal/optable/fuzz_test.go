package optable

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/interp"
	"github.com/tenonml/tenon/internal/passes"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A random program is a list of calls of the table, whose float64 operands are moved a
// little by what was computed before: that keeps them where the operation is defined, and makes a
// graph of the calls.
type instruction struct {
	row  Row
	call *op.Call
	from int   // the value that moves the operands
	kept []int // the results that move others
}

// move returns x·(1 + tanh(v)/100), with the elements of v repeated as often as it takes.
func move(x, v tensor.Tensor) tensor.Tensor {
	flat := ops.Tanh(ops.Reshape(v, []int{-1}))
	at := ops.Mod(ops.Range(0, x.Shape().Size(), 1), ops.Size(flat))
	by := ops.Reshape(ops.Gather(flat, at, 0), x.Shape().Dims())
	return ops.Mul(x, ops.Add(1.0, ops.Mul(by, 0.01)))
}

// movable reports whether an operand may be moved: it has elements of float64, and not many.
func movable(v tenon.Value) bool {
	x, ok := v.(*tensor.Dense)
	return ok && x.DType() == dtype.Float64 && x.Len() > 0 && x.Len() < 200
}

// run executes an instruction on the values so far.
func (n instruction) run(values []tensor.Tensor) ([]tensor.Tensor, error) {
	by := values[n.from]
	if n.row.Definition().VJP == nil {
		by = ops.StopGradient(by)
	}
	args := n.call.Values()
	for i, v := range args {
		if movable(v) {
			args[i] = move(v.(tensor.Tensor), by)
		}
	}
	return n.call.WithValues(args).DoTensors()
}

// moving returns which results move others: those that are float64, and not large.
func moving(out []tensor.Tensor) []int {
	var kept []int
	for i, x := range out {
		if s := x.Shape(); x.DType() == dtype.Float64 && s.Size() > 0 && s.Size() < 1000 {
			kept = append(kept, i)
		}
	}
	return kept
}

func pick(out []tensor.Tensor, at []int) []tensor.Tensor {
	list := make([]tensor.Tensor, len(at))
	for i, k := range at {
		list[i] = out[k]
	}
	return list
}

// program turns bytes into a program that runs without errors on the inputs.
func program(list []Row, data []byte, inputs []tensor.Tensor) []instruction {
	values := slices.Clone(inputs)
	var p []instruction
	for len(data) >= 4 && len(p) < 25 {
		r := list[(int(data[0])<<8+int(data[1]))%len(list)]
		k, from := int(data[2]), int(data[3])%len(values)
		data = data[4:]
		if len(r.Calls) == 0 {
			continue
		}
		call, err := op.NewCall(r.Definition(), r.Calls[k%len(r.Calls)].Args...)
		if err == nil {
			call, err = promote(call)
		}
		if err != nil || slices.ContainsFunc(call.Values(), func(v tenon.Value) bool { return v.(tensor.Tensor).Shape().Size() > 2000 }) {
			continue
		}
		n := instruction{row: r, call: call, from: from}
		out, err := tenon.Try(func() []tensor.Tensor { return tenon.Must(n.run(values)) })
		if err != nil || slices.ContainsFunc(out, func(x tensor.Tensor) bool { return x.Shape().Size() > 5000 }) {
			continue
		}
		n.kept = moving(out)
		p, values = append(p, n), append(values, pick(out, n.kept)...)
	}
	return p
}

// execute returns the last results of a program.
func execute(p []instruction, inputs []tensor.Tensor) []tensor.Tensor {
	values := slices.Clone(inputs)
	var all []tensor.Tensor
	for _, n := range p {
		out, err := n.run(values)
		tenon.Throw(err)
		values, all = append(values, pick(out, n.kept)...), append(all, out...)
	}
	return all[max(0, len(all)-6):]
}

// derivatives returns the gradient of the sum of all floating results.
func derivatives(p []instruction, inputs []tensor.Tensor) []tensor.Tensor {
	return grad.Of(func(in []tensor.Tensor) tensor.Tensor {
		var total tensor.Tensor = tensor.Scalar(0.0)
		for _, x := range execute(p, in) {
			if x.DType() == dtype.Float64 {
				total = ops.Add(total, ops.Sum(ops.Tanh(x)))
			}
		}
		return total
	})(inputs)
}

// agree compares results: exactly, but for sums of float64 in another order.
func agree(t *testing.T, what string, want, got []tensor.Tensor) {
	t.Helper()
	for i, w := range want {
		g := got[i]
		if w.DType() != g.DType() || !w.Shape().Equal(g.Shape()) {
			t.Fatalf("%s: result %d is %s, want %s", what, i, tenon.String(g.Spec()), tenon.String(w.Spec()))
		}
		a, b := ArrayOf(w), ArrayOf(g)
		if !slices.Equal(a.S, b.S) {
			t.Fatalf("%s: result %d is %q, want %q", what, i, b.S, a.S)
		}
		tolerance := 1e-9
		if d := w.DType().Real(); d != dtype.Float64 && d != dtype.None {
			tolerance = 64 * Precision(d)
		}
		for k, x := range a.X {
			if y := b.X[k]; !near(real(y), real(x), tolerance, math.Hypot(real(x), imag(x))) || !near(imag(y), imag(x), tolerance, math.Hypot(real(x), imag(x))) {
				t.Fatalf("%s: element %d of result %d is %v, want %v", what, k, i, y, x)
			}
		}
	}
}

// compareProgram runs a program and its gradient call by call, as graphs without passes, with each
// pass alone and with all of them, with sizes that are known and with sizes that are not.
func compareProgram(t *testing.T, data []byte) {
	inputs := []tensor.Tensor{UniformSeed(dtype.Float64, []int{7}, -1, 1, 1), UniformSeed(dtype.Float64, []int{3, 2}, -1, 1, 2)}
	p := program(Rows(), data, inputs)
	if len(p) == 0 {
		return
	}
	text := ""
	for _, n := range p {
		text += fmt.Sprintf("\n%s(%s) moved by %d", n.row.Op, describe(Call{Args: n.call.Args}), n.from)
	}
	for _, way := range []struct {
		name string
		f    func(p []instruction, in []tensor.Tensor) []tensor.Tensor
	}{{"values", execute}, {"gradients", derivatives}} {
		want, err := tenon.Try(func() []tensor.Tensor { return way.f(p, inputs) })
		if err != nil {
			if way.name == "gradients" && (errors.Is(err, tenon.ErrUnsupported) || strings.Contains(err.Error(), "singular")) {
				continue // an operation says that it has none, there
			}
			t.Fatalf("%s: %v%s", way.name, err, text)
		}
		specs := make([]*tensor.Spec, len(inputs))
		for i, x := range inputs {
			specs[i] = tensor.NewSpec(dtype.Float64, x.Shape())
		}
		g, err := graph.Trace("f", specs, func(in []tensor.Tensor) ([]tensor.Tensor, error) { return way.f(p, in), nil })
		if err != nil {
			t.Fatalf("%s: %v%s", way.name, err, text)
		}
		try := func(what string, list []passes.Pass) {
			h, err := passes.Apply(g, list)
			if err != nil {
				t.Fatalf("%s, %s: %v%s", way.name, what, err, text)
			}
			got, err := interp.For(h).Run(t.Context(), inputs)
			if err != nil {
				t.Fatalf("%s, %s: %v%s\n%v", way.name, what, err, text, h)
			}
			agree(t, way.name+", "+what+text, want, got)
		}
		try("no pass", nil)
		for _, pass := range passes.Default {
			try(pass.Name, []passes.Pass{pass})
		}
		try("all passes", passes.Default)
		if way.name == "values" {
			h, err := graph.Parse(g.String())
			if err == nil && h.String() != g.String() {
				err = fmt.Errorf("it is read back as\n%v", h)
			}
			if err != nil {
				t.Fatalf("the text of the graph: %v\n%v", err, g)
			}
			got, err := interp.For(h).Run(t.Context(), inputs)
			if err != nil {
				t.Fatalf("the text of the graph: %v\n%v", err, g)
			}
			agree(t, "the text of the graph"+text, want, got)
			b, err := g.MarshalBinary()
			if err == nil {
				h, err = graph.ReadBinary(b)
			}
			if err != nil || h.String() != g.String() {
				t.Fatalf("the binary form is read back as\n%v, %v\nnot\n%v", h, err, g)
			}
		}
	}
}

// FuzzCatalogue compares random programs of the calls of the whole table.
func FuzzCatalogue(f *testing.F) {
	for i := range Rows() {
		f.Add([]byte{byte(i >> 8), byte(i), 0, 0, byte(i >> 8), byte(i), 1, 2, byte((i + 1) >> 8), byte(i + 1), 2, 3})
	}
	f.Fuzz(compareProgram)
}

var programs = flag.Int("programs", 60, "number of random programs that TestRandomCatalogue compares")

// TestRandomCatalogue is FuzzCatalogue on programs that are random from the start.
func TestRandomCatalogue(t *testing.T) {
	for seed := range *programs {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		data := make([]byte, 4*(5+r.IntN(20)))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { compareProgram(t, data) })
	}
}
