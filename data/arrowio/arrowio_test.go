package arrowio_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// Pair is a type that is registered from outside the library's own.
type Pair struct {
	Mean, Std tensor.Tensor
	Unit      string
}

func (p Pair) Spec() tenon.Spec { return ext.SpecOf(p) }

// Bag is one whose components do not have the same rows.
type Bag struct {
	Words  tensor.Tensor
	Counts tensor.Tensor
}

func (b Bag) Spec() tenon.Spec { return ext.SpecOf(b) }

func init() {
	ext.Register[Pair]("example.com/arrow.Pair")
	ext.Register[Bag]("example.com/arrow.Bag")
}

type (
	Batch    struct{ named.Dim[Batch] }
	Token    struct{ named.Dim[Token] }
	Features struct{ named.Dim[Features] }
)

func of[T dtype.Native](data []T, dims ...int) tensor.Tensor { return tensor.Of(data, dims...) }

func must[T any](v T, err error) T { return tenon.Must(v, err) }

func iota_(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// values are Values of all kinds.
func values() map[string]tenon.Value {
	rag := must(ragged.FromRowSplits([]float64{1, 2, 3, 4}, []int64{0, 3, 3, 4}))
	deep := must(ragged.FromNestedRowSplits([]string{"a", "b", "c"}, []int64{0, 2, 2, 3}, []int64{0, 1, 1, 3}))
	short := must(ragged.FromRowSplits([]int8{1, 2, 3}, []int32{0, 1, 3}))
	inner := must(ragged.FromRowSplits(of(iota_(12), 6, 2), []int64{0, 1, 4, 6}))
	uniform := must(ragged.FromUniformRowLength(of(iota_(6)), 2, 3))
	half := must(structured.FromNested([]any{
		map[string]any{"name": "Ada", "pets": []any{map[string]any{"kind": "cat", "ages": []any{1, 2}}}, "at": map[string]any{"lat": 1.5}},
		map[string]any{"name": "Bo", "pets": []any{}, "at": map[string]any{"lat": -1.5}},
		map[string]any{"name": "Cy", "pets": []any{map[string]any{"kind": "dog", "ages": []any{}}, map[string]any{"kind": "fish", "ages": []any{3}}}, "at": map[string]any{"lat": 0.25}},
	}, structured.NestedOptions{}))
	optional := must(structured.FromNested([]any{
		map[string]any{"a": 1, "b": map[string]any{"c": "x"}},
		map[string]any{"a": nil, "b": nil},
		map[string]any{"a": 3, "b": map[string]any{"c": nil}},
	}, structured.NestedOptions{Missing: structured.MissingMasked}))
	unions := must(structured.FromNested([]any{
		map[string]any{"v": 1}, map[string]any{"v": "two"}, map[string]any{"v": 3},
	}, structured.NestedOptions{Unions: true}))
	words := must(structured.EncodeStrings([]string{"go", "c", "go", "rust"}))
	pair := Pair{of([]float32{1, 2}), of([]float32{3, 4}), "m"}
	held := must(structured.HoldRows(pair))
	coo := must(sparse.New(of([]int64{0, 1, 2, 0}, 2, 2), of([]float32{5, 6}), of([]int64{3, 2})))
	return map[string]tenon.Value{
		"bool":            of([]bool{true, false, true, true, false, false, true, false, true}),
		"int8":            of([]int8{-1, 2}),
		"uint64":          of([]uint64{1 << 63, 0}),
		"float16":         of([]dtype.F16{dtype.F16From(1.5), dtype.F16From(-2)}),
		"bfloat16":        of([]dtype.BF16{dtype.BF16From(1.5), dtype.BF16From(-2)}),
		"complex64":       of([]complex64{1 + 2i, 3}),
		"matrix":          of(iota_(6), 2, 3),
		"complex cube":    of([]complex128{1, 2i, 3, 4}, 2, 2, 1),
		"bool matrix":     of([]bool{true, false, true, true}, 2, 2),
		"strings":         of([]string{"a", "", "γλώσσα"}),
		"bytes":           of([]string{"\xff", "ok"}),
		"split rune":      of([]string{"\xce", "\xb3"}),
		"string matrix":   of([]string{"a", "b", "c", "d"}, 2, 2),
		"no rows":         of([]int32{}, 0, 3),
		"no columns":      of([]int32{}, 3, 0, 2),
		"scalar":          tensor.Scalar(2.5),
		"string":          tensor.Scalar("text"),
		"complex scalar":  tensor.Scalar(1 + 2i),
		"ragged":          rag,
		"ragged deep":     deep,
		"ragged int32":    short,
		"ragged inner":    inner,
		"ragged uniform":  uniform,
		"masked":          must(masked.New([]int64{1, 2, 3}, []bool{true, false, true})),
		"masked matrix":   must(masked.New(of(iota_(6), 2, 3), of([]bool{true, false, true, true, true, false}, 2, 3))),
		"masked rows":     must(masked.New(of(iota_(6), 2, 3), []bool{false, true})),
		"masked all":      masked.All(of([]string{"a", "b"})),
		"masked ragged":   must(masked.New(rag, must(ragged.FromRowSplits([]bool{true, false, true, true}, []int64{0, 3, 3, 4})))),
		"masked lists":    must(masked.New(rag, []bool{true, true, false})),
		"masked scalar":   must(masked.New(3.5, false)),
		"records":         half,
		"optional":        optional,
		"optional struct": must(structured.Zip(1, structured.Field{Name: "o", Value: must(masked.New(optional, []bool{true, false, true}))}).Field("o")),
		"rows of records": must(half.(*structured.Tensor).Field("pets")),
		"one record":      must(structured.FromNested(map[string]any{"a": 1, "b": []any{1, 2}}, structured.NestedOptions{})),
		"no fields":       must(structured.FromFields(nil, shape.Of(4), structured.Options{})),
		"unions":          unions,
		"union":           must(unions.(*structured.Tensor).Field("v")),
		"dictionary":      words,
		"dictionary rows": must(structured.NewDictionary(must(ragged.FromRowSplits([]int32{0, 1, 0}, []int64{0, 2, 3})), []string{"x", "y"})),
		"dictionary cube": must(structured.NewDictionary(of([]int32{0, 1, 1, 0}, 2, 2), []string{"x", "y"})),
		"masked words":    must(masked.New(words, []bool{true, false, true, false})),
		"masked union":    must(masked.New(must(unions.(*structured.Tensor).Field("v")), []bool{true, false, true})),
		"named":           named.Of(of(iota_(6), 2, 3), Batch{}, Features{}),
		"named ragged":    named.Of(inner, Batch{}, Token{}, Features{}),
		"named scalar":    named.Of(tensor.Scalar(1.0)),
		"named complex":   named.Of(of([]complex64{1, 2}, 1, 2), Batch{}, Features{}),
		"sparse":          coo,
		"pair":            Pair{tensor.Scalar(1.0), tensor.Scalar(2.0), "kg"},
		"pairs":           pair,
		"bag":             Bag{of([]string{"a"}), of(iota_(4), 2, 2)},
		"held":            must(structured.FromFields([]structured.Field{{Name: "p", Value: held}, {Name: "n", Value: of([]int32{1, 2})}}, shape.Of(2), structured.Options{})),
		"sparse field":    must(structured.FromFields([]structured.Field{{Name: "s", Value: coo}}, shape.Of(3), structured.Options{})),
		"named field":     must(structured.FromFields([]structured.Field{{Name: "x", Value: named.Of(of(iota_(6), 2, 3), Batch{}, Features{})}}, shape.Of(2), structured.Options{})),
		"partition":       rag.Partition(),
		"dynamic shape":   ragged.ShapeOf(deep),
	}
}

// same reports how two Values differ: in their Specs, or in an element of a component.
func same(a, b tenon.Value) error {
	if !tenon.Equal(a.Spec(), b.Spec()) {
		return fmt.Errorf("the Spec is %v, want %v", tenon.String(b.Spec()), tenon.String(a.Spec()))
	}
	if tenon.IsLeaf(a.Spec()) {
		switch a := a.(type) {
		case *tensor.Strings:
			if got := b.(*tensor.Strings); fmt.Sprintf("%q", a.Slice()) != fmt.Sprintf("%q", got.Slice()) {
				return fmt.Errorf("got %q, want %q", got.Slice(), a.Slice())
			}
		case *tensor.Dense:
			if got := b.(*tensor.Dense); !bytes.Equal(tensor.Contiguous(a).Bytes(), tensor.Contiguous(got).Bytes()) {
				return fmt.Errorf("got %v, want %v", got, a)
			}
		}
		return nil
	}
	x, err := a.Spec().Disassemble(a)
	if err != nil {
		return err
	}
	y, err := b.Spec().Disassemble(b)
	if err != nil {
		return err
	}
	for i, f := range a.Spec().Components() {
		if err := same(x[i], y[i]); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

func TestRoundTrip(t *testing.T) {
	for name, v := range values() {
		t.Run(name, func(t *testing.T) {
			f, a, err := arrowio.ToArray("x", v)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range []arrowio.ReadOptions{{}, {Copy: true}, {Spec: v.Spec(), Plain: true}} {
				got, err := arrowio.FromArray(f, a, o)
				if err != nil {
					t.Fatalf("%+v: %v\n%v", o, err, a)
				}
				if err := same(v, got); err != nil {
					t.Errorf("array %v, options %+v: %v", a.DataType(), o, err)
				}
			}
			b, err := arrowio.ToRecord(v)
			if err != nil {
				t.Fatal(err)
			}
			got, err := arrowio.FromRecord(b, arrowio.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := same(v, got); err != nil {
				t.Errorf("record: %v", err)
			}
		})
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for name, v := range values() {
		for _, o := range []arrowio.WriteOptions{{}, {Stream: true}, {Compression: arrowio.LZ4}, {Compression: arrowio.Zstd, Stream: true}} {
			path := filepath.Join(dir, "f.arrow")
			if err := arrowio.WriteFile(path, v, o); err != nil {
				t.Errorf("%s %+v: %v", name, o, err)
				continue
			}
			got, err := arrowio.ReadFile(path, arrowio.ReadOptions{})
			if err != nil {
				t.Errorf("%s %+v: %v", name, o, err)
				continue
			}
			if err := same(v, got); err != nil {
				t.Errorf("%s %+v: %v", name, o, err)
			}
		}
	}
}
