package ragged

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Options says how [Const] reads a literal. The zero value infers everything.
type Options struct {
	DType dtype.DType // the element type; None: inferred
	Int   dtype.DType // the type of integers of type int; None: int64, which one that does not fit has anyway
	Float dtype.DType // the type of floating numbers, and of no elements at all; None: float64

	// RaggedRank is the number of partitions, at least 1. Zero stands for as many as
	// there are lists around an element, but one, and but the axes of Inner.
	RaggedRank int

	// Inner is the shape of the innermost lists that are uniform and become axes of
	// the flat values. It is inferred where RaggedRank leaves any.
	Inner []int

	Splits dtype.DType // the type of row splits; None: int64
}

// Const returns the tensor of a nested literal: Go values in slices and arrays,
// []any included, whose rows may differ in length. All elements stand at one depth,
// below as many lists; a scalar or a single list gives a dense tensor, deeper ones a
// ragged one, even where all rows are equally long. Typed elements keep their type,
// except that int is int64; integers among floating numbers become floating, and other
// mixtures are errors. With Options.DType every element has to be one of that type:
// an integer type has to hold it exactly, a floating type rounds.
//
//	ragged.Const([]any{[]int{3, 1}, nil, []int{5}}, ragged.Options{})    // int64[3, ~]
func Const(x any, o Options) (tensor.Tensor, error) {
	if o.Splits != dtype.None && o.Splits != dtype.Int64 && o.Splits != dtype.Int32 {
		return nil, invalid("ragged.Const", "Splits", "row splits are int64 or int32, not %v", o.Splits)
	}
	if o.isZero() {
		if t := ofSlices(x); t != nil {
			return t, nil
		}
	}
	c := literals.Get().(*literal)
	defer c.free()
	if list, ok := x.([]any); ok {
		lists := 1 << 20
		c.elems.expected = min(countElements(list, &lists), 1<<24)
	}
	if !c.slices(x, &o) {
		if err := c.add(x, 0); err != nil {
			return nil, err
		}
	}
	return c.tensor(o)
}

func (o *Options) isZero() bool {
	return o.DType == dtype.None && o.Int == dtype.None && o.Float == dtype.None && o.RaggedRank == 0 && o.Inner == nil && o.Splits == dtype.None
}

// ofSlices returns rows of one of the usual types, whose elements need no look one by one;
// nil for other literals.
func ofSlices(x any) tensor.Tensor {
	switch x := x.(type) {
	case [][]float32:
		return FromSlices(x)
	case [][]float64:
		return FromSlices(x)
	case [][]int:
		return FromSlices(x)
	case [][]int32:
		return FromSlices(x)
	case [][]int64:
		return FromSlices(x)
	case [][]string:
		return FromSlices(x)
	case [][]bool:
		return FromSlices(x)
	}
	return nil
}

// literal gathers the elements and list lengths of a nested literal. It serves again, so
// that a small literal takes no memory but what is made of it; see [literal.free].
type literal struct {
	elems  elements
	levels []level
	depth  int // of the elements; -1 before the first
	empty  int // the deepest list without entries
	path   []int
}

var literals = sync.Pool{New: func() any { return &literal{depth: -1} }}

// keptElements is how many elements of memory for gathering are kept for the next literal.
// What gathers more becomes part of the result.
const keptElements = 4096

// free makes c ready for another literal. It keeps nothing alive.
func (c *literal) free() {
	c.depth, c.empty, c.path = -1, 0, c.path[:0]
	for i := range c.levels {
		c.levels[i].splits = roomOf(c.levels[i].splits)
	}
	c.levels = c.levels[:0]
	c.elems.free()
	literals.Put(c)
}

// roomOf returns memory for gathering without what was gathered, nil where it is large.
func roomOf[T any](x []T) []T {
	if cap(x) > keptElements {
		return nil
	}
	return x[:0]
}

