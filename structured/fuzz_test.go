package structured_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// script reads decisions from a fuzzer's bytes; at their end it gives zeros.
type script struct{ b []byte }

func (s *script) next(n int) int {
	if len(s.b) == 0 {
		return 0
	}
	x := int(s.b[0])
	s.b = s.b[1:]
	return x % n
}

func (s *script) partition(nvals int) (*ragged.RowPartition, error) {
	o := ragged.PartitionOptions{}
	if s.next(4) == 1 {
		o.DType = dtype.Int32
	}
	if s.next(3) == 1 {
		o.NRows = s.next(5)
		return ragged.PartitionFromUniformRowLength(s.next(4), o)
	}
	lengths := make([]int, s.next(4))
	left := nvals
	for i := range lengths {
		lengths[i] = min(left, s.next(4))
		left -= lengths[i]
	}
	if s.next(8) > 0 { // rows that fit most of the time
		lengths = append(lengths, left)
	}
	return ragged.PartitionFromRowLengths(lengths, o)
}

// value makes a field of any kind, and may fail to.
func (s *script) value(depth int) (tensor.Tensor, error) {
	n := s.next(6)
	data := make([]int64, n)
	for i := range data {
		data[i] = int64(i)
	}
	v := tensor.Tensor(tensor.Of(data))
	switch s.next(8) {
	case 0:
		return tensor.Scalar(int64(n)), nil
	case 1:
		k := s.next(3)
		return tensor.Of(make([]float32, n*k), n, k), nil
	case 2:
		words := make([]string, n)
		return tensor.Of(words), nil
	case 3, 4:
		for range 1 + s.next(2) {
			p, err := s.partition(v.Shape().Dim(0))
			if err != nil {
				return nil, err
			}
			if v, err = ragged.FromPartition(v, p); err != nil {
				return nil, err
			}
		}
		return v, nil
	case 5:
		if depth < 2 {
			return s.fields(depth + 1)
		}
	case 6:
		m, err := masked.New(v, tensor.Of(make([]bool, n)))
		if err != nil {
			return nil, err
		}
		return m, nil
	}
	return v, nil
}

// fields calls FromFields with arguments that may or may not fit.
func (s *script) fields(depth int) (tensor.Tensor, error) {
	var fields []structured.Field
	for i := range s.next(4) {
		v, err := s.value(depth)
		if err != nil {
			return nil, err
		}
		name := string(rune('a' + i))
		if s.next(16) == 1 {
			name = "a"
		}
		fields = append(fields, structured.Field{Name: name, Value: v})
	}
	dims := make([]int, s.next(4))
	for i := range dims {
		dims[i] = s.next(5) - 1
	}
	sh := shape.Of(dims...)
	o := structured.Options{}
	switch s.next(4) {
	case 1:
		o.NRows = s.next(6)
	case 2:
		o.DType = dtype.Int32
	case 3:
		for range s.next(3) {
			p, err := s.partition(s.next(6))
			if err != nil {
				return nil, err
			}
			o.RowPartitions = append(o.RowPartitions, p)
		}
	}
	t, err := structured.FromFields(fields, sh, o)
	if err != nil {
		return nil, err
	}
	return t, nil
}

func FuzzFromFields(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{2, 3, 7, 0, 3, 7, 0, 1, 0})
	f.Add([]byte{2, 4, 3, 0, 0, 2, 1, 2, 1, 4, 3, 0, 0, 2, 1, 2, 1, 0, 2, 0, 0})
	f.Add([]byte{3, 2, 5, 1, 2, 7, 0, 1, 0, 0, 2, 2, 0, 2, 6, 0, 1, 3, 0})
	f.Add([]byte{0, 2, 3, 0, 1, 4})
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &script{b: b}
		v, err := s.fields(0)
		if err != nil {
			var e *tenon.Error
			if !errors.As(err, &e) || e.Msg == "" {
				t.Fatalf("the error %v says nothing", err)
			}
			return
		}
		r := v.(*structured.Tensor)
		check(t, r)
		spec := r.Spec()
		if back, err := tenon.Decode(spec.TypeName(), spec.Encode()); err != nil || !tenon.Equal(back, spec) {
			t.Fatalf("the Spec %v came back as %v, %v", spec, back, err)
		}
		parts, err := spec.Disassemble(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := spec.Assemble(parts)
		if err != nil || !again.(*structured.Tensor).Equal(r) {
			t.Fatalf("assembled again %v is %v, %v", r, again, err)
		}
		_ = r.String()
	})
}

