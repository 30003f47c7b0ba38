package gostruct

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/structured/internal/gotype"
	"github.com/tenonml/tenon/tensor"
)

// A readFunc writes entries first, first+1, … of a column to n Go values, the first of which is at
// base, with stride bytes between them.
type readFunc func(base unsafe.Pointer, stride uintptr, first, n int)

// fieldPlace is the field being read, for errors.
type fieldPlace struct {
	fn   string
	path []string
}

func (p *fieldPlace) field(name string) *fieldPlace {
	return &fieldPlace{p.fn, append(slices.Clone(p.path), name)}
}

func (p *fieldPlace) fail(kind error, row int, format string, args ...any) {
	where := structured.PathString(p.path)
	if row >= 0 {
		where += fmt.Sprintf("[%d]", row)
	}
	tenon.Throw(&tenon.Error{Kind: kind, Op: p.fn, Where: where, Msg: fmt.Sprintf(format, args...), Line: source.Line()})
}

// readerOf returns a function that reads entries of a column into values of a
// plan's type.
func readerOf(p *gotype.Plan, v tensor.Tensor, at *fieldPlace) readFunc {
	if d, ok := v.(*structured.Dictionary); ok {
		v = d.Decode()
	}
	if p.Form == gotype.Optional {
		return optionalReader(p, v, at)
	}
	if m, ok := v.(*structured.Map); ok && p.Form == gotype.Map {
		v = m.Entries()
	}
	if values, mask := there(v); mask != nil {
		has := elementsAs[bool](mask, at)
		if p.Form == gotype.List || p.Form == gotype.Map {
			return someOf(has, readerOf(p, values, at))
		}
		for i, ok := range has {
			if !ok {
				at.fail(tenon.ErrInvalid, i, "is missing, and %v is not a pointer", p.Type)
			}
		}
		return readerOf(p, values, at)
	}
	if e, ok := v.(element.Tensor); ok {
		v = storedFor(p, e)
	}
	switch p.Form {
	case gotype.Text, gotype.Bytes:
		return textReader(p, v, at)
	case gotype.Time:
		data := elementsAs[int64](exactly(v, dtype.Int64, at), at)
		return func(base unsafe.Pointer, stride uintptr, first, n int) {
			for i, ns := range data[first : first+n] {
				var t time.Time
				if ns != noTime {
					t = time.Unix(0, ns).UTC()
				}
				*(*time.Time)(step(base, stride, i)) = t
			}
		}
	case gotype.Record:
		return recordReader(p, v, at)
	case gotype.List, gotype.Map:
		return listReader(p, v, at)
	case gotype.Array:
		return arrayReader(p, v, at)
	}
	return numericOf(p.Type).reader(v, at)
}

// storedFor returns elements in the form from which a Go type is read: their texts for a string,
// nanoseconds for times and durations, and numbers for others.
func storedFor(p *gotype.Plan, e element.Tensor) tensor.Tensor {
	switch {
	case p.Form == gotype.Text:
		return tenon.Must(element.Texts(e))
	case p.Form == gotype.Time:
		x := tensor.Tensor(e)
		if e.Type.Kind == element.Date {
			x = tenon.Must(element.To(x, element.TimestampOf(time.Second, "")))
		}
		if t, _ := element.TypeOf(x); t.Kind == element.Timestamp && t.Zone == "" {
			x = tenon.Must(element.Localize(x, "UTC"))
		}
		return tenon.Must(element.Stored(tenon.Must(element.To(x, timeType))))
	case p.Type == reflect.TypeFor[time.Duration]():
		return tenon.Must(element.Stored(tenon.Must(element.To(e, durationType))))
	case e.Type.Kind == element.Decimal:
		return ops.Cast(e, dtype.Float64)
	}
	return tenon.Must(element.Stored(e))
}

func recordReader(p *gotype.Plan, v tensor.Tensor, at *fieldPlace) readFunc {
	t, ok := v.(*structured.Tensor)
	if !ok || t.Rank() != 1 {
		at.fail(tenon.ErrDType, -1, "is %s, want records for %v", tenon.String(v.Spec()), p.Type)
	}
	type reading struct {
		offset uintptr
		read   readFunc
	}
	var fields []reading
	for _, f := range p.Fields {
		v, err := t.Field(f.Name)
		if err != nil && f.Plan.Form == gotype.Optional {
			continue // a nil pointer
		}
		if err != nil {
			at.field(f.Name).fail(tenon.ErrNotFound, -1, "the records have no such field, but %q", t.FieldNames())
		}
		fields = append(fields, reading{f.Offset, readerOf(f.Plan, v, at.field(f.Name))})
	}
	return func(base unsafe.Pointer, stride uintptr, first, n int) {
		for i := 0; i < n; i += blockRows {
			k := min(blockRows, n-i)
			for _, f := range fields {
				f.read(unsafe.Add(base, uintptr(i)*stride+f.offset), stride, first+i, k)
			}
		}
	}
}

