package ragged_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// TestHostileEncodings: every error names the entry at fault.
func TestHostileEncodings(t *testing.T) {
	values := tensor.Of([]float32{1, 2, 3})
	for _, c := range []struct {
		name string
		err  func() error
		want string
	}{
		{"splits that do not start at 0", func() error { _, err := ragged.FromRowSplits(values, []int{1, 3}); return err }, "row_splits[0]"},
		{"splits that fall", func() error { _, err := ragged.FromRowSplits(values, []int{0, 2, 1, 3}); return err }, "row_splits[2]"},
		{"splits that end early", func() error { _, err := ragged.FromRowSplits(values, []int{0, 2}); return err }, "3 rows, the partition has 2 values"},
		{"no splits", func() error { _, err := ragged.FromRowSplits(values, []int{}); return err }, "no entries"},
		{"splits of floats", func() error { _, err := ragged.FromRowSplits(values, []float32{0, 3}); return err }, "float32"},
		{"a matrix of splits", func() error { _, err := ragged.FromRowSplits(values, [][]int{{0, 3}}); return err }, "want a vector"},
		{"a negative length", func() error { _, err := ragged.FromRowLengths(values, []int{4, -1}); return err }, "lengths[1]"},
		{"lengths that overflow", func() error { _, err := ragged.FromRowLengths(values, []int{1 << 62, 1 << 62}); return err }, "lengths[1]"},
		{"int32 lengths that overflow", func() error {
			_, err := ragged.FromRowLengths(values, []int32{1 << 30, 1 << 30, 1 << 30})
			return err
		}, "int32"},
		{"row ids that fall", func() error { _, err := ragged.FromValueRowIDs(values, []int{1, 0, 2}, nil); return err }, "ids[1]"},
		{"a row id out of range", func() error { _, err := ragged.FromValueRowIDs(values, []int{0, 2, 3}, 3); return err }, "ids[2]"},
		{"starts behind the values", func() error { _, err := ragged.FromRowStarts(values, []int{0, 4}); return err }, "row_starts[2]"},
		{"limits that fall", func() error { _, err := ragged.FromRowLimits(values, []int{2, 1}); return err }, "row_limits[2]"},
		{"uniform rows that do not divide", func() error { _, err := ragged.FromUniformRowLength(values, 2, nil); return err }, "3 values are not rows of 2"},
		{"uniform rows that overflow", func() error { _, err := ragged.FromUniformRowLength(values, 1<<40, 1<<40); return err }, "do not fit in memory"},
		{"a scalar", func() error { _, err := ragged.FromRowSplits(1.5, []int{0, 1}); return err }, "scalar"},
		{"offsets beyond the values", func() error { _, err := ragged.FromOffsets(values, []int{1, 4}); return err }, "from 1 to 4"},
		{"nested levels that do not fit", func() error {
			_, err := ragged.FromNestedRowSplits(values, []int{0, 2}, []int{0, 3})
			return err
		}, "level 0"},
		{"lists of different depth", func() error { _, err := ragged.Const([]any{[]any{1}, 2}, ragged.Options{}); return err }, "[1]"},
		{"a nil entry", func() error { _, err := ragged.Const([]any{[]any{1, nil}}, ragged.Options{}); return err }, "[0 1]"},
		{"an inner axis that is ragged", func() error {
			_, err := ragged.Const([]any{[]any{[]int{1, 2}, []int{3}}}, ragged.Options{RaggedRank: 1})
			return err
		}, "inner axis"},
		{"a row that has not ended", func() error { _, err := ragged.NewBuilder[int64](1).Append(1).Build(); return err }, "row 0 of dimension 0"},
		{"int32 splits of many values", func() error {
			p := tenon.Must(ragged.PartitionFromUniformRowLength(1<<40, ragged.PartitionOptions{NRows: 0}))
			_, err := p.WithDType(dtype.Int32)
			return err
		}, "int32 cannot hold"},
		{"a negative uniform length from outside", func() error {
			s := tenon.Must(ragged.PartitionFromUniformRowLength(2, ragged.PartitionOptions{NRows: 2})).Spec()
			open := tenon.Must(ragged.NewPartitionSpec(dtype.Int64, -1, -1, 2))
			_, err := open.Assemble([]tenon.Value{tensor.Scalar(int64(-1)), tensor.Scalar(int64(2))})
			if _, err := s.Assemble([]tenon.Value{tensor.Scalar(int64(3)), tensor.Scalar(int64(2))}); err == nil {
				t.Error("other rows than the Spec says are accepted")
			}
			return err
		}, "nrows: -1 is negative"},
		{"a Spec of too many rows", func() error {
			_, err := ragged.NewPartitionSpec(dtype.Int64, 1<<40, -1, 1<<40)
			return err
		}, "do not fit in memory"},
		{"partitions that differ", func() error {
			p := tenon.Must(ragged.PartitionFromRowSplits([]int{0, 2, 3}, ragged.PartitionOptions{}))
			_, err := p.MergeEncodings(tenon.Must(ragged.PartitionFromRowLengths([]int{1, 2}, ragged.PartitionOptions{})))
			return err
		}, "row 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.err()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got the error %v, want one with %q", err, c.want)
			}
			if !errors.Is(err, tenon.ErrInvalid) {
				t.Errorf("got the error %v, want %v", err, tenon.ErrInvalid)
			}
		})
	}
}

