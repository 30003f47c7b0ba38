package ragged_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// script reads decisions and numbers from a fuzzer's bytes; at their end it gives
// zeros.
type script struct{ b []byte }

func (s *script) next() int {
	if len(s.b) == 0 {
		return 0
	}
	x := s.b[0]
	s.b = s.b[1:]
	return int(x)
}

// number is small most of the time, and otherwise anything.
func (s *script) number() int64 {
	x := s.next()
	if x < 0xf0 || len(s.b) < 8 {
		return int64(int8(x<<3) >> 3)
	}
	n := int64(binary.LittleEndian.Uint64(s.b))
	s.b = s.b[8:]
	if n > 1<<16 && n < 1<<50 { // large but possible sizes only take time
		n |= 1 << 60
	}
	return n
}

func (s *script) numbers() []int64 {
	out := make([]int64, s.next()%8)
	for i := range out {
		out[i] = s.number()
	}
	return out
}

// encoded is a tensor of n values with hostile rows, and what they should be; false
// where the encoding is no partition.
func (s *script) encoded(values T, n int) (t *ragged.Tensor, rows [][2]int64, valid bool, err error) {
	x := s.numbers()
	var enc any = x
	if s.next()%4 == 0 {
		small := make([]int32, len(x))
		for i, v := range x {
			small[i] = int32(v)
			x[i] = int64(small[i])
		}
		enc = small
	}
	end := int64(n)
	var splits []int64
	switch s.next() % 6 {
	case 0:
		t, err = ragged.FromRowSplits(values, enc)
		splits = x
	case 1:
		t, err = ragged.FromRowLengths(values, enc)
		splits = []int64{0}
		at := int64(0)
		for _, l := range x {
			if l < 0 || l > end-at {
				return t, nil, false, err
			}
			at += l
			splits = append(splits, at)
		}
	case 2:
		t, err = ragged.FromRowStarts(values, enc)
		splits = append(slices.Clone(x), end)
	case 3:
		t, err = ragged.FromRowLimits(values, enc)
		splits = append([]int64{0}, x...)
	case 4:
		nrows := s.number()
		t, err = ragged.FromValueRowIDs(values, enc, nrows)
		if nrows < 0 || len(x) != n || nrows > 1<<20 {
			return t, nil, err == nil && nrows > 1<<20, err
		}
		splits = make([]int64, nrows+1)
		for i, id := range x {
			if id < 0 || id >= nrows || i > 0 && id < x[i-1] {
				return t, nil, false, err
			}
			splits[id+1]++
		}
		for r := range nrows {
			splits[r+1] += splits[r]
		}
	default:
		length, nrows := s.number(), s.number()
		t, err = ragged.FromUniformRowLength(values, length, nrows)
		if length < 0 || nrows < 0 || nrows > 1<<20 || length*nrows != end || length != 0 && length*nrows/length != nrows {
			return t, nil, err == nil && length == 0 && nrows > 1<<20 && end == 0, err
		}
		for r := range nrows + 1 {
			splits = append(splits, r*length)
		}
	}
	if len(splits) == 0 || splits[0] != 0 || splits[len(splits)-1] != end || !slices.IsSorted(splits) {
		return t, nil, false, err
	}
	for r := range splits[1:] {
		rows = append(rows, [2]int64{splits[r], splits[r+1]})
	}
	return t, rows, true, err
}

// refused fails unless err is one of ours that says what is wrong.
func refused(t *testing.T, what string, err error) {
	t.Helper()
	var e *tenon.Error
	if !errors.As(err, &e) || e.Msg == "" && e.Err == nil {
		t.Fatalf("%s: got the error %v, want a *tenon.Error that says what is wrong", what, err)
	}
}

// lists cuts a list into rows.
func lists(values []any, rows [][2]int64) []any {
	out := []any{}
	for _, r := range rows {
		out = append(out, append([]any{}, values[r[0]:r[1]]...))
	}
	return out
}

func FuzzPartitions(f *testing.F) {
	f.Add([]byte{5, 4, 0, 2, 2, 5, 1, 0})
	f.Add([]byte{3, 3, 2, 0, 1, 1, 1, 2, 0, 1, 1, 1})
	f.Add([]byte{0, 0, 1, 5, 0, 4})
	f.Add([]byte{4, 2, 0xff, 1, 2, 3, 4, 5, 6, 7, 8, 0xf8, 255, 255, 255, 255, 255, 255, 255, 255, 0, 3})
	f.Add([]byte{6, 3, 0, 3, 6, 1, 0, 3, 0, 1, 2, 1, 0, 1, 3, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &script{b}
		n := s.next() % 8
		numbers := make([]int64, n)
		elems := make([]any, n)
		for i := range numbers {
			numbers[i], elems[i] = int64(i), int64(i)
		}
		x, rows, valid, err := s.encoded(tensor.Of(numbers), n)
		if err != nil {
			refused(t, "construction", err)
			if valid {
				t.Fatalf("rows %v of %d values are refused: %v", rows, n, err)
			}
			return
		}
		if !valid {
			t.Fatalf("what is no partition is accepted: %v", x.Spec())
		}
		if x.Partition().StaticNRows() > 1<<16 {
			return
		}
		want := lists(elems, rows)
		same(t, "rows", want, x)
		if s.next()%2 == 1 {
			y, outer, valid, err := s.encoded(x, len(rows))
			if err != nil {
				refused(t, "construction of rows of rows", err)
				return
			}
			if !valid || y.Partition().StaticNRows() > 1<<16 {
				return
			}
			x, want = y, lists(want, outer)
			same(t, "rows of rows", want, x)
		}
		indexed(t, s, x, want)
		converted(t, x)
	})
}

