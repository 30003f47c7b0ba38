package serve

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// Operations state that they combine rows, also where no made-up rows would show it; and what
// answers each row by itself is batched.
func TestStatementsTellWhatCombinesRows(t *testing.T) {
	w := tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	table := tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	matrix := tensor.NewSpec(dtype.Float32, shape.Of(-1, 2))
	lists := tenon.Must(ragged.NewSpec(dtype.Float32, shape.Of(-1, -1), 1, dtype.Int64))
	ids := tenon.Must(ragged.NewSpec(dtype.Int64, shape.Of(-1, -1), 1, dtype.Int64))
	vectors := tenon.Must(ragged.NewSpec(dtype.Float32, shape.Of(-1, -1, 12), 1, dtype.Int64))
	lstm, gru := nn.NewLSTM(ops.RandomKey(1), 12, 20), nn.NewGRU(ops.RandomKey(2), 12, 20)
	seen := tenon.Must(state.New(tensor.Scalar(float32(0))))
	rare := func(x, far tensor.Tensor) tensor.Tensor { return ops.Where(ops.Greater(far, 1e30), ops.Neg(x), x) }
	for _, c := range []struct {
		name    string
		f       saved.Traced
		spec    any
		by      string
		batched bool
	}{
		{"layers", function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Softmax(ops.Relu(ops.MatMul(x, w)), -1) }), matrix, "", true},
		{"sums of columns", function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Sub(x, ops.Mean(x, 0)) }), matrix, "reduce_mean", false},
		{"a rare maximum", function.New(func(x tensor.Tensor) tensor.Tensor { return rare(x, ops.Max(x)) }), matrix, "reduce_max", false},
		{"a rare maximum behind a layer", function.New(func(x tensor.Tensor) tensor.Tensor { return rare(x, ops.Max(ops.MatMul(ops.Tanh(x), w))) }), matrix, "reduce_max", false},
		{"products of all rows", function.New(func(x tensor.Tensor) tensor.Tensor {
			return rare(x, ops.Index(ops.MatMul(tensor.Of([]float32{1, 1}, 1, 2), ops.Transpose(x)), 0))
		}), matrix, "where", false},
		{"softmax of columns", function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Softmax(x, 0) }), matrix, "softmax", false},
		{"only the shape", function.New(func(x tensor.Tensor) tensor.Tensor { return ops.ZerosLike(x) }), matrix, "", true},
		{"means of rows", function.New(func(x *ragged.Tensor) tensor.Tensor { return ops.Mean(x, 1) }), lists, "", true},
		{"less the means of rows", function.New(func(x *ragged.Tensor) tensor.Tensor { return ops.Sub(x, ops.ExpandDims(ops.Mean(x, 1), 1)) }), lists, "", true},
		{"a rare maximum of all lists", function.New(func(x *ragged.Tensor) tensor.Tensor { return rare(x, ops.Max(x)) }), lists, "reduce_max", false},
		{"words of a table", function.New(func(x *ragged.Tensor) (tensor.Tensor, error) {
			words, err := x.WithFlatValues(ops.Gather(table, ops.Mod(x.FlatValues(), int64(3)), 0))
			return ops.Sum(words, 1), err
		}), ids, "", true},
		{"a recurrence", function.New(func(x tensor.Tensor) tensor.Tensor { y, _, _ := lstm.Apply(x); return y }), tensor.NewSpec(dtype.Float32, shape.Of(-1, 5, 12)), "", true},
		{"a recurrence of ragged rows", function.New(func(x *ragged.Tensor) (tensor.Tensor, tensor.Tensor) { y, h, _ := lstm.Apply(x); return y, h }), vectors, "", true},
		{"another one", function.New(func(x *ragged.Tensor) tensor.Tensor { y, _ := gru.Apply(x); return y }), vectors, "", true},
		{"a variable is changed", function.New(func(x tensor.Tensor) (tensor.Tensor, error) { return ops.Mul(x, 2.0), seen.Assign(float32(1)) }), matrix, "assignment to a variable", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := saved.NewModel()
			if err := m.Add("f", c.f, c.spec); err != nil {
				t.Fatal(err)
			}
			fn, err := savedFunc(m.Functions()[0])
			if err != nil {
				t.Fatal(err)
			}
			if got := fn.found; got.By != c.by || got.Rows != c.batched {
				t.Errorf("found %+v, want rows combined by %q\n%v", got, c.by, m.Functions()[0].Graph(0))
			}
			s := New(Options{})
			if err := s.AddModel(m); err != nil {
				t.Fatal(err)
			}
			f, err := s.model("f", "")
			if err != nil || f.Batched != c.batched {
				t.Errorf("batched: %v %v", f, err)
			}
		})
	}
}

