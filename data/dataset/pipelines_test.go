package dataset_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/tensor"
)

// fails is what tests of both kinds report to.
type fails interface {
	Helper()
	Fatalf(format string, args ...any)
}

type ints = *dataset.Dataset[int]

// tensors are the same numbers as scalars, and plain the reverse.
func tensors(d ints) *dataset.Dataset[tensor.Tensor] {
	return dataset.Map(d, func(x int) (tensor.Tensor, error) { return tensor.Scalar(int64(x)), nil })
}

func plain(d *dataset.Dataset[tensor.Tensor]) ints {
	return dataset.Map(d, func(x tensor.Tensor) (int, error) { return int(tensor.Item[int64](x)), nil })
}

// lists are vectors of up to two numbers, whose rows are elements again.
func vectors(d ints) *dataset.Dataset[tensor.Tensor] {
	return dataset.Map(d, func(x int) (tensor.Tensor, error) {
		return tensor.Of(slices.Repeat([]int64{int64(x)}, 1+max(x, -x)%2)), nil
	})
}

// A stage draws what it needs, and returns a dataset made of others.
type stageOf struct {
	name string
	make func(r *rapid.T, d ints, other func() ints) ints
}

func draw(r *rapid.T, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(r, "k") }

// stagesOfAll are all stages that there are, numbered and streams.
var stagesOfAll = []stageOf{
	{"Take", func(r *rapid.T, d ints, _ func() ints) ints { return d.Take(int64(draw(r, 0, 9))) }},
	{"Skip", func(r *rapid.T, d ints, _ func() ints) ints { return d.Skip(int64(draw(r, 0, 5))) }},
	{"Repeat", func(r *rapid.T, d ints, _ func() ints) ints { return d.Repeat(int64(draw(r, 1, 3))) }},
	{"Map", func(_ *rapid.T, d ints, _ func() ints) ints { return d.Map(double) }},
	{"MapIndexed", func(r *rapid.T, d ints, _ func() ints) ints {
		return dataset.MapIndexed(d, uint64(draw(r, 0, 3)), keyed)
	}},
	{"Enumerate", func(_ *rapid.T, d ints, _ func() ints) ints {
		return dataset.Map(dataset.Enumerate(d), func(n dataset.Numbered[int]) (int, error) { return int(n.Number)*3 + n.Value, nil })
	}},
	{"Filter", func(r *rapid.T, d ints, _ func() ints) ints {
		k := draw(r, 2, 4)
		return d.Filter(func(x int) (bool, error) { return x%k != 1, nil })
	}},
	{"TakeWhile", func(r *rapid.T, d ints, _ func() ints) ints {
		k := draw(r, 3, 30)
		return d.TakeWhile(func(x int) (bool, error) { return x < k, nil })
	}},
	{"Unique", func(_ *rapid.T, d ints, _ func() ints) ints {
		return d.Unique(func(x int) (string, error) { return fmt.Sprint(x), nil })
	}},
	{"Scan", func(_ *rapid.T, d ints, _ func() ints) ints { return dataset.Scan(d, 0, sum) }},
	{"SkipErrors", func(r *rapid.T, d ints, _ func() ints) ints {
		return d.Map(failAt(draw(r, 0, 6))).SkipErrors(100, nil)
	}},
	{"FlatMap", func(r *rapid.T, d ints, _ func() ints) ints {
		if draw(r, 0, 1) == 0 {
			return dataset.FlatMap(d, 3, thrice)
		}
		return dataset.FlatMap(d, 0, func(x int) ([]int, error) { return slices.Repeat([]int{x}, max(x, -x)%3), nil })
	}},
	{"Shuffle", func(r *rapid.T, d ints, _ func() ints) ints { return d.Shuffle(uint64(draw(r, 0, 5))) }},
	{"ShuffleWindow", func(r *rapid.T, d ints, _ func() ints) ints {
		return d.ShuffleWindow(draw(r, 1, 5), uint64(draw(r, 0, 5)))
	}},
	{"Prefetch", func(r *rapid.T, d ints, _ func() ints) ints { return d.Prefetch(draw(r, 0, 4)) }},
	{"Concat", func(_ *rapid.T, d ints, other func() ints) ints { return dataset.Concat(d, other(), d) }},
	{"Interleave", func(_ *rapid.T, d ints, other func() ints) ints { return dataset.Interleave(other(), d) }},
	{"Cycle", func(r *rapid.T, d ints, other func() ints) ints {
		return dataset.Cycle([]ints{d, other(), other()}, dataset.CycleOptions{Open: draw(r, 1, 2), Run: draw(r, 1, 3)})
	}},
	{"Mix", func(r *rapid.T, d ints, other func() ints) ints {
		return dataset.Mix(dataset.Stop(draw(r, 0, 1)), dataset.Part[int]{Data: d, Weight: float64(draw(r, 1, 3))}, dataset.Part[int]{Data: other(), Weight: 1})
	}},
	{"Zip", func(_ *rapid.T, d ints, other func() ints) ints {
		return dataset.Map(dataset.Zip(d, other()), func(p dataset.Pair[int, int]) (int, error) { return p.First + 7*p.Second, nil })
	}},
	{"Split", func(r *rapid.T, d ints, _ func() ints) ints { return d.Split(0.5, 0.25, 0.25)[draw(r, 0, 2)] }},
	{"SplitBy", func(r *rapid.T, d ints, _ func() ints) ints {
		return dataset.SplitBy(d, odd, 0.6, 0.4)[draw(r, 0, 1)]
	}},
	{"Folds", func(r *rapid.T, d ints, _ func() ints) ints { return d.Folds(3)[draw(r, 0, 2)].Train }},
	{"Batch", func(r *rapid.T, d ints, _ func() ints) ints {
		return plain(tensors(d).Batch(draw(r, 1, 4), dataset.BatchOptions{DropRemainder: draw(r, 0, 1) == 1}).Unbatch())
	}},
	{"Share", func(r *rapid.T, d ints, _ func() ints) ints {
		return plain(tensors(d).Batch(draw(r, 1, 4), dataset.BatchOptions{}).Share(draw(r, 0, 1), 2).Unbatch())
	}},
	{"Window", func(r *rapid.T, d ints, _ func() ints) ints {
		return plain(tensors(d).Window(draw(r, 1, 3), draw(r, 1, 3), draw(r, 1, 2), dataset.BatchOptions{}).Unbatch())
	}},
	{"Rebatch", func(r *rapid.T, d ints, _ func() ints) ints {
		return plain(tensors(d).Batch(2, dataset.BatchOptions{}).Rebatch(draw(r, 1, 5), dataset.BatchOptions{}).Unbatch())
	}},
	{"Pack", func(r *rapid.T, d ints, _ func() ints) ints {
		packed := vectors(d).Pack(dataset.PackOptions{Length: draw(r, 2, 5), Window: draw(r, 1, 7), MaxSegments: draw(r, 0, 2)})
		return plain(packed.Unbatch().Unbatch())
	}},
	{"Bucket", func(r *rapid.T, d ints, _ func() ints) ints {
		o := dataset.BucketOptions{Bounds: []int{2}, Sizes: []int{draw(r, 1, 3), 2}, Batch: asRagged}
		return plain(vectors(d).Bucket(func(x tensor.Tensor) (int, error) { return x.Shape().Dim(0), nil }, o).Unbatch().Unbatch())
	}},
	{"GroupByWindow", func(r *rapid.T, d ints, _ func() ints) ints {
		class := func(x tensor.Tensor) (int64, error) { return tensor.Item[int64](x) % 3, nil }
		n := draw(r, 1, 3)
		return plain(tensors(d).GroupByWindow(class, func(int64) int { return n }, dataset.BatchOptions{}).Unbatch())
	}},
}

