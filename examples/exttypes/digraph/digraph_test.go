package digraph_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/examples/exttypes/digraph"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

// Edges 0→1, 0→2, 2→1; node 3 is alone.
func graph() digraph.TensorDigraph {
	return tenon.Must(digraph.New([][]float32{{1, 0}, {0, 1}, {1, 1}, {5, 5}}, []int64{0, 0, 2}, []int64{1, 2, 1}))
}

func labeled() digraph.LabeledDigraph {
	return tenon.Must(ext.New(digraph.LabeledDigraph{
		NodeLabels: map[string]tensor.Tensor{"h": tensor.Vector([]float32{1, 2, 3, 4}), "id": tensor.Vector([]int64{7, 8, 9, 10})},
		EdgeLabels: map[string]tensor.Tensor{"w": tensor.Vector([]float32{0.5, 2, 10})},
		Source:     tensor.Vector([]int64{0, 0, 2}), Target: tensor.Vector([]int64{1, 2, 1}),
	}))
}

func Example() {
	g := graph()
	fmt.Println(g.InDegree())
	fmt.Println(g.SumMessages().Nodes)
	fmt.Println(g.Successors())
	fmt.Println(labeled().WeightedSum("h", "w"))
	// Output:
	// [0 2 1 0] int64[4]
	// [[0. 0.]
	//  [2. 1.]
	//  [1. 0.]
	//  [0. 0.]] float32[4, 2]
	// [[1 2] [] [1] []] int64[4, ~]
	// [ 0.  30.5  2.   0. ] float32[4]
}

func TestLaws(t *testing.T) {
	spectest.Laws(t, spectest.Options{}, graph(), tenon.Must(digraph.New([]float32{1}, []int64{}, []int64{})))
	spectest.Laws(t, spectest.Options{}, labeled(), labeled().With("extra", tensor.Vector([]float32{0, 0, 0, 0})))
}

func TestPageRank(t *testing.T) {
	// Two nodes that point at each other and one that points at the first.
	g := tenon.Must(digraph.New([]float32{0, 0, 0}, []int64{0, 1, 2}, []int64{1, 0, 0}))
	want := []float64{0.4865, 0.4635, 0.05} // solved by hand: r2 = 0.05, r0 = 0.05+0.85(r1+r2), r1 = 0.05+0.85 r0
	traced := function.New(func(g digraph.TensorDigraph) tensor.Tensor { return g.PageRank(0.85, 1e-12) })
	for name, got := range map[string]tensor.Tensor{"eager": g.PageRank(0.85, 1e-12), "traced": traced.Call(g)} {
		for i, x := range tensor.Data[float64](got) {
			if math.Abs(x-want[i]) > 1e-4 {
				t.Errorf("%s: node %d has rank %v, want %v", name, i, x, want[i])
			}
		}
		if s := tensor.Item[float64](ops.Sum(got)); math.Abs(s-1) > 1e-9 {
			t.Errorf("%s: the ranks sum to %v", name, s)
		}
	}
}

func TestBatch(t *testing.T) {
	g, of, err := digraph.Batch(graph(), graph())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string][2]tensor.Tensor{
		"source": {g.Source, tensor.Vector([]int64{0, 0, 2, 4, 4, 6})},
		"target": {g.Target, tensor.Vector([]int64{1, 2, 1, 5, 6, 5})},
		"graph":  {of, tensor.Vector([]int64{0, 0, 0, 0, 1, 1, 1, 1})},
	} {
		if !tensor.Equal(c[0], c[1], tensor.EqualOptions{}) {
			t.Errorf("%s: got %v, want %v", name, c[0], c[1])
		}
	}
	back := g.Subgraph(ops.Equal(of, 1))
	if !tensor.Equal(back, graph(), tensor.EqualOptions{}) {
		t.Errorf("the second graph comes back as %v", back)
	}
}

func TestSample(t *testing.T) {
	seeds := tensor.Vector([]int64{0, 1, 2})
	got := graph().Sample(ops.RandomKey(1), seeds, 50)
	for i, x := range tensor.Data[int64](got) {
		switch seed := i / 50; {
		case seed == 0 && x != 1 && x != 2, seed == 1 && x != -1, seed == 2 && x != 1:
			t.Fatalf("seed %d has the neighbour %d", seed, x)
		}
	}
	both := map[int64]bool{}
	for _, x := range tensor.Data[int64](got)[:50] {
		both[x] = true
	}
	if len(both) != 2 {
		t.Errorf("50 draws from two neighbours gave only %v", both)
	}
}

func TestGradientThroughMessages(t *testing.T) {
	g := grad.Of(func(g digraph.TensorDigraph) tensor.Tensor { return ops.Sum(g.SumMessages().Nodes) })(graph())
	want := tensor.Tensor(tenon.Must(tensor.Convert([][]float32{{2, 2}, {0, 0}, {1, 1}, {0, 0}})))
	if !tensor.Equal(g.Nodes, want, tensor.EqualOptions{}) {
		t.Errorf("got %v, want %v", g.Nodes, want)
	}
}

func TestBadGraphs(t *testing.T) {
	if _, err := digraph.New([]float32{1, 2}, []int64{0}, []int64{0, 1}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("ends differ in number: %v", err)
	}
	if _, err := digraph.New([]float32{1, 2}, []int64{0}, []int64{2}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("an edge to nowhere: %v", err)
	}
	if _, err := tenon.Try(func() tensor.Tensor { return labeled().WeightedSum("no", "w") }); !errors.Is(err, tenon.ErrNotFound) {
		t.Errorf("no such label: %v", err)
	}
	short := labeled()
	short.EdgeLabels = map[string]tensor.Tensor{"w": tensor.Vector([]float32{1})}
	if _, err := ext.New(short); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("a label for too few edges: %v", err)
	}
}
