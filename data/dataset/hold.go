package dataset

import (
	"maps"
	"slices"
	"sync"
)

// holding returns the stream of a stage that holds elements; begin returns, for each walk, the
// holder that decides which of them come next.
func holding[T any](name string, up *node[T], begin func(epoch int64) holder[T]) *node[T] {
	return &node[T]{name: name, below: []stage{up}, open: func(o opening[T]) walk[T] {
		h := begin(o.epoch)
		var keep []int64
		ended := false
		if o.from != nil {
			h.load(o.from)
			keep, ended = o.from.ints(), o.from.int() > 0
		}
		r := replayed(up, o)
		var held map[int64]item[T]
		ready := sync.OnceFunc(func() {
			held = map[int64]item[T]{}
			for k, it := range r.restore(keep) {
				held[keep[k]] = it
			}
		})
		return walk[T]{
			next: func() (item[T], bool) {
				ready()
				for {
					if at, join := h.out(ended); len(at) > 0 {
						return join(released(held, at), at), true
					}
					if ended || o.ctx.Err() != nil {
						return item[T]{}, false
					}
					it, i, ok := r.next()
					if !ok {
						ended = o.ctx.Err() == nil
						continue
					}
					if it.last {
						return it, true
					}
					if failure := h.in(i, &it); failure != nil {
						var zero T
						return done(zero, elementError(i, failure)), true
					}
					held[i] = it
					if i%markEvery == 0 {
						r.forget(oldest(held, r.n))
					}
				}
			},
			save: func(s *state) {
				ready()
				h.save(s)
				keep := make([]int64, 0, len(held))
				for i := range held {
					keep = append(keep, i)
				}
				slices.Sort(keep)
				s.puts(keep)
				s.put(flag(ended))
				r.save(s, oldest(held, r.n))
			},
			close: r.w.close,
		}
	}}
}

func oldest[T any](held map[int64]item[T], n int64) int64 {
	for i := range held {
		n = min(n, i)
	}
	return n
}

// released removes elements from those that are held.
func released[T any](held map[int64]item[T], at []int64) []item[T] {
	group := make([]item[T], len(at))
	for k, i := range at {
		it, ok := held[i]
		if !ok { // the state is not from this dataset
			var zero T
			it = done(zero, invalid("Resume", "the state names element %d, which is not held", i))
		}
		group[k] = it
		delete(held, i)
	}
	return group
}

// A holder decides about the elements that a stage holds, by their numbers.
type holder[T any] interface {
	// in adds element i. It may compute the element and replace it by the result.
	in(i int64, it *item[T]) error

	// out returns the elements that come next, or none if more must be read, and a function that
	// combines them into one element. ended says that there are no more to read.
	out(ended bool) (at []int64, join func(group []item[T], at []int64) item[T])

	save(s *state)
	load(s *state)
}

// ShuffleWindow returns the elements of a stream in a random order, determined by the seed, within
// the limits of a window: each element is chosen among the next size ones. Elements that are not in
// memory already, such as the rows of [FromBatches], are held in memory while they wait.
// [Dataset.Shuffle] is better if elements are numbered.
func (d *Dataset[T]) ShuffleWindow(size int, seed uint64) *Dataset[T] {
	var err error
	if size < 1 {
		err = invalid("ShuffleWindow", "the window must be at least 1 element, not %d", size)
	}
	n := holding("ShuffleWindow", d.n, func(epoch int64) holder[T] {
		return &shuffled[T]{size: size, key: mix(seed ^ mix(uint64(epoch)))}
	})
	n.size, n.specs = d.n.size, d.n.specs
	return derived(n, d.err, err)
}

type shuffled[T any] struct {
	size   int
	key    uint64
	window []int64
	chosen int64
}

func (h *shuffled[T]) in(i int64, _ *item[T]) error {
	h.window = append(h.window, i)
	return nil
}

func (h *shuffled[T]) out(ended bool) ([]int64, func([]item[T], []int64) item[T]) {
	n := len(h.window)
	if n == 0 || n < h.size && !ended {
		return nil, nil
	}
	k := int(mix(h.key+uint64(h.chosen)) % uint64(n))
	at := h.window[k]
	h.window[k] = h.window[n-1]
	h.window = h.window[:n-1]
	h.chosen++
	return []int64{at}, func(group []item[T], _ []int64) item[T] { return group[0] }
}

func (h *shuffled[T]) save(s *state) {
	s.put(h.chosen)
	s.puts(h.window)
}

func (h *shuffled[T]) load(s *state) { h.chosen, h.window = s.int(), s.ints() }

// BucketOptions control how [Dataset.Bucket] assigns elements to buckets.
type BucketOptions struct {
	// Bounds are the lengths at which a new bucket begins, in increasing order: bucket 0 is for
	// lengths below Bounds[0], and the last one for lengths of Bounds[len(Bounds)-1] and above.
	Bounds []int

	// Sizes are the batch sizes of the buckets, len(Bounds)+1 of them.
	Sizes []int

	// Batch controls how elements are combined into batches. With DropRemainder, elements left in
	// buckets at the end are dropped.
	Batch BatchOptions

	// PadToBound names Values, in the form of BatchOptions.PadTo, that are padded to the
	// greatest length of their bucket, which is one less than its bound, so that all batches of
	// a bucket have the same shape. Elements for the last bucket, which has no bound, are then
	// an error.
	PadToBound []string
}

