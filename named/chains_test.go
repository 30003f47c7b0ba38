package named_test

import (
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/tensor"
)

func TestAHandleDoesWhatItsDimensionCan(t *testing.T) {
	x := named.Bind[bound](wave(Seq{}.Of(3), Rep{}.Of(4)))
	w := named.Bind[struct {
		*named.Tensor
		Rep
		Kq
	}](wave(Rep{}.Of(4), Kq{}.Of(2)))
	for _, tt := range []struct {
		name      string
		got, want *named.Tensor
	}{
		{"sum", x.Seq.Sum(), named.Sum[Seq](x)},
		{"mean", x.Rep.Mean(), named.Mean[Rep](x)},
		{"max", x.Rep.Max(), named.Max[Rep](x)},
		{"min", x.Rep.Min(), named.Min[Rep](x)},
		{"argmax", x.Rep.ArgMax(), named.ArgMax[Rep](x)},
		{"argmin", x.Rep.ArgMin(), named.ArgMin[Rep](x)},
		{"softmax", x.Seq.Softmax(), named.Softmax[Seq](x)},
		{"log softmax", x.Seq.LogSoftmax(), named.LogSoftmax[Seq](x)},
		{"logsumexp", x.Seq.LogSumExp(), named.LogSumExp[Seq](x)},
		{"reverse", x.Seq.Reverse(), named.Reverse[Seq](x)},
		{"cumsum", x.Seq.CumSum(named.CumOptions{}), named.CumSum[Seq](x, named.CumOptions{})},
		{"sort", x.Seq.Sort(named.SortOptions{}), named.Sort[Seq](x, named.SortOptions{})},
		{"argsort", x.Seq.ArgSort(named.SortOptions{}), named.ArgSort[Seq](x, named.SortOptions{})},
		{"index", x.Seq.Index(-1), named.Index[Seq](x, -1)},
		{"take", x.Seq.Take(named.Of([]int64{2, 0}, Val{})), named.Take[Seq](x, named.Of([]int64{2, 0}, Val{}))},
		{"unstack", x.Seq.Unstack()[1], named.Index[Seq](x, 1)},
		{"split", x.Rep.Split(Head{}.Of(2), Val{}.Of(2)), named.Split[Rep](x, Head{}.Of(2), Val{}.Of(2))},
		{"a chain", named.On[Seq](x.Rep.Dot(w.Rep)).Softmax(), named.Softmax[Seq](named.Dot[Rep](x, w))},
	} {
		if !named.Equal(tt.got, tt.want, tensor.EqualOptions{}) {
			t.Errorf("%s: got %v, want %v", tt.name, tt.got, tt.want)
		}
	}
	checkSlips(t, []slip{
		{"a name", func() any { return Seq{}.Sum() }, []string{"Seq is a name and not the dimension of a tensor: use that of a schema, or named.On"}},
		{"On", func() any { return named.On[Foo](x) }, []string{"named.On over Foo: the tensor has no Foo"}},
		{"On a set", func() any { return named.On[Spatial](wave(Height{}.Of(1), Width{}.Of(1))) }, []string{"are several names"}},
	})
}

func TestASchemaIsBoundForALiftedFunction(t *testing.T) {
	f := func(in bound) *named.Tensor { return named.Sum[Seq](in) }
	x := wave(Batch{}.Of(2), Seq{}.Of(3), Rep{}.Of(4))
	got := named.Lift[Batch](f)(named.BindOver[Batch, bound](x))
	if want := named.Sum[Seq](x); !named.Equal(got, want, tensor.EqualOptions{}) {
		t.Errorf("got %v, want %v", got, want)
	}
	checkSlips(t, []slip{
		{"it lacks the name", func() any { return named.BindOver[Batch, bound](wave(Seq{}.Of(3), Rep{}.Of(4))) }, []string{"named.BindOver over Batch: the tensor has no Batch"}},
		{"a further name", func() any { return named.BindOver[Batch, bound](named.ExpandDims(x, Val{})) }, []string{"the schema is {Seq Rep}: extra"}},
	})
}

func TestValuesMayCarryTheNameThatIsContracted(t *testing.T) {
	q, k := wave(Batch{}.Of(2), Seq{}.Of(3), Rep{}.Of(4)), wave(Batch{}.Of(2), KeySeq{}.Of(5), Rep{}.Of(4))
	got := named.Attention[KeySeq, Rep](q, k, k, named.AttentionOptions{})
	want := named.Rename[Val, Rep](named.Attention[KeySeq, Rep](q, k, named.Rename[Rep, Val](k), named.AttentionOptions{}))
	if !named.Equal(got, want, tensor.EqualOptions{}) {
		t.Errorf("got %v, want %v", got, want)
	}
	g := tenon.Must(function.New(func(q, k T) T { return named.Attention[KeySeq, Rep](q, k, k, named.AttentionOptions{}) }).Trace(q, k))
	if text := g.String(); strings.Contains(text, "softmax(") {
		t.Errorf("the scores are kept:\n%s", text)
	}
}

