package dataset

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/tenonml/tenon"
)

// A node is a stage of a dataset. A numbered stage computes element i from i; most are functions of
// numbers alone, see routed and grouped. A stream has a walk, whose state is encoded as bytes.
type node[T any] struct {
	name  string
	below []stage

	size  func() (int64, error)        // elements of an epoch; nil: known only after reading
	get   func(i int64) (T, error)     // element i; numbers beyond the length belong to the next epoch. nil: a stream
	place func(i int64) (ref[T], bool) // the row in which element i is stored; nil: not stored
	from  func(i int64) string         // origin of element i; nil: given by its place
	open  func(o opening[T]) walk[T]   // nil: elements are walked in the order of their numbers
	skips bool                         // open handles o.skip itself
	specs func() []tenon.Field         // nil: unknown without reading
	many  func() ([]int64, error)      // the numbers of elements in the blocks that are read as a whole; nil: unknown
	fixed func() *node[T]              // the same elements as a numbered node, for stages that need one; nil: impossible
	keep  func(blocks int)             // sets the minimum number of blocks kept in memory
	share func(p share) *node[T]       // a part of each element; nil: elements have no parts
	meter meter
}

// ref refers to a stored row.
type ref[T any] struct {
	of  *stored[T]
	row int64
}

// from returns the origin of a row, or "" if it is unknown.
func (r ref[T]) from() string {
	if r.of == nil || r.of.from == "" {
		return ""
	}
	return fmt.Sprintf("%s, row %d", r.of.from, r.row)
}

// origin returns the origin of element i, or "" if it is unknown.
func (n *node[T]) origin(i int64) string {
	if n.from != nil {
		return n.from(i)
	}
	r, _ := n.stored(i)
	return r.from()
}

// origin returns the origin of an item.
func (it *item[T]) origin() string {
	if it.from != nil {
		return it.from()
	}
	if it.n != nil {
		return it.n.origin(it.i)
	}
	return it.ref.from()
}

// item is an element of a walk that is still to be computed: by get, or as element i of a node.
type item[T any] struct {
	get  func() (T, error)
	n    *node[T]
	i    int64
	ref  ref[T]        // ref.of is nil if the element is not stored
	from func() string // origin of the element; nil: given by the other fields
	last bool          // the item is the error that ends the walk
}

func (it *item[T]) value() (T, error) {
	switch {
	case it.get != nil:
		return it.get()
	case it.n != nil:
		return it.n.at(it.i)
	}
	return it.ref.of.row(it.ref.row)
}

func done[T any](x T, err error) item[T] {
	return item[T]{get: func() (T, error) { return x, err }}
}

// A walk iterates over the elements of an epoch.
type walk[T any] struct {
	next  func() (item[T], bool)
	save  func(s *state) // writes the current state
	close func()         // nil: nothing is open
}

func (w walk[T]) end() {
	if w.close != nil {
		w.close()
	}
}

// opening describes where a walk begins.
type opening[T any] struct {
	ctx     context.Context
	epoch   int64
	skip    int64
	from    *state // output of save; nil: start at the beginning
	saves   bool   // save will be called
	guarded bool   // panics become errors
}

// to returns the opening for an upstream node.
func to[T, U any](o opening[U]) opening[T] {
	return opening[T]{ctx: o.ctx, epoch: o.epoch, from: o.from, saves: o.saves, guarded: o.guarded}
}

// walk opens a walk over a node.
func (n *node[T]) walk(o opening[T]) walk[T] {
	if n.open == nil {
		return n.inOrder(o)
	}
	o.from.expect(n.name)
	skip := o.skip
	if !n.skips {
		o.skip = 0
	}
	w := n.open(o)
	next, save := w.next, w.save
	w.save = func(s *state) {
		s.name(n.name)
		save(s)
	}
	if n.meter.on.Load() {
		next = metered(&n.meter, next)
		w.next = next
	}
	if !n.skips && skip > 0 {
		return skipping(w, skip)
	}
	return w
}

// skipping returns a walk without its first elements, which are read when the first element is
// requested.
func skipping[T any](w walk[T], skip int64) walk[T] {
	var over item[T] // error that ends the walk
	now := func() {
		for ; skip > 0; skip-- {
			if it, ok := w.next(); !ok || it.last {
				over, skip = it, 0
				return
			}
		}
	}
	return walk[T]{
		next: func() (item[T], bool) {
			if now(); over.last {
				it := over
				over = item[T]{}
				return it, true
			}
			return w.next()
		},
		save: func(s *state) {
			now()
			w.save(s)
		},
		close: w.close,
	}
}

