package named_test

import (
	"errors"
	"fmt"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// The texts of errors are pinned; line numbers are replaced by 0.
func TestErrorTexts(t *testing.T) {
	in := named.Zeros(dtype.Float32, Seq{}.Of(8), Rep{}.Of(2))
	keyM := named.Zeros(dtype.Float32, Rep{}.Of(2), Kq{}.Of(3))
	keys := named.Rename[Seq, KeySeq](named.Dot[Rep](in, keyM))
	other := named.Zeros(dtype.Float32, Foo{}.Of(3), Val{}.Of(4))
	tests := []struct {
		name string
		kind error
		f    func()
		want string
	}{
		{"no such dimension", tenon.ErrNotFound, func() { named.Dot[Kq](keys, other) },
			`named.Dot over Kq: right operand has no Kq
  left   {KeySeq:8 Kq:3}  from errors_test.go:0 Rename Seq→KeySeq
  right  {Foo:3 Val:4}    from errors_test.go:0
  at named/errors_test.go:0
  shared: none. Foo has the same size as Kq: did you mean named.Rename[Foo, Kq](right)?`},
		{"another one shared", tenon.ErrInvalid, func() { named.Dot[Kq](named.Dot[Rep](in, keyM), named.Dot[Rep](in, keyM)) },
			`named.Dot over Kq: both operands also have Seq
  left   {Seq:8 Kq:3}
  right  {Seq:8 Kq:3}
  at named/errors_test.go:0
  rename one, contract it too, take it as a batch with named.Contract, or lift the function over it with named.Lift[Seq]`},
		{"sizes", tenon.ErrInvalid, func() { named.Dot[Rep](in, named.Zeros(dtype.Float32, Rep{}.Of(3))) },
			`named.Dot over Rep: Rep has the sizes 2 and 3
  left   {Seq:8 Rep:2}  from errors_test.go:0
  right  {Rep:3}        from errors_test.go:0
  at named/errors_test.go:0`},
		{"a slip of the pen", tenon.ErrInvalid, func() { named.Add(named.Zeros(dtype.Float32, Seq{}.Of(3)), named.Zeros(dtype.Float32, Seqs{}.Of(3))) },
			`named.Add: neither operand has all names: left lacks {Seqs}, right lacks {Seq}
  left   {Seq:3}   from errors_test.go:0
  right  {Seqs:3}  from errors_test.go:0
  at named/errors_test.go:0
  Seq and Seqs have the same size: did you mean named.Rename[Seqs, Seq](right)?`},
		{"neither has all", tenon.ErrInvalid, func() { named.Mul(in, keyM) },
			`named.Mul: neither operand has all names: left lacks {Kq}, right lacks {Seq}
  left   {Seq:8 Rep:2}  from errors_test.go:0
  right  {Rep:2 Kq:3}   from errors_test.go:0
  at named/errors_test.go:0
  if all combinations are meant, use named.Outer, or named.BroadcastTo on one operand`},
		{"rename of what is missing", tenon.ErrNotFound, func() { named.Rename[Foo, Val](in) },
			`named.Rename Foo→Val: the tensor has no Foo
  tensor  {Seq:8 Rep:2}  from errors_test.go:0
  at named/errors_test.go:0`},
		{"rename onto what is there", tenon.ErrInvalid, func() { named.Rename[Seq, Rep](in) },
			`named.Rename Seq→Rep: the tensor already has Rep
  tensor  {Seq:8 Rep:2}  from errors_test.go:0
  at named/errors_test.go:0`},
		{"softmax", tenon.ErrNotFound, func() { named.Softmax[Val](in) },
			`named.Softmax over Val: the tensor has no Val
  tensor  {Seq:8 Rep:2}  from errors_test.go:0
  at named/errors_test.go:0`},
		{"schema", tenon.ErrInvalid, func() { named.Bind[seqRep](named.Dot[Rep](in, keyM)) },
			`named.Bind seqRep: the schema is {Seq Rep}: missing {Rep}, extra {Kq}
  tensor  {Seq:8 Kq:3}
  at named/errors_test.go:0
  did you mean named.Rename[Kq, Rep](tensor)?`},
		{"schema with an extra dimension", tenon.ErrInvalid, func() { named.Bind[seqRep](named.ExpandDims(in, Batch{})) },
			`named.Bind seqRep: the schema is {Seq Rep}: extra {Batch}
  tensor  {Seq:8 Rep:2 Batch:1}
  at named/errors_test.go:0
  if it is the function's caller that knows of {Batch}, lift the function over it with named.Lift`},
		{"inside of Lift", tenon.ErrNotFound, func() { named.Lift[Seq](func(x T) T { return named.Softmax[Seq](x) })(in) },
			`named.Softmax over Seq: the tensor has no Seq
  tensor  {Rep:2}
  at named/errors_test.go:0
  Seq is what named.Lift takes the function over: the function does not see it`},
		{"from outside of Lift", tenon.ErrInvalid, func() { named.Lift[Seq](func(x T) T { return named.Add(x, in) })(in) },
			`named.Add: Seq is what named.Lift takes the function over, and a tensor from outside has it
  left   {Rep:2}
  right  {Seq:8 Rep:2}  from errors_test.go:0
  at named/errors_test.go:0
  pass the tensor to the lifted function as an argument, so that it is taken apart along Seq too`},
		{"stack", tenon.ErrInvalid, func() { named.Stack[Foo](in, keyM) },
			`named.Stack: the tensors have different dimensions
  operand 0  {Seq:8 Rep:2}  from errors_test.go:0
  operand 1  {Rep:2 Kq:3}   from errors_test.go:0
  at named/errors_test.go:0
  rename them, or use named.BroadcastTo`},
		{"split", tenon.ErrInvalid, func() { named.Split[Seq](in, Head{}.Of(3), Val{}.Of(3)) },
			`named.Split over Seq: 8 elements do not fill the sizes [3 3]
  tensor  {Seq:8 Rep:2}  from errors_test.go:0
  at named/errors_test.go:0`},
		{"position", tenon.ErrRange, func() { named.Index[Seq](in, 8) },
			`named.Index over Seq: position 8 is out of bounds: Seq has the size 8
  tensor  {Seq:8 Rep:2}  from errors_test.go:0
  at named/errors_test.go:0`},
		{"position from the end", tenon.ErrRange, func() { named.Index[Rep](in, -3) },
			`named.Index over Rep: position -3 is out of bounds: Rep has the size 2
  tensor  {Seq:8 Rep:2}  from errors_test.go:0
  at named/errors_test.go:0`},
		{"top k", tenon.ErrInvalid, func() { named.TopK[Rep](in, 3) },
			`named.TopK over Rep: k is 3, and Rep has the size 2
  tensor  {Seq:8 Rep:2}  from errors_test.go:0
  at named/errors_test.go:0`},
		{"einsum", tenon.ErrNotFound, func() { named.Einsum("Seq Rep, Rep Kq -> Seq Val", in, keyM) },
			`named.Einsum: "Seq Rep, Rep Kq -> Seq Val": no tensor has Val, which the result lists
  at named/errors_test.go:0`},
		{"no names", tenon.ErrDType, func() { named.Sum[Seq](tensor.Of([]float32{1, 2})) },
			`named.Sum: got float32[2], which has no names
  at named/errors_test.go:0
  name its dimensions with named.Of`},
	}
	line := regexp.MustCompile(`(errors_test\.go):\d+`)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := thrown(tt.f)
			if !errors.Is(err, tt.kind) {
				t.Fatalf("got %v, want an error of kind %v", err, tt.kind)
			}
			if d := cmp.Diff(tt.want, line.ReplaceAllString(fmt.Sprintf("%+v", err), "$1:0")); d != "" {
				t.Error(d)
			}
		})
	}
}

