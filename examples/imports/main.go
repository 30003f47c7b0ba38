// Command imports predicts the subjects of packages of Go's standard library, given the subjects of some: a network
// over the graph of imports.
//
//	go run ./examples/imports -picture imports.svg
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/examples/exttypes/digraph"
	"github.com/tenonml/tenon/examples/internal/draw"
	"github.com/tenonml/tenon/examples/internal/source"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// about are the path elements that are distinguished as subjects; the first stands for all
// others.
var about = []string{"others", "crypto", "encoding", "go", "net", "runtime"}

// Model has a vector for each package, which is combined with those of the packages that it imports and
// that import it.
type Model struct {
	First, Second [2]nn.GraphConv // along imports, and against them
	Out           nn.Dense
}

// New returns an untrained model.
func New(key tensor.Tensor, features int) Model {
	k, o := ops.RandomKeys(key, 5), nn.GraphOptions{Activation: nn.Relu}
	return Model{
		[2]nn.GraphConv{nn.NewGraphConv(k[0], features, 32, o), nn.NewGraphConv(k[1], features, 32, o)},
		[2]nn.GraphConv{nn.NewGraphConv(k[2], 64, 16, o), nn.NewGraphConv(k[3], 64, 16, o)},
		nn.NewDense(k[4], 32, len(about)),
	}
}

// Logits returns scores of the subjects of each package: [nodes, subjects].
func (m Model) Logits(g digraph.TensorDigraph, key tensor.Tensor) tensor.Tensor {
	x := g.Nodes
	for i, l := range [][2]nn.GraphConv{m.First, m.Second} {
		x = ops.Concat([]any{l[0].Apply(x, g.Source, g.Target), l[1].Apply(x, g.Target, g.Source)}, -1)
		if key != nil {
			x = nn.Dropout{Rate: 0.5}.Apply(ops.RandomFoldIn(key, i), x)
		}
	}
	return m.Out.Apply(x)
}

// run trains on the subjects of every second package, and returns the share of the others whose subject is predicted
// correctly.
func run(ctx context.Context, steps int, picture string) (accuracy float64, err error) {
	defer tenon.Catch(&err)
	paths, imports, err := source.Imports()
	if err != nil {
		return 0, err
	}
	var labels, from, to, seen, test []int64
	for i, path := range paths {
		at := slices.IndexFunc(about, func(a string) bool { return slices.Contains(strings.Split(path, "/"), a) })
		labels = append(labels, int64(max(at, 0)))
		for _, p := range imports[i] {
			if k := slices.Index(paths, p); k >= 0 {
				from, to = append(from, int64(i)), append(to, int64(k))
			}
		}
		if i%2 == 0 {
			seen = append(seen, int64(i))
		} else {
			test = append(test, int64(i))
		}
	}
	g := tenon.Must(digraph.New(ops.Eye(dtype.Float32, len(paths), len(paths)), from, to))
	loss := func(m Model, g digraph.TensorDigraph, key tensor.Tensor) tensor.Tensor {
		logits := ops.Gather(m.Logits(g, key), tensor.Of(seen), 0)
		return ops.Mean(nn.SoftmaxCrossEntropy(logits, ops.Gather(tensor.Of(labels), tensor.Of(seen), 0)))
	}
	fit := tenon.Must(train.Fit(ctx, New(ops.RandomKey(1), len(paths)), loss, train.FitOptions[Model, digraph.TensorDigraph]{
		Options: train.Options{Optimizer: train.AdamW(0.01, train.AdamOptions{WeightDecay: 0.05})}, Steps: steps,
		Data: train.Source[digraph.TensorDigraph]{Batches: 1, At: func(context.Context, int) (digraph.TensorDigraph, error) { return g, nil }},
	}))
	held := tensor.Of(test)
	answers := ops.Gather(ops.ArgMax(fit.Params.Logits(g, nil), -1), held, 0)
	return draw.Confusion(picture, ops.Gather(tensor.Of(labels), held, 0), answers, about...)
}

func main() {
	steps := flag.Int("steps", 60, "updates")
	picture := flag.String("picture", "", "write the confusion matrix to this `file`, an SVG")
	flag.Parse()
	accuracy, err := run(context.Background(), *steps, *picture)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("the subject of %.1f %% of the packages is predicted correctly\n", 100*accuracy)
}
