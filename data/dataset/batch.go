package dataset

import (
	"slices"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/shape"
)

// Kind is the way in which a batch holds elements of different sizes.
type Kind uint8

// The kinds of batches.
const (
	Dense  Kind = iota // elements of equal size are stacked along a new first axis; different sizes are an error
	Ragged             // dimensions whose sizes may differ are ragged
	Padded             // shorter elements are padded to the longest of the batch
)

// BatchOptions control how elements are combined into batches. The zero value stacks elements of
// equal size.
type BatchOptions struct {
	Kind Kind

	// Pad is the constant that Padded fills numbers and booleans with. Nil means 0 or false.
	// Strings are padded with empty strings.
	Pad any

	// PadTo is the minimum size that Padded pads rows to, by the name of the Value in an element
	// that the rows belong to, in the form of [PackOptions.Path]; "" is the element itself.
	// Longer rows are an error. All other Values are padded to the longest row of the batch.
	PadTo map[string]int

	// DropRemainder drops the last batch if it has fewer elements than the others.
	DropRemainder bool
}

// check returns an error for inconsistent options.
func (o BatchOptions) check(op string) error {
	if o.Kind > Padded {
		return invalid(op, "unknown batch kind %d", o.Kind)
	}
	for name, n := range o.PadTo {
		if o.Kind != Padded || n < 0 {
			return invalid(op, "batches of kind %d cannot be padded to %d (%q)", o.Kind, n, name)
		}
	}
	return nil
}

// Batch returns the dataset of batches of size elements: each Value in an element gets a new
// outermost dimension. With Ragged, dimensions of stored rows are ragged if the Spec of the rows
// says so. If dense elements are computed one by one, their first dimension becomes ragged, even if
// the sizes agree; the sizes of all other dimensions must agree.
func (d *Dataset[T]) Batch(size int, o BatchOptions) *Dataset[T] {
	var err error
	if size < 1 {
		err = invalid("Batch", "the batch size must be at least 1, not %d", size)
	}
	return windows("Batch", d, int64(size), int64(size), 1, o, err)
}

// Window returns batches of size elements that are stride elements apart: the first window
// begins with element 0, the next one shift elements later, and so on. Windows overlap if
// shift is less than size. At the end, windows have fewer elements, unless DropRemainder is
// set.
func (d *Dataset[T]) Window(size, shift, stride int, o BatchOptions) *Dataset[T] {
	var err error
	if size < 1 || shift < 1 || stride < 1 {
		err = invalid("Window", "size %d, shift %d and stride %d must be positive", size, shift, stride)
	}
	return windows("Window", d, int64(size), int64(shift), int64(stride), o, err)
}

func windows[T any](name string, d *Dataset[T], size, shift, stride int64, o BatchOptions, err error) *Dataset[T] {
	if err == nil {
		err = o.check(name)
	}
	if d.err != nil || err != nil {
		return derived(d.n, d.err, err)
	}
	up := d.n
	reach := (size-1)*stride + 1 // number of elements from the first to the last of a window
	count := func(all int64) int64 {
		if o.DropRemainder {
			return max(0, (all-reach)/shift+1) * flag(all >= reach)
		}
		return all/shift + flag(all%shift > 0)
	}
	specs := func() []tenon.Field {
		fields := up.fields()
		if o.Kind != Ragged && (len(o.PadTo) > 0 || slices.ContainsFunc(fields, func(f tenon.Field) bool { return !fullSizes(f.Spec) })) {
			return nil
		}
		rows := shape.Unknown
		if o.DropRemainder {
			rows = int(size)
		}
		return batchFields(fields, rows)
	}
	if up.get == nil {
		return derived(windowStream(name, up, size, shift, stride, o, specs, count, share{0, 1}))
	}
	g := grouping{
		size: func() (int64, error) {
			all, err := up.size()
			return count(all), err
		},
		members: func(i int64, to []int64) ([]int64, error) {
			all, err := up.size()
			if err != nil {
				return nil, err
			}
			own := count(all)
			start, first := i/own*all, i%own*shift
			for k := first; k < all && k < first+reach; k += stride {
				to = append(to, start+k)
			}
			return to, nil
		},
	}
	return derived(grouped(name, up, o, specs, g))
}

// fullSizes reports whether a Spec has only known sizes, so that a batch is the same for every
// kind.
func fullSizes(s tenon.Spec) bool {
	if t, ok := s.(interface{ Shape() shape.Shape }); ok && !t.Shape().IsFull() {
		return false
	}
	return tenon.IsLeaf(s) || !slices.ContainsFunc(s.Components(), func(f tenon.Field) bool { return !fullSizes(f.Spec) })
}

// batchFields returns the Specs of batches of n elements.
func batchFields(of []tenon.Field, n int) []tenon.Field {
	var out []tenon.Field
	for _, f := range of {
		s, err := rows.BatchSpec(f.Spec, n)
		if err != nil {
			return nil
		}
		out = append(out, tenon.Field{Name: f.Name, Spec: s})
	}
	return out
}

// rowFields returns the Specs of the rows of batches.
func rowFields(of []tenon.Field) []tenon.Field {
	var out []tenon.Field
	for _, f := range of {
		s, err := rows.RowSpec(f.Spec)
		if err != nil {
			return nil
		}
		out = append(out, tenon.Field{Name: f.Name, Spec: s})
	}
	return out
}

// grouping determines the elements of each group.
type grouping struct {
	size    func() (int64, error)
	members func(i int64, to []int64) ([]int64, error) // appends the numbers of the members
}

