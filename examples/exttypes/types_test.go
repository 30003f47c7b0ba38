package exttypes_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/examples/exttypes/alignment"
	"github.com/tenonml/tenon/examples/exttypes/csr"
	"github.com/tenonml/tenon/examples/exttypes/digraph"
	"github.com/tenonml/tenon/examples/exttypes/dist"
	"github.com/tenonml/tenon/examples/exttypes/labeled"
	"github.com/tenonml/tenon/examples/exttypes/maskedtensor"
	"github.com/tenonml/tenon/examples/exttypes/track"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/named/coords"
	"github.com/tenonml/tenon/ragged"
	replicas "github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// row is a type of Value in the matrix: two values of one Spec, or of Specs that
// merge, which differ.
type row struct {
	name string
	a, b tenon.Value
}

func must[T any](x T, err error) T { return tenon.Must(x, err) }

type city struct{ named.Dim[city] }

func raggedOf(rows [][]float64) *ragged.Tensor { return ragged.FromSlices(rows) }

func union(x []float64) *structured.Union {
	return must(structured.NewUnion([]int64{0, 1}, []structured.Field{
		{Name: "number", Value: tensor.Vector(x)}, {Name: "text", Value: must(tensor.Convert([]string{"", "b"}))},
	}))
}

func people(ages ...float64) tensor.Tensor {
	rows := make([]any, len(ages))
	for i, a := range ages {
		rows[i] = map[string]any{"age": a, "name": strings.Repeat("x", i+1), "scores": []any{a, a + 1}[:i%3]}
	}
	return must(structured.FromNested(rows, structured.NestedOptions{}))
}

func mapOf(x ...float64) tenon.Value {
	return must(structured.NewMap(raggedOf([][]float64{{1}, {2, 3}}).Partition(), []string{"a", "b", "c"}, x))
}

