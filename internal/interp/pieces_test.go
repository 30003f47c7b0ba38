package interp

import (
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Groups read parts of an axis, whatever their length, beside whole operands and rows that repeat.
func TestGroupsReadPartsOfAnAxis(t *testing.T) {
	for _, c := range []struct {
		dims  []int
		axis  int
		parts []int
		turn  []int
	}{
		{[]int{40, 512}, 1, []int{256, 256}, nil},
		{[]int{33, 402}, 1, []int{201, 201}, nil},
		{[]int{70, 140}, 1, []int{70, 70}, nil},
		{[]int{300, 40}, 1, []int{20, 20}, nil}, // short pieces
		{[]int{6, 20, 100}, 1, []int{10, 10}, nil},
		{[]int{5, 9, 300}, 2, []int{150, 150}, nil},
		{[]int{600, 4096}, 1, []int{2048, 2048}, nil}, // more than the cache, and several workers
		{[]int{256, 80}, 1, []int{128, 128}, []int{1, 0}},
	} {
		x := wave(0, c.dims...)
		if c.turn != nil {
			x = ops.Transpose(x, c.turn...)
		}
		d := ops.Split(x, c.parts, c.axis)[0].Shape().Dims()
		y, row := wave(1, d...), wave(2, d[len(d)-1])
		f := func(p []tensor.Tensor) ([]tensor.Tensor, error) {
			return tenon.Try(func() []tensor.Tensor {
				s := ops.Split(p[0], c.parts, c.axis)
				a := ops.Add(ops.Mul(s[0], s[1]), p[1])
				b := ops.Mul(ops.Tanh(s[1]), ops.Add(a, p[2]))
				return []tensor.Tensor{a, b, ops.Add(ops.Sigmoid(b), s[0])}
			})
		}
		// Nothing but chains, which stream operands without gaps.
		simple := func(p []tensor.Tensor) ([]tensor.Tensor, error) {
			return tenon.Try(func() []tensor.Tensor {
				s := ops.Split(p[0], c.parts, c.axis)
				return []tensor.Tensor{ops.Add(ops.Mul(s[0], s[1]), p[1])}
			})
		}
		for _, f := range []func(p []tensor.Tensor) ([]tensor.Tensor, error){f, simple} {
			in := []tensor.Tensor{x, y, row}
			specs := []*tensor.Spec{x.Spec().(*tensor.Spec), y.Spec().(*tensor.Spec), row.Spec().(*tensor.Spec)}
			p := For(tenon.Must(graph.Trace("f", specs, f)))
			want := tenon.Must(f(in))
			for range 2 {
				got := tenon.Must(p.Run(t.Context(), in))
				for i := range want {
					if err := tensor.AllClose(got[i], want[i]); err != nil {
						t.Errorf("%v along axis %d: result %d: %v", c.dims, c.axis, i, err)
					}
				}
			}
		}
	}
}
