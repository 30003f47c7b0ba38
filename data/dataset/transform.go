package dataset

import (
	"math"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Map returns the dataset of the results of f. The function must be pure: it is called when an
// element is needed, from several goroutines under Prefetch. Errors thrown by expression functions
// in it become errors of the element.
func Map[T, U any](d *Dataset[T], f func(T) (U, error)) *Dataset[U] {
	return mapped("Map", d, func(_, _ int64, x T) (U, error) { return f(x) })
}

// Map is [Map] for a function that returns the same type.
func (d *Dataset[T]) Map(f func(T) (T, error)) *Dataset[T] { return Map(d, f) }

// Numbered is an element with its number.
type Numbered[T any] struct {
	Number int64 // number in the epoch
	Value  T
}

// Enumerate returns the elements with their numbers.
func Enumerate[T any](d *Dataset[T]) *Dataset[Numbered[T]] {
	return mapped("Enumerate", d, func(_, number int64, x T) (Numbered[T], error) { return Numbered[T]{number, x}, nil })
}

// An Index identifies an element that is mapped: its epoch, its number in the epoch, and a key for
// random numbers that depends on both and on the seed.
type Index struct {
	Epoch, Number int64
	seed          uint64
}

// Key returns the key of the element, a tensor as ops.RandomKey returns it.
func (i Index) Key() tensor.Tensor { return ops.RandomKey(i.Seed()) }

// Seed returns the seed of the element, for other random number generators.
func (i Index) Seed() uint64 {
	return mix(i.seed ^ mix(uint64(i.Epoch)^mix(uint64(i.Number))))
}

// MapIndexed is [Map] with a function that also gets the Index of the element. Random augmentation that
// uses its key is the same whenever the element is computed, on any goroutine, and different in each
// epoch:
//
//	data = dataset.MapIndexed(data, seed, func(i dataset.Index, x tensor.Tensor) (tensor.Tensor, error) {
//		return ops.Dropout(i.Key(), x, 0.1), nil
//	})
func MapIndexed[T, U any](d *Dataset[T], seed uint64, f func(Index, T) (U, error)) *Dataset[U] {
	return mapped("MapIndexed", d, func(epoch, number int64, x T) (U, error) { return f(Index{epoch, number, seed}, x) })
}

func mapped[T, U any](name string, d *Dataset[T], f func(epoch, number int64, x T) (U, error)) *Dataset[U] {
	up := d.n
	apply := func(epoch, number, at int64, get func() (T, error), from func() string) (y U, err error) {
		defer func() { err = placedError(at, from, err) }()
		defer tenon.Catch(&err)
		x, err := get()
		if err == nil {
			y, err = f(epoch, number, x)
		}
		return y, err
	}
	n := &node[U]{name: name, below: []stage{up}, size: up.size}
	if up.get != nil {
		n.get = func(i int64) (U, error) {
			all, _ := up.size() // the error has been returned already
			return apply(i/all, i%all, i, func() (T, error) { return up.at(i) }, func() string { return up.origin(i) })
		}
		n.from = up.origin
		return derived(n, d.err)
	}
	n.open = func(o opening[U]) walk[U] {
		at := to[T](o)
		i := o.from.number()
		w := up.walk(at)
		return walk[U]{
			next: func() (item[U], bool) {
				it, ok := w.next()
				if !ok {
					return item[U]{}, false
				}
				k := i
				i++
				return item[U]{last: it.last, from: it.origin, get: func() (U, error) { return apply(o.epoch, k, k, it.value, it.origin) }}, true
			},
			save: func(s *state) {
				s.put(i)
				w.save(s)
			},
			close: w.close,
		}
	}
	return derived(n, d.err)
}

// called calls f and catches what it throws.
func called[T, U any](f func(T) (U, error), x T) (y U, err error) {
	defer tenon.Catch(&err)
	return f(x)
}

// Filter returns the stream of the elements for which a condition holds. Their number is unknown
// until they are read.
func (d *Dataset[T]) Filter(keep func(T) (bool, error)) *Dataset[T] {
	up := d.n
	n := sifted("Filter", up, func(x T) (verdict, error) {
		ok, err := called(keep, x)
		if ok {
			return taken, err
		}
		return left, err
	}, nil)
	if up.get != nil {
		n.fixed = func() *node[T] {
			return picked("Filter", up, func(all int64) ([]int64, error) {
				var out []int64
				for i := range all {
					x, err := up.at(i)
					ok := false
					if err == nil {
						ok, err = called(keep, x)
					}
					if err != nil {
						return nil, placedError(i, func() string { return up.origin(i) }, err)
					}
					if ok {
						out = append(out, i)
					}
				}
				return out, nil
			})
		}
	}
	return derived(n, d.err)
}

// picked returns the node of selected elements of the first epoch of another node. The selection is
// computed once, when it is needed.
func picked[T any](name string, up *node[T], which func(all int64) ([]int64, error)) *node[T] {
	known := sync.OnceValues(func() ([]int64, error) {
		all, err := up.size()
		if err != nil {
			return nil, err
		}
		return which(all)
	})
	n := routed(name, []*node[T]{up}, func() (int64, error) {
		at, err := known()
		return int64(len(at)), err
	}, func(i int64) (int, int64) {
		at, _ := known() // size has already returned the error
		return 0, at[i%int64(len(at))]
	})
	return n
}

// verdict is the decision about an element of a stream.
type verdict uint8

const (
	left  verdict = iota // dropped
	taken                // kept
	ended                // dropped, like all that follow
)

// keeper is the state of a filtering stage.
type keeper interface {
	save(s *state)
	load(s *state)
}

// sifted returns the stream of the elements that judge keeps. Its state, if there is any, is
// created for each walk and saved.
func sifted[T any](name string, up *node[T], judge func(x T) (verdict, error), begin func() (func(x T) (verdict, error), keeper)) *node[T] {
	return &node[T]{name: name, below: []stage{up}, specs: up.specs, open: func(o opening[T]) walk[T] {
		judge, k := judge, keeper(nil)
		if begin != nil {
			judge, k = begin()
		}
		i, over := int64(0), false
		if o.from != nil {
			i, over = o.from.int(), o.from.int() > 0
			if k != nil {
				k.load(o.from)
			}
		}
		w := up.walk(to[T](o))
		return walk[T]{
			next: func() (item[T], bool) {
				for !over {
					it, ok := w.next()
					if !ok {
						break
					}
					i++
					x, err := it.value()
					v := left
					if err == nil {
						v, err = judge(x)
					}
					if err != nil {
						failure := done(x, placedError(i-1, it.origin, err))
						failure.last = it.last
						return failure, true
					}
					switch v {
					case taken:
						if it.ref.of == nil {
							it = done(x, nil)
						}
						return it, true
					case ended:
						over = true
					}
				}
				return item[T]{}, false
			},
			save: func(s *state) {
				s.put(i)
				s.put(flag(over))
				if k != nil {
					k.save(s)
				}
				w.save(s)
			},
			close: w.close,
		}
	}}
}

// TakeWhile returns the stream of the elements before the first for which a condition does not
// hold.
func (d *Dataset[T]) TakeWhile(holds func(T) (bool, error)) *Dataset[T] {
	return derived(sifted("TakeWhile", d.n, func(x T) (verdict, error) {
		ok, err := called(holds, x)
		if ok {
			return taken, err
		}
		return ended, err
	}, nil), d.err)
}

// Unique returns the stream of the elements whose key has not occurred before. The keys are kept in
// memory.
func (d *Dataset[T]) Unique(key func(T) (string, error)) *Dataset[T] {
	begin := func() (func(x T) (verdict, error), keeper) {
		seen := &keys{at: map[string]bool{}}
		return func(x T) (verdict, error) {
			k, err := called(key, x)
			if err != nil || !seen.add(k) {
				return left, err
			}
			return taken, nil
		}, seen
	}
	return derived(sifted("Unique", d.n, nil, begin), d.err)
}

// keys is a set of strings in order of insertion.
type keys struct {
	at   map[string]bool
	list []string
}

func (k *keys) add(s string) bool {
	if k.at[s] {
		return false
	}
	k.at[s], k.list = true, append(k.list, s)
	return true
}

func (k *keys) save(s *state) {
	s.put(int64(len(k.list)))
	for _, x := range k.list {
		s.text(x)
	}
}

func (k *keys) load(s *state) {
	for n := s.int(); n > 0 && s.err == nil; n-- {
		k.add(s.string())
	}
}

// FlatMap returns the elements of the slices that f returns for each element. If each is
// positive, every slice must have that many elements and the result is numbered; if it is 0,
// their lengths may differ and the result is a stream.
func FlatMap[T, U any](d *Dataset[T], each int, f func(T) ([]U, error)) *Dataset[U] {
	if each < 0 {
		return failing[U](invalid("FlatMap", "an element cannot produce %d others", each))
	}
	lists := Map(d, func(x T) ([]U, error) {
		list, err := f(x)
		if err == nil && each > 0 && len(list) != each {
			err = invalid("FlatMap", "an element produced %d others, but each was declared as %d", len(list), each)
		}
		return list, err
	})
	up := lists.n
	n := &node[U]{name: "FlatMap", below: []stage{up}}
	if each > 0 && up.get != nil {
		n.size = func() (int64, error) {
			all, err := up.size()
			if all > math.MaxInt64/int64(each) {
				all = math.MaxInt64 / int64(each)
			}
			return all * int64(each), err
		}
		n.get = func(i int64) (x U, err error) {
			list, err := up.at(i / int64(each))
			if err != nil {
				return x, err
			}
			return list[i%int64(each)], nil
		}
		return derived(n, lists.err)
	}
	n.open = func(o opening[U]) walk[U] {
		row, skip := 0, o.from.number()
		var before *state // state of w before the list was computed
		var list []U
		w := up.walk(to[[]U](o))
		return walk[U]{
			next: func() (item[U], bool) {
				for row >= len(list) {
					if o.saves {
						before = &state{}
						w.save(before)
					}
					it, ok := w.next()
					if !ok {
						before, skip = nil, 0
						return item[U]{}, false
					}
					var err error
					if list, err = it.value(); err != nil {
						var zero U
						list, before = nil, nil
						failure := done(zero, err)
						failure.last = it.last
						return failure, true
					}
					row, skip = int(min(skip, int64(len(list)))), 0
				}
				row++
				return done(list[row-1], nil), true
			},
			save: func(s *state) {
				if before == nil {
					s.put(skip)
					w.save(s)
					return
				}
				s.put(int64(row))
				s.b = append(s.b, before.b...)
			},
			close: w.close,
		}
	}
	return derived(n, lists.err)
}