// handedOver returns what was gathered as a tensor, which takes over its memory where that is
// large.
func handedOver[T int64 | float64 | bool](x *[]T, s shape.Shape) *tensor.Dense {
	if cap(*x) > keptElements {
		out := tensor.Wrap(*x, s)
		*x = nil
		return out
	}
	out, to := tensor.Make[T](s)
	copy(to, *x)
	return out
}

// countElements returns how many elements the lists of a literal have, so that they are
// gathered in memory of the right size from the start: it looks at no element but the first
// of each list, and at so many lists at most.
func countElements(x []any, lists *int) int {
	if *lists--; len(x) == 0 || *lists < 0 {
		return 0
	}
	if _, ok := x[0].([]any); !ok {
		return len(x)
	}
	n := 0
	for _, e := range x {
		if list, ok := e.([]any); ok {
			n += countElements(list, lists)
		}
	}
	return n
}

// level is the lists at one depth.
type level struct {
	splits  []int64 // of the lists one depth above: offsets into this level's entries
	entries int64
}

const constFn = "ragged.Const"

func (c *literal) fail(kind error, format string, args ...any) error {
	e := &tenon.Error{Kind: kind, Op: constFn, Msg: fmt.Sprintf(format, args...), Line: source.Line()}
	if len(c.path) > 0 {
		e.Where = fmt.Sprint(c.path)
	}
	return e
}

// open begins a list of n entries at a depth.
func (c *literal) open(depth, n int) error {
	switch {
	case depth == shape.MaxRank:
		return c.fail(tenon.ErrInvalid, "the literal is nested more than %d deep", shape.MaxRank)
	case c.depth >= 0 && depth >= c.depth:
		return c.fail(tenon.ErrInvalid, "a list stands where other rows have an element")
	}
	if depth == len(c.levels) {
		c.addLevel()
	}
	l := &c.levels[depth]
	l.entries += int64(n)
	l.splits = append(roomy(l.splits), l.entries)
	c.empty = max(c.empty, depth)
	return nil
}

// addLevel begins a deeper level, in the memory of one that served before.
func (c *literal) addLevel() {
	d := len(c.levels)
	if d == cap(c.levels) {
		c.levels = append(c.levels, level{})
	} else {
		c.levels = c.levels[:d+1]
	}
	l := &c.levels[d]
	l.splits, l.entries = append(l.splits[:0], 0), 0
}

// found checks the depth of an element.
func (c *literal) found(depth int) error {
	if depth == c.depth {
		return nil
	}
	if c.depth >= 0 {
		return c.fail(tenon.ErrInvalid, "an element stands below %d lists, others below %d", depth, c.depth)
	}
	if len(c.levels) > depth {
		return c.fail(tenon.ErrInvalid, "an element stands where other rows have a list")
	}
	c.depth = depth
	return nil
}

func (c *literal) add(x any, depth int) error {
	switch x := x.(type) {
	case nil:
		if depth == 0 {
			return c.fail(tenon.ErrInvalid, "the literal is nil")
		}
		return c.fail(tenon.ErrInvalid, "the literal holds nil")
	case []any:
		if err := c.open(depth, len(x)); err != nil {
			return err
		}
		c.path = append(c.path, 0)
		begun, err := c.alike(x, depth+1)
		if err != nil {
			return err
		}
		for i, e := range x[begun:] {
			c.path[len(c.path)-1] = begun + i
			if err := c.add(e, depth+1); err != nil {
				return err
			}
		}
		c.path = c.path[:len(c.path)-1]
		return nil
	case int:
		if err := c.found(depth); err != nil {
			return err
		}
		return c.elems.addInt(c, x)
	case float64:
		if err := c.found(depth); err != nil {
			return err
		}
		return c.elems.addFloat(c, x)
	case string:
		if err := c.found(depth); err != nil {
			return err
		}
		return c.elems.addString(c, x)
	case bool:
		if err := c.found(depth); err != nil {
			return err
		}
		return c.elems.addBool(c, x)
	case []int:
		return leaves(c, x, depth, func(c *literal, x []int) error { return c.elems.addInts(c, x) })
	case []float64:
		return leaves(c, x, depth, func(c *literal, x []float64) error { return c.elems.addFloats(c, x) })
	case []string:
		return leaves(c, x, depth, func(c *literal, x []string) error { return each(c, x, (*elements).addString) })
	case []bool:
		return leaves(c, x, depth, func(c *literal, x []bool) error { return each(c, x, (*elements).addBool) })
	}
	return c.reflect(reflect.ValueOf(x), depth)
}