// inOrder walks over the numbers of an epoch.
func (n *node[T]) inOrder(o opening[T]) walk[T] {
	count, err := n.size()
	i := o.skip
	o.from.expect(n.name)
	if o.from != nil {
		if size := o.from.int(); size != count && err == nil {
			o.from.fail("the state is for %s with %d elements, but there are %d", n.name, size, count)
		}
		i = o.from.int()
	}
	return walk[T]{
		next: func() (item[T], bool) {
			if err != nil {
				var zero T
				it := done(zero, err)
				it.last, err, i = true, nil, count
				return it, true
			}
			if i >= count || o.ctx.Err() != nil {
				return item[T]{}, false
			}
			k := o.epoch*count + i
			i++
			it := item[T]{n: n, i: k}
			if n.place != nil {
				it.ref, _ = n.place(k)
			}
			return it, true
		},
		save: func(s *state) {
			s.name(n.name)
			s.put(count)
			s.put(i)
		},
	}
}

// at returns element i.
func (n *node[T]) at(i int64) (T, error) {
	if n.meter.on.Load() {
		defer n.meter.took(time.Now(), 1)
	}
	return n.get(i)
}

// stored returns the row in which element i is stored, if it is.
func (n *node[T]) stored(i int64) (ref[T], bool) {
	if n.place == nil {
		return ref[T]{}, false
	}
	return n.place(i)
}

// fields returns the Specs of an element, or nil if they are unknown without reading.
func (n *node[T]) fields() []tenon.Field {
	if n.specs == nil {
		return nil
	}
	return n.specs()
}

// routed returns a node whose element i is element j of upstream node k; route maps i to k and j.
func routed[T any](name string, up []*node[T], size func() (int64, error), route func(i int64) (k int, j int64)) *node[T] {
	n := &node[T]{name: name, size: size, specs: func() []tenon.Field { return merged(up) }}
	for _, u := range up {
		n.below = append(n.below, u)
	}
	n.get = func(i int64) (T, error) {
		k, j := route(i)
		return up[k].at(j)
	}
	n.place = func(i int64) (ref[T], bool) {
		k, j := route(i)
		return up[k].stored(j)
	}
	n.from = func(i int64) string {
		k, j := route(i)
		return up[k].origin(j)
	}
	return n
}

// moved is routed with a single upstream node: number maps the number of upstream elements and a
// number to the number of an upstream element.
func moved[T any](name string, up *node[T], size func(all int64) int64, number func(all, i int64) int64) *node[T] {
	count := up.size
	if size != nil {
		count = func() (int64, error) {
			n, err := up.size()
			return size(n), err
		}
	}
	n := routed(name, []*node[T]{up}, count, func(i int64) (int, int64) {
		all, _ := up.size() // count has already returned the error
		return 0, number(all, i)
	})
	n.specs = up.specs
	return n
}

// merged returns the common Specs of several nodes.
func merged[T any](up []*node[T]) []tenon.Field {
	if len(up) == 0 {
		return nil
	}
	out := slices.Clone(up[0].fields())
	for _, u := range up[1:] {
		s := u.fields()
		if len(s) != len(out) {
			return nil
		}
		for i := range s {
			m, ok := tenon.Merge(out[i].Spec, s[i].Spec)
			if !ok {
				return nil
			}
			out[i].Spec = m
		}
	}
	return out
}

// numberedNode returns n as a numbered node, or an error if it cannot be numbered.
func numberedNode[T any](op string, n *node[T]) (*node[T], error) {
	if n.get != nil {
		return n, nil
	}
	if n.fixed != nil {
		return n.fixed(), nil
	}
	return n, unnumbered(op)
}

// onNumbered returns a dataset made from the numbered node of another dataset.
func onNumbered[T, U any](op string, d *Dataset[T], errs error, make func(up *node[T]) *node[U]) *Dataset[U] {
	err := d.err
	up := d.n
	if err == nil {
		if err = errs; err == nil {
			up, err = numberedNode(op, d.n)
		}
	}
	if err != nil {
		return failing[U](err)
	}
	return derived(make(up))
}

// failing returns a dataset that cannot be read because of err.
func failing[T any](err error) *Dataset[T] {
	return &Dataset[T]{n: &node[T]{size: func() (int64, error) { return 0, err }, get: func(int64) (x T, _ error) { return x, err }}, err: err}
}

// pulled returns the elements of an iterator one by one, and panics in it as errors if guarded is
// set. The iterator starts when the first element is requested.
func pulled[T any](guarded bool, open func() iter.Seq2[T, error]) (next func() (T, error, bool), stop func()) {
	var pull func() (T, error, bool)
	var end func()
	seq := func(yield func(T, error) bool) {
		if guarded {
			defer func() {
				if r := recover(); r != nil {
					var zero T
					yield(zero, panicked(-1, r))
				}
			}()
		}
		open()(yield)
	}
	next = func() (T, error, bool) {
		if pull == nil {
			pull, end = iter.Pull2(seq)
		}
		return pull()
	}
	stop = func() {
		if end != nil {
			end()
		}
	}
	return next, stop
}
