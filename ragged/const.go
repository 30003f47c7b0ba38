package ragged

import (
	"fmt"
	"reflect"

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
	c := &literal{depth: -1}
	if err := c.add(x, 0); err != nil {
		return nil, err
	}
	return c.tensor(o)
}

// literal gathers the elements and list lengths of a nested literal.
type literal struct {
	elems  elements
	levels []level
	depth  int // of the elements; -1 before the first
	empty  int // the deepest list without entries
	path   []int
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
		c.levels = append(c.levels, level{splits: []int64{0}})
	}
	l := &c.levels[depth]
	l.entries += int64(n)
	l.splits = append(l.splits, l.entries)
	c.empty = max(c.empty, depth)
	return nil
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
		for i, e := range x {
			c.path[len(c.path)-1] = i
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
		return leaves(c, x, depth, c.elems.addInt)
	case []float64:
		return leaves(c, x, depth, c.elems.addFloat)
	case []string:
		return leaves(c, x, depth, c.elems.addString)
	case []bool:
		return leaves(c, x, depth, c.elems.addBool)
	}
	return c.reflect(reflect.ValueOf(x), depth)
}

func leaves[T any](c *literal, x []T, depth int, add func(*literal, T) error) error {
	if err := c.open(depth, len(x)); err != nil || len(x) == 0 {
		return err
	}
	if err := c.found(depth + 1); err != nil {
		return err
	}
	for _, e := range x {
		if err := add(c, e); err != nil {
			return err
		}
	}
	return nil
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
		c.levels = append(c.levels, level{splits: make([]int64, 1)})
	}
	dims := []int{}
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
	parts := make([]*RowPartition, k)
	for i := range parts {
		entries := c.levels[i+1].splits
		splits := rows.Trusted(tensor.Vector(entries), entries)
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

// elements are the scalars of a literal, in a slice of their kind as long as they
// are all of one, or all of them numbers.
type elements struct {
	ints   []int64
	floats []float64
	strs   []string
	bools  []bool
	others []any       // all, once there is one of a rarer type
	none   dtype.DType // the element type of an empty typed slice
}

func (e *elements) kind() string {
	switch {
	case e.others != nil:
		return "typed number"
	case e.ints != nil:
		return "number"
	case e.floats != nil:
		return "number"
	case e.strs != nil:
		return "string"
	case e.bools != nil:
		return "truth value"
	}
	return ""
}

func (e *elements) mixed(c *literal, x any, kind string) error {
	return c.fail(tenon.ErrInvalid, "the %s %v stands among %ss", kind, x, e.kind())
}

func (e *elements) addInt(c *literal, x int) error {
	switch {
	case e.others != nil:
		e.others = append(e.others, x)
	case e.floats != nil:
		e.floats = append(e.floats, float64(x))
	case e.strs != nil || e.bools != nil:
		return e.mixed(c, x, "number")
	default:
		e.ints = append(e.ints, int64(x))
	}
	return nil
}

func (e *elements) addFloat(c *literal, x float64) error {
	switch {
	case e.others != nil:
		e.others = append(e.others, x)
		return nil
	case e.strs != nil || e.bools != nil:
		return e.mixed(c, x, "number")
	case e.ints != nil:
		e.floats = make([]float64, len(e.ints), 2*len(e.ints)+1)
		for i, n := range e.ints {
			e.floats[i] = float64(n)
		}
		e.ints = nil
	}
	e.floats = append(e.floats, x)
	return nil
}

func (e *elements) addString(c *literal, x string) error {
	if e.strs == nil && e.kind() != "" {
		return e.mixed(c, x, "string")
	}
	e.strs = append(e.strs, x)
	return nil
}

func (e *elements) addBool(c *literal, x bool) error {
	if e.bools == nil && e.kind() != "" {
		return e.mixed(c, x, "truth value")
	}
	e.bools = append(e.bools, x)
	return nil
}

func (e *elements) addOther(c *literal, x any) error {
	v := reflect.ValueOf(x)
	switch v.Kind() {
	case reflect.Bool:
		return e.addBool(c, v.Bool())
	case reflect.String:
		return e.addString(c, v.String())
	}
	if e.strs != nil || e.bools != nil {
		return e.mixed(c, x, "number")
	}
	if e.others == nil {
		for _, n := range e.ints {
			e.others = append(e.others, int(n))
		}
		for _, f := range e.floats {
			e.others = append(e.others, f)
		}
		e.ints, e.floats = nil, nil
	}
	e.others = append(e.others, x)
	return nil
}

// tensor returns the elements under a shape.
func (e *elements) tensor(c *literal, s shape.Shape, o Options) (tensor.Tensor, error) {
	to := tensor.Options{DType: o.DType, Int: o.Int, Float: o.Float}
	if o.Float == dtype.None {
		o.Float = dtype.Float64
	}
	if o.Int == dtype.None {
		o.Int = dtype.Int64
	}
	want := o.DType
	var all []any
	switch {
	case e.ints != nil:
		if want == dtype.None {
			want = o.Int
			for _, n := range e.ints {
				if !holds(want, n) {
					want = dtype.Int64
					break
				}
			}
		}
		if t, ok := intsAs(e.ints, s, want); ok {
			return t, nil
		}
		all = boxed(e.ints, func(n int64) any { return int(n) })
	case e.floats != nil:
		if want == dtype.None {
			want = o.Float
		}
		switch want {
		case dtype.Float64:
			return tensor.Wrap(e.floats, s), nil
		case dtype.Float32:
			return convertedTo(e.floats, s, func(f float64) float32 { return float32(f) }), nil
		}
		all = boxed(e.floats, func(f float64) any { return f })
	case e.strs != nil:
		if want == dtype.None || want == dtype.String {
			return tensor.Of(e.strs).(*tensor.Strings).Reshaped(s), nil
		}
		all = boxed(e.strs, func(x string) any { return x })
	case e.bools != nil:
		if want == dtype.None || want == dtype.Bool {
			return tensor.Wrap(e.bools, s), nil
		}
		all = boxed(e.bools, func(x bool) any { return x })
	default:
		all = e.others
		if len(all) == 0 && want == dtype.None {
			if to.Float = e.none; e.none == dtype.None {
				to.Float = o.Float
			}
		}
	}
	t, err := tensor.FromScalars(all, s, to)
	if err != nil {
		x := *tenon.AsError(err)
		x.Op = constFn
		return nil, &x
	}
	return t, nil
}

func boxed[T any](x []T, f func(T) any) []any {
	out := make([]any, len(x))
	for i, e := range x {
		out[i] = f(e)
	}
	return out
}

func convertedTo[A any, B dtype.Number](x []A, s shape.Shape, f func(A) B) tensor.Tensor {
	out, dst := tensor.Make[B](s)
	for i, e := range x {
		dst[i] = f(e)
	}
	return out
}

// holds reports whether a type of integers has n among its numbers; other types are
// left to those who convert.
func holds(d dtype.DType, n int64) bool {
	switch {
	case d.IsSigned():
		lim := int64(1) << (d.Bits() - 1)
		return d.Bits() == 64 || n >= -lim && n < lim
	case d.IsUnsigned():
		return n >= 0 && (d.Bits() == 64 || n < 1<<d.Bits())
	}
	return true
}

// intsAs returns integers in the usual types they can be asked for in, and false
// for any other and where one does not fit.
func intsAs(x []int64, s shape.Shape, d dtype.DType) (tensor.Tensor, bool) {
	for _, n := range x {
		if !holds(d, n) {
			return nil, false
		}
	}
	switch d {
	case dtype.Int64:
		return tensor.Wrap(x, s), true
	case dtype.Int32:
		return convertedTo(x, s, func(n int64) int32 { return int32(n) }), true
	case dtype.Float64:
		return convertedTo(x, s, func(n int64) float64 { return float64(n) }), true
	case dtype.Float32:
		return convertedTo(x, s, func(n int64) float32 { return float32(n) }), true
	case dtype.Uint8:
		return convertedTo(x, s, func(n int64) uint8 { return uint8(n) }), true
	}
	return nil, false
}
