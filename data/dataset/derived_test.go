package dataset_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/examples/exttypes/csr"
	"github.com/tenonml/tenon/examples/exttypes/labeled"
	"github.com/tenonml/tenon/examples/exttypes/maskedtensor"
	"github.com/tenonml/tenon/examples/exttypes/track"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Temp has static data, Shared a field that all rows share, Opt ones that may be missing.
type (
	Temp struct {
		V    tensor.Tensor
		Unit string
	}
	Shared struct {
		V    tensor.Tensor
		Axis tensor.Tensor `tenon:"batch=keep"`
	}
	Opt struct {
		V tensor.Tensor
		A tensor.Tensor `tenon:"optional"`
		B tensor.Tensor `tenon:"optional"`
	}
	Any struct{ V tenon.Value }
)

func (t Temp) Spec() tenon.Spec   { return ext.SpecOf(t) }
func (t Shared) Spec() tenon.Spec { return ext.SpecOf(t) }
func (t Opt) Spec() tenon.Spec    { return ext.SpecOf(t) }
func (t Any) Spec() tenon.Spec    { return ext.SpecOf(t) }

func init() {
	ext.Register[Temp]("dataset_test.Temp")
	ext.Register[Shared]("dataset_test.Shared")
	ext.Register[Opt]("dataset_test.Opt")
	ext.Register[Any]("dataset_test.Any")
}

func vec(x ...float64) tensor.Tensor { return tensor.Of(x) }

var (
	celsius, fahrenheit = Temp{vec(1, 2), "C"}, Temp{vec(3, 4), "F"}
	batchKinds          = []dataset.BatchOptions{{}, {Kind: dataset.Ragged}, {Kind: dataset.Padded}}
)

// What has no common Spec is no batch, however its rows come together.
func TestBatchesMergeSpecs(t *testing.T) {
	type batches = func(o dataset.BatchOptions) error
	of := func(v ...tenon.Value) batches {
		return func(o dataset.BatchOptions) error {
			_, err := dataset.FromSlice(v).Batch(2, o).Collect(ctx)
			return err
		}
	}
	a, b := Opt{V: vec(1), A: vec(2)}, Opt{V: vec(3), B: vec(4)}
	for name, c := range map[string]struct {
		read  batches
		where string
		what  string
	}{
		"units":    {of(celsius, fahrenheit), "Unit", `"C", the other "F"`},
		"in a Any": {of(Any{celsius}, Any{fahrenheit}), "V.Unit", `"C", the other "F"`},
		"types":    {of(Any{celsius}, Any{vec(1)}), "V", "a tensor.Tensor"},
		"interleaved": {func(o dataset.BatchOptions) error {
			_, err := dataset.Interleave(dataset.FromRows(celsius), dataset.FromRows(fahrenheit)).Batch(4, o).Collect(ctx)
			return err
		}, "Unit", `"C", the other "F"`},
		"batches": {func(o dataset.BatchOptions) error {
			_, err := dataset.FromBatches(seq([]Temp{celsius, fahrenheit})).Batch(4, o).Collect(ctx)
			return err
		}, "Unit", `"C", the other "F"`},
		"other optional fields":      {of(a, b), "A", "the other nothing"},
		"an optional field":          {of(a, Opt{V: vec(3)}), "A", "the other nothing"},
		"an optional field, missing": {of(Opt{V: vec(3)}, a), "A", "one has nothing"},
		"what all share":             {of(Shared{vec(1), vec(3)}, Shared{vec(1), vec(7)}), "Axis", "differs"},
	} {
		for _, o := range batchKinds {
			err := c.read(o)
			var e *tenon.Error
			if !errors.As(err, &e) || e.Where != c.where || !strings.Contains(err.Error(), c.what) {
				t.Errorf("%s, kind %d: got %v", name, o.Kind, err)
			}
		}
	}
}

