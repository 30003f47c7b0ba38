package dist_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func records(n int) tenon.Value {
	rows := make([]any, n)
	for i := range rows {
		rows[i] = map[string]any{"name": strings.Repeat("x", i), "scores": []any{1.5, 2.5}[:i%3]}
	}
	return tenon.Must(structured.FromNested(rows, structured.NestedOptions{}))
}

// kinds are Values with seven rows.
func kinds() map[string]tensor.Tensor {
	r := ragged.FromSlices([][]float64{{1}, {}, {2, 3}, {4, 5, 6}, {}, {7}, {8, 9}})
	return map[string]tensor.Tensor{
		"dense":   of(0, 7),
		"strings": tensor.Of([]string{"a", "", "ccc", "d", "é", "f", "g"}),
		"ragged":  r,
		"masked":  tenon.Must(masked.New(tensor.Of([]float64{1, 2, 3, 4, 5, 6, 7}), []bool{true, false, true, true, false, false, true})),
		"records": records(7).(tensor.Tensor),
	}
}

// The rows of a Value of any type are divided among ranks, gathered from all of them, and are what
// they were; and so they are when one rank has all and sends them.
func TestValues(t *testing.T) {
	for name, v := range kinds() {
		for _, n := range worlds {
			parts, err := dist.Divide[tenon.Value](v, n)
			if err != nil {
				t.Fatal(name, err)
			}
			onRanks(t, n, func(ctx context.Context, c *dist.Comm) error {
				all, err := dist.Collect(ctx, c, parts.At(c.Rank()))
				if err != nil {
					return err
				}
				joined, err := all.Join()
				if err == nil && !tensor.Equal(joined, v) {
					err = fmt.Errorf("%s: got %v, want %v", name, joined, v)
				}
				sent, e := dist.BroadcastValue(ctx, c, map[string]tenon.Value{"v": parts.At(c.Rank())}, n-1)
				if e == nil && !tensor.Equal(sent["v"], parts.At(n-1)) {
					e = fmt.Errorf("%s: got %v, want %v", name, sent["v"], parts.At(n-1))
				}
				return errors.Join(err, e)
			})
		}
	}
	onRanks(t, 3, func(ctx context.Context, c *dist.Comm) error {
		x := ragged.FromSlices([][]float64{{1}, {float64(c.Rank()), 3}})
		sum, err := dist.ReduceValues(ctx, c, []tenon.Value{x, tensor.Scalar(2.0)}, dist.Sum)
		if err == nil && (!tensor.Equal(sum[0], ragged.FromSlices([][]float64{{3}, {3, 9}})) || tensor.Item[float64](sum[1]) != 6) {
			err = fmt.Errorf("got %v", sum)
		}
		return err
	})
	onRanks(t, 3, func(ctx context.Context, c *dist.Comm) error {
		r := int64(c.Rank())
		counts := ragged.FromSlices([][]int64{{r}, {}, {1, r * r}})
		sum, err := dist.ReduceValues(ctx, c, []tenon.Value{counts, tensor.Of([]int32{int32(r), 5})}, dist.Sum)
		if err == nil && (!tensor.Equal(sum[0], ragged.FromSlices([][]int64{{3}, {}, {3, 5}})) || !tensor.Equal(sum[1], tensor.Of([]int32{3, 15}))) {
			err = fmt.Errorf("integers: got %v", sum)
		}
		some, e := dist.ReduceValues(ctx, c, tensor.Of([]bool{r == 1, false}), dist.Any)
		if e == nil && !tensor.Equal(some, tensor.Of([]bool{true, false})) {
			e = fmt.Errorf("truth values: got %v", some)
		}
		return errors.Join(err, e)
	})
	err := dist.Simulate(t.Context(), 2, dist.Options{}, func(ctx context.Context, c *dist.Comm) error {
		rows := [][][]float64{{{1}, {2, 3}}, {{1, 2}, {3}}}
		_, err := dist.ReduceValues(ctx, c, ragged.FromSlices(rows[c.Rank()]), dist.Sum)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "ranks disagree") {
		t.Errorf("rows that differ: got %v", err)
	}
	err = dist.Simulate(t.Context(), 2, dist.Options{}, func(ctx context.Context, c *dist.Comm) error {
		_, err := dist.GatherValues(ctx, c, []tenon.Value{tensor.Scalar(1.0), of(0, 1)}[c.Rank()])
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "ranks disagree") {
		t.Errorf("Specs that differ: got %v", err)
	}
}

func TestReplicaLaws(t *testing.T) {
	r := ragged.FromSlices([][]float64{{1}, {2, 3}})
	spectest.Laws(t, spectest.Options{}, dist.Replicas[tenon.Value](), dist.Replicas[tenon.Value](tensor.Scalar(1.0)), dist.Replicas[tenon.Value](r, of(0, 1)), dist.Replicas[tenon.Value](r, r), dist.Replicas(records(2), records(3)))
}

// A PerReplica is an argument and a result of functions, has gradients, and is stored.
func TestReplicasGoThroughServices(t *testing.T) {
	p := dist.Replicas[tensor.Tensor](ragged.FromSlices([][]float64{{1}, {2, 3}}), of(0, 1))
	double := function.New(func(p dist.PerReplica[tensor.Tensor]) dist.PerReplica[tensor.Tensor] {
		return dist.Each(p, func(x tensor.Tensor) tensor.Tensor { return ops.Mul(x, 2.0) })
	})
	got := double.Call(p)
	if !tensor.Equal(got.At(0), ragged.FromSlices([][]float64{{2}, {4, 6}})) || !tensor.Equal(got.At(1), ops.Mul(of(0, 1), 2.0)) {
		t.Errorf("got %v", got)
	}
	slope := grad.Of(func(p dist.PerReplica[tensor.Tensor]) tensor.Tensor {
		return ops.Add(ops.Sum(ops.Mul(p.At(0), p.At(0))), ops.Sum(p.At(1)))
	})(p)
	if !tensor.Equal(slope.At(0), ragged.FromSlices([][]float64{{2}, {4, 6}})) || !tensor.Equal(slope.At(1), ops.OnesLike(of(0, 1))) {
		t.Errorf("gradient: got %v", slope)
	}
	name := filepath.Join(t.TempDir(), "replicas")
	tenon.Throw(saved.Write(name, map[string]any{"p": p}))
	back := tenon.Must(saved.Read(name, map[string]any{"p": p.Spec()}))
	if !tensor.Equal(back["p"].(tenon.Value), p) {
		t.Errorf("stored: got %v", back)
	}
}

// Means are those of all elements, however unequal the replicas are.
func TestMeansAreWeighted(t *testing.T) {
	x := ragged.FromSlices([][]float64{{1, 2, 3}, {}, {4}, {10, 20}, {30}})
	for _, n := range []int{1, 2, 3, 4, 8} {
		parts := tenon.Must(dist.Divide(x, n))
		means := dist.Each(parts, func(p *ragged.Tensor) tensor.Tensor { return ops.Mean(p) })
		weights := make([]any, n)
		for i := range weights {
			weights[i] = tensor.Data[float64](ops.Cast(ops.Size(parts.At(i).FlatValues()), means.At(i).DType()))[0]
		}
		got, err := means.Mean(weights...)
		if want := 10.0; err != nil || math.Abs(tensor.Item[float64](got)-want) > 1e-12 {
			t.Errorf("%d replicas: got %v, %v, want %v", n, got, err, want)
		}
	}
	sum, err := dist.Replicas(of(0, 1), of(1, 1), of(2, 1)).Reduce(dist.Sum)
	if err != nil || !tensor.Equal(sum, ops.Mul(of(1, 1), 3.0)) {
		t.Error(sum, err)
	}
	if _, err := dist.Replicas(of(0, 1)).Mean(1, 2); err == nil || !strings.Contains(err.Error(), "2 weights for 1 replicas") {
		t.Error(err)
	}
	if _, err := dist.Divide(tensor.Scalar(1.0), 2); err == nil || !strings.Contains(err.Error(), "has no rows") {
		t.Error(err)
	}
}
