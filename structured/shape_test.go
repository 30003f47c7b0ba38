package structured_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// record is the record number i of the tests: fields of every kind that follow from
// one number.
func record(i int) rec {
	l := list{}
	for k := range i % 3 {
		l = append(l, 10*i+k)
	}
	var opt any
	if i%2 == 0 {
		opt = fmt.Sprint("o", i)
	}
	return rec{"id": i, "name": fmt.Sprint("n", i), "list": l, "pos": rec{"x": float64(i) / 2, "opt": opt}, "sub": list{rec{"y": -i}, rec{"y": i}}, "pair": list{i, i + 1}}
}

// records puts records in the places of numbers.
func records(x any) any {
	if l, ok := x.([]any); ok {
		out := make(list, len(l))
		for i, y := range l {
			out[i] = records(y)
		}
		return out
	}
	return record(int(reflect.ValueOf(x).Int()))
}

// numbers are the dimensions of the tests' records: what an operation does to these
// numbers, it has to do to the records.
func numbers(t *testing.T) map[string]tensor.Tensor {
	t.Helper()
	uniform := func(v tensor.Tensor, n int) tensor.Tensor { return tenon.Must(ragged.FromUniformRowLength(v, n, nil)) }
	rows := ragged.FromSlices([][]int64{{0, 1, 2}, {}, {3}})
	return map[string]tensor.Tensor{
		"one":          tensor.Scalar(int64(3)),
		"list":         tensor.Of([]int64{0, 1, 2, 3, 4}),
		"empty":        tensor.Of([]int64{}),
		"grid":         tensor.Of([]int64{0, 1, 2, 3, 4, 5}, 2, 3),
		"rows":         rows,
		"empty rows":   ragged.FromSlices([][]int64{{}, {}}),
		"rows of rows": tenon.Must(ragged.FromRowLengths(rows, []int{1, 2})),
		"cube":         tensor.Of([]int64{0, 1, 2, 3, 4, 5, 6, 7}, 2, 2, 2),
		"rows of grid": tenon.Must(ragged.FromRowLengths(tensor.Of([]int64{0, 1, 2, 3, 4, 5}, 3, 2), []int{1, 2})),
		"uniform rows": uniform(rows, 3),
	}
}

func structOf(t *testing.T, n tensor.Tensor) *structured.Tensor {
	t.Helper()
	all := list{}
	for i := range 8 {
		all = append(all, record(i))
	}
	s := read(t, all, structured.NestedOptions{Missing: structured.MissingMasked})
	if n.Shape().IsScalar() {
		return ops.Index(s, n).(*structured.Tensor)
	}
	return ops.Gather(s, n, 0).(*structured.Tensor)
}

func nestedOf(t *testing.T, v tensor.Tensor) any {
	t.Helper()
	if r, ok := v.(*ragged.Tensor); ok {
		return tenon.Must(r.Nested())
	}
	if s, ok := v.(*structured.Tensor); ok {
		return plain(t, s)
	}
	one := tenon.Must(ragged.FromRowSplits(ops.ExpandDims(v, 0), []int64{0, 1}))
	return tenon.Must(one.Nested())[0].([]any)[0]
}

