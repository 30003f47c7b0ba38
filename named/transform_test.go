package named_test

import (
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Nothing outside of the package knows of named tensors: these tests show that
// functions, gradients, control flow and nests work on them all the same.

type attnIn struct {
	*named.Tensor
	Seq
	Rep
}

type attnOut struct {
	*named.Tensor
	Seq
	Val
}

type batchedIn struct {
	Batch
	attnIn
}

// weights are the parameters of an attention head.
type weights struct{ Query, Key, Value T }

func headWeights() weights {
	return weights{wave(Rep{}.Of(4), Kq{}.Of(3)), wave(Kq{}.Of(3), Rep{}.Of(4)), wave(Rep{}.Of(4), Val{}.Of(2))}
}

// head is self-attention over Seq, with keys and values renamed.
func (w weights) head(in attnIn) attnOut {
	queries := named.Dot[Rep](in, w.Query)
	keys := named.Rename[Seq, KeySeq](named.Dot[Rep](in, w.Key))
	values := named.Rename[Seq, KeySeq](named.Dot[Rep](in, w.Value))
	att := named.Softmax[KeySeq](named.Dot[Kq](keys, queries))
	return named.Bind[attnOut](named.Dot[KeySeq](values, att))
}

func wantNear(t *testing.T, want, got T) {
	t.Helper()
	if err := near(want, got); err != nil {
		t.Error(err)
	}
}

func TestFunction(t *testing.T) {
	w := headWeights()
	traced := 0
	f := function.New(func(in attnIn) attnOut { traced++; return w.head(in) }, function.Options{Exact: true})
	for _, x := range []T{wave(Seq{}.Of(5), Rep{}.Of(4)), wave(Seq{}.Of(5), Rep{}.Of(4)), wave(Rep{}.Of(4), Seq{}.Of(5))} {
		in := named.Bind[attnIn](x)
		out := f.Call(in)
		wantNear(t, w.head(in).Tensor, out.Tensor)
		if out.Val.Size() != 2 {
			t.Errorf("the result has lost its handles: %v", out)
		}
	}
	if traced != 2 {
		t.Errorf("traced %d times, want once for each order of storage", traced)
	}
	if err := thrown(func() { function.New(func(x T) T { return named.Softmax[Foo](x) }).Call(wave(Seq{}.Of(2))) }); err == nil {
		t.Error("a wrong name is not noticed while tracing")
	}
}

func TestFunctionWithOpenSizes(t *testing.T) {
	w := headWeights()
	f := function.New(w.head)
	for n := 2; n < 8; n++ {
		in := named.Bind[attnIn](wave(Seq{}.Of(n), Rep{}.Of(4)))
		wantNear(t, w.head(in).Tensor, f.Call(in).Tensor)
	}
	for _, o := range table() {
		if o.name == "Unstack" { // how many results it has is a size
			continue
		}
		t.Run(o.name, func(t *testing.T) {
			specs := make([]any, len(o.in))
			for i, x := range o.in {
				specs[i] = tenon.Must(named.NewSpec(tensor.NewSpec(x.DType(), shape.OfRank(x.Shape().Rank())), x.Dims()))
			}
			opts := function.Options{Signature: specs}
			var got []T
			switch in := o.in; len(in) {
			case 1:
				got = function.New(func(a T) []T { return o.f([]T{a}) }, opts).Call(in[0])
			case 2:
				got = function.New(func(a, b T) []T { return o.f([]T{a, b}) }, opts).Call(in[0], in[1])
			case 3:
				got = function.New(func(a, b, c T) []T { return o.f([]T{a, b, c}) }, opts).Call(in[0], in[1], in[2])
			case 4:
				got = function.New(func(a, b, c, d T) []T { return o.f([]T{a, b, c, d}) }, opts).Call(in[0], in[1], in[2], in[3])
			default:
				t.Fatalf("%d inputs", len(in))
			}
			for k, want := range o.f(o.in) {
				wantNear(t, want, got[k])
			}
		})
	}
}

// Every operation gives the same in a trace as outside.
func TestTracedTable(t *testing.T) {
	for _, o := range table() {
		t.Run(o.name, func(t *testing.T) {
			got := function.New(o.f).Call(o.in)
			for k, want := range o.f(o.in) {
				wantNear(t, want, got[k])
			}
		})
	}
}

// Gradients of every operation with floating results agree with differences, eagerly
// and in a trace.
func TestGradients(t *testing.T) {
	piecewise := map[string]bool{"Dropout": true, "Sort": true, "TopK": true, "CumMax": true, "CumMin": true}
	for _, o := range table() {
		if !o.in[0].DType().IsFloat() || !o.f(o.in)[0].DType().IsFloat() || o.name == "Cast" || piecewise[o.name] {
			continue
		}
		t.Run(o.name, func(t *testing.T) {
			loss := func(x []T) tensor.Tensor {
				total := tensor.Tensor(tensor.Scalar(0.0))
				for _, y := range o.f(x) {
					w := named.Map(ops.Cos, named.Order(named.From(ops.OnesLike(y)), y.Dims()))
					total = ops.Add(total, named.Unnamed(ops.Sum(ops.Mul(ops.Mul(y, y), w)).(T)))
				}
				return total
			}
			at := func(y T) tensor.Tensor {
				x := append([]T{y}, o.in[1:]...)
				return loss(x)
			}
			g := grad.Of(at)(o.in[0])
			wantNear(t, g, function.New(func(x T) T { return grad.Of(at)(x) }).Call(o.in[0]))
			if !g.Spec().(*named.Spec).EqualSpec(o.in[0].Spec()) {
				t.Errorf("the gradient is %v, the input %v", g.Spec(), o.in[0].Spec())
			}
			x := tensor.Data[float64](named.Unnamed(o.in[0], o.in[0].Dims()))
			const h = 1e-6
			for i := range min(len(x), 5) {
				moved := func(by float64) float64 {
					y := append([]float64(nil), x...)
					y[i] += by
					return tensor.Item[float64](at(named.Of(tensor.Of(y, o.in[0].Shape().Dims()...), o.in[0].Dims())))
				}
				want := (moved(h) - moved(-h)) / (2 * h)
				if got := tensor.Data[float64](named.Unnamed(g, o.in[0].Dims()))[i]; got < want-1e-4*(1+abs(want)) || got > want+1e-4*(1+abs(want)) {
					t.Errorf("element %d: %v, by differences %v", i, got, want)
				}
			}
		})
	}
}

func abs(x float64) float64 { return max(x, -x) }

func TestGradientOfParameters(t *testing.T) {
	w := headWeights()
	in := named.Bind[attnIn](wave(Seq{}.Of(5), Rep{}.Of(4)))
	loss := func(w weights, in attnIn) T { return named.From(ops.Sum(ops.Square(w.head(in)))) }
	v, g := grad.ValueAndGrad(loss)(w, in)
	if len(v.Dims().Names()) != 0 || g.Key.Spec().(*named.Spec).String() != "float64{Kq:3 Rep:4}" {
		t.Errorf("value %v, gradient %v", v, g.Key.Spec())
	}
	v2, g2 := function.New(grad.ValueAndGrad(loss)).Call(w, in)
	wantNear(t, v, v2)
	wantNear(t, g.Query, g2.Query)
	gin := grad.Of(func(in attnIn) T { return loss(w, in) })(in) // a schema is a structure like any other
	if gin.Seq.Size() != 5 {
		t.Errorf("the gradient of a schema is %v", gin)
	}
}

// A cotangent may be stored in another order than the result.
func TestCotangentInAnotherOrder(t *testing.T) {
	x, w := wave(Seq{}.Of(3), Rep{}.Of(3)), wave(Rep{}.Of(3), Kq{}.Of(3))
	f := func(x T) T { return named.Dot[Rep](x, w) }
	_, pull, err := grad.VJP(f, x)
	if err != nil {
		t.Fatal(err)
	}
	ct := wave(Seq{}.Of(3), Kq{}.Of(3))
	want, err := pull(ct)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pull(named.Order(ct, Kq{}, Seq{}))
	if err != nil {
		t.Fatal(err)
	}
	wantNear(t, want, got)
	wantNear(t, named.Dot[Kq](ct, w), want)
	_, d, err := grad.JVP(f, x, named.Order(wave(Seq{}.Of(3), Rep{}.Of(3)), Rep{}, Seq{}))
	if err != nil {
		t.Fatal(err)
	}
	wantNear(t, f(x), d)
}

func TestControl(t *testing.T) {
	x := wave(Seq{}.Of(3), Rep{}.Of(3))
	cond := func(x T) T {
		return control.Cond(ops.Greater(named.Unnamed(ops.Sum(x).(T)), 100.0),
			func() T { return named.Add(x, 1) },
			func() T { return named.Order(named.Mul(x, 2), Rep{}, Seq{}) }) // stored in another order
	}
	wantNear(t, named.Mul(x, 2), cond(x))
	wantNear(t, named.Mul(x, 2), function.New(cond).Call(x))
	big := named.Add(x, 100)
	wantNear(t, named.Add(big, 1), function.New(cond).Call(big))

	type state struct {
		X T
		N tensor.Tensor
	}
	while := func(x T) T { // a loop variable that is stored in another order each turn
		s := control.While(
			func(s state) tensor.Tensor { return ops.Less(s.N, int64(3)) },
			func(s state) state {
				n := s.X.Dims().Names()
				return state{named.Order(named.Mul(s.X, 2), n[1], n[0]), ops.Add(s.N, int64(1))}
			},
			state{x, tensor.Scalar(int64(0))})
		return s.X
	}
	wantNear(t, named.Mul(x, 8), while(x))
	wantNear(t, named.Mul(x, 8), function.New(while).Call(x))
	sum := func(x T) T { return named.From(ops.Sum(while(x))) }
	wantNear(t, named.Full(8.0, Seq{}.Of(3), Rep{}.Of(3)), grad.Of(sum)(x))
	wantNear(t, named.Full(8.0, Seq{}.Of(3), Rep{}.Of(3)), function.New(func(x T) T { return grad.Of(sum)(x) }).Call(x))
}

func TestRows(t *testing.T) {
	x := wave(Seq{}.Of(3), Rep{}.Of(4))
	w := wave(Rep{}.Of(4), Kq{}.Of(2))
	rows := named.Rename[Seq, named.Rows](x)
	f := func(row T) T { return named.Dot[Rep](row, w) }
	want := named.Dot[Rep](x, w)
	back := func(y T) T { return named.Rename[named.Rows, Seq](y) }
	wantNear(t, want, back(control.Map(f, rows)))
	wantNear(t, want, back(control.MapRows(f, rows)))
	wantNear(t, want, back(function.Vectorize(f)(rows)))
	wantNear(t, want, back(function.New(func(x T) T { return control.Map(f, x) }).Call(rows)))
	// Rows is stored first, whatever is renamed to it.
	wantNear(t, want, back(control.Map(f, named.Rename[Seq, named.Rows](named.Order(x, Rep{}, Seq{})))))

	scan := func(x T) T {
		_, ys := control.Scan(func(c, row T) (T, T) { n := named.Add(c, row); return n, n }, named.Zeros(dtype.Float64, Rep{}.Of(4)), x)
		return ys
	}
	wantNear(t, named.CumSum[Seq](x, named.CumOptions{}), back(scan(rows)))
	wantNear(t, named.CumSum[Seq](x, named.CumOptions{}), back(function.New(scan).Call(rows)))
	wantError(t, tenon.ErrUnsupported, "no dimension named.Rows", func() { scan(x) })
}

func TestNest(t *testing.T) {
	w := headWeights()
	paths, leaves, err := nest.FlattenWithPaths(w, nest.Options{Expand: true})
	if err != nil || fmt.Sprint(paths) != "[Query.data Key.data Value.data]" {
		t.Errorf("the paths are %v, %v", paths, err)
	}
	back, err := nest.Pack(w, leaves, nest.Options{Expand: true})
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, w.Key, back.Key)
	in := named.Bind[attnIn](wave(Seq{}.Of(5), Rep{}.Of(4)))
	doubled, err := nest.Map(func(l []any) (any, error) { return named.Mul(l[0], 2), nil }, nest.Options{}, in)
	if err != nil || doubled.Seq.Size() != 5 {
		t.Fatalf("got %v, %v", doubled, err)
	}
	wantEqual(t, named.Mul(in, 2), doubled)
	if _, err := nest.Map(func(l []any) (any, error) { return named.Rename[Seq, Foo](in), nil }, nest.Options{}, in); err == nil {
		t.Error("a schema takes a tensor with other dimensions")
	}
}

