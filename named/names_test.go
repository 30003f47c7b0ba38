package named_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// The names of the tests.
type (
	Batch    struct{ named.Dim[Batch] }
	Seq      struct{ named.Dim[Seq] }
	KeySeq   struct{ named.Dim[KeySeq] }
	Rep      struct{ named.Dim[Rep] }
	Kq       struct{ named.Dim[Kq] }
	Val      struct{ named.Dim[Val] }
	Head     struct{ named.Dim[Head] }
	Foo      struct{ named.Dim[Foo] }
	Height   struct{ named.Dim[Height] }
	Width    struct{ named.Dim[Width] }
	Channel  struct{ named.Dim[Channel] }
	Pixel    struct{ named.Dim[Pixel] }
	Window   struct{ named.Dim[Window] }
	Window2  struct{ named.Dim[Window2] }
	Token    struct{ named.Dim[Token] }
	KeyToken struct{ named.Dim[KeyToken] }
	Vocab    struct{ named.Dim[Vocab] }
)

// Sets of names.
type (
	Spatial struct {
		named.Set[Spatial]
		Height
		Width
	}
	Windows struct {
		named.Set[Windows]
		Window
		Window2
	}
)

type T = *named.Tensor

// count returns a tensor of 0, 1, 2, … in the order in which dims are listed.
func count(dims ...named.Sized) T {
	names := make([]named.Name, len(dims))
	sizes := make([]int, len(dims))
	n := 1
	for i, d := range dims {
		names[i], sizes[i] = d.Name(), d.Size()
		n *= d.Size()
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	if len(dims) == 0 {
		return named.Of(x[0])
	}
	return named.Of(tensor.Of(x, sizes...), names...)
}

// thrown returns the error that f throws, or that it returns nothing.
func thrown(f func()) error {
	_, err := tenon.Try(func() int { f(); return 0 })
	return err
}

func wantError(t *testing.T, kind error, text string, f func()) {
	t.Helper()
	err := thrown(f)
	if !errors.Is(err, kind) || err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("got the error %v, want one of kind %q with %q", err, kind, text)
	}
}