// shapeOperations are operations that choose, join, repeat and move.
func shapeOperations() map[string]func(x tensor.Tensor) []tensor.Tensor {
	one := func(f func(x tensor.Tensor) tensor.Tensor) func(x tensor.Tensor) []tensor.Tensor {
		return func(x tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{f(x)} }
	}
	return map[string]func(x tensor.Tensor) []tensor.Tensor{
		"concat":         one(func(x tensor.Tensor) tensor.Tensor { return ops.Concat([]tensor.Tensor{x, x}, 0) }),
		"concat inside":  one(func(x tensor.Tensor) tensor.Tensor { return ops.Concat([]tensor.Tensor{x, x, x}, -1) }),
		"stack":          one(func(x tensor.Tensor) tensor.Tensor { return ops.Stack([]tensor.Tensor{x, x}, 0) }),
		"stack inside":   one(func(x tensor.Tensor) tensor.Tensor { return ops.Stack([]tensor.Tensor{x, x}, 1) }),
		"stack last":     one(func(x tensor.Tensor) tensor.Tensor { return ops.Stack([]tensor.Tensor{x, x}, -1) }),
		"tile":           one(func(x tensor.Tensor) tensor.Tensor { return ops.Tile(x, ones(x, 2)) }),
		"slice":          one(func(x tensor.Tensor) tensor.Tensor { return ops.Index(x, key.Range(1, 3, nil)) }),
		"slice by steps": one(func(x tensor.Tensor) tensor.Tensor { return ops.Index(x, key.Range(nil, nil, -2)) }),
		"slice inside":   one(func(x tensor.Tensor) tensor.Tensor { return ops.Index(x, key.All, key.From(1)) }),
		"slice deep":     one(func(x tensor.Tensor) tensor.Tensor { return ops.Index(x, key.All, key.All, key.To(1)) }),
		"block":          one(func(x tensor.Tensor) tensor.Tensor { return ops.Slice(x, zerosOf(x), onesOf(x)) }),
		"last":           one(func(x tensor.Tensor) tensor.Tensor { return ops.Index(x, -1) }),
		"gather":         one(func(x tensor.Tensor) tensor.Tensor { return ops.Gather(x, []int{1, 0, 1}, 0) }),
		"gather a grid": one(func(x tensor.Tensor) tensor.Tensor {
			return ops.Gather(x, tensor.Of([]int64{1, 0, 0, 1}, 2, 2), 0)
		}),
		"gather none": one(func(x tensor.Tensor) tensor.Tensor { return ops.Gather(x, tensor.Of([]int64{}), 0) }),
		"gather rows": one(func(x tensor.Tensor) tensor.Tensor {
			return ops.Gather(x, ragged.FromSlices([][]int64{{1}, {}, {0, 1}}), 0)
		}),
		"gather in batches": one(func(x tensor.Tensor) tensor.Tensor {
			return ops.GatherBatched(x, tensor.Of([]int64{0, 1, 1, 0}, 2, 2), 1, 1)
		}),
		"gather tuples":    one(func(x tensor.Tensor) tensor.Tensor { return ops.GatherND(x, tensor.Of([]int64{1, 0}, 2, 1), 0) }),
		"where":            one(func(x tensor.Tensor) tensor.Tensor { return ops.Where(alternating(x), x, ops.Reverse(x, 0)) }),
		"boolean mask":     one(func(x tensor.Tensor) tensor.Tensor { return ops.BooleanMask(x, firstTwo(x), 0) }),
		"reverse":          one(func(x tensor.Tensor) tensor.Tensor { return ops.Reverse(x, 0) }),
		"reverse inside":   one(func(x tensor.Tensor) tensor.Tensor { return ops.Reverse(x, -1) }),
		"expand":           one(func(x tensor.Tensor) tensor.Tensor { return ops.ExpandDims(x, 0) }),
		"expand inside":    one(func(x tensor.Tensor) tensor.Tensor { return ops.ExpandDims(x, 1) }),
		"expand last":      one(func(x tensor.Tensor) tensor.Tensor { return ops.ExpandDims(x, -1) }),
		"squeeze":          one(func(x tensor.Tensor) tensor.Tensor { return ops.Squeeze(ops.ExpandDims(x, 0), 0) }),
		"squeeze inside":   one(func(x tensor.Tensor) tensor.Tensor { return ops.Squeeze(ops.ExpandDims(x, -1), -1) }),
		"split":            func(x tensor.Tensor) []tensor.Tensor { return ops.Split(x, []int{1, max(0, rowsOf(x)-1)}, 0) },
		"unstack":          func(x tensor.Tensor) []tensor.Tensor { return ops.Unstack(x, 0) },
		"reshape":          one(func(x tensor.Tensor) tensor.Tensor { return ops.Reshape(x, []int{-1, 1}) }),
		"reshape to cubes": one(func(x tensor.Tensor) tensor.Tensor { return ops.Reshape(x, []int{-1, 2, 1}) }),
		"broadcast":        one(func(x tensor.Tensor) tensor.Tensor { return ops.BroadcastTo(x, append([]int{2}, x.Shape().Dims()...)) }),
		"roll":             one(func(x tensor.Tensor) tensor.Tensor { return ops.Roll(x, 1, 0) }),
		"roll inside":      one(func(x tensor.Tensor) tensor.Tensor { return ops.Roll(x, -1, -1) }),
		"repeat":           one(func(x tensor.Tensor) tensor.Tensor { return ops.Repeat(x, 2, 0) }),
		"transpose":        one(func(x tensor.Tensor) tensor.Tensor { return ops.Transpose(x, 1, 0) }),
		"new axis":         one(func(x tensor.Tensor) tensor.Tensor { return ops.Index(ops.ExpandDims(x, 0), 0) }),
	}
}

