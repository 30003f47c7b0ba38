package protoio_test

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/protoio"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// One tf.Example, whose features lack the dimension of the messages.
func ExampleParseExample() {
	messages, fs, err := protoio.EncodeExamples(map[string]tensor.Tensor{"age": tensor.Of([]int64{30}), "tags": ragged.FromSlices([][]string{{"a", "b"}})})
	if err != nil {
		panic(err)
	}
	x, err := protoio.ParseExample(messages[0], fs, protoio.ParseOptions{})
	fmt.Println(x["age"], x["tags"], err)
	// Output:
	// 30 int64[] ["a" "b"] string[2] <nil>
}

// Examples with lists of features, one for each step.
func ExampleParseSequenceExamples() {
	messages, context, lists, err := protoio.EncodeSequenceExamples(
		map[string]tensor.Tensor{"user": tensor.Of([]int64{7, 8})},
		map[string]tensor.Tensor{"words": tenon.Must(ragged.Const([][][]int64{{{1, 2}, {3}}, {{4}}}, ragged.Options{}))})
	if err != nil {
		panic(err)
	}
	s, err := protoio.ParseSequenceExamples(messages, context, lists, protoio.ParseOptions{})
	fmt.Println(s.Context["user"], s.Lists["words"], err)
	c, l, err := protoio.ParseSequenceExample(messages[1], context, lists, protoio.ParseOptions{})
	fmt.Println(c["user"], l["words"], err)
	// Output:
	// [7 8] int64[2] [[[1 2] [3]] [[4]]] int64[2, ~, ~] <nil>
	// 8 int64[] [[4]] int64[1, ~] <nil>
}

// A Spec as TensorFlow's StructuredValue, and back.
func ExampleAppendStructure() {
	spec := tensor.NewSpec(dtype.Float32, shape.Of(-1, 3))
	b, err := protoio.AppendStructure(nil, tenon.SpecOf{Spec: spec}, protoio.Options{})
	if err != nil {
		panic(err)
	}
	e, err := protoio.DecodeStructure(b, protoio.Options{})
	fmt.Println(e.(tenon.SpecOf).Spec, err)
	// Output:
	// float32[?, 3] <nil>
}
