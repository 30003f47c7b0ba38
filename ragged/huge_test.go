package ragged_test

import (
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// No rows may be declared to be of any length: what selects of them takes no memory for
// positions in them.
func TestHugeRows(t *testing.T) {
	const huge = 1 << 60
	tests := []struct {
		keys []any
		want []int // the first two sizes
	}{
		{[]any{tensor.Of([]int64{})}, []int{0, huge}},
		{[]any{tensor.Of([]bool{})}, []int{0, huge}},
		{[]any{key.Range(nil, nil, 2)}, []int{0, huge}},
		{[]any{key.All, key.Range(nil, nil, 2)}, []int{0, huge / 2}},
		{[]any{key.All, key.Range(nil, nil, -1)}, []int{0, huge}},
		{[]any{key.All, key.From(1)}, []int{0, huge - 1}},
	}
	for _, values := range []T{tensor.Of([]float32{}), rag[float32](), tenon.Must(ragged.FromUniformRowLength(tensor.Of([]float32{}), 3, 0))} {
		x := tenon.Must(ragged.FromUniformRowLength(values, huge, 0))
		for _, tt := range tests {
			got, err := tenon.Try(func() T { return ops.Index(x, tt.keys...) })
			if err != nil {
				t.Errorf("%v of %v: %v", tt.keys, x, err)
				continue
			}
			if s := got.Shape(); !s.Slice(0, 2).Equal(shape.Of(tt.want...)) || s.Rank() != x.Shape().Rank() {
				t.Errorf("%v of %v has the shape %v", tt.keys, x, s)
			}
		}
	}
}
