package nn_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// scale is a part that is not learned.
type scale struct{ By tensor.Tensor }

func (scale) Unlearned() {}

type summarized struct {
	Scale scale
	Words nn.Embedding
	Heads map[string]nn.Dense
	Rows  *ragged.Tensor
	Ids   tensor.Tensor
}

func newSummarized() summarized {
	k := ops.RandomKeys(ops.RandomKey(1), 2)
	return summarized{
		Scale: scale{tensor.Of([]float64{2})}, Words: nn.NewEmbedding(k[0], 3, 4),
		Heads: map[string]nn.Dense{"out": nn.NewDense(k[1], 4, 2, nn.DenseOptions{DType: dtype.Float64})},
		Rows:  ragged.FromSlices([][]float32{{1, 2}, {3}}), Ids: tensor.Of([]int64{1, 2}),
	}
}

func TestSummary(t *testing.T) {
	s, err := nn.Summarize(newSummarized())
	if err != nil {
		t.Fatal(err)
	}
	want := `
path              type           elements  bytes
Scale.By          float64[1], no parameter         1      8
Words.Table       float32[3, 4]        12     48
Heads.out.Kernel  float64[4, 2]         8     64
Heads.out.Bias    float64[2]            2     16
`
	fields := func(s string) []string { return strings.Fields(s) }
	if got := s.String(); !strings.HasPrefix(strings.Join(fields(got), " "), strings.Join(fields(want), " ")) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := s.Elements(); got != 12+8+2+3 {
		t.Errorf("%d elements of parameters, want 25:\n%s", got, s)
	}
	if got := s.Bytes(); got != 48+64+16+12 {
		t.Errorf("%d bytes of parameters, want 140", got)
	}
	of := map[string]int{}
	for _, l := range s {
		of[l.Path] = l.Elements
	}
	if of["Ids"] != 2 || of["Rows.values"]+of["Rows.flat_values"] != 3 {
		t.Errorf("elements by path: %v", of)
	}
}

func TestRestart(t *testing.T) {
	m := newSummarized()
	key := ops.RandomKey(7)
	got := nn.Restart(key, m, nn.Start{Path: `Heads\.out\.Bias`, Init: nn.Ones}, nn.Start{Path: `.*`, Init: nn.Normal})
	if b := tensor.Data[float64](got.Heads["out"].Bias); !slices.Equal(b, []float64{1, 1}) {
		t.Errorf("the bias is %v, want ones", b)
	}
	if tensor.Equal(got.Words.Table, m.Words.Table) || !tensor.Equal(got.Words.Table, nn.Initialize(nn.Normal, ops.RandomFor(key, "Words.Table"), dtype.Float32, 3, 4)) {
		t.Errorf("the table is %v, want another one by its path", got.Words.Table)
	}
	if !tensor.Equal(got.Scale.By, m.Scale.By) || got.Ids != m.Ids {
		t.Errorf("what is no parameter has changed: %v, %v", got.Scale.By, got.Ids)
	}
	for pattern, kind := range map[string]error{`Nowhere`: tenon.ErrNotFound, `(`: tenon.ErrInvalid, `Scale\.By`: tenon.ErrNotFound} {
		_, err := tenon.Try(func() summarized { return nn.Restart(key, m, nn.Start{Path: pattern, Init: nn.Ones}) })
		if !errors.Is(err, kind) || !strings.Contains(err.Error(), "[0].Path") {
			t.Errorf("%q: %v, want kind %v", pattern, err, kind)
		}
	}
}
