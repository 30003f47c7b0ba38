package dist_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/tensor"
)

var worlds = []int{1, 2, 3, 4, 8}

// onRanks runs f on ranks and fails the test where one of them fails.
func onRanks(t *testing.T, n int, f func(ctx context.Context, c *dist.Comm) error) {
	t.Helper()
	if err := dist.Simulate(t.Context(), n, dist.Options{Timeout: 20 * time.Second}, f); err != nil {
		t.Fatalf("%d ranks: %v", n, err)
	}
}

func equal(what string, got, want tensor.Tensor) error {
	if !tensor.Equal(got, want) {
		return fmt.Errorf("%s: got %v, want %v", what, got, want)
	}
	return nil
}

// of is what a rank gives in these tests: rows of numbers that tell the rank.
func of(rank, rows int) tensor.Tensor {
	x := make([]float64, rows*2)
	for i := range x {
		x[i] = float64(100*rank + i + 1)
	}
	return tensor.Of(x, rows, 2)
}

func sum(ranks, rows int) tensor.Tensor {
	s := of(0, rows)
	for r := 1; r < ranks; r++ {
		s = ops.Add(s, of(r, rows))
	}
	return s
}

func part(x tensor.Tensor, ranks, rank int) tensor.Tensor {
	lo, hi := dist.Share(x.Shape().Dim(0), ranks, rank)
	return ops.Slice(x, []int{lo, 0}, []int{hi - lo, x.Shape().Dim(1)})
}

// Collectives give on every number of ranks what their definitions say, with sizes that do not
// divide and with nothing.
func TestCollectives(t *testing.T) {
	for _, n := range worlds {
		for _, rows := range []int{0, 1, 3, 7} {
			onRanks(t, n, func(ctx context.Context, c *dist.Comm) error {
				r := c.Rank()
				all := make([]any, n)
				for i := range all {
					all[i] = of(i, rows+i)
				}
				got, err := c.AllReduce(ctx, of(r, rows), dist.Sum)
				err = errors.Join(err, equal("all-reduce", got, sum(n, rows)))
				got, e := c.ReduceScatter(ctx, of(r, rows), dist.Sum)
				err = errors.Join(err, e, equal("reduce-scatter", got, part(sum(n, rows), n, r)))
				got, e = c.AllGather(ctx, of(r, rows+r))
				err = errors.Join(err, e, equal("all-gather", got, ops.Concat(all, 0)))
				got, e = c.Broadcast(ctx, of(r, rows), n-1)
				err = errors.Join(err, e, equal("broadcast", got, of(n-1, rows)))
				got, e = c.Shift(ctx, of(r, rows), 1)
				err = errors.Join(err, e, equal("shift", got, of((r+n-1)%n, rows)))
				parts := make([]any, n)
				for i := range parts {
					parts[i] = part(of(i, rows+i), n, r)
				}
				got, e = c.AllToAll(ctx, of(r, rows+r))
				return errors.Join(err, e, equal("all-to-all", got, ops.Concat(parts, 0)))
			})
		}
	}
}

