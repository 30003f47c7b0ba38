package ragged_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func TestPrint(t *testing.T) {
	long := make([][]int64, 700)
	for i := range long {
		long[i] = []int64{int64(i), 1, 2}
	}
	wide := make([]float32, 1200)
	for _, c := range []struct {
		x    T
		want string
	}{
		{rag([]int64{3, 1}, nil, []int64{5}), "[[3 1] [] [5]] int64[3, ~]"},
		{rag([]float64{0.1, 2}, []float64{math.NaN(), math.Inf(-1)}), "[[0.1 2.] [nan -inf]] float64[2, ~]"},
		{rag[float32](), "[] float32[0, ~]"},
		{ragged.FromSlices2([][][]int64{{{1}, nil}, nil}), "[[[1] []] []] int64[2, ~, ~]"},
		{tenon.Must(ragged.FromUniformRowLength([]bool{true, false}, 1, nil)), "[[true] [false]] bool[2, 1]"},
		{tenon.Must(ragged.FromRowSplits(tensor.Of([]int64{1, 2, 3, 4}, 2, 2), []int{0, 2})), "[[[1 2] [3 4]]] int64[1, ~, 2]"},
		{ragged.FromSlices([][]string{{"a b", "c"}, nil}), "[[\"a b\" \"c\"]\n []] string[2, ~]"},
		{ragged.FromSlices(long), "[[0 1 2] [1 1 2] [2 1 2] ... [697 1 2] [698 1 2] [699 1 2]] int64[700, ~]"},
		{rag(wide, []float32{1}), "[[0. 0. 0. ... 0. 0. 0.] [1.]] float32[2, ~]"},
	} {
		if got := fmt.Sprint(c.x); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	if got, want := fmt.Sprintf("%+v", rag(wide)), 2*1200+len("[[]] float32[1, ~]"); len(got) < want {
		t.Errorf("with a plus flag %d bytes are printed, want all elements", len(got))
	}
}

func Example() {
	x := ragged.FromSlices([][]int64{{3, 1, 4, 1}, nil, {5, 9, 2}, {6}})
	fmt.Println(x)
	fmt.Println(x.RowSplits())
	fmt.Println(tenon.Must(x.Index(2)))
	fmt.Println(tenon.Must(ragged.Pick(x, -1, ragged.PickOptions{Fill: 0})))
	// Output:
	// [[3 1 4 1] [] [5 9 2] [6]] int64[4, ~]
	// [0 4 4 7 8] int64[5]
	// [5 9 2] int64[3]
	// [1 0 2 6] int64[4]
}
