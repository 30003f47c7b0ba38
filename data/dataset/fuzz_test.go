package dataset_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
)

// FuzzPipelines compares pipelines of random stages with the same done to a plain slice, from
// the beginning, from a position, by number, and ahead in another goroutine.
func FuzzPipelines(f *testing.F) {
	f.Add(uint8(10), []byte{0, 3, 1, 2, 2, 3})
	f.Add(uint8(7), []byte{5, 1, 3, 0, 0, 5, 2, 2})
	f.Add(uint8(0), []byte{4, 0, 2, 2})
	f.Add(uint8(20), []byte{6, 4, 3, 1, 7, 2, 1, 1})
	f.Add(uint8(9), []byte{5, 1, 0, 6, 2, 2, 5, 2, 2, 1})
	f.Add(uint8(9), []byte{4, 1, 6, 3, 1, 2, 2, 2, 0, 7})
	f.Fuzz(func(t *testing.T, n uint8, stages []byte) {
		want, stages := make([]int, n%32), stages[:min(len(stages), 64)]
		for i := range want {
			want[i] = i
		}
		d, shuffled := dataset.FromSlice(slices.Clone(want)), false
		for ; len(stages) >= 2 && len(want) < 500; stages = stages[2:] {
			k := int(stages[1] % 8)
			switch stages[0] % 8 {
			case 0:
				d, want = d.Take(int64(k)), want[:min(k, len(want))]
			case 1:
				d, want = d.Skip(int64(k)), want[min(k, len(want)):]
			case 2:
				if k = k%3 + 1; len(want) == 0 {
					continue
				}
				if d = d.Repeat(int64(k)); shuffled {
					want = passes(t, d, want, k)
				} else {
					want = slices.Repeat(want, k)
				}
			case 3:
				d = d.Map(func(x int) (int, error) { return 2*x + k, nil })
				want = slices.Clone(want)
				for i := range want {
					want[i] = 2*want[i] + k
				}
			case 4:
				d = d.Filter(func(x int) (bool, error) { return x%(k+2) != 0, nil })
				want = slices.DeleteFunc(slices.Clone(want), func(x int) bool { return x%(k+2) == 0 })
			case 5, 6:
				before := d
				if d = d.Shuffle(uint64(k)); stages[0]%8 == 6 {
					d = before.ShuffleWindow(k+1, uint64(k))
				}
				got, err := d.Collect(context.Background())
				if errors.Is(err, tenon.ErrUnsupported) || errors.Is(err, tenon.ErrInvalid) {
					d = before // a stream has no order that all of it could be shuffled in
					continue
				}
				a, b := slices.Clone(got), slices.Clone(want)
				slices.Sort(a)
				if slices.Sort(b); err != nil || !slices.Equal(a, b) {
					t.Fatalf("shuffled: got %v, %v of %v", got, err, want)
				}
				want, shuffled = got, true
			case 7:
				d = d.Prefetch(k%3 + 1)
			}
		}
		got, err := d.Collect(context.Background())
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("got %v, %v, want %v", got, err, want)
		}
		if n, ok := d.Len(); ok && n != int64(len(want)) {
			t.Fatalf("the length is %d, want %d", n, len(want))
		}
		for i := range want {
			x, err := d.At(int64(i))
			if errors.Is(err, tenon.ErrUnsupported) {
				break
			}
			if err != nil || x != want[i] {
				t.Fatalf("element %d is %v, %v, want %v", i, x, err, want[i])
			}
		}
		from := len(want) / 2
		var rest []int
		for x, err := range d.From(context.Background(), int64(from)) {
			if err != nil {
				t.Fatal(err)
			}
			rest = append(rest, x)
		}
		if !slices.Equal(rest, want[from:]) {
			t.Fatalf("from %d: got %v, want %v", from, rest, want[from:])
		}
	})
}

// passes returns what a dataset gives that is repeated and was shuffled: first what it gives
// once, and then the same elements in another order each time.
func passes(t *testing.T, d *dataset.Dataset[int], once []int, times int) []int {
	t.Helper()
	got, err := d.Collect(context.Background())
	if err != nil || len(got) != times*len(once) || !slices.Equal(got[:len(once)], once) {
		t.Fatalf("repeated %d times: got %v, %v, want %v first", times, got, err, once)
	}
	want := slices.Sorted(slices.Values(once))
	for pass := range slices.Chunk(got, len(once)) {
		if a := slices.Sorted(slices.Values(pass)); !slices.Equal(a, want) {
			t.Fatalf("a pass has %v, want the elements %v", a, want)
		}
	}
	return got
}
