package optable

import "github.com/tenonml/tenon/dtype"

func init() {
	Add(contractRow())
}

func contractRow() Row {
	r := Row{Op: "contract", Smooth: true, Tol: 128, Ref: func(args []any) []Array {
		term := func(i int) string {
			var t []rune
			for _, l := range args[i].([]int) {
				t = append(t, rune('a'+l))
			}
			return string(t)
		}
		return []Array{sums([]string{term(2), term(3)}, term(4), []Array{args[0].(Array), args[1].(Array)})}
	}}
	sizes := []int{2, 3, 4, 2, 3}
	dims := func(labels []int) []int {
		out := make([]int, len(labels))
		for i, l := range labels {
			out[i] = sizes[l]
		}
		return out
	}
	add := func(d dtype.DType, a, b, out []int) {
		r.Calls = append(r.Calls, Args(
			SampleSeed(d, 1, dims(a)...), SampleSeed(d, 2, dims(b)...), a, b, out))
	}
	for _, d := range productTypes {
		add(d, []int{0, 1}, []int{1, 2}, []int{0, 2})
	}
	for _, c := range [][3][]int{
		{{0, 1}, {1, 2}, {2, 0}},             // the result transposed
		{{1, 0}, {2, 1}, {0, 2}},             // both operands transposed
		{{3, 0, 1}, {3, 1, 2}, {3, 0, 2}},    // a batch
		{{0, 1, 3}, {1, 2, 3}, {0, 2, 3}},    // the batch innermost
		{{0, 3, 1}, {1, 3, 2}, {0, 3, 2}},    // the batch between
		{{0, 1, 2}, {2, 1, 3}, {0, 3}},       // two sums, in other orders
		{{1, 0, 2}, {1, 3, 2}, {3, 0}},       // two sums that lie apart
		{{0, 1, 3}, {1, 2, 4}, {0, 2, 3, 4}}, // rows and columns in turns
		{{0}, {1}, {1, 0}},                   // nothing is summed over
		{{0, 1}, {0, 1}, {}},                 // everything is
		{{0, 1}, {0, 1}, {1, 0}},             // a product of elements
		{{}, {0, 1}, {1, 0}},
		{{0, 1, 2, 3, 4}, {4, 2, 0}, {3, 1}},
	} {
		add(dtype.Float64, c[0], c[1], c[2])
	}
	add(dtype.Float32, []int{0, 3, 1}, []int{1, 3, 2}, []int{0, 3, 2})
	sizes[1] = 0
	add(dtype.Float64, []int{0, 1}, []int{1, 2}, []int{0, 2})
	add(dtype.Float64, []int{0, 1}, []int{0, 2}, []int{0, 1, 2})
	return r
}
