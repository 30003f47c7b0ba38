package named_test

import (
	"errors"
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// The names of the examples, after those of the proposal "A Named-Dimensions TypeScript
// Library for TensorFlowJS" (2021).
type (
	SeqLen      struct{ named.Dim[SeqLen] }
	KeySeqLen   struct{ named.Dim[KeySeqLen] }
	InputRep    struct{ named.Dim[InputRep] }
	KqRep       struct{ named.Dim[KqRep] }
	ValueRep    struct{ named.Dim[ValueRep] }
	InputTokens struct{ named.Dim[InputTokens] }
	TokenRep    struct{ named.Dim[TokenRep] }
	QueryRep    struct{ named.Dim[QueryRep] }
	BatchSize   struct{ named.Dim[BatchSize] }
	Pos         struct{ named.Dim[Pos] }
	RepSize     struct{ named.Dim[RepSize] }
)

// Schemas of the examples.
type (
	AttnIn struct {
		*named.Tensor
		SeqLen
		InputRep
	}
	AttnOut struct {
		*named.Tensor
		SeqLen
		ValueRep
	}
	KqMatrix struct {
		*named.Tensor
		InputRep
		KqRep
	}
	ValueMatrix struct {
		*named.Tensor
		InputRep
		ValueRep
	}
	Tokens struct {
		*named.Tensor
		InputTokens
		TokenRep
	}
	TokenQuery struct {
		*named.Tensor
		TokenRep
		QueryRep
	}
	FooQuery struct {
		*named.Tensor
		Foo
		QueryRep
	}
	BatchedAttnIn struct {
		BatchSize
		AttnIn
	}
)

// steps returns numbers that rise by a small step, for matrices of examples.
func steps(start, step float64, dims ...named.Sized) *named.Tensor {
	return named.Add(named.Mul(count(dims...), step), start)
}

// The matrices of an attention head.
var (
	queryM = named.Bind[KqMatrix](steps(-0.2, 0.1, InputRep{}.Of(2), KqRep{}.Of(3)))
	keyM   = named.Bind[KqMatrix](steps(0.3, -0.1, KqRep{}.Of(3), InputRep{}.Of(2))) // any order
	valueM = named.Bind[ValueMatrix](steps(0, 0.25, InputRep{}.Of(2), ValueRep{}.Of(4)))
)

// The attention of the proposal's motivation. Keys and values are renamed, so that the
// dimension that is contracted last cannot be mistaken for the queries'.
func attention(xs AttnIn) AttnOut {
	inputKeys := named.Rename[SeqLen, KeySeqLen](xs.InputRep.Dot(keyM.InputRep))
	inputQueries := xs.InputRep.Dot(queryM.InputRep)
	scale := 1 / math.Sqrt(float64(queryM.KqRep.Size()))
	attention := named.Softmax[KeySeqLen](named.Mul(named.Dot[KqRep](inputKeys, inputQueries), scale))
	values := named.Rename[SeqLen, KeySeqLen](xs.InputRep.Dot(valueM.InputRep))
	return named.Bind[AttnOut](named.Dot[KeySeqLen](values, attention))
}

// A tensor is made by an initializer from names and sizes, or by naming the dimensions
// of a tensor.
func Example() {
	g1 := named.TruncatedNormal(ops.RandomKey(0), dtype.Float32, 0, 1, InputRep{}.Of(2), KqRep{}.Of(3))
	fmt.Println(g1.GShape())

	type Example struct{ named.Dim[Example] }
	rows := [][]float32{{1, 2}, {3, 4}, {5, 6}}
	g2 := named.Of([][][]float32{rows, rows, rows, rows}, Example{}, Pos{}, RepSize{})
	fmt.Println(g2.GShape())

	// Output:
	// map[InputRep:2 KqRep:3]
	// map[Example:4 Pos:3 RepSize:2]
}

// Dimensions are found by name: the result has those that are not contracted.
func ExampleDot() {
	g1 := named.Ones(dtype.Float32, InputTokens{}.Of(3), TokenRep{}.Of(2))
	g2 := named.Ones(dtype.Float32, TokenRep{}.Of(2), QueryRep{}.Of(2))
	fmt.Println(named.Dot[TokenRep](g1, g2))
	// Output:
	// float32{InputTokens:3 QueryRep:2}
	// [[2. 2.]
	//  [2. 2.]
	//  [2. 2.]]
}

// With schemas both sides are named. Another name does not compile:
//
//	cannot use g2.Foo (variable of struct type Foo) as TokenRep value in argument to g1.TokenRep.Dot
//
// unless it is renamed.
func ExampleDim_Dot() {
	g1 := named.Bind[Tokens](named.Ones(dtype.Float32, InputTokens{}.Of(2), TokenRep{}.Of(3)))
	g2 := named.Bind[TokenQuery](named.Ones(dtype.Float32, QueryRep{}.Of(2), TokenRep{}.Of(3)))
	g3 := g1.TokenRep.Dot(g2.TokenRep)
	fmt.Println(g3.GShape())

	other := named.Bind[FooQuery](named.Ones(dtype.Float32, Foo{}.Of(3), QueryRep{}.Of(2)))
	fmt.Println(g1.TokenRep.Dot(named.As[TokenRep](other.Foo)).GShape())
	// Output:
	// map[InputTokens:2 QueryRep:2]
	// map[InputTokens:2 QueryRep:2]
}

// A function over a sequence, and the same over a batch of them: only the name of the
// batch has to be said.
func ExampleLift() {
	xs := named.Bind[AttnIn](steps(0, 0.1, SeqLen{}.Of(8), InputRep{}.Of(2)))
	fmt.Println(attention(xs).GShape())

	batched := named.Bind[BatchedAttnIn](steps(0, 0.01, BatchSize{}.Of(10), SeqLen{}.Of(8), InputRep{}.Of(2)))
	batchedAttention := named.Lift[BatchSize](attention)
	fmt.Println(batchedAttention(batched.AttnIn).GShape())
	// Output:
	// map[SeqLen:8 ValueRep:4]
	// map[BatchSize:10 SeqLen:8 ValueRep:4]
}

// What a function says and what the names allow are compared when it is called, or
// traced: the error shows both tensors.
func ExampleDot_error() {
	keys := named.Rename[SeqLen, KeySeqLen](named.Zeros(dtype.Float32, SeqLen{}.Of(8), KqRep{}.Of(3)))
	other := named.Zeros(dtype.Float32, Foo{}.Of(3), ValueRep{}.Of(4))
	_, err := tenon.Try(func() *named.Tensor { return named.Dot[KqRep](keys, other) })
	var e *tenon.Error
	errors.As(err, &e)
	fmt.Println(e.Op + ": " + e.Msg[:len("right operand has no KqRep")])
	fmt.Println(e.Hint)
	// Output:
	// named.Dot over KqRep: right operand has no KqRep
	// shared: none. Foo has the same size as KqRep: did you mean named.Rename[Foo, KqRep](right)?
}

// Reshaping selects dimensions and says what they become.
func ExampleReshape() {
	x := count(SeqLen{}.Of(2), InputRep{}.Of(4))
	fmt.Println(named.Split[InputRep](x, Head{}.Of(2), ValueRep{}.Of(2)).Spec())
	fmt.Println(named.By(InputRep{}, SeqLen{}).Merge(x, Pos{}))
	// Output:
	// float64{SeqLen:2 Head:2 ValueRep:2}
	// float64{Pos:8} [0. 4. 1. 5. 2. 6. 3. 7.]
}

// A set of dimensions is used like one.
func ExampleSet() {
	image := count(Height{}.Of(2), Width{}.Of(2), Channel{}.Of(3))
	fmt.Println(named.Sum[Spatial](image))
	fmt.Println(named.Merge[Spatial, Pixel](image).Spec())
	// Output:
	// float64{Channel:3} [18. 22. 26.]
	// float64{Pixel:4 Channel:3}
}

// A text can list the dimensions as well.
func ExampleEinsum() {
	x := count(BatchSize{}.Of(2), SeqLen{}.Of(3), InputRep{}.Of(2))
	w := count(InputRep{}.Of(2), KqRep{}.Of(2))
	fmt.Println(named.Einsum("batchSize seqLen inputRep, inputRep kqRep -> batchSize kqRep", x, w))
	// Output:
	// float64{BatchSize:2 KqRep:2}
	// [[ 18.  33.]
	//  [ 54. 105.]]
}

// The order of several contractions is chosen by cost, and can be looked at.
func ExampleExplain() {
	key := ops.RandomKey(0)
	x := named.Normal(key, dtype.Float32, 0, 1, SeqLen{}.Of(512), InputRep{}.Of(768))
	a := named.Normal(key, dtype.Float32, 0, 1, InputRep{}.Of(768), KqRep{}.Of(64))
	b := named.Normal(key, dtype.Float32, 0, 1, KqRep{}.Of(64), ValueRep{}.Of(768))
	fmt.Println(named.By(InputRep{}, KqRep{}).Explain(x, a, b))
	// Output:
	// 1. {SeqLen:512 InputRep:768} · {InputRep:768 KqRep:64} over InputRep → {SeqLen:512 KqRep:64}
	//    1 product of 512×768 and 768×64, 50.3 MFLOP, 1.9 MB
	// 2. {KqRep:64 ValueRep:768} · {SeqLen:512 KqRep:64} over KqRep → {ValueRep:768 SeqLen:512}
	//    1 product of 768×64 and 64×512, 50.3 MFLOP, 1.9 MB
	// 101 MFLOP, 3.8 MB; in one loop 58 GFLOP
}

// Elementwise operations refuse combinations that nobody asked for.
func ExampleOuter() {
	query := named.Range(dtype.Int64, SeqLen{}.Of(3))
	key := named.Range(dtype.Int64, KeySeqLen{}.Of(3))
	fmt.Println(named.Outer(ops.Sub, query, key))
	// Output:
	// int64{SeqLen:3 KeySeqLen:3}
	// [[ 0 -1 -2]
	//  [ 1  0 -1]
	//  [ 2  1  0]]
}

// Names go away and come back at the edge of a program.
func ExampleUnnamed() {
	x := count(SeqLen{}.Of(2), InputRep{}.Of(3))
	plain := named.Unnamed(x, InputRep{}, SeqLen{})
	fmt.Println(plain)
	fmt.Println(named.Of(ops.Neg(plain), InputRep{}, SeqLen{}).Spec())
	fmt.Println(named.MapUnnamed(func(x tensor.Tensor) tensor.Tensor { return ops.CumSum(x, 0, ops.CumOptions{}) }, x, []named.Name{InputRep{}}, InputRep{}))
	// Output:
	// [[0. 3.]
	//  [1. 4.]
	//  [2. 5.]] float64[3, 2]
	// float64{InputRep:3 SeqLen:2}
	// float64{SeqLen:2 InputRep:3}
	// [[ 0.  1.  3.]
	//  [ 3.  7. 12.]]
}

// Take looks rows up in a table.
func ExampleTake() {
	table := count(Vocab{}.Of(4), TokenRep{}.Of(2))
	ids := named.Of([][]int64{{3, 0}, {1, 1}}, BatchSize{}, SeqLen{})
	fmt.Println(named.Take[Vocab](table, ids))
	// Output:
	// float64{BatchSize:2 SeqLen:2 TokenRep:2}
	// [[[6. 7.]
	//   [0. 1.]]
	//
	//  [[2. 3.]
	//   [2. 3.]]]
}
