package dataset

import (
	"encoding/binary"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
)

// A state encodes the state of the stages of a walk as bytes: for each stage its name, its own
// data, and the state of the upstream stages. It is written and read in the same order.
type state struct {
	b   []byte
	err error
}

const stateVersion = 1

func (s *state) put(x int64)      { s.b = binary.AppendVarint(s.b, x) }
func (s *state) text(x string)    { s.put(int64(len(x))); s.b = append(s.b, x...) }
func (s *state) name(name string) { s.text(name) }
func (s *state) puts(list []int64) {
	s.put(int64(len(list)))
	for _, x := range list {
		s.put(x)
	}
}

func (s *state) fail(format string, args ...any) {
	if s.err == nil {
		s.err = &tenon.Error{Kind: tenon.ErrInvalid, Op: "dataset.Resume", Msg: fmt.Sprintf(format, args...), Line: source.Line(),
			Hint: "a state can only be used with the same stages over the same data"}
	}
}

// int reads a nonnegative number.
func (s *state) int() int64 {
	x, n := binary.Varint(s.b)
	if n <= 0 || x < 0 {
		s.fail("the state is damaged")
		s.b = nil
		return 0
	}
	s.b = s.b[n:]
	return x
}

// signed and signedInt are put and int for signed numbers.
func (s *state) signed(x int64) { s.put(int64(uint64(x) >> 1)); s.put(x & 1) }

func (s *state) signedInt() int64 {
	high := s.int()
	return high<<1 | s.int()&1
}

// string reads a string.
func (s *state) string() string {
	n := s.int()
	if n > int64(len(s.b)) {
		s.fail("the state is damaged")
		n, s.b = 0, nil
	}
	x := string(s.b[:n])
	s.b = s.b[n:]
	return x
}

// ints reads a list of numbers, each of which takes at least one byte.
func (s *state) ints() []int64 {
	n := s.int()
	if n > int64(len(s.b)) {
		s.fail("the state is damaged")
		return nil
	}
	var out []int64
	for range n {
		out = append(out, s.int())
	}
	return out
}

// expect reads the name of a stage. It does nothing if a walk starts at the beginning.
func (s *state) expect(name string) {
	if s == nil || s.err != nil {
		return
	}
	if got := s.string(); got != name {
		s.fail("the state is for stage %q, but the stage here is %q", got, name)
	}
}

// number reads a number, or returns 0 if a walk starts at the beginning.
func (s *state) number() int64 {
	if s == nil {
		return 0
	}
	return s.int()
}

// A replay reads a walk for a stage that holds elements. It saves these elements as their numbers,
// and as a state of the walk before the oldest of them, from which they can be read again.
type replay[T any] struct {
	w     walk[T]
	saves bool
	n     int64 // number of elements read
	marks []mark
	again int64 // number of elements to read again
}

// mark is the state of a walk before element n.
type mark struct {
	n     int64
	state []byte
}

// markEvery is the number of elements from one mark to the next.
const markEvery = 256

// replayed opens a node for a stage that holds elements.
func replayed[T, U any](up *node[T], o opening[U]) *replay[T] {
	r := &replay[T]{saves: o.saves}
	at := to[T](o)
	if o.from != nil {
		r.n = o.from.int()
		r.again = o.from.int()
		inner := &state{b: []byte(o.from.string())}
		at.from = inner
		r.w = up.walk(at)
		if inner.err != nil || len(inner.b) > 0 || r.again < r.n {
			o.from.fail("the state is damaged")
			if inner.err != nil {
				o.from.err = inner.err
			}
		}
		return r
	}
	at.skip = 0
	r.w = up.walk(at)
	return r
}

// next reads an element and returns its number.
func (r *replay[T]) next() (it item[T], number int64, ok bool) {
	if r.saves && r.n%markEvery == 0 && (len(r.marks) == 0 || r.marks[len(r.marks)-1].n < r.n) {
		s := &state{}
		r.w.save(s)
		r.marks = append(r.marks, mark{r.n, s.b})
	}
	it, ok = r.w.next()
	if ok {
		r.n++
	}
	return it, r.n - 1, ok
}

// restore reads again up to where the stage was, and returns the elements that it held, in the
// order of keep.
func (r *replay[T]) restore(keep []int64) []item[T] {
	out := make([]item[T], len(keep))
	at := map[int64]int{}
	for k, i := range keep {
		at[i] = k
	}
	for r.n < r.again {
		it, i, ok := r.next()
		if !ok {
			break
		}
		if k, held := at[i]; held {
			out[k] = it
			delete(at, i)
		}
	}
	if len(at) > 0 { // the data or the state have changed
		var zero T
		for _, k := range at {
			out[k] = done(zero, invalid("Resume", "elements that the state names do not exist"))
		}
	}
	return out
}

// save writes a state from which elements can be read again, starting with the oldest one held.
func (r *replay[T]) save(s *state, oldest int64) {
	k := 0
	for k+1 < len(r.marks) && r.marks[k+1].n <= oldest {
		k++
	}
	r.marks = r.marks[k:]
	if len(r.marks) == 0 { // nothing has been read yet
		inner := &state{}
		r.w.save(inner)
		r.marks = append(r.marks, mark{r.n, inner.b})
	}
	s.put(r.marks[0].n)
	s.put(r.n)
	s.text(string(r.marks[0].state))
}

// forget drops marks that no element needs.
func (r *replay[T]) forget(oldest int64) {
	for len(r.marks) > 1 && r.marks[1].n <= oldest {
		r.marks = r.marks[1:]
	}
}