func TestShapeOperations(t *testing.T) {
	for name, f := range shapeOperations() {
		done := 0
		for kind, n := range numbers(t) {
			want, err := tenon.Try(func() []tensor.Tensor { return f(n) })
			if err != nil {
				continue // the operation has no meaning for these dimensions
			}
			done++
			got, err := tenon.Try(func() []tensor.Tensor { return f(structOf(t, n)) })
			if err != nil {
				t.Errorf("%s of %s: %v", name, kind, err)
				continue
			}
			if len(got) != len(want) {
				t.Fatalf("%s of %s: got %d results, want %d", name, kind, len(got), len(want))
			}
			for i, w := range want {
				s := got[i].(*structured.Tensor)
				if !s.Shape().Equal(w.Shape()) {
					t.Errorf("%s of %s: got the shape %v, want %v", name, kind, s.Shape(), w.Shape())
				}
				// The records are those that the numbers name, in the numbers' dimensions.
				if x, y := plain(t, s), plain(t, readLike(t, records(nestedOf(t, w)), w)); !reflect.DeepEqual(x, y) {
					t.Errorf("%s of %s: got %v, want %v", name, kind, x, y)
				}
				id := tenon.Must(s.Field("id"))
				if x, y := nestedOf(t, id), nestedOf(t, w); !reflect.DeepEqual(x, y) || !id.Shape().Equal(w.Shape()) {
					t.Errorf("%s of %s: got the numbers %v %v, want %v %v", name, kind, x, id.Shape(), y, w.Shape())
				}
			}
		}
		if done == 0 {
			t.Errorf("%s: was not possible for any dimensions", name)
		}
	}
}

// readLike reads records; without any the reader cannot know that they are records.
func readLike(t *testing.T, x any, n tensor.Tensor) *structured.Tensor {
	t.Helper()
	if known, _ := n.Shape().CheckedSize(1); n.Shape().IsFull() && known == 0 || flatLen(n) == 0 {
		return structOf(t, n)
	}
	return read(t, x, structured.NestedOptions{Missing: structured.MissingMasked})
}

func flatLen(n tensor.Tensor) int {
	if r, ok := n.(*ragged.Tensor); ok {
		return flatLen(r.FlatValues())
	}
	return n.Shape().Size()
}

func ones(x tensor.Tensor, first int) []int {
	out := onesOf(x)
	if len(out) > 0 {
		out[0] = first
	}
	return out
}

func onesOf(x tensor.Tensor) []int {
	out := make([]int, x.Shape().Rank())
	for i := range out {
		out[i] = 1
	}
	return out
}

func zerosOf(x tensor.Tensor) []int { return make([]int, x.Shape().Rank()) }

// alternating is a mask of the rows that is true for every other one.
func alternating(x tensor.Tensor) tensor.Tensor {
	m := make([]bool, rowsOf(x))
	for i := range m {
		m[i] = i%2 == 0
	}
	dims := onesOf(x)
	if len(dims) > 0 {
		dims[0] = len(m)
	}
	return ops.Reshape(tensor.Of(m), dims)
}

// rowsOf returns the size of the first dimension, 0 for a scalar.
func rowsOf(x tensor.Tensor) int {
	if x.Shape().IsScalar() {
		return 0
	}
	return x.Shape().Dim(0)
}

func firstTwo(x tensor.Tensor) tensor.Tensor {
	m := make([]bool, rowsOf(x))
	for i := range m {
		m[i] = i < 2
	}
	return tensor.Of(m)
}

func TestDescriptions(t *testing.T) {
	for kind, n := range numbers(t) {
		s := structOf(t, n)
		if x, y := tensor.Item[int64](ops.Cast(ops.Size(s), dtype.Int64)), tensor.Item[int64](ops.Cast(ops.Size(n), dtype.Int64)); x != y {
			t.Errorf("%s: got the size %d, want %d", kind, x, y)
		}
		same(t, kind+": zeros", nestedOf(t, ops.Cast(ops.ZerosLike(s), dtype.Int64)), nestedOf(t, ops.ZerosLike(n)))
		same(t, kind+": ones", nestedOf(t, ops.Cast(ops.OnesLike(s), dtype.Int64)), nestedOf(t, ops.OnesLike(n)))
	}
}