func same(t *testing.T, what string, want []any, x *ragged.Tensor) {
	t.Helper()
	if d := cmp.Diff(want, tenon.Must(x.Nested())); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
	for _, p := range x.Partitions() { // every encoding can be asked for
		_ = fmt.Sprint(p.RowLengths(), p.ValueRowIDs(), p.OffsetsInRows(), p.NVals(), p)
	}
	_ = x.String()
}

// pick is what a key does to a list.
type pick struct {
	drops bool // the dimension
	f     func(l []any) (any, bool)
}

// indexed compares indexing with that of nested lists.
func indexed(t *testing.T, s *script, x *ragged.Tensor, want []any) {
	var keys []any
	var model []pick
	for range 1 + s.next()%3 {
		switch s.next() % 4 {
		case 0:
			i := int(s.number())
			keys = append(keys, i)
			model = append(model, pick{true, func(l []any) (any, bool) { return at(l, i) }})
		case 1:
			lo, hi, step := bound(s), bound(s), bound(s)
			keys = append(keys, key.Range(lo, hi, step))
			model = append(model, pick{false, func(l []any) (any, bool) { return span(l, lo, hi, step) }})
		case 2:
			idx := s.numbers()
			keys = append(keys, tensor.Of(idx))
			model = append(model, pick{false, func(l []any) (any, bool) {
				out := []any{}
				for _, i := range idx {
					e, ok := at(l, int(i))
					if !ok {
						return nil, false
					}
					out = append(out, e)
				}
				return out, true
			}})
		default:
			keys = append(keys, key.All)
			model = append(model, pick{false, func(l []any) (any, bool) { return l, true }})
		}
	}
	got, err := tenon.Try(func() T { return ops.Index(x, keys...) })
	if err != nil {
		refused(t, "indexing", err)
	}
	expect, ok := applied(want, model)
	switch {
	case err == nil && !ok:
		t.Fatalf("x[%v] of %v is %v, want an error", keys, x, got)
	case err != nil && ok && len(keys) == 1:
		t.Fatalf("x[%v] of %v: %v", keys, x, err)
	}
	if r, isRagged := got.(*ragged.Tensor); isRagged && ok {
		if d := cmp.Diff(expect, any(tenon.Must(r.Nested()))); d != "" {
			t.Fatalf("x[%v] of %v (-want +got):\n%s", keys, x, d)
		}
	}
}

func bound(s *script) any {
	if s.next()%3 == 0 {
		return nil
	}
	return int(s.number())
}

func at(l []any, i int) (any, bool) {
	if i < -len(l) || i >= len(l) {
		return nil, false
	}
	if i < 0 {
		i += len(l)
	}
	return l[i], true
}

func span(l []any, lo, hi, step any) (any, bool) {
	first, n, by, _, err := key.Range(lo, hi, step).Span(len(l))
	out := []any{}
	for i := range n {
		out = append(out, l[first+i*by])
	}
	return out, err == nil
}

// applied applies keys to nested lists, each to the dimension that the ones before
// leave.
func applied(x any, keys []pick) (any, bool) {
	if len(keys) == 0 {
		return x, true
	}
	l, ok := x.([]any)
	if !ok {
		return nil, false
	}
	y, ok := keys[0].f(l)
	switch {
	case !ok:
		return nil, false
	case keys[0].drops:
		return applied(y, keys[1:])
	}
	all := []any{}
	for _, e := range y.([]any) {
		z, ok := applied(e, keys[1:])
		if !ok {
			return nil, false
		}
		all = append(all, z)
	}
	return all, true
}

// converted runs everything else that takes a tensor apart.
func converted(t *testing.T, x *ragged.Tensor) {
	if d, err := x.ToDense(ragged.DenseOptions{}); err != nil {
		refused(t, "to dense", err)
	} else if back, err := ragged.FromDense(d, ragged.FromDenseOptions{}); err != nil {
		refused(t, "from dense", err)
	} else if back.Shape().Rank() != x.Shape().Rank() {
		t.Fatalf("from dense has rank %d", back.Shape().Rank())
	}
	if _, _, _, err := x.ToSparse(); err != nil {
		refused(t, "to sparse", err)
	}
	if small, err := x.WithSplitsDType(dtype.Int32); err != nil {
		refused(t, "to int32", err)
	} else if y, err := tenon.Try(func() T { return ops.Add(small, x) }); err != nil {
		t.Fatalf("x + x: %v", err)
	} else {
		same(t, "x + x", tenon.Must(ops.Mul(x, 2).(*ragged.Tensor).Nested()), y.(*ragged.Tensor))
	}
	parts, err := x.Spec().Disassemble(x)
	if err != nil {
		t.Fatal(err)
	}
	if y, err := x.Spec().Assemble(parts); err != nil || !tensor.Equal(x, y, tensor.EqualOptions{}) {
		t.Fatalf("a round trip through the Spec gives %v, %v", y, err)
	}
}
