package protoio

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// ragged returns the rows as a ragged tensor, further divided by the partitions.
func (c *column) ragged(b *builder, f Ragged) (tensor.Tensor, error) {
	values, splits, err := c.divided(b, f)
	if err != nil {
		return nil, err
	}
	return partitioned(values, splits, f.Splits)
}

// raggedRow is ragged for the only row: its values after applying the partitions.
func (c *column) raggedRow(b *builder, f Ragged) (tensor.Tensor, error) {
	values, _, err := c.divided(b, f)
	return values, err
}

// partitioned returns values with row splits of the requested type.
func partitioned(values tensor.Tensor, splits []int64, d dtype.DType) (tensor.Tensor, error) {
	if d != dtype.Int32 {
		return ragged.FromRowSplits(values, tensor.Vector(splits))
	}
	narrow := make([]int32, len(splits))
	for i, s := range splits {
		if narrow[i] = int32(s); int64(narrow[i]) != s {
			return nil, fail(tenon.ErrInvalid, "", "there are more values than int32 row splits can count")
		}
	}
	return ragged.FromRowSplits(values, tensor.Vector(narrow))
}

// divided applies the partitions from the innermost one outwards. It returns the values, and the
// row splits over their outermost groups.
func (c *column) divided(b *builder, f Ragged) (tensor.Tensor, []int64, error) {
	values, splits := c.values, c.splits
	for i := len(f.Partitions) - 1; i >= 0; i-- {
		part := f.Partitions[i]
		var err error
		if n := part.UniformLength; n > 0 {
			values, splits, err = uniform(b, values, splits, n)
		} else {
			p := &b.columns[b.parts[i]]
			var inner []int64
			if inner, splits, err = p.divide(b, part, splits); err == nil {
				values, err = partitioned(values, inner, f.Splits)
			}
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return values, splits, nil
}

// uniform divides the items of every row into groups of n.
func uniform(b *builder, values tensor.Tensor, splits []int64, n int) (tensor.Tensor, []int64, error) {
	outer := make([]int64, len(splits))
	for i := 1; i < len(splits); i++ {
		if got := splits[i] - splits[i-1]; got%int64(n) != 0 {
			return nil, nil, b.at(i-1, "has %d values, which is not a multiple of the uniform length %d", got, n)
		}
		outer[i] = splits[i] / int64(n)
	}
	if t, ok := ragged.As(values); ok {
		u, err := ragged.FromUniformRowLength(t, n, nil)
		return u, outer, err
	}
	dims := values.Shape().Dims()
	s, err := withOuter(b.name, shape.Of(dims[1:]...), dims[0]/n, n)
	if err != nil {
		return nil, nil, err
	}
	return reshape(values, s), outer, nil
}

// divide reads the column as the partition of the items in each row, whose row splits are splits.
// It returns the splits of the groups, and those of the rows over groups.
func (c *column) divide(b *builder, part Partition, splits []int64) (groups, rows []int64, err error) {
	if c.rows() != len(splits)-1 || !slices.Equal(c.steps, b.columns[b.source].steps) {
		return nil, nil, fail(tenon.ErrInvalid, b.name, "the steps of partition %q differ from those of the values", part.key())
	}
	data := tensor.Data[int64](c.values)
	rows = make([]int64, len(splits))
	d := divider{b: b, groups: []int64{0}, most: 64*int64(len(data)+len(splits)) + 1<<12}
	for i := range len(splits) - 1 {
		d.row, d.start, d.size = i, splits[i], splits[i+1]-splits[i]
		d.key = part.key()
		xs := data[c.splits[i]:c.splits[i+1]]
		switch {
		case part.RowSplits != "":
			err = d.splits(xs)
		case part.RowLengths != "":
			err = d.lengths(xs)
		case part.RowStarts != "":
			err = d.starts(xs)
		case part.RowLimits != "":
			err = d.limits(xs)
		default:
			err = d.ids(xs)
		}
		if err != nil {
			return nil, nil, err
		}
		rows[i+1] = int64(len(d.groups) - 1)
	}
	return d.groups, rows, nil
}

// A divider appends the groups of one row after the other.
type divider struct {
	b           *builder
	key         string
	groups      []int64
	most        int64 // limit on groups, because a single row id could require any number
	row         int
	start, size int64 // range of the row's items
}

func (d *divider) fail(format string, args ...any) error {
	args = append([]any{d.key}, args...)
	return d.b.at(d.row, "partition %q "+format, args...)
}

// limits appends groups given by their offsets.
func (d *divider) limits(xs []int64) error {
	last := int64(0)
	for _, x := range xs {
		if x < last || x > d.size {
			return d.fail("has offset %d after %d, of %d values", x, last, d.size)
		}
		last = x
		d.groups = append(d.groups, d.start+x)
	}
	if last != d.size {
		return d.fail("ends at %d of %d values", last, d.size)
	}
	return nil
}

func (d *divider) splits(xs []int64) error {
	if len(xs) > 0 {
		if xs[0] != 0 {
			return d.fail("starts at %d, not 0", xs[0])
		}
		xs = xs[1:]
	}
	return d.limits(xs)
}

func (d *divider) starts(xs []int64) error {
	if len(xs) == 0 {
		return d.limits(xs)
	}
	if xs[0] != 0 {
		return d.fail("starts at %d, not 0", xs[0])
	}
	if err := d.limits(append(xs[1:len(xs):len(xs)], d.size)); err != nil {
		return err
	}
	return nil
}

func (d *divider) lengths(xs []int64) error {
	at := int64(0)
	for _, n := range xs {
		if n < 0 || n > d.size-at {
			return d.fail("has length %d after %d of %d values", n, at, d.size)
		}
		at += n
		d.groups = append(d.groups, d.start+at)
	}
	if at != d.size {
		return d.fail("has lengths for %d of %d values", at, d.size)
	}
	return nil
}

func (d *divider) ids(xs []int64) error {
	if int64(len(xs)) != d.size {
		return d.fail("has %d row ids for %d values", len(xs), d.size)
	}
	next := int64(0) // the current group
	for i, x := range xs {
		if x < next-1 || x < 0 {
			return d.fail("has row id %d after %d", x, next-1)
		}
		if x-next >= d.most-int64(len(d.groups)) {
			return d.fail("has row id %d, which implies far more rows than there are values", x)
		}
		for ; next <= x; next++ {
			if next > 0 {
				d.groups = append(d.groups, d.start+int64(i))
			}
		}
	}
	if next > 0 {
		d.groups = append(d.groups, d.start+d.size)
	}
	return nil
}
