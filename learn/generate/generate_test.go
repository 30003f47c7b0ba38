package generate_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/learn/generate"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// chain is a model that knows only the last token: the logarithms of what comes next.
func chain(p [][]float64) generate.Next[tensor.Tensor] {
	return func(tokens *ragged.Tensor, seen tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
		last := generate.Last(tokens)
		var flat []float64
		for _, row := range p {
			for _, x := range row {
				flat = append(flat, math.Log(x))
			}
		}
		return ops.Gather(tensor.Of(flat, len(p), len(p)), last, 0), last
	}
}

// Token 0 ends. From 1, the likeliest token 2 leads to an unlikely end; 3 leads to a likely one.
var chained = [][]float64{
	{1, 0, 0, 0},
	{0, 0, 0.6, 0.4},
	{0.1, 0.3, 0.3, 0.3},
	{0.9, 0.1, 0, 0},
}

func TestBeamFindsWhatIsBestAsAWhole(t *testing.T) {
	prompts := ragged.FromSlices([][]int64{{1}, {2, 3}})
	o := generate.BeamOptions{Tokens: 3, End: []int64{0}, Width: 2}
	b, err := generate.Beam(context.Background(), prompts, chain(chained), o)
	if err != nil {
		t.Fatal(err)
	}
	tokens, scores := tenon.Must(ragged.Slices2[int64](b.Tokens)), tenon.Must(ragged.Slices[float64](b.Scores))
	if got := tokens[0][0]; !slices.Equal(got, []int64{3}) || math.Abs(scores[0][0]-math.Log(0.4*0.9)) > 1e-12 {
		t.Errorf("the best is %v with %v, want 3 and the end with log 0.36", got, scores[0])
	}
	if got := tokens[1][0]; len(got) != 0 || math.Abs(scores[1][0]-math.Log(0.9)) > 1e-12 {
		t.Errorf("behind 3: %v with %v, want the end at once with log 0.9", got, scores[1])
	}
	g, err := generate.Sample(context.Background(), prompts, chain(chained), generate.Options{Tokens: 1, End: []int64{0}})
	if err != nil {
		t.Fatal(err)
	}
	if got := tenon.Must(ragged.Slices[int64](g.Tokens)); !slices.Equal(got[0], []int64{2}) || len(got[1]) != 0 {
		t.Errorf("the likeliest tokens are %v, want 2 and an end", got)
	}
	if got := tensor.Data[bool](g.Ended); !slices.Equal(got, []bool{false, true}) {
		t.Errorf("ended: %v", got)
	}
	if got := tensor.Data[float64](g.Logs); math.Abs(got[0]-math.Log(0.6)) > 1e-12 || math.Abs(got[1]-math.Log(0.9)) > 1e-12 {
		t.Errorf("logarithms: %v", got)
	}
}

// A beam that is as wide as there are sequences finds the best of all.
func TestAWideBeamIsExhaustive(t *testing.T) {
	p := [][]float64{{0.25, 0.25, 0.25, 0.25}, {0.05, 0.15, 0.5, 0.3}, {0.1, 0.2, 0.3, 0.4}, {0.4, 0.3, 0.2, 0.1}}
	for _, penalty := range []float64{0, 0.6, 1.5} {
		type found struct {
			tokens []int64
			score  float64
		}
		var all []found
		scored := func(tokens []int64, log float64, n int) {
			all = append(all, found{tokens, log / math.Pow((5+float64(n))/6, penalty)})
		}
		var extend func(tokens []int64, last int, log float64)
		extend = func(tokens []int64, last int, log float64) {
			if len(tokens) == 3 {
				scored(slices.Clone(tokens), log, 3)
				return
			}
			scored(slices.Clone(tokens), log+math.Log(p[last][0]), len(tokens)+1)
			for next := 1; next < 4; next++ {
				extend(append(slices.Clone(tokens), int64(next)), next, log+math.Log(p[last][next]))
			}
		}
		extend(nil, 1, 0)
		best := slices.MaxFunc(all, func(a, b found) int {
			if a.score < b.score {
				return -1
			}
			return 1
		})
		b, err := generate.Beam(context.Background(), ragged.FromSlices([][]int64{{1}}), chain(p), generate.BeamOptions{Tokens: 3, End: []int64{0}, Width: 27, Penalty: penalty})
		if err != nil {
			t.Fatal(err)
		}
		tokens, scores := tenon.Must(ragged.Slices2[int64](b.Tokens))[0], tenon.Must(ragged.Slices[float64](b.Scores))[0]
		if !slices.Equal(tokens[0], best.tokens) || math.Abs(scores[0]-best.score) > 1e-12 {
			t.Errorf("penalty %v: %v with %v, want %v", penalty, tokens[0], scores[0], best)
		}
		if !slices.IsSortedFunc(scores, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) {
			t.Errorf("penalty %v: scores %v are not sorted", penalty, scores)
		}
	}
}

