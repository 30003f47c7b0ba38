package ragged_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func fold(start float64, f func(a, b float64) float64) func(line []float64) float64 {
	return func(line []float64) float64 {
		a := start
		for _, v := range line {
			a = f(a, v)
		}
		return a
	}
}

func run(start float64, f func(a, b float64) float64, o ops.CumOptions) func(line []float64) []float64 {
	return func(line []float64) []float64 {
		out := slices.Clone(line)
		if o.Reverse {
			slices.Reverse(out)
		}
		a := start
		for i, v := range out {
			before := a
			a = f(a, v)
			out[i] = a
			if o.Exclusive {
				out[i] = before
			}
		}
		if o.Reverse {
			slices.Reverse(out)
		}
		return out
	}
}

func plus(a, b float64) float64  { return a + b }
func times(a, b float64) float64 { return a * b }

func average(line []float64) float64 { return fold(0, plus)(line) / float64(len(line)) }

func spread(line []float64) float64 {
	m, s := average(line), 0.0
	for _, v := range line {
		s += (v - m) * (v - m)
	}
	return s / float64(len(line))
}

func logOfSum(line []float64) float64 {
	s := 0.0
	for _, v := range line {
		s += math.Exp(v)
	}
	return math.Log(s)
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// TestEveryAxis: what an operation does along any axis of random rows of rows, ragged, uniform
// or inner, by its number from either end, is what it does to lines of nested lists.
func TestEveryAxis(t *testing.T) {
	type reduction struct {
		plain, keep func(x any, axes ...int) T
		line        func(line []float64) float64
	}
	norm := func(p float64) func(x any, axes ...int) T {
		return func(x any, axes ...int) T { return ops.Norm(x, p, axes...) }
	}
	reductions := map[string]reduction{
		"sum":      {ops.Sum, ops.SumKeep, fold(0, plus)},
		"prod":     {ops.Prod, ops.ProdKeep, fold(1, times)},
		"max":      {ops.Max, ops.MaxKeep, fold(math.Inf(-1), math.Max)},
		"min":      {ops.Min, ops.MinKeep, fold(math.Inf(1), math.Min)},
		"mean":     {ops.Mean, ops.MeanKeep, average},
		"variance": {ops.Variance, ops.VarianceKeep, spread},
		"std":      {ops.Std, ops.StdKeep, func(l []float64) float64 { return math.Sqrt(spread(l)) }},
		"any": {func(x any, a ...int) T { return ops.Any(ops.Greater(x, 2.0), a...) }, func(x any, a ...int) T { return ops.AnyKeep(ops.Greater(x, 2.0), a...) },
			func(l []float64) float64 { return truth(fold(math.Inf(-1), math.Max)(l) > 2) }},
		"all": {func(x any, a ...int) T { return ops.All(ops.Greater(x, 2.0), a...) }, func(x any, a ...int) T { return ops.AllKeep(ops.Greater(x, 2.0), a...) },
			func(l []float64) float64 { return truth(fold(math.Inf(1), math.Min)(l) > 2) }},
		"count":     {ops.CountNonzero, ops.CountNonzeroKeep, fold(0, func(a, b float64) float64 { return a + truth(b != 0) })},
		"logsumexp": {ops.LogSumExp, ops.LogSumExpKeep, logOfSum},
		"norm 1":    {norm(1), nil, fold(0, func(a, b float64) float64 { return a + math.Abs(b) })},
		"norm 2":    {norm(2), nil, func(l []float64) float64 { return math.Sqrt(fold(0, func(a, b float64) float64 { return a + b*b })(l)) }},
		"norm inf":  {norm(math.Inf(1)), nil, fold(0, func(a, b float64) float64 { return max(a, math.Abs(b)) })},
	}
	type movement struct {
		f    func(x any, axis int) T
		line func(line []float64) []float64
	}
	type permutation struct {
		f  func(x any, axis int) T
		of func(n int) []int
	}
	sums := func(o ops.CumOptions) movement {
		return movement{func(x any, a int) T { return ops.CumSum(x, a, o) }, run(0, plus, o)}
	}
	rolled := func(by int) permutation {
		return permutation{func(x any, a int) T { return ops.Roll(x, by, a) }, func(n int) []int {
			out := make([]int, n)
			for i := range out {
				out[((i+by)%n+n)%n] = i
			}
			return out
		}}
	}
	soft := func(l []float64) []float64 {
		out, s := slices.Clone(l), logOfSum(l)
		for i, v := range l {
			out[i] = math.Exp(v - s)
		}
		return out
	}
	movements := map[string]movement{
		"cumsum": sums(ops.CumOptions{}), "cumsum exclusive": sums(ops.CumOptions{Exclusive: true}),
		"cumsum reverse": sums(ops.CumOptions{Reverse: true}), "cumsum exclusive reverse": sums(ops.CumOptions{Exclusive: true, Reverse: true}),
		"cumprod": {func(x any, a int) T { return ops.CumProd(x, a, ops.CumOptions{}) }, run(1, times, ops.CumOptions{})},
		"cummax":  {func(x any, a int) T { return ops.CumMax(x, a, ops.CumOptions{Reverse: true}) }, run(math.Inf(-1), math.Max, ops.CumOptions{Reverse: true})},
		"cummin":  {func(x any, a int) T { return ops.CumMin(x, a, ops.CumOptions{}) }, run(math.Inf(1), math.Min, ops.CumOptions{})},
		"logcumsumexp": {func(x any, a int) T { return ops.LogCumSumExp(x, a, ops.CumOptions{}) },
			run(math.Inf(-1), func(a, b float64) float64 { return math.Log(math.Exp(a) + math.Exp(b)) }, ops.CumOptions{})},
		"softmax": {func(x any, a int) T { return ops.Softmax(x, a) }, soft},
		"log softmax": {func(x any, a int) T { return ops.LogSoftmax(x, a) }, func(l []float64) []float64 {
			out := soft(l)
			for i := range out {
				out[i] = math.Log(out[i])
			}
			return out
		}},
		"layer norm": {func(x any, a int) T { return ops.LayerNorm(x, nil, nil, 0.5, a) }, func(l []float64) []float64 {
			out, m, v := slices.Clone(l), average(l), spread(l)
			for i := range out {
				out[i] = (out[i] - m) / math.Sqrt(v+0.5)
			}
			return out
		}},
	}
	permutations := map[string]permutation{
		"reverse": {func(x any, a int) T { return ops.Reverse(x, a) }, func(n int) []int {
			out := make([]int, n)
			for i := range out {
				out[i] = n - 1 - i
			}
			return out
		}},
		"roll": rolled(1), "roll back": rolled(-2),
		"repeat": {func(x any, a int) T { return ops.Repeat(x, 2, a) }, func(n int) []int {
			out := make([]int, 2*n)
			for i := range out {
				out[i] = i / 2
			}
			return out
		}},
		"in twos": {func(x any, a int) T {
			keys := make([]any, x.(T).Shape().Rank())
			for i := range keys {
				keys[i] = key.All
			}
			keys[(a+len(keys))%len(keys)] = key.Range(nil, nil, -2)
			return ops.Index(x, keys...)
		}, func(n int) []int {
			var out []int
			for i := n - 1; i >= 0; i -= 2 {
				out = append(out, i)
			}
			return out
		}},
		"shuffle": {func(x any, a int) T { return ops.Concat([]any{x, ops.Reverse(x, a), x}, a) }, func(n int) []int {
			var out []int
			for k := range 3 * n {
				if k/n == 1 {
					k = 3*n - 1 - k
				}
				out = append(out, k%n)
			}
			return out
		}},
	}
	r := rand.New(rand.NewPCG(1, 2))
	steps := regexp.MustCompile("^(any|all|count|arg)") // which have no slope
	try := func(name string, want any, x *ragged.Tensor, f func(x any) T) {
		t.Helper()
		got, err := tenon.Try(func() any { return nestedOf(f(x)) })
		if err != nil {
			t.Errorf("%s of %v %v: %v", name, x.Spec(), nestedOf(x), err)
		} else if !agree(want, got) {
			t.Errorf("%s of %v %v: got %v, want %v", name, x.Spec(), nestedOf(x), got, want)
		} else if !steps.MatchString(name) && r.IntN(4) == 0 {
			slope(t, name, r, x, f)
		} else if r.IntN(10) == 0 {
			t.Run(name, func(t *testing.T) {
				traced(t, func(x, _ T) T { return ops.NaNToNum(ops.Cast(filler(f(x)), dtype.Float32)) }, x, tensor.Scalar(int64(0)))
			})
		}
	}
	for range 40 {
		x, m := randomRows(r)
		rank := len(m.sizes)
		name := func(axis int) int { // from either end
			if r.IntN(3) == 0 {
				return axis - rank
			}
			return axis
		}
		for what, o := range reductions {
			axes := r.Perm(rank)[:1+r.IntN(rank)]
			named := slices.Clone(axes)
			for i := range named {
				named[i] = name(named[i])
			}
			try(fmt.Sprint(what, " over ", named), m.reduced(o.line, false, axes...), x, func(x any) T { return o.plain(x, named...) })
			if o.keep != nil {
				try(fmt.Sprint(what, " over ", named, ", kept"), m.reduced(o.line, true, axes...), x, func(x any) T { return o.keep(x, named...) })
			}
			axis := r.IntN(rank)
			try(fmt.Sprint(what, " over ", axis), m.reduced(o.line, false, axis), x, func(x any) T { return o.plain(x, axis) })
		}
		for axis := range rank {
			for what, o := range movements {
				at := name(axis)
				try(fmt.Sprint(what, " along ", at), m.along(o.line, axis), x, func(x any) T { return o.f(x, at) })
			}
			for what, o := range permutations {
				at := name(axis)
				try(fmt.Sprint(what, " along ", at), m.moved(o.of, axis), x, func(x any) T { return o.f(x, at) })
			}
			for _, down := range []bool{false, true} {
				o := ops.SortOptions{Descending: down}
				sorted, from := m.order(down, axis)
				try(fmt.Sprint("sort along ", axis, o), sorted, x, func(x any) T { return ops.Sort(x, name(axis), o) })
				try(fmt.Sprint("argsort along ", axis, o), from, x, func(x any) T { return ops.ArgSort(x, name(axis), o) })
			}
			if m.sizes[axis] == 0 {
				continue // which has no best element anywhere
			}
			larger, smaller := m.best(func(a, b float64) bool { return a > b }, axis), m.best(func(a, b float64) bool { return a < b }, axis)
			try(fmt.Sprint("argmax along ", axis), larger, x, func(x any) T { return ops.ArgMax(x, name(axis)) })
			try(fmt.Sprint("argmin along ", axis), smaller, x, func(x any) T { return ops.ArgMin(x, name(axis)) })
		}
	}
}
