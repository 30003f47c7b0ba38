package named_test

import (
	"errors"
	"math"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// What cannot be made is an error of the library, whatever was wrong with the arguments.
func TestMakersRefuseWhatIsNoTensor(t *testing.T) {
	type notADim struct{ X int }
	d, k := Seq{}.Of(3), ops.RandomKey(1)
	var none named.Sized
	for name, f := range map[string]func() any{
		"Zeros without a name":         func() any { return named.Zeros(dtype.Float32, none) },
		"Zeros of no type":             func() any { return named.Zeros(dtype.DType(0), d) },
		"Zeros of a type out of range": func() any { return named.Zeros(dtype.DType(200), d) },
		"Zeros of a negative size":     func() any { return named.Zeros(dtype.Float32, Seq{}.Of(-1)) },
		"Zeros twice of a name":        func() any { return named.Zeros(dtype.Float32, d, d) },
		"Zeros of too many":            func() any { return named.Zeros(dtype.Float32, Seq{}.Of(math.MaxInt), Rep{}.Of(math.MaxInt)) },
		"Ones of strings":              func() any { return named.Ones(dtype.String, d) },
		"Full of nothing":              func() any { return named.Full(nil, d) },
		"Full of a list":               func() any { return named.Full([]float64{1, 2}, d) },
		"Scalar of a function":         func() any { return named.Scalar(func() {}) },
		"Scalar of a nil tensor":       func() any { return named.Scalar((*named.Tensor)(nil)) },
		"Range of strings":             func() any { return named.Range(dtype.String, d) },
		"LinSpace of text":             func() any { return named.LinSpace("a", nil, d) },
		"Eye without names":            func() any { return named.Eye(dtype.Float32, none, none) },
		"Eye of one name":              func() any { return named.Eye(dtype.Float32, d, d) },
		"Uniform without a key":        func() any { return named.Uniform(nil, dtype.Float32, 0, 1, d) },
		"Uniform of integers":          func() any { return named.Uniform(k, dtype.String, 0, 1, d) },
		"Normal of another key":        func() any { return named.Normal(named.Scalar(1), dtype.Float32, 0, 1, d) },
		"TruncatedNormal of no type":   func() any { return named.TruncatedNormal(k, dtype.DType(0), 0, 1, d) },
		"RandomInt of an empty range":  func() any { return named.RandomInt(k, dtype.Int32, 5, 5, d) },
		"Bernoulli of text as a key":   func() any { return named.Bernoulli(tensor.Of([]string{"a"}), 0.5, d) },
		"CausalMask without names":     func() any { return named.CausalMask(none, none) },
		"Triangle of one name":         func() any { return named.Triangle(d, d, 0, 1.0, 0.0) },
		"Triangle of nothing":          func() any { return named.Triangle(d, Rep{}.Of(2), 0, nil, nil) },
		"RelativePositions of one":     func() any { return named.RelativePositions(d, d) },
		"WindowMask without names":     func() any { return named.WindowMask(none, d, 1, 1) },
		"Of nothing":                   func() any { return named.Of(nil, Seq{}) },
		"Of a nil pointer":             func() any { return named.Of((*tensor.Dense)(nil), Seq{}) },
		"Of a channel":                 func() any { return named.Of(make(chan int), Seq{}) },
		"Of a nil name":                func() any { return named.Of([]int{1}, nil) },
		"Of too many names":            func() any { return named.Of([]int{1}, Seq{}, Rep{}) },
		"Of rows of many lengths":      func() any { return named.Of([][]int{{1}, {2, 3}}, Seq{}, Rep{}) },
		"Of a Value of another kind":   func() any { return named.Of(stranger{}, Seq{}) },
		"From nothing":                 func() any { return named.From(nil) },
		"From a nil tensor":            func() any { return named.From((*named.Tensor)(nil)) },
		"From a Value without names":   func() any { return named.From(tensor.Of([]int{1})) },
		"Order of nothing":             func() any { return named.Order(nil, Seq{}) },
		"Order by a nil name":          func() any { return named.Order(seqOf(2), nil) },
		"Unnamed of nothing":           func() any { return named.Unnamed(nil) },
		"By a nil name":                func() any { return named.By(nil).Sum(seqOf(2)) },
		"Sum of nothing":               func() any { return named.Sum[Seq](nil) },
		"Dot of nothing":               func() any { return named.Dot[Seq](nil, nil) },
		"Contract of nothing":          func() any { return named.Contract[Seq]() },
		"Stack of nothing":             func() any { return named.Stack[Seq]() },
		"Concat of nothing":            func() any { return named.Concat[Seq](nil) },
		"Einsum of nothing":            func() any { return named.Einsum("", nil) },
		"Einsum of no text":            func() any { return named.Einsum("a,b->c") },
		"Where of nothing":             func() any { return named.Where(nil, nil, nil) },
		"Map of nothing":               func() any { return named.Map(nil, seqOf(2)) },
		"Map2 of nothing":              func() any { return named.Map2(nil, seqOf(2), seqOf(2)) },
		"Outer of nothing":             func() any { return named.Outer(nil, seqOf(2), seqOf(2)) },
		"Lift of nothing":              func() any { return named.Lift[Seq]((func(T) T)(nil))(seqOf(2)) },
		"LiftOver no name":             func() any { return named.LiftOver(nil, func(x T) T { return x })(seqOf(2)) },
		"MapUnnamed of nothing":        func() any { return named.MapUnnamed(nil, seqOf(2), []named.Name{Seq{}}) },
		"Bind to what is no schema":    func() any { return named.Bind[notADim](seqOf(2)) },
		"Bind of nothing":              func() any { return named.Bind[bound](nil) },
		"On nothing":                   func() any { return named.On[Seq](nil).Sum() },
		"a handle without a tensor":    func() any { return Seq{}.Sum() },
		"Renaming nothing":             func() any { return named.Renaming(seqOf(2), map[named.Name]named.Name{nil: nil}) },
		"Reshape to no name":           func() any { return named.Reshape[Seq](seqOf(2), none) },
		"Split to no name":             func() any { return named.Split[Seq](seqOf(2), none) },
		"BroadcastTo no name":          func() any { return named.BroadcastTo(seqOf(2), none) },
		"ExpandDims by a nil name":     func() any { return named.ExpandDims(seqOf(2), nil) },
		"Index by nothing":             func() any { return named.Index[Seq](seqOf(2), nil) },
		"Take nothing":                 func() any { return named.Take[Seq](seqOf(2), nil) },
		"OneHot of a negative size":    func() any { return named.OneHot[Rep](ints(2, Seq{}.Of(2)), -1, named.OneHotOptions{}) },
		"Pad by a negative number":     func() any { return named.Pad[Seq](seqOf(2), -1, 0, named.PadOptions{}) },
		"Pieces of a negative size":    func() any { return named.Pieces[Seq](seqOf(2), -1, 3) },
		"TopK of a negative number":    func() any { v, _ := named.TopK[Seq](seqOf(2), -1); return v },
		"Masked by nothing":            func() any { return named.Masked(seqOf(2), nil, 0) },
		"Dropout without a key":        func() any { return named.Dropout(nil, seqOf(2), 0.5) },
		"Cast to no type":              func() any { return named.Cast(seqOf(2), dtype.DType(0)) },
		"CrossEntropy of nothing":      func() any { return named.CrossEntropy[Seq](nil, nil) },
		"NewSpec of nothing":           func() any { s, err := named.NewSpec(nil, Seq{}); tenon.Throw(err); return s },
		"NewSpec by a nil name":        func() any { s, err := named.NewSpec(tensor.Of([]int{1}).Spec(), nil); tenon.Throw(err); return s },
		"ExplainFunction of nothing":   func() any { e, err := named.ExplainFunction(nil); tenon.Throw(err); return e },
	} {
		got, err := tenon.Try(f)
		var e *tenon.Error
		if !errors.As(err, &e) || e.Kind == nil {
			t.Errorf("%s: got %v, %T %v", name, got, err, err)
		}
	}
}

// A stranger is a Value that is no tensor.
type stranger struct{}

func (stranger) Spec() tenon.Spec { return tenon.NewOpaque("named_test.stranger", nil, nil) }
