package ragged_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

type T = tensor.Tensor

// relaxed returns the Spec of a value with all sizes unknown that may be.
func relaxed(v tenon.Value) tenon.Spec {
	switch s := v.Spec().(type) {
	case *tensor.Spec:
		return tensor.NewSpec(s.DType(), s.Shape().Relaxed())
	case *ragged.Spec:
		var parts []*ragged.PartitionSpec
		for _, p := range s.Partitions() {
			parts = append(parts, tenon.Must(ragged.NewPartitionSpec(p.DType(), shape.Unknown, shape.Unknown, p.UniformRowLength())))
		}
		flat := s.Flat().(*tensor.Spec)
		return ragged.FromSpecs(tensor.NewSpec(flat.DType(), flat.Shape().Relaxed()), parts)
	}
	panic(fmt.Sprintf("%T", v.Spec()))
}

// content is what a tensor holds, to be compared.
func content(t T) any {
	if r, ok := t.(*ragged.Tensor); ok {
		return []any{"ragged", r.DType().String(), r.RaggedRank(), tenon.Must(r.Nested())}
	}
	return []any{t.DType().String(), fmt.Sprintf("%+v", t)}
}

// traced compares what f returns eagerly, traced for the arguments' sizes, and
// traced for any sizes.
func traced(t *testing.T, f func(x, y T) T, x, y T) {
	t.Helper()
	want := content(f(x, y))
	for _, sig := range [][]any{{x.Spec(), y.Spec()}, {relaxed(x), relaxed(y)}} {
		g := function.New(f, function.Options{Signature: sig})
		got, err := tenon.Try(func() T { return g.Call(x, y) })
		if err != nil {
			t.Errorf("traced for %v: %v", sig, err)
		} else if d := cmp.Diff(want, content(got), cmpopts.EquateNaNs()); d != "" {
			t.Errorf("traced for %v (-eager +traced):\n%s", sig, d)
		}
	}
}

func TestTracedBroadcasts(t *testing.T) {
	add := func(x, y T) T { return ops.Add(x, y) }
	x := rag([]int64{1, 2}, nil, []int64{3})
	deep := tenon.Must(ragged.FromRowSplits(rag([]int64{1, 2}, nil, []int64{3}, []int64{4, 5}), []int{0, 2, 4, 4}))
	uniform := tenon.Must(ragged.FromUniformRowLength(rag([]int64{1, 2}, nil, []int64{3}, []int64{4, 5}), 2, nil))
	for name, y := range map[string]T{
		"itself":         x,
		"equal lengths":  rag([]int64{10, 20}, nil, []int64{30}),
		"scalar":         tensor.Scalar(int64(10)),
		"vector of one":  tensor.Of([]int64{10}),
		"column":         tensor.Of([]int64{10, 20, 30}, 3, 1),
		"single element": tensor.Of([]int64{10}, 1, 1),
		"outer":          tensor.Of([]int64{10, 20}, 2, 1, 1),
		"int32 splits":   tenon.Must(ragged.FromRowSplits([]int64{10, 20, 30}, []int32{0, 2, 2, 3})),
	} {
		t.Run(name, func(t *testing.T) {
			traced(t, add, x, y)
			traced(t, add, y, x)
		})
	}
	for name, xy := range map[string][2]T{
		"rows of rows by rows":    {deep, tensor.Of([]int64{10, 20, 30}, 3, 1, 1)},
		"rows of rows by entries": {deep, tenon.Must(ragged.FromRowSplits(tensor.Of([]int64{10, 20, 30, 40}, 4, 1), []int{0, 2, 4, 4}))},
		"uniform by dense":        {uniform, tensor.Of([]int64{10, 20, 30, 40}, 2, 2, 1)},
		"uniform by one row":      {uniform, tensor.Of([]int64{10, 20}, 1, 2, 1)},
		"uniform by columns":      {uniform, tensor.Of([]int64{10, 20}, 2, 1)},
		"one row by dense":        {rag([]int64{1, 2, 3}), tensor.Of([]int64{10, 20}, 2, 1)},
		"one row by three":        {rag([]int64{1, 2, 3}), tensor.Of([]int64{10, 20, 30}, 3)},
		"inner":                   {tenon.Must(ragged.FromRowSplits(tensor.Of([]int64{1, 2, 3, 4}, 2, 2), []int{0, 2, 2})), tensor.Of([]int64{10, 20})},
		"inner and rows":          {tenon.Must(ragged.FromRowSplits(tensor.Of([]int64{1, 2, 3, 4}, 2, 2), []int{0, 2, 2})), tensor.Of([]int64{10, 20, 30, 40}, 2, 1, 2)},
	} {
		t.Run(name, func(t *testing.T) {
			traced(t, add, xy[0], xy[1])
			traced(t, add, xy[1], xy[0])
		})
	}
}

