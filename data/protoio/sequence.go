package protoio

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/tensor"
)

// Sequences is the result of [ParseSequenceExamples].
type Sequences struct {
	Context map[string]tensor.Tensor // as returned by [ParseExamples]
	Lists   map[string]tensor.Tensor
	Lengths map[string]tensor.Tensor // int64[rows]: number of steps of each example, by the names of Lists
}

// ParseSequenceExamples reads serialized tf.SequenceExample messages: the context as
// [ParseExamples] does, and lists of features, one feature for each step. The result of a list
// depends on the kind of the feature:
//
//	Ragged      ragged [rows, (steps), (values)]
//	Sequence    dense [rows, most steps, shape…], padded with the default
//	VarLen      sparse [rows, most steps, longest]
//
// A missing list has no steps. [Fixed] features are an error here.
func ParseSequenceExamples(messages [][]byte, context, lists Features, o ParseOptions) (*Sequences, error) {
	c, l, err := parseSequences(messages, context, lists, o)
	if err != nil {
		return nil, err
	}
	out := &Sequences{Lengths: map[string]tensor.Tensor{}}
	if out.Context, err = build(c.plan, c.columns, o, (*column).result); err != nil {
		return nil, err
	}
	if out.Lists, err = build(l.plan, l.columns, o, (*column).listResult); err != nil {
		return nil, err
	}
	for _, r := range l.plan.results {
		steps := l.columns[r.source].steps
		lengths := make([]int64, len(steps)-1)
		for i := range lengths {
			lengths[i] = steps[i+1] - steps[i]
		}
		out.Lengths[r.name] = tensor.Vector(lengths)
	}
	return out, nil
}

// ParseSequenceExample is [ParseSequenceExamples] for a single message: all results lack the
// dimension of the messages.
func ParseSequenceExample(message []byte, context, lists Features, o ParseOptions) (c, l map[string]tensor.Tensor, err error) {
	cs, ls, err := parseSequences([][]byte{message}, context, lists, o)
	if err != nil {
		return nil, nil, err
	}
	if c, err = build(cs.plan, cs.columns, o, (*column).single); err != nil {
		return nil, nil, err
	}
	l, err = build(ls.plan, ls.columns, o, (*column).listSingle)
	return c, l, err
}

type parsed struct {
	plan    *plan
	columns []column
}

func parseSequences(messages [][]byte, context, lists Features, o ParseOptions) (c, l parsed, err error) {
	if c.plan, err = newPlan(context, o); err != nil {
		return c, l, err
	}
	if l.plan, err = newPlan(lists, o); err != nil {
		return c, l, err
	}
	for _, r := range l.plan.results {
		if _, ok := r.feature.(Fixed); ok {
			return c, l, fail(tenon.ErrUnsupported, r.name, "lists may have any number of steps; use a Sequence with the shape of a step")
		}
	}
	if c.columns, err = parse(c.plan, messages, false, (*scanner).context); err != nil {
		return c, l, err
	}
	l.columns, err = parse(l.plan, messages, true, (*scanner).lists)
	return c, l, err
}

// part calls f with each field of b with the given tag, and skips the others.
func part(b []byte, i, end int, t byte, f func(i, end int) error) error {
	for i < end {
		if b[i] != t {
			next := skip(b, i, end)
			if next < 0 {
				return truncated(i)
			}
			i = next
			continue
		}
		start, stop := length(b, i+1, end)
		if start < 0 {
			return truncated(i)
		}
		if err := f(start, stop); err != nil {
			return err
		}
		i = stop
	}
	return nil
}

// context reads the context of a SequenceExample as the next row.
func (s *scanner) context(b []byte) error {
	if err := part(b, 0, len(b), tagFirst, func(i, end int) error { return s.features(b, i, end) }); err != nil {
		return err
	}
	return s.endRow()
}