// Every element type that can be combined is, and gives on all ranks what combining the ranks in
// their order does.
func TestReductionsOfTypes(t *testing.T) {
	for _, by := range []dist.Reduction{dist.Sum, dist.Product, dist.Max, dist.Min, "log_add_exp"} {
		for _, d := range []dtype.DType{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64, dtype.Int8, dtype.Uint8, dtype.Int16, dtype.Uint16, dtype.Int32, dtype.Uint32, dtype.Int64, dtype.Uint64, dtype.Complex64, dtype.Complex128} {
			if by == "log_add_exp" && !d.IsFloat() || d.IsComplex() && (by == dist.Max || by == dist.Min) {
				continue
			}
			onRanks(t, 3, func(ctx context.Context, c *dist.Comm) error {
				x := func(r int) tensor.Tensor { return ops.Cast(tensor.Of([]int64{1, 2, int64(r), 3, 1}), d) }
				want := map[dist.Reduction]tensor.Tensor{
					dist.Sum: tensor.Of([]int64{3, 6, 3, 9, 3}), dist.Product: tensor.Of([]int64{1, 8, 0, 27, 1}),
					dist.Max: tensor.Of([]int64{1, 2, 2, 3, 1}), dist.Min: tensor.Of([]int64{1, 2, 0, 3, 1}),
				}[by]
				got, err := c.AllReduce(ctx, x(c.Rank()), by)
				if err != nil {
					return err
				}
				if want == nil {
					return tensor.AllClose(got, ops.LogSumExp(ops.Stack([]any{x(0), x(1), x(2)}, 0), 0), tensor.CloseOptions{RTol: 1e-2})
				}
				return equal(fmt.Sprint(by, d), got, ops.Cast(want, d))
			})
		}
	}
	onRanks(t, 3, func(ctx context.Context, c *dist.Comm) error {
		x := tensor.Of([]bool{false, c.Rank() == 1, true})
		some, err := c.AllReduce(ctx, x, dist.Any)
		every, e := c.AllReduce(ctx, x, dist.All)
		nan, e2 := c.AllReduce(ctx, tensor.Scalar([]float32{1, float32(math.NaN()), 2}[c.Rank()]), dist.Max)
		if e2 == nil && !math.IsNaN(float64(tensor.Item[float32](nan))) {
			e2 = fmt.Errorf("the greatest of NaN and others is %v", nan)
		}
		return errors.Join(err, e, e2, equal("any", some, tensor.Of([]bool{false, true, true})), equal("all", every, tensor.Of([]bool{false, false, true})))
	})
}

func TestPointToPointAndGroups(t *testing.T) {
	onRanks(t, 4, func(ctx context.Context, c *dist.Comm) error {
		column, err := c.Split(ctx, c.Rank()%2, -c.Rank())
		if err != nil {
			return err
		}
		if column.Size() != 2 || column.Rank() != 1-c.Rank()/2 {
			return fmt.Errorf("rank %d is %d of %d", c.Rank(), column.Rank(), column.Size())
		}
		got, err := column.AllReduce(ctx, of(c.Rank(), 1), dist.Sum)
		if err = errors.Join(err, equal("sum of a column", got, ops.Add(of(c.Rank()%2, 1), of(c.Rank()%2+2, 1)))); err != nil {
			return err
		}
		if c.Rank() == 0 {
			return c.Send(ctx, of(7, 3), 3)
		}
		if c.Rank() == 3 {
			got, err := c.Receive(ctx, of(0, 3), 0)
			return errors.Join(err, equal("received", got, of(7, 3)))
		}
		return nil
	})
}

