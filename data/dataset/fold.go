package dataset

import (
	"fmt"

	"github.com/tenonml/tenon/internal/elements"
)

// Scan returns the stream of the results of f, which gets a carry and an element and returns
// the next carry and a result. The carry starts as first. It is a Value, a structure of Values,
// or plain Go data, and is part of the state of a cursor.
func Scan[T, S, U any](d *Dataset[T], first S, f func(S, T) (S, U, error)) *Dataset[U] {
	up := d.n
	type both struct {
		s S
		u U
	}
	return derived(&node[U]{name: "Scan", below: []stage{up}, size: up.size, open: func(o opening[U]) walk[U] {
		kept, i := first, int64(0)
		if o.from != nil {
			i = o.from.int()
			if text := o.from.string(); o.from.err == nil {
				var err error
				if kept, err = elements.Read([]byte(text), first); err != nil {
					o.from.fail("the state of Scan cannot be read: %v", err)
				}
			}
		}
		w := up.walk(to[T](o))
		var failure error
		return walk[U]{
			next: func() (item[U], bool) {
				it, ok := w.next()
				if !ok || failure != nil {
					return item[U]{}, false
				}
				x, err := it.value()
				var r both
				if err == nil {
					r, err = called(func(x T) (r both, err error) {
						r.s, r.u, err = f(kept, x)
						return r, err
					}, x)
				}
				i++
				if err != nil {
					failure = err // later elements need the carry
					it := done(r.u, elementError(i-1, err))
					it.last = true
					return it, true
				}
				kept = r.s
				return done(r.u, nil), true
			},
			save: func(s *state) {
				s.put(i)
				b, err := elements.Append(nil, kept)
				if err != nil && s.err == nil {
					s.err = fmt.Errorf("the state of Scan cannot be stored: %w", err)
				}
				s.text(string(b))
				w.save(s)
			},
			close: w.close,
		}
	}}, d.err)
}

// SkipErrors returns the stream of the elements that can be computed. It skips up to most
// others, and calls report, if it is not nil, for each. One more ends the loop. Errors after
// which there is no next element, such as those of a file that cannot be read further, are not
// skipped.
func (d *Dataset[T]) SkipErrors(most int64, report func(*ElementError)) *Dataset[T] {
	up := d.n
	if most < 0 {
		return derived(up, d.err, invalid("SkipErrors", "cannot skip %d elements", most))
	}
	return derived(&node[T]{name: "SkipErrors", below: []stage{up}, specs: up.specs, open: func(o opening[T]) walk[T] {
		i, skipped := o.from.number(), o.from.number()
		w := up.walk(to[T](o))
		return walk[T]{
			next: func() (item[T], bool) {
				for {
					it, ok := w.next()
					if !ok {
						return item[T]{}, false
					}
					i++
					x, err := called(func(*item[T]) (T, error) { return it.value() }, &it)
					if err == nil {
						if it.ref.of == nil {
							it = done(x, nil)
						}
						return it, true
					}
					e := elementError(i-1, err)
					if it.last || skipped >= most {
						failure := done(x, e)
						failure.last = true
						if !it.last {
							failure = done(x, fmt.Errorf("%w (%d elements before it were skipped)", e, skipped))
							failure.last = true
						}
						return failure, true
					}
					skipped++
					if report != nil {
						report(e.(*ElementError))
					}
				}
			},
			save: func(s *state) {
				s.put(i)
				s.put(skipped)
				w.save(s)
			},
			close: w.close,
		}
	}}, d.err)
}
