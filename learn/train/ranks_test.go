package train_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/scale/mesh"
	"github.com/tenonml/tenon/tensor"
)

// bagModel has a table of words, of which a bag has some, and a layer behind their sum.
type bagModel struct{ Words, W, B tensor.Tensor }

type bagBatch struct {
	Bags    tensor.Tensor // ragged rows of words
	Targets tensor.Tensor
}

func newBagModel() bagModel {
	f := func(n int, seed float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = math.Sin(seed + 2.3*float64(i))
		}
		return out
	}
	return bagModel{tensor.Of(f(10*3, 1), 10, 3), tensor.Of(f(3*5, 2), 3, 5), tensor.Of(f(5, 3))}
}

// bagAt is a source of ragged batches of seven rows, one of which is empty.
func bagAt(_ context.Context, at int) (bagBatch, error) {
	rows := make([][]int64, 7)
	for i := range rows {
		for k := range (i*i + at) % 5 {
			rows[i] = append(rows[i], int64((3*i+k*k+at)%10))
		}
	}
	y := make([]float64, 7*5)
	for i := range y {
		y[i] = math.Cos(float64(at + i))
	}
	return bagBatch{ragged.FromSlices(rows), tensor.Of(y, 7, 5)}, nil
}

// bagLoss is the mean over rows of the distance of bags.
func bagLoss(m bagModel, b bagBatch, _ tensor.Tensor) tensor.Tensor {
	sums := ops.Sum(ops.Gather(m.Words, b.Bags, 0), 1)
	y := ops.Add(ops.MatMul(ops.Tanh(sums), m.W), m.B)
	return ops.Mean(ops.Square(ops.Sub(y, b.Targets)))
}

// wordLoss is the mean over words: rows count as often as they have words.
func wordLoss(m bagModel, b bagBatch, _ tensor.Tensor) tensor.Tensor {
	return ops.Mean(ops.Square(ops.Sum(ops.Gather(m.Words, b.Bags, 0), 2).(interface{ FlatValues() tensor.Tensor }).FlatValues()))
}

// featureLoss is a loss of which ranks may divide the features of words: each of them has all words, with their weights.
func featureLoss(m bagModel, b bagBatch, _ tensor.Tensor) tensor.Tensor {
	words := b.Bags.(*ragged.Tensor)
	weights := ops.Gather(m.B, ops.Mod(words.FlatValues(), int64(5)), 0)
	v := nn.Embedding{Table: m.Words}.Bag(words, weights, nn.BagSum)
	v = ops.Div(v, ops.Add(ops.SumKeep(ops.Square(v), 1), 1.0))
	return ops.Mean(ops.Square(ops.Sub(ops.MatMul(v, mesh.GatherAxis(m.W)), mesh.GatherAxis(b.Targets))))
}

func bagOptions() train.FitOptions[bagModel, bagBatch] {
	return train.FitOptions[bagModel, bagBatch]{
		Options: train.Options{Optimizer: train.AdamW(0.05), ClipNorm: 0.5, Average: 0.9},
		Data:    train.Source[bagBatch]{Batches: 4, At: bagAt}, Epochs: 2,
	}
}

// byRows divides batches by rows, and states along their first axes.
func byRows(m *mesh.Mesh) *train.Ranks {
	return &train.Ranks{Mesh: m, Stored: tenon.Must(m.Plan(mesh.Unnamed(0, "data")))}
}

// byFeatures divides parameters along their second axes, and the work with them.
func byFeatures(m *mesh.Mesh) *train.Ranks {
	p := tenon.Must(m.Plan(mesh.Unnamed(1, "data")))
	return &train.Ranks{Mesh: m, Compute: p, Stored: p}
}