func TestKept(t *testing.T) {
	x := tensor.Of([]float64{math.Log(0.5), math.Log(0.1), math.Log(0.3), math.Log(0.1)})
	inf := math.Inf(-1)
	even := tensor.Of([]float64{1, 1, 1, 1})
	for _, c := range []struct {
		s    generate.Sampling
		want []bool
	}{
		{generate.Sampling{TopK: 3}, []bool{true, true, true, false}}, // of equal ones the first
		{generate.Sampling{TopP: 0.85}, []bool{true, true, true, false}},
		{generate.Sampling{}, []bool{true, true, true, true}},
		{generate.Sampling{TopK: 2}, []bool{true, false, true, false}},
		{generate.Sampling{TopK: 9}, []bool{true, true, true, true}},
		{generate.Sampling{TopP: 0.4}, []bool{true, false, false, false}},
		{generate.Sampling{TopP: 0.7}, []bool{true, false, true, false}},
		{generate.Sampling{TopP: 1e-9}, []bool{true, false, false, false}},
		{generate.Sampling{MinP: 0.5}, []bool{true, false, true, false}},
		{generate.Sampling{TopK: 3, TopP: 0.9, MinP: 0.7}, []bool{true, false, false, false}},
	} {
		for _, f := range []func(tensor.Tensor) tensor.Tensor{c.s.Kept, func(x tensor.Tensor) tensor.Tensor { return function.New(c.s.Kept, function.Options{}).Call(x) }} {
			got := tensor.Data[float64](f(x))
			for i, want := range c.want {
				if (got[i] != inf) != want {
					t.Errorf("%+v: %v", c.s, got)
				}
			}
		}
	}
	for _, s := range []generate.Sampling{{TopK: 2}, {TopP: 0.5}, {TopK: 3, TopP: 0.6}} {
		if got := tensor.Data[float64](s.Kept(even)); !slices.Equal(got, []float64{1, 1, inf, inf}) {
			t.Errorf("%+v of equal scores: %v", s, got)
		}
	}
	if got := tensor.Data[float64](generate.Sampling{Temperature: 2}.Kept(x)); math.Abs(got[0]-math.Log(0.5)/2) > 1e-12 {
		t.Errorf("temperature 2: %v", got)
	}
	// Draws are as often as they are likely, of what is kept.
	n := 20_000
	many := ops.BroadcastTo(x, []int{n, 4})
	counts := make([]float64, 4)
	for _, id := range tensor.Data[int64](generate.Pick(many, generate.Sampling{Key: ops.RandomKey(1), TopK: 2})) {
		counts[id] += 1 / float64(n)
	}
	if math.Abs(counts[0]-0.625) > 0.02 || counts[1] != 0 || counts[3] != 0 {
		t.Errorf("shares %v, want 0.625 and 0.375 of the first and the third", counts)
	}
}

