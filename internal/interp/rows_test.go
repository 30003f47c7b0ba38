package interp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// rowPrograms are functions of values, a number for each row as a column, a table, and
// row splits, with the operations of their plan's steps.
var rowPrograms = []struct {
	name  string
	steps string
	f     func(x, c, w, s tensor.Tensor) []tensor.Tensor
}{
	{"unit vectors", "mul+ragged.sum+sqrt+add+ragged.repeat+div+ragged.offsets+gather+mul+ragged.sum", func(x, _, w, s tensor.Tensor) []tensor.Tensor {
		n := ops.Div(x, rows.Repeat(ops.Add(ops.Sqrt(rows.Sum(ops.Mul(x, x), s)), 1e-6), s, -1))
		return []tensor.Tensor{rows.Sum(ops.Mul(n, ops.Gather(w, rows.Offsets(s, -1), 0)), s)}
	}},
	{"a number for each row", "reshape+ragged.repeat+add+relu", func(x, c, _, s tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{ops.Relu(ops.Add(x, rows.Repeat(ops.Reshape(c, []int{-1}), s, -1)))}
	}},
	{"results of all kinds", "ragged.max+ragged.repeat+sub+exp+ragged.sum+expand_dims+ragged.min", func(x, _, _, s tensor.Tensor) []tensor.Tensor {
		m := rows.Repeat(rows.Max(x, s), s, -1)
		e := ops.Exp(ops.Sub(x, m))
		return []tensor.Tensor{m, e, ops.ExpandDims(rows.Sum(e, s), 1), rows.Min(x, s)}
	}},
	{"positions and lengths", "ragged.offsets+cast+mul+add+ragged.softmax+ragged.mean+ragged.lengths+cast", func(x, _, _, s tensor.Tensor) []tensor.Tensor {
		at := ops.Cast(rows.Offsets(s, -1), x.DType())
		y := rows.Softmax(ops.Add(ops.Mul(x, at), 1), s)
		return []tensor.Tensor{y, rows.Mean(y, s), ops.Cast(rows.Lengths(s), dtype.Float32)}
	}},
}

func rowSplits(lengths ...int64) *tensor.Dense {
	s := make([]int64, len(lengths)+1)
	for i, n := range lengths {
		s[i+1] = s[i] + n
	}
	return tensor.Vector(s)
}

// TestRowGroups compares groups on rows with the same operations one by one.
func TestRowGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	short := make([]int64, 5000)
	for i := range short {
		short[i] = r.Int64N(21)
	}
	mixed := make([]int64, 300)
	for i := range mixed {
		if mixed[i] = r.Int64N(21); i%40 == 7 {
			mixed[i] = 3000
		}
	}
	partitions := map[string]*tensor.Dense{
		"short rows": rowSplits(short...), "some long rows": rowSplits(mixed...), "a very long row": rowSplits(3, 40000, 0, 5),
		"one row": rowSplits(7), "one value": rowSplits(1), "empty rows": rowSplits(0, 0, 3, 0, 0, 17, 0), "no values": rowSplits(0, 0), "no rows": rowSplits(),
	}
	for _, p := range rowPrograms {
		for name, s := range partitions {
			for _, d := range []dtype.DType{dtype.Float32, dtype.Float64} {
				for _, index := range []dtype.DType{dtype.Int64, dtype.Int32} {
					t.Run(fmt.Sprint(p.name, "/", name, "/", d, "/", index), func(t *testing.T) {
						end := tensor.Data[int64](s)
						n, nrows := int(end[len(end)-1]), len(end)-1
						in := []tensor.Tensor{
							ops.Cast(filled(shape.Of(n), 0.01), d), ops.Cast(filled(shape.Of(nrows, 1), 0.02), d),
							ops.Cast(filled(shape.Of(40000), -0.03), d), ops.Cast(s, index),
						}
						specs := []*tensor.Spec{tensor.NewSpec(d, shape.OfRank(1)), tensor.NewSpec(d, shape.Of(shape.Unknown, 1)), tensor.NewSpec(d, shape.OfRank(1)), tensor.NewSpec(index, shape.OfRank(1))}
						compareRows(t, specs, in, p.f)
					})
				}
			}
		}
	}
}

