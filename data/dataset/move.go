package dataset

import (
	"math"
	"slices"
	"sync"

	"github.com/tenonml/tenon"
)

// Take returns the first n elements, or all if there are fewer. After a shuffle it selects
// a fixed set, the first n elements of the first epoch, in each epoch; shuffle again after
// it to vary their order. See [Dataset.Split].
func (d *Dataset[T]) Take(n int64) *Dataset[T] {
	if n < 0 {
		return derived(d.n, d.err, invalid("Take", "cannot take %d elements", n))
	}
	return derived(between("Take", d.n, 0, n), d.err)
}

// Skip returns all elements but the first n. In each epoch it skips the same ones.
func (d *Dataset[T]) Skip(n int64) *Dataset[T] {
	if n < 0 {
		return derived(d.n, d.err, invalid("Skip", "cannot skip %d elements", n))
	}
	return derived(between("Skip", d.n, n, math.MaxInt64), d.err)
}

// between returns the elements [lo, hi): a fixed part of the first epoch, so that parts do not mix
// if each epoch has a different order.
func between[T any](name string, up *node[T], lo, hi int64) *node[T] {
	own := func(all int64) int64 { return max(0, min(all, hi)-lo) }
	if up.get != nil {
		return moved(name, up, own, func(all, i int64) int64 { return lo + i%own(all) })
	}
	n := &node[T]{name: name, below: []stage{up}, specs: up.specs, skips: true, open: func(o opening[T]) walk[T] {
		at := to[T](o)
		at.epoch = 0
		i := lo + o.skip // number of the next element
		if o.from != nil {
			i = o.from.int()
		} else {
			at.skip = i
		}
		w := up.walk(at)
		next := w.next
		w.next = func() (item[T], bool) {
			if i < lo+o.skip {
				i = lo + o.skip
			}
			if i >= hi {
				return item[T]{}, false
			}
			i++
			return next()
		}
		save := w.save
		w.save = func(s *state) {
			s.put(i)
			save(s)
		}
		return w
	}}
	if up.size != nil {
		n.size = func() (int64, error) {
			all, err := up.size()
			return own(all), err
		}
	}
	return n
}

// Repeat returns the elements n times, each time those of the next epoch; 0 means without end.
func (d *Dataset[T]) Repeat(n int64) *Dataset[T] {
	if n < 0 {
		return derived(d.n, d.err, invalid("Repeat", "cannot repeat elements %d times", n))
	}
	return derived(repeated(d.n, n), d.err)
}

func repeated[T any](up *node[T], times int64) *node[T] {
	size := func(all int64) int64 {
		if all == 0 || times > 0 && all <= math.MaxInt64/times {
			return all * times
		}
		return math.MaxInt64
	}
	if up.get != nil {
		return moved("Repeat", up, size, func(_, i int64) int64 { return i })
	}
	n := &node[T]{name: "Repeat", below: []stage{up}, specs: up.specs, open: func(o opening[T]) walk[T] {
		at := to[T](o)
		e := o.from.number()
		at.epoch = o.epoch*times + e
		some := o.from.number() > 0
		w := up.walk(at)
		return walk[T]{
			next: func() (item[T], bool) {
				for o.ctx.Err() == nil {
					it, ok := w.next()
					if ok {
						some = true
						return it, true
					}
					if !some || times > 0 && e+1 >= times {
						break
					}
					e++
					w.end()
					at := to[T](o)
					at.epoch, at.from, some = o.epoch*times+e, nil, false
					w = up.walk(at)
				}
				return item[T]{}, false
			},
			save: func(s *state) {
				s.put(e)
				s.put(flag(some))
				w.save(s)
			},
			close: func() { w.end() },
		}
	}}
	if up.size != nil {
		n.size = func() (int64, error) {
			all, err := up.size()
			return size(all), err
		}
	}
	return n
}

func flag(x bool) int64 {
	if x {
		return 1
	}
	return 0
}

// several returns what is common to stages that read several datasets: their nodes, whether all are
// numbered, whether all sizes are known, and the first error.
func several[T any](list []*Dataset[T]) (up []*node[T], numbered, sized bool, err error) {
	numbered, sized = true, true
	for _, d := range list {
		if err == nil {
			err = d.err
		}
		up = append(up, d.n)
		numbered = numbered && d.n.get != nil
		sized = sized && d.n.size != nil
	}
	return up, numbered, sized, err
}

// sizes are the numbers of elements of several nodes, computed once.
type sizes struct {
	each, starts []int64 // starts has one more entry
}

func sizesOf[T any](op string, up []*node[T]) func() (sizes, error) {
	return sync.OnceValues(func() (s sizes, err error) {
		s.starts = []int64{0}
		all := int64(0)
		for _, u := range up {
			n, err := u.size()
			if err != nil {
				return s, err
			}
			if all += n; all < 0 {
				return s, invalid(op, "the number of elements overflows int64")
			}
			s.each, s.starts = append(s.each, n), append(s.starts, all)
		}
		return s, nil
	})
}