// A transformer that keeps what it has seen goes on as one that sees everything again, and a row
// as it would alone.
func TestCachesGoOn(t *testing.T) {
	k := ops.RandomKeys(ops.RandomKey(4), 3)
	words := nn.NewEmbedding(k[0], 11, 8, nn.EmbeddingOptions{Init: nn.GlorotNormal})
	var blocks []nn.EncoderBlock
	for _, k := range k[1:] {
		blocks = append(blocks, nn.NewEncoderBlock(k, 8, 2, nn.BlockOptions{Attention: nn.AttentionOptions{Rotary: 100, Sight: nn.Sight{Causal: true}}}))
	}
	cached := func(tokens *ragged.Tensor, seen []nn.Cache) (tensor.Tensor, []nn.Cache) {
		if seen == nil {
			seen = make([]nn.Cache, len(blocks))
		}
		after := slices.Clone(seen)
		x := words.Apply(tokens)
		for i, b := range blocks {
			x, after[i] = b.Extend(x, seen[i])
		}
		return words.Attend(generate.Last(x)), after
	}
	again := func(tokens *ragged.Tensor, seen *ragged.Tensor) (tensor.Tensor, *ragged.Tensor) {
		if seen != nil {
			tokens = ops.Concat([]any{seen, tokens}, 1).(*ragged.Tensor)
		}
		x := words.Apply(tokens)
		for _, b := range blocks {
			x = b.Apply(x)
		}
		return words.Attend(generate.Last(x)), tokens
	}
	ctx := context.Background()
	prompts := [][]int64{{1, 5, 3}, {2}, {7, 7, 7, 7, 9}}
	o := generate.Options{Tokens: 12, End: []int64{0, 4}, Sampling: generate.Sampling{Key: ops.RandomKey(9), Temperature: 0.7, TopP: 0.95}}
	got := tenon.Must(generate.Sample(ctx, ragged.FromSlices(prompts), cached, o))
	want := tenon.Must(generate.Sample(ctx, ragged.FromSlices(prompts), again, o))
	if a, b := tenon.Must(ragged.Slices[int64](got.Tokens)), tenon.Must(ragged.Slices[int64](want.Tokens)); !slices.EqualFunc(a, b, slices.Equal) {
		t.Errorf("with caches %v, without %v", a, b)
	}
	bo := generate.BeamOptions{Tokens: 6, End: []int64{0}, Width: 3, Penalty: 0.5}
	beams := tenon.Must(generate.Beam(ctx, ragged.FromSlices(prompts), cached, bo))
	same := tenon.Must(generate.Beam(ctx, ragged.FromSlices(prompts), again, bo))
	all := tenon.Must(ragged.Slices2[int64](beams.Tokens))
	for i, p := range prompts {
		alone := tenon.Must(ragged.Slices2[int64](tenon.Must(generate.Beam(ctx, ragged.FromSlices([][]int64{p}), cached, bo)).Tokens))[0]
		if !slices.EqualFunc(all[i], alone, slices.Equal) {
			t.Errorf("row %d: %v among others, %v alone", i, all[i], alone)
		}
	}
	if err := tensor.AllClose(beams.Scores.FlatValues(), same.Scores.FlatValues()); err != nil {
		t.Errorf("beams with and without caches: %v", err)
	}
}

func TestWhatIsRefused(t *testing.T) {
	ctx, one := context.Background(), ragged.FromSlices([][]int64{{1}})
	done, cancel := context.WithCancel(ctx)
	cancel()
	next := chain(chained)
	wrong := func(*ragged.Tensor, tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
		return tensor.Of([]float64{1}), nil
	}
	never := func(tokens *ragged.Tensor, seen tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
		return ops.Fill([]int{1, 4}, math.NaN()), seen
	}
	for name, c := range map[string]struct {
		err  error
		kind error
		text string
	}{
		"NaN":                   {second(generate.Sample(ctx, one, never, generate.Options{})), tenon.ErrInvalid, "prompts[0]: a score for token 0 is NaN"},
		"NaN in beams":          {second(generate.Beam(ctx, one, never, generate.BeamOptions{})), tenon.ErrInvalid, "prompts[0]: a score for token 0 is NaN"},
		"an empty prompt":       {second(generate.Sample(ctx, ragged.FromSlices([][]int64{{1}, {}}), next, generate.Options{})), tenon.ErrInvalid, "prompts[1]"},
		"no model":              {second(generate.Sample[int](ctx, one, nil, generate.Options{})), tenon.ErrInvalid, "next is nil"},
		"no prompts":            {second(generate.Beam(ctx, nil, next, generate.BeamOptions{})), tenon.ErrShape, "prompts"},
		"other scores":          {second(generate.Sample(ctx, one, wrong, generate.Options{})), tenon.ErrShape, "[1, vocabulary]"},
		"other scores of beams": {second(generate.Beam(ctx, one, wrong, generate.BeamOptions{})), tenon.ErrShape, "generate.Last"},
		"a share above 1":       {second(generate.Sample(ctx, one, next, generate.Options{Sampling: generate.Sampling{TopP: 1.5}})), tenon.ErrInvalid, "TopP"},
		"no number":             {second(generate.Sample(ctx, one, next, generate.Options{Sampling: generate.Sampling{Temperature: math.NaN()}})), tenon.ErrInvalid, "Temperature"},
		"a width below 0":       {second(generate.Beam(ctx, one, next, generate.BeamOptions{Width: -1})), tenon.ErrInvalid, "Width"},
		"a done context":        {second(generate.Sample(done, one, next, generate.Options{})), context.Canceled, ""},
	} {
		if !errors.Is(c.err, c.kind) || !strings.Contains(c.err.Error(), c.text) {
			t.Errorf("%s: %v, want kind %v that says %q", name, c.err, c.kind, c.text)
		}
	}
}

func second[T any](_ T, err error) error { return err }
