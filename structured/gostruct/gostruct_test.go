package gostruct_test

import (
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/structured/gostruct"
	"github.com/tenonml/tenon/tensor"
)

type base struct {
	ID   int64 `json:"id"`
	Note string
}

type hit struct {
	E float32   `json:"e"`
	T *int32    `json:"t"`
	P [2]uint16 `json:"p"`
}

type event struct {
	base
	Note  string `json:"Note,omitempty"` // hides the embedded one
	Name  string `json:"name"`
	Ok    bool
	Raw   []byte
	At    time.Time
	Took  time.Duration
	Hits  []hit          `json:"hits"`
	Deep  [][]*float64   `json:"deep"`
	Best  *hit           `json:"best"`
	Tags  map[string]int `json:"tags"`
	Byte  map[int8][]string
	Grid  [2][2]int8
	Pair  [2]hit
	Names *[]string
	Skip  int `json:"-"`
	_     int
}

// same compares what was got with what is wanted.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// A rec is a record and a list a list of plain nested data.
type (
	rec  = map[string]any
	list = []any
)

func nested(t *testing.T, x any) *structured.Tensor {
	t.Helper()
	return read(t, x, structured.NestedOptions{})
}

func read(t *testing.T, x any, o structured.NestedOptions) *structured.Tensor {
	t.Helper()
	v, err := structured.FromNested(x, o)
	if err != nil {
		t.Fatal(err)
	}
	return v.(*structured.Tensor)
}

func plain(t *testing.T, v tenon.Value) any {
	t.Helper()
	x, err := v.(*structured.Tensor).ToNested()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func ptr[T any](x T) *T { return &x }

func events() []event {
	return []event{
		{
			base: base{ID: 1}, Note: "n", Name: "a", Ok: true, Raw: []byte{0, 255}, At: time.Date(2024, 2, 29, 1, 2, 3, 4, time.UTC), Took: time.Second,
			Hits: []hit{{E: 1.5, T: ptr(int32(7)), P: [2]uint16{1, 2}}, {E: 2.5}}, Deep: [][]*float64{{ptr(1.5), nil}, {}},
			Best: &hit{E: 9, P: [2]uint16{3, 4}}, Tags: map[string]int{"x": 1, "a": 2}, Byte: map[int8][]string{-1: {"m"}, 3: {}},
			Grid: [2][2]int8{{1, 2}, {3, 4}}, Pair: [2]hit{{E: 1}, {E: 2}}, Names: &[]string{"p", "q"},
		},
		{
			base: base{ID: 2}, Raw: []byte{}, Hits: []hit{}, Deep: [][]*float64{}, Tags: map[string]int{}, Byte: map[int8][]string{},
		},
	}
}

func TestStructs(t *testing.T) {
	in := events()
	s, err := gostruct.From(in)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "names", s.FieldNames(), []string{"Note", "name", "Ok", "Raw", "At", "Took", "hits", "deep", "best", "tags", "Byte", "Grid", "Pair", "Names", "id"})
	first := plain(t, ops.Index(s, 0)).(rec)
	for name, want := range map[string]any{
		"id": int64(1), "Note": "n", "Raw": "\x00\xff", "Took": time.Second, "At": in[0].At,
		"hits": list{rec{"e": float32(1.5), "t": int32(7), "p": list{uint16(1), uint16(2)}}, rec{"e": float32(2.5), "t": nil, "p": list{uint16(0), uint16(0)}}},
		"deep": list{list{1.5, nil}, list{}},
		"best": rec{"e": float32(9), "t": nil, "p": list{uint16(3), uint16(4)}},
		"tags": rec{"a": int64(2), "x": int64(1)},
		"Byte": list{rec{"key": int8(-1), "value": list{"m"}}, rec{"key": int8(3), "value": list{}}},
		"Grid": list{list{int8(1), int8(2)}, list{int8(3), int8(4)}}, "Names": list{"p", "q"},
	} {
		same(t, name, first[name], want)
	}
	second := plain(t, ops.Index(s, 1)).(rec)
	same(t, "no time", second["At"], time.Unix(0, math.MinInt64).UTC())
	same(t, "nil", second["best"], nil)

	out, err := gostruct.To[event](s)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(out, in) {
		t.Errorf("got %+v, want %+v", out, in)
	}
	// The records keep their form through an operation.
	back, err := gostruct.To[event](ops.Gather(s, []int{1, 0, 1}, 0).(*structured.Tensor))
	if err != nil {
		t.Fatal(err)
	}
	if want := []event{in[1], in[0], in[1]}; !reflect.DeepEqual(back, want) {
		t.Errorf("got %+v, want %+v", back, want)
	}
	spec, err := gostruct.SpecOf[event]()
	if err != nil || !tenon.Belongs(s, spec) {
		t.Errorf("%v does not belong to %v, %v", s.Spec(), spec, err)
	}
	spectest.Laws(t, spectest.Options{}, s)
	none, err := gostruct.From([]event(nil))
	if err != nil || none.Shape().Dim(0) != 0 || !reflect.DeepEqual(none.FieldNames(), s.FieldNames()) {
		t.Errorf("no structs: got %v, %v", none, err)
	}
}