// Bucket returns the stream of batches of elements of similar length: each element is added to the
// bucket for its length, and a full bucket becomes a batch. Remaining elements come at the end, the
// shortest first.
func (d *Dataset[T]) Bucket(length func(T) (int, error), o BucketOptions) *Dataset[T] {
	var err error
	if len(o.Sizes) != len(o.Bounds)+1 {
		err = invalid("Bucket", "%d bounds make %d buckets, but there are %d sizes", len(o.Bounds), len(o.Bounds)+1, len(o.Sizes))
	}
	for i, b := range o.Bounds {
		if i > 0 && b <= o.Bounds[i-1] {
			err = invalid("Bucket", "the bounds %v are not increasing", o.Bounds)
		}
	}
	for _, s := range o.Sizes {
		if s < 1 {
			err = invalid("Bucket", "the sizes %v are not all positive", o.Sizes)
		}
	}
	if e := o.Batch.check("Bucket"); e != nil {
		err = e
	}
	if len(o.PadToBound) > 0 && (o.Batch.Kind != Padded || len(o.Bounds) == 0) && err == nil {
		err = invalid("Bucket", "batches of kind %d with %d bounds cannot be padded to the bounds", o.Batch.Kind, len(o.Bounds))
	}
	bucket := func(x T) (int64, error) {
		n, err := length(x)
		k, found := slices.BinarySearch(o.Bounds, n)
		b := int64(k) + flag(found)
		if err == nil && len(o.PadToBound) > 0 && b == int64(len(o.Bounds)) {
			e := errOf("Bucket", "the length is %d, but the last bound is %d", n, o.Bounds[b-1])
			e.Hint = "batches are padded to the bounds: drop longer elements with Filter, or add a bound"
			err = e
		}
		return b, err
	}
	batch := func(k int64) BatchOptions {
		b := o.Batch
		if len(o.PadToBound) > 0 {
			b.PadTo = maps.Clone(b.PadTo)
			if b.PadTo == nil {
				b.PadTo = map[string]int{}
			}
			for _, name := range o.PadToBound {
				b.PadTo[name] = o.Bounds[k] - 1
			}
		}
		return b
	}
	return derived(classed("Bucket", d.n, bucket, func(k int64) int { return o.Sizes[k] }, batch, o.Batch.DropRemainder), d.err, err)
}

// GroupByWindow returns the stream of batches of elements of the same class, in the order in
// which the batches are full. size returns the batch size of a class. Remaining elements come
// at the end, the smallest class first, unless DropRemainder is set.
func (d *Dataset[T]) GroupByWindow(class func(T) (int64, error), size func(class int64) int, o BatchOptions) *Dataset[T] {
	batch := func(int64) BatchOptions { return o }
	return derived(classed("GroupByWindow", d.n, class, size, batch, o.DropRemainder), d.err, o.check("GroupByWindow"))
}

// classed returns the stream of batches by class; batch returns the options for the batches of a
// class.
func classed[T any](name string, up *node[T], class func(T) (int64, error), size func(int64) int, batch func(int64) BatchOptions, drop bool) *node[T] {
	return holding(name, up, func(int64) holder[T] {
		return &classes[T]{name: name, class: class, size: size, batch: batch, drop: drop, at: map[int64][]int64{}}
	})
}

type classes[T any] struct {
	name  string
	class func(T) (int64, error)
	size  func(int64) int
	batch func(int64) BatchOptions
	drop  bool
	at    map[int64][]int64 // waiting elements of each class
	full  []int64           // classes with a full batch
}

func (h *classes[T]) in(i int64, it *item[T]) error {
	x, err := it.value()
	if err != nil {
		return err
	}
	k, err := called(h.class, x)
	if err != nil {
		return err
	}
	n := h.size(k)
	if n < 1 {
		return invalid(h.name, "the batch size of class %d must be at least 1, not %d", k, n)
	}
	if it.ref.of == nil {
		*it = done(x, nil)
	}
	if h.at[k] = append(h.at[k], i); len(h.at[k]) >= n {
		h.full = append(h.full, k)
	}
	return nil
}

func (h *classes[T]) out(ended bool) ([]int64, func([]item[T], []int64) item[T]) {
	if ended && len(h.full) == 0 && !h.drop && len(h.at) > 0 {
		h.full = []int64{h.order()[0]}
	}
	if len(h.full) == 0 {
		return nil, nil
	}
	k := h.full[0]
	at := h.at[k]
	delete(h.at, k)
	h.full = h.full[1:]
	return at, func(group []item[T], at []int64) item[T] { return batchOf(group, at, h.batch(k), share{0, 1}) }
}

// order returns the classes that have elements, in ascending order.
func (h *classes[T]) order() []int64 {
	out := make([]int64, 0, len(h.at))
	for k := range h.at {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func (h *classes[T]) save(s *state) {
	order := h.order()
	s.put(int64(len(order)))
	for _, k := range order {
		s.signed(k)
		s.puts(h.at[k])
	}
}

func (h *classes[T]) load(s *state) {
	for n := s.int(); n > 0 && s.err == nil; n-- {
		k := s.signedInt()
		h.at[k] = s.ints()
	}
}
