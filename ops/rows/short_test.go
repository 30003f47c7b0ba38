package rows_test

import (
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// TestShortWaysAgree compares the short ways of operations on tensors in memory with
// the general one, which op.Do takes.
func TestShortWaysAgree(t *testing.T) {
	type T = tensor.Tensor
	general := func(name string, args ...any) []T {
		o, ok := op.Lookup(name)
		if !ok {
			t.Fatalf("there is no operation %s", name)
		}
		var out []T
		for _, v := range tenon.Must(op.Do(o, args...)) {
			out = append(out, v.(T))
		}
		return out
	}
	two := func(a, b T) []T { return []T{a, b} }
	one := func(a T) []T { return []T{a} }
	k := key.Range(1, nil, 2)
	for _, splits := range []T{tensor.Of([]int64{0, 2, 2, 5}), tensor.Of([]int32{0, 2, 2, 5}), tensor.Of([]int64{0, 5, 5, 5})} {
		for _, values := range []T{tensor.Of([]float32{1, -2, 3, 5, 4}), tensor.Of([]int8{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 5, 2), tensor.Of([]bool{true, false, false, true, false}), tensor.Of([]string{"a", "b", "c", "d", "e"})} {
			items := ops.Slice(values, make([]int, values.Shape().Rank()), append([]int{3}, values.Shape().Tail(1).Dims()...))
			at := tensor.Of([]int64{1, 0, -1})
			check := func(name string, f func() []T, args ...any) {
				t.Helper()
				want, err := tenon.Try(func() []T { return general(name, args...) })
				got, err2 := tenon.Try(f)
				if (err == nil) != (err2 == nil) {
					t.Errorf("%s of %v: got the error %v, want %v", name, values, err2, err)
					return
				}
				for i := range want {
					if !tensor.Equal(want[i], got[i], tensor.EqualOptions{NaN: true}) {
						t.Errorf("%s of %v, %v: result %d is %v, want %v", name, values, splits, i, got[i], want[i])
					}
				}
			}
			for name, f := range map[string]func(values, splits any) T{"sum": rows.Sum, "prod": rows.Prod, "mean": rows.Mean, "max": rows.Max, "min": rows.Min, "any": rows.Any,
				"all": rows.All, "count_nonzero": rows.CountNonzero, "argmax": rows.ArgMax, "logsumexp": rows.LogSumExp, "softmax": rows.Softmax, "log_softmax": rows.LogSoftmax} {
				check("ragged."+name, func() []T { return one(f(values, splits)) }, values, splits)
			}
			check("ragged.repeat", func() []T { return one(rows.Repeat(items, splits, 5)) }, items, splits, 5)
			check("ragged.repeat", func() []T { return one(rows.Repeat(items, splits, 4)) }, items, splits, 4)
			check("ragged.repeat", func() []T { return one(rows.Repeat(values, splits, 5)) }, values, splits, 5)
			check("ragged.lengths", func() []T { return one(rows.Lengths(splits)) }, splits)
			check("ragged.slice", func() []T { return two(rows.Slice(values, splits, k)) }, values, splits, 1, nil, 2)
			check("ragged.slice", func() []T { return two(rows.Slice(values, splits, key.Range(nil, nil, -1))) }, values, splits, nil, nil, -1)
			check("ragged.slice", func() []T { return two(rows.Slice(values, splits, key.Range(nil, nil, 0))) }, values, splits, nil, nil, 0)
			check("ragged.gather", func() []T { return two(rows.Gather(values, splits, tensor.Of([]int64{2, 0, 2}))) }, values, splits, tensor.Of([]int64{2, 0, 2}))
			check("ragged.gather", func() []T { return two(rows.Gather(values, splits, tensor.Of([]int64{2, 3}))) }, values, splits, tensor.Of([]int64{2, 3}))
			for _, fill := range []any{nil, ops.Index(ops.Reshape(values, []int{-1}), 0)} {
				check("ragged.to_dense", func() []T { return one(rows.ToDense(values, splits, 2, fill)) }, values, splits, 2, fill)
				check("ragged.to_dense", func() []T { return one(rows.ToDense(values, splits, -1, fill)) }, values, splits, -1, fill)
				check("ragged.pick", func() []T { return two(rows.Pick(values, splits, at, fill)) }, values, splits, at, fill)
				check("ragged.pick", func() []T { return two(rows.Pick(values, splits, tensor.Scalar(int64(-1)), fill)) }, values, splits, -1, fill)
			}
		}
	}
	bad := tensor.Of([]int64{0, 3, 2})
	for name, f := range map[string]func(){
		"sum":     func() { rows.Sum(tensor.Of([]float32{1, 2}), bad) },
		"slice":   func() { rows.Slice(tensor.Of([]float32{1, 2}), bad, k) },
		"repeat":  func() { rows.Repeat(tensor.Of([]float32{1, 2}), bad, -1) },
		"lengths": func() { rows.Lengths(bad) },
		"dense":   func() { rows.ToDense(tensor.Of([]float32{1, 2, 3}), tensor.Of([]int64{0, 2}), 2, nil) },
		"pick":    func() { rows.Pick(tensor.Of([]float32{1, 2}), tensor.Of([]int64{0, 2}), tensor.Of([]int64{0, 1}), nil) },
	} {
		if _, err := tenon.Try(func() any { f(); return nil }); err == nil {
			t.Errorf("%s accepts what is wrong", name)
		}
	}
	if d := rows.Lengths(tensor.Of([]int32{0, 1})).DType(); d != dtype.Int32 {
		t.Errorf("lengths of int32 splits are %v", d)
	}
}