// Elements of every type have rows, batches and batches of those, each kind of them.
func TestElementsOfDerivedTypes(t *testing.T) {
	yes := []bool{true, false}
	interval := func(lo, hi float64) tenon.Value { return Interval{vec(lo, lo), vec(hi, hi)} }
	for name, pair := range map[string][2]tenon.Value{
		"not a tensor":  {celsius, Temp{vec(5, 6), "C"}},
		"shared":        {Shared{vec(1, 2), vec(9, 9)}, Shared{vec(3, 4), vec(9, 9)}},
		"optional":      {Opt{V: vec(1), A: vec(2)}, Opt{V: vec(3), A: vec(4)}},
		"interval":      {interval(1, 2), interval(3, 4)},
		"track":         {must(track.New(vec(1, 2), [][]float64{{1, 2}, {3, 4}})), must(track.New(vec(3, 4), [][]float64{{5, 6}, {7, 8}}))},
		"masked tensor": {must(maskedtensor.New(vec(1, 2), yes)), must(maskedtensor.New(vec(3, 4), yes))},
		"labelled":      {must(labeled.New(vec(1, 2), "x")), must(labeled.New(vec(3, 4), "x"))},
		"CSR":           {must(csr.FromDense([][]float64{{0, 1}, {2, 0}})), must(csr.FromDense([][]float64{{3, 0}, {0, 4}}))},
		"nested":        {Any{Any{interval(1, 2)}}, Any{Any{interval(3, 4)}}},
	} {
		rows := []tenon.Value{pair[0], pair[1], pair[0], pair[1], pair[0]}
		st := must(ext.Stack(rows...))
		for source, d := range map[string]*dataset.Dataset[tenon.Value]{
			"slice": dataset.FromSlice(rows), "rows": dataset.FromRows(st), "shuffled back": dataset.FromRows(st).Map(func(v tenon.Value) (tenon.Value, error) { return v, nil }),
			"batches": dataset.FromBatches(seq([]tenon.Value{must(ext.Slice(st, 0, 2)), must(ext.Slice(st, 2, 5))})),
		} {
			for i, x := range must(d.Collect(ctx)) {
				if fmt.Sprint(x) != fmt.Sprint(rows[i]) {
					t.Errorf("%s from %s: element %d is %v, want %v", name, source, i, x, rows[i])
				}
			}
			for _, o := range batchKinds {
				list, err := d.Batch(2, o).Collect(ctx)
				if err != nil || len(list) != 3 {
					t.Errorf("%s from %s, kind %d: %d batches, %v", name, source, o.Kind, len(list), err)
					continue
				}
				if source == "slice" && o.Kind == dataset.Ragged {
					continue // a row of a ragged batch keeps that in mind
				}
				again := must(dataset.FromBatches(seq(list)).Batch(5, o).Collect(ctx))[0]
				for i := range rows {
					if got := must(ext.Row(again, i)); fmt.Sprint(got) != fmt.Sprint(rows[i]) {
						t.Errorf("%s from %s, kind %d: row %d is %v, want %v", name, source, o.Kind, i, got, rows[i])
					}
				}
			}
		}
		sums := control.MapRows(func(v tenon.Value) tenon.Value { return v }, st)
		for i := range rows {
			if got := must(ext.Row(sums, i)); fmt.Sprint(got) != fmt.Sprint(rows[i]) {
				t.Errorf("%s: row %d that was mapped is %v, want %v", name, i, got, rows[i])
			}
		}
	}
}

// Interval is a tensor whose type answers for nothing.
type Interval struct{ Lo, Hi tensor.Tensor }

func (x Interval) Spec() tenon.Spec   { return ext.SpecOf(x) }
func (x Interval) DType() dtype.DType { return x.Lo.DType() }
func (x Interval) Shape() shape.Shape { return x.Lo.Shape() }

func init() { ext.Register[Interval]("dataset_test.Interval") }

