package interp

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// wave makes a tensor of smooth numbers.
func wave(phase float64, dims ...int) tensor.Tensor {
	x := make([]float32, shape.Of(dims...).Size())
	for i := range x {
		x[i] = float32(math.Sin(phase+0.7*float64(i)+0.001*float64(i%1000*(i%1000)))) / 4
	}
	return tensor.Of(x, dims...)
}

// stepNames returns the operations of a plan's steps; those of a group are joined by +.
func stepNames(p *Plan) string {
	var names []string
	for i := range p.steps {
		names = append(names, p.steps[i].name())
	}
	return strings.Join(names, " ")
}

// Attention of projections is one step, whatever order their axes have, unless somebody
// looks at a projection, heads are short, or the operands are views; it computes what its
// nodes compute one by one.
func TestAttentionOfProjections(t *testing.T) {
	const s, m, b, r, h, k, e = 0, 1, 2, 3, 4, 5, 6
	attend, _ := op.Lookup("attention")
	sizes := []int{130, 140, 2, 12, 3, 9, 10}
	short := []int{30, 40, 2, 12, 3, 9, 10}
	dims := func(sizes, labels []int) (d []int) {
		for _, l := range labels {
			d = append(d, sizes[l])
		}
		return d
	}
	plain := [][]int{{b, s, r}, {h, r, k}, {b, h, s, k}, {b, m, r}, {h, r, k}, {b, h, m, k}, {b, m, r}, {h, r, e}, {b, h, m, e}, {b, h, s, e}}
	turned := [][]int{{s, r, b}, {k, r, h}, {s, k, b, h}, {k, h, r}, {b, m, r}, {b, h, m, k}, {r, m, b}, {r, e, h}, {e, h, m, b}, {b, s, h, e}}
	for _, tt := range []struct {
		name   string
		sizes  []int
		labels [][]int // of the operands and result of each projection, and of the whole result
		more   func(q, y tensor.Tensor) []tensor.Tensor
		view   bool
		steps  string
	}{
		{"plain", sizes, plain, nil, false, "contract+contract+contract+attention"},
		{"in other orders", sizes, turned, nil, false, "contract+contract+contract+attention"},
		{"views", sizes, plain, nil, true, "contract+contract+contract+attention"},
		{"short", short, plain, nil, false, "contract contract contract attention"},
		{"somebody looks", sizes, plain, func(q, y tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{y, q} }, false, "contract contract contract attention"},
		{"rows that are not consecutive", sizes, append(plain[:9:9], []int{b, h, e, s}), nil, false, "contract contract contract attention"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := tt.labels
			f := func(x []tensor.Tensor) ([]tensor.Tensor, error) {
				p := make([]any, 3)
				for i := range p {
					p[i] = ops.Contract(x[2*i], x[2*i+1], l[3*i], l[3*i+1], l[3*i+2])
				}
				y := op.Eval(attend, append(p, nil, nil, nil, l[2], l[5], l[8], []int(nil), l[9], 0.5)...)
				if tt.more != nil {
					return tt.more(p[0].(tensor.Tensor), y), nil
				}
				return []tensor.Tensor{y}, nil
			}
			var in []tensor.Tensor
			var specs []*tensor.Spec
			for i := range 6 {
				d := dims(tt.sizes, l[i/2*3+i%2])
				x := wave(float64(i), d...)
				if tt.view {
					x = ops.Slice(wave(float64(i), append(d[:2:2], d[2]+1)...), []int{0, 0, 0}, d)
				}
				in = append(in, x)
				specs = append(specs, tensor.NewSpec(dtype.Float32, x.Shape()))
			}
			g, err := graph.Trace("f", specs, f)
			if err != nil {
				t.Fatal(err)
			}
			plan := For(g)
			if got := stepNames(plan); got != tt.steps {
				t.Errorf("steps %q, want %q", got, tt.steps)
			}
			got, err := plan.Run(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			want, err := f(in)
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if !got[i].Shape().Equal(want[i].Shape()) {
					t.Fatalf("shape %v, want %v", got[i].Shape(), want[i].Shape())
				}
				x, y := tensor.Data[float32](tensor.Contiguous(got[i].(*tensor.Dense))), tensor.Data[float32](tensor.Contiguous(want[i].(*tensor.Dense)))
				for k := range y {
					if math.Abs(float64(x[k]-y[k])) > 1e-5 {
						t.Fatal(fmt.Sprint("element ", k, " is ", x[k], ", want ", y[k]))
					}
				}
			}
		})
	}
}