// sourceOf draws a source of some numbers: by number, by blocks, or a stream.
func sourceOf(r *rapid.T) ints {
	n := draw(r, 0, 9)
	switch draw(r, 0, 3) {
	case 0:
		return dataset.FromSlice(numbers(n))
	case 1:
		return dataset.FromSeq(seq(numbers(n)))
	case 2:
		return dataset.FromFunc(int64(n), func(i int64) (int, error) { return int(i), nil })
	}
	sizes := []int64{2, 0, 3, int64(n)}
	blocks := dataset.FromBlocks(sizes, func(b int64) (tensor.Tensor, error) {
		out := make([]int64, sizes[b])
		for i := range out {
			out[i] = 10*b + int64(i)
		}
		return tensor.Of(out), nil
	}, dataset.BlockOptions{Bytes: 1})
	if draw(r, 0, 1) == 1 {
		blocks = blocks.ShuffleBlocks(draw(r, 1, 3), uint64(draw(r, 0, 3)))
	}
	return plain(blocks)
}

// Whatever the stages, in whatever order: element i is the i-th of the loop, a loop from a position
// is the rest of the loop, what is computed ahead is the same, and a loop that is killed after any
// element goes on, with states that are the same bytes.
func TestLawsOfPipelines(t *testing.T) {
	dir := t.TempDir()
	cached := 0
	rapid.Check(t, func(r *rapid.T) {
		names := "source"
		d := sourceOf(r)
		other := func() ints { return sourceOf(r) }
		for range draw(r, 0, 5) {
			if draw(r, 0, 15) == 0 { // what is cached has numbers
				cached++
				c, err := d.Cache(ctx, filepath.Join(dir, fmt.Sprint(cached)), "", dataset.CacheOptions{BlockBytes: 40})
				if err != nil {
					r.Fatalf("%s, cached: %v", names, err)
				}
				d, names = c, names+", Cache"
				continue
			}
			s := rapid.SampledFrom(stagesOfAll).Draw(r, "stage")
			next := s.make(r, d, other)
			if next.Err() != nil {
				continue // a stage that needs numbers, of a stream
			}
			if all, err := next.Take(200).Collect(ctx); err != nil {
				if s.name == "Mix" { // of a part without elements
					continue
				}
				r.Fatalf("%s, %s: %v", names, s.name, err)
			} else if len(all) > 60 {
				next = next.Take(20)
			}
			d, names = next, names+", "+s.name
		}
		lawful(r, names, d)
		resumes(r, names, d, 1)
	})
}

