package ragged

import (
	"reflect"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Slices of slices of one type need no look at each element: their lengths are gathered
// depth by depth, and then whole rows are copied, whatever the type and however deep.

// sliceHeader is a slice of any type as it lies in memory.
type sliceHeader struct {
	data   unsafe.Pointer
	n, cap int
}

// rowsPerTask is the number of innermost rows from which workers share in copying them.
const rowsPerTask = 1 << 12

// slices reads a literal that is made of slices, of which the innermost ones have elements
// of one type. It reports false, and has read nothing, where that is not so, where there
// are no elements, and where they have to be converted one by one.
func (c *literal) slices(x any, o *Options) bool {
	t, depth := reflect.TypeOf(x), 0
	for t != nil && t.Kind() == reflect.Slice {
		t, depth = t.Elem(), depth+1
	}
	d := dtype.OfType(t)
	if depth == 0 || depth > shape.MaxRank || d == dtype.None || !o.keeps(t, d) {
		return false
	}
	v := reflect.ValueOf(x)
	root := sliceHeader{v.UnsafePointer(), v.Len(), v.Cap()}
	for range depth {
		c.addLevel()
	}
	c.measure(unsafe.Pointer(&root), 1, 0)
	n := int(c.levels[depth-1].entries)
	if n == 0 { // what there is of no elements depends on where they would be
		c.levels = c.levels[:0]
		return false
	}
	c.depth, c.empty = depth, depth-1
	if d == dtype.String {
		c.elems.rowsOfStrings(&root, depth, n)
		return true
	}
	flat := tensor.Uninit(d, shape.Of(n))
	c.elems.whole = flat
	dst, size := flat.Bytes(), d.Size()
	if lists := len(c.levels[depth-1].splits) - 1; depth == 1 || lists <= rowsPerTask {
		copyRows(dst, unsafe.Pointer(&root), 1, depth, size)
	} else {
		par.For(root.n, max(1, root.n*rowsPerTask/lists), func(lo, hi int) {
			at := int64(lo)
			for _, l := range c.levels[1:] {
				at = l.splits[at]
			}
			first := unsafe.Add(root.data, uintptr(lo)*unsafe.Sizeof(root))
			copyRows(dst[int(at)*size:], first, hi-lo, depth-1, size)
		})
	}
	return true
}

// keeps reports whether elements of a Go type t keep their element type d.
func (o *Options) keeps(t reflect.Type, d dtype.DType) bool {
	plain := o.DType
	if plain == dtype.None {
		switch t {
		case reflect.TypeFor[int]():
			plain = o.Int
		case reflect.TypeFor[float64]():
			plain = o.Float
		}
	}
	return plain == dtype.None || plain == d
}

// measure gathers the lengths of n lists of a depth, whose headers begin at p, and of those
// in them.
func (c *literal) measure(p unsafe.Pointer, n, depth int) {
	lists := unsafe.Slice((*sliceHeader)(p), n)
	l := &c.levels[depth]
	splits, end := ahead(l.splits, n, 0), l.entries
	for i := range lists {
		end += int64(lists[i].n)
		splits = append(splits, end)
	}
	l.splits, l.entries = splits, end
	if depth+1 < len(c.levels) {
		for i := range lists {
			c.measure(lists[i].data, lists[i].n, depth+1)
		}
	}
}

// copyRows copies the elements below n lists, whose headers begin at p, to dst and returns
// what is left of that. There are so many lists around an element of so many bytes.
func copyRows(dst []byte, p unsafe.Pointer, n, around, size int) []byte {
	lists := unsafe.Slice((*sliceHeader)(p), n)
	if around > 1 {
		for i := range lists {
			dst = copyRows(dst, lists[i].data, lists[i].n, around-1, size)
		}
		return dst
	}
	for i := range lists {
		if m := lists[i].n * size; m > 0 {
			copy(dst[:m], unsafe.Slice((*byte)(lists[i].data), m))
			dst = dst[m:]
		}
	}
	return dst
}

// rowsOfStrings adds the n strings in slices so deep.
func (e *elements) rowsOfStrings(root *sliceHeader, depth, n int) {
	e.only(stringKind)
	ends, size := ahead(e.ends, n, n), 0
	eachRow(unsafe.Pointer(root), 1, depth, func(row []string) {
		for _, s := range row {
			size += len(s)
			ends = append(ends, int64(size))
		}
	})
	bytes := ahead(e.bytes, size+tensor.Slack, 0)
	eachRow(unsafe.Pointer(root), 1, depth, func(row []string) {
		for _, s := range row {
			bytes = append(bytes, s...)
		}
	})
	e.ends, e.bytes = ends, bytes
}

// eachRow calls f for the innermost of n lists, whose headers begin at p, with so many lists
// around a string.
func eachRow(p unsafe.Pointer, n, around int, f func(row []string)) {
	lists := unsafe.Slice((*sliceHeader)(p), n)
	for i := range lists {
		if around > 1 {
			eachRow(lists[i].data, lists[i].n, around-1, f)
		} else if lists[i].n > 0 {
			f(unsafe.Slice((*string)(lists[i].data), lists[i].n))
		}
	}
}