func (s sizes) all() int64 { return s.starts[len(s.starts)-1] }

func total(known func() (sizes, error)) func() (int64, error) {
	return func() (int64, error) {
		s, err := known()
		if err != nil {
			return 0, err
		}
		return s.all(), nil
	}
}

// Concat returns the elements of several datasets, one dataset after the other.
func Concat[T any](list ...*Dataset[T]) *Dataset[T] {
	up, numbered, sized, err := several(list)
	known := sizesOf("Concat", up)
	n := routed("Concat", up, total(known), func(i int64) (int, int64) {
		s, _ := known() // size has already returned the error
		epoch, i := i/s.all(), i%s.all()
		k, _ := slices.BinarySearch(s.starts, i+1)
		return k - 1, epoch*s.each[k-1] + i - s.starts[k-1]
	})
	n.many = func() ([]int64, error) {
		var out []int64
		for _, u := range up {
			if u.many == nil {
				return nil, nil
			}
			m, err := u.many()
			if err != nil || m == nil {
				return nil, err
			}
			out = append(out, m...)
		}
		return out, nil
	}
	n.keep = func(blocks int) {
		for _, u := range up {
			if u.keep != nil {
				u.keep(blocks)
			}
		}
	}
	if !numbered {
		n = &node[T]{name: "Concat", below: n.below, specs: n.specs, open: func(o opening[T]) walk[T] {
			k := int(min(o.from.number(), int64(len(up))))
			var w walk[T]
			begin := func(from *state) {
				if k < len(up) {
					at := to[T](o)
					at.from = from
					w = up[k].walk(at)
				}
			}
			begin(o.from)
			return walk[T]{
				next: func() (item[T], bool) {
					for k < len(up) {
						if it, ok := w.next(); ok {
							return it, true
						}
						if o.ctx.Err() != nil {
							break
						}
						w.end()
						k, w = k+1, walk[T]{}
						begin(nil)
					}
					return item[T]{}, false
				},
				save: func(s *state) {
					if s.put(int64(k)); k < len(up) {
						w.save(s)
					}
				},
				close: func() { w.end() },
			}
		}}
		if sized {
			n.size = total(known)
		}
	}
	return derived(n, err)
}

// Interleave returns the elements of several datasets in turn: the first of each, then the second
// of each, and so on, skipping datasets that have ended. If each of them is prefetched, several
// files are read at the same time, but the order is fixed.
func Interleave[T any](list ...*Dataset[T]) *Dataset[T] {
	up, numbered, sized, err := several(list)
	known := sizesOf("Interleave", up)
	n := routed("Interleave", up, total(known), func(i int64) (int, int64) {
		s, _ := known() // size has already returned the error
		epoch, i := i/s.all(), i%s.all()
		k, j := turn(s.each, i)
		return k, epoch*s.each[k] + j
	})
	if !numbered {
		n = cycled("Interleave", up, CycleOptions{Open: max(1, len(up)), Run: 1})
		if sized {
			n.size = total(known)
		}
	}
	return derived(n, err)
}

// turn returns the dataset of element i and its number there, if the elements come in turn. The
// same datasets take part in consecutive rounds until the shortest of them ends.
func turn(each []int64, i int64) (int, int64) {
	done := int64(0)
	for {
		least, active := int64(-1), int64(0)
		for _, c := range each {
			if c > done {
				active++
				if least < 0 || c < least {
					least = c
				}
			}
		}
		if size := (least - done) * active; i >= size {
			i -= size
			done = least
			continue
		}
		round, turn := done+i/active, i%active
		for k, c := range each {
			if c > done {
				if turn == 0 {
					return k, round
				}
				turn--
			}
		}
	}
}

// CycleOptions control how [Cycle] reads datasets.
type CycleOptions struct {
	Open int // number of datasets read at the same time; 0 means 4
	Run  int // number of consecutive elements of a dataset; 0 means 1
}

// Cycle returns the stream of the elements of many datasets, such as those of files, a
// limited number of which are open at the same time: it reads a run of elements of each open
// dataset in turn, and when one ends, the next dataset takes its place. The order is fixed.
// The datasets are read concurrently if each of them is prefetched.
func Cycle[T any](list []*Dataset[T], o CycleOptions) *Dataset[T] {
	up, _, _, err := several(list)
	if o.Open < 0 || o.Run < 0 {
		err = invalid("Cycle", "cannot keep %d datasets open with runs of %d", o.Open, o.Run)
	}
	if o.Open == 0 {
		o.Open = 4
	}
	o.Run = max(1, o.Run)
	return derived(cycled("Cycle", up, o), err)
}