// rows is one entry for each registered type of Value of the library and the
// examples; some types have several, for what they may hold.
func rows() []row {
	v, w := tensor.Vector([]float64{1, 2}), tensor.Vector([]float64{3, 4})
	yes := []bool{true, false}
	graph := func(x []float64) digraph.TensorDigraph { return must(digraph.New(x, []int64{0, 1}, []int64{1, 0})) }
	labels := func(x *tensor.Dense) digraph.LabeledDigraph {
		return digraph.LabeledDigraph{NodeLabels: map[string]tensor.Tensor{"h": x, "a.b": x}, Source: tensor.Vector([]int64{0}), Target: tensor.Vector([]int64{1})}
	}
	mixture := func(x []float64) dist.Mixture {
		return must(dist.NewMixture(must(dist.NewCategorical(x)), must(dist.NewNormal(x, []float64{1, 2}))))
	}
	return []row{
		{"tensor.Tensor: numbers", v, w},
		{"tensor.Tensor: integers", tensor.Vector([]int64{1, 2}), tensor.Vector([]int64{3, 4})},
		{"tensor.Tensor: strings", must(tensor.Convert([]string{"a", "b"})), must(tensor.Convert([]string{"c", ""}))},
		{"ragged.Tensor", raggedOf([][]float64{{1}, {2, 3}}), raggedOf([][]float64{{4, 5}, {6}})},
		{"ragged.Tensor: two dimensions", ragged.FromSlices2([][][]float64{{{1}, {2, 3}}, {}}), ragged.FromSlices2([][][]float64{{{4}}, {{5, 6}}})},
		{"dist.PerReplica", replicas.Replicas[tenon.Value](v, raggedOf([][]float64{{1}, {2, 3}})), replicas.Replicas[tenon.Value](w, raggedOf([][]float64{{4, 5}, {6}}))},
		{"ragged.RowPartition", raggedOf([][]float64{{1}, {2, 3}}).Partition(), raggedOf([][]float64{{1, 2}, {3}}).Partition()},
		{"ragged.Shape", ragged.ShapeOf(raggedOf([][]float64{{1}, {2, 3}})), ragged.ShapeOf(raggedOf([][]float64{{1, 2}, {3}, {}}))},
		{"masked.Tensor", must(masked.New(v, yes)), must(masked.New(w, yes))},
		{"masked.Tensor: ragged", must(masked.New(raggedOf([][]float64{{1}, {2, 3}}), ragged.FromSlices([][]bool{{true}, {false, true}}))),
			must(masked.New(raggedOf([][]float64{{4, 5}, {6}}), ragged.FromSlices([][]bool{{true, false}, {true}})))},
		{"sparse.Tensor", must(sparse.FromDense([][]float64{{0, 1}, {2, 0}})), must(sparse.FromDense([][]float64{{3, 0}, {0, 4}}))},
		{"sparse.Matrix", must(sparse.ToCSR(must(sparse.FromDense([][]float64{{0, 1}, {2, 0}})))), must(sparse.ToCSR(must(sparse.FromDense([][]float64{{3, 0}, {0, 4}}))))},
		{"structured.Tensor", people(30, 40), people(50, 60)},
		{"structured.Union", union([]float64{1, 0}), union([]float64{2, 0})},
		{"structured.Dictionary", must(structured.EncodeStrings([]string{"a", "b"})), must(structured.EncodeStrings([]string{"c", "d"}))},
		{"structured.Map", mapOf(1, 2, 3), mapOf(4, 5, 6)},
		{"structured.Held", must(structured.Hold(graph([]float64{1, 2}))), must(structured.Hold(graph([]float64{3, 4})))},
		{"named.Tensor", named.Of(v, named.Dynamic("x")), named.Of(w, named.Dynamic("x"))},
		{"coords.Array", coords.New(named.Of(v, city{}), coords.Along[city]("Oslo", "Rome")), coords.New(named.Of(w, city{}), coords.Along[city]("Oslo", "Rome"))},
		{"element.Tensor", must(element.Parse([]string{"2024-02-29T12:00:00Z", "1969-12-31T23:59:59.5Z"}, element.TimestampOf(time.Millisecond, "UTC"))), must(element.New([]int64{3, 4}, element.TimestampOf(time.Millisecond, "UTC")))},
		{"element.Tensor: decimals", must(element.Parse([]string{"12.30", "-0.05"}, element.DecimalOf(30, 2))), must(element.Parse([]string{"1", "2"}, element.DecimalOf(30, 2)))},
		{"exttypes.MaskedTensor", must(maskedtensor.New(v, yes)), must(maskedtensor.New(w, yes))},
		{"exttypes.CSRMatrix", must(csr.FromDense([][]float64{{0, 1}, {2, 0}})), must(csr.FromDense([][]float64{{3, 0}, {0, 4}}))},
		{"exttypes.LabeledTensor", must(labeled.New(v, "x")), must(labeled.New(w, "x"))},
		{"exttypes.TensorDigraph", graph([]float64{1, 2}), graph([]float64{3, 4})},
		{"exttypes.LabeledDigraph", labels(v), labels(w)},
		{"exttypes.DimensionAlignment", must(alignment.New("x", "y", [][]int64{{0}, {0, 1}})), must(alignment.New("x", "y", [][]int64{{1, 0}, {0}}))},
		{"exttypes.Normal", must(dist.NewNormal(v, w)), must(dist.NewNormal(w, v))},
		{"exttypes.Categorical", must(dist.NewCategorical(v)), must(dist.NewCategorical(w))},
		{"exttypes.Mixture", mixture([]float64{1, 2}), mixture([]float64{3, 4})},
		{"track.Track", must(track.New(v, [][]float64{{1, 2}, {3, 4}})), must(track.New(w, [][]float64{{5, 6}, {7, 8}}))},
		{"an outsider with a form", tagged{v, "attic"}, tagged{w, "attic"}},
		{"an outsider with shared fields", shared{v, tensor.Scalar(1.0), nil}, shared{w, tensor.Scalar(1.0), nil}},
		{"an outsider that boxes itself", polynomial(1, 2), polynomial(3, 4)},
		{"unknown.Type", opaque(v, raggedOf([][]float64{{1}, {2, 3}})), opaque(w, raggedOf([][]float64{{1, 2}, {3}}))},
	}
}

// opaque is a value of a type that is not known here.
func opaque(parts ...tenon.Value) tenon.Value {
	fields := make([]tenon.Field, len(parts))
	for i, p := range parts {
		fields[i] = tenon.Field{Name: string(rune('a' + i)), Spec: p.Spec()}
	}
	return must(tenon.NewOpaque("unknown.Type", tenon.Int(1), fields).Assemble(parts))
}

// TestEveryTypeHasARow fails where a type was registered that the matrix does not have.
func TestEveryTypeHasARow(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rows() {
		seen[r.a.Spec().TypeName()] = true
	}
	for _, name := range tenon.TypeNames() {
		if !seen[name] {
			t.Errorf("%s has no row in the matrix", name)
		}
	}
	if !slices.IsSorted(tenon.TypeNames()) {
		t.Error("the names are not in order")
	}
}
