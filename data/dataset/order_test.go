package dataset_test

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
)

// What is taken of shuffled elements, and what is skipped, are two parts in all epochs.
func TestPartsOfAShuffleDoNotMix(t *testing.T) {
	all := dataset.FromSlice(numbers(100))
	stream := dataset.FromSeq(seq(numbers(100)))
	for name, d := range map[string]*dataset.Dataset[int]{"shuffled": all.Shuffle(1), "repeated": all.Shuffle(1).Repeat(1), "window": stream.ShuffleWindow(20, 1)} {
		train, test := d.Take(80).Repeat(5), d.Skip(80).Repeat(5)
		seen := map[int]int{}
		for _, x := range must(train.Collect(ctx)) {
			seen[x]++
		}
		held := map[int]int{}
		for _, x := range must(test.Collect(ctx)) {
			held[x]++
			if seen[x] > 0 {
				t.Fatalf("%s: element %d is in both parts", name, x)
			}
		}
		if len(seen) != 80 || len(held) != 20 || seen[must(train.Collect(ctx))[0]] != 5 {
			t.Errorf("%s: parts of %d and %d elements", name, len(seen), len(held))
		}
	}
}

func TestSplit(t *testing.T) {
	d := dataset.FromSlice(numbers(101)).Shuffle(3)
	parts := d.Split(0.8, 0.1, 0.1)
	var whole []int
	for i, want := range []int64{81, 10, 10} {
		if n, ok := parts[i].Len(); n != want || !ok {
			t.Errorf("part %d has %d elements, want %d", i, n, want)
		}
		first := must(parts[i].Collect(ctx))
		again := must(parts[i].Shuffle(7).Repeat(2).Collect(ctx))[len(first):]
		if slices.Equal(first, again) && i == 0 {
			t.Error("the second epoch has the order of the first")
		}
		slices.Sort(again)
		sorted := slices.Clone(first)
		slices.Sort(sorted)
		if !slices.Equal(again, sorted) {
			t.Errorf("part %d changes from epoch to epoch: %v, %v", i, sorted, again)
		}
		whole = append(whole, first...)
	}
	slices.Sort(whole)
	if !slices.Equal(whole, numbers(101)) {
		t.Errorf("the parts are not the whole: %v", whole)
	}
	for _, shares := range [][]float64{{0.5}, {0.5, 0.6}, {1.5, -0.5}} {
		for _, p := range d.Split(shares...) {
			if !errors.Is(p.Err(), tenon.ErrInvalid) {
				t.Errorf("%v: got %v", shares, p.Err())
			}
		}
	}
	if err := dataset.FromSeq(seq(numbers(3))).Split(1)[0].Err(); !errors.Is(err, tenon.ErrUnsupported) {
		t.Errorf("a stream: %v", err)
	}
}

// A panic of a function under Prefetch is the error of its element.
func TestPanicsUnderPrefetch(t *testing.T) {
	boom := errors.New("boom")
	explode := func(x int) (int, error) {
		if x == 7 {
			panic(boom)
		}
		return x, nil
	}
	ten := dataset.FromSlice(numbers(10))
	source := dataset.FromSeq(func() iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			for x := range 7 {
				if !yield(x, nil) {
					return
				}
			}
			panic(boom)
		}
	})
	for name, d := range map[string]*dataset.Dataset[int]{
		"map": ten.Map(explode), "batch and map": ten.Shuffle(1).Map(explode), "source": source,
		"filter": ten.Filter(func(x int) (bool, error) { _, err := explode(x); return true, err }),
	} {
		n := 0
		var last error
		for _, err := range d.Prefetch(3).All(ctx) {
			if last = err; err == nil {
				n++
			}
		}
		var e *dataset.ElementError
		if !errors.As(last, &e) || !errors.Is(last, boom) || e.Index != int64(n) || !strings.Contains(e.Stack, "order_test.go") {
			t.Errorf("%s: %d elements, then %v", name, n, last)
		}
	}
}
