package dataset

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/tenonml/tenon"
)

// Pair is an element of zipped datasets.
type Pair[A, B any] struct {
	First  A
	Second B
}

// Zip returns the dataset of pairs of elements, as many as the shorter one has.
func Zip[A, B any](a *Dataset[A], b *Dataset[B]) *Dataset[Pair[A, B]] {
	return derived[Pair[A, B]](&zipNode[A, B]{a.n, b.n}, a.err, b.err)
}

type zipNode[A, B any] struct {
	a node[A]
	b node[B]
}

func (n *zipNode[A, B]) count() (int64, bool, error) {
	x, ok, err := n.a.count()
	if err != nil || !ok {
		return 0, false, err
	}
	y, ok, err := n.b.count()
	return min(x, y), ok, err
}

func (n *zipNode[A, B]) random() bool                           { return n.a.random() && n.b.random() }
func (n *zipNode[A, B]) ref(int64) (r ref[Pair[A, B]], ok bool) { return r, false }

func (n *zipNode[A, B]) specs() []tenon.Field {
	a, b := n.a.specs(), n.b.specs()
	if a == nil || b == nil {
		return nil
	}
	var out []tenon.Field
	for _, f := range a {
		out = append(out, tenon.Field{Name: joinName("First", f.Name), Spec: f.Spec})
	}
	for _, f := range b {
		out = append(out, tenon.Field{Name: joinName("Second", f.Name), Spec: f.Spec})
	}
	return out
}

func joinName(a, b string) string {
	if b == "" || b[0] == '[' {
		return a + b
	}
	return a + "." + b
}

func (n *zipNode[A, B]) at(i int64) (p Pair[A, B], err error) {
	x, _, _ := n.a.count() // whose errors count has returned already
	y, _, _ := n.b.count()
	own := min(x, y)
	if p.First, err = n.a.at(i/own*x + i%own); err != nil {
		return p, err
	}
	p.Second, err = n.b.at(i/own*y + i%own)
	return p, err
}

func (n *zipNode[A, B]) stream(ctx context.Context, epoch, from int64) iter.Seq[item[Pair[A, B]]] {
	if n.random() {
		return numbered(ctx, n, epoch, from)
	}
	return func(yield func(item[Pair[A, B]]) bool) {
		next, stop := iter.Pull(n.b.stream(ctx, epoch, from))
		defer stop()
		for a := range n.a.stream(ctx, epoch, from) {
			b, ok := next()
			if !ok {
				return
			}
			get := func() (p Pair[A, B], err error) {
				if p.First, err = a.get(); err == nil {
					p.Second, err = b.get()
				}
				return p, err
			}
			if !yield(item[Pair[A, B]]{get: get}) {
				return
			}
		}
	}
}

// Interleave returns the elements of several datasets in turn: the first of each, then
// the second of each, and so on, leaving out those that have ended.
func Interleave[T any](list ...*Dataset[T]) *Dataset[T] {
	n := &interleaveNode[T]{}
	var err error
	for _, d := range list {
		n.up = append(n.up, d.n)
		if err == nil {
			err = d.err
		}
	}
	return derived[T](n, err)
}

type interleaveNode[T any] struct {
	up   []node[T]
	once sync.Once
	each []int64 // elements of each dataset
	all  int64
	ok   bool
	err  error
}

func (n *interleaveNode[T]) count() (int64, bool, error) {
	n.once.Do(func() {
		n.ok = true
		for _, u := range n.up {
			c, ok, err := u.count()
			if n.ok = ok && err == nil; !n.ok {
				n.err = err
				return
			}
			n.each = append(n.each, c)
			if n.all += c; n.all < 0 {
				n.err = invalid("Interleave", "there are more elements than numbers")
				return
			}
		}
	})
	return n.all, n.ok, n.err
}

func (n *interleaveNode[T]) random() bool {
	return !slices.ContainsFunc(n.up, func(u node[T]) bool { return !u.random() })
}

func (n *interleaveNode[T]) specs() []tenon.Field {
	if len(n.up) == 0 {
		return nil
	}
	first := n.up[0].specs()
	for _, u := range n.up[1:] {
		s := u.specs()
		if len(s) != len(first) {
			return nil
		}
		for i := range s {
			m, ok := tenon.Merge(first[i].Spec, s[i].Spec)
			if !ok {
				return nil
			}
			first[i].Spec = m
		}
	}
	return first
}

// find returns which dataset element i is in, and its number there.
func (n *interleaveNode[T]) find(i int64) (node[T], int64) {
	each := n.each // which count has set
	epoch, i := i/n.all, i%n.all
	// Rounds in which the same datasets take part end when the shortest of them does.
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
					return n.up[k], epoch*c + round
				}
				turn--
			}
		}
	}
}

func (n *interleaveNode[T]) at(i int64) (T, error) {
	u, k := n.find(i)
	return u.at(k)
}

func (n *interleaveNode[T]) ref(i int64) (ref[T], bool) {
	u, k := n.find(i)
	return u.ref(k)
}

func (n *interleaveNode[T]) stream(ctx context.Context, epoch, from int64) iter.Seq[item[T]] {
	if n.random() {
		return numbered(ctx, n, epoch, from)
	}
	return func(yield func(item[T]) bool) {
		var next []func() (item[T], bool)
		for _, u := range n.up {
			f, stop := iter.Pull(u.stream(ctx, epoch, 0))
			defer stop()
			next = append(next, f)
		}
		for left := from; len(next) > 0; {
			for k := 0; k < len(next); {
				it, ok := next[k]()
				if !ok {
					next = slices.Delete(next, k, k+1)
					continue
				}
				if left--; left < 0 && !yield(it) {
					return
				}
				k++
			}
		}
	}
}