// stringsOf returns a column of strings.
func stringsOf(p *gotype.Plan, v tensor.Tensor, at *fieldPlace) *tensor.Strings {
	if v.DType() != dtype.String || v.Shape().Rank() != 1 {
		at.fail(tenon.ErrDType, -1, "is %s, want strings for %v", tenon.String(v.Spec()), p.Type)
	}
	k, ok := op.Known(v)
	s, ok2 := k.(*tensor.Strings)
	if !ok || !ok2 {
		at.fail(tenon.ErrUnsupported, -1, "is symbolic: there are no elements to read")
	}
	return s
}

func textReader(p *gotype.Plan, v tensor.Tensor, at *fieldPlace) readFunc {
	s := stringsOf(p, v, at)
	offsets := s.Offsets()
	if p.Form == gotype.Bytes {
		return func(base unsafe.Pointer, stride uintptr, first, n int) {
			for i := first; i < first+n; i++ {
				*(*[]byte)(step(base, stride, i-first)) = slices.Clone(s.Buffer()[offsets[i]:offsets[i+1]])
			}
		}
	}
	// The strings of a column are slices of one string.
	all := string(s.Buffer())
	return func(base unsafe.Pointer, stride uintptr, first, n int) {
		for i := first; i < first+n; i++ {
			*(*string)(step(base, stride, i-first)) = all[offsets[i]:offsets[i+1]]
		}
	}
}

// bytesReader reads strings whose length is that of an array.
func bytesReader(p *gotype.Plan, v tensor.Tensor, at *fieldPlace) readFunc {
	s := stringsOf(p, v, at)
	k := p.Type.Len()
	for i := range s.Len() {
		if n := len(s.At(i)); n != k {
			at.fail(tenon.ErrInvalid, i, "has %d bytes, want %d for %v", n, k, p.Type)
		}
	}
	return func(base unsafe.Pointer, stride uintptr, first, n int) {
		for i := first; i < first+n; i++ {
			copy(unsafe.Slice((*byte)(step(base, stride, i-first)), k), s.At(i))
		}
	}
}

func optionalReader(p *gotype.Plan, v tensor.Tensor, at *fieldPlace) readFunc {
	v, mask := there(v)
	read := readerOf(p.Elem, v, at)
	one := func(base unsafe.Pointer, stride uintptr, first, n int) {
		for i := first; i < first+n; i++ {
			x := reflect.New(p.Elem.Type).UnsafePointer()
			read(x, 0, i, 1)
			*(*unsafe.Pointer)(step(base, stride, i-first)) = x
		}
	}
	if mask == nil {
		return one
	}
	return someOf(elementsAs[bool](mask, at), one)
}

// someOf reads the present entries in runs, and leaves nil for the others.
func someOf(there []bool, read readFunc) readFunc {
	return func(base unsafe.Pointer, stride uintptr, first, n int) {
		for i := 0; i < n; {
			k := i
			for k < n && there[first+k] {
				k++
			}
			if k > i {
				read(step(base, stride, i), stride, first+i, k-i)
			}
			i = k + 1
		}
	}
}

func listReader(p *gotype.Plan, v tensor.Tensor, at *fieldPlace) readFunc {
	if r := v.Shape().Rank(); r < 2 {
		at.fail(tenon.ErrDType, -1, "is %s, want lists for %v", tenon.String(v.Spec()), p.Type)
	}
	below, splits := divided(v, at)
	read := readerOf(p.Elem, below, at)
	size := p.Elem.Type.Size()
	return func(base unsafe.Pointer, stride uintptr, first, n int) {
		var all reflect.Value
		if n > 0 && p.Form == gotype.List {
			// Adjacent slices share memory; each is limited to its own part.
			total := int(splits[first+n] - splits[first])
			all = reflect.MakeSlice(reflect.SliceOf(p.Elem.Type), total, total)
			if total > 0 {
				read(all.UnsafePointer(), size, int(splits[first]), total)
			}
		}
		for i := first; i < first+n; i++ {
			lo, hi := int(splits[i]), int(splits[i+1])
			dst := reflect.NewAt(p.Type, step(base, stride, i-first)).Elem()
			if p.Form == gotype.List {
				a, b := lo-int(splits[first]), hi-int(splits[first])
				dst.Set(all.Slice3(a, b, b).Convert(p.Type))
			} else {
				m := reflect.MakeMapWithSize(p.Type, hi-lo)
				for k := lo; k < hi; k++ {
					entry := reflect.New(p.Elem.Type)
					read(entry.UnsafePointer(), 0, k, 1)
					m.SetMapIndex(entry.Elem().Field(0), entry.Elem().Field(1))
				}
				dst.Set(m)
			}
		}
	}
}

