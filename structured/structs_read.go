package structured

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A readFunc writes entries first, first+1, … of a column to n Go values, the first at
// base and each other stride bytes on.
type readFunc func(base unsafe.Pointer, stride uintptr, first, n int)

// fieldPlace is the field that is read, for errors.
type fieldPlace struct {
	fn   string
	path []string
}

func (p *fieldPlace) field(name string) *fieldPlace {
	return &fieldPlace{p.fn, append(slices.Clone(p.path), name)}
}

func (p *fieldPlace) fail(kind error, row int, format string, args ...any) {
	where := PathString(p.path)
	if row >= 0 {
		where = place(p.path, row)
	}
	tenon.Throw(&tenon.Error{Kind: kind, Op: p.fn, Where: where, Msg: fmt.Sprintf(format, args...), Line: source.Line()})
}

// reader returns what reads entries of a column into values of a plan's type.
func (p *plan) reader(v tensor.Tensor, at *fieldPlace) readFunc {
	if d, ok := v.(*Dictionary); ok {
		v = d.Decode()
	}
	if p.form == optionalForm {
		return p.optional(v, at)
	}
	if m, ok := v.(*Map); ok && p.form == mapForm {
		v = m.Entries()
	}
	if values, mask := there(v); mask != nil {
		has := elementsAs[bool](mask, at)
		if p.form == listForm || p.form == mapForm {
			return someOf(has, p.reader(values, at))
		}
		for i, ok := range has {
			if !ok {
				at.fail(tenon.ErrInvalid, i, "is missing, and %v is no pointer", p.typ)
			}
		}
		return p.reader(values, at)
	}
	switch p.form {
	case textForm, bytesForm:
		return p.text(v, at)
	case timeForm:
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
	case recordForm:
		return p.record(v, at)
	case listForm, mapForm:
		return p.list(v, at)
	case arrayForm:
		return p.array(v, at)
	}
	return p.num.reader(v, at)
}

func (p *plan) record(v tensor.Tensor, at *fieldPlace) readFunc {
	t, ok := v.(*Tensor)
	if !ok || t.rank != 1 {
		at.fail(tenon.ErrDType, -1, "is %s, want records for %v", tenon.String(v.Spec()), p.typ)
	}
	type reading struct {
		offset uintptr
		read   readFunc
	}
	var fields []reading
	for _, f := range p.fields {
		k := t.find(f.name)
		if k < 0 && f.plan.form == optionalForm {
			continue // a nil pointer
		}
		if k < 0 {
			at.field(f.name).fail(tenon.ErrNotFound, -1, "the records have no such field, but %q", t.FieldNames())
		}
		fields = append(fields, reading{f.offset, f.plan.reader(t.cols[k].v(), at.field(f.name))})
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

func (p *plan) text(v tensor.Tensor, at *fieldPlace) readFunc {
	if v.DType() != dtype.String || v.Shape().Rank() != 1 {
		at.fail(tenon.ErrDType, -1, "is %s, want strings for %v", tenon.String(v.Spec()), p.typ)
	}
	k, ok := op.Known(v)
	s, ok2 := k.(*tensor.Strings)
	if !ok || !ok2 {
		at.fail(tenon.ErrUnsupported, -1, "is symbolic: there are no elements to read")
	}
	offsets := s.Offsets()
	if p.form == bytesForm {
		return func(base unsafe.Pointer, stride uintptr, first, n int) {
			for i := first; i < first+n; i++ {
				*(*[]byte)(step(base, stride, i-first)) = slices.Clone(s.Buffer()[offsets[i]:offsets[i+1]])
			}
		}
	}
	// All strings of a column are parts of one.
	all := string(s.Buffer())
	return func(base unsafe.Pointer, stride uintptr, first, n int) {
		for i := first; i < first+n; i++ {
			*(*string)(step(base, stride, i-first)) = all[offsets[i]:offsets[i+1]]
		}
	}
}

func (p *plan) optional(v tensor.Tensor, at *fieldPlace) readFunc {
	v, mask := there(v)
	read := p.elem.reader(v, at)
	one := func(base unsafe.Pointer, stride uintptr, first, n int) {
		for i := first; i < first+n; i++ {
			x := reflect.New(p.elem.typ).UnsafePointer()
			read(x, 0, i, 1)
			*(*unsafe.Pointer)(step(base, stride, i-first)) = x
		}
	}
	if mask == nil {
		return one
	}
	return someOf(elementsAs[bool](mask, at), one)
}

// someOf reads entries that are there, run by run, and leaves nil for the others.
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

func (p *plan) list(v tensor.Tensor, at *fieldPlace) readFunc {
	if r := v.Shape().Rank(); r < 2 {
		at.fail(tenon.ErrDType, -1, "is %s, want lists for %v", tenon.String(v.Spec()), p.typ)
	}
	below, ends := elementsOf(v)
	splits := elementsAs[int64](ends, at)
	read := p.elem.reader(below, at)
	size := p.elem.typ.Size()
	return func(base unsafe.Pointer, stride uintptr, first, n int) {
		var all reflect.Value
		if n > 0 && p.form == listForm {
			// The slices of neighbours share memory and end where the next begins.
			total := int(splits[first+n] - splits[first])
			all = reflect.MakeSlice(reflect.SliceOf(p.elem.typ), total, total)
			if total > 0 {
				read(all.UnsafePointer(), size, int(splits[first]), total)
			}
		}
		for i := first; i < first+n; i++ {
			lo, hi := int(splits[i]), int(splits[i+1])
			dst := reflect.NewAt(p.typ, step(base, stride, i-first)).Elem()
			if p.form == listForm {
				a, b := lo-int(splits[first]), hi-int(splits[first])
				dst.Set(all.Slice3(a, b, b).Convert(p.typ))
			} else {
				m := reflect.MakeMapWithSize(p.typ, hi-lo)
				for k := lo; k < hi; k++ {
					entry := reflect.New(p.elem.typ)
					read(entry.UnsafePointer(), 0, k, 1)
					m.SetMapIndex(entry.Elem().Field(0), entry.Elem().Field(1))
				}
				dst.Set(m)
			}
		}
	}
}

func (p *plan) array(v tensor.Tensor, at *fieldPlace) readFunc {
	k := p.typ.Len()
	if v.Shape().Rank() < 2 {
		at.fail(tenon.ErrDType, -1, "is %s, want %d values for %v", tenon.String(v.Spec()), k, p.typ)
	}
	below, ends := elementsOf(v)
	splits := elementsAs[int64](ends, at)
	for i := 1; i < len(splits); i++ {
		if n := int(splits[i] - splits[i-1]); n != k {
			at.fail(tenon.ErrInvalid, i-1, "is a list of %d, want %d for %v", n, k, p.typ)
		}
	}
	read := p.elem.reader(below, at)
	size := p.elem.typ.Size()
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
func elementsAs[T element](v tensor.Tensor, at *fieldPlace) []T {
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

// exactly converts a column to an element type, if that holds each of its values.
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
			at.fail(tenon.ErrInvalid, i, "is %v, which no %v holds exactly", ops.Index(v, i), d)
		}
	}
	return to
}