// A model says by the axis of its batches that calls may be joined. That is taken where the statements cannot tell,
// and not where they tell that rows are combined.
func TestModelsSayThatRowsAreIndependent(t *testing.T) {
	matrix := tensor.NewSpec(dtype.Float32, shape.Of(-1, 2))
	untold := func(x tensor.Tensor) tensor.Tensor {
		return ops.Reshape(ops.Relu(ops.Reshape(x, []int{-1})), []int{-1, 2})
	}
	mean := func(x tensor.Tensor) tensor.Tensor { return ops.Sub(x, ops.Mean(x, 0)) }
	for _, c := range []struct {
		name    string
		f       func(x tensor.Tensor) tensor.Tensor
		sizes   []string
		batched bool
	}{
		{"nothing is said", untold, nil, false},
		{"of the first axis", untold, []string{"rows", ""}, true},
		{"of an axis of one size", untold, []string{"", "rows"}, false},
		{"rows are combined", mean, []string{"rows", ""}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := saved.NewModel()
			tenon.Throw(m.Add("f", function.New(c.f), matrix))
			fn := m.Function("f")
			if c.sizes != nil {
				tenon.Throw(fn.NameSizes(map[string][]string{"[0]": c.sizes, "→[0]": c.sizes}))
				tenon.Throw(fn.SetBatch("rows"))
			}
			s := New(Options{})
			if err := s.AddModel(m); err != nil {
				t.Fatal(err)
			}
			f, err := s.model("f", "")
			if err != nil || f.Batched != c.batched {
				t.Errorf("batched: %v, want %v; %+v, %v", f.Batched, c.batched, *f.found, err)
			}
		})
	}
}