func nested(t *testing.T, x T) any {
	t.Helper()
	r, ok := x.(*ragged.Tensor)
	if !ok {
		t.Fatalf("got %v, want a ragged tensor", x)
	}
	return tenon.Must(r.Nested())
}

func TestConst(t *testing.T) {
	for _, c := range []struct {
		name string
		x    any
		o    ragged.Options
		spec string
		want any
	}{
		{"integers", []any{[]any{1, 2}, []any{}}, ragged.Options{}, "int64[2, ~]", []any{[]any{int64(1), int64(2)}, []any{}}},
		{"typed slices", [][]int32{{1}, nil}, ragged.Options{}, "int32[2, ~]", []any{[]any{int32(1)}, []any{}}},
		{"empty typed slices", [][]uint8{{}, nil}, ragged.Options{}, "uint8[2, ~]", []any{[]any{}, []any{}}},
		{"integers among floats", []any{[]any{1}, []any{0.5}}, ragged.Options{Float: dtype.Float32}, "float32[2, ~]", []any{[]any{float32(1)}, []any{float32(0.5)}}},
		{"typed among untyped", []any{[]any{1}, []any{float32(0.5)}}, ragged.Options{}, "float32[2, ~]", []any{[]any{float32(1)}, []any{float32(0.5)}}},
		{"an inner axis", []any{[]any{[]int{1, 2}}, nil}[:1], ragged.Options{Inner: []int{2}}, "int64[1, ~, 2]", []any{[]any{[]any{int64(1), int64(2)}}}},
		{"int32 splits", []any{[]any{true}}, ragged.Options{Splits: dtype.Int32}, "bool[1, ~]", []any{[]any{true}}},
		{"arrays", [2][1]string{{"a"}, {"b"}}, ragged.Options{}, "string[2, ~]", []any{[]any{"a"}, []any{"b"}}},
		{"an element type", []any{[]any{1}}, ragged.Options{DType: dtype.Float16}, "float16[1, ~]", []any{[]any{dtype.F16From(1)}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, err := ragged.Const(c.x, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if s := tenon.String(x.Spec()); s != c.spec {
				t.Errorf("got a %s, want %s", s, c.spec)
			}
			if d := cmp.Diff(c.want, nested(t, x)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestConstMixtures(t *testing.T) {
	_, err := ragged.Const([]any{[]any{"a", 1}}, ragged.Options{})
	if !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "element 1 is a int64 among strings") {
		t.Errorf("got the error %v, want one about the mixture", err)
	}
}

func TestFromSlices(t *testing.T) {
	x := ragged.FromSlices([][]string{{"a", "b"}, nil, {"c"}})
	if d := cmp.Diff([]any{[]any{"a", "b"}, []any{}, []any{"c"}}, nested(t, x)); d != "" {
		t.Error(d)
	}
	back, err := ragged.Slices[string](x)
	if d := cmp.Diff([][]string{{"a", "b"}, {}, {"c"}}, back); d != "" || err != nil {
		t.Error(d, err)
	}
	y := ragged.FromSlices2([][][]int64{{{1}, nil}, nil, {{2, 3}}})
	if d := cmp.Diff([]any{[]any{[]any{int64(1)}, []any{}}, []any{}, []any{[]any{int64(2), int64(3)}}}, nested(t, y)); d != "" {
		t.Error(d)
	}
}

func TestSlicesOfRowsOfRows(t *testing.T) {
	want := [][][]int64{{{1}, {}}, {}, {{2, 3}}}
	got, err := ragged.Slices2[int64](ragged.FromSlices2(want))
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if _, err := ragged.Slices2[int64](rag([]int64{1})); err == nil {
		t.Error("rows of elements are no rows of rows")
	}
}

func TestOffsetsShareMemory(t *testing.T) {
	values := []float64{1, 2, 3, 4}
	x := tenon.Must(ragged.FromOffsets(values, []int32{1, 1, 3}))
	rows := tenon.Must(ragged.Slices[float64](x))
	if d := cmp.Diff([][]float64{{}, {2, 3}}, rows); d != "" {
		t.Error(d)
	}
	if &rows[1][0] != &values[1] {
		t.Error("the values were copied")
	}
}

func TestBuilder(t *testing.T) {
	b := ragged.NewBuilder[int64](2)
	b.Append(1, 2).EndRow(1).EndRow(1).EndRow(0).EndRow(0).Append(3).EndRow(1).EndRow(0)
	if b.Len() != 3 {
		t.Errorf("there are %d rows, want 3", b.Len())
	}
	x, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]any{[]any{[]any{int64(1), int64(2)}, []any{}}, []any{}, []any{[]any{int64(3)}}}, nested(t, x)); d != "" {
		t.Error(d)
	}
	if y := tenon.Must(b.Build()); y.Partition().StaticNRows() != 0 {
		t.Errorf("built again there are rows: %v", y)
	}
}

// TestCachesSurviveTheSpec: what was computed of splits is not computed again after
// a value was taken apart and put together.
func TestCachesSurviveTheSpec(t *testing.T) {
	x := rag([]int64{1, 2}, nil, []int64{3})
	ids, lengths, offsets := x.Partition().ValueRowIDs(), x.Partition().RowLengths(), x.Partition().OffsetsInRows()
	y := tenon.Must(x.Spec().Assemble(tenon.Must(x.Spec().Disassemble(x)))).(*ragged.Tensor)
	p := y.Partition()
	q := tenon.Must(p.Spec().Assemble(tenon.Must(p.Spec().Disassemble(p)))).(*ragged.RowPartition)
	if q.ValueRowIDs() != ids || q.RowLengths() != lengths || q.OffsetsInRows() != offsets {
		t.Error("an encoding was computed again")
	}
	u := tenon.Must(ragged.PartitionFromUniformRowLength(2, ragged.PartitionOptions{NRows: 3}))
	splits := u.RowSplits()
	v := tenon.Must(u.Spec().Assemble(tenon.Must(u.Spec().Disassemble(u)))).(*ragged.RowPartition)
	if v.RowSplits() != splits || !v.IsUniform() {
		t.Error("uniform rows forget their splits, or that they are uniform")
	}
}

func TestEncodingsMeet(t *testing.T) {
	o := ragged.PartitionOptions{}
	splits := tenon.Must(ragged.PartitionFromRowSplits([]int{0, 2, 4}, o))
	lengths := tensor.Of([]int64{2, 2})
	m := tenon.Must(splits.MergeEncodings(tenon.Must(ragged.PartitionFromRowLengths(lengths, o))))
	if m.RowSplits() != splits.RowSplits() || m.RowLengths() != lengths {
		t.Error("an encoding of one of them is lost")
	}
	m = tenon.Must(m.MergeEncodings(tenon.Must(ragged.PartitionFromUniformRowLength(2, ragged.PartitionOptions{NRows: 2}))))
	if m.StaticUniformRowLength() != 2 || m.RowSplits() != splits.RowSplits() {
		t.Errorf("merged with uniform rows it is %v", m)
	}
	if d := splits.DetectUniform(); splits.IsUniform() || d.StaticUniformRowLength() != 2 || d.RowSplits() != splits.RowSplits() {
		t.Errorf("found %v uniform", d)
	}
	if u := rag([]int64{1}, nil).Partition().DetectUniform(); u.IsUniform() {
		t.Errorf("%v is no uniform partition", u)
	}
}

// What is joined with int32 splits, or gathered from them, keeps them, also where an operand is dense, and
// sizes below the partitions stay sizes.
func TestJoinedForms(t *testing.T) {
	narrow := tenon.Must(ragged.FromRowSplits([]int{1, 2, 3}, []int32{0, 1, 3}))
	pairs := tenon.Must(ragged.FromRowSplits([][]int{{1, 2}, {3, 4}}, []int{0, 0, 2}))
	squares := tenon.Must(ragged.FromRowSplits(tensor.Of([]int{1, 2, 3, 4, 5, 6, 7, 8}, 2, 2, 2), []int{0, 0, 2}))
	for name, c := range map[string]struct {
		got    T
		splits dtype.DType
		rank   int
	}{
		"concat dense": {ops.Concat([]any{narrow, [][]int{{7, 8}, {9, 9}}}, 1), dtype.Int32, 1},
		"stack dense":  {tenon.Must(ragged.Stack([]T{narrow, tensor.Of([]int{1, 2, 3, 4}, 2, 2)}, 1)), dtype.Int32, 2},
		"stack inner":  {tenon.Must(ragged.Stack([]T{pairs, pairs}, -1)), dtype.Int64, 1},
		"stack rows":   {tenon.Must(ragged.Stack([]T{pairs, pairs}, 1)), dtype.Int64, 2},
		"product":      {ops.MatMul(ops.ExpandDims(narrow, -1), tenon.Must(ragged.FromRowSplits(tensor.Of([]int{1, 2}, 2, 1), []int32{0, 1, 2}))), dtype.Int32, 1},
		"products":     {ops.MatMul(squares, squares), dtype.Int64, 1},
		"gathered":     {ops.Gather(narrow, [][]int{{1, 0}}, 0), dtype.Int32, 2},
	} {
		r, ok := c.got.(*ragged.Tensor)
		if !ok || r.RaggedRank() != c.rank || r.Partition().DType() != c.splits {
			t.Errorf("%s: %v, want %d partitions of %v", name, c.got, c.rank, c.splits)
		}
	}
}

// All strings are joined as they lie, and along both axes row by row.
func TestJoinedStrings(t *testing.T) {
	x := tenon.Must(ragged.FromRowSplits([]string{"a", "b", "c"}, []int{0, 0, 2, 2, 3}))
	for want, got := range map[string]T{"a|b|c": ops.StringReduceJoin(x, "|"), "|a|b||c": ops.StringReduceJoin(x, "|", 0, 1)} {
		if s := tensor.Data[string](got); s[0] != want {
			t.Errorf("joined %q, want %q", s[0], want)
		}
	}
}

func TestSizesOfRows(t *testing.T) {
	x := tenon.Must(ragged.FromRowSplits([]int{1, 2, 3, 4, 5}, []int{0, 1, 1, 5}))
	d := tenon.Must(x.ToDense(ragged.DenseOptions{Shape: []int{2, shape.Unknown}}))
	if want := tensor.Of([]int{1, 0, 0, 0, 0, 0, 0, 0}, 2, 4); !cmp.Equal(tensor.Data[int64](d), tensor.Data[int64](want)) || !d.Shape().Equal(want.Shape()) {
		t.Errorf("rows that are cut set no width: %v, want %v", d, want)
	}
	if n := tenon.Must(x.RowLengths(0)); n.Shape().Rank() != 0 || tensor.Data[int64](n)[0] != 3 {
		t.Errorf("dimension 0 has %v rows, want 3", n)
	}
	m := ops.MatMul(tenon.Must(ragged.FromRowSplits(tensor.Of([]int{1, 2, 3, 4}, 1, 2, 2), []int{0, 0, 1})), tenon.Must(ragged.FromRowSplits(tensor.Of([]int{1, 1}, 1, 2, 1), []int{0, 0, 1})))
	if got := tensor.Data[int64](m.(*ragged.Tensor).FlatValues()); !cmp.Equal(got, []int64{3, 7}) {
		t.Errorf("the product of matrices in rows is %v, want [3 7]", got)
	}
}

func TestPick(t *testing.T) {
	x := rag([]int64{1, 2}, nil, []int64{3})
	_, err := ragged.Pick(x, 0, ragged.PickOptions{})
	if err == nil || !strings.Contains(err.Error(), "row 1") {
		t.Errorf("got the error %v, want one that names row 1", err)
	}
	items, found, err := ragged.PickFound(x, []int{-1, 0, 0})
	if d := cmp.Diff([]int64{2, 0, 3}, tensor.Data[int64](items)); d != "" || err != nil {
		t.Error(d, err)
	}
	if d := cmp.Diff([]bool{true, false, true}, tensor.Data[bool](found)); d != "" {
		t.Error(d)
	}
	deep := ragged.FromSlices2([][][]int64{{{1}, {2, 3}}, nil, {{4}}})
	rows, found, err := ragged.PickFound(deep, -1)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]any{[]any{int64(2), int64(3)}, []any{}, []any{int64(4)}}, nested(t, rows)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]bool{true, false, true}, tensor.Data[bool](found)); d != "" {
		t.Error(d)
	}
}

