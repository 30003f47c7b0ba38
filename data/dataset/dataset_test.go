package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var ctx = context.Background()

func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func seq[T any](list []T) func() iter.Seq2[T, error] {
	return func() iter.Seq2[T, error] {
		return func(yield func(T, error) bool) {
			for _, x := range list {
				if !yield(x, nil) {
					return
				}
			}
		}
	}
}

func double(x int) (int, error) { return 2 * x, nil }
func odd(x int) (bool, error)   { return x%2 == 1, nil }

// All kinds of datasets of integers: with numbers, and streams.
func kinds() map[string]*dataset.Dataset[int] {
	ten := dataset.FromSlice(numbers(10))
	stream := dataset.FromSeq(seq(numbers(10)))
	pair := func(p dataset.Pair[int, int]) (int, error) { return p.First*100 + p.Second, nil }
	return map[string]*dataset.Dataset[int]{
		"slice":             ten,
		"empty":             dataset.FromSlice[int](nil),
		"map":               ten.Map(double),
		"filter":            ten.Filter(odd),
		"take":              ten.Take(3),
		"take more":         ten.Take(30),
		"skip":              ten.Skip(3),
		"skip all":          ten.Skip(30),
		"repeat":            ten.Repeat(3),
		"shuffle":           ten.Shuffle(7),
		"shuffle, repeat":   ten.Shuffle(7).Repeat(3),
		"repeat, shuffle":   ten.Repeat(3).Shuffle(7),
		"take, repeat":      ten.Shuffle(7).Take(4).Repeat(2),
		"filter, shuffle":   ten.Filter(odd).Shuffle(3).Repeat(2),
		"shuffle, filter":   ten.Shuffle(3).Filter(odd).Repeat(2),
		"zip":               dataset.Map(dataset.Zip(ten, ten.Shuffle(1).Take(4).Repeat(2)), pair),
		"interleave":        dataset.Interleave(ten, ten.Take(2), ten.Skip(5)),
		"prefetch":          ten.Map(double).Prefetch(4),
		"filter, prefetch":  ten.Filter(odd).Map(double).Prefetch(4).Repeat(2),
		"stream":            stream,
		"stream map":        stream.Map(double),
		"stream filter":     stream.Filter(odd).Repeat(2),
		"stream take":       stream.Skip(2).Take(5),
		"stream repeat":     stream.Repeat(3).Take(25),
		"stream zip":        dataset.Map(dataset.Zip(stream, ten), pair),
		"stream interleave": dataset.Interleave(stream, ten.Take(2), stream.Filter(odd)),
		"stream prefetch":   stream.Map(double).Prefetch(3),
		"window":            stream.ShuffleWindow(4, 9).Repeat(2),
		"wide window":       stream.ShuffleWindow(400, 9).Map(double),
		"window of a slice": ten.ShuffleWindow(3, 1),

		"concat":             dataset.Concat(ten, ten.Take(2), ten.Shuffle(1)).Repeat(2),
		"concat, empty":      dataset.Concat(ten.Take(0), ten, ten.Take(0)),
		"stream concat":      dataset.Concat(stream, ten.Take(2), stream.Filter(odd)).Repeat(2),
		"mix":                dataset.Mix(dataset.First, dataset.Part[int]{Data: ten, Weight: 3}, dataset.Part[int]{Data: ten.Map(double), Weight: 1}).Repeat(2),
		"mix, last":          dataset.Mix(dataset.Last, dataset.Part[int]{Data: ten.Shuffle(3), Weight: 1}, dataset.Part[int]{Data: ten.Take(2), Weight: 0.7}),
		"mix, never":         dataset.Mix(dataset.Never, dataset.Part[int]{Data: ten.Take(3), Weight: 1}, dataset.Part[int]{Data: ten, Weight: 1}).Take(31),
		"enumerate":          dataset.Map(dataset.Enumerate(ten.Shuffle(2).Repeat(2)), func(n dataset.Numbered[int]) (int, error) { return int(n.Number)*100 + n.Value, nil }),
		"stream enumerate":   dataset.Map(dataset.Enumerate(stream.Filter(odd)), func(n dataset.Numbered[int]) (int, error) { return int(n.Number)*100 + n.Value, nil }),
		"indexed":            dataset.MapIndexed(ten, 5, keyed).Repeat(3),
		"stream indexed":     dataset.MapIndexed(stream, 5, keyed).Repeat(3),
		"flat map":           dataset.FlatMap(ten.Shuffle(1), 3, thrice).Repeat(2),
		"stream flat map":    dataset.FlatMap(stream, 0, upTo).Repeat(2),
		"flat map, unknown":  dataset.FlatMap(ten, 0, upTo),
		"take while":         ten.TakeWhile(below7).Repeat(2),
		"stream take while":  stream.TakeWhile(below7).Map(double),
		"scan":               dataset.Scan(ten, 0, sum).Repeat(2),
		"stream scan":        dataset.Scan(stream.Repeat(2), tensor.Tensor(tensor.Scalar(int64(0))), sumTensor),
		"unique":             ten.Repeat(2).Unique(lastDigitOfSquare),
		"stream unique":      stream.Unique(lastDigitOfSquare).Repeat(2),
		"skip errors":        ten.Map(failAt(3)).SkipErrors(1, nil).Repeat(2),
		"stream skip errors": stream.Map(failAt(3)).SkipErrors(1, nil),
		"cycle":              dataset.Cycle([]*dataset.Dataset[int]{stream, ten.Take(2), stream.Filter(odd), ten.Take(0), ten}, dataset.CycleOptions{Open: 2, Run: 3}).Repeat(2),
		"cycle, prefetch":    dataset.Cycle([]*dataset.Dataset[int]{stream.Prefetch(2), ten.Prefetch(2)}, dataset.CycleOptions{}),
		"auto prefetch":      stream.Map(double).Prefetch(dataset.Auto).Repeat(30),
		"fold":               ten.Shuffle(3).Folds(3)[1].Train.Repeat(2),
		"split by":           dataset.SplitBy(ten, func(x int) (bool, error) { return x < 4, nil }, 0.5, 0.5)[0].Shuffle(1).Repeat(2),

		"batch":           coded(rows.Shuffle(1).Batch(3, asRagged).Repeat(2)),
		"batch, drop":     coded(rows.Batch(3, dataset.BatchOptions{DropRemainder: true}).Repeat(2)),
		"stream batch":    coded(rowStream.Batch(3, asRagged).Repeat(2)),
		"share":           coded(rows.Shuffle(1).Batch(4, asRagged).Share(1, 2).Repeat(2)),
		"stream share":    coded(rowStream.Batch(4, asRagged).Share(0, 2)),
		"windows":         coded(rows.Window(4, 2, 2, asRagged).Repeat(2)),
		"stream windows":  coded(rowStream.Window(4, 2, 2, asRagged)),
		"gaps":            coded(rows.Window(2, 5, 1, asRagged)),
		"stream gaps":     coded(rowStream.Window(2, 5, 1, dataset.BatchOptions{DropRemainder: true})),
		"unbatch":         coded(rows.Batch(3, asRagged).Unbatch().Repeat(2)),
		"unbatch by size": coded(rows.Batch(5, dataset.BatchOptions{Kind: dataset.Ragged, DropRemainder: true}).Unbatch().Shuffle(1).Repeat(2)),
		"stream unbatch":  coded(rowStream.Batch(3, asRagged).Unbatch().ShuffleWindow(3, 1)),
		"rebatch":         coded(rows.Batch(3, asRagged).Rebatch(4, asRagged).Repeat(2)),
		"group by":        coded(rows.GroupByWindow(parity, func(int64) int { return 2 }, asRagged).Repeat(2)),
		"stream group by": coded(rowStream.GroupByWindow(parity, func(k int64) int { return 2 + int(k) }, asRagged)),
		"blocks":          coded(blocks.Repeat(2)),
		"shuffled blocks": coded(blocks.ShuffleBlocks(2, 5).Repeat(3)),
		"files of blocks": coded(dataset.Concat(blocks, blocks).ShuffleBlocks(3, 5).Repeat(2)),
		"pack":            coded(lists.Pack(dataset.PackOptions{Length: 5, Window: 4}).Repeat(2)),
		"many stages":     coded(dataset.Concat(rowStream, rows.Filter(oddRow)).ShuffleWindow(4, 2).Batch(3, asRagged).Repeat(2).Unbatch().GroupByWindow(parity, func(int64) int { return 3 }, asRagged).Prefetch(2).Skip(1)),
	}
}

