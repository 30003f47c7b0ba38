package unlike // want package:"programs"

// This package has names that are easily taken for one another, and is right.

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
)

type Seq struct{ named.Dim[Seq] }

// A name with a type parameter is another one for each type.
type Generic[X any] struct{ named.Dim[Generic[X]] }

func generic() {
	x := named.Ones(dtype.Float32, Generic[int]{}.Of(2), Generic[Seq]{}.Of(3))
	_ = named.Sum[Generic[int]](named.Sum[Generic[Seq]](x))
	_ = named.Sum[Generic[string]](x) // want `named.Sum over Generic\[string\]: the tensor has no Generic\[string\]\n  tensor  {Generic\[int\]:2 Generic\[Seq\]:3}`
}

func of[X any](x *named.Tensor) *named.Tensor { return named.Sum[Generic[X]](x) }

// A text that is the path of a type is the same name.
func dynamic() {
	x := named.Ones(dtype.Float32, Seq{}.Of(2))
	_ = named.By(named.Dynamic("github.com/tenonml/tenon/named/dimcheck/testdata/src/unlike.Seq")).Sum(x)
	_ = named.By(named.Dynamic("Seq")).Sum(x) // want `the tensor has no Seq\n  tensor  {github.com/tenonml/tenon/named/dimcheck/testdata/src/unlike.Seq:2}`
}

// Types of functions are told apart in messages.
func local() {
	x := named.Ones(dtype.Float32, Seq{}.Of(2))
	type Seq struct{ named.Dim[Seq] }
	y := named.Ones(dtype.Float32, Seq{}.Of(2))
	_ = named.Add(x, y) // want `left lacks {github.com/tenonml/tenon/named/dimcheck/testdata/src/unlike.Seq#\d+}, right lacks {github.com/tenonml/tenon/named/dimcheck/testdata/src/unlike.Seq}`
}

// Contractions, masks and norms that look right and are not.
type (
	KeySeq struct{ named.Dim[KeySeq] }
	Rep    struct{ named.Dim[Rep] }
	Val    struct{ named.Dim[Val] }
)

func attention(query, key, value, scale *named.Tensor) {
	q, k, v := named.Ones(dtype.Float32, Seq{}.Of(4), Rep{}.Of(2)), named.Ones(dtype.Float32, Seq{}.Of(4), Rep{}.Of(2)), named.Ones(dtype.Float32, Seq{}.Of(4), Val{}.Of(3))
	_ = named.Softmax[Seq](named.Contract[Rep](q, k)) // want `both operands of the contraction \(unlike.go:\d+\) have Seq: the scores are those of each position with itself`
	scores := named.Dot[Rep](q, named.Rename[Seq, KeySeq](k))
	weights := named.Softmax[KeySeq](scores)
	_ = named.Contract[KeySeq](weights, v) // want `named.Contract over KeySeq: KeySeq is summed over, and only left operand has it\n  left   {Seq:4 KeySeq:4}\n  right  {Seq:4 Val:3}`
	_ = named.Contract[KeySeq](named.Softmax[KeySeq](scores), named.Rename[Seq, KeySeq](v))
	mask := named.CausalMask(KeySeq{}.Of(4), Seq{}.Of(4))
	_ = named.Softmax[KeySeq](named.Masked(scores, mask, -1))                      // want `the mask says which Seq each KeySeq attends to`
	_ = named.LayerNorm[Seq](q, named.Ones(dtype.Float32, Rep{}.Of(2)), nil, 1e-5) // want `named.LayerNorm over Seq: Seq is normalised, and the scale has {Rep}`
}
