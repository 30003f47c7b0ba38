package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// A loop that begins at element 10⁹ computes that element and those behind it, and no others.
func TestFarPositions(t *testing.T) {
	const far, most = 1_000_000_000, 3_000_000_000
	var reads atomic.Int64 // Prefetch reads with two workers
	source := dataset.FromFunc(most, func(i int64) (int, error) { reads.Add(1); return int(i), nil })
	sizes := slices.Repeat([]int64{100_000}, 30_000)
	blocks := dataset.FromBlocks(sizes, func(b int64) (tensor.Tensor, error) {
		reads.Add(1)
		out := make([]int64, 100_000)
		for i := range out {
			out[i] = 100_000*b + int64(i)
		}
		return tensor.Of(out), nil
	}, dataset.BlockOptions{})
	for name, c := range map[string]struct {
		d    ints
		want int64 // reads of three elements at most
	}{
		"source":         {source, 3},
		"shuffled":       {source.Shuffle(1), 3},
		"epochs":         {source.Take(7).Shuffle(1).Repeat(0), 3},
		"mapped":         {dataset.MapIndexed(source.Shuffle(1).Map(double), 1, keyed), 3},
		"taken":          {source.Skip(5).Take(most - 10).Shuffle(2), 3},
		"mixed":          {dataset.Mix(dataset.Never, dataset.Part[int]{Data: source.Take(1000), Weight: 0.3}, dataset.Part[int]{Data: source.Shuffle(1), Weight: 0.7}), 3},
		"concatenated":   {dataset.Concat(source, source.Shuffle(1)), 3},
		"interleaved":    {dataset.Interleave(source, source.Take(17)), 3},
		"zipped":         {dataset.Map(dataset.Zip(source, source.Shuffle(1)), func(p dataset.Pair[int, int]) (int, error) { return p.First, nil }), 6},
		"flat":           {dataset.FlatMap(source, 3, thrice), 3},
		"a part":         {source.Shuffle(1).Split(0.9, 0.1)[0].Shuffle(2), 3},
		"batches":        {coded(tensors(source.Shuffle(1).Repeat(2)).Batch(3, dataset.BatchOptions{})), 9},
		"shares":         {coded(tensors(source.Shuffle(1)).Batch(2, dataset.BatchOptions{}).Share(1, 2)), 3},
		"windows":        {coded(tensors(source).Window(4, 2, 3, dataset.BatchOptions{})), 12},
		"rows of blocks": {plain(blocks), 1},
		"blocks":         {plain(blocks.ShuffleBlocks(2, 1)), 3},
		"ahead":          {source.Shuffle(1).Prefetch(2), 8},
	} {
		reads.Store(0)
		var got []int
		for x, err := range c.d.From(ctx, far) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got = append(got, x); len(got) == 3 {
				break
			}
		}
		if n := reads.Load(); n > c.want {
			t.Errorf("%s: %d reads, want %d", name, n, c.want)
		}
		for i, x := range got {
			if at, err := c.d.At(far + int64(i)); err != nil || at != x {
				t.Errorf("%s: element %d is %d, %v, and %d from there", name, far+i, at, err, x)
			}
		}
	}
}

// Prefetch holds no more bytes than it may, whatever the number of elements.
func TestAheadInBytes(t *testing.T) {
	const size = 1 << 16
	computed, read := 0, 0
	d := dataset.FromSlice(numbers(40)).Prefetch(1) // one worker counts for the next
	large := dataset.Map(d, func(int) (tensor.Tensor, error) {
		computed++
		return tensor.Of(make([]uint8, size)), nil
	}).PrefetchWith(dataset.PrefetchOptions{Workers: 1, Ahead: 30, Bytes: 4 * size})
	s := large.Measure()
	for _, err := range large.All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		read++
		for range 100 { // the worker goes as far as it may
			runtime.Gosched()
		}
	}
	if b := s.Stages()[0].Bytes; b > 4*size || b < size {
		t.Errorf("%d bytes are ahead, of %d", b, 4*size)
	}
	if read != 40 {
		t.Errorf("%d elements", read)
	}
}

