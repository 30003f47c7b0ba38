package tensor

import (
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// thrown returns what f throws.
func thrown(f func()) error {
	_, err := tenon.Try(func() int { f(); return 0 })
	return err
}

func TestSharing(t *testing.T) {
	data := []int32{1, 2, 3, 4, 5, 6}
	x := Of(data, 2, 3)
	if got := Data[int32](x); &got[0] != &data[0] || cap(got) != len(got) {
		t.Error("Of copies, or Data lets the caller append in place")
	}
	y := x.(*Dense).Reshaped(shape.Of(3, 2))
	if y.Shape().String() != "[3, 2]" || y.Raw() != x.(*Dense).Raw() {
		t.Error("Reshaped copies")
	}
	type id int32
	ids := []id{7}
	if z := Vector(ids); z.DType() != dtype.Int32 || Data[int32](z)[0] != 7 {
		t.Errorf("a named type: %v", z)
	}
	if got := Item[int64](Scalar(5)); got != 5 {
		t.Errorf("an int is %d", got)
	}
}

func TestBuffers(t *testing.T) {
	for _, dt := range dtype.All() {
		if dt == dtype.String {
			continue
		}
		for _, n := range []int{0, 1, 3, 4, 5, 8, 9, 15, 16, 17, 33, 64, 100, 128, 129, 1000} {
			d := NewDense(dt, shape.Of(n))
			b := d.Bytes()
			if cap(b)-len(b) < Slack && len(b) > inline {
				t.Errorf("%v: %d bytes behind the last element", d.Spec(), cap(b)-len(b))
			}
			for i := range b[:cap(b)] { // under the race detector, memory of others would be noticed
				b[:cap(b)][i] = byte(i)
			}
			if d.Len() != n || d.DType() != dt || !d.Shape().Equal(shape.Of(n)) || !d.IsContiguous() {
				t.Errorf("%v of %d elements: filling it changed it", d.Spec(), n)
			}
			if uintptr(d.Raw())%8 != 0 {
				t.Errorf("%v is not aligned", d.Spec())
			}
		}
	}
	s := Of([]string{"a", "bc"}).(*Strings)
	if cap(s.Buffer())-len(s.Buffer()) < Slack || (cap(s.Offsets())-len(s.Offsets()))*8 < Slack {
		t.Error("strings have no slack")
	}
}

func TestViews(t *testing.T) {
	x := Vector([]int16{0, 1, 2, 3, 4, 5}).Reshaped(shape.Of(2, 3))
	for _, c := range []struct {
		name    string
		offset  int
		dims    []int
		strides []int
		want    []int16
		whole   bool // contiguous
	}{
		{"transposed", 0, []int{3, 2}, []int{1, 3}, []int16{0, 3, 1, 4, 2, 5}, false},
		{"reversed", 5, []int{6}, []int{-1}, []int16{5, 4, 3, 2, 1, 0}, false},
		{"a column", 1, []int{2}, []int{3}, []int16{1, 4}, false},
		{"a row", 3, []int{3}, []int{1}, []int16{3, 4, 5}, true},
		{"repeated", 2, []int{3, 2}, []int{0, 0}, []int16{2, 2, 2, 2, 2, 2}, false},
		{"one element", 4, []int{1, 1}, []int{9, 9}, []int16{4}, true},
		{"empty", 0, []int{0, 3}, []int{100, 100}, []int16{}, true},
		{"a scalar", 2, nil, nil, []int16{2}, true},
	} {
		v := x.View(c.offset, shape.Of(c.dims...), c.strides)
		if got := Data[int16](v); !reflect.DeepEqual(append([]int16{}, got...), c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
		if v.IsContiguous() != c.whole {
			t.Errorf("%s: contiguous is %v", c.name, v.IsContiguous())
		}
		if len(c.dims) == 2 && v.Len() > 0 {
			w := v.View(0, shape.Of(c.dims[1], c.dims[0]), []int{v.Strides()[1], v.Strides()[0]})
			u := w.View(0, v.Shape(), []int{w.Strides()[1], w.Strides()[0]})
			if !Equal(u, v, EqualOptions{}) {
				t.Errorf("%s: transposed twice it is %v", c.name, u)
			}
		}
	}
	for name, f := range map[string]func(){
		"too far":         func() { x.View(1, shape.Of(6), []int{1}) },
		"too early":       func() { x.View(0, shape.Of(2), []int{-1}) },
		"strides missing": func() { x.View(0, shape.Of(2), nil) },
		"beyond a view":   func() { x.View(1, shape.Of(2), []int{3}).View(0, shape.Of(2), []int{4}) },
		"an overflow":     func() { x.View(0, shape.Of(3, 3), []int{1 << 62, 1 << 62}) },
		"unknown sizes":   func() { x.View(0, shape.Of(-1), []int{1}) },
		"bytes of gaps":   func() { x.View(0, shape.Of(2), []int{2}).Bytes() },
		"elems of gaps":   func() { Elems[int16](x.View(0, shape.Of(2), []int{2})) },
		"another size":    func() { x.Reshaped(shape.Of(5)) },
		"another type":    func() { Data[int32](x) },
		"nothing":         func() { Data[int32](nil) },
		"many elements":   func() { Item[int16](x) },
		"sizes of Of":     func() { Of([]int{1}, 2) },
		"sizes of Wrap":   func() { Wrap([]int{1}, shape.Of(2)) },
	} {
		var e *tenon.Error
		if err := thrown(f); !errors.As(err, &e) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := thrown(func() { Data[float64](x) }); err == nil || !strings.Contains(err.Error(), "got int16[2, 3], want a dense tensor of float64") || !strings.Contains(err.Error(), "ops.Cast") {
		t.Errorf("got %v", err)
	}
}

// TestContiguousOfViews compares views of every element size with reading
// through the strides.
func TestContiguousOfViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dt := rapid.SampledFrom([]dtype.DType{dtype.Uint8, dtype.Int16, dtype.Float32, dtype.Float64, dtype.Complex128}).Draw(t, "dtype")
		base := NewDense(dt, shape.Of(60))
		for i, b := 0, base.Bytes(); i < len(b); i++ {
			b[i] = byte(i*7 + i>>8)
		}
		rank := rapid.IntRange(0, 3).Draw(t, "rank")
		dims, strides, lo, hi := make([]int, rank), make([]int, rank), 0, 0
		for i := range dims {
			dims[i] = rapid.IntRange(0, 3).Draw(t, "dim")
			strides[i] = rapid.IntRange(-6, 6).Draw(t, "stride")
			if k := (dims[i] - 1) * strides[i]; k < 0 {
				lo += k
			} else {
				hi += k
			}
		}
		v := base.View(rapid.IntRange(-lo, 59-hi).Draw(t, "offset"), shape.Of(dims...), strides)
		got, size := Contiguous(v).Bytes(), dt.Size()
		index := make([]int, rank)
		for i := 0; i < v.Len(); i++ {
			rest := i
			for a := rank - 1; a >= 0; a-- {
				index[a], rest = rest%dims[a], rest/dims[a]
			}
			want := unsafe.Slice((*byte)(unsafe.Add(v.Raw(), offset(index, v.Strides())*size)), size)
			if string(got[i*size:][:size]) != string(want) {
				t.Fatalf("element %d of %v", i, v.Spec())
			}
		}
	})
}

