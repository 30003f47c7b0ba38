package saved_test

import (
	"bytes"
	"fmt"

	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/tensor"
)

// A tree of tensors in memory, and back into a structure like it.
func ExampleEncode() {
	type layer struct{ W, B tensor.Tensor }
	var b bytes.Buffer
	if err := saved.Encode(&b, layer{tensor.Of([]float32{1, 2}), tensor.Of([]float32{3})}, saved.WriteOptions{Metadata: map[string]string{"run": "7"}}); err != nil {
		panic(err)
	}
	f, err := saved.NewFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		panic(err)
	}
	defer f.Close()
	l, err := saved.Fill(f, layer{tensor.Of([]float32{0, 0}), tensor.Of([]float32{0})})
	fmt.Println(l.W, l.B, err)
	// Output:
	// [1. 2.] float32[2] [3.] float32[1] <nil>
}