func TestTracedIndex(t *testing.T) {
	x := tenon.Must(ragged.FromRowSplits(rag([]int64{1, 2}, nil, []int64{3}, []int64{4, 5, 6}), []int{0, 2, 2, 4}))
	uniform := tenon.Must(ragged.FromUniformRowLength(rag([]int64{1, 2}, nil, []int64{3}, []int64{4, 5}), 2, nil))
	inner := tenon.Must(ragged.FromRowSplits(tensor.Of([]int64{1, 2, 3, 4, 5, 6}, 3, 2), []int{0, 2, 2, 3}))
	none := tensor.Scalar(int64(0))
	for name, c := range map[string]struct {
		x    T
		keys []any
	}{
		"row":               {x, []any{0}},
		"last row":          {x, []any{-1}},
		"entry":             {x, []any{2, 1, -1}},
		"range":             {x, []any{key.Range(1, nil, nil)}},
		"backwards":         {x, []any{key.Range(nil, nil, -1)}},
		"in rows":           {x, []any{key.All, key.From(1)}},
		"in rows of rows":   {x, []any{key.Ellipsis, key.Range(nil, nil, -1)}},
		"both":              {x, []any{key.To(2), key.To(1), key.From(1)}},
		"new axis":          {x, []any{key.NewAxis, key.All, key.NewAxis, key.To(1)}},
		"uniform entry":     {uniform, []any{key.All, -1}},
		"uniform range":     {uniform, []any{key.All, key.Range(nil, nil, -1)}},
		"uniform row":       {uniform, []any{1}},
		"uniform row entry": {uniform, []any{1, 0}},
		"inner":             {inner, []any{key.Ellipsis, 1}},
		"numbers":           {x, []any{tensor.Of([]int64{2, 0, -1})}},
		"matrix of numbers": {x, []any{tensor.Of([]int64{2, 0, 1, 2}, 2, 2)}},
		"mask":              {x, []any{tensor.Of([]bool{true, false, true})}},
		"ragged numbers":    {inner, []any{rag([]int64{1, 0, -1}, nil, []int64{0})}},
		"ragged mask":       {inner, []any{rag([]bool{true, false}, nil, []bool{true})}},
		"deep ragged mask":  {x, []any{tenon.Must(ragged.FromRowSplits(rag([]bool{true, false}, nil, []bool{true}, []bool{false, false, true}), []int{0, 2, 2, 4}))}},
	} {
		t.Run(name, func(t *testing.T) {
			traced(t, func(x, _ T) T { return ops.Index(x, c.keys...) }, c.x, none)
		})
	}
	traced(t, func(x, i T) T { return ops.Index(x, i) }, x, tensor.Scalar(int64(-1)))
	traced(t, func(x, i T) T { return ops.Index(x, key.All, key.From(i)) }, x, tensor.Scalar(int64(1)))
	traced(t, func(x, i T) T { return ops.Index(x, i) }, x, tensor.Of([]int64{2, 2, 0}))
	traced(t, func(x, i T) T { return ops.Index(x, i) }, inner, rag([]int64{1, 0, -1}, nil, []int64{0}))
	traced(t, func(x, i T) T { return ops.Index(x, i) }, inner, rag([]bool{true, false}, nil, []bool{true}))
}

