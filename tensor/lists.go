package tensor

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// Lists takes apart a nested literal: Go values in slices and arrays, []any included, whose rows
// may differ in length. All elements must be at the same depth. It returns them as a vector whose
// type is chosen as by [Const]. For each depth, the outermost first, it also returns the offsets of
// the lists at that depth into their contents; a scalar has none. If there are no elements, the
// number of depths is that of the nested lists.
func Lists(x any, o Options) (elements Tensor, splits [][]int64, err error) {
	c, err := readLists(x)
	if err != nil {
		return nil, nil, inConst(err)
	}
	t, err := c.tensor(shape.Of(c.len()), o)
	return t, c.splits, err
}

// lists is a nested literal being taken apart.
type lists struct {
	splits [][]int64 // of the lists at each depth: offsets into their contents
	sizes  []int     // the sizes given by array types, for depths without lists
	depth  int       // of the elements; -1 before the first
	path   []int     // to the current element

	scalars [][]any       // the elements, list by list, or
	typed   reflect.Value // all of them as a slice of their type
	none    dtype.DType   // the type of the elements of an empty slice
}

func readLists(x any) (*lists, error) {
	c := &lists{depth: -1}
	return c, c.add(reflect.ValueOf(x), x, 0)
}

// inConst makes Const the operation of an error about a literal.
func inConst(err error) error {
	e := *tenon.AsError(err)
	e.Op = "tensor.Const"
	return &e
}

func (c *lists) fail(format string, args ...any) error {
	e := tenon.NewError(tenon.ErrInvalid, "", fmt.Sprintf(format, args...))
	if len(c.path) > 0 {
		e.Where = fmt.Sprint(c.path)
	}
	return e
}

// add adds x, at a depth; v is its reflection, or the zero Value.
func (c *lists) add(v reflect.Value, x any, depth int) error {
	switch x := x.(type) {
	case []any:
		if err := c.open(depth, len(x)); err != nil {
			return err
		}
		if allScalars(x) {
			return c.elements(x, depth+1)
		}
		c.path = append(c.path, 0)
		for i, e := range x {
			c.path[depth] = i
			if err := c.add(reflect.Value{}, e, depth+1); err != nil {
				return err
			}
		}
		c.path = c.path[:depth]
		return nil
	}
	if !v.IsValid() {
		v = reflect.ValueOf(x)
	}
	for hops := 0; v.IsValid() && hops < shape.MaxRank && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer && !v.IsNil()); hops++ {
		v = v.Elem()
	}
	switch {
	case !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil():
		return c.fail("the literal holds nil")
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		return c.list(v, depth)
	case dtype.OfType(v.Type()) == dtype.None:
		return c.fail("a %v cannot be an element of a tensor", v.Type())
	}
	return c.elements([]any{v.Interface()}, depth)
}

// allScalars reports whether a list contains only elements.
func allScalars(x []any) bool {
	for _, e := range x {
		switch e.(type) {
		case int, float64, string, bool:
		default:
			if e == nil || dtype.OfType(reflect.TypeOf(e)) == dtype.None {
				return false
			}
		}
	}
	return len(x) > 0
}

// list adds a slice or an array.
func (c *lists) list(v reflect.Value, depth int) error {
	n := v.Len()
	if err := c.open(depth, n); err != nil {
		return err
	}
	if n == 0 {
		c.nothing(v.Type().Elem(), depth+1)
		return nil
	}
	if dtype.OfType(v.Type().Elem()) != dtype.None {
		if err := c.found(depth + 1); err != nil {
			return err
		}
		c.row(v)
		return nil
	}
	c.path = append(c.path, 0)
	for i := range n {
		c.path[depth] = i
		if err := c.add(v.Index(i), nil, depth+1); err != nil {
			return err
		}
	}
	c.path = c.path[:depth]
	return nil
}

// open begins a list of n entries at the given depth.
func (c *lists) open(depth, n int) error {
	switch {
	case depth == shape.MaxRank:
		return c.fail("the literal is nested more than %d deep", shape.MaxRank)
	case c.depth >= 0 && depth >= c.depth:
		return c.fail("there is a list where other rows have an element")
	case depth == len(c.splits):
		c.level(0)
	}
	s := c.splits[depth]
	c.splits[depth] = append(s, s[len(s)-1]+int64(n))
	return nil
}