func TestLift(t *testing.T) {
	w := headWeights()
	x := wave(Seq{}.Of(5), Batch{}.Of(3), Rep{}.Of(4))
	in := named.Bind[batchedIn](x)
	var each []tenon.Value
	for _, row := range named.Unstack[Batch](x) {
		each = append(each, w.head(named.Bind[attnIn](row)).Tensor)
	}
	want := named.Stack[Batch](each...)
	lifted := named.Lift[Batch](w.head)
	wantNear(t, want, lifted(in.attnIn).Tensor)
	wantNear(t, want, function.New(lifted).Call(in.attnIn).Tensor)

	// Heads are lifted over as an argument that is a structure.
	stacked := weights{
		named.Stack[Head](w.Query, named.Mul(w.Query, 2)), named.Stack[Head](w.Key, named.Mul(w.Key, 3)), named.Stack[Head](w.Value, w.Value),
	}
	heads := named.Lift[Head](func(w weights, in attnIn) attnOut { return w.head(in) })
	first := named.Bind[attnIn](named.Index[Batch](x, 0))
	out := heads(stacked, first)
	wantNear(t, w.head(first).Tensor, named.Index[Head](out, 0))
	both := named.Lift[Batch](func(w weights, in attnIn) attnOut { return heads(w, in) })(stacked, in.attnIn)
	wantNear(t, named.Index[Batch](both, 0), out.Tensor)

	// Several results, among them plain data.
	type results struct {
		Sum, Same T
		Note      string
	}
	r := named.Lift[Batch](func(x T) (results, T) {
		return results{named.Sum[Rep](x), w.Query, "kept"}, named.From(ops.Neg(x))
	})
	res, neg := r(x)
	wantNear(t, named.Sum[Rep](x), res.Sum)
	wantNear(t, named.BroadcastTo(w.Query, Batch{}.Of(3), Rep{}.Of(4), Kq{}.Of(3)), res.Same)
	wantNear(t, named.From(ops.Neg(x)), neg)
	if res.Note != "kept" {
		t.Errorf("plain data are lost: %+v", res)
	}

	// Gradients inside and outside.
	loss := func(x T) T { return named.From(ops.Sum(ops.Exp(x))) }
	wantNear(t, named.From(ops.Exp(x)), named.Lift[Batch](func(x T) T { return grad.Of(loss)(x) })(x))
	wantNear(t, named.From(ops.Exp(x)), grad.Of(func(x T) T { return named.From(ops.Sum(named.Lift[Batch](loss)(x))) })(x))
}