// grouped returns a node whose elements are batches, with the members given by a grouping.
func grouped[T any](name string, up *node[T], o BatchOptions, specs func() []tenon.Field, g grouping) *node[T] {
	n := &node[T]{name: name, below: []stage{up}, size: g.size, specs: specs}
	of := func(p share) func(i int64) (T, error) {
		return func(i int64) (x T, err error) {
			at, err := g.members(i, nil)
			if err != nil {
				return x, err
			}
			group := make([]item[T], len(at))
			for k, i := range at {
				group[k].n, group[k].i = up, i
				group[k].ref, _ = up.stored(i)
			}
			b := batchOf(group, at, o, p)
			return b.get()
		}
	}
	n.get = of(share{0, 1})
	n.from = func(i int64) string {
		at, err := g.members(i, nil)
		if err != nil || len(at) == 0 {
			return ""
		}
		return spanned(up.origin(at[0]), up.origin(at[len(at)-1]))
	}
	n.share = func(p share) *node[T] {
		return &node[T]{name: "Share", below: n.below, size: g.size, get: of(p)}
	}
	return n
}

// spanned describes the origins of a range of elements, given those of its first and last.
func spanned(first, last string) string {
	if first == last || last == "" {
		return first
	}
	return first + " to " + last
}

// share is one of several equal parts of a batch.
type share struct{ rank, of int64 }

// batchOf returns the batch of items with the given numbers, or a part of it.
func batchOf[T any](group []item[T], numbers []int64, o BatchOptions, p share) item[T] {
	n := int64(len(group))
	lo, hi := p.rank*n/p.of, (p.rank+1)*n/p.of
	none := lo == hi // the batch has fewer elements than parts
	if none {
		lo, hi = 0, 1
	}
	group, numbers = group[lo:hi], numbers[lo:hi]
	from := func() string { return spanned(group[0].origin(), group[len(group)-1].origin()) }
	return item[T]{from: from, get: func() (x T, err error) {
		defer func() {
			if err == nil && len(o.PadTo) > 0 {
				x, err = grown(o, x)
			}
			if none && err == nil {
				var r *stored[T]
				if r, err = newRows(x); err == nil {
					x, err = r.gather(nil)
				}
			}
		}()
		refs := make([]ref[T], 0, len(group))
		for _, it := range group {
			if it.ref.of == nil {
				break
			}
			refs = append(refs, it.ref)
		}
		if len(refs) == len(group) {
			return finished(o, func() (T, error) { return gathered(refs) })
		}
		list := make([]T, len(group))
		for i := range group {
			if list[i], err = group[i].value(); err != nil {
				return x, placedError(numbers[i], group[i].origin, err)
			}
		}
		return stacked(list, o)
	}}
}

// windowStream returns the windows over a stream, or a part of each window if part is given.
func windowStream[T any](name string, up *node[T], size, shift, stride int64, b BatchOptions, specs func() []tenon.Field, count func(int64) int64, p share) *node[T] {
	reach := (size-1)*stride + 1
	n := &node[T]{name: name, below: []stage{up}, specs: specs}
	if up.size != nil {
		n.size = func() (int64, error) {
			all, err := up.size()
			return count(all), err
		}
	}
	n.share = func(p share) *node[T] { return windowStream("Share", up, size, shift, stride, b, nil, count, p) }
	n.open = func(o opening[T]) walk[T] {
		first := o.from.number() // number of the first element of the next window
		r := replayed(up, o)
		var held []item[T] // elements from number first on
		if o.from != nil && r.again-first > reach {
			o.from.fail("the state is damaged")
		}
		ready := sync.OnceFunc(func() {
			if o.from == nil {
				return
			}
			var keep []int64
			for k := first; k < r.again; k++ {
				keep = append(keep, k)
			}
			held = r.restore(keep)
		})
		return walk[T]{
			next: func() (item[T], bool) {
				ready()
				for r.n < first+reach {
					it, i, ok := r.next()
					if !ok {
						break
					}
					if it.last {
						return it, true
					}
					if i >= first {
						held = append(held, it)
					}
				}
				if o.ctx.Err() != nil || len(held) == 0 || b.DropRemainder && int64(len(held)) < reach {
					return item[T]{}, false
				}
				var group []item[T]
				var numbers []int64
				for k := int64(0); k < reach && k < int64(len(held)); k += stride {
					group, numbers = append(group, held[k]), append(numbers, first+k)
				}
				first += shift
				held = held[min(shift, int64(len(held))):]
				r.forget(first)
				return batchOf(group, numbers, b, p), true
			},
			save: func(s *state) {
				ready()
				s.put(first)
				r.save(s, min(first, r.n))
			},
			close: r.w.close,
		}
	}
	return n
}

// Share returns the part of each batch that process rank of of processes computes: the rows [rank*n/of,
// (rank+1)*n/of) of the batch's n rows, which may be none. Together, the parts make up the batch. Positions
// count whole batches, so that a run can continue with a different number of processes, over the same rows in
// each step. Share must directly follow Batch, Window or Pack.
func (d *Dataset[T]) Share(rank, of int) *Dataset[T] {
	if d.err != nil {
		return d
	}
	if of < 1 || rank < 0 || rank >= of {
		return failing[T](invalid("Share", "rank %d of %d does not exist", rank, of))
	}
	if d.n.share == nil {
		e := errOf("Share", "%s does not return batches", d.n.name)
		e.Hint = "call Share directly after Batch, Window or Pack"
		return failing[T](e)
	}
	return derived(d.n.share(share{int64(rank), int64(of)}))
}
