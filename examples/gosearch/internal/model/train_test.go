package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tenonml/tenon/examples/gosearch/internal/token"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/scale/mesh"
	"github.com/tenonml/tenon/tensor"
)

// collection makes n pairs of a question and its declaration, which share a word that no
// other pair has.
func collection(n int) (*token.Vocabulary, []Row, []Row) {
	var rows [][]token.Token
	word := func(i int) string { return string(rune('a'+i%26)) + string(rune('a'+i/26%26)) }
	for i := range n {
		rows = append(rows,
			[]token.Token{{Text: word(i), Field: token.Lead}, {Text: "common" + word(i%7), Field: token.Early}},
			[]token.Token{{Text: "file", Field: token.Package}, {Text: word(i), Field: token.Name}, {Text: "package:x" + word(i%5), Field: token.InPackage}})
	}
	v := token.BuildVocabulary(rows, token.VocabularyOptions{MinRows: 1})
	var questions, declarations []Row
	for i, r := range rows {
		var x Row
		x.Tokens, x.Fields = v.Encode(nil, nil, r)
		if i%2 == 0 {
			questions = append(questions, x)
		} else {
			declarations = append(declarations, x)
		}
	}
	return v, questions, declarations
}

func weights(p Params) []float32 {
	return slices.Concat(tensor.Data[float32](p.Tokens.Table), tensor.Data[float32](p.Weight), tensor.Data[float32](p.Gain))
}

// A question's nearest declaration becomes its own, and a run that is interrupted and goes
// on has the same weights.
func TestTrain(t *testing.T) {
	v, questions, declarations := collection(60)
	o := Options{Epochs: 3, Batch: 20, Every: 2, Run: "test", Seed: 4}
	whole, err := Train(t.Context(), v, questions, declarations, o)
	if err != nil {
		t.Fatal(err)
	}
	losses := whole.Record.Losses
	if len(losses) != 9 || losses[8] >= losses[0] {
		t.Errorf("losses %v", losses)
	}
	e := NewEncoder(whole.Params)
	q, d := e.Vectors(questions), e.Vectors(declarations)
	right := 0
	for i := range questions {
		best, at := math.Inf(-1), -1
		for j := range declarations {
			cos := 0.0
			for k := range Width {
				cos += float64(q[i*Width+k]) * float64(d[j*Width+k])
			}
			if cos > best {
				best, at = cos, j
			}
		}
		if at == i {
			right++
		}
	}
	if right < 57 {
		t.Errorf("%d of 60 questions find their declaration", right)
	}
	if one := e.Once(questions[3]); !slices.Equal(one, q[3*Width:4*Width]) {
		t.Error("a row alone has another vector")
	}

	for _, stop := range []int{1, 5, 7} {
		o := o
		o.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
		ctx, cancel := context.WithCancel(t.Context())
		o.Progress = func(e train.Event) error {
			if e.Step == stop {
				cancel()
			}
			return nil
		}
		if _, err := Train(ctx, v, questions, declarations, o); !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted after %d: %v", stop, err)
		}
		cancel()
		rest, err := Train(t.Context(), v, questions, declarations, o)
		if err != nil || rest.From != stop || !slices.Equal(weights(rest.Params), weights(whole.Params)) {
			t.Errorf("resumed after %d: from %d, %v; or other weights", stop, rest.From, err)
		}
	}
	o.Seed = 5
	other, err := Train(t.Context(), v, questions, declarations, o)
	if err != nil || slices.Equal(weights(other.Params), weights(whole.Params)) {
		t.Errorf("another seed gives the same weights, or %v", err)
	}
}

// Ranks that divide the features train as one does.
func TestTrainOnRanks(t *testing.T) {
	v, questions, declarations := collection(60)
	o := Options{Epochs: 1, Batch: 20, Run: "test"}
	want, err := Train(t.Context(), v, questions, declarations, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{2, 3} {
		err := dist.Simulate(t.Context(), n, dist.Options{}, func(ctx context.Context, c *dist.Comm) error {
			m, err := mesh.New(ctx, c, mesh.Axis{Name: "features", Size: n})
			if err != nil {
				return err
			}
			o := o
			if o.Ranks, err = OnRanks(m); err != nil {
				return err
			}
			got, err := Train(ctx, v, questions, declarations, o)
			if err != nil {
				return err
			}
			for i, l := range want.Record.Losses {
				if math.Abs(got.Record.Losses[i]-l) > 1e-6+1e-4*l {
					return fmt.Errorf("%d ranks: loss %d is %v, want %v", n, i, got.Record.Losses[i], l)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestEmptyRow(t *testing.T) {
	v, questions, _ := collection(30)
	e := NewEncoder(New(v, 1))
	x := e.Vectors([]Row{questions[0], {}, questions[1]})
	for _, value := range x[Width : 2*Width] {
		if value != 0 {
			t.Fatalf("a row without tokens has the vector %v", x[Width:2*Width])
		}
	}
}