// fitOn fits on so many ranks, and returns what each of them got.
func fitOn(t *testing.T, ranks int, loss train.Loss[bagModel, bagBatch], o func(m *mesh.Mesh) train.FitOptions[bagModel, bagBatch]) ([]*train.Fitted[bagModel], error) {
	t.Helper()
	out := make([]*train.Fitted[bagModel], ranks)
	err := dist.Simulate(t.Context(), ranks, dist.Options{Timeout: 20 * time.Second}, func(ctx context.Context, c *dist.Comm) error {
		m, err := mesh.New(ctx, c, mesh.Axis{Name: "data", Size: ranks})
		if err != nil {
			return err
		}
		out[c.Rank()], err = train.Fit(ctx, newBagModel(), loss, o(m))
		return err
	})
	return out, err
}

func sameFit(t *testing.T, what string, got, want *train.Fitted[bagModel]) {
	t.Helper()
	for i := range want.Record.Losses {
		if math.Abs(got.Record.Losses[i]-want.Record.Losses[i]) > 1e-12 {
			t.Fatalf("%s: loss %d is %v, want %v", what, i, got.Record.Losses[i], want.Record.Losses[i])
		}
	}
	for name, x := range map[string][2]tensor.Tensor{
		"words": {got.Params.Words, want.Params.Words}, "w": {got.Params.W, want.Params.W}, "b": {got.Params.B, want.Params.B},
		"slot": {got.State.Slots[0][1], want.State.Slots[0][1]},
	} {
		if err := tensor.AllClose(x[0], x[1], tensor.CloseOptions{RTol: 1e-9, ATol: 1e-9}); err != nil {
			t.Errorf("%s: %s: %v", what, name, err)
		}
	}
}

// Training on ranks is training on one: with ragged rows divided by rows and by elements, means weighted by true
// counts, states kept whole and in parts, and gradients accumulated.
func TestRanksTrainAsOne(t *testing.T) {
	plan := func(m *mesh.Mesh) *mesh.Plan { return tenon.Must(m.Plan(mesh.Unnamed(0, "data"))) }
	words := func(b any) any {
		return ops.Size(b.(bagBatch).Bags.(interface{ FlatValues() tensor.Tensor }).FlatValues())
	}
	for name, c := range map[string]struct {
		loss  train.Loss[bagModel, bagBatch]
		ranks func(m *mesh.Mesh) *train.Ranks
		every int
	}{
		"rows":       {bagLoss, func(m *mesh.Mesh) *train.Ranks { return &train.Ranks{Mesh: m} }, 0},
		"elements":   {bagLoss, func(m *mesh.Mesh) *train.Ranks { return &train.Ranks{Mesh: m, ByElements: true} }, 0},
		"words":      {wordLoss, func(m *mesh.Mesh) *train.Ranks { return &train.Ranks{Mesh: m, Weight: words} }, 0},
		"zero2":      {bagLoss, func(m *mesh.Mesh) *train.Ranks { return &train.Ranks{Mesh: m, Slots: plan(m)} }, 0},
		"zero2 sums": {bagLoss, func(m *mesh.Mesh) *train.Ranks { return &train.Ranks{Mesh: m, Slots: plan(m)} }, 2},
		"zero3":      {bagLoss, byRows, 0},
		"features":   {featureLoss, byFeatures, 0},
		"accumulate": {bagLoss, byRows, 2},
	} {
		t.Run(name, func(t *testing.T) {
			o := bagOptions()
			o.Accumulate = c.every
			want, err := train.Fit(t.Context(), newBagModel(), c.loss, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []int{1, 2, 3, 8} {
				if testing.Short() && n > 3 {
					continue
				}
				got, err := fitOn(t, n, c.loss, func(m *mesh.Mesh) train.FitOptions[bagModel, bagBatch] {
					o := o
					o.Ranks = c.ranks(m)
					return o
				})
				if err != nil {
					t.Fatal(n, err)
				}
				for r, x := range got {
					sameFit(t, fmt.Sprint(n, " ranks, rank ", r), x, want)
				}
			}
		})
	}
}

// A run goes on with another number of ranks, and is what it would have been: positions count whole batches, and
// a checkpoint is the same whoever wrote it.
func TestRanksResume(t *testing.T) {
	for name, c := range map[string]struct {
		loss  train.Loss[bagModel, bagBatch]
		ranks func(m *mesh.Mesh) *train.Ranks
	}{"rows": {bagLoss, byRows}, "features": {featureLoss, byFeatures}} {
		want, err := train.Fit(t.Context(), newBagModel(), c.loss, bagOptions())
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "run.safetensors")
		var last []*train.Fitted[bagModel]
		for i, n := range []int{2, 1, 3} {
			last, err = fitOn(t, n, c.loss, func(m *mesh.Mesh) train.FitOptions[bagModel, bagBatch] {
				o := bagOptions()
				o.Checkpoint, o.CheckpointEvery = file, 1
				o.Ranks = c.ranks(m)
				if i < 2 {
					o.OnStep = append(o.OnStep, func(e train.Event) error {
						if e.Step == 3*(i+1) {
							return errors.New("killed")
						}
						return nil
					})
				}
				return o
			})
			if i < 2 && (err == nil || !strings.Contains(err.Error(), "killed")) {
				t.Fatal(name, i, err)
			}
		}
		if err != nil {
			t.Fatal(name, err)
		}
		if last[0].From != 6 {
			t.Errorf("%s: the last part began at step %d, want 6", name, last[0].From)
		}
		sameFit(t, name+" resumed", last[0], want)
	}
}