// level adds a depth below the deepest so far.
func (c *lists) level(size int) {
	c.splits, c.sizes = append(c.splits, []int64{0}), append(c.sizes, size)
}

// nothing records what the element type of an empty list implies: the type of the elements, and the
// lists that would be around them.
func (c *lists) nothing(t reflect.Type, depth int) {
	for ; dtype.OfType(t) == dtype.None && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array); t = t.Elem() {
		if depth == len(c.splits) && c.depth < 0 && depth < shape.MaxRank {
			n := 0
			if t.Kind() == reflect.Array {
				n = t.Len()
			}
			c.level(n)
		}
		depth++
	}
	if d := dtype.OfType(t); d != dtype.None {
		c.none = d
	}
}

// found checks the depth of an element.
func (c *lists) found(depth int) error {
	switch {
	case depth == c.depth:
		return nil
	case c.depth >= 0 || len(c.splits) > depth:
		return c.fail("there is an element where other rows have a list")
	}
	c.depth = depth
	return nil
}

// elements adds scalars at the given depth.
func (c *lists) elements(x []any, depth int) error {
	if err := c.found(depth); err != nil {
		return err
	}
	c.boxed()
	c.scalars = append(c.scalars, x)
	return nil
}

// row adds the elements of a typed slice or array. They stay in one piece as long as all have the
// same type.
func (c *lists) row(v reflect.Value) {
	if t := reflect.SliceOf(v.Type().Elem()); c.scalars == nil && (!c.typed.IsValid() || c.typed.Type() == t) {
		if !c.typed.IsValid() {
			c.typed = reflect.New(t).Elem()
		}
		n := c.typed.Len()
		c.typed.Grow(v.Len())
		c.typed.SetLen(n + v.Len())
		reflect.Copy(c.typed.Slice(n, n+v.Len()), v)
		return
	}
	c.boxed()
	c.scalars = append(c.scalars, scalarsOf(v))
}

// boxed converts typed elements to scalars.
func (c *lists) boxed() {
	if c.typed.IsValid() {
		c.scalars = append(c.scalars, scalarsOf(c.typed))
		c.typed = reflect.Value{}
	}
}

func scalarsOf(v reflect.Value) []any {
	out := make([]any, v.Len())
	for i := range out {
		out[i] = v.Index(i).Interface()
	}
	return out
}

func (c *lists) len() int {
	if c.typed.IsValid() {
		return c.typed.Len()
	}
	n := 0
	for _, x := range c.scalars {
		n += len(x)
	}
	return n
}

// tensor returns the elements with the given shape.
func (c *lists) tensor(s shape.Shape, o Options) (Tensor, error) {
	if c.typed.IsValid() {
		t := c.typed.Type().Elem()
		d := dtype.OfType(t)
		want := o.DType
		if want == dtype.None && t == reflect.TypeFor[int]() {
			want = o.Int
		} else if want == dtype.None && t == reflect.TypeFor[float64]() {
			want = o.Float
		}
		if want == dtype.None || want == d {
			return c.inMemory(d, s), nil
		}
		c.boxed()
	}
	if len(c.scalars) == 0 && c.none != dtype.None {
		o.Float = c.none
	}
	return fromScalars(c.scalars, s, o.defaults())
}

// inMemory returns the typed elements, which are of type d, without converting
// them.
func (c *lists) inMemory(d dtype.DType, s shape.Shape) Tensor {
	n, p := c.typed.Len(), c.typed.UnsafePointer()
	if d == dtype.String {
		return fromStrings(unsafe.Slice((*string)(p), n), s)
	}
	out := Uninit(d, s)
	copy(out.Bytes(), unsafe.Slice((*byte)(p), n*d.Size()))
	return out
}

// place returns the path to list i at the given depth.
func (c *lists) place(depth, i int) []int {
	path := make([]int, depth)
	for depth--; depth >= 0; depth-- {
		s, r := c.splits[depth], 0
		for int64(i) >= s[r+1] {
			r++
		}
		path[depth], i = i-int(s[r]), r
	}
	return path
}
