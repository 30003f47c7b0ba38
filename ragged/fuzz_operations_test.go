package ragged_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// fuzzed are the operations that FuzzOperations calls: those that take ragged tensors, and
// those on values and row splits.
var fuzzed = func() []*op.Op {
	var out []*op.Op
	for _, o := range op.All() {
		if strings.HasPrefix(o.Name, "ragged.") || ragged.Answers(o) != "" {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(x, y *op.Op) int { return strings.Compare(x.Name, y.Name) })
	return out
}()

// elements returns n elements of a type.
func (s *script) elements(d dtype.DType, dims ...int) T {
	n := shape.Of(dims...).Size()
	switch d {
	case dtype.String:
		words := make([]string, n)
		for i := range words {
			words[i] = []string{"", "a", "bc", "\xff", "é"}[s.next()%5]
		}
		return tensor.Of(words, dims...)
	case dtype.Bool:
		v := make([]bool, n)
		for i := range v {
			v[i] = s.next()%2 == 1
		}
		return tensor.Of(v, dims...)
	}
	v := make([]int64, n)
	for i := range v {
		v[i] = s.number()
		if d == dtype.Int32 && v[i] != int64(int32(v[i])) {
			v[i] = math.MinInt32 // what is left of large numbers are possible sizes, which take time
		}
	}
	return ops.Cast(tensor.Of(v, dims...), d)
}

func (s *script) dtype() dtype.DType {
	return []dtype.DType{dtype.Float64, dtype.Int64, dtype.Float32, dtype.Int32, dtype.Bool, dtype.String, dtype.Uint8, dtype.Float64}[s.next()%8]
}

// rowsOfAny returns a ragged tensor with one or two partitions.
func (s *script) rowsOfAny(d dtype.DType) *ragged.Tensor {
	lengths := make([]int64, s.next()%5)
	n := int64(0)
	for i := range lengths {
		lengths[i] = int64(s.next() % 4)
		n += lengths[i]
	}
	dims := []int{int(n)}
	if s.next()%4 == 0 {
		dims = append(dims, s.next()%3)
	}
	x := tenon.Must(ragged.FromRowLengths(s.elements(d, dims...), lengths))
	if s.next()%16 == 0 { // sizes that no memory holds, of nothing
		if s.next()%2 == 0 {
			x = tenon.Must(ragged.FromUniformRowLength(s.elements(d, append([]int{0}, dims[1:]...)...), 0, huge))
		} else {
			x = tenon.Must(ragged.FromUniformRowLength(s.elements(d, append([]int{0}, dims[1:]...)...), huge, 0))
		}
	}
	for range 2 {
		switch s.next() % 6 {
		case 0:
			if y, err := ragged.FromUniformRowLength(x, 1+s.next()%2, nil); err == nil {
				x = y
			}
		case 1: // rows of rows
			outer := s.lengths(x.Partition().StaticNRows())
			if y, err := ragged.FromRowLengths(x, outer); err == nil {
				x = y
			}
		case 2: // rows of which none has an entry
			if x.Partition().StaticNRows() == 0 {
				sizes := [][2]int{{0, 2}, {3, 0}, {0, huge}, {huge, 0}}[s.next()%4]
				x = tenon.Must(ragged.FromUniformRowLength(x, sizes[0], sizes[1]))
			}
		}
	}
	if s.next()%8 == 0 {
		if y, err := x.WithSplitsDType(dtype.Int32); err == nil {
			x = y
		}
	}
	return x
}

// huge is a number of rows, or of entries in each of no rows.
const huge = 1 << 60

// lengths divides n entries.
func (s *script) lengths(n int) []int64 {
	var out []int64
	for n > 0 && len(out) < 6 {
		l := min(s.next()%4, n)
		out = append(out, int64(l))
		n -= l
	}
	if n > 0 {
		out = append(out, int64(n))
	}
	return out
}

// A caller makes the arguments of one call: mostly such as fit each other.
type caller struct {
	*script
	o      *op.Op
	d      dtype.DType
	splits []int64        // of an operation on values and row splits
	first  *ragged.Tensor // the first argument of another
}

func (c *caller) arguments() []any {
	c.splits = []int64{0}
	for range c.next() % 5 {
		c.splits = append(c.splits, c.splits[len(c.splits)-1]+int64(c.next()%4))
	}
	args := make([]any, len(c.o.Params))
	for i, p := range c.o.Params {
		args[i] = c.argument(p)
		if i == 0 && p.Kind == op.Tensor && !strings.HasPrefix(c.o.Name, "ragged.") {
			c.first = c.rowsOfAny(c.d)
			args[i] = c.first
			if c.next()%8 == 0 { // of which elements are missing
				args[i] = tenon.Must(masked.New(c.first, ops.Equal(c.first, c.first)))
			}
		}
	}
	return args
}

// argument makes a value for a parameter, hostile or not.
func (c *caller) argument(p op.Param) any {
	switch {
	case p.Kind == op.Tensors:
		list := make([]tenon.Value, 1+c.next()%3)
		for i := range list {
			list[i] = c.argument(op.Param{Name: p.Name}).(tenon.Value)
		}
		if c.next()%16 == 0 {
			return list[:0]
		}
		return list
	case p.Kind == op.Attr:
		return c.attribute(p)
	case p.Optional && c.next()%2 == 0:
		return nil
	case p.Name == "key":
		return ops.RandomKey(uint64(c.next()))
	case strings.HasPrefix(c.o.Name, "ragged."):
		return c.part(p)
	}
	r := c.first
	switch k := c.next() % 8; {
	case k == 0:
		return c.elements(dtype.Int64, c.next()%5)
	case k == 1:
		return c.elements(c.d, c.next()%4, c.next()%4)
	case k == 2:
		return c.elements(c.d)
	case k == 3:
		return c.rowsOfAny(dtype.Int64)
	case k <= 6 && r != nil: // rows of the same lengths
		d := c.d
		if k == 4 {
			d = []dtype.DType{dtype.Int64, dtype.Bool}[c.next()%2]
		}
		return tenon.Must(r.WithFlatValues(c.elements(d, r.FlatValues().Shape().Dims()...)))
	}
	return c.rowsOfAny(c.d)
}

// part makes an argument of an operation on values and row splits.
func (c *caller) part(p op.Param) any {
	hostile := c.next()%6 == 0
	n := int(c.splits[len(c.splits)-1])
	switch {
	case strings.Contains(strings.ToLower(p.Name), "splits") && hostile:
		return tensor.Of(c.numbers())
	case strings.Contains(strings.ToLower(p.Name), "splits"):
		return tensor.Of(slices.Clone(c.splits))
	case hostile:
		return c.elements(c.d, c.next()%8)
	case p.Name == "values" || p.Name == "a" || p.Name == "b" || p.Name == "x":
		return c.elements(c.d, n)
	}
	switch c.next() % 4 {
	case 0:
		return tensor.Scalar(int64(c.next() % 4))
	case 1:
		return c.elements(dtype.Bool, n)
	}
	small := make([]int64, []int{n, len(c.splits) - 1}[c.next()%2])
	for i := range small {
		small[i] = int64(c.next() % 4)
	}
	return tensor.Of(small)
}

func (s *script) attribute(p op.Param) any {
	small := func() int { return s.next()%9 - 3 }
	switch p.Type {
	case op.BoolType:
		return s.next()%2 == 1
	case op.IntType:
		return small()
	case op.IntsType:
		l := make([]int, s.next()%4)
		for i := range l {
			l[i] = small()
		}
		return l
	case op.FloatType:
		return float64(small())
	case op.StringType:
		if s.next()%2 == 0 && p.Default != nil {
			return p.Default
		}
		return []string{"", "ab->a", "abc,cd->abd", "ab,ab->a", "_", "[", "0:1"}[s.next()%7]
	case op.DTypeType:
		return s.dtype()
	case op.ShapeType:
		return shape.Of(s.next() % 4)
	}
	return p.Default
}

// FuzzOperations: whatever an operation is given, it answers with an error that says what
// is wrong, or with a tensor whose parts fit each other.
func FuzzOperations(f *testing.F) {
	for i := range fuzzed {
		f.Add([]byte{byte(i), byte(i >> 8), 0, 4, 1, 3, 2, 0, 2, 1, 2, 3, 4, 5, 6, 7, 0, 1, 0, 3, 1, 0, 2, 2, 1, 1})
		f.Add([]byte{byte(i), byte(i >> 8), 1, 4, 5, 0, 2, 4, 6, 6, 3, 3, 1, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 1})
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &script{b}
		o := fuzzed[(s.next()+s.next()<<8)%len(fuzzed)]
		args := (&caller{script: s, o: o, d: s.dtype()}).arguments()
		out, err := tenon.Try(func() []tenon.Value { return tenon.Must(op.Do(o, args...)) })
		if err != nil {
			refused(t, o.Name, err)
			return
		}
		for _, v := range out {
			whole(t, o.Name, v)
		}
		again, err := tenon.Try(func() []tenon.Value { return tenon.Must(op.Do(o, narrowed(args)...)) })
		switch {
		case err != nil && !strings.Contains(err.Error(), "int32"):
			t.Fatalf("%s of %v with int32 splits: %v", o.Name, args, err)
		case err == nil:
			for i, v := range out {
				alike(t, o.Name, v, again[i])
			}
		}
	})
}