// lists reads the feature lists of a SequenceExample.
func (s *scanner) lists(b []byte) error {
	for i := range s.plan.keys {
		s.bufs[i].steps = append(s.bufs[i].steps, absent)
	}
	err := part(b, 0, len(b), tagSecond, func(i, end int) error {
		prev := &s.first
		return part(b, i, end, tagFirst, func(i, end int) error {
			key, from, to, err := s.entry(b, i, end)
			if err != nil {
				return err
			}
			k, err := s.find(key, prev)
			if err != nil {
				return err
			}
			prev = k
			if k.source == ignored {
				return nil
			}
			whole, joined := b, from < 0
			if joined {
				whole, from, to = s.join, 0, len(s.join)
			}
			return s.list(k.source, whole, from, to, joined)
		})
	})
	if err != nil {
		return err
	}
	return s.endRow()
}

// list reads the FeatureList message b[i:end], which may have been assembled from pieces, with one
// row for each of its steps.
func (s *scanner) list(source int, b []byte, i, end int, joined bool) error {
	f := &s.bufs[source]
	last := &f.steps[len(f.steps)-1]
	if *last != absent { // an earlier list has the same name
		for range *last {
			f.undo(len(f.lens) - 1)
			f.lens = f.lens[:len(f.lens)-1]
		}
		*last = absent
	}
	if s.wrong[source] != noList {
		s.wrong[source] = noList
		s.bad--
	}
	steps := int64(0)
	err := part(b, i, end, tagFirst, func(i, end int) error {
		before := f.count()
		got, err := f.feature(b, i, end)
		if err != nil {
			return &featureError{s.plan.keys[source], tenon.ErrInvalid, fmt.Sprintf("at step %d: %v", steps, placed(err, joined))}
		}
		if got != noList && got != f.kind && s.wrong[source] == noList {
			s.wrong[source] = got
			s.bad++
		}
		f.lens = append(f.lens, int64(f.count()-before))
		steps++
		return nil
	})
	*last = steps
	return placed(err, joined)
}

// listResult returns a column of lists in the form that the feature requests.
func (c *column) listResult(b *builder) (tensor.Tensor, error) {
	b.steps = c.steps
	switch f := b.feature.(type) {
	case Ragged:
		rows, err := c.ragged(b, f)
		if err != nil {
			return nil, err
		}
		return partitioned(rows, c.steps, f.Splits)
	case Sequence:
		d, err := c.stacked(b, f)
		if err != nil {
			return nil, err
		}
		b.steps = nil
		return d.sequence(b, f)
	}
	return c.varLenLists()
}

// listSingle is listResult for the only example, without its dimension.
func (c *column) listSingle(b *builder) (tensor.Tensor, error) {
	b.steps = c.steps
	switch f := b.feature.(type) {
	case Ragged:
		return c.ragged(b, f)
	case Sequence:
		d, err := c.stacked(b, f)
		if err != nil {
			return nil, err
		}
		s, err := withOuter(b.name, f.Shape, c.rows())
		if err != nil {
			return nil, err
		}
		return reshape(d.values, s), nil
	}
	return c.varLen()
}

// stacked checks that every step is one item and returns the column with one row for each example.
func (c *column) stacked(b *builder, f Sequence) (*column, error) {
	item := int64(f.Shape.Size())
	if !f.Shape.IsFull() || item == 0 {
		return nil, fail(tenon.ErrShape, b.name, "the shape %v of a sequence's steps must be fully known and not empty", f.Shape)
	}
	for i := range c.rows() {
		if n := c.splits[i+1] - c.splits[i]; n != item {
			return nil, b.at(i, "has %d values, not %d", n, item)
		}
	}
	splits := slices.Clone(c.steps)
	for i := range splits {
		splits[i] *= item
	}
	return &column{values: c.values, splits: splits}, nil
}

// varLenLists returns the lists as a sparse tensor of examples, steps and values.
func (c *column) varLenLists() (tensor.Tensor, error) {
	at, xs := tensor.Make[int64](shape.Of(c.values.Shape().Size(), 3))
	for e := range len(c.steps) - 1 {
		for r := c.steps[e]; r < c.steps[e+1]; r++ {
			for j := c.splits[r]; j < c.splits[r+1]; j++ {
				xs[3*j], xs[3*j+1], xs[3*j+2] = int64(e), r-c.steps[e], j-c.splits[r]
			}
		}
	}
	sizes := []int64{int64(len(c.steps) - 1), int64(longest(c.steps)), int64(longest(c.splits))}
	return sparse.New(at, c.values, sizes)
}
