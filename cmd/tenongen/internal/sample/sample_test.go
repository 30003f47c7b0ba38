package sample_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/cmd/tenongen/internal/sample"
	"github.com/tenonml/tenon/cmd/tenongen/internal/sample/derived"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

// values are values of the derived types.
func values() []tenon.Value {
	three := 3
	v, w := tensor.Vector([]float32{1, 2}), tensor.Vector([]int64{3})
	p := derived.Point{X: v, Y: w}
	r := ragged.FromSlices([][]int64{{1}, {}})
	full := derived.Everything{Bool: true, Int: -3, Uint: 60000, Float: 0.5, Double: math.Inf(1), Text: "a", Bytes: []byte("xyz"), DType: dtype.Int8,
		Shape: shape.Of(2, -1), Of: tensor.NewSpec(dtype.Bool, shape.Of(3)), Any: "s", Wait: time.Second, Maybe: &three,
		Names: []string{"x", "y"}, Sizes: [2]int{4, 5}, Table: map[string]float64{"b": 1, "a": math.NaN()}, Config: derived.Config{Depth: 7}, Tensor: v, Value: r,
		Dense: w, Point: p, Behind: &p, Rows: r, Optional: w, List: []tensor.Tensor{v, w}, Pair: [2]derived.Point{p, p},
		Map: map[string]tensor.Tensor{"k.l": v, "a": w}, Layers: []derived.Layer{{W: v, B: w, Act: "relu"}, {W: w, B: v}},
		Deep: map[string][]*derived.Layer{"x": {{W: v, B: w}, nil}, "empty": nil},
	}
	least := derived.Everything{Tensor: v, Value: v, Dense: w, Point: p, Pair: [2]derived.Point{p, p}}
	return []tenon.Value{full, least, derived.Three{A: v, B: w, C: v, N: 1}, &derived.Graph{Base: derived.Base{Weight: v, Kind: "x"}, Nodes: map[string]tensor.Tensor{"n": w}},
		&derived.Graph{Base: derived.Base{Weight: v}}}
}

// twin returns the same value of the type with generated code, whose fields are the same.
func twin(v tenon.Value) tenon.Value {
	switch v := v.(type) {
	case derived.Everything:
		return *(*sample.Everything)(unsafe.Pointer(&v))
	case derived.Three:
		return sample.Three(v)
	case *derived.Graph:
		return (*sample.Graph)(v)
	}
	return v
}

func TestLaws(t *testing.T) {
	vs := values()
	spectest.Laws(t, spectest.Options{}, twin(vs[0]), twin(vs[1]))
	spectest.Laws(t, spectest.Options{}, twin(vs[2]))
	spectest.Laws(t, spectest.Options{}, twin(vs[3]), twin(vs[4]))
}

// TestAgreement compares what the two do with the same fields.
func TestAgreement(t *testing.T) {
	vs := values()
	for i, v := range vs {
		a, b := v.Spec(), twin(v).Spec()
		what := fmt.Sprintf("value %d", i)
		if x, y := tenon.EncodingText(a.Encode()), tenon.EncodingText(b.Encode()); x != y {
			t.Errorf("%s: encodings\n%s\n%s", what, x, y)
		}
		if x, y := names(a), names(b); !reflect.DeepEqual(x, y) {
			t.Errorf("%s: components %v and %v", what, x, y)
		}
		p, err := a.Disassemble(v)
		q, err2 := b.Disassemble(twin(v))
		if err != nil || err2 != nil || len(p) != len(q) {
			t.Fatalf("%s: %v, %v", what, err, err2)
		}
		for k := range p {
			if p[k] != q[k] {
				t.Errorf("%s: component %d is %v and %v", what, k, p[k], q[k])
			}
		}
		x, err := a.Assemble(p)
		y, err2 := b.Assemble(q)
		if err != nil || err2 != nil {
			t.Fatalf("%s: %v, %v", what, err, err2)
		}
		if fmt.Sprintf("%v", twin(x)) != fmt.Sprintf("%v", y) && !tensor.Equal(twin(x), y, tensor.EqualOptions{NaN: true}) {
			t.Errorf("%s: assembled %v and %v", what, x, y)
		}
		for j, w := range vs {
			if tenon.Equal(a, w.Spec()) != tenon.Equal(b, twin(w).Spec()) {
				t.Errorf("values %d and %d: equal for one and not for the other", i, j)
			}
		}
		for k := range p { // wrong components
			bad := append([]tenon.Value(nil), p...)
			bad[k] = tensor.Scalar("wrong")
			_, err := a.Assemble(bad)
			_, err2 := b.Assemble(bad)
			sameError(t, fmt.Sprintf("%s, component %d", what, k), err, err2)
		}
	}
}