// narrowed returns arguments of which the ragged tensors have splits of the other type: most
// calls on few elements are answered by other code then.
func narrowed(args []any) []any {
	out := slices.Clone(args)
	for i, a := range args {
		switch a := a.(type) {
		case *ragged.Tensor:
			out[i] = narrow(a)
		case []tenon.Value:
			list := slices.Clone(a)
			for j, v := range list {
				list[j] = narrow(v)
			}
			out[i] = list
		case *masked.Tensor:
			out[i] = narrow(a)
		}
	}
	return out
}

func narrow(v tenon.Value) tenon.Value {
	switch v := v.(type) {
	case *ragged.Tensor:
		d := dtype.Int32
		if v.Partition().DType() == d {
			d = dtype.Int64
		}
		if y, err := v.WithSplitsDType(d); err == nil {
			return y
		}
	case *masked.Tensor:
		return tenon.Must(masked.New(narrow(v.Values()).(T), narrow(v.Mask()).(T)))
	}
	return v
}

// alike fails unless two values are the same but for the type of splits and what is known
// to be uniform.
func alike(t *testing.T, what string, x, y tenon.Value) {
	t.Helper()
	switch x := x.(type) {
	case *masked.Tensor:
		if m, ok := y.(*masked.Tensor); ok {
			alike(t, what, x.Mask(), m.Mask())
			a, err := ragged.BooleanMask(x.Values(), x.Mask())
			b, err2 := ragged.BooleanMask(m.Values(), m.Mask())
			if err == nil && err2 == nil { // of rows that may be missing, the elements may be too
				alike(t, what, a, b)
			}
			return
		}
	case *ragged.Tensor:
		if r, ok := y.(*ragged.Tensor); ok && x.RaggedRank() == r.RaggedRank() && hugeRows(x) == hugeRows(r) {
			if hugeRows(x) {
				return
			}
			for i, p := range x.Partitions() {
				alike(t, what, ops.Cast(p.RowSplits(), dtype.Int64), ops.Cast(r.Partitions()[i].RowSplits(), dtype.Int64))
			}
			alike(t, what, x.FlatValues(), r.FlatValues())
			return
		}
	case T:
		if d, ok := y.(T); ok && x.DType() != d.DType() && x.DType().IsInteger() && d.DType().IsInteger() { // splits or lengths
			x, y = ops.Cast(x, dtype.Int64), ops.Cast(d, dtype.Int64)
		}
		if d, ok := y.(T); ok && x.DType() == d.DType() && x.Shape().Equal(d.Shape()) {
			if tensor.Equal(x, d, tensor.EqualOptions{NaN: true}) || x.DType().IsFloat() && nearly(x, d) {
				return
			}
		}
	default:
		return
	}
	t.Fatalf("%s: got %v, and %v with splits of another type", what, x, y)
}