func compareRows(t *testing.T, specs []*tensor.Spec, in []tensor.Tensor, f func(x, c, w, s tensor.Tensor) []tensor.Tensor) {
	t.Helper()
	g, err := graph.Trace("f", specs, func(p []tensor.Tensor) ([]tensor.Tensor, error) { return f(p[0], p[1], p[2], p[3]), nil })
	if err != nil {
		t.Fatal(err)
	}
	got, err := For(g).Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range f(in[0], in[1], in[2], in[3]) {
		if !want.Shape().Equal(got[i].Shape()) {
			t.Fatalf("result %d has shape %v, want %v", i, got[i].Shape(), want.Shape())
		}
		x, y := tensor.Data[float64](ops.Cast(want, dtype.Float64)), tensor.Data[float64](ops.Cast(got[i], dtype.Float64))
		for k := range x {
			if x[k] != y[k] && !(math.IsNaN(x[k]) && math.IsNaN(y[k])) && !(math.Abs(x[k]-y[k]) <= 2e-5*math.Abs(x[k])+1e-6) {
				t.Fatalf("element %d of result %d is %v, want %v", k, i, y[k], x[k])
			}
		}
	}
}

// Which nodes run together.
func TestRowGroupsArePlanned(t *testing.T) {
	for _, p := range rowPrograms {
		specs := []*tensor.Spec{tensor.NewSpec(dtype.Float32, shape.OfRank(1)), tensor.NewSpec(dtype.Float32, shape.Of(shape.Unknown, 1)), tensor.NewSpec(dtype.Float32, shape.OfRank(1)), tensor.NewSpec(dtype.Int64, shape.OfRank(1))}
		g, err := graph.Trace("f", specs, func(q []tensor.Tensor) ([]tensor.Tensor, error) { return p.f(q[0], q[1], q[2], q[3]), nil })
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range For(g).steps {
			names = append(names, s.name())
		}
		if d := cmp.Diff(p.steps, strings.Join(names, " ")); d != "" {
			t.Errorf("%s: %s", p.name, d)
		}
	}
}

// Where the data are not what a plan hopes for, the operations say what is wrong.
func TestRowGroupsWithWrongData(t *testing.T) {
	x, c, w := filled(shape.Of(10), 1), filled(shape.Of(2, 1), 1), filled(shape.Of(4), 1)
	f := rowPrograms[0].f
	for name, tt := range map[string]struct {
		in   []tensor.Tensor
		want string
	}{
		"more values than the splits say": {[]tensor.Tensor{x, c, w, rowSplits(3, 4)}, "10"},
		"rows longer than the table":      {[]tensor.Tensor{x, c, w, rowSplits(3, 7)}, "4"},
		"splits that fall":                {[]tensor.Tensor{x, c, w, tensor.Of([]int64{0, 11, 10})}, "11"},
	} {
		specs := []*tensor.Spec{spec(shape.OfRank(1)), spec(shape.OfRank(2)), spec(shape.OfRank(1)), tensor.NewSpec(dtype.Int64, shape.OfRank(1))}
		g, err := graph.Trace("f", specs, func(p []tensor.Tensor) ([]tensor.Tensor, error) { return f(p[0], p[1], p[2], p[3]), nil })
		if err != nil {
			t.Fatal(err)
		}
		_, err = For(g).Run(context.Background(), tt.in)
		_, eager := tenon.Try(func() []tensor.Tensor { return f(tt.in[0], tt.in[1], tt.in[2], tt.in[3]) })
		if err == nil || eager == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, without a graph %v", name, err, eager)
		}
	}
}