// alike adds the elements that a list begins with as long as they are of one of the usual
// types and go where those before them went: most lists are nothing else. It returns how
// many it has added.
func (c *literal) alike(x []any, depth int) (n int, err error) {
	if len(x) == 0 {
		return 0, nil
	}
	e := &c.elems
	switch x[0].(type) {
	case float64:
		if e.only(floatKind) {
			if err = c.found(depth); err == nil {
				e.floats, n = unboxedFloats(e.floats, x, e.expected)
			}
		}
	case int:
		if e.only(intKind) {
			if err = c.found(depth); err == nil {
				e.ints, n = unboxedInts(e.ints, x, e.expected)
			}
		}
	case string:
		if e.only(stringKind) {
			if err = c.found(depth); err == nil {
				n = e.unboxedStrings(x)
			}
		}
	case bool:
		if e.only(boolKind) {
			if err = c.found(depth); err == nil {
				e.bools, n = unboxedBools(e.bools, x)
			}
		}
	}
	return n, err
}

// unboxedFloats appends what a list begins with of one type, and returns how much it was.
func unboxedFloats(to []float64, x []any, expected int) (all []float64, n int) {
	to = ahead(to, len(x), expected)
	room := to[len(to):][:len(x)]
	for i, e := range x {
		v, ok := e.(float64)
		if !ok {
			return to[:len(to)+i], i
		}
		room[i] = v
	}
	return to[:len(to)+len(x)], len(x)
}

// unboxedBools is unboxedFloats for truth values.
func unboxedBools(to []bool, x []any) (all []bool, n int) {
	for i, e := range x {
		v, ok := e.(bool)
		if !ok {
			return to, i
		}
		to = append(roomy(to), v)
	}
	return to, len(x)
}

// unboxedInts is unboxedFloats for integers.
func unboxedInts(to []int64, x []any, expected int) (all []int64, n int) {
	to = ahead(to, len(x), expected)
	room := to[len(to):][:len(x)]
	for i, e := range x {
		v, ok := e.(int)
		if !ok {
			return to[:len(to)+i], i
		}
		room[i] = int64(v)
	}
	return to[:len(to)+len(x)], len(x)
}

func leaves[T any](c *literal, x []T, depth int, add func(*literal, []T) error) error {
	if err := c.open(depth, len(x)); err != nil || len(x) == 0 {
		return err
	}
	if err := c.found(depth + 1); err != nil {
		return err
	}
	return add(c, x)
}

// reflect adds what is not of one of the usual types.
func (c *literal) reflect(v reflect.Value, depth int) error {
	for hops := 0; v.IsValid() && hops < shape.MaxRank && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer && !v.IsNil()); hops++ {
		v = v.Elem()
	}
	if !v.IsValid() || v.Kind() == reflect.Pointer {
		return c.fail(tenon.ErrInvalid, "the literal holds nil")
	}
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Array {
		n := v.Len()
		if err := c.open(depth, n); err != nil {
			return err
		}
		if d := dtype.OfType(v.Type().Elem()); n == 0 && d != dtype.None {
			c.elems.none = d
		}
		c.path = append(c.path, 0)
		for i := range n {
			c.path[len(c.path)-1] = i
			if err := c.add(v.Index(i).Interface(), depth+1); err != nil {
				return err
			}
		}
		c.path = c.path[:len(c.path)-1]
		return nil
	}
	if dtype.OfType(v.Type()) == dtype.None {
		return c.fail(tenon.ErrInvalid, "a %v is no element of a tensor", v.Type())
	}
	if err := c.found(depth); err != nil {
		return err
	}
	return c.elems.addOther(c, v.Interface())
}

