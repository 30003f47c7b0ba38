package named_test

import (
	"errors"
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// An attention head by position, as the proposal begins with it; with a slip in it that
// nothing notices, since the sizes happen to fit; and by name, where the slip has no way to be
// written.
func Example_attention() {
	x := named.Add(named.Mul(count(SeqLen{}.Of(2), InputRep{}.Of(2)), 0.3), -0.4)
	q := named.Add(named.Mul(count(InputRep{}.Of(2), KqRep{}.Of(2)), 0.5), -1)
	k := named.Add(named.Mul(count(InputRep{}.Of(2), KqRep{}.Of(2)), -0.7), 1)
	v := named.Add(named.Mul(count(InputRep{}.Of(2), ValueRep{}.Of(2)), 1.1), -2)
	scale := 1 / math.Sqrt2

	xs, queryM, keyM, valueM := named.Unnamed(x, SeqLen{}, InputRep{}), named.Unnamed(q, InputRep{}, KqRep{}), named.Unnamed(k, InputRep{}, KqRep{}), named.Unnamed(v, InputRep{}, ValueRep{})
	right := func() tensor.Tensor {
		keys := ops.MatMul(xs, keyM)      // [seq, kq]
		queries := ops.MatMul(xs, queryM) // [seq, kq]
		attention := ops.Softmax(ops.Mul(ops.MatMulT(queries, keys, false, true), scale), -1)
		return ops.MatMul(attention, ops.MatMul(xs, valueM)) // [seq (query), value]
	}()
	wrong := func() tensor.Tensor {
		keys := ops.MatMul(xs, keyM)
		queries := ops.MatMul(xs, queryM)
		attention := ops.Softmax(ops.Mul(ops.MatMulT(queries, keys, true, false), scale), -1)
		values := ops.MatMulT(xs, valueM, true, false)
		return ops.MatMulT(attention, values, false, true)
	}()
	fmt.Printf("%.3v\n%.3v\n", right, wrong)

	keys := named.Rename[SeqLen, KeySeqLen](named.Dot[InputRep](x, k))
	queries := named.Dot[InputRep](x, q)
	attention := named.Softmax[KeySeqLen](named.Mul(named.Dot[KqRep](keys, queries), scale))
	values := named.Rename[SeqLen, KeySeqLen](named.Dot[InputRep](x, v))
	fmt.Printf("%.3v\n", named.Order(named.Dot[KeySeqLen](values, attention), SeqLen{}, ValueRep{}))

	_, err := tenon.Try(func() *named.Tensor { return named.Dot[SeqLen](x, v) })
	var e *tenon.Error
	errors.As(err, &e)
	fmt.Println(e.Op + ": " + e.Msg[:len("right operand has no SeqLen")])
	// Output:
	// [[0.226 0.353]
	//  [0.267 0.344]] float64[2, 2]
	// [[0.721 0.538]
	//  [0.731 0.518]] float64[2, 2]
	// float64{SeqLen:2 ValueRep:2}
	// [[0.226 0.353]
	//  [0.267 0.344]]
	// named.Dot over SeqLen: right operand has no SeqLen
}
