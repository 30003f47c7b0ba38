package optable

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	fn "github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/interp"
	"github.com/tenonml/tenon/internal/passes"
	missing "github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// The names of random programs.
type (
	batchDim struct{ named.Dim[batchDim] }
	tokenDim struct{ named.Dim[tokenDim] }
	repDim   struct{ named.Dim[repDim] }
	kqDim    struct{ named.Dim[kqDim] }
)

// A valueStep is one operation of a random program: on values a and b of those so far, with a
// small number k.
type valueStep struct {
	code byte
	a, b int
	k    int
}

// valueOps are what programs on values of every type are made of: what a step cannot take, it
// throws an error about, and the program does without it.
var valueOps = []func(a, b tenon.Value, k int) tenon.Value{
	// between types
	func(a, _ tenon.Value, k int) tenon.Value { // rows of a vector's elements
		x := as[tensor.Tensor](a)
		lengths := ops.Mod(ops.Range(0, 3+k%2, 1), 2+k%3)
		splits := ops.Concat([]any{[]int64{0}, ops.CumSum(lengths, 0, ops.CumOptions{})}, 0)
		return tenon.Must(ragged.FromRowSplits(ops.Slice(ops.Tile(ops.Reshape(x, []int{-1}), []int{4}), []int{0}, ops.Reshape(ops.Sum(lengths), []int{1})), splits))
	},
	func(a, _ tenon.Value, _ int) tenon.Value { return as[*ragged.Tensor](a).FlatValues() },
	func(a, _ tenon.Value, k int) tenon.Value {
		if r, ok := a.(*ragged.Tensor); ok {
			return named.Of(r, leading([]named.Name{batchDim{}, tokenDim{}, repDim{}, kqDim{}}, r)...)
		}
		x := as[tensor.Tensor](a)
		return named.Of(x, leading([][]named.Name{{batchDim{}, repDim{}, kqDim{}}, {repDim{}, kqDim{}, tokenDim{}}, {repDim{}, batchDim{}, kqDim{}}}[k%3], x)...)
	},
	func(a, _ tenon.Value, _ int) tenon.Value { x := named.From(a); return named.Unnamed(x, x.Dims()) },
	func(a, b tenon.Value, _ int) tenon.Value {
		return structured.Zip(1, structured.Field{Name: "x", Value: as[tensor.Tensor](a)}, structured.Field{Name: "y", Value: as[tensor.Tensor](b)})
	},
	func(a, _ tenon.Value, k int) tenon.Value {
		return tenon.Must(as[*structured.Tensor](a).Field([]string{"x", "y"}[k%2]))
	},
	func(a, _ tenon.Value, _ int) tenon.Value {
		s := as[*structured.Tensor](a)
		x := tenon.Must(s.Field("x"))
		return s.With("y", ops.Mul(x, 0.5))
	},
	func(a, _ tenon.Value, k int) tenon.Value {
		x := as[tensor.Tensor](a)
		return tenon.Must(missing.New(x, ops.Greater(x, float64(k%3)*0.3-0.4)))
	},
	func(a, _ tenon.Value, k int) tenon.Value { return missing.Fill(as[*missing.Tensor](a), float64(k%3)) },
	// of any type
	func(a, _ tenon.Value, _ int) tenon.Value { return ops.Tanh(a) },
	func(a, _ tenon.Value, k int) tenon.Value { return ops.Mul(a, float64(k%5)/4) },
	func(a, b tenon.Value, _ int) tenon.Value { return ops.Tanh(ops.Add(a, b)) },
	func(a, b tenon.Value, _ int) tenon.Value { return ops.Mul(ops.Sigmoid(a), b) },
	func(a, b tenon.Value, _ int) tenon.Value { return ops.Where(ops.Greater(a, b), a, ops.Neg(b)) },
	func(a, _ tenon.Value, k int) tenon.Value { return ops.Tanh(ops.Sum(a, k%2)) },
	func(a, _ tenon.Value, _ int) tenon.Value { return ops.Tanh(ops.Sum(a)) },
	func(a, _ tenon.Value, k int) tenon.Value { return ops.Mean(a, 1) },
	func(a, _ tenon.Value, _ int) tenon.Value { return ops.Softmax(a, -1) },
	func(a, b tenon.Value, k int) tenon.Value {
		return ops.Concat([]tensor.Tensor{as[tensor.Tensor](a), as[tensor.Tensor](b)}, k%2)
	},
	func(a, _ tenon.Value, k int) tenon.Value { return ops.Gather(a, []int64{0, int64(k % 3), 1}, 0) },
	func(a, _ tenon.Value, k int) tenon.Value { return ops.Reverse(a, k%2) },
	func(a, _ tenon.Value, k int) tenon.Value {
		return ops.Mul(ops.CumSum(a, 1, ops.CumOptions{Reverse: k%2 == 1}), 0.25)
	},
	func(a, _ tenon.Value, k int) tenon.Value {
		return ops.Sort(a, -1, ops.SortOptions{Descending: k%2 == 0})
	},
	func(a, _ tenon.Value, k int) tenon.Value { return ops.ExpandDims(a, 1+k%2) },
	func(a, b tenon.Value, _ int) tenon.Value { return ops.Tanh(ops.MatMul(a, b)) },
	// with names
	func(a, b tenon.Value, _ int) tenon.Value { return named.Map(ops.Tanh, named.Contract[repDim](a, b)) },
	func(a, b tenon.Value, _ int) tenon.Value { return named.Map(ops.Tanh, named.Outer(ops.Mul, a, b)) },
	func(a, _ tenon.Value, _ int) tenon.Value { return named.Softmax[repDim](a) },
	func(a, _ tenon.Value, _ int) tenon.Value { return named.Softmax[tokenDim](a) },
	func(a, _ tenon.Value, _ int) tenon.Value { return named.LayerNorm[repDim](a, nil, nil, 1e-3) },
	func(a, _ tenon.Value, k int) tenon.Value {
		return named.Sum[kqDim](named.Rename[repDim, kqDim](a))
	},
	func(a, _ tenon.Value, _ int) tenon.Value {
		return named.Lift[batchDim](func(x *named.Tensor) *named.Tensor {
			return named.Mul(x, named.Map(ops.Tanh, named.From(ops.Mean(x))))
		})(named.From(a))
	},
	// control flow
	func(a, b tenon.Value, _ int) tenon.Value {
		return control.Cond(ops.Greater(total(a), 0.0), func() tenon.Value { return ops.Tanh(a) }, func() tenon.Value { return ops.Mul(a, 0.5) })
	},
	func(a, b tenon.Value, k int) tenon.Value {
		return control.Switch(ops.Cast(ops.Floor(ops.Mul(ops.Abs(total(b)), 3.7)), dtype.Int64),
			func() tenon.Value { return ops.Neg(a) }, func() tenon.Value { return ops.Tanh(a) }, func() tenon.Value { return ops.Mul(a, a) })
	},
	func(a, _ tenon.Value, k int) tenon.Value {
		type state struct {
			X tenon.Value
			N tensor.Tensor
		}
		return control.While(func(s state) tensor.Tensor { return ops.Less(s.N, int64(k%4)) },
			func(s state) state { return state{ops.Tanh(ops.Add(s.X, 0.25)), ops.Add(s.N, int64(1))} }, state{a, tensor.Scalar(int64(0))}).X
	},
	func(a, b tenon.Value, k int) tenon.Value { // rows of one length or of several
		out, last := control.Scan(func(c tensor.Tensor, x tenon.Value) (tensor.Tensor, tenon.Value) {
			c = ops.Tanh(ops.Add(ops.Mul(c, 0.5), total(x)))
			return c, ops.Mul(x, c)
		}, tensor.Tensor(tensor.Scalar(0.5)), a, control.ScanOptions{Reverse: k%2 == 1})
		if k%3 == 0 {
			return out
		}
		return last
	},
	func(a, _ tenon.Value, _ int) tenon.Value {
		return control.Fold(func(c tensor.Tensor, x tenon.Value) tensor.Tensor { return ops.Tanh(ops.Add(c, total(x))) }, tensor.Tensor(tensor.Scalar(0.1)), a)
	},
	func(a, _ tenon.Value, k int) tenon.Value {
		return control.Map(func(x tenon.Value) tenon.Value { return ops.Div(x, ops.Add(ops.Sqrt(total(ops.Mul(x, x))), 1.0)) }, a)
	},
	func(a, _ tenon.Value, k int) tenon.Value {
		return control.Map(func(x tenon.Value) tenon.Value { return total(x) }, a)
	},
	func(a, _ tenon.Value, _ int) tenon.Value { // of records
		s := as[*structured.Tensor](a)
		return control.Map(func(x *structured.Tensor) tensor.Tensor {
			return ops.Tanh(ops.Add(total(tenon.Must(x.Field("x"))), total(tenon.Must(x.Field("y")))))
		}, s)
	},
	func(a, _ tenon.Value, _ int) tenon.Value {
		return control.MapRows(func(x tenon.Value) tenon.Value { return ops.Mul(x, total(x)) }, a)
	},
	func(a, _ tenon.Value, k int) tenon.Value {
		return fn.Vectorize(func(x tenon.Value) tenon.Value { return ops.Where(ops.Greater(x, 0.1), x, total(x)) })(a)
	},
	func(a, _ tenon.Value, _ int) tenon.Value {
		return fn.New(func(x tenon.Value) tenon.Value { return ops.Mul(ops.Tanh(x), 0.7) }).Call(a)
	},
	func(a, _ tenon.Value, _ int) tenon.Value {
		return grad.Of(func(x tenon.Value) tensor.Tensor { return total(ops.Mul(ops.Tanh(x), x)) })(a)
	},
	func(a, _ tenon.Value, _ int) tenon.Value {
		return grad.Checkpoint(func(x tenon.Value) tenon.Value { return ops.Sin(ops.Exp(ops.Tanh(x))) })(a)
	},
}