func TestBuilder(t *testing.T) {
	b, err := gostruct.NewBuilder[event]()
	if err != nil {
		t.Fatal(err)
	}
	in := events()
	for range 600 {
		if err := b.Append(in[0], in[1]); err != nil {
			t.Fatal(err)
		}
	}
	if b.Len() != 1200 {
		t.Errorf("got %d rows", b.Len())
	}
	s, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if want := ops.Tile(tenon.Must(gostruct.From(in)), []int{600}).(*structured.Tensor); !s.Equal(want) {
		t.Error("the records differ from those of FromStructs")
	}
	empty, err := b.Build()
	if err != nil || b.Len() != 0 || empty.Shape().Dim(0) != 0 {
		t.Errorf("built again it is %v, %v", empty, err)
	}
	type timed struct{ At time.Time }
	c := tenon.Must(gostruct.NewBuilder[timed]())
	err = c.Append(timed{time.Unix(1, 0)}, timed{time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)})
	var e *tenon.Error
	if !errors.As(err, &e) || e.Where != "At[1]" {
		t.Errorf("a time out of range: got %v", err)
	}
}

func TestStructsFromOtherColumns(t *testing.T) {
	s := read(t, list{rec{"a": 1, "b": 2.0, "c": "x", "d": 1}, rec{"a": 2, "b": 3.0, "c": "y", "d": nil}},
		structured.NestedOptions{Missing: structured.MissingMasked, Dictionaries: true})
	type narrow struct {
		A uint8   `json:"a"`
		B int     `json:"b"`
		C string  `json:"c"`
		D *int16  `json:"d"`
		E *string `json:"e"`
	}
	got, err := gostruct.To[narrow](s)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "converted", got, []narrow{{1, 2, "x", ptr(int16(1)), nil}, {2, 3, "y", nil, nil}})

	odd := nested(t, list{rec{"a": 300, "b": 1.5, "n": -1, "h": math.Ldexp(1, 63), "l": list{1, 2}, "s": "x"}})
	for name, f := range map[string]func() (any, error){
		"a[0]": func() (any, error) {
			return gostruct.To[struct {
				A uint8 `json:"a"`
			}](odd)
		},
		"b[0]": func() (any, error) {
			return gostruct.To[struct {
				B int `json:"b"`
			}](odd)
		},
		"n[0]": func() (any, error) {
			return gostruct.To[struct {
				N uint64 `json:"n"`
			}](odd)
		},
		"h[0]": func() (any, error) {
			return gostruct.To[struct {
				H int64 `json:"h"`
			}](odd)
		},
		"l[0]": func() (any, error) {
			return gostruct.To[struct {
				L [3]int `json:"l"`
			}](odd)
		},
		"l": func() (any, error) {
			return gostruct.To[struct {
				L int `json:"l"`
			}](odd)
		},
		"s": func() (any, error) {
			return gostruct.To[struct {
				S int `json:"s"`
			}](odd)
		},
		"a": func() (any, error) {
			return gostruct.To[struct {
				A string `json:"a"`
			}](odd)
		},
		"z": func() (any, error) {
			return gostruct.To[struct {
				Z string `json:"z"`
			}](odd)
		},
		"d[1]": func() (any, error) {
			return gostruct.To[struct {
				D int `json:"d"`
			}](s)
		},
	} {
		_, err := f()
		var e *tenon.Error
		if !errors.As(err, &e) || e.Where != name {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

type (
	chain  struct{ Next []chain }
	itself []itself
	left   struct{ X int }
	right  struct{ X int }
)

func TestStructsThatHaveNoColumns(t *testing.T) {
	for name, f := range map[string]func() (any, error){
		"holds itself":       func() (any, error) { return gostruct.From([]chain{}) },
		"a list of itself":   func() (any, error) { return gostruct.From([]struct{ L itself }{}) },
		"an interface":       func() (any, error) { return gostruct.From([]struct{ A any }{}) },
		"a channel":          func() (any, error) { return gostruct.From([]struct{ A chan int }{}) },
		"no struct":          func() (any, error) { return gostruct.From([]int{}) },
		"a time alone":       func() (any, error) { return gostruct.From([]time.Time{}) },
		"pointers twice":     func() (any, error) { return gostruct.From([]struct{ A **int }{}) },
		"keys without order": func() (any, error) { return gostruct.From([]struct{ A map[complex128]int }{}) },
	} {
		if _, err := f(); !errors.Is(err, tenon.ErrUnsupported) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := gostruct.From([]struct {
		left
		right
	}{}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("two embedded fields of one name: got %v", err)
	}
}

type flat struct {
	A, B, C, D float64
	E, F       int64
	G, H       float32
	I, J       int32
}

func BenchmarkFromStructs(b *testing.B) {
	rows := make([]flat, 1<<18)
	for i := range rows {
		rows[i] = flat{A: float64(i), E: int64(i), G: float32(i), I: int32(i)}
	}
	b.SetBytes(int64(len(rows)) * 64)
	for b.Loop() {
		s, err := gostruct.From(rows)
		if err != nil {
			b.Fatal(err)
		}
		for _, name := range s.FieldNames() {
			tensor.Release(tenon.Must(s.Field(name)))
		}
	}
}

func BenchmarkToStructs(b *testing.B) {
	s := tenon.Must(gostruct.From(make([]flat, 1<<18)))
	b.SetBytes(1 << 18 * 64)
	for b.Loop() {
		if _, err := gostruct.To[flat](s); err != nil {
			b.Fatal(err)
		}
	}
}