// coded maps batches of integers to one that tells them apart.
func coded(d *dataset.Dataset[tensor.Tensor]) *dataset.Dataset[int] {
	return dataset.Map(d, func(t tensor.Tensor) (int, error) {
		h := t.Shape().Rank()
		var flat tensor.Tensor = t
		for {
			r, ok := flat.(*ragged.Tensor)
			if !ok {
				break
			}
			for _, n := range tensor.Data[int64](r.Partition().RowLengths()) {
				h = (h*31 + int(n) + 7) & 0xffffff
			}
			flat = r.FlatValues()
		}
		for _, x := range tensor.Data[int64](flat) {
			h = (h*31 + int(x) + 1) & 0xffffff
		}
		return h, nil
	})
}

var (
	asRagged  = dataset.BatchOptions{Kind: dataset.Ragged}
	rows      = dataset.FromRows[tensor.Tensor](tensor.Of([]int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}))
	rowStream = dataset.FromBatches(seq([]tensor.Tensor{tensor.Of([]int64{0, 1, 2, 3}), tensor.Of([]int64{}), tensor.Of([]int64{4, 5}), tensor.Of([]int64{6, 7, 8, 9})}))
	lists     = dataset.FromRows[tensor.Tensor](must(ragged.FromRowLengths([]int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, []int64{2, 0, 5, 1, 1, 3, 3})))
	blocks    = dataset.FromBlocks([]int64{3, 0, 2, 4, 1}, func(b int64) (tensor.Tensor, error) {
		return []tensor.Tensor{tensor.Of([]int64{0, 1, 2}), tensor.Of([]int64{}), tensor.Of([]int64{3, 4}), tensor.Of([]int64{5, 6, 7, 8}), tensor.Of([]int64{9})}[b], nil
	}, dataset.BlockOptions{Bytes: 1})
)

