package optable

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// Sums of weighted rows of a table, and products of matrices of different sizes.
func init() {
	floats := []dtype.DType{dtype.Float32, dtype.Float64}
	ids := Int(2, 0, 2, 1, 1, 3, 0, 2)
	const size, width = 4, 3
	Add(
		Row{Op: "ragged.embedding_bag", Smooth: true, Tol: 32, Calls: EachType(floats, func(d dtype.DType) []Call {
			return []Call{
				Args(Uniform(d, []int{size, width}, -1, 1), ids, Uniform(d, []int{8}, -1, 1), splitsA),
				Args(Uniform(d, []int{size, width}, -1, 1), Int32(2, 0, 2, 1, 1, 3, 0, 2), Uniform(d, []int{8}, -1, 1), splitsB),
				Args(Uniform(d, []int{size, 0}, -1, 1), ids, Uniform(d, []int{8}, -1, 1), splitsA),
				Args(Uniform(d, []int{size, width}, -1, 1), Int(), Uniform(d, []int{0}, -1, 1), noRows),
			}
		}), Ref: func(a []any) []Array {
			t, at, w := a[0].(Array), Positions(a[1]), a[2].(Array)
			rows := cells(a[3])
			k := t.Shape[1]
			out := Array{Shape: []int{len(rows), k}, X: make([]complex128, len(rows)*k)}
			for r, items := range rows {
				for _, i := range items {
					for j := range k {
						out.X[r*k+j] += w.X[i] * t.X[at[i]*k+j]
					}
				}
			}
			return []Array{out}
		}},
		Row{Op: "ragged.embedding_bag_table", Smooth: true, Tol: 32, Calls: EachType(floats, func(d dtype.DType) []Call {
			return []Call{
				Args(Uniform(d, []int{4, width}, -1, 1), ids, Uniform(d, []int{8}, -1, 1), splitsA, tensor.Scalar(int64(size))),
				Args(Uniform(d, []int{0, width}, -1, 1), Int(), Uniform(d, []int{0}, -1, 1), noRows, tensor.Scalar(int64(size))),
			}
		}), Ref: func(a []any) []Array {
			ct, at, w := a[0].(Array), Positions(a[1]), a[2].(Array)
			n, k := Positions(a[4])[0], ct.Shape[1]
			out := Array{Shape: []int{n, k}, X: make([]complex128, n*k)}
			for r, items := range cells(a[3]) {
				for _, i := range items {
					for j := range k {
						out.X[at[i]*k+j] += w.X[i] * ct.X[r*k+j]
					}
				}
			}
			return []Array{out}
		}},
		Row{Op: "ragged.embedding_bag_weights", Smooth: true, Tol: 32, Calls: EachType(floats, func(d dtype.DType) []Call {
			return []Call{
				Args(Uniform(d, []int{4, width}, -1, 1), Uniform(d, []int{size, width}, -1, 1), ids, splitsA),
				Args(Uniform(d, []int{4, 9}, -1, 1), Uniform(d, []int{size, 9}, -1, 1), ids, splitsA),
				Args(Uniform(d, []int{0, width}, -1, 1), Uniform(d, []int{size, width}, -1, 1), Int(), noRows),
			}
		}), Ref: func(a []any) []Array {
			ct, t, at := a[0].(Array), a[1].(Array), Positions(a[2])
			k := t.Shape[1]
			out := Array{Shape: []int{len(at)}, X: make([]complex128, len(at))}
			for r, items := range cells(a[3]) {
				for _, i := range items {
					for j := range k {
						out.X[i] += ct.X[r*k+j] * t.X[at[i]*k+j]
					}
				}
			}
			return []Array{out}
		}},
		Row{Op: "ragged.matmul", Smooth: true, Tol: 32, Calls: EachType([]dtype.DType{dtype.Float32, dtype.Float64, dtype.Float16, dtype.BFloat16, dtype.Int32, dtype.Int64}, func(d dtype.DType) []Call {
			// Pairs 2×3·3×1, 0×2·2×2 and 1×2·2×3, also with either side as it lies transposed.
			sizes := func(x ...int64) tensor.Tensor { return tensor.Of(x, len(x)/2, 2) }
			a, at := sizes(2, 3, 0, 2, 1, 2), sizes(3, 2, 2, 0, 2, 1)
			b, bt := sizes(3, 1, 2, 2, 2, 3), sizes(1, 3, 2, 2, 3, 2)
			x, y := Uniform(d, []int{8}, -4, 4), Uniform(d, []int{13}, -4, 4)
			return []Call{
				Args(x, y, a, b, false, false), Args(x, y, at, b, true, false),
				Args(x, y, a, bt, false, true), Args(x, y, at, bt, true, true),
				Args(Uniform(d, []int{0}, -1, 1), Uniform(d, []int{0}, -1, 1), sizes(), sizes(), false, false),
			}
		}), Ref: func(a []any) []Array {
			x, y := a[0].(Array), a[1].(Array)
			as, bs := a[2].(Array), a[3].(Array)
			size := func(s Array, i, k int) int { return int(real(s.X[2*i+k])) }
			var out []complex128
			xo, yo := 0, 0
			for p := range as.Shape[0] {
				ar, ac, br, bc := size(as, p, 0), size(as, p, 1), size(bs, p, 0), size(bs, p, 1)
				at := func(i, k int) complex128 { return x.X[xo+i*ac+k] }
				m, n, inner := ar, bc, ac
				if a[4].(bool) {
					m, inner = ac, ar
					at = func(i, k int) complex128 { return x.X[xo+k*ac+i] }
				}
				bt := func(k, j int) complex128 { return y.X[yo+k*bc+j] }
				if a[5].(bool) {
					n = br
					bt = func(k, j int) complex128 { return y.X[yo+j*bc+k] }
				}
				for i := range m {
					for j := range n {
						var s complex128
						for k := range inner {
							s += at(i, k) * bt(k, j)
						}
						out = append(out, s)
					}
				}
				xo += ar * ac
				yo += br * bc
			}
			return []Array{{Shape: []int{len(out)}, X: out}}
		}},
	)
}
