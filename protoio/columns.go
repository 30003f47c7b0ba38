package protoio

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A column is the values of one feature in all rows.
type column struct {
	values  tensor.Tensor // a vector
	splits  []int64       // of the rows
	missing []bool        // which rows lack the feature; nil where none does
	steps   []int64       // of feature lists: the splits of examples into rows
	lacking []bool        // which examples lack the list; nil where none does
}

func (c *column) rows() int { return len(c.splits) - 1 }

func (c *column) has(row int) bool { return c.missing == nil || !c.missing[row] }

// chunkBytes is what one worker reads at a time: it fits the second-level cache with
// what it becomes.
const chunkBytes = 256 << 10

// grain returns how many messages make a chunk.
func grain(messages [][]byte) int {
	total := 0
	for _, m := range messages {
		total += len(m)
	}
	if total <= chunkBytes {
		return max(1, len(messages))
	}
	return max(1, int(float64(len(messages))*chunkBytes/float64(total)))
}

var scanners = sync.Pool{New: func() any { return new(scanner) }}

// prepare returns a scanner for a number of rows.
func prepare(p *plan, rows int) *scanner {
	s := scanners.Get().(*scanner)
	if s.plan != p {
		s.plan, s.order = p, [len(s.order)]known{}
	}
	s.row, s.bad = 0, 0
	for len(s.bufs) < len(p.keys) {
		s.bufs = append(s.bufs, buffer{})
	}
	s.wrong = slices.Grow(s.wrong[:0], len(p.keys))[:len(p.keys)]
	clear(s.wrong)
	for i, k := range p.kinds {
		s.bufs[i].reset(k, rows)
	}
	return s
}

// parse reads messages as rows and returns a column for each source of the plan. one
// reads a message.
func parse(p *plan, messages [][]byte, listed bool, one func(*scanner, []byte) error) ([]column, error) {
	step := grain(messages)
	chunks := make([]*scanner, (len(messages)+step-1)/step)
	errs := make([]error, len(chunks))
	defer func() {
		for _, s := range chunks {
			if s != nil {
				scanners.Put(s)
			}
		}
	}()
	par.For(len(messages), step, func(lo, hi int) {
		rows := hi - lo
		if listed {
			rows = 0
		}
		s := prepare(p, rows)
		chunks[lo/step] = s
		for i := lo; i < hi; i++ {
			if (i-lo)%ahead == 0 {
				s.touch(messages[i:min(i+ahead, hi)])
			}
			if err := one(s, messages[i]); err != nil {
				errs[lo/step] = wrong(i, err)
				return
			}
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	columns := make([]column, len(p.keys))
	par.For(len(columns), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			columns[i] = joined(p.kinds[i], chunks, i, listed)
		}
	})
	return columns, nil
}

// ahead is how many messages are asked for at once. They lie anywhere in memory, and
// waiting for each in turn takes as long as reading it.
const ahead = 16

// touch loads a byte of each cache line of messages.
func (s *scanner) touch(messages [][]byte) {
	sum := byte(0)
	for _, m := range messages {
		for i := 0; i < len(m) && i < 512; i += 64 {
			sum += m[i]
		}
	}
	s.touched = sum
}

// wrong returns the error for message i.
func wrong(i int, err error) error {
	where := fmt.Sprintf("example %d", i)
	var f *featureError
	if errors.As(err, &f) {
		return fail(f.kind, fmt.Sprintf("%s, feature %q", where, f.key), "%s", f.msg)
	}
	return fail(tenon.ErrInvalid, where, "%v", err)
}

// joined puts the values of one source in all chunks together.
func joined(k kind, chunks []*scanner, source int, listed bool) column {
	starts := make([]int, len(chunks)+1)
	rows := make([]int, len(chunks)+1)
	for i, s := range chunks {
		f := &s.bufs[source]
		starts[i+1] = starts[i] + f.count()
		rows[i+1] = rows[i] + len(f.lens)
	}
	c := column{splits: make([]int64, rows[len(chunks)]+1)}
	for i, s := range chunks {
		at := int64(starts[i])
		for r, n := range s.bufs[source].lens {
			if n == absent {
				if c.missing == nil {
					c.missing = make([]bool, rows[len(chunks)])
				}
				c.missing[rows[i]+r] = true
				n = 0
			}
			at += n
			c.splits[rows[i]+r+1] = at
		}
	}
	if listed {
		c.joinSteps(chunks, source)
	}
	total := starts[len(chunks)]
	switch k {
	case int64List:
		c.values = gathered(chunks, starts, total, dtype.Int64, func(s *scanner) []int64 { return s.bufs[source].ints })
	case floatList:
		c.values = gathered(chunks, starts, total, dtype.Float32, func(s *scanner) []float32 { return s.bufs[source].floats })
	default:
		c.values = gatheredStrings(chunks, starts, source)
	}
	return c
}

func (c *column) joinSteps(chunks []*scanner, source int) {
	c.steps = []int64{0}
	for _, s := range chunks {
		for _, n := range s.bufs[source].steps {
			if n == absent {
				if c.lacking == nil {
					c.lacking = make([]bool, len(c.steps)-1)
				}
				n = 0
				c.lacking = append(c.lacking, true)
			} else if c.lacking != nil {
				c.lacking = append(c.lacking, false)
			}
			c.steps = append(c.steps, c.steps[len(c.steps)-1]+n)
		}
	}
}

func gathered[T dtype.Number](chunks []*scanner, starts []int, total int, d dtype.DType, values func(*scanner) []T) tensor.Tensor {
	t := tensor.Uninit(d, shape.Of(total))
	out := tensor.Elems[T](t)
	par.For(len(chunks), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(out[starts[i]:], values(chunks[i]))
		}
	})
	return t
}

func gatheredStrings(chunks []*scanner, starts []int, source int) tensor.Tensor {
	total := starts[len(chunks)]
	at := make([]int, len(chunks)+1)
	for i, s := range chunks {
		at[i+1] = at[i] + len(s.bufs[source].bytes)
	}
	offsets, bytes := make([]int64, total+1), make([]byte, at[len(chunks)])
	par.For(len(chunks), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f := &chunks[i].bufs[source]
			copy(bytes[at[i]:], f.bytes)
			for j, e := range f.ends {
				offsets[starts[i]+j+1] = int64(at[i]) + e
			}
		}
	})
	return tensor.WrapStrings(offsets, bytes, shape.Of(total))
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