// leading returns as many names as a tensor has dimensions, if there are so many.
func leading(names []named.Name, x tensor.Tensor) []named.Name {
	return names[:min(len(names), max(0, x.Shape().Rank()))]
}

// as returns a value of another type as an error, not as a fault of the program.
func as[T any](v tenon.Value) T {
	x, ok := v.(T)
	if !ok {
		tenon.Throw(tenon.NewError(tenon.ErrDType, "program", tenon.String(v.Spec())+" is of another type"))
	}
	return x
}

// total returns the sum of all elements as a scalar without a name.
func total(x tenon.Value) tensor.Tensor {
	parts := tenon.Must(nest.Flatten(x, nest.Options{Expand: true}))
	var sum tensor.Tensor = tensor.Scalar(0.0)
	for _, p := range parts {
		if t := p.(tensor.Tensor); t.DType() == dtype.Float64 {
			sum = ops.Add(sum, ops.Sum(t))
		}
	}
	return sum
}

// startValues are what programs begin with.
func startValues() []tenon.Value {
	rows := tenon.Must(ragged.FromRowLengths(waves(6, 2), []int{2, 0, 3, 1}))
	return []tenon.Value{
		waves(3, 4), waves(5), rows, tenon.Must(ragged.FromRowLengths(waves(6), []int{2, 0, 3, 1})),
		named.Of(waves(3, 2), batchDim{}, repDim{}), named.Of(rows, batchDim{}, tokenDim{}, repDim{}),
		structured.Zip(1, structured.Field{Name: "x", Value: waves(3)}, structured.Field{Name: "y", Value: waves(3, 2)}),
	}
}