// The batch of shapes is the shape of the batch.
func TestBatchesOfShapes(t *testing.T) {
	a, b := ragged.FromSlices([][]float64{{1}, {2, 3}}), ragged.FromSlices([][]float64{{}, {1}, {2, 3}})
	deep := ragged.FromSlices2([][][]float64{{{1}, {2, 3}}, {}})
	square := tensor.Of([]int64{1, 2, 3, 4}, 2, 2)
	for _, list := range [][]tensor.Tensor{{a, b}, {a, a, a}, {deep, deep}, {square, square}} {
		shapes := make([]tenon.Value, len(list))
		for i, x := range list {
			shapes[i] = ragged.ShapeOf(x)
		}
		many := tenon.Must(ext.Stack(shapes...))
		want := ragged.ShapeOf(ops.Stack(list, 0))
		if !tensor.Equal(many, want, tensor.EqualOptions{}) {
			t.Errorf("the batch is %v, want %v", many, want)
		}
		merged := shapes[0].Spec()
		for i, s := range shapes {
			if got := tenon.Must(ext.Row(many, i)); !tensor.Equal(got, s, tensor.EqualOptions{}) {
				t.Errorf("row %d is %v, want %v", i, got, s)
			}
			merged, _ = tenon.Merge(merged, s.Spec())
		}
		if batch := tenon.Must(merged.(tenon.Batcher).Batched(len(list))); !tenon.Compatible(batch, many.Spec()) {
			t.Errorf("the Spec of the batch is %v, that of its value %v", batch, many.Spec())
		}
	}
	scalar := ragged.ShapeOf(tensor.Scalar(1.0)).Spec().(*ragged.ShapeSpec)
	if _, err := scalar.Unbatched(); !errors.Is(err, tenon.ErrShape) {
		t.Errorf("rows of a scalar's shape: %v", err)
	}
	if _, err := scalar.Box(ragged.ShapeOf(a), 0); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("a shape of another rank: %v", err)
	}
	if _, err := scalar.Unbox(nil); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("nothing to unbox: %v", err)
	}
}