// Calls are joined along the axes that a model says: here time is in front of the rows of two arguments, and behind
// those of the result.
func TestRowsAlongOtherAxes(t *testing.T) {
	series, scales := tensor.NewSpec(dtype.Float32, shape.Of(-1, -1, 2)), tensor.NewSpec(dtype.Float32, shape.Of(-1))
	f := function.New(func(x, by tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
		y := ops.Mul(ops.CumSum(x, 0, ops.CumOptions{}), ops.ExpandDims(by, -1))
		return ops.Transpose(y, 2, 0, 1), ops.Sum(y, 0)
	})
	m := saved.NewModel()
	tenon.Throw(m.Add("f", f, series, scales))
	tenon.Throw(m.Function("f").NameSizes(map[string][]string{"[0]": {"time", "rows", ""}, "[1]": {"rows"}, "→[0]": {"", "time", "rows"}, "→[1]": {"rows", ""}}))
	tenon.Throw(m.Function("f").SetBatch("rows"))
	s := New(Options{})
	if err := s.AddModel(m); err != nil {
		t.Fatal(err)
	}
	fn, err := s.model("f", "")
	if err != nil || !fn.Batched || !fn.found.Rows {
		t.Fatalf("batched: %v, %+v, %v", fn.Batched, *fn.found, err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	made := func(time, n int) []tenon.Value {
		list := make([]float32, time*n*2)
		for i := range list {
			list[i] = r.Float32() - 0.5
		}
		return []tenon.Value{tensor.Of(list, time, n, 2), tensor.Of(list[:n], n)}
	}
	for _, c := range []struct {
		name  string
		times []int
		runs  int64
	}{
		{"joined", []int{3, 3, 3}, 1},
		{"of other times, one by one", []int{3, 2, 3}, 3},
	} {
		var jobs []*job
		for i, time := range c.times {
			args := made(time, i+1)
			n, err := fn.sameRows(args)
			if err != nil || n != i+1 {
				t.Fatalf("%s: %d rows, want %d; %v", c.name, n, i+1, err)
			}
			jobs = append(jobs, &job{ctx: t.Context(), args: args, size: sizeOf(n, args), done: make(chan bool, 2)})
		}
		before := fn.counts.runs.Load()
		s.runBatch(fn, jobs)
		if n := fn.counts.runs.Load() - before; n != c.runs {
			t.Errorf("%s: %d runs, want %d", c.name, n, c.runs)
		}
		for i, j := range jobs {
			want, err := fn.Call(t.Context(), j.args)
			if err != nil || j.err != nil {
				t.Fatal(err, j.err)
			}
			for k := range want {
				if !sameBits(j.out[k], want[k]) {
					t.Errorf("%s: result %d of call %d is %v, want %v", c.name, k, i, j.out[k], want[k])
				}
			}
		}
	}
	args := made(2, 3)
	args[1] = made(1, 2)[1]
	if _, err := fn.sameRows(args); err == nil || err.Error() != "x0 has 3 rows, but x1 has 2" {
		t.Errorf("other numbers of rows: %v", err)
	}
}

// What is made up has its rows along the axes that are said, and protocols whose rows are along the first axis say that
// they are not.
func TestProtocolsOfRowsAlongTheFirstAxis(t *testing.T) {
	one := func(f func(x tensor.Tensor) tensor.Tensor) Func {
		series := tensor.NewSpec(dtype.Float32, shape.Of(-1, -1))
		return Func{Name: "f", Args: []Arg{{Name: "x", Spec: series, Axis: 1}}, Results: []Arg{{Name: "y", Spec: series, Axis: 1}}, Batched: true,
			Call: func(_ context.Context, a []tenon.Value) ([]tenon.Value, error) {
				return []tenon.Value{f(a[0].(tensor.Tensor))}, nil
			}}
	}
	sums := one(func(x tensor.Tensor) tensor.Tensor { return ops.CumSum(x, 0, ops.CumOptions{}) })
	if !sums.Independent(t.Context()) {
		t.Error("sums over time depend on other rows")
	}
	mixed := one(func(x tensor.Tensor) tensor.Tensor {
		return ops.Sub(x, ops.ExpandDims(ops.Mean(x, 1), 1))
	})
	if mixed.Independent(t.Context()) {
		t.Error("what is less the mean of all rows does not depend on them")
	}
	s := New(Options{})
	if err := s.Add(sums); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, media, body string
		status            int
		says              string
	}{
		{"/v1/models/f:predict", "application/json", `{"inputs":[[1,2],[3,4]]}`, 200, `{"outputs":[[1.0,2.0],[4.0,6.0]]}`},
		{"/call/f", "application/json", `{"x":[[1,2],[3,4]]}`, 200, `{"y":[[1.0,2.0],[4.0,6.0]]}`},
		{"/v1/models/f:predict", "application/json", `{"instances":[[1,2],[3,4]]}`, 400, "the rows of x are along axis 1, but this call needs rows along the first axis"},
		{"/v1/models/f:regress", "application/json", `{"examples":[{"x":[1,2]}]}`, 400, "along axis 1"},
		{"/v2/models/f/infer", arrowStream, "", 400, "along axis 1"},
	} {
		r := httptest.NewRequest(http.MethodPost, c.path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.media)
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s %s: %d %s, want %d and %s", c.path, c.body, w.Code, w.Body, c.status, c.says)
		}
	}
}

// Only tensors have rows along another axis than the first: a model that says otherwise is not served.
func TestRowsAlongAxesThatCannotBeJoined(t *testing.T) {
	lists := tenon.Must(ragged.NewSpec(dtype.Float32, shape.Of(-1, -1), 1, dtype.Int64))
	m := saved.NewModel()
	tenon.Throw(m.Add("f", function.New(func(x *ragged.Tensor) tensor.Tensor { return ops.Neg(x) }), lists))
	tenon.Throw(m.Function("f").NameSizes(map[string][]string{"[0]": {"", "rows"}, "→[0]": {"", "rows"}}))
	tenon.Throw(m.Function("f").SetBatch("rows"))
	err := New(Options{}).AddModel(m)
	for _, want := range []string{"f: ", "axis 1", "[0]", "only tensors", "SetBatch"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, and lacks %q", err, want)
		}
	}
	for _, f := range []Func{
		{Args: []Arg{{Name: "x", Spec: lists, Axis: 1}}},
		{Args: []Arg{{Name: "x", Axis: 1}}},
		{Args: []Arg{{Name: "x", Spec: tensor.NewSpec(dtype.Float32, shape.Of(-1, -1)), Axis: -1}}},
		{Args: []Arg{{Name: "x", Spec: tensor.NewSpec(dtype.Float32, shape.Of(-1, 2)), Axis: 1}}},
		{Args: []Arg{{Name: "x", Spec: tensor.NewSpec(dtype.Float32, shape.Of(-1, -1)), Axis: 2}}},
	} {
		f.Name, f.Batched = "f", true
		f.Call = func(_ context.Context, a []tenon.Value) ([]tenon.Value, error) { return a, nil }
		if err := New(Options{}).Add(f); err == nil || !strings.Contains(err.Error(), "axis") {
			t.Errorf("%v: %v", f.Args, err)
		}
	}
}