func TestFromBytes(t *testing.T) {
	b := make([]byte, 17)
	binary.LittleEndian.PutUint64(b[1:], 3)
	binary.LittleEndian.PutUint64(b[9:], 4)
	x, err := FromBytes(dtype.Int64, shape.Of(2), b[1:]) // not aligned
	if err != nil || !Equal(x, Of([]int64{3, 4}), EqualOptions{}) {
		t.Errorf("got %v, %v", x, err)
	}
	for _, c := range []struct {
		dt dtype.DType
		s  shape.Shape
		n  int
	}{
		{dtype.Int64, shape.Of(3), 16},
		{dtype.Int64, shape.Of(-1), 16},
		{dtype.String, shape.Of(0), 0},
		{dtype.None, shape.Of(0), 0},
		{dtype.Int8, shape.Of(1<<40, 1<<40), 16},
		{dtype.Int64, shape.UnknownRank, 8},
	} {
		if x, err := FromBytes(c.dt, c.s, b[:c.n]); !errors.Is(err, tenon.ErrShape) {
			t.Errorf("%v%v of %d bytes: %v, %v", c.dt, c.s, c.n, x, err)
		}
	}
}

func TestNewDenseRefusesWhatDoesNotFit(t *testing.T) {
	for _, s := range []shape.Shape{shape.Of(1<<32, 1<<32), shape.Of(1 << 62), shape.Of(-1), shape.UnknownRank} {
		if err := thrown(func() { NewDense(dtype.Float64, s) }); !errors.Is(err, tenon.ErrShape) {
			t.Errorf("%v: %v", s, err)
		}
	}
	if err := thrown(func() { NewDense(dtype.String, shape.Of(1)) }); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("strings: %v", err)
	}
}

func TestStrings(t *testing.T) {
	s := Of([]string{"a", "", "ü\xff"}, 3, 1).(*Strings)
	if got := s.Slice(); !reflect.DeepEqual(got, []string{"a", "", "ü\xff"}) || s.Len() != 3 || s.At(2) != "ü\xff" {
		t.Errorf("got %q", got)
	}
	if r := s.Reshaped(shape.Of(3)); r.Shape().String() != "[3]" || r.At(0) != "a" {
		t.Errorf("got %v", r)
	}
	type name string
	if got := Data[name](Of([]name{"x"}))[0]; got != "x" {
		t.Errorf("a named string type: %q", got)
	}
	for _, c := range []struct {
		offsets []int64
		s       shape.Shape
	}{
		{[]int64{0, 1}, shape.Of(2)},
		{[]int64{0, 2, 1}, shape.Of(2)},
		{[]int64{0, 9}, shape.Of(1)},
		{[]int64{-1, 1}, shape.Of(1)},
		{nil, shape.Of(0)},
		{[]int64{0}, shape.Of(-1)},
		{[]int64{0, 1}, shape.UnknownRank},
	} {
		if x, err := NewStrings(c.offsets, []byte("ab"), c.s); err == nil {
			t.Errorf("%v, %v: got %v", c.offsets, c.s, x)
		}
	}
	if x, err := NewStrings([]int64{1, 2}, []byte("ab"), shape.Of(1)); err != nil || x.At(0) != "b" {
		t.Errorf("offsets that do not start at 0: %v, %v", x, err)
	}
	if err := thrown(func() { s.Reshaped(shape.Of(2)) }); !errors.Is(err, tenon.ErrShape) {
		t.Errorf("got %v", err)
	}
}