// size returns how many elements a value has.
func size(v tenon.Value) int {
	n := 0
	for _, p := range tenon.Must(nest.Flatten(v, nest.Options{Expand: true})) {
		n += p.(tensor.Tensor).Shape().Size()
	}
	return n
}

func valueProgram(data []byte, inputs []tenon.Value) (p []valueStep, text string) {
	values := append([]tenon.Value(nil), inputs...)
	for len(data) >= 4 && len(p) < 25 {
		n := valueStep{data[0] % byte(len(valueOps)), int(data[1]) % len(values), int(data[2]) % len(values), int(data[3])}
		data = data[4:]
		out, err := tenon.Try(func() tenon.Value { return valueOps[n.code](values[n.a], values[n.b], n.k) })
		if err != nil || out == nil || size(out) > 2000 {
			continue
		}
		text += fmt.Sprintf("\n%d: operation %d of %d and %d, %d → %s", len(values), n.code, n.a, n.b, n.k, tenon.String(out.Spec()))
		values, p = append(values, out), append(p, n)
	}
	return p, text
}

// executeValues returns the last values of a program, in components.
func executeValues(p []valueStep, inputs []tenon.Value) []tensor.Tensor {
	values := append([]tenon.Value(nil), inputs...)
	for _, n := range p {
		values = append(values, valueOps[n.code](values[n.a], values[n.b], n.k))
	}
	var out []tensor.Tensor
	for _, v := range values[max(len(inputs), len(values)-5):] {
		for _, c := range tenon.Must(nest.Flatten(v, nest.Options{Expand: true})) {
			out = append(out, c.(tensor.Tensor))
		}
	}
	return out
}