// A mask of pairs comes with the calls: its rows are those of queries and keys, and calls are joined.
func TestMasksOfPairsAreJoined(t *testing.T) {
	m := saved.NewModel()
	lists := tenon.Must(ragged.NewSpec(dtype.Float32, shape.Of(-1, -1, 2), 1, dtype.Int64))
	pairs := tenon.Must(ragged.NewSpec(dtype.Bool, shape.Of(-1, -1, -1), 2, dtype.Int64))
	tenon.Throw(m.Add("f", function.New(func(x, mask *ragged.Tensor) tensor.Tensor {
		return ops.Attention(x, x, x, ops.AttentionOptions{Mask: mask})
	}), lists, pairs))
	tenon.Throw(m.Function("f").NameSizes(map[string][]string{"[0]": {"rows", "", ""}, "[1]": {"rows", "", ""}, "→[0]": {"rows", "", ""}}))
	tenon.Throw(m.Function("f").SetBatch("rows"))
	s := New(Options{})
	if err := s.AddModel(m); err != nil {
		t.Fatal(err)
	}
	fn, err := s.model("f", "")
	if err != nil || !fn.Batched || !fn.found.Rows {
		t.Fatalf("batched: %v, %+v, %v", fn.Batched, *fn.found, err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	var jobs []*job
	for _, lengths := range [][]int{{2, 0, 3}, {1}, {0}, {4, 2}} {
		flat, splits, mask := []float32{}, []int64{0}, make([][][]bool, len(lengths))
		for i, n := range lengths {
			mask[i] = make([][]bool, n)
			for k := range n {
				flat, mask[i][k] = append(flat, r.Float32(), r.Float32()), make([]bool, n)
				for l := range n {
					mask[i][k][l] = r.IntN(2) == 0
				}
			}
			splits = append(splits, int64(len(flat)/2))
		}
		args := []tenon.Value{tenon.Must(ragged.FromRowSplits(tensor.Of(flat, len(flat)/2, 2), splits)), ragged.FromSlices2(mask)}
		jobs = append(jobs, &job{ctx: t.Context(), args: args, size: sizeOf(len(lengths), args), done: make(chan bool, 2)})
	}
	before := fn.counts.runs.Load()
	s.runBatch(fn, jobs)
	if n := fn.counts.runs.Load() - before; n != 1 {
		t.Errorf("%d runs, want 1", n)
	}
	for i, j := range jobs {
		want, err := fn.Call(t.Context(), j.args)
		if err != nil || j.err != nil {
			t.Fatal(err, j.err)
		}
		if !sameBits(j.out[0], want[0]) {
			t.Errorf("call %d: %v, want %v", i, j.out[0], want[0])
		}
	}
}

// A model is served when it has run for its warm-up inputs, and not when it fails for them.
func TestModelsRunForTheirWarmUpInputs(t *testing.T) {
	dir := t.TempDir()
	table := tensor.Of([]float32{1, 2, 3}, 3)
	keep := func(version string, index int64) {
		m := saved.NewModel()
		tenon.Throw(m.Add("f", function.New(func(i tensor.Tensor) tensor.Tensor { return ops.Gather(table, i, 0) }), tensor.NewSpec(dtype.Int64, shape.Of(-1))))
		tenon.Throw(m.Function("f").AddWarmUp(tensor.Of([]int64{index}, 1)))
		tenon.Throw(m.Save(filepath.Join(dir, version)))
	}
	keep("1", 2)
	s := New(Options{})
	if err := s.AddFolder(t.Context(), Folder{Path: dir, Name: "f"}); err != nil {
		t.Fatal(err)
	}
	if f, err := s.model("f", ""); err != nil || f.version != "1" || !f.warmed {
		t.Errorf("%+v, %v", f, err)
	}
	keep("2", 8)
	if _, err := s.load("f"); err == nil || !strings.Contains(err.Error(), "WarmUp") {
		t.Errorf("a model that fails for its warm-up inputs: %v", err)
	}
	if f, err := s.model("f", ""); err != nil || f.version != "1" {
		t.Errorf("%+v, %v", f, err)
	}
}