// What is wrong on one rank is an error on all of them, which names the rank.
func TestRanksFailTogether(t *testing.T) {
	for name, c := range map[string]struct {
		change func(rank int, o *train.FitOptions[bagModel, bagBatch])
		want   []string
	}{
		"NaN": {func(rank int, o *train.FitOptions[bagModel, bagBatch]) {
			o.Data.At = func(ctx context.Context, at int) (bagBatch, error) {
				b, err := bagAt(ctx, at)
				if at == 2 && rank == 1 {
					b.Targets = ops.Div(b.Targets, ops.ZerosLike(b.Targets))
				}
				return b, err
			}
		}, []string{"step 2", "on rank 1"}},
		"length": {func(rank int, o *train.FitOptions[bagModel, bagBatch]) {
			if rank == 1 {
				o.Data.At = func(ctx context.Context, at int) (bagBatch, error) {
					b, err := bagAt(ctx, at)
					b.Bags, b.Targets = ragged.FromSlices([][]int64{{1}, {2}, {3}, {}, {4}}), ops.Slice(b.Targets, []int{0, 0}, []int{5, 5})
					return b, err
				}
			}
		}, []string{"rank 0 is at step 0 with Bags int64[7, ~] of 7 rows", "rank 1 is at step 0 with Bags int64[5, ~] of 5 rows"}},
		"specs": {func(rank int, o *train.FitOptions[bagModel, bagBatch]) {
			o.Data.At = func(ctx context.Context, at int) (bagBatch, error) {
				b, err := bagAt(ctx, at)
				if rank == 1 && at == 1 {
					b.Targets = ops.Cast(b.Targets, dtype.Float32)
				}
				return b, err
			}
		}, []string{"rank 0 is at step 1", "Targets float64[7, 5]", "Targets float32[7, 5]"}},
		"batches": {func(rank int, o *train.FitOptions[bagModel, bagBatch]) { o.Data.Batches += rank }, []string{"disagree", "4 batches", "5 batches"}},
		"optimizer": {func(rank int, o *train.FitOptions[bagModel, bagBatch]) {
			if rank == 1 {
				o.Optimizer = train.SGD(0.1)
			}
		}, []string{"disagree"}},
		"loss":     {func(int, *train.FitOptions[bagModel, bagBatch]) {}, []string{"ranks disagree about the program of a step", "rank 0 has", "rank 1"}},
		"constant": {func(int, *train.FitOptions[bagModel, bagBatch]) {}, []string{"ranks disagree about the program of a step, in line", "rank 0 has %", "2.5 float64[] at train/ranks_test.go", "rank 1 %", "3.5 float64[]"}},
		"size":     {func(int, *train.FitOptions[bagModel, bagBatch]) {}, []string{"ranks disagree about the program of a step, in line", "rank 0 has %", "[3]", "rank 1 %", "[4]"}},
		"schedule": {func(rank int, o *train.FitOptions[bagModel, bagBatch]) {
			o.Optimizer = train.AdamW(train.Schedule(func(step tensor.Tensor) tensor.Tensor { return ops.Div(0.25+0.5*float64(rank), ops.Add(step, 1.0)) }))
		}, []string{"ranks disagree about", "0.25", "0.75"}},
		"parameters": {func(int, *train.FitOptions[bagModel, bagBatch]) {}, []string{"disagree", "the values of parameters"}},
		"source": {func(rank int, o *train.FitOptions[bagModel, bagBatch]) {
			if rank == 1 {
				o.Data.At = func(ctx context.Context, at int) (bagBatch, error) { return bagBatch{}, errors.New("the disk is gone") }
			}
		}, []string{"rank 1", "the disk is gone"}},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			errs := map[int]error{}
			dist.Simulate(t.Context(), 2, dist.Options{Timeout: 20 * time.Second}, func(ctx context.Context, comm *dist.Comm) error {
				m, err := mesh.New(ctx, comm, mesh.Axis{Name: "data", Size: 2})
				if err != nil {
					return err
				}
				o := bagOptions()
				o.Ranks = &train.Ranks{Mesh: m}
				c.change(comm.Rank(), &o)
				params, loss := newBagModel(), train.Loss[bagModel, bagBatch](bagLoss)
				if name == "loss" && comm.Rank() == 1 {
					loss = func(m bagModel, b bagBatch, key tensor.Tensor) tensor.Tensor { return ops.Mul(bagLoss(m, b, key), 0.5) }
				}
				switch x := float64(comm.Rank()); name {
				case "constant":
					loss = func(m bagModel, b bagBatch, key tensor.Tensor) tensor.Tensor {
						return ops.Mul(bagLoss(m, b, key), 2.5+x)
					}
				case "size":
					loss = func(m bagModel, b bagBatch, key tensor.Tensor) tensor.Tensor {
						return ops.Add(bagLoss(m, b, key), ops.Sum(ops.Slice(m.B, []int{0}, []int{3 + comm.Rank()})))
					}
				}
				if name == "parameters" && comm.Rank() == 1 {
					params.B = ops.Add(params.B, 1e-9)
				}
				_, err = train.Fit(ctx, params, loss, o)
				mu.Lock()
				errs[comm.Rank()] = err
				mu.Unlock()
				return err
			})
			for r := range 2 {
				for _, w := range c.want {
					if errs[r] == nil || !strings.Contains(errs[r].Error(), w) {
						t.Errorf("rank %d: %v; want %q in it", r, errs[r], w)
					}
				}
			}
		})
	}
}