// check verifies that all fields have the dimensions of their records, and the same
// rows as these have.
func check(t *testing.T, r *structured.Tensor) {
	t.Helper()
	x, err := r.ToNested()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range r.FieldNames() {
		v, err := r.Field(name)
		if err != nil {
			t.Fatal(err)
		}
		if v.Shape().Rank() < r.Rank() || !v.Shape().Slice(0, r.Rank()).CompatibleWith(r.Shape()) {
			t.Fatalf("the field %s has the shape %v, the records %v", name, v.Shape(), r.Shape())
		}
		if f, ok := v.(*ragged.Tensor); ok && r.Rank() > 1 {
			for i, p := range f.Partitions()[:min(f.RaggedRank(), r.Rank()-1)] {
				if p != r.RowPartitions()[i] {
					t.Fatalf("the field %s has a partition of its own", name)
				}
			}
		}
		if f, ok := v.(*structured.Tensor); ok {
			check(t, f)
			if got, want := fmt.Sprint(fieldOf(x, name)), fmt.Sprint(tenon.Must(f.ToNested())); r.Rank() == 0 && got != want {
				t.Fatalf("the field %s is %v in the records and %v alone", name, got, want)
			}
		}
	}
}

func fieldOf(x any, name string) any {
	if m, ok := x.(rec); ok {
		return m[name]
	}
	return reflect.Zero(reflect.TypeFor[any]())
}

func TestWhichFieldAndRow(t *testing.T) {
	rows := func(lengths ...int) tensor.Tensor {
		n := 0
		for _, k := range lengths {
			n += k
		}
		return tenon.Must(ragged.FromRowLengths(tensor.Of(make([]int64, n)), lengths))
	}
	field := func(name string, v tensor.Tensor) structured.Field { return structured.Field{Name: name, Value: v} }
	for _, c := range []struct {
		name   string
		fields []structured.Field
		rank   int
		where  string
		msg    string
	}{
		{"other numbers of rows", []structured.Field{field("a", rows(1)), field("b", rows(1, 2))}, 1, "b", "has 2 rows, the records 1"},
		{"other rows", []structured.Field{field("a", rows(1, 2, 3)), field("b", rows(1, 3, 2))}, 2, "b", "has different rows than the records in dimension 1, from row 1 on"},
		{"too few dimensions", []structured.Field{field("a", rows(1, 2)), field("b", tensor.Of([]int64{1, 2}))}, 2, "b", "has rank 1, the records 2"},
		{"a name twice", []structured.Field{field("a", rows(1)), field("a", rows(1))}, 1, "a", "is given twice"},
		{"no value", []structured.Field{field("a", nil)}, 1, "a", "is nil"},
	} {
		_, err := structured.FromFieldsAndRank(c.fields, c.rank, structured.Options{})
		var e *tenon.Error
		if !errors.As(err, &e) || e.Where != c.where || e.Msg != c.msg {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
	s := nested(t, list{rec{"a": rec{"b": 1}}})
	_, through := s.WithUpdates([]structured.Update{{Path: []string{"a", "b", "c"}, Value: tensor.Of([]int64{1})}})
	_, deep := s.Field("a", "b", "c")
	_, promoted := s.Promote([]string{"a", "b", "c"}, "d")
	for name, err := range map[string]error{"update": through, "field": deep, "promote": promoted} {
		var e *tenon.Error
		if !errors.As(err, &e) || e.Where != "a.b.c" {
			t.Errorf("%s through a field that holds no records: got %v", name, err)
		}
	}
}
