package control_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/internal/passes"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// unit is a recurrence that reads a matrix from outside, whose products its gradient needs.
func unit(w T) func(h, x T) (T, T) {
	return func(h, x T) (T, T) {
		h = ops.Tanh(ops.Add(x, ops.MatMul(h, w)))
		return h, ops.Mul(h, x)
	}
}

// What a scan along rows of any lengths returns is what scans of each row alone do, and so are gradients,
// of gradients too.
func TestScanAlongRows(t *testing.T) {
	for _, lengths := range [][]int{{2, 0, 3, 1, 3}, {4}, {0, 0}, {}} {
		splits, total := []int64{0}, 0
		for _, n := range lengths {
			total += n
			splits = append(splits, int64(total))
		}
		sizes := []int{4, 2 * len(lengths), 2 * total} // a matrix, first states, items
		apart := func(all T) (w, h, x T) {
			p := ops.Split(all, sizes, 0)
			return ops.Reshape(p[0], []int{2, 2}), ops.Reshape(p[1], []int{len(lengths), 2}), ops.Reshape(p[2], []int{total, 2})
		}
		together := func(last, ys T) T {
			return ops.Concat([]any{ops.Reshape(last, []int{-1}), ops.Reshape(ys, []int{-1})}, 0)
		}
		for _, reverse := range []bool{false, true} {
			f := func(all T) T {
				w, h, x := apart(all)
				return together(control.Scan(unit(w), h, x, control.ScanOptions{RowSplits: tensor.Of(splits), Reverse: reverse}))
			}
			alone := func(all T) T {
				w, h, x := apart(all)
				last, ys := []any{ops.Zeros(x.DType(), []int{0, 2})}, []any{ops.Zeros(x.DType(), []int{0, 2})}
				for r, n := range lengths {
					a, b := control.Scan(unit(w), ops.Slice(h, []int{r, 0}, []int{1, 2}), ops.ExpandDims(ops.Slice(x, []int{int(splits[r]), 0}, []int{n, 2}), 1), control.ScanOptions{Reverse: reverse})
					last, ys = append(last, a), append(ys, ops.Squeeze(b, 1))
				}
				return together(ops.Concat(last, 0), ops.Concat(ys, 0))
			}
			all := ops.Mul(ops.Sin(ops.Mul(ops.Range(1.0, float64(5+2*len(lengths)+2*total), 1.0), 1.7)), 0.8)
			bothWays(t, f, all, data(alone(all)))

			// The slope of the gradient's own size, and that of many scans at once.
			size := func(f func(T) T) func(T) T {
				d := grad.Of(func(x T) T { return ops.Sum(ops.Square(f(x))) })
				return grad.Of(func(x T) T { return ops.Sum(ops.Square(d(x))) })
			}
			for name, g := range map[string]func(T) T{"eager": size(f), "traced": function.New(size(f)).Call} {
				if err := tensor.AllClose(g(all), size(alone)(all)); err != nil {
					t.Errorf("%v, %s: second derivative: %v", lengths, name, err)
				}
			}
			many := control.Map(f, ops.Stack([]any{all, ops.Neg(all)}, 0))
			if err := tensor.AllClose(many, ops.Stack([]any{f(all), f(ops.Neg(all))}, 0)); err != nil {
				t.Errorf("%v: several scans: %v", lengths, err)
			}
		}
	}
}

// What rows do not fit is refused, and what went wrong in a turn says in which.
func TestScanAlongRowsRefuses(t *testing.T) {
	x, h := tensor.Of([]float64{1, 2, 3}), tensor.Of([]float64{0, 0})
	sum := func(c, x T) (T, T) { c = ops.Add(c, x); return c, c }
	for _, c := range []struct {
		name   string
		splits T
		body   func(c, x T) (T, T)
		want   string
	}{
		{"too few items", tensor.Of([]int64{0, 1, 2}), sum, "input 1 is float64[3], where the row splits want 2"},
		{"too many rows", tensor.Of([]int64{0, 1, 2, 3}), sum, "input 0 is float64[2], where the row splits want 3"},
		{"not rising", tensor.Of([]int64{0, 4, 3}), sum, "comes after 4"},
		{"no integers", tensor.Of([]float64{0, 1, 3}), sum, "not a vector of integers"},
		{"one for all rows", tensor.Of([]int64{0, 1, 3}), func(c, x T) (T, T) { return ops.Add(c, x), ops.Sum(x) }, "the body returns float64[] for some rows at a time"},
		{"one of the rows", tensor.Of([]int64{0, 1, 3}), func(c, x T) (T, T) { return ops.Add(c, x), ops.Slice(x, []int{0}, []int{1}) }, "for items of 2 rows"},
		{"in a turn", tensor.Of([]int64{0, 1, 3}), func(c, x T) (T, T) {
			return sum(c, ops.Gather(tensor.Of([]float64{1, 2}), ops.Cast(x, dtype.Int64), 0))
		}, "position 0"},
	} {
		_, err := tenon.Try(func() T {
			last, _ := control.Scan(c.body, T(h), T(x), control.ScanOptions{RowSplits: c.splits})
			return last
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
		if err != nil && !errors.As(err, new(*tenon.Error)) {
			t.Errorf("%s: %T", c.name, err)
		}
	}
}

// A gradient computes the products of a loop once on the way forth, and not again on the way back. Those that
// only are gathered up are one product after it.
func TestGradientsKeepProducts(t *testing.T) {
	w, h, x := T(tensor.Of([]float64{0.5, -0.2, 0.3, 0.1}, 2, 2)), T(tensor.Of([]float64{0, 0}, 1, 2)), T(tensor.Of([]float64{1, 2, 3, 4, 5, 6}, 3, 2))
	for name, scan := range map[string]func(w, x T) (T, T){
		"positions": func(w, x T) (T, T) { return control.Scan(unit(w), h, ops.ExpandDims(x, 1)) },
		"rows": func(w, x T) (T, T) {
			return control.Scan(unit(w), h, x, control.ScanOptions{RowSplits: tensor.Of([]int64{0, 3})})
		},
	} {
		f := function.New(func(w, x T) (T, T) {
			return grad.ValueAndGrad(func(w, x T) T { last, ys := scan(w, x); return ops.Add(ops.Sum(last), ops.Sum(ys)) })(w, x)
		})
		g := tenon.Must(passes.Apply(tenon.Must(f.Trace(w, x)), passes.Default)).String()
		if n, sums := strings.Count(g, "matmul("), strings.Count(g, "contract("); n != 2 || sums != 1 { // h·w, and the cotangent of h
			t.Errorf("%s: %d products and %d sums of all turns, want 2 and 1:\n%s", name, n, sums, g)
		}
	}
}