// A rank that does not come, because it is late or has died within a step, is missed by the others in the time that is set,
// and the last checkpoint is whole: another number of ranks goes on from it.
func TestRanksMissOne(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.safetensors")
	options := func(m *mesh.Mesh) train.FitOptions[bagModel, bagBatch] {
		o := bagOptions()
		o.Checkpoint, o.CheckpointEvery = file, 1
		o.Ranks = &train.Ranks{Mesh: m, Stored: tenon.Must(m.Plan(mesh.Unnamed(0, "data")))}
		return o
	}
	missed := make(chan struct{})
	var mu sync.Mutex
	errs := map[int]error{}
	dist.Simulate(t.Context(), 3, dist.Options{Timeout: 200 * time.Millisecond}, func(ctx context.Context, c *dist.Comm) error {
		m, err := mesh.New(ctx, c, mesh.Axis{Name: "data", Size: 3})
		if err != nil {
			return err
		}
		o := options(m)
		o.OnStep = append(o.OnStep, func(e train.Event) error {
			if c.Rank() == 2 && e.Step == 3 {
				<-missed
			}
			return nil
		})
		_, err = train.Fit(ctx, newBagModel(), bagLoss, o)
		mu.Lock()
		defer mu.Unlock()
		if errs[c.Rank()] = err; len(errs) == 2 {
			close(missed)
		}
		return err
	})
	for r := range 2 {
		if errs[r] == nil || !strings.Contains(errs[r].Error(), "rank 2 did not reach operation") {
			t.Errorf("rank %d: %v; want that rank 2 did not come", r, errs[r])
		}
	}
	want, err := train.Fit(t.Context(), newBagModel(), bagLoss, bagOptions())
	if err != nil {
		t.Fatal(err)
	}
	last, err := fitOn(t, 2, bagLoss, options)
	if err != nil {
		t.Fatal(err)
	}
	if last[0].From != 3 {
		t.Errorf("it went on from step %d, want 3", last[0].From)
	}
	sameFit(t, "gone on", last[0], want)
}

