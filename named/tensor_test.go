package named_test

import (
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func TestOrderAndUnnamed(t *testing.T) {
	x := count(Seq{}.Of(2), Rep{}.Of(3))
	y := named.Order(x, Rep{}, Seq{})
	if got, want := y.String(), "float64{Rep:3 Seq:2}\n[[0. 3.]\n [1. 4.]\n [2. 5.]]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !tensor.Equal(named.Unnamed(y, Seq{}, Rep{}), named.Unnamed(x, x.Dims()), tensor.EqualOptions{}) {
		t.Error("the order is not undone")
	}
	if !tensor.Equal(named.Unnamed(count(Seq{}.Of(2))), tensor.Of([]float64{0, 1}), tensor.EqualOptions{}) {
		t.Error("one dimension needs no order")
	}
	wantError(t, tenon.ErrInvalid, "the order lacks {Rep}", func() { named.Order(x, Seq{}) })
	wantError(t, tenon.ErrInvalid, "the order lacks {Seq, Rep}", func() { named.Unnamed(x) })
	wantError(t, tenon.ErrNotFound, "has no Foo", func() { named.Order(x, Seq{}, Foo{}) })
	wantError(t, tenon.ErrInvalid, "Seq occurs twice", func() { named.Order(x, Seq{}, Rep{}, Seq{}) })
	wantError(t, tenon.ErrDType, "which has no names", func() { named.From(tensor.Of([]float64{1})) })
}

func TestEqual(t *testing.T) {
	x := count(Seq{}.Of(2), Rep{}.Of(2))
	tests := []struct {
		name string
		y    T
		want bool
	}{
		{"itself", x, true},
		{"another order", named.Order(x, Rep{}, Seq{}), true},
		{"exchanged names", named.Renaming(x, map[named.Name]named.Name{Seq{}: Rep{}, Rep{}: Seq{}}), false},
		{"another name", named.Rename[Rep, Foo](x), false},
		{"one more", named.ExpandDims(x, Foo{}), false},
		{"another type", named.Cast(x, dtype.Float32), false},
	}
	for _, tt := range tests {
		if got := named.Equal(x, tt.y, tensor.EqualOptions{}); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

func TestRename(t *testing.T) {
	x := count(Seq{}.Of(2), Rep{}.Of(3))
	if got := fmt.Sprint(named.Rename[Seq, KeySeq](x).Spec()); got != "float64{KeySeq:2 Rep:3}" {
		t.Errorf("got %s", got)
	}
	y := named.Renaming(x, map[named.Name]named.Name{Seq{}: Rep{}, Rep{}: Seq{}})
	if got := fmt.Sprint(y.Spec()); got != "float64{Rep:2 Seq:3}" {
		t.Errorf("exchanged: %s", got)
	}
	z := count(Height{}.Of(2), Width{}.Of(3))
	if got := fmt.Sprint(named.Rename[Spatial, Windows](z).Spec()); got != "float64{Window:2 Window2:3}" {
		t.Errorf("a set: %s", got)
	}
	wantError(t, tenon.ErrNotFound, "has no Foo", func() { named.Rename[Foo, Seq](x) })
	wantError(t, tenon.ErrInvalid, "already has Rep", func() { named.Rename[Seq, Rep](x) })
	wantError(t, tenon.ErrInvalid, "2 names cannot be renamed to 1", func() { named.By(Seq{}, Rep{}).Rename(x, Foo{}) })
	wantError(t, tenon.ErrInvalid, "already has Foo", func() {
		named.Renaming(x, map[named.Name]named.Name{Seq{}: Foo{}, Rep{}: Foo{}})
	})
	if got := named.Rename[Seq, Seq](x); !named.Equal(x, got, tensor.EqualOptions{}) {
		t.Error("a name cannot be renamed to itself")
	}
}

func TestPrinting(t *testing.T) {
	tests := []struct {
		x      any
		format string
		want   string
	}{
		{count(Seq{}.Of(2)), "%v", "float64{Seq:2} [0. 1.]"},
		{count(), "%s", "float64{} 0.0"},
		{named.Zeros(dtype.Float32, Batch{}.Of(8), Seq{}.Of(512), Rep{}.Of(256)), "%v", "float32{Batch:8 Seq:512 Rep:256}"},
		{named.Of([]float64{1.0 / 3}, Seq{}), "%.2v", "float64{Seq:1} [0.33]"},
		{count(Seq{}.Of(1)), "%d", "%!d(*named.Tensor=float64{Seq:1})"},
		{T(nil), "%v", "<nil>"},
		{raggedRows(), "%v", "float32{Batch:3 Token~} [[1. 2.] [] [3.]]"},
		{Batch{}, "%v", "Batch"},
		{Batch{}.Of(3), "%v", "Batch:3"},
		{named.Bind[seqRep](count(Seq{}.Of(2), Rep{}.Of(3))).Seq, "%v", "Seq:2"},
		{count(Seq{}.Of(2)).GShape(), "%v", "map[Seq:2]"},
	}
	for _, tt := range tests {
		if got := fmt.Sprintf(tt.format, tt.x); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.format, got, tt.want)
		}
	}
}

