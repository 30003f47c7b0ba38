package dataset_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// Whatever is computed ahead, the elements are the same.
func TestPrefetchGivesTheSame(t *testing.T) {
	for name, d := range kinds() {
		want := must(d.Collect(ctx))
		for label, p := range map[string]*dataset.Dataset[int]{
			"1": d.Prefetch(1), "7": d.Prefetch(7), "auto": d.Prefetch(dataset.Auto),
			"bytes": d.PrefetchWith(dataset.PrefetchOptions{Bytes: 1, Workers: 2}),
		} {
			if got, err := p.Collect(ctx); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, %s: got %v, %v, want %v", name, label, got, err, want)
			}
		}
	}
}

// A loop that is killed after any element goes on from its state as if nothing had been, and
// its states are the same bytes.
func TestResume(t *testing.T) {
	for name, d := range kinds() {
		for label, d := range map[string]*dataset.Dataset[int]{"": d, ", ahead": d.Prefetch(2), ", window": d.ShuffleWindow(3, 8), ", filtered": d.Filter(func(x int) (bool, error) { return x%3 != 1, nil })} {
			resumes(t, name+label, d, 7)
		}
	}
}

// A state of other stages, of other data, or that is damaged, is an error or a loop, and no
// panic.
func TestStatesOfOthersAreRefused(t *testing.T) {
	ten := dataset.FromSlice(numbers(10))
	c := must(ten.Filter(odd).Map(double).Cursor(ctx, nil))
	for range c.All() {
		break
	}
	state := must(c.State())
	c.Close()
	for name, d := range map[string]*dataset.Dataset[int]{
		"another stage": ten.TakeWhile(odd).Map(double), "one more": ten.Filter(odd).Map(double).Map(double), "one less": ten.Filter(odd),
		"more elements": dataset.FromSlice(numbers(11)).Filter(odd).Map(double),
	} {
		if _, err := d.Cursor(ctx, state); !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := ten.Filter(odd).Map(double).Cursor(ctx, state[:len(state)-1]); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("cut: got %v", err)
	}
	if _, err := ten.Take(-1).Cursor(ctx, nil); err == nil {
		t.Error("a dataset that is in error has a cursor")
	}
}

func FuzzState(f *testing.F) {
	all := kinds()
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		c := must(all[name].ShuffleWindow(3, 1).Cursor(ctx, nil))
		for range c.All() {
			break
		}
		f.Add(uint8(i), must(c.State()))
		c.Close()
	}
	f.Fuzz(func(t *testing.T, which uint8, state []byte) {
		if len(state) > 512 {
			return
		}
		c, err := all[names[int(which)%len(names)]].ShuffleWindow(3, 1).Cursor(ctx, state)
		if err != nil {
			return
		}
		defer c.Close()
		n := 0
		for range c.All() {
			if n++; n > 20 {
				break
			}
		}
	})
}

// Each epoch of blocks is a permutation, and a window of blocks is all that is needed at a time.
func TestShuffleBlocks(t *testing.T) {
	for n := range 40 {
		var sizes []int64
		total := 0
		for b := range n {
			sizes = append(sizes, int64(b*7%5))
			total += b * 7 % 5
		}
		starts := make([]int64, n+1)
		for b, s := range sizes {
			starts[b+1] = starts[b] + s
		}
		reads := 0
		d := dataset.FromBlocks(sizes, func(b int64) (tensor.Tensor, error) {
			reads++
			var x []int64
			for i := starts[b]; i < starts[b+1]; i++ {
				x = append(x, i)
			}
			return tensor.Of(x), nil
		}, dataset.BlockOptions{Bytes: 1}).ShuffleBlocks(4, 9)
		for e := range 3 {
			reads = 0
			var got []int
			for x, err := range d.Repeat(3).From(ctx, int64(e*total)) {
				if err != nil {
					t.Fatal(err)
				}
				if got = append(got, int(tensor.Item[int64](x))); len(got) == total {
					break
				}
			}
			if reads > n+4 {
				t.Errorf("%d blocks, epoch %d: %d were read", n, e, reads)
			}
			if total > 20 && slices.IsSorted(got) {
				t.Errorf("%d blocks are not shuffled", n)
			}
			if slices.Sort(got); len(got) > 0 && !slices.Equal(got, numbers(total)) {
				t.Errorf("%d blocks, epoch %d: %v", n, e, got)
			}
		}
	}
	if err := dataset.FromSlice(numbers(3)).ShuffleBlocks(2, 1).Err(); !errors.Is(err, tenon.ErrUnsupported) {
		t.Errorf("no blocks: %v", err)
	}
	bad := dataset.FromBlocks([]int64{2}, func(int64) (tensor.Tensor, error) { return tensor.Of([]int64{1, 2, 3}), nil }, dataset.BlockOptions{})
	if _, err := bad.Collect(ctx); err == nil || !strings.Contains(err.Error(), "3 rows, want 2") {
		t.Errorf("a block of another size: %v", err)
	}
}