// tensor puts the elements and levels together.
func (c *literal) tensor(o Options) (tensor.Tensor, error) {
	c.path = nil
	rank := c.depth
	switch {
	case len(c.levels) == 0:
		rank = 0
	case rank < 0:
		rank = max(c.empty+1, min(o.RaggedRank, shape.MaxRank)+1+len(o.Inner))
	case c.empty >= rank:
		return nil, c.fail(tenon.ErrInvalid, "a list stands below %d others, where the elements stand below %d", c.empty, rank)
	}
	k := o.RaggedRank
	if k == 0 {
		k = max(0, rank-1-len(o.Inner))
	}
	inner := rank - 1 - k
	switch {
	case o.RaggedRank < 0, o.RaggedRank > 0 && k >= rank:
		return nil, c.fail(tenon.ErrInvalid, "RaggedRank %d does not fit elements below %d lists", o.RaggedRank, rank)
	case o.Inner != nil && (inner < 0 || len(o.Inner) != inner):
		return nil, c.fail(tenon.ErrInvalid, "the inner shape %v and %d partitions do not fit elements below %d lists", o.Inner, k, rank)
	}
	for len(c.levels) < rank {
		c.addLevel()
	}
	var room [8]int
	dims := room[:0]
	if rank > 0 {
		dims = append(dims, int(c.levels[k].entries))
	}
	for d := k + 1; d < rank; d++ {
		n, err := c.uniform(d, o.Inner, d-k-1)
		if err != nil {
			return nil, err
		}
		dims = append(dims, n)
	}
	s, err := shape.From(dims)
	if err != nil {
		return nil, c.fail(tenon.ErrInvalid, "%v", err)
	}
	flat, err := c.elems.tensor(c, s, o)
	if err != nil {
		return nil, err
	}
	if k == 0 {
		return flat, nil
	}
	if k == 1 && o.Splits != dtype.Int32 && len(c.levels[1].splits) <= sharedValues {
		if d, ok := flat.(*tensor.Dense); ok {
			made, entries := beginRows(len(c.levels[1].splits) - 1)
			copy(entries, c.levels[1].splits)
			return made.tensor(d), nil
		}
	}
	parts := make([]*RowPartition, k)
	for i := range parts {
		l := &c.levels[i+1]
		if o.Splits != dtype.Int32 && len(l.splits) <= sharedValues {
			made, entries := beginRows(len(l.splits) - 1)
			copy(entries, l.splits)
			parts[i] = made.partition()
			continue
		}
		splits := handedOver(&l.splits, shape.Of(len(l.splits)))
		entries := tensor.Data[int64](splits)
		splits = rows.Trusted(splits, entries)
		if o.Splits == dtype.Int32 {
			n, err := narrow(constFn, "row_splits", splits, dtype.Int32)
			if err != nil {
				return nil, err
			}
			splits = n.(*tensor.Dense)
		}
		parts[i] = newPartition(splits, int(entries[len(entries)-1]))
	}
	return build(flat, parts), nil
}

// uniform returns the length that all lists at a depth have.
func (c *literal) uniform(depth int, want []int, axis int) (int, error) {
	s := c.levels[depth].splits
	n := 0
	if want != nil {
		n = want[axis]
	} else if len(s) > 1 {
		n = int(s[1])
	}
	for r := range len(s) - 1 {
		if m := int(s[r+1] - s[r]); m != n {
			return 0, c.fail(tenon.ErrInvalid, "list %d at depth %d has %d entries, others %d: it cannot be an inner axis", r, depth, m, n)
		}
	}
	return n, nil
}