// The gradient of an operation of several ranks is that of the sum of what all ranks compute: it
// is compared with differences of that sum.
func TestGradients(t *testing.T) {
	weights := func(y tensor.Tensor, rank int) tensor.Tensor {
		w := ops.Add(ops.Cast(ops.Reshape(ops.Range(0, ops.Size(y), 1), ops.Shape(y)), dtype.Float64), float64(rank+1))
		return ops.Sum(ops.Mul(ops.Sin(y), w))
	}
	for name, f := range map[string]func(x tensor.Tensor) tensor.Tensor{
		"all_reduce":     func(x tensor.Tensor) tensor.Tensor { return dist.AllReduce(x, dist.Sum, "") },
		"max":            func(x tensor.Tensor) tensor.Tensor { return dist.AllReduce(x, dist.Max, "") },
		"reduce_scatter": func(x tensor.Tensor) tensor.Tensor { return dist.ReduceScatter(x, dist.Sum, -1, "") },
		"all_gather":     func(x tensor.Tensor) tensor.Tensor { return dist.AllGather(x, 1, "") },
		"all_to_all":     func(x tensor.Tensor) tensor.Tensor { return dist.AllToAll(x, 0, "") },
		"broadcast":      func(x tensor.Tensor) tensor.Tensor { return dist.Broadcast(x, 1, "") },
		"reduce":         func(x tensor.Tensor) tensor.Tensor { return dist.Reduce(x, 1, "") },
		"shift":          func(x tensor.Tensor) tensor.Tensor { return dist.Shift(x, 1, "") },
	} {
		onRanks(t, 3, func(ctx context.Context, c *dist.Comm) error {
			x := ops.Mul(of(c.Rank(), 3), 0.013)
			value := function.New(func(x, rank tensor.Tensor) tensor.Tensor {
				return dist.AllReduce(weights(f(x), c.Rank()), dist.Sum, "")
			})
			// What all ranks compute is that sum once, not three times.
			slope := function.New(func(x tensor.Tensor) tensor.Tensor {
				return grad.Of(func(x tensor.Tensor) tensor.Tensor { return weights(f(x), c.Rank()) })(x)
			})
			out, err := slope.CallContext(ctx, x)
			if err != nil {
				return err
			}
			got := tensor.Data[float64](out[0].(tensor.Tensor))
			for owner := range 3 {
				for i := range 6 {
					var side [2]float64
					for k, h := range []float64{1e-5, -1e-5} {
						y := append([]float64(nil), tensor.Data[float64](x)...)
						if owner == c.Rank() {
							y[i] += h
						}
						out, err := value.CallContext(ctx, tensor.Of(y, 3, 2), tensor.Scalar(0.0))
						if err != nil {
							return err
						}
						side[k] = tensor.Item[float64](out[0].(tensor.Tensor))
					}
					if want := (side[0] - side[1]) / 2e-5; owner == c.Rank() && math.Abs(got[i]-want) > 1e-5*(1+math.Abs(want)) {
						return fmt.Errorf("%s: element %d of rank %d has the gradient %v, want %v", name, i, owner, got[i], want)
					}
				}
			}
			return nil
		})
	}
}