// Elements of different sizes are ragged or padded field by field, whichever is the longest.
func TestSizesOfFieldsDiffer(t *testing.T) {
	short, long := Temp{vec(1), "C"}, Temp{vec(1, 2, 3), "C"}
	x, y := must(csr.FromDense([][]float64{{0, 1}, {2, 0}})), must(csr.FromDense([][]float64{{3, 5}, {0, 4}}))
	for _, c := range []struct {
		list []tenon.Value
		kind dataset.Kind
		want string
	}{
		{[]tenon.Value{short, long}, dataset.Padded, `Temp{V: float64[2, 3], Unit: "C"}`},
		{[]tenon.Value{long, short}, dataset.Padded, `Temp{V: float64[2, 3], Unit: "C"}`},
		{[]tenon.Value{short, long}, dataset.Ragged, `Temp{V: float64[2, ~], Unit: "C"}`},
		{[]tenon.Value{long, short}, dataset.Ragged, `Temp{V: float64[2, ~], Unit: "C"}`},
		{[]tenon.Value{x, y}, dataset.Ragged, "CSRMatrix{Values: float64[2, ~], Columns: int64[2, ~], RowSplits: int64[2, ~], NumColumns: 2}"},
	} {
		b, err := dataset.FromSlice(c.list).Batch(2, dataset.BatchOptions{Kind: c.kind}).At(0)
		if err != nil || tenon.String(b.Spec()) != c.want {
			t.Errorf("%v: got %v, %v", c.want, b, err)
			continue
		}
		for i, want := range c.list {
			row := must(ext.Row(b, i))
			if c.kind == dataset.Ragged && !tensor.Equal(row, want, tensor.EqualOptions{}) {
				t.Errorf("row %d of %s is %v, want %v", i, c.want, row, want)
			}
		}
	}
	_, err := dataset.FromSlice([]tenon.Value{x, y}).Batch(2, dataset.BatchOptions{}).At(0)
	if !errors.Is(err, tenon.ErrShape) || !strings.Contains(err.Error(), "Values") || !strings.Contains(fmt.Sprintf("%+v", err), "Ragged") {
		t.Errorf("dense: got %v", err)
	}
}

// Poly is a polynomial of any degree, or n of them: the coefficients one behind the other,
// and where each ends. Its batches are not made of those of its components.
type Poly struct {
	Flat, Ends tensor.Tensor
	N          int
}

func (p Poly) Spec() tenon.Spec { return polySpec{p.N} }

type polySpec struct{ n int }

func (polySpec) TypeName() string         { return "dataset_test.Poly" }
func (s polySpec) Encode() tenon.Encoding { return tenon.Int(s.n) }
func (s polySpec) Components() []tenon.Field {
	return []tenon.Field{{Name: "flat", Spec: tensor.NewSpec(dtype.Float64, shape.Of(-1))}, {Name: "ends", Spec: tensor.NewSpec(dtype.Int64, shape.Of(-1))}}
}
func (s polySpec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	return []tenon.Value{v.(Poly).Flat, v.(Poly).Ends}, nil
}
func (s polySpec) Assemble(c []tenon.Value) (tenon.Value, error) {
	if err := tenon.CheckComponents(s, c); err != nil {
		return nil, err
	}
	return Poly{c[0].(tensor.Tensor), c[1].(tensor.Tensor), s.n}, nil
}
func (s polySpec) Batched(n int) (tenon.Spec, error) { return polySpec{n}, nil }
func (s polySpec) Unbatched() (tenon.Spec, error)    { return polySpec{-1}, nil }

// Box: a polynomial is a row, n of them are ragged rows.
func (s polySpec) Box(v tenon.Value, _ int) ([]tenon.Value, error) {
	p := v.(Poly)
	if s.n < 0 {
		return []tenon.Value{p.Flat}, nil
	}
	r, err := ragged.FromRowSplits(p.Flat, ops.Concat([]tensor.Tensor{tensor.Of([]int64{0}), p.Ends}, 0))
	return []tenon.Value{r}, err
}

func (s polySpec) Unbox(ts []tenon.Value) (tenon.Value, error) {
	if r, ok := ts[0].(*ragged.Tensor); ok {
		return Poly{r.FlatValues(), r.Partition().RowLimits(), r.Shape().Dim(0)}, nil
	}
	x := ts[0].(tensor.Tensor)
	return Poly{x, ops.Shape(x), -1}, nil
}

func init() {
	tenon.Register("dataset_test.Poly", func(e tenon.Encoding) (tenon.Spec, error) {
		n, err := tenon.As[tenon.Int](e)
		return polySpec{int(n)}, err
	})
}

