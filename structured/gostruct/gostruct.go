package gostruct

import (
	"fmt"
	"reflect"
	"runtime"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/structured/internal/gotype"
	"github.com/tenonml/tenon/tensor"
)

// From returns a list of Go structs as records. A field has the name in its json tag, if any, or
// its own; fields with the tag "-" and unexported fields are omitted. The fields of an embedded
// struct without a tag become fields of the record. How to read a type is planned once and cached.
//
//	numbers, booleans, strings        scalars; int and uint become int64 and uint64
//	[]byte                            a string
//	time.Time                         a timestamp of package element: nanoseconds since 1970 UTC, or math.MinInt64 for the zero Time
//	time.Duration                     a duration of package element, in nanoseconds
//	a struct                          a record
//	[]T                               a list, ragged
//	[n]T                              n values: an axis
//	[16]byte                          a UUID of package element, as the types of packages for UUIDs are
//	*T                                an optional value, as of package masked
//	map[K]V                           a [structured.Map], in the order of the keys: strings, numbers, booleans, times, UUIDs
//
// A type that contains itself, or is not in this table, is an error of kind tenon.ErrUnsupported
// that names the field.
func From[T any](rows []T) (t *structured.Tensor, err error) {
	defer tenon.Catch(&err)
	b := newStructWriter("gostruct.From", reflect.TypeFor[T](), len(rows))
	b.append(unsafe.Pointer(unsafe.SliceData(rows)), len(rows))
	runtime.KeepAlive(rows)
	return b.tensor(), nil
}

// SpecOf returns the Spec of the records that [From] makes from any number of
// values of a type.
func SpecOf[T any]() (s *structured.Spec, err error) {
	defer tenon.Catch(&err)
	w := newStructWriter("gostruct.SpecOf", reflect.TypeFor[T](), 0)
	row := tenon.Must(w.tensor().Spec().(*structured.Spec).Unbatched())
	list := tenon.Must(row.(*structured.Spec).Batched(shape.Unknown))
	return list.(*structured.Spec), nil
}

// To returns records as Go structs. It is the inverse of [From]. A column with another number type
// than that of the Go field is converted if the field can hold all of its values exactly; [n]byte
// accepts strings and elements of n bytes. Fields that only the records have are ignored. A field
// that only the struct has is left nil if it is a pointer, and is otherwise an error of kind
// tenon.ErrNotFound. A missing value becomes a nil pointer, slice or map, and is an error for any
// other field.
func To[T any](t *structured.Tensor) (rows []T, err error) {
	defer tenon.Catch(&err)
	const fn = "gostruct.To"
	at := &fieldPlace{fn: fn}
	if t.Rank() != 1 {
		at.fail(tenon.ErrInvalid, -1, "the records have rank %d, want a list of records", t.Rank())
	}
	count, ok := op.Known(t.NRows())
	if !ok {
		at.fail(tenon.ErrUnsupported, -1, "the tensor is symbolic: its records do not exist while a function is traced")
	}
	n := int(tensor.Item[int64](ops.Cast(count, dtype.Int64)))
	p := tenon.Must(gotype.Of(fn, reflect.TypeFor[T]()))
	read := readerOf(p, t, at)
	rows = make([]T, n)
	read(unsafe.Pointer(unsafe.SliceData(rows)), unsafe.Sizeof(*new(T)), 0, n)
	return rows, nil
}

// A Builder makes records from Go structs that are added one after another. The zero value is not
// ready to use; see [NewBuilder].
type Builder[T any] struct{ w *structWriter }

// NewBuilder returns a Builder for the records that [From] makes.
func NewBuilder[T any]() (b *Builder[T], err error) {
	defer tenon.Catch(&err)
	return &Builder[T]{newStructWriter("gostruct.Builder", reflect.TypeFor[T](), 0)}, nil
}

// Append adds rows. A value that no column can hold, such as a time that is out of range, is an
// error that names it; a zero is stored instead.
func (b *Builder[T]) Append(rows ...T) (err error) {
	defer tenon.Catch(&err)
	b.w.append(unsafe.Pointer(unsafe.SliceData(rows)), len(rows))
	runtime.KeepAlive(rows)
	return nil
}

// Len returns the number of rows since the last Build.
func (b *Builder[T]) Len() int { return b.w.n }

// Build returns the rows so far and resets the Builder.
func (b *Builder[T]) Build() (t *structured.Tensor, err error) {
	defer tenon.Catch(&err)
	t = b.w.tensor()
	b.w = newStructWriter(b.w.fn, b.w.plan.Type, 0)
	return t, nil
}

// structWriter collects records of one struct type.
type structWriter struct {
	fn   string
	plan *gotype.Plan
	w    *recordWriter
	n    int
}

func newStructWriter(fn string, t reflect.Type, n int) *structWriter {
	p := tenon.Must(gotype.Of(fn, t))
	w := writerOf(p).(*recordWriter)
	w.reserve(n)
	return &structWriter{fn: fn, plan: p, w: w}
}

// blockRows is the number of structs that are read at a time, chosen so that a block stays in the
// first-level cache while its fields are read one by one.
const blockRows = 256

func (b *structWriter) append(base unsafe.Pointer, n int) {
	size := b.plan.Type.Size()
	for i := 0; i < n; i += blockRows {
		k := min(blockRows, n-i)
		if err := b.w.write(unsafe.Add(base, uintptr(i)*size), size, k); err != nil {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: b.fn, Where: fmt.Sprintf("%s[%d]", err.field, b.n+i+err.row), Msg: err.msg, Line: source.Line()})
		}
	}
	b.n += n
}

func (b *structWriter) tensor() *structured.Tensor { return b.w.column().(*structured.Tensor) }
