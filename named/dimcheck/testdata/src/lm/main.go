package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

type text struct {
	chars []rune
	ids   []int64
}

func read(name string) text {
	raw := string(tenon.Must(os.ReadFile(name)))
	raw = regexp.MustCompile(`(?s)<!--.*?-->|<[^>]*>`).ReplaceAllString(raw, "")
	raw = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&", "&quot;", `"`).Replace(raw)
	raw = regexp.MustCompile(`[^\n -~]`).ReplaceAllString(raw, "")
	raw = regexp.MustCompile(`\n{3,}`).ReplaceAllString(raw, "\n\n")
	t := text{}
	at := map[rune]int64{}
	for _, r := range raw {
		if _, ok := at[r]; !ok {
			at[r] = 0
			t.chars = append(t.chars, r)
		}
	}
	slices.Sort(t.chars)
	for i, r := range t.chars {
		at[r] = int64(i)
	}
	for _, r := range raw {
		t.ids = append(t.ids, at[r])
	}
	return t
}

const context_, batch = 64, 16

func (t text) batch(_ context.Context, position int) (*named.Tensor, error) {
	r := rand.New(rand.NewPCG(7, uint64(position)))
	var flat []int64
	for range batch {
		i := r.IntN(len(t.ids) - context_ - 1)
		flat = append(flat, t.ids[i:i+context_+1]...)
	}
	return named.Of(tensor.Of(flat, batch, context_+1), Batch{}, Seq{}), nil
}

func (t text) generate(m GPT, prompt string, n int, seed uint64) string {
	var ids []int64
	for _, r := range prompt {
		ids = append(ids, int64(slices.Index(t.chars, r)))
	}
	k := ops.RandomKey(seed)
	for i := range n {
		seen := ids[max(0, len(ids)-context_):]
		logits := m.Logits(named.Bind[Ids](named.Of(seen, Seq{})))
		last := named.Div(named.Index[Seq](logits, -1), 0.7)
		next := ops.RandomCategorical(ops.RandomFoldIn(k, i), named.Unnamed(last))
		ids = append(ids, tensor.Item[int64](next))
	}
	var b strings.Builder
	for _, i := range ids {
		b.WriteRune(t.chars[i])
	}
	return b.String()
}

func main() {
	t := read("go_spec.html")
	c := Config{Vocab: len(t.chars), Context: context_, Model: 128, Heads: 4, Hidden: 512, Blocks: 3}
	m := NewGPT(1, c)
	fmt.Println(len(t.ids), "characters,", len(t.chars), "different")

	ctx, stop := context.WithTimeout(context.Background(), 60*time.Second)
	defer stop()
	steps := 100000
	fit, err := train.Fit(ctx, m, Loss, train.FitOptions[GPT, *named.Tensor]{
		Options: train.Options{Optimizer: train.AdamW(1e-3), NoDecay: train.NotMatrices, ClipNorm: 1},
		Data:    train.Source[*named.Tensor]{Batches: steps, At: t.batch},
		OnStep: []func(train.Event) error{func(e train.Event) error {
			if e.Step%100 == 1 {
				fmt.Printf("%5d %.3f %v\n", e.Step, e.Loss, e.Elapsed.Round(time.Millisecond))
			}
			return nil
		}},
	})
	fmt.Println(fit.Reason, err, len(fit.Record.Losses), "steps")
	a := t.generate(fit.Params, "The expression ", 300, 5)
	fmt.Println(a)

	tenon.Throw(saved.Write("lm.safetensors", fit.Params, saved.WriteOptions{}))
	again := tenon.Must(saved.Read("lm.safetensors", NewGPT(2, c), saved.ReadOptions{}))
	fmt.Println("the same:", t.generate(again, "The expression ", 300, 5) == a)
}
