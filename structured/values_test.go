package structured_test

import (
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// interval is a type of Value that is no tensor.
type interval struct {
	Lo, Hi tensor.Tensor
	Unit   string
}

func (i interval) Spec() tenon.Spec { return ext.SpecOf(i) }

type Rgb struct{ named.Dim[Rgb] }

func init() { ext.Register[interval]("tenon.test/structured.interval") }

func mixed(t *testing.T) *structured.Tensor {
	t.Helper()
	spans := tenon.Must(structured.HoldRows(interval{tensor.Of([]float64{0, 1, 2}), tensor.Of([]float64{5, 6, 7}), "m"}))
	weights := tenon.Must(sparse.FromDense(tensor.Of([]float64{0, 1, 0, 2, 0, 0}, 3, 2)))
	colours := ops.Stack([]tenon.Value{named.Of(tensor.Of([]float64{0, 1, 2}), Rgb{}), named.Of(tensor.Of([]float64{3, 4, 5}), Rgb{}), named.Of(tensor.Of([]float64{6, 7, 8}), Rgb{})}, 0)
	s, err := structured.FromFields([]structured.Field{
		{Name: "id", Value: tensor.Of([]int64{0, 1, 2})}, {Name: "span", Value: spans}, {Name: "weights", Value: weights}, {Name: "colour", Value: colours},
		{Name: "list", Value: ragged.FromSlices([][]int64{{1}, {}, {2, 3}})},
	}, shape.OfRank(1), structured.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checkMixed compares records with those of the given numbers.
func checkMixed(t *testing.T, what string, v tensor.Tensor, ids ...int64) {
	t.Helper()
	s := v.(*structured.Tensor)
	same(t, what+": ids", tensor.Data[int64](get(s, "id")), ids)
	span := get(s, "span").(*structured.Held).Value().(interval)
	weights := tensor.Data[float64](tenon.Must(get(s, "weights").(*sparse.Tensor).ToDense(sparse.DenseOptions{})))
	colours := tensor.Data[float64](named.Unnamed(get(s, "colour"), get(s, "colour").(*named.Tensor).Dims().Names()...))
	dense := []float64{0, 1, 0, 2, 0, 0}
	for i, id := range ids {
		same(t, what+": span", []float64{tensor.Data[float64](span.Lo)[i], tensor.Data[float64](span.Hi)[i]}, []float64{float64(id), float64(id + 5)})
		same(t, what+": weights", weights[2*i:2*i+2], dense[2*id:2*id+2])
		same(t, what+": colour", colours[3*i], float64(3*id))
	}
	if span.Unit != "m" {
		t.Errorf("%s: got the unit %q", what, span.Unit)
	}
}

func TestFieldsOfAnyType(t *testing.T) {
	s := mixed(t)
	checkMixed(t, "itself", s, 0, 1, 2)
	checkMixed(t, "gather", ops.Gather(s, []int{2, 0, 2}, 0), 2, 0, 2)
	checkMixed(t, "reverse", ops.Reverse(s, 0), 2, 1, 0)
	checkMixed(t, "slice", ops.Index(s, key.From(1)), 1, 2)
	checkMixed(t, "concat", ops.Concat([]tensor.Tensor{s, s}, 0), 0, 1, 2, 0, 1, 2)
	checkMixed(t, "mask", ops.BooleanMask(s, []bool{true, false, true}, 0), 0, 2)
	one := ops.Index(s, 1).(*structured.Tensor)
	same(t, "a row", tensor.Item[float64](get(one, "span").(*structured.Held).Value().(interval).Hi), 6.0)
	checkMixed(t, "a row again", ops.ExpandDims(one, 0), 1)
	checkMixed(t, "stack", ops.Stack([]tensor.Tensor{one, ops.Index(s, 0)}, 0), 1, 0)
	checkMixed(t, "updates", tenon.Must(s.WithUpdates([]structured.Update{{Path: []string{"list"}}})), 0, 1, 2)
	spectest.Laws(t, spectest.Options{}, s)

	f := function.New(func(s *structured.Tensor) *structured.Tensor {
		return ops.Gather(s, []int{1, 1}, 0).(*structured.Tensor)
	})
	checkMixed(t, "traced", f.Call(s), 1, 1)
	g := grad.Of(func(s *structured.Tensor) tensor.Tensor {
		span := get(ops.Gather(s, []int{1, 1}, 0).(*structured.Tensor), "span").(*structured.Held).Value().(interval)
		return ops.Sum(ops.Square(span.Hi))
	})(s)
	same(t, "gradient", tensor.Data[float64](get(g, "span").(*structured.Held).Value().(interval).Hi), []float64{0, 24, 0})
	if text := s.String(); len(text) < 10 {
		t.Errorf("got %q", text)
	}
}