func TestTracedConversions(t *testing.T) {
	type R = *ragged.Tensor
	x := tenon.Must(ragged.FromRowSplits(rag([]int64{1, 2}, nil, []int64{3}, []int64{4, 5, 6}), []int{0, 2, 2, 4}))
	inner := tenon.Must(ragged.FromRowSplits(tensor.Of([]int64{1, 2, 3, 4, 5, 6}, 3, 2), []int{0, 2, 2, 3}))
	dense := tensor.Of([]int64{1, 2, 0, 0, 3, 0, 0, 0, 0}, 3, 3)
	none := tensor.Scalar(int64(0))
	for name, c := range map[string]struct {
		f    func(x, y T) T
		x, y T
	}{
		"to dense":          {func(x, _ T) T { return tenon.Must(x.(R).ToDense(ragged.DenseOptions{})) }, x, none},
		"to dense, default": {func(x, y T) T { return tenon.Must(x.(R).ToDense(ragged.DenseOptions{Default: y})) }, x, none},
		"to dense, shape": {func(x, _ T) T {
			return tenon.Must(x.(R).ToDense(ragged.DenseOptions{Shape: []int{2, 3, -1}}))
		}, x, none},
		"to dense, inner": {func(x, _ T) T { return tenon.Must(x.(R).ToDense(ragged.DenseOptions{})) }, inner, none},
		"from dense":      {func(x, _ T) T { return tenon.Must(ragged.FromDense(x, ragged.FromDenseOptions{})) }, dense, none},
		"from dense, lengths": {func(x, y T) T {
			return tenon.Must(ragged.FromDense(x, ragged.FromDenseOptions{Lengths: y}))
		}, dense, tensor.Of([]int64{2, -1, 9})},
		"from dense, padding": {func(x, y T) T {
			return tenon.Must(ragged.FromDense(x, ragged.FromDenseOptions{Padding: y}))
		}, dense, none},
		"sparse indices": {func(x, _ T) T { i, _, _, err := x.(R).ToSparse(); tenon.Throw(err); return i }, x, none},
		"sparse values":  {func(x, _ T) T { _, v, _, err := inner.ToSparse(); tenon.Throw(err); return v }, inner, none},
		"from sparse": {func(x, _ T) T {
			i, v, s, err := x.(R).ToSparse()
			tenon.Throw(err)
			return tenon.Must(ragged.FromSparse(i, v, s, 0))
		}, rag([]int64{1, 2}, nil, []int64{3}), none},
		"row splits":          {func(x, y T) T { return tenon.Must(ragged.FromRowSplits(x, y)) }, tensor.Of([]int64{1, 2, 3}), tensor.Of([]int64{0, 2, 2, 3})},
		"row lengths":         {func(x, y T) T { return tenon.Must(ragged.FromRowLengths(x, y)) }, tensor.Of([]int64{1, 2, 3}), tensor.Of([]int64{2, 0, 1})},
		"row starts":          {func(x, y T) T { return tenon.Must(ragged.FromRowStarts(x, y)) }, tensor.Of([]int64{1, 2, 3}), tensor.Of([]int64{0, 2, 2})},
		"row limits":          {func(x, y T) T { return tenon.Must(ragged.FromRowLimits(x, y)) }, tensor.Of([]int64{1, 2, 3}), tensor.Of([]int32{2, 2, 3})},
		"row ids":             {func(x, y T) T { return tenon.Must(ragged.FromValueRowIDs(x, y, 4)) }, tensor.Of([]int64{1, 2, 3}), tensor.Of([]int64{0, 0, 2})},
		"uniform":             {func(x, y T) T { return tenon.Must(ragged.FromUniformRowLength(x, y, nil)) }, tensor.Of([]int64{1, 2, 3, 4}), tensor.Scalar(int64(2))},
		"offsets":             {func(x, y T) T { return tenon.Must(ragged.FromOffsets(x, y)) }, tensor.Of([]int64{0, 1, 2, 3, 4}), tensor.Of([]int64{1, 3, 3, 4})},
		"pick":                {func(x, y T) T { return tenon.Must(ragged.Pick(x.(R), y, ragged.PickOptions{})) }, rag([]int64{1, 2}, []int64{3}), tensor.Of([]int64{1, -1})},
		"pick, fill":          {func(x, y T) T { return tenon.Must(ragged.Pick(x.(R), 1, ragged.PickOptions{Fill: y})) }, rag([]int64{1, 2}, []int64{3}), none},
		"row lengths of rows": {func(x, _ T) T { return tenon.Must(x.(R).RowLengths(2)) }, x, none},
		"bounding shape":      {func(x, _ T) T { return tenon.Must(x.(R).BoundingShape()) }, x, none},
		"merged encodings": {func(x, y T) T {
			p := tenon.Must(x.(R).Partition().MergeEncodings(tenon.Must(ragged.PartitionFromRowLengths(y, ragged.PartitionOptions{}))))
			return tenon.Must(ragged.FromPartition(x.(R).Values(), p))
		}, rag([]int64{1, 2}, nil, []int64{3}), tensor.Of([]int64{2, 0, 1})},
		"broadcast to": {func(x, y T) T { return tenon.Must(ragged.BroadcastTo(y, ragged.ShapeOf(x))) }, x, tensor.Of([]int64{7, 8, 9}, 3, 1, 1)},
		"slices of a shape": {func(x, _ T) T {
			return tenon.Must(ragged.Fill(tenon.Must(ragged.ShapeOf(x).Slice(0, 2)), 7))
		}, x, none},
	} {
		t.Run(name, func(t *testing.T) { traced(t, c.f, c.x, c.y) })
	}
}