// Whatever goes wrong on one rank is an error on every rank that says where and why.
func TestFailures(t *testing.T) {
	x, y := of(0, 3), of(0, 4)
	for name, test := range map[string]struct {
		f    func(ctx context.Context, c *dist.Comm) error
		want []string
	}{
		"another operation": {func(ctx context.Context, c *dist.Comm) error {
			if c.Rank() == 1 {
				_, err := c.Broadcast(ctx, x, 0)
				return err
			}
			_, err := c.AllReduce(ctx, x, dist.Sum)
			return err
		}, []string{"rank 0 calls all_reduce(add) of float64[3, 2]", "rank 1 broadcast of float64[3, 2]"}},
		"another reduction": {func(ctx context.Context, c *dist.Comm) error {
			_, err := c.AllReduce(ctx, x, []dist.Reduction{dist.Sum, dist.Max, dist.Sum}[c.Rank()])
			return err
		}, []string{"rank 0 calls all_reduce(add)", "rank 1 all_reduce(maximum)"}},
		"another shape": {func(ctx context.Context, c *dist.Comm) error {
			_, err := c.AllReduce(ctx, []tensor.Tensor{x, x, y}[c.Rank()], dist.Sum)
			return err
		}, []string{"rank 0 calls all_reduce(add) of float64[3, 2]", "rank 2 all_reduce(add) of float64[4, 2]"}},
		"another element type": {func(ctx context.Context, c *dist.Comm) error {
			_, err := c.AllGather(ctx, []tensor.Tensor{x, ops.Cast(x, dtype.Float32), x}[c.Rank()])
			return err
		}, []string{"rank 1 all_gather of float32[3, 2]"}},
		"another program": {func(ctx context.Context, c *dist.Comm) error {
			return c.Agree(ctx, "the digest of the program", []string{"1f", "1f", "2e"}[c.Rank()])
		}, []string{"ranks disagree about the digest of the program: rank 0 has 1f, rank 2 2e"}},
		"another line of a long program": {func(ctx context.Context, c *dist.Comm) error {
			text := strings.Repeat("mul\tat line "+fmt.Sprint(c.Rank())+"\n", 1000) + strings.Repeat("x", 1000) + []string{"add", "add", "sub\tat line 7"}[c.Rank()]
			return c.Agree(ctx, "the program", text+"\nreturn")
		}, []string{"ranks disagree about the program, in line 1001: rank 0 has …xxxxxx", "xxxadd, rank 2 …xxx", "xxxsub at line 7"}},
		"a rank that ends": {func(ctx context.Context, c *dist.Comm) error {
			if c.Rank() == 2 {
				return nil
			}
			_, err := c.AllReduce(ctx, x, dist.Sum)
			return err
		}, []string{"rank 0 calls all_reduce", "rank 2 the end"}},
		"an error": {func(ctx context.Context, c *dist.Comm) error {
			if c.Rank() == 1 {
				return errors.New("the disk is full")
			}
			_, err := c.AllReduce(ctx, x, dist.Sum)
			return err
		}, []string{"rank 1: the disk is full"}},
		"a panic": {func(ctx context.Context, c *dist.Comm) error {
			if c.Rank() == 1 {
				var none []int
				_ = none[c.Rank()]
			}
			_, err := c.AllGather(ctx, x)
			return err
		}, []string{"rank 1: panic: runtime error: index out of range"}},
		"a rank that is late": {func(ctx context.Context, c *dist.Comm) error {
			if c.Rank() == 1 {
				<-time.After(300 * time.Millisecond)
			}
			_, err := c.AllReduce(ctx, x, dist.Sum)
			return err
		}, []string{"rank 1 did not reach operation 1, all_reduce(add) of float64[3, 2] within 50ms"}},
		"ranks that wait for one another": {func(ctx context.Context, c *dist.Comm) error {
			if c.Rank() == 0 {
				_, err := c.Receive(ctx, x, 1)
				return err
			}
			_, err := c.AllReduce(ctx, x, dist.Sum)
			return err
		}, []string{"operation 0, receive of float64[3, 2] from rank 1", "operation 1, all_reduce(add) of float64[3, 2]"}},
		"a bad operand": {func(ctx context.Context, c *dist.Comm) error {
			_, err := c.AllReduce(ctx, []tensor.Tensor{x, tensor.Of([]string{"a"}), x}[c.Rank()], dist.Sum)
			return err
		}, []string{"it takes numbers in memory, not string[1]"}},
		"no such rank": {func(ctx context.Context, c *dist.Comm) error {
			_, err := c.Broadcast(ctx, x, 3)
			return err
		}, []string{"there is no other rank 3 among 3"}},
		"no reduction": {func(ctx context.Context, c *dist.Comm) error {
			_, err := c.AllReduce(ctx, x, "total")
			return err
		}, []string{`"total" is not a reduction`}},
	} {
		t.Run(name, func(t *testing.T) {
			errs := make([]error, 3)
			start := time.Now()
			err := dist.Simulate(t.Context(), 3, dist.Options{Timeout: 50 * time.Millisecond}, func(ctx context.Context, c *dist.Comm) error {
				errs[c.Rank()] = test.f(ctx, c)
				if errs[c.Rank()] == nil && c.Err() != nil {
					errs[c.Rank()] = c.Err()
				}
				return errs[c.Rank()]
			})
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q in it", err, want)
				}
				for r, err := range errs {
					if name == "a rank that ends" && r == 2 || name == "a panic" && r == 1 {
						continue // it had returned
					}
					if err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(want, "rank 1: ")) {
						t.Errorf("rank %d: got %v, want %q in it", r, err, want)
					}
				}
			}
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("it took %v", d)
			}
		})
	}
	if _, err := tenon.Try(func() tensor.Tensor { return dist.AllReduce(x, dist.Sum, "") }); err == nil || !strings.Contains(err.Error(), "no group of ranks") {
		t.Errorf("without a group: got %v", err)
	}
}