// gradientsOfValues returns the derivatives by all floating components of the inputs.
func gradientsOfValues(p []valueStep, inputs []tenon.Value) []tensor.Tensor {
	g := grad.Of(func(in []tenon.Value) tensor.Tensor {
		var sum tensor.Tensor = tensor.Scalar(0.0)
		for _, x := range executeValues(p, in) {
			if x.DType() == dtype.Float64 {
				sum = ops.Add(sum, ops.Sum(ops.Tanh(x)))
			}
		}
		return sum
	})(inputs)
	var out []tensor.Tensor
	for _, c := range tenon.Must(nest.Flatten(g, nest.Options{Expand: true})) {
		out = append(out, c.(tensor.Tensor))
	}
	return out
}

// waves returns different numbers of both signs.
func waves(dims ...int) tensor.Tensor {
	d, x := tensor.Make[float64](shape.Of(dims...))
	for i := range x {
		x[i] = math.Sin(float64(3*i+len(dims))) * 1.5
	}
	return d
}

// FuzzValues compares random programs on values of every type, with control flow, functions and
// gradients in them: at once, as a function of the values, and as graphs of their components without
// passes, with each pass alone and with all of them.
func FuzzValues(f *testing.F) {
	for i := range valueOps {
		for a := range 7 {
			f.Add([]byte{byte(i), byte(a), 4, 1, byte(i), 7, byte(a), 2, 9, 7, 0, 0, byte(i), 8, 7, 0})
		}
	}
	f.Fuzz(compareValues)
}

// TestRandomValues is FuzzValues on programs that are random from the start.
func TestRandomValues(t *testing.T) {
	done := map[byte]int{}
	for seed := range *programs {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		data := make([]byte, 4*(10+r.IntN(40)))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		if seed < 100 {
			p, _ := valueProgram(data, startValues())
			for _, n := range p {
				done[n.code]++
			}
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { compareValues(t, data) })
	}
	for i := range valueOps {
		if done[byte(i)] == 0 && *programs >= 100 {
			t.Errorf("operation %d is in none of the programs", i)
		}
	}
}

func compareValues(t *testing.T, data []byte) {
	inputs := startValues()
	p, text := valueProgram(data, inputs)
	if len(p) == 0 {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("%v%s\n%s", r, text, debug.Stack())
		}
	}()
	parts := tenon.Must(nest.Flatten(inputs, nest.Options{Expand: true}))
	xs, specs := make([]tensor.Tensor, len(parts)), make([]*tensor.Spec, len(parts))
	for i, c := range parts {
		xs[i] = c.(tensor.Tensor)
		specs[i] = tensor.NewSpec(xs[i].DType(), xs[i].Shape())
	}
	for _, way := range []struct {
		name string
		f    func(p []valueStep, in []tenon.Value) []tensor.Tensor
	}{{"values", executeValues}, {"gradients", gradientsOfValues}} {
		want, err := tenon.Try(func() []tensor.Tensor { return way.f(p, inputs) })
		if err != nil {
			t.Fatalf("%s: %v%s", way.name, err, text)
		}
		f := fn.New(func(in []tenon.Value) []tensor.Tensor { return way.f(p, in) })
		got, err := tenon.Try(func() []tensor.Tensor { return f.Call(inputs) })
		if err != nil {
			if strings.Contains(err.Error(), "the number of rows is not known") {
				return // rows one by one, as many as data say
			}
			t.Fatalf("%s, as a function: %v%s", way.name, err, text)
		}
		agree(t, way.name+", as a function"+text, want, got)
		g, err := graph.Trace("f", specs, func(in []tensor.Tensor) ([]tensor.Tensor, error) {
			leaves := make([]any, len(in))
			for i, x := range in {
				leaves[i] = x
			}
			values, err := nest.Pack(inputs, leaves, nest.Options{Expand: true})
			if err != nil {
				return nil, err
			}
			return way.f(p, values), nil
		})
		if err != nil {
			t.Fatalf("%s, traced: %v%s", way.name, err, text)
		}
		try := func(what string, list []passes.Pass) {
			h, err := passes.Apply(g, list)
			if err != nil {
				t.Fatalf("%s, %s: %v%s", way.name, what, err, text)
			}
			got, err := interp.For(h).Run(t.Context(), xs)
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
	}
}