func TestBoxedElements(t *testing.T) {
	one := func(x ...float64) Poly { return Poly{vec(x...), tensor.Of([]int64{int64(len(x))}), -1} }
	a, b := one(1, 2), one(3, 4, 5)
	both := Poly{vec(1, 2, 3, 4, 5), tensor.Of([]int64{2, 5}), 2}
	o := dataset.BatchOptions{Kind: dataset.Ragged}
	if got, err := dataset.FromSlice([]Poly{a, b}).Batch(2, o).At(0); err != nil || fmt.Sprint(got) != fmt.Sprint(both) {
		t.Errorf("a batch: got %v, %v, want %v", got, err, both)
	}
	if got, err := dataset.FromRows(both).Collect(ctx); err != nil || fmt.Sprint(got) != fmt.Sprint([]Poly{a, b}) {
		t.Errorf("rows: got %v, %v, want %v", got, err, []Poly{a, b})
	}
	if got, err := dataset.FromRows(both).Shuffle(1).Repeat(2).Batch(4, o).At(0); err != nil || fmt.Sprint(got.N, got.Flat.Shape()) != "4 [10]" {
		t.Errorf("a batch of rows: got %v, %v", got, err)
	}
	sums := control.MapRows(func(p Poly) tensor.Tensor { return ops.Sum(p.Flat) }, both)
	if fmt.Sprint(sums) != fmt.Sprint(vec(3, 12)) {
		t.Errorf("sums of rows: got %v", sums)
	}
	if got := control.Map(func(p Poly) tensor.Tensor { return ops.Sum(p.Flat) }, both); fmt.Sprint(got) != fmt.Sprint(vec(3, 12)) {
		t.Errorf("mapped: got %v", got)
	}
	ends := control.MapRows(func(p Poly) tensor.Tensor { return p.Ends }, Poly{vec(7, 8), tensor.Of([]int64{1, 2}), 2})
	if fmt.Sprint(ends) != "[[1]\n [1]] int64[2, 1]" {
		t.Errorf("two of degree 0 end at %v", ends)
	}
}

// What all rows share is shared in every service.
func TestSharedFields(t *testing.T) {
	a, b := Shared{vec(1, 2), vec(9, 9, 9)}, Shared{vec(3, 4), vec(9, 9, 9)}
	st := must(ext.Stack(a, b))
	sum := func(s Shared) tensor.Tensor { return ops.Add(ops.Sum(s.V), ops.Sum(s.Axis)) }
	if got := control.Map(sum, st); fmt.Sprint(got) != fmt.Sprint(vec(30, 34)) {
		t.Errorf("map: got %v", got)
	}
	total, each := control.Scan(func(n tensor.Tensor, s Shared) (tensor.Tensor, tensor.Tensor) {
		return ops.Add(n, ops.Sum(s.V)), ops.Sum(s.Axis)
	}, tensor.Tensor(tensor.Scalar(0.0)), st)
	if fmt.Sprint(total, each) != "10.0 float64[] [27. 27.] float64[2]" {
		t.Errorf("scan: got %v, %v", total, each)
	}
	if got := control.Map(func(s Shared) Shared { return Shared{ops.Neg(s.V), s.Axis} }, st); fmt.Sprint(got.Axis) != fmt.Sprint(vec(9, 9, 9)) {
		t.Errorf("mapped to itself: got %v", got)
	}
	for name, f := range map[string]func(func(Shared) Shared, Shared) Shared{"map": control.Map[Shared, Shared], "one by one": control.MapRows[Shared, Shared]} {
		_, err := tenon.Try(func() Shared {
			return f(func(s Shared) Shared { return Shared{s.V, ops.ExpandDims(ops.Sum(s.V), 0)} }, st)
		})
		if !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "Axis") {
			t.Errorf("%s of a field that differs from row to row: %v", name, err)
		}
	}
}

// Rows of components with ragged rows go through a scan.
func TestScanOfRaggedFields(t *testing.T) {
	type carry = tensor.Tensor
	st := must(ext.Stack(Any{ragged.FromSlices([][]float64{{1}, {2, 3}})}, Any{ragged.FromSlices([][]float64{{4, 5}, {}})}))
	total, sums := control.Scan(func(c carry, x Any) (carry, tensor.Tensor) {
		s := ops.Sum(x.V)
		return ops.Add(c, s), s
	}, tensor.Tensor(tensor.Scalar(0.0)), st)
	if fmt.Sprint(total, sums) != "15.0 float64[] [6. 9.] float64[2]" {
		t.Errorf("got %v, %v", total, sums)
	}
	_, err := tenon.Try(func() tensor.Tensor {
		c, _ := control.Scan(func(c carry, x Any) (carry, Any) { return c, x }, tensor.Tensor(tensor.Scalar(0.0)), st)
		return c
	})
	if !errors.Is(err, tenon.ErrUnsupported) || !strings.Contains(fmt.Sprintf("%+v", err), "MapRows") {
		t.Errorf("ragged results for each row: %v", err)
	}
}