// TestEncodingsAgree gives both the same wrong encodings.
func TestEncodingsAgree(t *testing.T) {
	wrong := []tenon.Encoding{tenon.Nil{}, tenon.Int(-1), tenon.Int(1 << 40), tenon.Float(0.1), tenon.Str("x"), tenon.Bool(true), tenon.Tuple{}, tenon.List{tenon.Nil{}},
		tenon.Tuple{tenon.Nil{}}, tenon.Dict{{Name: "b", Value: tenon.Nil{}}, {Name: "a", Value: tenon.Nil{}}}, tenon.SpecOf{}, tenon.NamedTuple{Name: "struct"},
		tenon.SpecOf{Spec: tenon.NewOpaque("a.B", tenon.Nil{}, nil)}, tenon.DType{DType: dtype.Bool}, tenon.Shape{Shape: shape.Of(1)}}
	for _, v := range values() {
		e, _ := tenon.Elems(v.Spec().Encode(), 2)
		fields := e[1].(tenon.NamedTuple)
		for i, f := range fields.Fields {
			for _, bad := range wrong {
				changed := tenon.NamedTuple{Name: fields.Name, Fields: append([]tenon.Entry(nil), fields.Fields...)}
				changed.Fields[i].Value = bad
				decode(t, v, tenon.Tuple{e[0], changed})
			}
			missing := tenon.NamedTuple{Name: fields.Name, Fields: append(append([]tenon.Entry(nil), fields.Fields[:i]...), fields.Fields[i+1:]...)}
			decode(t, v, tenon.Tuple{e[0], missing})
			_ = f
		}
	}
}

func decode(t *testing.T, v tenon.Value, e tenon.Encoding) {
	t.Helper()
	a, err := tenon.Decode(v.Spec().TypeName(), e)
	b, err2 := tenon.Decode(twin(v).Spec().TypeName(), e)
	sameError(t, tenon.EncodingText(e), err, err2)
	if err == nil && err2 == nil && tenon.EncodingText(a.Encode()) != tenon.EncodingText(b.Encode()) {
		t.Errorf("%s decodes as %s and %s", tenon.EncodingText(e), tenon.Text(a), tenon.Text(b))
	}
}

func sameError(t *testing.T, what string, a, b error) {
	t.Helper()
	var x, y *tenon.Error
	if errors.As(a, &x) != errors.As(b, &y) || x != nil && (x.Kind != y.Kind || x.Where != y.Where) {
		t.Errorf("errors %v and %v for %s", a, b, what)
	}
}

func names(s tenon.Spec) []string {
	var out []string
	for _, c := range s.Components() {
		out = append(out, c.Name)
	}
	return out
}

func bench(b *testing.B, v tenon.Value) {
	s := v.Spec()
	for b.Loop() {
		parts, err := s.Disassemble(v)
		if err == nil {
			_, err = s.Assemble(parts)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDerived(b *testing.B)       { bench(b, values()[2]) }
func BenchmarkGenerated(b *testing.B)     { bench(b, twin(values()[2])) }
func BenchmarkDerivedSpec(b *testing.B)   { benchSpec(b, values()[2]) }
func BenchmarkGeneratedSpec(b *testing.B) { benchSpec(b, twin(values()[2])) }

func benchSpec(b *testing.B, v tenon.Value) {
	for b.Loop() {
		v.Spec()
	}
}