func raggedRows() T {
	x := ragged.FromSlices([][]float32{{1, 2}, {}, {3}})
	return named.Of(x, Batch{}, Token{})
}

func TestFunctionsOfPackageOps(t *testing.T) {
	x := count(Seq{}.Of(2), Rep{}.Of(3))
	wantEqual(t, named.Map(ops.Exp, x), ops.Exp(x).(T))
	wantEqual(t, named.Add(x, 1), ops.Add(x, 1).(T))
	wantEqual(t, named.Add(x, x), ops.Add(x, named.Order(x, Rep{}, Seq{})).(T))
	wantEqual(t, x.Dims().Sum(x), ops.Sum(x).(T))
	wantEqual(t, named.Cast(x, dtype.Int32), ops.Cast(x, dtype.Int32).(T))
	wantEqual(t, named.Mul(x, 0.0), ops.ZerosLike(x).(T))
	wantEqual(t, named.Where(named.Map2(ops.Greater, x, 2.0), x, 0.0), ops.Where(ops.Greater(x, 2.0), x, 0.0).(T))
	if n := tensor.Item[int64](ops.Size(x)); n != 6 {
		t.Errorf("the size is %d, want 6", n)
	}
	v := count(Seq{}.Of(4))
	wantEqual(t, named.CumSum[Seq](v, named.CumOptions{}), ops.CumSum(v, 0, ops.CumOptions{}).(T))
	wantEqual(t, named.Softmax[Seq](v), ops.Softmax(v, -1).(T))
	wantEqual(t, named.Sum[Seq](v), ops.Sum(v, 0).(T))
	rows := ops.Stack([]tensor.Tensor{x, named.Order(x, Rep{}, Seq{})}, 0).(T)
	wantEqual(t, named.Stack[named.Rows](x, x), rows)
	wantEqual(t, x, ops.Gather(rows, int64(1), 0).(T))
	wantEqual(t, named.Concat[named.Rows](rows, rows), ops.Concat([]tensor.Tensor{rows, rows}, 0).(T))
}

func TestAxisNumbersAreRefused(t *testing.T) {
	x := count(Seq{}.Of(2), Rep{}.Of(2))
	tests := map[string]struct {
		hint string
		f    func()
	}{
		"sum":       {"named.Sum", func() { ops.Sum(x, 0) }},
		"keepdims":  {"named.Sum", func() { ops.SumKeep(x) }},
		"softmax":   {"named.Softmax", func() { ops.Softmax(x, -1) }},
		"matmul":    {"named.Dot", func() { ops.MatMul(x, x) }},
		"transpose": {"named.Order", func() { ops.Transpose(x) }},
		"reshape":   {"named.Reshape", func() { ops.Reshape(x, []int{4}) }},
		"gather":    {"named.Take", func() { ops.Gather(x, int64(0), 0) }},
		"stack":     {"named.Stack", func() { ops.Stack([]tensor.Tensor{x, x}, 1) }},
		"concat":    {"named.Concat", func() { ops.Concat([]tensor.Tensor{x, x}, 0) }},
		"cumsum":    {"named.CumSum", func() { ops.CumSum(x, 0, ops.CumOptions{}) }},
		"argmax":    {"named.ArgMax", func() { ops.ArgMax(x, 0) }},
		"sort":      {"named.Sort", func() { ops.Sort(x, 0, ops.SortOptions{}) }},
		"index":     {"named.Index", func() { ops.Index(x, 0) }},
		"einsum":    {"named.Einsum", func() { ops.Einsum("ij->i", x) }},
		"shape":     {"Size", func() { ops.Shape(x) }},
		"unique":    {"MapUnnamed", func() { ops.Unique(x) }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { wantError(t, tenon.ErrUnsupported, tt.hint, tt.f) })
	}
	wantError(t, tenon.ErrDType, "has no names", func() { ops.Add(x, tensor.Of([]float64{1, 2})) })
}