// After any number of elements each part of a mixture has its share, up to less than one.
func TestMixIsExact(t *testing.T) {
	for _, weights := range [][]float64{{1, 1}, {0.7, 0.2, 0.1}, {3, 5}, {math.Pi, math.E, 1}, {1, 100}, {1e-9, 1}, {5}} {
		var parts []dataset.Part[int]
		sum := 0.0
		for k, w := range weights {
			parts = append(parts, dataset.Part[int]{Data: dataset.FromSlice([]int{k}), Weight: w})
			sum += w
		}
		counts := make([]float64, len(weights))
		for i, x := range must(dataset.Mix(dataset.Never, parts...).Take(3000).Collect(ctx)) {
			counts[x]++
			for k, c := range counts {
				if share := weights[k] / sum * float64(i+1); math.Abs(c-share) >= 1+float64(i)/30000 {
					t.Fatalf("%v: after %d, part %d has %v, its share is %v", weights, i+1, k, c, share)
				}
			}
		}
	}
	ten := dataset.FromSlice(numbers(10))
	got := must(dataset.Mix(dataset.Last, dataset.Part[int]{Data: ten, Weight: 2}, dataset.Part[int]{Data: ten.Take(1), Weight: 1}).Collect(ctx))
	if want := []int{0, 1, 0, 2, 3, 0, 4, 5, 0, 6, 7, 0, 8, 9}; !slices.Equal(got, want) {
		t.Errorf("until the last ends: %v, want %v", got, want)
	}
	for name, d := range map[string]*dataset.Dataset[int]{
		"no part": dataset.Mix[int](dataset.First), "weight 0": dataset.Mix(dataset.First, dataset.Part[int]{Data: ten}),
		"a stream": dataset.Mix(dataset.First, dataset.Part[int]{Data: ten.Filter(odd), Weight: 1}),
		"NaN":      dataset.Mix(dataset.First, dataset.Part[int]{Data: ten, Weight: math.NaN()}),
	} {
		if d.Err() == nil {
			t.Errorf("%s is no error", name)
		}
	}
}

// The shares of all processes are the batch.
func TestShares(t *testing.T) {
	d := rows.Shuffle(3).Repeat(2).Batch(6, asRagged)
	whole := must(d.Collect(ctx))
	for _, of := range []int{1, 2, 3, 6} {
		for i, want := range whole {
			var got []int64
			for rank := range of {
				got = append(got, tensor.Data[int64](must(d.Share(rank, of).At(int64(i))))...)
			}
			if !slices.Equal(got, tensor.Data[int64](want)) {
				t.Errorf("%d shares of batch %d are %v, want %v", of, i, got, want)
			}
		}
	}
	for _, bad := range []*dataset.Dataset[tensor.Tensor]{d.Share(2, 2), d.Share(0, 0), d.Share(-1, 2), rows.Share(0, 2)} {
		if !errors.Is(bad.Err(), tenon.ErrInvalid) {
			t.Errorf("got %v", bad.Err())
		}
	}
}

