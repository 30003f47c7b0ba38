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

// A column is the values of one feature in all rows.
type column struct {
	values  tensor.Tensor // a vector
	splits  []int64       // of the rows
	missing []bool        // which rows lack the feature; nil where none does
	steps   []int64       // of feature lists: the splits of examples into rows

}

func (c *column) rows() int { return len(c.splits) - 1 }

func (c *column) has(row int) bool { return c.missing == nil || !c.missing[row] }

// chunkBytes is what one worker reads at a time: it fits the second-level cache with
// what it becomes.
const chunkBytes = 256 << 10

// grain returns how many messages make a chunk, given the bytes of all.
func grain(messages [][]byte, total int) int {
	if total <= chunkBytes {
		return max(1, len(messages))
	}
	return max(1, int(float64(len(messages))*chunkBytes/float64(total)))
}

// parse reads messages as rows and returns a column for each source of the plan. one
// reads a message.
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
		for i := lo; i < hi; i++ {
			if i+ahead < hi {
				wire.Fetch(messages[i+ahead])
			}
			if err := one(s, messages[i]); err != nil {
				s.failed = wrong(i, err)
				break
			}
		}
		g.put(lo/step, s)
	})
	return g.columns()
}

// ahead is how many messages before its turn one is asked for. They lie anywhere in
// memory, and waiting for each in turn takes as long as reading it.
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
