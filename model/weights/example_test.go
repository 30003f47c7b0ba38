package weights_test

import (
	"bytes"
	"fmt"

	"github.com/tenonml/tenon/model/weights"
	"github.com/tenonml/tenon/tensor"
)

func ExampleNewFile() {
	var b bytes.Buffer
	if err := weights.WriteNPZ(&b, map[string]tensor.Tensor{"w": tensor.Of([]float32{1, 2})}); err != nil {
		panic(err)
	}
	f, err := weights.NewFile(bytes.NewReader(b.Bytes()), int64(b.Len()), weights.NumPy)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	w, err := f.Read("w")
	fmt.Println(f.Names(), w, err)
	// Output: [w] [1. 2.] float32[2] <nil>
}
