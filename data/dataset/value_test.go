package dataset_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// span is a Value that is no tensor: a beginning and an end.
type span struct{ from, to tensor.Tensor }

type spanSpec struct{ from, to tenon.Spec }

func init() {
	tenon.Register("dataset_test.Span", func(e tenon.Encoding) (tenon.Spec, error) {
		t, err := tenon.Elems(e, 2)
		if err != nil {
			return nil, err
		}
		from, err := tenon.As[tenon.SpecOf](t[0])
		if err != nil {
			return nil, err
		}
		to, err := tenon.As[tenon.SpecOf](t[1])
		return spanSpec{from.Spec, to.Spec}, err
	})
}

func (s span) Spec() tenon.Spec { return spanSpec{s.from.Spec(), s.to.Spec()} }

func (spanSpec) TypeName() string { return "dataset_test.Span" }
func (s spanSpec) Encode() tenon.Encoding {
	return tenon.Tuple{tenon.SpecOf{Spec: s.from}, tenon.SpecOf{Spec: s.to}}
}
func (s spanSpec) Components() []tenon.Field {
	return []tenon.Field{{Name: "from", Spec: s.from}, {Name: "to", Spec: s.to}}
}
func (spanSpec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	s := v.(span)
	return []tenon.Value{s.from, s.to}, nil
}
func (spanSpec) Assemble(c []tenon.Value) (tenon.Value, error) {
	return span{c[0].(tensor.Tensor), c[1].(tensor.Tensor)}, nil
}
func (s spanSpec) Batched(n int) (tenon.Spec, error) {
	return spanSpec{must(s.from.(tenon.Batcher).Batched(n)), must(s.to.(tenon.Batcher).Batched(n))}, nil
}
func (s spanSpec) Unbatched() (tenon.Spec, error) {
	return spanSpec{must(s.from.(tenon.Batcher).Unbatched()), must(s.to.(tenon.Batcher).Unbatched())}, nil
}

// The rows of any Value that can be batched are elements, and batches of them are Values
// of the same type, however they come about.
func TestAnyValue(t *testing.T) {
	v := span{tensor.Of([]int64{0, 1, 2, 3, 4}), tensor.Of([]string{"a", "b", "c", "d", "e"})}
	rows := dataset.FromRows(v)
	parts := func(v span, at ...int64) span {
		from, to := []int64{}, []string{}
		for _, i := range at {
			from, to = append(from, i), append(to, tensor.Data[string](v.to)[i])
		}
		return span{tensor.Of(from), tensor.Of(to)}
	}
	first, second := parts(v, 0, 2, 4), parts(v, 1, 3)
	for name, d := range map[string]*dataset.Dataset[span]{
		"rows":        rows,
		"one by one":  rows.Map(func(s span) (span, error) { return s, nil }),
		"joined":      dataset.Interleave(dataset.FromRows(first), dataset.FromRows(second)),
		"in sequence": dataset.FromBatches(seq([]span{parts(v, 0, 1), parts(v, 2, 3, 4)})),
	} {
		one := ""
		for s, err := range d.All(ctx) {
			one += fmt.Sprint(s.from, s.to, err, " ")
			break
		}
		if one != "0 int64[] \"a\" string[] <nil> " {
			t.Errorf("%s: the first is %s", name, one)
		}
		all := must(d.Batch(5, dataset.BatchOptions{}).Collect(ctx))
		if len(all) != 1 || !tensor.Equal(all[0], v, tensor.EqualOptions{}) {
			t.Errorf("%s: got %v", name, all)
		}
	}
	s := must(rows.Specs())[0].Spec.(spanSpec)
	if got := tenon.String(s.from) + tenon.String(s.to); got != "int64[]string[]" {
		t.Errorf("got %s", got)
	}
	bad := span{v.from, tensor.Of([]string{"a"})}
	if err := dataset.FromRows(bad).Err(); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}