// divided returns the elements of lists, concatenated, and the row splits that divide them.
func divided(v tensor.Tensor, at *fieldPlace) (below tensor.Tensor, splits []int64) {
	below, part, err := structured.Undivide(v)
	tenon.Throw(err)
	return below, elementsAs[int64](ops.Cast(part.RowSplits(), dtype.Int64), at)
}

func arrayReader(p *gotype.Plan, v tensor.Tensor, at *fieldPlace) readFunc {
	k := p.Type.Len()
	if v.DType() == dtype.String && p.Type.Elem().Kind() == reflect.Uint8 {
		return bytesReader(p, v, at)
	}
	if v.Shape().Rank() < 2 {
		at.fail(tenon.ErrDType, -1, "is %s, want %d values for %v", tenon.String(v.Spec()), k, p.Type)
	}
	below, splits := divided(v, at)
	for i := 1; i < len(splits); i++ {
		if n := int(splits[i] - splits[i-1]); n != k {
			at.fail(tenon.ErrInvalid, i-1, "is a list of %d, want %d for %v", n, k, p.Type)
		}
	}
	read := readerOf(p.Elem, below, at)
	size := p.Elem.Type.Size()
	return func(base unsafe.Pointer, stride uintptr, first, n int) {
		for i := first; i < first+n && k > 0; i++ {
			read(step(base, stride, i-first), size, i*k, k)
		}
	}
}

func (numbers[T]) reader(v tensor.Tensor, at *fieldPlace) readFunc {
	data := elementsAs[T](exactly(v, dtype.Of[T](), at), at)
	return func(base unsafe.Pointer, stride uintptr, first, n int) {
		src := data[first : first+n]
		if stride == unsafe.Sizeof(*new(T)) {
			copy(unsafe.Slice((*T)(base), n), src)
			return
		}
		for i, x := range src {
			*(*T)(step(base, stride, i)) = x
		}
	}
}

// elementsAs returns the elements of a column, flat.
func elementsAs[T native](v tensor.Tensor, at *fieldPlace) []T {
	k, ok := op.Known(v)
	if !ok {
		at.fail(tenon.ErrUnsupported, -1, "is symbolic: there are no elements to read")
	}
	d, ok := k.(*tensor.Dense)
	if !ok {
		at.fail(tenon.ErrDType, -1, "is %s, not numbers", tenon.String(v.Spec()))
	}
	return tensor.Elems[T](tensor.Contiguous(d))
}

// exactly converts a column to an element type, which must be able to hold each
// of its values.
func exactly(v tensor.Tensor, d dtype.DType, at *fieldPlace) tensor.Tensor {
	have := v.DType()
	if v.Shape().Rank() != 1 || have == dtype.None || have == dtype.String || (have == dtype.Bool) != (d == dtype.Bool) || have.IsComplex() && !d.IsComplex() {
		at.fail(tenon.ErrDType, -1, "is %s, want %v", tenon.String(v.Spec()), d)
	}
	if have == d {
		return v
	}
	to := ops.Cast(v, d)
	same := ops.Equal(ops.Cast(to, have), v)
	switch {
	case d.IsFloat() && have.IsFloat():
		same = ops.LogicalOr(same, ops.NotEqual(v, v)) // NaN stays NaN
	case d.IsInteger() && have.IsInteger():
		same = ops.LogicalAnd(same, ops.Equal(ops.Less(to, 0), ops.Less(v, 0))) // no wrapping
	case d.IsInteger() && have.IsFloat():
		same = ops.LogicalAnd(same, ops.Less(ops.Cast(v, dtype.Float64), math.Ldexp(1, 63))) // no saturation
	}
	for i, ok := range elementsAs[bool](same, at) {
		if !ok {
			at.fail(tenon.ErrInvalid, i, "is %v, which %v cannot hold exactly", ops.Index(v, i), d)
		}
	}
	return to
}

// there returns the entries of a column, and the mask that says which of them are present, or nil
// if all are. What is missing inside the entries stays missing.
func there(v tensor.Tensor) (values, mask tensor.Tensor) {
	m, ok := v.(masked.Optional)
	if !ok || m.Mask().Shape().Rank() > 1 {
		return v, nil
	}
	return m.Values(), m.Mask()
}
