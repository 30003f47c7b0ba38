package protoio

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/kernel/wire"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/tensor"
)

// A column holds the values of one feature in all rows.
type column struct {
	values  tensor.Tensor // a vector
	splits  []int64       // row splits
	missing []bool        // which rows lack the feature; nil if none does
	steps   []int64       // for feature lists: the splits of examples into rows

}

func (c *column) rows() int { return len(c.splits) - 1 }

func (c *column) has(row int) bool { return c.missing == nil || !c.missing[row] }

// uniform reports whether all rows have n values.
func (c *column) uniform(n int) bool {
	other := int64(0)
	for i, s := range c.splits {
		other |= s ^ int64(i)*int64(n)
	}
	return other == 0 && c.missing == nil
}

// chunkBytes is the amount of data that one worker reads at a time: together with its results it
// fits into the second-level cache.
const chunkBytes = 256 << 10

// grain returns the number of messages in a chunk, given the total size of all messages.
func grain(messages [][]byte, total int) int {
	if total <= chunkBytes {
		return max(1, len(messages))
	}
	return max(1, int(float64(len(messages))*chunkBytes/float64(total)))
}

// parse reads messages as rows and returns a column for each source of the plan. one reads a single
// message.
func parse(p *plan, messages [][]byte, listed bool, one func(*scanner, []byte) error) ([]column, error) {
	total := 0
	for _, m := range messages {
		total += len(m)
	}
	step := grain(messages, total)
	g := newGatherer(p, messages, step, listed)
	g.bytes = total
	par.For(len(messages), step, func(lo, hi int) {
		rows := hi - lo
		if listed {
			rows = 0
		}
		s := prepare(p, rows)
		g.lend(lo/step, s)
		s.failed = s.chunk(messages[lo:hi], lo, rows, one)
		g.put(lo/step, s)
	})
	return g.columns()
}

// chunk reads messages, the first of which has the given place in the batch, as rows. To find the
// first fault, it reads them again.
func (s *scanner) chunk(messages [][]byte, place, rows int, one func(*scanner, []byte) error) error {
	counts := make([]int, len(s.bufs))
	for k := range s.plan.kinds {
		counts[k] = s.bufs[k].count()
	}
	s.messages, s.noting = messages, wire.Notes() && rows == len(messages)
	s.point()
	err := s.read(place, one)
	if err != nil {
		for k, n := range counts[:len(s.plan.kinds)] {
			s.bufs[k].rewind(n, rows)
		}
		clear(s.wrong)
		s.row, s.bad, s.exact, s.noting = 0, 0, true, false
		err = s.read(place, one)
	}
	s.messages = nil
	return err
}

// decodedBytes is the size of messages whose lists are noted before they are decoded: small enough
// for the first-level cache.
const decodedBytes = 16 << 10

// read reads the messages of the chunk.
func (s *scanner) read(place int, one func(*scanner, []byte) error) error {
	noted := 0
	for i := 0; i < len(s.messages); {
		n, size := s.note(decodedBytes - noted)
		if n == 0 {
			if !s.noting && i%ahead == 0 {
				wire.Fetch(s.messages[min(i+ahead, len(s.messages)):min(i+2*ahead, len(s.messages))])
			}
			if err := one(s, s.messages[i]); err != nil {
				return wrong(place+i, err)
			}
			n, size = 1, len(s.messages[i])
			if s.noting && i+1 < len(s.messages) {
				s.learn()
			}
		}
		i += n
		if noted += size; noted >= decodedBytes || i == len(s.messages) {
			noted = 0
			for k := range s.plan.kinds {
				if !s.bufs[k].decode(s.messages, s.row) {
					return errMalformedList
				}
			}
		}
	}
	return nil
}

// ahead is the number of messages that are prefetched ahead of the one being read. Messages are
// scattered in memory, and waiting for each in turn takes as long as reading it.
const ahead = 8

// wrong returns the error for message i.
func wrong(i int, err error) error {
	where := fmt.Sprintf("example %d", i)
	var f *featureError
	if errors.As(err, &f) {
		return fail(f.kind, fmt.Sprintf("%s, feature %q", where, f.key), "%s", f.msg)
	}
	return fail(tenon.ErrInvalid, where, "%v", err)
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