func TestLiftErrors(t *testing.T) {
	x := wave(Batch{}.Of(3), Rep{}.Of(4))
	id := func(x T) T { return x }
	wantError(t, tenon.ErrNotFound, "has no Seq", func() { named.Lift[Seq](id)(x) })
	wantError(t, tenon.ErrInvalid, "from outside has it", func() { named.Lift[Batch](func(x T) T { return named.Stack[Batch](x, x) })(x) })
	wantError(t, tenon.ErrInvalid, "from outside has it", func() { named.Lift[Batch](func(y T) T { return x })(x) })
	wantError(t, tenon.ErrInvalid, "Batch has the sizes 3 and 2", func() {
		named.Lift[Batch](func(x, y T) T { return x })(x, named.Index[Rep](wave(Batch{}.Of(2), Rep{}.Of(1)), 0))
	})
	wantError(t, tenon.ErrInvalid, "Batch occurs twice", func() { named.LiftOver(named.By(Batch{}, Batch{}), id)(x) })
	wantError(t, tenon.ErrDType, "not a function", func() { named.Lift[Batch](3) })
	wantError(t, tenon.ErrInvalid, "no argument is a named tensor", func() { named.Lift[Batch](func(n int) int { return n })(3) })
	wantError(t, tenon.ErrDType, "which has no names", func() {
		named.Lift[Batch](func(x T) tensor.Tensor { return named.Unnamed(x, Rep{}) })(x)
	})
}