// What depends on elements, which dimcheck does not know, names the operands too.
func TestErrorsOfElements(t *testing.T) {
	rows := named.Of(ragged.FromSlices([][]float32{{1, 2, 3}, {}, {4, 5}}), Batch{}, Token{})
	x := named.Zeros(dtype.Float32, Seq{}.Of(8), Rep{}.Of(2))
	at := named.Of(tensor.Of([]int32{1, 8}, 2), Foo{})
	tests := []struct {
		name string
		kind error
		want string
		f    func()
	}{
		{"take", tenon.ErrInvalid,
			`named.Take over Seq: indices[1]: index 8 is outside [0, 8)
  tensor   {Seq:8 Rep:2}  from errors_test.go:0
  indices  {Foo:2}        from errors_test.go:0
  at named/errors_test.go:0`,
			func() { named.Take[Seq](x, at) }},
		{"rows of other lengths", tenon.ErrShape,
			`named.Add: row 1: dimension 1 has 0 and 3 values there
  left   {Batch:3 Token~}  from errors_test.go:0
  right  {Token:3}         from errors_test.go:0
  at named/errors_test.go:0`,
			func() { named.Add(rows, named.Zeros(dtype.Float32, Token{}.Of(3))) }},
		{"order of rows", tenon.ErrUnsupported,
			`named.Order: {Batch, Token} divide the rows, and are always stored first, in this order
  tensor  {Batch:3 Token~}  from errors_test.go:0
  at named/errors_test.go:0`,
			func() { named.Order(rows, Token{}, Batch{}) }},
		{"a label", tenon.ErrInvalid,
			`named.CrossEntropy over Rep: labels[1]: label 8 is not one of 2 classes
  logits  {Foo:2 Rep:2}  from errors_test.go:0
  labels  {Foo:2}        from errors_test.go:0
  at named/errors_test.go:0`,
			func() { named.CrossEntropy[Rep](named.Zeros(dtype.Float32, Foo{}.Of(2), Rep{}.Of(2)), at) }},
		{"pieces", tenon.ErrInvalid,
			`named.Pieces over Seq: the sizes [1 2] do not add up to 8, the size of Seq
  tensor  {Seq:8 Rep:2}  from errors_test.go:0
  at named/errors_test.go:0`,
			func() { named.Pieces[Seq](x, 1, 2) }},
		{"margins", tenon.ErrInvalid,
			`named.Pad over Seq: the margins are -1 and 0: neither may be negative
  at named/errors_test.go:0`,
			func() { named.Pad[Seq](x, -1, 0, named.PadOptions{}) }},
		{"sizes inside of rows", tenon.ErrInvalid,
			`named.Split over Rep: 4 elements do not fill the sizes [3 -1]
  tensor  {Batch:4 Token~ Rep:4}  from ragged_test.go:0
  at named/errors_test.go:0`,
			func() { named.Split[Rep](raggedWave(Rep{}.Of(4)), Head{}.Of(3), Kq{}.Of(-1)) }},
		{"what is not inside of rows", tenon.ErrNotFound,
			`named.Split over Foo: the tensor has no Foo
  tensor  {Batch:4 Token~ Rep:4}  from ragged_test.go:0
  at named/errors_test.go:0`,
			func() { named.Split[Foo](raggedWave(Rep{}.Of(4)), Head{}.Of(3), Kq{}.Of(-1)) }},
		{"position in a row", tenon.ErrRange,
			`named.Index over Token: row 1: has only 0 entries
  tensor  {Batch:3 Token~}  from errors_test.go:0
  at named/errors_test.go:0`,
			func() { named.Index[Token](rows, 1) }},
	}
	line := regexp.MustCompile(`(_test\.go):\d+`)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := thrown(tt.f)
			if !errors.Is(err, tt.kind) {
				t.Fatalf("got %v, want an error of kind %v", err, tt.kind)
			}
			if d := cmp.Diff(tt.want, line.ReplaceAllString(fmt.Sprintf("%+v", err), "$1:0")); d != "" {
				t.Error(d)
			}
		})
	}
}

type Seqs struct{ named.Dim[Seqs] }