func wantEqual(t *testing.T, want, got tenon.Value) {
	t.Helper()
	if !named.Equal(want, got, tensor.EqualOptions{NaN: true}) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestIdentityOfNames(t *testing.T) {
	if got := named.Path(Batch{}); got != "github.com/tenonml/tenon/named_test.Batch" {
		t.Errorf("the path of Batch is %q", got)
	}
	if named.By(Batch{}) != named.By(named.Dynamic("github.com/tenonml/tenon/named_test.Batch")) {
		t.Error("a name that is read from a file is not the type's")
	}
	if named.By(Batch{}) == named.By(named.Dynamic("Batch")) {
		t.Error("a text without the package is the type's name")
	}
	if first, again := named.By(named.Dynamic("a b")), named.By(named.Dynamic("a b")); first != again {
		t.Error("equal texts are different names")
	}
	type Seq struct{ named.Dim[Seq] } // another Seq than that of the package
	x := named.Outer(ops.Add, count(Seq{}.Of(2)), outerSeq())
	if len(x.Dims().Names()) != 2 {
		t.Errorf("two types called Seq are one name: %v", x)
	}
}

func outerSeq() T { return count(Seq{}.Of(3)) }

func TestAmbiguousNamesPrintInFull(t *testing.T) {
	x := named.Outer(ops.Add, count(Batch{}.Of(2)), count(named.Dynamic("Batch").Of(1)))
	want := "float64{github.com/tenonml/tenon/named_test.Batch:2 Batch:1}\n[[0.]\n [1.]]"
	if got := x.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSets(t *testing.T) {
	if got := (Spatial{}).String(); got != "Height, Width" {
		t.Errorf("the set prints as %q", got)
	}
	x := count(Height{}.Of(2), Channel{}.Of(2), Width{}.Of(3))
	wantEqual(t, named.By(Height{}, Width{}).Sum(x), named.Sum[Spatial](x))
	if got := named.By(Spatial{}, Channel{}).String(); got != "Height, Width, Channel" {
		t.Errorf("the list is %q", got)
	}
	if got := x.Size(Spatial{}); got != 6 {
		t.Errorf("the size of a set is %d, want 6", got)
	}
}

func TestWrongDeclarations(t *testing.T) {
	type twice struct {
		named.Set[twice]
		Height
		H2 Height
	}
	_ = twice{}
	type doubled struct {
		named.Set[doubled]
		Spatial
		Height
	}
	wantError(t, tenon.ErrInvalid, "twice", func() { named.Sum[doubled](count(Height{}.Of(1))) })
	wantError(t, tenon.ErrInvalid, "is not the name of a dimension", func() { named.Dynamic("") })
	wantError(t, tenon.ErrInvalid, "is not the name of a dimension", func() { named.Dynamic("a\x00") })
	wantError(t, tenon.ErrInvalid, "one dimension", func() { named.Softmax[Batch](named.Stack[Spatial](count(Batch{}.Of(2)))) })
	wantError(t, tenon.ErrInvalid, "not one name", func() { named.Zeros(dtype.Float32, Spatial{}.Of(3)) })
	wantError(t, tenon.ErrInvalid, "is a name", func() { Batch{}.Size() })
	wantError(t, tenon.ErrInvalid, "is a name", func() { Batch{}.Dot(Batch{}) })
	wantError(t, tenon.ErrInvalid, "a name is nil", func() { named.By(nil) })
}

func TestOf(t *testing.T) {
	x := named.Of([][]float32{{1, 2, 3}, {4, 5, 6}}, Seq{}, Rep{})
	if x.Size(Seq{}) != 2 || x.Size(Rep{}) != 3 || x.DType() != dtype.Float32 || !x.Has(Seq{}) || x.Has(Foo{}) {
		t.Errorf("got %v", x)
	}
	wantError(t, tenon.ErrInvalid, "1 names {Seq} for the 2 dimensions", func() { named.Of([][]float32{{1}}, Seq{}) })
	wantError(t, tenon.ErrInvalid, "Seq occurs twice", func() { named.Of([][]float32{{1}}, Seq{}, Seq{}) })
	wantError(t, tenon.ErrInvalid, "has names", func() { named.Of(x, Seq{}, Rep{}) })
	wantError(t, tenon.ErrNotFound, "did you mean Seq?", func() { x.Size(Sec{}) })
}

type Sec struct{ named.Dim[Sec] }

func TestMakers(t *testing.T) {
	key := ops.RandomKey(1)
	for _, tt := range []struct {
		name string
		x    T
		want string
	}{
		{"zeros", named.Zeros(dtype.Float32, Batch{}.Of(2)), "float32{Batch:2} [0. 0.]"},
		{"ones", named.Ones(dtype.Int32, Batch{}.Of(2), Seq{}.Of(1)), "int32{Batch:2 Seq:1}\n[[1]\n [1]]"},
		{"full", named.Full(2.5, Seq{}.Of(2)), "float64{Seq:2} [2.5 2.5]"},
		{"scalar", named.Scalar(true), "bool{} true"},
		{"range", named.Range(dtype.Int64, Seq{}.Of(3)), "int64{Seq:3} [0 1 2]"},
		{"linspace", named.LinSpace(0.0, 1.0, Seq{}.Of(3)), "float64{Seq:3} [0.  0.5 1. ]"},
		{"eye", named.Eye(dtype.Float32, Seq{}.Of(2), Rep{}.Of(2)), "float32{Seq:2 Rep:2}\n[[1. 0.]\n [0. 1.]]"},
	} {
		if got := tt.x.String(); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	u := named.Uniform(key, dtype.Float64, -2, 3, Batch{}.Of(50), Seq{}.Of(20))
	for _, x := range tensor.Data[float64](named.Unnamed(u, Batch{}, Seq{})) {
		if x < -2 || x >= 3 {
			t.Fatalf("a uniform number is %v", x)
		}
	}
	mean := func(x T) float64 { return tensor.Item[float64](ops.Mean(x)) }
	if m := mean(named.Normal(key, dtype.Float64, 4, 0.5, Seq{}.Of(2000))); m < 3.9 || m > 4.1 {
		t.Errorf("the mean of normal numbers is %v, want 4", m)
	}
	if m := tensor.Item[float64](ops.Max(named.TruncatedNormal(key, dtype.Float64, 0, 1, Seq{}.Of(2000)))); m > 2 {
		t.Errorf("a truncated number is %v", m)
	}
	if m := mean(named.Cast(named.Bernoulli(key, 0.25, Seq{}.Of(2000)), dtype.Float64)); m < 0.2 || m > 0.3 {
		t.Errorf("the frequency is %v, want 0.25", m)
	}
	if m := tensor.Item[int32](ops.Max(named.RandomInt(key, dtype.Int32, 5, 8, Seq{}.Of(100)))); m != 7 {
		t.Errorf("the largest integer is %v, want 7", m)
	}
	wantError(t, tenon.ErrInvalid, "has the size -1", func() { named.Zeros(dtype.Float32, Batch{}.Of(-1)) })
	wantError(t, tenon.ErrInvalid, "Batch occurs twice", func() { named.Zeros(dtype.Float32, Batch{}.Of(1), Batch{}.Of(1)) })
}