// What ranks keep in parts is written in parts, and any number of ranks goes on from it; a shard that is missing or damaged
// is an error that names it.
func TestShards(t *testing.T) {
	want, err := train.Fit(t.Context(), newBagModel(), bagLoss, bagOptions())
	if err != nil {
		t.Fatal(err)
	}
	options := func(file string, stop int) func(m *mesh.Mesh) train.FitOptions[bagModel, bagBatch] {
		return func(m *mesh.Mesh) train.FitOptions[bagModel, bagBatch] {
			o := bagOptions()
			o.Checkpoint, o.CheckpointEvery = file, 1
			o.Ranks = &train.Ranks{Mesh: m, Stored: tenon.Must(m.Plan(mesh.Unnamed(0, "data"))), Shards: true}
			o.OnStep = append(o.OnStep, func(e train.Event) error {
				if e.Step == stop {
					return errors.New("killed")
				}
				return nil
			})
			return o
		}
	}
	counts := []int{1, 2, 3, 4}
	if testing.Short() {
		counts = []int{2, 3}
	}
	for _, from := range counts {
		folder := t.TempDir()
		file := filepath.Join(folder, "run.safetensors")
		if _, err := fitOn(t, from, bagLoss, options(file, 3)); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatal(from, err)
		}
		shards, _ := filepath.Glob(filepath.Join(folder, "*.shard-*"))
		if from > 1 && len(shards) != from {
			t.Fatalf("%d ranks: the shards are %v", from, shards)
		}
		for _, to := range counts {
			copied := t.TempDir()
			if err := os.CopyFS(copied, os.DirFS(folder)); err != nil {
				t.Fatal(err)
			}
			got, err := fitOn(t, to, bagLoss, options(filepath.Join(copied, "run.safetensors"), -1))
			if err != nil {
				t.Fatalf("%d to %d ranks: %v", from, to, err)
			}
			if got[0].From != 3 {
				t.Errorf("%d to %d ranks: it went on from %d, want 3", from, to, got[0].From)
			}
			sameFit(t, fmt.Sprintf("%d to %d ranks", from, to), got[0], want)
		}
		if from == 1 {
			continue
		}
		for what, harm := range map[string]func(name string, b []byte) error{
			"is missing":                  func(name string, _ []byte) error { return os.Remove(name) },
			"damaged":                     func(name string, b []byte) error { b[len(b)-1] ^= 1; return os.WriteFile(name, b, 0o666) },
			"bytes, want ":                func(name string, b []byte) error { return os.WriteFile(name, b[:len(b)-1], 0o666) },
			filepath.Base(shards[from-1]): func(name string, _ []byte) error { return os.WriteFile(name, nil, 0o666) },
		} {
			copied := t.TempDir()
			if err := os.CopyFS(copied, os.DirFS(folder)); err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(copied, filepath.Base(shards[from-1]))
			b, err := os.ReadFile(name)
			if err == nil {
				err = harm(name, b)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = fitOn(t, 2, bagLoss, options(filepath.Join(copied, "run.safetensors"), -1))
			if err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), filepath.Base(name)) {
				t.Errorf("%q: got %v", what, err)
			}
		}
	}
}
