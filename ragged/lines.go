package ragged

import (
	"slices"
	"sync"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// An axis with partitioned axes below it crosses their rows: the values at one place below
// the entries of one list are a line. What is in memory is divided into lines in one pass
// over the splits, in place of one operation after the other on lists of numbers.

// A crossing tells the lines of an axis.
type crossing struct {
	line   []int64   // for each value, its line
	lines  int64     // how many there are
	levels [][]int64 // row splits of the dimensions that the lists are reduced to, outermost first
}

// scratch is memory for lists of numbers that are not kept: the caller's, who has it where
// it costs nothing, for as long as that does.
type scratch struct{ room []int64 }

// scratchSize is how many numbers callers give room for.
const scratchSize = 128

// take returns n numbers that are 0.
func (s *scratch) take(n int64) []int64 {
	if n > int64(len(s.room)) {
		return ints(int(n))
	}
	out := s.room[:n:n]
	s.room = s.room[n:]
	clear(out)
	return out
}

// crossed divides the values of a tensor with row splits in memory into the lines of an
// axis; ok is false where the general way has to be taken.
func crossed(x *Tensor, axis int) (c crossing, ok bool) { return crossedIn(x, axis, &scratch{}) }

// crossedIn is crossed with memory for the lines.
func crossedIn(x *Tensor, axis int, mem *scratch) (c crossing, ok bool) {
	if axis >= len(x.parts) {
		return c, false
	}
	c.lines = 1
	if axis > 0 {
		p := x.parts[axis-1]
		s, ok := p.Splits64()
		if !ok || p.spec.dtype != dtype.Int64 {
			return c, false
		}
		if c.line, c.lines = int64s(p.ValueRowIDs()), int64(len(s)-1); c.line == nil {
			return c, false
		}
	}
	for k, p := range x.parts[axis:] {
		s, ok := p.Splits64()
		if !ok || p.IsUniform() || p.spec.dtype != dtype.Int64 || c.line != nil && len(c.line) != len(s)-1 {
			return c, false
		}
		var ends []int64
		if axis == 0 && k == 0 { // the one list is no dimension
			ends = mem.take(2)
		} else {
			kept := ints(int(c.lines + 1))
			c.levels = append(c.levels, kept)
			ends = kept
		}
		below := mem.take(s[len(s)-1])
		list := func(r int) int64 {
			if c.line == nil { // the outermost axis is one list
				return 0
			}
			return c.line[r]
		}
		for r := range s[1:] {
			l := list(r)
			ends[l+1] = max(ends[l+1], s[r+1]-s[r])
		}
		for l := range c.lines {
			ends[l+1] += ends[l]
		}
		for r := range s[1:] {
			at := ends[list(r)]
			for i := s[r]; i < s[r+1]; i++ {
				below[i] = at + i - s[r]
			}
		}
		c.line, c.lines = below, ends[c.lines]
	}
	if d := x.flat.Shape().Dim(0); d != len(c.line) {
		return c, false
	}
	return c, true
}

// together returns the order that brings the values of each line together, and the row
// splits of the lines; back, if not nil, gets where each value went.
func (c *crossing) together(back []int64) (order, splits *tensor.Dense) {
	order, from := tensor.Make[int64](shape.Of(len(c.line)))
	return order, c.ordered(from, back)
}

// ordered is together for order in memory.
func (c *crossing) ordered(order, back []int64) (splits *tensor.Dense) {
	splits, ends := tensor.Make[int64](shape.Of(int(c.lines) + 1))
	c.order(order, back, ends)
	return rows.Trusted(splits, ends)
}

// order is ordered with ends, which are 0, for the row splits of the lines.
func (c *crossing) order(order, back, ends []int64) {
	for _, l := range c.line {
		ends[l+1]++
	}
	for l := range c.lines {
		ends[l+1] += ends[l]
	}
	// While values are put down, the end of the line in front says where the next goes.
	for i, l := range c.line {
		at := ends[l]
		order[at], ends[l] = int64(i), at+1
		if back != nil {
			back[i] = at
		}
	}
	copy(ends[1:], ends[:c.lines])
	ends[0] = 0
}

// permuted returns the rows of a tensor in another order, which names each of them once. A
// few of them are in room.
func permuted(x tensor.Tensor, order []int64, room *tensor.Scratch) tensor.Tensor {
	d, ok := x.(*tensor.Dense)
	if !ok || !isFew(d, order) {
		return ops.Gather(x, tensor.Vector(slices.Clone(order)), 0)
	}
	out := room.Tensor(d.DType(), d.Shape())
	switch size := len(d.Bytes()) / len(order); size {
	case 1:
		permute(out.Bytes(), d.Bytes(), order)
	case 4:
		permute(wordsOf[uint32](out.Bytes()), wordsOf[uint32](d.Bytes()), order)
	case 8:
		permute(wordsOf[uint64](out.Bytes()), wordsOf[uint64](d.Bytes()), order)
	default:
		dst, src := out.Bytes(), d.Bytes()
		for i, k := range order {
			copy(dst[i*size:(i+1)*size], src[int(k)*size:])
		}
	}
	return out
}

func permute[T any](dst, src []T, order []int64) {
	for i, k := range order {
		dst[i] = src[k]
	}
}

func permuteBack[T any](dst, src []T, order []int64) {
	for i, k := range order {
		dst[k] = src[i]
	}
}

// isFew reports whether rows in memory are so few that they are moved here.
func isFew(x *tensor.Dense, order []int64) bool {
	return x.IsContiguous() && len(order) <= scratchSize && x.Len() > 0
}

// putBack puts the rows of a tensor that nobody else has back to where order took them
// from, by way of room.
func putBack(x *tensor.Dense, order []int64, room *tensor.Scratch) {
	from := room.Tensor(x.DType(), x.Shape())
	dst, src := x.Bytes(), from.Bytes()
	copy(src, dst)
	switch size := len(src) / len(order); size {
	case 1:
		permuteBack(dst, src, order)
	case 4:
		permuteBack(wordsOf[uint32](x.Bytes()), wordsOf[uint32](from.Bytes()), order)
	case 8:
		permuteBack(wordsOf[uint64](x.Bytes()), wordsOf[uint64](from.Bytes()), order)
	default:
		for i, k := range order {
			copy(dst[int(k)*size:(int(k)+1)*size], src[i*size:])
		}
	}
}

// lineRoom is memory for values in the order of their lines, which are computed with and
// forgotten.
type lineRoom struct {
	values, splits tensor.Scratch
	numbers        [scratchSize]int64
}

var lineRooms = sync.Pool{New: func() any { return new(lineRoom) }}

// lined are the values of a tensor in the order of the lines of an axis.
type lined struct {
	crossing
	from   []int64       // which value of the tensor each of them is
	splits *tensor.Dense // of the lines
	ends   []int64       // the entries of splits
	values tensor.Tensor
}

// inLines brings the values of each line of an axis together, in room and memory that mem
// has; ok is false where that takes more than a look at row splits in memory.
func inLines(x *Tensor, axis int, room *lineRoom, mem *scratch) (o lined, ok bool) {
	if o.crossing, ok = crossedIn(x, axis, mem); !ok {
		return o, false
	}
	o.lineSplits(room)
	o.from = mem.take(int64(len(o.line)))
	o.order(o.from, nil, o.ends)
	rows.Trusted(o.splits, o.ends)
	o.values = permuted(x.flat, o.from, &room.values)
	return o, true
}

// lineSplits makes row splits of 0 for the lines.
func (o *lined) lineSplits(room *lineRoom) {
	o.splits = room.splits.Tensor(dtype.Int64, shape.Of(int(o.lines)+1))
	o.ends = tensor.Data[int64](o.splits)
	clear(o.ends)
}

// forget gives the room back for other lines, once y has been computed of those in it. What
// a trace or a gradient has seen of them it keeps.
func (room *lineRoom) forget(x *Tensor, y tensor.Tensor) {
	if isDense(x.flat) && apart(y, &room.values) {
		lineRooms.Put(room)
	}
}

// apart reports whether a tensor in memory has nothing in room.
func apart(y tensor.Tensor, room *tensor.Scratch) bool {
	d, ok := y.(*tensor.Dense)
	return ok && !room.Holds(d)
}

// reducedLines reduces an axis of x that has partitioned axes below it by a reduction of
// rows; it returns nil where that takes more than a look at row splits in memory.
func reducedLines(x *Tensor, axis int, f lines) tensor.Tensor {
	room := lineRooms.Get().(*lineRoom)
	o, ok := inLines(x, axis, room, &scratch{room.numbers[:]})
	if !ok {
		return nil
	}
	y := f(o.values, o.splits)
	room.forget(x, y)
	return o.build(x, axis, y)
}

// alongLines runs f, which keeps the rows, along an axis of x that has partitioned axes
// below it; it returns nil where that takes more than a look at row splits in memory.
func alongLines(x *Tensor, axis int, f lines) tensor.Tensor {
	room := lineRooms.Get().(*lineRoom)
	o, ok := inLines(x, axis, room, &scratch{room.numbers[:]})
	if !ok {
		return nil
	}
	y := f(o.values, o.splits)
	if d, ok := y.(*tensor.Dense); ok && isFew(d, o.from) && d.Dim(0) == len(o.from) && apart(d, &room.values) {
		putBack(d, o.from, &room.values)
		room.forget(x, d)
		return x.with(d)
	}
	back, where := tensor.Make[int64](shape.Of(len(o.from)))
	for i, k := range o.from {
		where[k] = int64(i)
	}
	return x.with(ops.Gather(y, back, 0))
}

// build gives what the lines of an axis were reduced to the dimensions that are left.
func (c *crossing) build(x *Tensor, axis int, flat tensor.Tensor) tensor.Tensor {
	if axis == 0 && len(c.levels) == 0 {
		return flat
	}
	parts := slices.Clone(x.parts[:max(axis-1, 0)])
	for _, s := range c.levels {
		parts = append(parts, newPartition(rows.Trusted(tensor.Vector(s), s), int(s[len(s)-1])))
	}
	return build(flat, parts)
}

// gathered returns the order that brings the entries together that an axis with
// partitioned axes below it crosses, the splits of those lines, and the order back.
func gathered(x *Tensor, axis int) (order, splits, back tensor.Tensor) {
	if c, ok := crossed(x, axis); ok {
		to, places := tensor.Make[int64](shape.Of(len(c.line)))
		order, splits = c.together(places)
		return order, splits, to
	}
	at, n := x.lists(axis)
	for _, q := range x.parts[axis:] {
		var p *RowPartition
		p, at = positions(q, at, n)
		n = p.NVals()
	}
	order = ops.ArgSort(at, 0, ops.SortOptions{})
	splits = rows.FromRowIDs(ops.Gather(at, order, 0), n)
	return order, splits, ops.ArgSort(order, 0, ops.SortOptions{})
}

// listNumbers returns for each flat value of x the number of the entry of an axis that it
// lies in, counted in its list.
func listNumbers(x *Tensor, axis int) tensor.Tensor {
	if number := knownNumbers(x, axis); number != nil {
		return number
	}
	var number tensor.Tensor
	if axis == 0 {
		n := x.parts[0].NRows()
		number = ops.Range(scalar(0, n.DType()), n, scalar(1, n.DType()))
	} else {
		number = x.parts[axis-1].OffsetsInRows()
	}
	for _, p := range x.parts[axis:] {
		number = rows.Repeat(number, p.RowSplits(), p.StaticNVals())
	}
	return ops.Cast(number, dtype.Int64)
}

// knownNumbers is listNumbers for row splits in memory, nil for others.
func knownNumbers(x *Tensor, axis int) tensor.Tensor {
	number, ok := entryNumbers(x, axis, &scratch{})
	if !ok {
		return nil
	}
	return tensor.Vector(number)
}

// entryNumbers returns what [listNumbers] does in a list of the caller's memory; false says
// that row splits are not in memory.
func entryNumbers(x *Tensor, axis int, mem *scratch) ([]int64, bool) {
	var few [4][]int64
	splits := few[:0]
	for _, p := range x.parts[axis:] {
		s, ok := p.Splits64()
		if !ok {
			return nil, false
		}
		splits = append(splits, s)
	}
	n := int64(len(splits[0]) - 1)
	for _, s := range splits {
		if n != int64(len(s)-1) {
			return nil, false
		}
		n = s[n]
	}
	lists := []int64{0, int64(len(splits[0]) - 1)} // the outermost axis is one list
	if axis > 0 {
		var ok bool
		if lists, ok = x.parts[axis-1].Splits64(); !ok || lists[len(lists)-1] != int64(len(splits[0])-1) {
			return nil, false
		}
	}
	number := mem.take(n)
	for l := range lists[1:] {
		for entry := lists[l]; entry < lists[l+1]; entry++ { // all values below one entry
			lo, hi := entry, entry+1
			for _, s := range splits {
				lo, hi = s[lo], s[hi]
			}
			for i := lo; i < hi; i++ {
				number[i] = entry - lists[l]
			}
		}
	}
	return number, true
}

// lineOf returns for each flat value of x its line along an axis: the values at the same
// place below the entries of one list.
func lineOf(x *Tensor, axis int) tensor.Tensor {
	if c, ok := crossed(x, axis); ok {
		return tensor.Vector(c.line)
	}
	at, n := x.lists(axis)
	for _, q := range x.parts[axis:] {
		var p *RowPartition
		p, at = positions(q, at, n)
		n = p.NVals()
	}
	return ops.Cast(at, dtype.Int64)
}

// lists returns for each entry of an axis the list it is in, and how many there are.
func (t *Tensor) lists(axis int) (at, n tensor.Tensor) {
	if axis == 0 {
		d := t.parts[0].DType()
		return oneSegment(t.parts[0].NRows()), scalar(1, d)
	}
	q := t.parts[axis-1]
	return q.ValueRowIDs(), q.NRows()
}
