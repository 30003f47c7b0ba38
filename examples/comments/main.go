// Command comments predicts from which package a comment is: the mean of embedded words, trained on the standard
// library's own source.
//
//	go run ./examples/comments -picture comments.svg
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/examples/internal/draw"
	"github.com/tenonml/tenon/examples/internal/source"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

var packages = []string{"crypto/tls", "encoding/json", "go/ast", "go/types", "image", "math/big", "net", "net/http", "os", "reflect", "regexp", "text/template", "time"}

// Comments are the words of comments, and their packages.
type Comments struct {
	Words *ragged.Tensor // string[n, (words)], in lower case
	From  tensor.Tensor  // int64[n], the number of a package
}

// Model scores packages by the mean of the vectors of words.
type Model struct {
	Known nn.Vocabulary
	Words nn.Embedding
	Out   nn.MLP
}

// Logits returns a score for each package. If there is a key, a fifth of the features is dropped.
func (m Model) Logits(words *ragged.Tensor, key tensor.Tensor) tensor.Tensor {
	x := m.Words.Bag(m.Known.Lookup(words).(*ragged.Tensor), nil, nn.BagMean)
	if key != nil {
		x = nn.Dropout{Rate: 0.2}.Apply(key, x)
	}
	return m.Out.Apply(x)
}

// read returns the comments of all functions and methods of the packages.
func read() Comments {
	var texts []string
	var from []int64
	for p, f := range source.Functions(packages...) {
		if f.Doc != nil {
			texts, from = append(texts, f.Doc.Text()), append(from, int64(slices.Index(packages, p)))
		}
	}
	words := ops.StringRegexReplace(ops.StringLower(tensor.Of(texts), ops.UnitChar), `[^a-z0-9]+`, " ", ops.RegexReplaceOptions{})
	return Comments{tenon.Must(ragged.SplitStrings(ops.StringStrip(words), ops.SplitOptions{})).(*ragged.Tensor), tensor.Of(from)}
}

// run returns the share of comments, not used for training, whose package is predicted
// correctly.
func run(ctx context.Context, epochs int, picture string) (accuracy float64, err error) {
	defer tenon.Catch(&err)
	parts := dataset.FromRows(read()).Shuffle(1).Split(0.8, 0.2)
	seen := tenon.Must(parts[0].Batch(1<<20, dataset.BatchOptions{Kind: dataset.Ragged}).At(0))
	var words nn.Tally
	if err := words.Update(seen.Words); err != nil {
		return 0, err
	}
	k, known := ops.RandomKeys(ops.RandomKey(1), 2), words.Vocabulary(nn.VocabularyOptions{Least: 2})
	model := Model{known, nn.NewEmbedding(k[0], known.Size(), 64, nn.EmbeddingOptions{Init: nn.Normal}), nn.NewMLP(k[1], []int{64, len(packages)})}
	loss := func(m Model, b Comments, key tensor.Tensor) tensor.Tensor {
		return ops.Mean(nn.SoftmaxCrossEntropy(m.Logits(b.Words, key), b.From))
	}
	fit := tenon.Must(train.Fit(ctx, model, loss, train.FitOptions[Model, Comments]{
		Options: train.Options{Optimizer: train.Adam(0.01)}, Epochs: epochs,
		Data: tenon.Must(train.FromDataset(parts[0].Shuffle(2).Batch(64, dataset.BatchOptions{Kind: dataset.Ragged}))),
	}))
	test := tenon.Must(parts[1].Batch(1<<20, dataset.BatchOptions{Kind: dataset.Ragged}).At(0))
	return draw.Confusion(picture, test.From, ops.ArgMax(fit.Params.Logits(test.Words, nil), -1), packages...)
}

func main() {
	epochs := flag.Int("epochs", 5, "passes over the data")
	picture := flag.String("picture", "", "write the confusion matrix to this `file`, an SVG")
	flag.Parse()
	accuracy, err := run(context.Background(), *epochs, *picture)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("the package of %.1f %% of the comments is predicted correctly\n", 100*accuracy)
}