// Bins are a partition of the elements, and none holds more than it has room for.
func TestPack(t *testing.T) {
	for _, room := range []int{1, 63, 64, 65, 2048, 5000} {
		for _, most := range []int{0, 1, 3} {
			lengths := make([]int64, 3000)
			for i := range lengths {
				lengths[i] = int64(uint32(i*2654435761)) % int64(room+1)
			}
			bin, n, err := dataset.PlanBins(lengths, room, most)
			if err != nil {
				t.Fatal(err)
			}
			sum, count := make([]int64, n), make([]int, n)
			total := int64(0)
			for i, b := range bin {
				sum[b] += lengths[i]
				count[b]++
				total += lengths[i]
			}
			for b := range n {
				if sum[b] > int64(room) || count[b] == 0 || most > 0 && count[b] > most {
					t.Fatalf("room %d: bin %d has %d elements of %d", room, b, count[b], sum[b])
				}
			}
			if fill := float64(total) / float64(n) / float64(room); most == 0 && fill < 0.99 && room > 1 {
				t.Errorf("room %d: bins are filled to %.3f", room, fill)
			}
		}
	}
	bins := must(lists.Pack(dataset.PackOptions{Length: 5}).Collect(ctx))
	if got := fmt.Sprint(bins); got != "[[[3 4 5 6 7]] int64[1, ~] [[] [8] [9] [10 11 12]] int64[4, ~] [[1 2] [13 14 15]] int64[2, ~]]" {
		t.Errorf("got %s", got)
	}
	if _, err := lists.Pack(dataset.PackOptions{Length: 4}).Collect(ctx); err == nil || !strings.Contains(err.Error(), "element 2 has length 5") {
		t.Errorf("a long one: %v", err)
	}
	mapped := lists.Map(func(x tensor.Tensor) (tensor.Tensor, error) { return x, nil })
	if got := must(mapped.Pack(dataset.PackOptions{Length: 5}).Collect(ctx)); fmt.Sprint(got) != fmt.Sprint(bins) {
		t.Errorf("of elements that are computed: %v, want %v", got, bins)
	}
	r := dataset.FromRows(records(t)).Pack(dataset.PackOptions{Length: 4, Path: "tokens", MaxSegments: 3})
	n := 0
	for b, err := range r.All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		n += int(tensor.Item[int64](b.NRows()))
	}
	if n != 5 {
		t.Errorf("%d records are packed, there are 5", n)
	}
	for _, d := range []*dataset.Dataset[tensor.Tensor]{lists.Pack(dataset.PackOptions{}), rowStream.Pack(dataset.PackOptions{Length: 3})} {
		if d.Err() == nil {
			t.Error("no error")
		}
	}
}

// Elements that cannot be computed are left out, up to a number, and reported.
func TestSkipErrors(t *testing.T) {
	fail := func(x int) (int, error) {
		if x%3 == 2 {
			return 0, errors.New("boom")
		}
		return x, nil
	}
	for name, d := range map[string]*dataset.Dataset[int]{"slice": dataset.FromSlice(numbers(9)), "stream": dataset.FromSeq(seq(numbers(9)))} {
		for _, ahead := range []bool{false, true} {
			var skipped []int64
			d := d.Map(fail)
			if ahead {
				d = d.Prefetch(2)
			}
			got, err := d.SkipErrors(3, func(e *dataset.ElementError) { skipped = append(skipped, e.Index) }).Collect(ctx)
			if err != nil || !slices.Equal(got, []int{0, 1, 3, 4, 6, 7}) || !slices.Equal(skipped, []int64{2, 5, 8}) {
				t.Errorf("%s: got %v, %v without %v", name, got, err, skipped)
			}
			_, err = d.SkipErrors(2, nil).Collect(ctx)
			var e *dataset.ElementError
			if !errors.As(err, &e) || e.Index != 8 || !strings.Contains(err.Error(), "2 elements before") {
				t.Errorf("%s, one too many: %v", name, err)
			}
		}
	}
}

// Parts by class have the classes in their shares.
func TestSplitBy(t *testing.T) {
	class := func(x int) (int, error) { return min(2, x%10), nil }
	d := dataset.FromSlice(numbers(100)).Shuffle(4)
	parts := dataset.SplitBy(d, class, 0.5, 0.25, 0.25)
	var whole []int
	for i, want := range [][3]int{{5, 5, 40}, {3, 2, 20}, {2, 3, 20}} {
		var got [3]int
		for _, x := range must(parts[i].Collect(ctx)) {
			got[min(2, x%10)]++
			whole = append(whole, x)
		}
		if got != want {
			t.Errorf("part %d has %v, want %v", i, got, want)
		}
	}
	if slices.Sort(whole); !slices.Equal(whole, numbers(100)) {
		t.Errorf("the parts are not the whole: %v", whole)
	}
	var held []int
	for _, f := range dataset.FoldsBy(d, 4, class) {
		test := must(f.Test.Collect(ctx))
		train := must(f.Train.Collect(ctx))
		if held = append(held, test...); len(test)+len(train) != 100 || len(test) != 25 {
			t.Errorf("a fold of %d and %d", len(train), len(test))
		}
	}
	if slices.Sort(held); !slices.Equal(held, numbers(100)) {
		t.Errorf("held out: %v", held)
	}
	if dataset.FromSlice(numbers(3)).Folds(1)[0].Train.Err() == nil || dataset.SplitBy(d, class, 0.5)[0].Err() == nil {
		t.Error("no error")
	}
}