func cycled[T any](name string, up []*node[T], c CycleOptions) *node[T] {
	n := routed(name, up, nil, nil)
	return &node[T]{name: name, below: n.below, specs: n.specs, open: func(o opening[T]) walk[T] {
		type slot struct {
			k int // number of the dataset, or -1
			w walk[T]
		}
		var slots []slot
		used := 0 // number of datasets opened so far
		fill := func(from *state) slot {
			if used >= len(up) {
				return slot{k: -1}
			}
			at := to[T](o)
			at.from = from
			used++
			return slot{used - 1, up[used-1].walk(at)}
		}
		at, run := 0, 0
		if o.from == nil {
			for range min(c.Open, len(up)) {
				slots = append(slots, fill(nil))
			}
		} else {
			at, run = int(o.from.int()), int(o.from.int())
			open := o.from.ints()
			last := int(o.from.int())
			for _, k := range open {
				if k--; k >= int64(len(up)) || len(slots) >= c.Open {
					o.from.fail("the state is damaged")
					break
				}
				if k < 0 {
					slots = append(slots, slot{k: -1})
					continue
				}
				used = int(k)
				slots = append(slots, fill(o.from))
			}
			if used = last; at >= max(1, len(slots)) || last > len(up) {
				o.from.fail("the state is damaged")
				at, used = 0, len(up)
			}
		}
		return walk[T]{
			next: func() (item[T], bool) {
				for ended := 0; ended < len(slots) && o.ctx.Err() == nil; {
					s := &slots[at]
					if s.k < 0 {
						at, run, ended = (at+1)%len(slots), 0, ended+1
						continue
					}
					if it, ok := s.w.next(); ok {
						if run++; run >= c.Run {
							at, run = (at+1)%len(slots), 0
						}
						return it, true
					}
					s.w.end()
					if *s = fill(nil); s.k >= 0 {
						run, ended = 0, 0
					}
				}
				return item[T]{}, false
			},
			save: func(s *state) {
				s.put(int64(at))
				s.put(int64(run))
				open := make([]int64, len(slots))
				for i, x := range slots {
					open[i] = int64(x.k + 1)
				}
				s.puts(open)
				s.put(int64(used))
				for _, x := range slots {
					if x.k >= 0 {
						x.w.save(s)
					}
				}
			},
			close: func() {
				for _, s := range slots {
					s.w.end()
				}
			},
		}
	}}
}

// Pair is an element of a zipped dataset.
type Pair[A, B any] struct {
	First  A
	Second B
}

// Zip returns the dataset of pairs of elements. It has as many elements as the shorter dataset.
func Zip[A, B any](a *Dataset[A], b *Dataset[B]) *Dataset[Pair[A, B]] {
	type pair = Pair[A, B]
	n := &node[pair]{name: "Zip", below: []stage{a.n, b.n}, specs: func() []tenon.Field {
		x, y := a.n.fields(), b.n.fields()
		if x == nil || y == nil {
			return nil
		}
		return slices.Concat(within("First", x), within("Second", y))
	}}
	if a.n.size != nil && b.n.size != nil {
		n.size = func() (int64, error) {
			x, err := a.n.size()
			if err != nil {
				return 0, err
			}
			y, err := b.n.size()
			return min(x, y), err
		}
	}
	if a.n.get != nil && b.n.get != nil {
		n.get = func(i int64) (p pair, err error) {
			x, _ := a.n.size() // size has already returned the errors
			y, _ := b.n.size()
			own := min(x, y)
			if p.First, err = a.n.at(i/own*x + i%own); err != nil {
				return p, err
			}
			p.Second, err = b.n.at(i/own*y + i%own)
			return p, err
		}
		return derived(n, a.err, b.err)
	}
	n.skips = true
	n.open = func(o opening[pair]) walk[pair] {
		ax, bx := to[A](o), to[B](o)
		ax.skip, bx.skip = o.skip, o.skip
		x := a.n.walk(ax)
		y := b.n.walk(bx)
		return walk[pair]{
			next: func() (item[pair], bool) {
				f, ok := x.next()
				if !ok {
					return item[pair]{}, false
				}
				s, ok := y.next()
				if !ok {
					return item[pair]{}, false
				}
				return item[pair]{last: f.last || s.last, get: func() (p pair, err error) {
					if p.First, err = f.value(); err == nil {
						p.Second, err = s.value()
					}
					return p, err
				}}, true
			},
			save: func(s *state) {
				x.save(s)
				y.save(s)
			},
			close: func() {
				x.end()
				y.end()
			},
		}
	}
	return derived(n, a.err, b.err)
}

// within returns fields with the name of an enclosing field prepended.
func within(name string, fields []tenon.Field) []tenon.Field {
	out := slices.Clone(fields)
	for i := range out {
		out[i].Name = joinName(name, out[i].Name)
	}
	return out
}

func joinName(a, b string) string {
	if b == "" || b[0] == '[' {
		return a + b
	}
	return a + "." + b
}
