// Command chars writes text like the comments in Go's standard library: a transformer over named dimensions.
//
//	go run ./examples/chars -picture chars.svg
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/examples/internal/draw"
	"github.com/tenonml/tenon/examples/internal/source"
	"github.com/tenonml/tenon/learn/generate"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

type (
	Batch struct{ named.Dim[Batch] } // distinguishes texts
	Seq   struct{ named.Dim[Seq] }   // the position of a character
	Rep   struct{ named.Dim[Rep] }   // the features of a character in its text
	Char  struct{ named.Dim[Char] }  // a character
)

const width, heads, blocks, length, texts = 64, 4, 2, 64, 12

// Model predicts the next character of a text.
type Model struct {
	Chars  nn.Embedding
	Blocks []nn.EncoderBlock
	Out    nn.Dense
}

// New returns an untrained model.
func New(key tensor.Tensor) (m Model) {
	k := ops.RandomKeys(key, blocks+2)
	m.Chars = nn.NewEmbedding(k[0], 128, width, nn.EmbeddingOptions{Init: nn.LecunNormal, Names: nn.Names{Out: Rep{}}})
	m.Out = nn.NewDense(k[1], width, 128, nn.DenseOptions{Names: nn.Names{In: Rep{}, Out: Char{}}})
	attention := nn.AttentionOptions{Names: nn.Names{In: Rep{}, Along: Seq{}}, Rotary: 1000, Sight: nn.Sight{Causal: true}}
	for _, k := range k[2:] {
		m.Blocks = append(m.Blocks, nn.NewEncoderBlock(k, width, heads, nn.BlockOptions{Attention: attention}))
	}
	return m
}

// Logits returns a score for each possible next character: {Batch, Seq} → {Batch, Seq, Char}.
func (m Model) Logits(text *named.Tensor) tensor.Tensor {
	x := m.Chars.Apply(text)
	for _, b := range m.Blocks {
		x = b.Apply(x)
	}
	return m.Out.Apply(x)
}

// Next returns the scores of the characters that follow rows of characters, and the rows' caches.
func (m Model) Next(text *ragged.Tensor, seen []nn.Cache) (tensor.Tensor, []nn.Cache) {
	x, after := m.Chars.Apply(text), append(slices.Clone(seen), make([]nn.Cache, blocks-len(seen))...)
	for i, b := range m.Blocks {
		x, after[i] = b.Extend(x, after[i])
	}
	return m.Out.Apply(generate.Last(x)), after
}

// run returns the bits per character of text that was not used for training, and continues the prompts.
func run(ctx context.Context, steps int, picture string, prompts ...string) (bits float64, written []string, err error) {
	defer tenon.Catch(&err)
	var b strings.Builder
	for _, f := range source.Functions("bytes", "io", "net/http", "os", "strconv", "strings", "time") {
		b.WriteString(f.Doc.Text() + "\n")
	}
	text := codes(b.String()).FlatValues()
	n, seen := text.Shape().Dim(0), text.Shape().Dim(0)*9/10
	rows := func(first, step int) *named.Tensor { // texts that begin at regular distances
		at := ops.Add(ops.ExpandDims(ops.Range(int64(0), int64(texts*step), int64(step)), -1), ops.Range(int64(first), int64(first+length+1), int64(1)))
		return named.Of(ops.Gather(text, at, 0), Batch{}, Seq{})
	}
	loss := func(m Model, x *named.Tensor, _ tensor.Tensor) tensor.Tensor {
		return nn.SoftmaxCrossEntropy(m.Logits(named.Index[Seq](x, key.To(-1))), named.Index[Seq](x, key.From(1)), nn.CrossEntropyOptions{Classes: Char{}, Reduction: nn.MeanLoss})
	}
	fit := tenon.Must(train.Fit(ctx, New(ops.RandomKey(1)), loss, train.FitOptions[Model, *named.Tensor]{
		Options: train.Options{Optimizer: train.AdamW(train.OneCycle(0.01, steps)), ClipNorm: 1}, Steps: steps,
		Data: train.Source[*named.Tensor]{Batches: steps, At: func(_ context.Context, step int) (*named.Tensor, error) {
			return rows(step*7919%(seen/texts-length), seen/texts), nil
		}},
	}))
	bits = float64(tensor.Item[float32](loss(fit.Params, rows(seen, (n-seen-length)/texts), nil))) / math.Ln2
	g := tenon.Must(generate.Sample(ctx, codes(prompts...), fit.Params.Next, generate.Options{Tokens: 150, Sampling: generate.Sampling{Key: ops.RandomKey(1), Temperature: 0.7}}))
	written = ops.StringJoin([]any{tensor.Of(prompts), ops.StringEncode(g.Tokens, nil, "UTF-8", ops.UnicodeOptions{})}, "").(*tensor.Strings).Slice()
	next := fit.Params.Logits(named.Of(ops.ExpandDims(ops.Slice(text, []int{seen}, []int{32}), 0), Batch{}, Seq{}))
	letters := named.Index[Char](named.Index[Batch](named.Softmax[Char](next), 0), key.Range('a', 'z'+1, nil))
	return bits, written, draw.Columns[Char](picture, "which letter might come next", letters, Seq{}, Char{}, strings.Split("abcdefghijklmnopqrstuvwxyz", "")...)
}

// codes returns the characters of texts.
func codes(texts ...string) *ragged.Tensor {
	rows := tenon.Must(ragged.DecodeStrings(tensor.Of(texts), "UTF-8", ops.UnicodeOptions{}))
	return ops.Minimum(ops.Cast(rows, dtype.Int64), 127).(*ragged.Tensor)
}

func main() {
	steps, picture := flag.Int("steps", 400, "number of training batches"), flag.String("picture", "", "write a picture of predictions to this `file`, an SVG")
	flag.Parse()
	bits, written, err := run(context.Background(), *steps, *picture, "Read returns ", "If the file ", "A ")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f bits per character\n%s\n", bits, strings.Join(written, "\n---\n"))
}