// nearly reports whether numbers are the same but for the order in which they were added.
func nearly(x, y T) bool {
	a, b := tensor.Data[float64](ops.Cast(x, dtype.Float64)), tensor.Data[float64](ops.Cast(y, dtype.Float64))
	for i := range a {
		if a[i] != b[i] && !(math.Abs(a[i]-b[i]) <= 1e-4*max(math.Abs(a[i]), math.Abs(b[i]), 1)) && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			return false
		}
	}
	return true
}

func hugeRows(x *ragged.Tensor) bool {
	for _, p := range x.Partitions() {
		if p.StaticNRows() > 1<<20 {
			return true
		}
	}
	return false
}

// whole fails unless the parts of a value fit each other.
func whole(t *testing.T, what string, v tenon.Value) {
	t.Helper()
	switch v := v.(type) {
	case *masked.Tensor:
		whole(t, what, v.Values())
		whole(t, what, v.Mask())
	case *ragged.Tensor:
		n := -1
		for _, p := range v.Partitions() {
			if rows := p.StaticNRows(); rows > 1<<20 { // of nothing
				if n >= 0 && rows != n || !p.IsUniform() {
					t.Fatalf("%s: %d rows for %d values above", what, rows, n)
				}
				n = rows * p.StaticUniformRowLength()
				continue
			}
			splits, err := rows.Entries(p.RowSplits().(*tensor.Dense))
			if err != nil {
				t.Fatalf("%s: row splits %v: %v", what, p.RowSplits(), err)
			}
			if n >= 0 && len(splits)-1 != n {
				t.Fatalf("%s: %d rows for %d values above", what, len(splits)-1, n)
			}
			n = int(splits[len(splits)-1])
		}
		if m := v.FlatValues().Shape().Dim(0); m != n {
			t.Fatalf("%s: the partitions have %d values, there are %d", what, n, m)
		}
		if !v.Shape().CompatibleWith(v.Spec().(*ragged.Spec).Shape()) {
			t.Fatalf("%s: the shape is %v, the Spec's %v", what, v.Shape(), v.Spec())
		}
		_ = v.String()
	case tensor.Tensor:
		if _, ok := op.Known(v); !ok {
			t.Fatalf("%s: got a %T", what, v)
		}
	}
}