// lawful checks the laws of numbers and of prefetching.
func lawful(t fails, name string, d ints) {
	t.Helper()
	want, err := d.Collect(ctx)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	n, sized := d.Len()
	if sized && n != int64(len(want)) {
		t.Fatalf("%s: the length is %d, there are %d", name, n, len(want))
	}
	for p := range len(want) + 2 {
		rest, err := collected(d.From(ctx, int64(p)))
		if err != nil || !slices.Equal(rest, want[min(p, len(want)):]) {
			t.Fatalf("%s from %d: got %v, %v of %v", name, p, rest, err, want)
		}
	}
	if sized {
		for i, x := range want {
			got, err := d.At(int64(i))
			if err != nil {
				break // a stream whose length is known
			}
			if got != x {
				t.Fatalf("%s at %d: got %v of %v", name, i, got, want)
			}
		}
	}
	for _, o := range []dataset.PrefetchOptions{{}, {Ahead: 1}, {Ahead: 7, Workers: 2}, {Bytes: 1, Workers: 2}} {
		if got, err := d.PrefetchWith(o).Collect(ctx); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%s ahead (%+v): got %v, %v, want %v", name, o, got, err, want)
		}
	}
}

func collected(loop func(func(int, error) bool)) (out []int, err error) {
	loop(func(x int, e error) bool {
		if err = e; e == nil {
			out = append(out, x)
		}
		return e == nil
	})
	return out, err
}

// resumes checks that a loop which is killed after an element goes on from its state as if nothing
// had been, and that its states are the same bytes. From the thirteenth on, one element of so many is tried.
func resumes(t fails, name string, d ints, every int) {
	t.Helper()
	want, states := []int(nil), [][]byte{}
	c := must(d.Cursor(ctx, nil))
	states = append(states, must(c.State()))
	for x, err := range c.All() {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want, states = append(want, x), append(states, must(c.State()))
	}
	c.Close()
	if all := must(d.Collect(ctx)); !slices.Equal(all, want) {
		t.Fatalf("%s: a cursor has %v, a loop %v", name, want, all)
	}
	for k, state := range states {
		if k > 12 && k%every > 0 {
			continue
		}
		c, err := d.Cursor(ctx, state)
		if err != nil {
			t.Fatalf("%s after %d: %v", name, k, err)
		}
		if again := must(c.State()); !bytes.Equal(again, state) {
			t.Fatalf("%s after %d: the state is %q, it was %q", name, k, again, state)
		}
		i := k
		for x, err := range c.All() {
			if err != nil || i >= len(want) || x != want[i] {
				t.Fatalf("%s after %d: element %d is %v, %v, want %v", name, k, i, x, err, want)
			}
			if i++; !bytes.Equal(must(c.State()), states[i]) {
				t.Fatalf("%s after %d: another state at %d", name, k, i)
			}
		}
		if i != len(want) || c.Position() != int64(i) {
			t.Fatalf("%s after %d: %d of %d elements", name, k, i, len(want))
		}
		c.Close()
	}
}