// Buckets are filled up to their bounds, so that their batches have one shape each.
func TestPadToBound(t *testing.T) {
	length := func(x tensor.Tensor) (int, error) { return x.Shape().Dim(0), nil }
	o := dataset.BucketOptions{Bounds: []int{3, 6}, Sizes: []int{2, 2, 1}, Batch: dataset.BatchOptions{Kind: dataset.Padded, Pad: -1}, PadToBound: []string{""}}
	got := fmt.Sprint(must(lists.Bucket(length, o).Collect(ctx)))
	const want = "[[[ 1  2]\n [-1 -1]] int64[2, 2] [[ 8 -1]\n [ 9 -1]] int64[2, 2] [[ 3  4  5  6  7]\n [10 11 12 -1 -1]] int64[2, 5] [[13 14 15 -1 -1]] int64[1, 5]]"
	if got != want {
		t.Errorf("got %s", got)
	}
	r := records(t)
	tokens := func(s *structured.Tensor) (int, error) { return s.Path("tokens").Shape().Dim(0), nil }
	o = dataset.BucketOptions{Bounds: []int{3, 6}, Sizes: []int{5, 5, 1}, Batch: dataset.BatchOptions{Kind: dataset.Padded}, PadToBound: []string{"tokens"}}
	for name, d := range map[string]*dataset.Dataset[*structured.Tensor]{"rows": dataset.FromRows(r), "one by one": dataset.FromRows(r).Map(func(s *structured.Tensor) (*structured.Tensor, error) { return s, nil })} {
		var list []string
		for _, b := range must(d.Bucket(tokens, o).Collect(ctx)) {
			list = append(list, text(t, b))
		}
		if got := strings.Join(list, " "); got != `[{"label":1,"tokens":[0,0],"name":"b"},{"label":2,"tokens":[4,0],"name":null}] [{"label":0,"tokens":[1,2,3,0,0],"name":"a"},{"label":3,"tokens":[5,6,0,0,0],"name":"d"},{"label":4,"tokens":[7,8,9,10,0],"name":"e"}]` &&
			got != `[{"label":1,"tokens":[0,0],"name":"b"},{"label":2,"tokens":[4,0],"name":null},{"label":3,"tokens":[5,6],"name":"d"}] [{"label":0,"tokens":[1,2,3,0,0],"name":"a"},{"label":4,"tokens":[7,8,9,10,0],"name":"e"}]` {
			t.Errorf("%s: got %s", name, got)
		}
	}
	words := dataset.FromSlice([]tensor.Tensor{tensor.Of([]string{"a"}), tensor.Of([]string{"b", "c"})})
	if got := fmt.Sprint(must(words.Batch(2, dataset.BatchOptions{Kind: dataset.Padded, PadTo: map[string]int{"": 3}}).At(0))); got != "[[\"a\" \"\" \"\"]\n [\"b\" \"c\" \"\"]] string[2, 3]" {
		t.Errorf("strings: %s", got)
	}
	to := func(name string, n int) dataset.BatchOptions {
		return dataset.BatchOptions{Kind: dataset.Padded, PadTo: map[string]int{name: n}}
	}
	o.Bounds, o.PadToBound = []int{2, 3}, []string{"tokens"}
	for name, c := range map[string]struct {
		err  func() error
		want string
	}{
		"too long":   {func() error { _, err := lists.Batch(3, to("", 4)).Collect(ctx); return err }, "rows of 5 elements, more than the size 4 to pad to"},
		"no such":    {func() error { _, err := dataset.FromRows(r).Batch(3, to("words", 4)).Collect(ctx); return err }, "words"},
		"scalars":    {func() error { _, err := dataset.FromRows(r).Batch(3, to("label", 4)).Collect(ctx); return err }, `"label" is int64[3]`},
		"ragged":     {lists.Batch(3, dataset.BatchOptions{Kind: dataset.Ragged, PadTo: map[string]int{"": 4}}).Err, "cannot be padded to 4"},
		"no bound":   {lists.Bucket(length, dataset.BucketOptions{Sizes: []int{1}, Batch: dataset.BatchOptions{Kind: dataset.Padded}, PadToBound: []string{""}}).Err, "0 bounds"},
		"above all":  {func() error { _, err := dataset.FromRows(r).Bucket(tokens, o).Collect(ctx); return err }, "element 0: dataset.Bucket: the length is 3, but the last bound is 3"},
		"no kind":    {lists.Bucket(length, dataset.BucketOptions{Sizes: []int{1}, Batch: dataset.BatchOptions{Kind: 7}}).Err, "unknown batch kind 7"},
		"group by":   {lists.GroupByWindow(nil, nil, dataset.BatchOptions{Kind: 7}).Err, "unknown batch kind 7"},
		"below zero": {lists.Batch(1, to("", -1)).Err, "cannot be padded to -1"},
	} {
		if err := c.err(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Log-normal lengths, as of documents, leave less than one part in a hundred of the bins empty.
func TestBinsOfDocumentsAreFull(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	lengths, sum := make([]int64, 16384), int64(0)
	for i := range lengths {
		lengths[i] = int64(min(2048, max(1, math.Exp(5+1.1*r.NormFloat64()))))
		sum += lengths[i]
	}
	_, n, err := dataset.PlanBins(lengths, 2048, 0)
	if fill := float64(sum) / 2048 / float64(n); err != nil || fill < 0.99 {
		t.Errorf("bins are filled to %.4f, %v", fill, err)
	}
}

// Bins that come in any order are planned once: each element's length is asked for once.
func TestBinsInAnyOrder(t *testing.T) {
	asked := 0
	d := dataset.Map(dataset.FromSlice(numbers(200)), func(x int) (tensor.Tensor, error) {
		asked++
		return tensor.Of(make([]int64, x%7)), nil
	})
	bins := d.Pack(dataset.PackOptions{Length: 10, Window: 16}).Shuffle(3)
	n, _ := bins.Len()
	if asked != 200 {
		t.Errorf("%d elements were looked at for %d bins", asked, n)
	}
	members := 0
	for b, err := range bins.All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		members += b.Shape().Dim(0)
	}
	if members != 200 || asked != 400 {
		t.Errorf("%d elements in the bins, %d looked at", members, asked)
	}
}

// What the Specs say before anything is read holds of all elements.
func TestSpecsHold(t *testing.T) {
	square := rows.Batch(4, dataset.BatchOptions{})
	for name, c := range map[string]struct {
		d    *dataset.Dataset[tensor.Tensor]
		want string
	}{
		"dense":         {square, "int64[?]"},
		"whole":         {rows.Batch(4, dataset.BatchOptions{DropRemainder: true}), "int64[4]"},
		"padded":        {rows.Batch(4, dataset.BatchOptions{Kind: dataset.Padded}), "int64[?]"},
		"ragged":        {lists.Batch(4, asRagged), "int64[?, ~]"},
		"twice":         {square.Shuffle(1).Repeat(2).Prefetch(1), "int64[?]"},
		"rows":          {square.Unbatch(), "int64[]"},
		"stream":        {rowStream.Batch(4, dataset.BatchOptions{}), ""},
		"lists, padded": {lists.Batch(4, dataset.BatchOptions{Kind: dataset.Padded}), ""},
	} {
		fields, err := c.d.Specs()
		if err != nil || len(fields) != 1 || c.want != "" && tenon.String(fields[0].Spec) != c.want {
			t.Errorf("%s: got %v, %v", name, fields, err)
			continue
		}
		for x, err := range c.d.All(ctx) {
			if err != nil || c.want != "" && !tenon.Belongs(x, fields[0].Spec) {
				t.Errorf("%s: %v does not belong to %v, %v", name, x, tenon.String(fields[0].Spec), err)
			}
		}
	}
}

// A cache whose files have been changed gives errors that name it, or elements, and nothing else.
func TestDamagedCaches(t *testing.T) {
	type row struct {
		V tenon.Value
		S string
	}
	list := []row{{tensor.Of([]int64{1, 2, 3}), "a"}, {must(records(t).Field("tokens")), "b"}, {celsius, ""}, {tensor.Of([]string{"x", "y"}), "d"}}
	write := func(dir string) string {
		must(dataset.FromSlice(list).Cache(ctx, dir, "k", dataset.CacheOptions{}))
		return filepath.Join(dir, "000000.arrow")
	}
	whole := must(os.ReadFile(write(filepath.Join(t.TempDir(), "c"))))
	for i := 0; i < len(whole); i += 1 + len(whole)/300 {
		dir := filepath.Join(t.TempDir(), "c")
		file := write(dir)
		b := slices.Clone(whole)
		b[i] ^= 0x41
		if i%3 == 0 {
			b = b[:i]
		}
		if err := os.WriteFile(file, b, 0o666); err != nil {
			t.Fatal(err)
		}
		c, err := dataset.FromSlice(list).Cache(ctx, dir, "k", dataset.CacheOptions{})
		if err == nil {
			_, err = c.Collect(ctx)
		}
		var e *tenon.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
	for name, text := range map[string]string{
		"no JSON": "{", "elements": `{"version":1,"key":"k","specs":["V int64[3]"],"elements":5,"files":[{"name":"000000.arrow","blocks":[4]}]}`,
		"blocks": `{"version":1,"key":"k","specs":["V int64[3]"],"elements":4,"files":[{"name":"000000.arrow","blocks":[2,2]}]}`,
		"sizes":  `{"version":1,"key":"k","specs":["V int64[3]"],"elements":4,"files":[{"name":"000000.arrow","blocks":[-4]}]}`,
		"files":  `{"version":1,"key":"k","specs":["V int64[3]"],"elements":4,"files":[{"name":"../../000000.arrow","blocks":[4]},{"name":"9.arrow","blocks":[4]}]}`,
		"newer":  `{"version":9}`,
	} {
		dir := filepath.Join(t.TempDir(), "c")
		write(dir)
		if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := dataset.FromSlice(list).Cache(context.Background(), dir, "k", dataset.CacheOptions{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