// Elements of different sizes, computed one by one.
func TestStack(t *testing.T) {
	list := []tensor.Tensor{tensor.Of([]float32{1, 2}, 1, 2), tensor.Of([]float32{3, 4, 5, 6}, 2, 2)}
	d := dataset.FromSlice(list)
	for _, c := range []struct {
		o    dataset.BatchOptions
		want string
	}{
		{dataset.BatchOptions{}, "error"},
		{dataset.BatchOptions{Kind: dataset.Ragged}, "float32[2, ~, 2]"},
		{dataset.BatchOptions{Kind: dataset.Padded, Pad: 9}, "float32[2, 2, 2]"},
	} {
		got := "error"
		b, err := d.Batch(2, c.o).At(0)
		if err == nil {
			got = tenon.String(b.Spec())
		} else if !errors.Is(err, tenon.ErrShape) {
			t.Errorf("%v: got %v", c.o, err)
		}
		if got != c.want {
			t.Errorf("%v: got %s, want %s", c.o, got, c.want)
		}
	}
	b := must(d.Batch(2, dataset.BatchOptions{Kind: dataset.Padded, Pad: 9}).At(0))
	if got := fmt.Sprint(tensor.Data[float32](b)); got != "[1 2 9 9 3 4 5 6]" {
		t.Errorf("got %s", got)
	}
	wide := dataset.FromSlice([]tensor.Tensor{tensor.Of([]int64{1, 2}, 2, 1), tensor.Of([]int64{3, 4, 5}, 1, 3)})
	b = must(wide.Batch(2, dataset.BatchOptions{Kind: dataset.Padded}).At(0))
	if got := fmt.Sprint(tensor.Data[int64](b), b.Shape()); got != "[1 0 0 2 0 0 3 4 5 0 0 0] [2, 2, 3]" {
		t.Errorf("got %s", got)
	}
	if _, err := wide.Batch(2, dataset.BatchOptions{Kind: dataset.Ragged}).At(0); !errors.Is(err, tenon.ErrShape) {
		t.Errorf("got %v", err)
	}
	if _, err := d.Batch(2, dataset.BatchOptions{Kind: dataset.Padded, Pad: "x"}).At(0); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	mixed := dataset.FromSlice([]tensor.Tensor{tensor.Scalar(1.5), tensor.Scalar(int64(1))})
	if _, err := mixed.Batch(2, dataset.BatchOptions{}).At(0); !errors.Is(err, tenon.ErrShape) {
		t.Errorf("got %v", err)
	}
	none := dataset.FromRows[tensor.Tensor](tensor.NewDense(dtype.Float32, shape.Of(0, 3)))
	if n, ok := none.Repeat(3).Batch(2, dataset.BatchOptions{}).Len(); n != 0 || !ok {
		t.Errorf("%d batches of nothing", n)
	}
}

// What takes rows of records by number looks at no others: the memory of a batch does not
// depend on how many rows there are.
func TestRowsOfRecordsAreTakenByNumber(t *testing.T) {
	allocated := func(rows int) uint64 {
		x := tenon.Must(structured.FromFields([]structured.Field{{Name: "x", Value: tensor.Vector(make([]int64, rows))}}, shape.Of(rows), structured.Options{}))
		r := dataset.FromRows(x).Shuffle(1).Batch(4, dataset.BatchOptions{Kind: dataset.Ragged})
		if _, err := r.At(0); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tenon.Must(r.At(1))
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := allocated(1000), allocated(1_000_000); many > few+100_000 {
		t.Errorf("a batch of 4 rows takes %d bytes of 1,000 rows and %d of 1,000,000", few, many)
	}
}

// A dense batch of ragged elements is one where their rows have one length; where they differ,
// and where Specs print alike, the error says what is in the way.
func TestBatchesOfRaggedElements(t *testing.T) {
	of := func(rows ...[]int64) tensor.Tensor { return ragged.FromSlices(rows) }
	narrow := tenon.Must(ragged.FromRowSplits(tensor.Of([]int64{1, 2}), tensor.Of([]int32{0, 2})))
	for _, c := range []struct {
		list []tensor.Tensor
		kind dataset.Kind
		want string
	}{
		{[]tensor.Tensor{of([]int64{1, 2}), of([]int64{3, 4})}, dataset.Dense, "[[[1 2]]\n\n [[3 4]]] int64[2, 1, 2]"},
		{[]tensor.Tensor{of([]int64{1, 2}), of([]int64{3})}, dataset.Dense, "the rows of int64[2, ~, ~] differ in length"},
		{[]tensor.Tensor{of([]int64{1, 2}), of([]int64{3})}, dataset.Padded, "[[[1 2]]\n\n [[3 0]]] int64[2, 1, 2]"},
		{[]tensor.Tensor{of([]int64{1, 2}), of([]int64{3})}, dataset.Ragged, "[[[1 2]] [[3]]] int64[2, ~, ~]"},
		{[]tensor.Tensor{of([]int64{1, 2}), ops.Cast(of([]int64{3}), dtype.Int32)}, dataset.Dense, "element 1 of the batch is int32[1, ~], but the first is int64[1, ~]"},
		{[]tensor.Tensor{of([]int64{1, 2}), narrow}, dataset.Ragged, "[[[1 2]] [[1 2]]] int64[2, ~, ~]"},
	} {
		got, err := dataset.FromSlice(c.list).Batch(2, dataset.BatchOptions{Kind: c.kind}).Collect(ctx)
		text := fmt.Sprint(err)
		if err == nil {
			text = fmt.Sprint(got[0])
		}
		if text != c.want && !strings.Contains(text, c.want) || err != nil && !errors.Is(err, tenon.ErrShape) && !errors.Is(err, tenon.ErrDType) {
			t.Errorf("%v, kind %v: got %s", c.list, c.kind, text)
		}
	}
}