func keyed(i dataset.Index, x int) (int, error) {
	return x + 100*int(i.Number) + 1000*int(i.Epoch) + int(i.Seed()%9)*10000, nil
}
func thrice(x int) ([]int, error)    { return []int{x, x + 100, x + 200}, nil }
func upTo(x int) ([]int, error)      { return numbers(x % 4), nil }
func below7(x int) (bool, error)     { return x < 7, nil }
func sum(s, x int) (int, int, error) { return s + x, s*10 + x, nil }
func sumTensor(s tensor.Tensor, x int) (tensor.Tensor, int, error) {
	n := tensor.Item[int64](s) + int64(x)
	return tensor.Scalar(n), int(n), nil
}
func lastDigitOfSquare(x int) (string, error) { return fmt.Sprint(x * x % 10), nil }
func parity(t tensor.Tensor) (int64, error)   { return tensor.Item[int64](t)%2 - 1, nil }
func oddRow(t tensor.Tensor) (bool, error)    { return tensor.Item[int64](t)%2 == 1, nil }
func failAt(k int) func(int) (int, error) {
	return func(x int) (int, error) {
		if x == k {
			return 0, errors.New("boom")
		}
		return x, nil
	}
}

func TestElements(t *testing.T) {
	for name, want := range map[string][]int{
		"slice":             {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
		"empty":             nil,
		"map":               {0, 2, 4, 6, 8, 10, 12, 14, 16, 18},
		"filter":            {1, 3, 5, 7, 9},
		"take":              {0, 1, 2},
		"skip":              {3, 4, 5, 6, 7, 8, 9},
		"skip all":          nil,
		"interleave":        {0, 0, 5, 1, 1, 6, 2, 7, 3, 8, 4, 9, 5, 6, 7, 8, 9},
		"filter, prefetch":  {2, 6, 10, 14, 18, 2, 6, 10, 14, 18},
		"stream filter":     {1, 3, 5, 7, 9, 1, 3, 5, 7, 9},
		"stream take":       {2, 3, 4, 5, 6},
		"stream interleave": {0, 0, 1, 1, 1, 3, 2, 5, 3, 7, 4, 9, 5, 6, 7, 8, 9},
		"stream zip":        {0, 101, 202, 303, 404, 505, 606, 707, 808, 909},
	} {
		if got := must(kinds()[name].Collect(ctx)); !cmp.Equal(want, got) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

// A loop that starts at a position has what a loop from the start has from there on; At
// and Len agree with it.
func TestPositions(t *testing.T) {
	for name, d := range kinds() {
		all := must(d.Collect(ctx))
		for p := range len(all) + 2 {
			var rest []int
			for x, err := range d.From(ctx, int64(p)) {
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				rest = append(rest, x)
			}
			if want := all[min(p, len(all)):]; !slices.Equal(want, rest) {
				t.Errorf("%s from %d: got %v, want %v", name, p, rest, want)
			}
		}
		n, ok := d.Len()
		if ok && n != int64(len(all)) {
			t.Errorf("%s: length %d of %d", name, n, len(all))
		}
		if _, err := d.At(0); errors.Is(err, tenon.ErrUnsupported) {
			continue
		} else if !ok {
			t.Errorf("%s: elements have numbers, and no last one: %v", name, err)
		}
		for i, want := range all {
			if got, err := d.At(int64(i)); err != nil || got != want {
				t.Errorf("%s at %d: got %d, %v, want %d", name, i, got, err, want)
			}
		}
		if _, err := d.At(n); !errors.Is(err, tenon.ErrRange) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestShuffle(t *testing.T) {
	for n := range 70 {
		got := must(dataset.FromSlice(numbers(n)).Shuffle(5).Repeat(2).Collect(ctx))
		for e := range 2 {
			epoch := slices.Clone(got[e*n : (e+1)*n])
			slices.Sort(epoch)
			if !slices.Equal(epoch, numbers(n)) {
				t.Errorf("epoch %d of %d: %v", e, n, got)
			}
		}
		if n > 8 && (slices.Equal(got[:n], got[n:]) || slices.IsSorted(got[:n])) {
			t.Errorf("%d: no new order in the second epoch: %v", n, got)
		}
	}
	// Each element comes first equally often: chi-squared with 9 degrees of freedom stays
	// below 33.7 in all but one of ten thousand cases.
	counts := make([]float64, 10)
	for seed := range uint64(10000) {
		counts[must(dataset.FromSlice(numbers(10)).Shuffle(seed).At(0))]++
	}
	chi := 0.0
	for _, c := range counts {
		chi += (c - 1000) * (c - 1000) / 1000
	}
	if chi > 33.7 {
		t.Errorf("chi-squared is %v: %v", chi, counts)
	}
	got := must(dataset.FromSeq(seq(numbers(100))).ShuffleWindow(10, 1).Repeat(2).Collect(ctx))
	for i, x := range got[:100] {
		if x > i+9 {
			t.Errorf("element %d comes as number %d, out of a window of 10", x, i)
		}
	}
	if slices.Equal(got[:100], got[100:]) || slices.IsSorted(got[:100]) {
		t.Errorf("no new order in the second epoch: %v", got)
	}
	slices.Sort(got)
	for i, x := range got {
		if x != i/2 {
			t.Fatalf("two epochs have %v", got)
		}
	}
	if err := dataset.FromSeq(seq(numbers(3))).ShuffleWindow(0, 1).Err(); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	if err := dataset.FromSeq(seq(numbers(3))).Shuffle(1).Err(); !errors.Is(err, tenon.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

func records(t *testing.T) *structured.Tensor {
	t.Helper()
	s, err := jsonl.Read(jsonl.Bytes([]byte(`{"label":0,"tokens":[1,2,3],"name":"a"}
{"label":1,"tokens":[],"name":"b"}
{"label":2,"tokens":[4],"name":null}
{"label":3,"tokens":[5,6],"name":"d"}
{"label":4,"tokens":[7,8,9,10],"name":"e"}
`)), jsonl.Options{Missing: structured.MissingMasked})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func text(t *testing.T, v tensor.Tensor) string {
	t.Helper()
	var b strings.Builder
	if err := jsonl.Write(&b, v, jsonl.WriteOptions{Array: true}); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// Batches that are gathered from columns, cut from other batches and stacked row by row
// are the same.
func TestBatches(t *testing.T) {
	r := records(t)
	same := func(s *structured.Tensor) (*structured.Tensor, error) { return s, nil }
	sources := map[string]*dataset.Dataset[*structured.Tensor]{
		"rows":    dataset.FromRows(r),
		"stacked": dataset.FromRows(r).Map(same),
		"stream":  dataset.FromBatches(seq([]*structured.Tensor{must(r.Index(sliceOf(0, 3))).(*structured.Tensor), must(r.Index(sliceOf(3, 5))).(*structured.Tensor)})),
		"shards":  dataset.Interleave(dataset.FromRows(must(r.Index(strided(0))).(*structured.Tensor)), dataset.FromRows(must(r.Index(strided(1))).(*structured.Tensor))),
		"ahead":   dataset.FromRows(r).Map(same).Prefetch(2),
	}
	for name, d := range sources {
		for _, c := range []struct {
			o    dataset.BatchOptions
			want []string
		}{
			{dataset.BatchOptions{Kind: dataset.Ragged}, []string{
				`[{"label":0,"tokens":[1,2,3],"name":"a"},{"label":1,"tokens":[],"name":"b"}]`,
				`[{"label":2,"tokens":[4],"name":null},{"label":3,"tokens":[5,6],"name":"d"}]`,
				`[{"label":4,"tokens":[7,8,9,10],"name":"e"}]`}},
			{dataset.BatchOptions{Kind: dataset.Padded, Pad: -1, DropRemainder: true}, []string{
				`[{"label":0,"tokens":[1,2,3],"name":"a"},{"label":1,"tokens":[-1,-1,-1],"name":"b"}]`,
				`[{"label":2,"tokens":[4,-1],"name":null},{"label":3,"tokens":[5,6],"name":"d"}]`}},
		} {
			var got []string
			for b, err := range d.Batch(2, c.o).All(ctx) {
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				got = append(got, text(t, b))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		_, err := d.Batch(2, dataset.BatchOptions{}).Collect(ctx)
		if !errors.Is(err, tenon.ErrShape) || !strings.Contains(err.Error(), "tokens") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	d := dataset.FromRows(r).Shuffle(1).Repeat(2).Batch(4, dataset.BatchOptions{Kind: dataset.Ragged})
	sum := 0
	for b, err := range d.Prefetch(3).All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		sum += int(tensor.Item[int64](ops.Sum(must(b.Field("tokens")))))
	}
	if sum != 2*55 {
		t.Errorf("the tokens of two epochs add up to %d", sum)
	}
}

func TestBatchOfTensors(t *testing.T) {
	type pair struct{ X, Y tensor.Tensor }
	rows := pair{tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2), must(ragged.FromRowLengths([]int64{1, 2, 3}, []int64{2, 0, 1}))}
	d := dataset.FromRows(rows)
	p := must(d.At(0))
	if got := fmt.Sprint(p.X, p.Y); got != "[1. 2.] float32[2] [1 2] int64[2]" {
		t.Errorf("got %s", got)
	}
	b := must(d.Batch(2, dataset.BatchOptions{Kind: dataset.Ragged}).At(0))
	if got := tenon.String(b.X.Spec()) + tenon.String(b.Y.Spec()); got != "float32[2, 2]int64[2, ~]" {
		t.Errorf("got %s", got)
	}
	s := must(d.Specs())
	if got := fmt.Sprint(s); got != "[{X float32[2]} {Y int64[?]}]" {
		t.Errorf("got %s", got)
	}
	s = must(d.Batch(2, dataset.BatchOptions{Kind: dataset.Ragged}).Specs())
	if got := fmt.Sprint(s); got != "[{X float32[?, 2]} {Y int64[?, ~]}]" {
		t.Errorf("got %s", got)
	}
	for _, bad := range []any{pair{rows.X, tensor.Of([]int64{1, 2})}, 3, tensor.Scalar(1), map[string]any{}} {
		if err := dataset.FromRows(bad).Err(); !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("%v: got %v", bad, err)
		}
	}
}

func TestSpecs(t *testing.T) {
	type row struct{ X, Y tensor.Tensor }
	r := row{tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2), must(ragged.FromRowLengths([]int64{1, 2, 3}, []int64{2, 0, 1}))}
	d := dataset.FromRows(r)
	same := func(x row) (row, error) { return x, nil }
	const known, first = "[{X float32[2]} {Y int64[?]}]", "[{X float32[2]} {Y int64[2]}]"
	for name, c := range map[string]struct {
		d    *dataset.Dataset[row]
		want string
	}{
		"moved":      {d.Shuffle(1).Repeat(2).Take(5).Skip(1).Filter(func(row) (bool, error) { return true, nil }).Prefetch(2), known},
		"mapped":     {d.Map(same), first},
		"interleave": {dataset.Interleave(d, dataset.FromRows(row{tensor.Of([]float32{1, 2, 3, 4}, 1, 4), must(ragged.FromRowLengths([]int64{1}, []int64{1}))})), "[{X float32[?]} {Y int64[?]}]"},
		"stream":     {dataset.FromBatches(seq([]row{r})), first},
	} {
		s, err := c.d.Specs()
		if got := fmt.Sprint(s); err != nil || got != c.want {
			t.Errorf("%s: got %s, %v, want %s", name, got, err, c.want)
		}
	}
	s := must(dataset.Zip(d, dataset.FromRows[tensor.Tensor](r.X)).Specs())
	if got := fmt.Sprint(s); got != "[{First.X float32[2]} {First.Y int64[?]} {Second float32[2]}]" {
		t.Errorf("got %s", got)
	}
	for _, d := range []*dataset.Dataset[row]{d.Take(0).Map(same), d.Take(-1), d.Map(func(row) (row, error) { return row{}, errors.New("boom") })} {
		if s, err := d.Specs(); err == nil {
			t.Errorf("got %v", s)
		}
	}
}

func TestBucket(t *testing.T) {
	d := dataset.FromRows(records(t)).Bucket(func(s *structured.Tensor) (int, error) {
		tokens, err := s.Field("tokens")
		if err != nil {
			return 0, err
		}
		return tokens.Shape().Dim(0), nil
	}, dataset.BucketOptions{Bounds: []int{2}, Sizes: []int{2, 2}, Batch: dataset.BatchOptions{Kind: dataset.Padded}})
	want := []string{
		`[{"label":1,"tokens":[0],"name":"b"},{"label":2,"tokens":[4],"name":null}]`,
		`[{"label":0,"tokens":[1,2,3],"name":"a"},{"label":3,"tokens":[5,6,0],"name":"d"}]`,
		`[{"label":4,"tokens":[7,8,9,10],"name":"e"}]`,
	}
	for from := range 4 {
		var got []string
		for b, err := range d.From(ctx, int64(from)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, text(t, b))
		}
		if diff := cmp.Diff(want[from:], got, cmpEmpty); diff != "" {
			t.Errorf("from %d: %s", from, diff)
		}
	}
}

func TestErrors(t *testing.T) {
	boom := errors.New("boom")
	fail := func(x int) (int, error) {
		if x == 3 {
			return 0, boom
		}
		return x, nil
	}
	throw := func(x int) (int, error) {
		if x == 3 {
			tenon.Throw(boom)
		}
		return x, nil
	}
	for name, d := range map[string]*dataset.Dataset[int]{
		"map":      dataset.FromSlice(numbers(9)).Map(fail),
		"throw":    dataset.FromSlice(numbers(9)).Map(throw).Skip(1),
		"stream":   dataset.FromSeq(seq(numbers(9))).Map(fail),
		"prefetch": dataset.FromSlice(numbers(9)).Map(fail).Prefetch(4),
		"filter":   dataset.FromSlice(numbers(9)).Filter(func(x int) (bool, error) { _, err := fail(x); return true, err }),
		"select":   dataset.FromSlice(numbers(9)).Filter(func(x int) (bool, error) { _, err := throw(x); return true, err }).Shuffle(1),
		"source": dataset.FromSeq(func() iter.Seq2[int, error] {
			return func(yield func(int, error) bool) {
				for i := range 3 {
					if !yield(i, nil) {
						return
					}
				}
				yield(0, boom)
			}
		}),
	} {
		_, err := d.Collect(ctx)
		var e *dataset.ElementError
		if !errors.As(err, &e) && name != "select" || !errors.Is(err, boom) {
			t.Errorf("%s: got %v", name, err)
		} else if e != nil && e.Index != 3 {
			t.Errorf("%s: element %d", name, e.Index)
		}
	}
	ten := dataset.FromSlice(numbers(10))
	for _, d := range []*dataset.Dataset[int]{ten.Take(-1), ten.Skip(-1), ten.Repeat(-1), ten.Prefetch(-1), ten.Batch(0, dataset.BatchOptions{}), ten.Batch(1, dataset.BatchOptions{Kind: 9}),
		ten.Bucket(nil, dataset.BucketOptions{}), ten.Bucket(nil, dataset.BucketOptions{Bounds: []int{2, 1}, Sizes: []int{1, 1, 1}}), ten.Take(-1).Map(double).Shuffle(1)} {
		if _, err := d.Collect(ctx); d.Err() == nil || !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := ten.Batch(2, dataset.BatchOptions{}).Collect(ctx); err == nil {
		t.Error("plain integers were batched")
	}
}

// A parallel map gives the same elements in the same order, and really is parallel: two
// elements wait for each other.
func TestParallelMap(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("one processor computes one element at a time")
	}
	meet := make(chan struct{})
	var calls atomic.Int32
	d := dataset.FromSlice(numbers(100)).Map(func(x int) (int, error) {
		if calls.Add(1); x < 2 {
			select {
			case meet <- struct{}{}:
			case <-meet:
			case <-time.After(10 * time.Second):
				return 0, errors.New("alone")
			}
		}
		return 2 * x, nil
	}).Prefetch(4)
	got := must(d.Collect(ctx))
	for i, x := range got {
		if x != 2*i {
			t.Fatalf("got %v", got)
		}
	}
	if calls.Load() != 100 {
		t.Errorf("%d calls", calls.Load())
	}
}

// Goroutines have ended when the loop has: at the end, after break, after an error and
// when the context ends.
func TestClosesCleanly(t *testing.T) {
	before := runtime.NumGoroutine()
	for name, d := range kinds() {
		d := d.Prefetch(3)
		for range d.All(ctx) {
			break
		}
		stopped, cancel := context.WithCancelCause(ctx)
		n := 0
		var last error
		for _, err := range d.Repeat(0).All(stopped) {
			if n++; n == 3 {
				cancel(errors.New("enough"))
			}
			last = err
		}
		if name != "empty" && name != "skip all" && (last == nil || last.Error() != "enough") {
			t.Errorf("%s: got %v after %d", name, last, n)
		}
		cancel(nil)
		func() {
			defer func() { _ = recover() }()
			for range d.All(ctx) {
				panic("in the loop")
			}
		}()
		// A goroutine that has done its work may still be about to end.
		for start := time.Now(); runtime.NumGoroutine() > before; runtime.Gosched() {
			if time.Since(start) > 5*time.Second {
				t.Fatalf("%s: %d goroutines, there were %d", name, runtime.NumGoroutine(), before)
			}
		}
	}
}

// Prefetch never computes more than it may ahead.
func TestAhead(t *testing.T) {
	var computed atomic.Int32
	d := dataset.FromSlice(numbers(50)).Map(func(x int) (int, error) { computed.Add(1); return x, nil }).Prefetch(5)
	read := int32(0)
	for range d.All(ctx) {
		read++
		if c := computed.Load(); c > read+5+1 {
			t.Fatalf("%d computed, %d read", c, read)
		}
	}
}

// A function of the number of an element is a source like any other: shuffled, batched
// and taken by number.
func TestFromFunc(t *testing.T) {
	d := dataset.FromFunc(10, func(i int64) (int64, error) {
		if i == 7 {
			return 0, errors.New("seven")
		}
		return i * i, nil
	})
	if n, ok := d.Len(); n != 10 || !ok {
		t.Errorf("there are %d", n)
	}
	if x, err := d.At(3); x != 9 || err != nil {
		t.Errorf("%d, %v", x, err)
	}
	var e *dataset.ElementError
	if _, err := d.Collect(t.Context()); !errors.As(err, &e) || e.Index != 7 {
		t.Error(err)
	}
	got, err := d.Take(7).Shuffle(1).Collect(t.Context())
	slices.Sort(got)
	if err != nil || !slices.Equal(got, []int64{0, 1, 4, 9, 16, 25, 36}) {
		t.Errorf("%v, %v", got, err)
	}
	if err := dataset.FromFunc[int](-1, nil).Err(); !errors.Is(err, tenon.ErrInvalid) {
		t.Error(err)
	}
}