// What a cache gives back is what went in, of every type, numbered also if it was a stream.
func TestCache(t *testing.T) {
	type row struct {
		V    tenon.Value
		Name string
		N    int
	}
	r := records(t)
	list := []row{{celsius, "a", 1}, {fahrenheit, "b", 2}, {r, "c", 3}, {tensor.Of([]string{"x", "", "\xff"}), "d", 4}, {must(r.Field("tokens")), "e", 5}, {tensor.Scalar(1.5), "f", 6}}
	dir := filepath.Join(t.TempDir(), "a", "cache[1]")
	for pass := range 2 {
		computed := 0
		d := dataset.FromSeq(seq(list)).Map(func(x row) (row, error) { computed++; return x, nil })
		c, err := d.Cache(ctx, dir, "v1", dataset.CacheOptions{BlockBytes: 300, FileBytes: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if n, ok := c.Len(); n != 6 || !ok || computed > 7-6*pass {
			t.Errorf("pass %d: %d elements, %d computed", pass, n, computed)
		}
		for i, want := range list {
			x, err := c.At(int64(i))
			if err != nil || x.Name != want.Name || x.N != want.N || !tenon.Equal(x.V.Spec(), want.V.Spec()) || fmt.Sprint(x.V) != fmt.Sprint(want.V) {
				t.Errorf("element %d is %v, %v, want %v", i, x, err, want)
			}
		}
		if got := must(c.ShuffleBlocks(2, 1).Repeat(2).Collect(ctx)); len(got) != 12 {
			t.Errorf("shuffled: %d", len(got))
		}
	}
	d := dataset.FromSeq(seq(list))
	for name, f := range map[string]func() error{
		"key":   func() error { _, err := d.Cache(ctx, dir, "v2", dataset.CacheOptions{}); return err },
		"Specs": func() error { _, err := d.Skip(1).Cache(ctx, dir, "v1", dataset.CacheOptions{}); return err },
		"none":  func() error { _, err := d.Take(0).Cache(ctx, dir, "v1", dataset.CacheOptions{}); return err },
	} {
		if err := f(); !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	failing := d.Map(func(row) (row, error) { return row{}, errors.New("boom") })
	other := filepath.Join(t.TempDir(), "b")
	if _, err := dataset.Concat(d, failing).Cache(ctx, other, "", dataset.CacheOptions{}); err == nil {
		t.Error("no error")
	}
	if left := must(filepath.Glob(other + "*")); len(left) > 0 {
		t.Errorf("a cache that failed has left %v", left)
	}
	empty := must(dataset.FromSlice([]*structured.Tensor{}).Cache(ctx, other, "", dataset.CacheOptions{}))
	if n, _ := empty.Len(); n != 0 {
		t.Errorf("%d elements", n)
	}
}

// Stages that are measured tell what they did.
func TestMeasure(t *testing.T) {
	d := dataset.FromSlice(numbers(20)).Map(double).Filter(func(x int) (bool, error) { return x%4 == 0, nil }).Prefetch(2)
	s := d.Measure()
	must(d.Collect(ctx))
	want := map[string]int64{"Prefetch": 10, "Filter": 10, "Map": 20, "FromSlice": 20}
	for i, x := range s.Stages() {
		if x.Elements != want[x.Name] || x.Depth != i || x.Own > x.Total || x.Name == "Prefetch" && x.Workers != 2 {
			t.Errorf("got %+v, want %d elements", x, want[x.Name])
		}
	}
	if text := s.String(); strings.Count(text, "\n") != 5 || !strings.Contains(text, "Prefetch") {
		t.Errorf("got %s", text)
	}
}