func TestASumWithAProductInAnotherOrderMovesNothing(t *testing.T) {
	w, x, z := wave(Rep{}.Of(4), Val{}.Of(5)), wave(Seq{}.Of(3), Rep{}.Of(4)), wave(Seq{}.Of(3), Val{}.Of(5))
	for name, f := range map[string]func(w, x, z T) T{
		"product first": func(w, x, z T) T { return named.Add(named.Dot[Rep](w, x), z) },
		"product last":  func(w, x, z T) T { return named.Add(z, named.Dot[Rep](w, x)) },
	} {
		c := tenon.Must(function.New(f).Concrete(w, x, z))
		if text := c.Graph().String(); strings.Contains(text, "transpose(") {
			t.Errorf("%s: something is moved:\n%s", name, text)
		}
		got, want := function.New(f).Call(w, x, z), f(w, x, z)
		if err := near(want, got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSparseOperandsAreContracted(t *testing.T) {
	n := func(x any, dims ...named.Name) T { return named.Of(x, dims...) }
	s := func(x any) *sparse.Tensor { return tenon.Must(sparse.FromDense(x)) }
	matrix := [][]float64{{0, 2, 0}, {3, 0, 1}}
	vector := []float64{4, 0, -1}
	three := [][][]float64{{{0, 2, 0}, {3, 0, 1}}, {{0, 0, 0}, {0, 5, 0}}}
	for _, tt := range []struct {
		name      string
		dense, of T
		w         T
		over      named.Dims
	}{
		{"matrix", n(matrix, Batch{}, Rep{}), n(s(matrix), Batch{}, Rep{}), wave(Rep{}.Of(3), Kq{}.Of(2)), named.By(Rep{})},
		{"matrix transposed", n(matrix, Batch{}, Rep{}), n(s(matrix), Batch{}, Rep{}), wave(Kq{}.Of(2), Rep{}.Of(3)), named.By(Rep{})},
		{"vector and matrix", n(vector, Rep{}), n(s(vector), Rep{}), wave(Kq{}.Of(2), Rep{}.Of(3)), named.By(Rep{})},
		{"vectors", n(vector, Rep{}), n(s(vector), Rep{}), wave(Rep{}.Of(3)), named.By(Rep{})},
		{"of rank 3", n(three, Batch{}, Seq{}, Rep{}), n(s(three), Batch{}, Seq{}, Rep{}), wave(Rep{}.Of(3), Kq{}.Of(2)), named.By(Rep{})},
		{"over an axis inside", n(three, Batch{}, Seq{}, Rep{}), n(s(three), Batch{}, Seq{}, Rep{}), wave(Kq{}.Of(4), Seq{}.Of(2)), named.By(Seq{})},
		{"over two", n(three, Batch{}, Seq{}, Rep{}), n(s(three), Batch{}, Seq{}, Rep{}), wave(Rep{}.Of(3), Batch{}.Of(2), Kq{}.Of(2)), named.By(Batch{}, Rep{})},
		{"over all", n(three, Batch{}, Seq{}, Rep{}), n(s(three), Batch{}, Seq{}, Rep{}), wave(Rep{}.Of(3), Seq{}.Of(2), Batch{}.Of(2)), named.By(Batch{}, Rep{}, Seq{})},
		{"a batch", n(three, Batch{}, Seq{}, Rep{}), n(s(three), Batch{}, Seq{}, Rep{}), wave(Batch{}.Of(2), Rep{}.Of(3)), named.By(Rep{})},
		{"a batch of matrices", n(three, Batch{}, Seq{}, Rep{}), n(s(three), Batch{}, Seq{}, Rep{}), wave(Kq{}.Of(2), Rep{}.Of(3), Batch{}.Of(2)), named.By(Rep{})},
		{"two batches", n(three, Batch{}, Seq{}, Rep{}), n(s(three), Batch{}, Seq{}, Rep{}), wave(Kq{}.Of(2), Rep{}.Of(3), Seq{}.Of(2), Batch{}.Of(2)), named.By(Rep{})},
		{"two sparse ones", n(three, Batch{}, Seq{}, Rep{}), n(s(three), Batch{}, Seq{}, Rep{}), n(s(vector), Rep{}), named.By(Rep{})},
	} {
		w := tt.w
		if x, ok := named.Unnamed(w, w.Dims().Names()...).(*sparse.Tensor); ok {
			w = named.Of(tenon.Must(x.ToDense(sparse.DenseOptions{})), w.Dims().Names()...)
		}
		want := tt.over.Contract(tt.dense, w)
		for _, p := range [][2]T{{tt.of, tt.w}, {tt.w, tt.of}} {
			got := tt.over.Contract(p[0], p[1])
			if x, ok := named.Unnamed(got, want.Dims().Names()...).(*sparse.Tensor); ok {
				got = named.Of(tenon.Must(x.ToDense(sparse.DenseOptions{})), want.Dims().Names()...)
			}
			if err := near(want, got); err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
	}
}

func TestLayersAndMetricsTakeSchemas(t *testing.T) {
	x := wave(Seq{}.Of(3), Rep{}.Of(4))
	in := named.Bind[bound](x)
	key := ops.RandomKey(1)
	dense := nn.NewDense(key, 4, 2, nn.DenseOptions{DType: x.DType(), Names: nn.Names{In: Rep{}, Out: Kq{}}})
	norm := nn.NewLayerNorm(4, nn.NormOptions{DType: x.DType(), Names: nn.Names{In: Rep{}}})
	for name, f := range map[string]func(x tensor.Tensor) tensor.Tensor{"dense": dense.Apply, "norm": norm.Apply} {
		if got, want := f(in), f(x); !tenon.Equal(got.Spec(), want.Spec()) {
			t.Errorf("%s: got %s, want %s", name, tenon.String(got.Spec()), tenon.String(want.Spec()))
		}
	}
	_, err := tenon.Try(func() tensor.Tensor { return dense.Apply(wave(Seq{}.Of(3))) })
	if err == nil || !strings.Contains(err.Error(), "nn.Dense: the layer works on Rep, but the tensor has {Seq}") {
		t.Errorf("a missing dimension: %v", err)
	}
	loss := nn.SoftmaxCrossEntropy(in, named.Of([]int64{0, 1, 2}, Seq{}), nn.CrossEntropyOptions{Classes: Rep{}})
	if loss.Spec().(*named.Spec).Dims().String() != "Seq" {
		t.Errorf("got %s", tenon.String(loss.Spec()))
	}
	scores := named.Of([][]float64{{1, 0}, {3, 2}, {0, 5}}, Seq{}, Val{})
	for _, s := range []tensor.Tensor{scores, named.Order(scores, Val{}, Seq{})} {
		if got := nn.NewAccuracy().Update(s, named.Of([]int64{0, 1, 1}, Seq{})).Result(); got < 0.66 || got > 0.67 {
			t.Errorf("accuracy %v", got)
		}
	}
}

func TestAFunctionIsExplainedAsAWhole(t *testing.T) {
	f := func(x, w T) T { return named.Softmax[Kq](named.Dot[Rep](x, w)) }
	e, err := named.ExplainFunction(f, wave(Seq{}.Of(3), Rep{}.Of(4)), wave(Rep{}.Of(4), Kq{}.Of(2)))
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Steps) != 2 || e.FLOPs != 48 || e.Steps[0].Bytes != 8*(12+8+6) {
		t.Errorf("got %+v", e)
	}
	for _, want := range []string{"1. contract {Seq:3 Rep:4} · {Rep:4 Kq:2} → {Seq:3 Kq:2}  48 FLOP, 208 B", "2. softmax {Seq:3 Kq:2} → {Seq:3 Kq:2}"} {
		if !strings.Contains(e.String(), want) {
			t.Errorf("no %q in\n%v", want, e)
		}
	}
}

// The hint about an operation names a function of the package that there is.
func TestRefusedOperationsNameTheFunctionToUse(t *testing.T) {
	x := wave(Seq{}.Of(3), Rep{}.Of(4))
	checkSlips(t, []slip{
		{"softmax", func() any { return ops.Softmax(x, -1) }, []string{"use named.Softmax"}},
		{"matmul", func() any { return ops.MatMul(x, x) }, []string{"use named.Dot or named.Contract"}},
		{"transpose", func() any { return ops.Transpose(x) }, []string{"named.Order at a boundary"}},
		{"reshape", func() any { return ops.Reshape(x, []int{12}) }, []string{"use named.Reshape"}},
		{"gather", func() any { return ops.Gather(x, []int64{1}, 0) }, []string{"named.Take"}},
		{"sum", func() any { return ops.Sum(x, 0) }, []string{"use named.Sum"}},
		{"sort", func() any { return ops.Sort(x, 0, ops.SortOptions{}) }, []string{"use named.Sort"}},
		{"shape", func() any { return ops.Shape(x) }, []string{"named.Tensor.Size"}},
		{"cross entropy", func() any { return ops.SoftmaxCrossEntropy(x, named.Of([]int64{0, 1, 2}, Seq{})) }, []string{"named.CrossEntropy"}},
	})
}
