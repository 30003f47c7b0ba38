package howto

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/dataset/files"
	"github.com/tenonml/tenon/model/weights"
	"github.com/tenonml/tenon/tensor"
)

func Example_numpyA() {
	x, y := tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2), tensor.Of([]int64{0, 1, 1})
	var file bytes.Buffer
	check(weights.WriteNPZ(&file, map[string]tensor.Tensor{"x": x, "y": y}))
	name := filepath.Join(folder, "xy.npz")
	check(os.WriteFile(name, file.Bytes(), 0o666))

	arrays, err := weights.Load(name)
	check(err)
	fmt.Println(arrays["y"])
	// Output:
	// [0 1 1] int64[3]
}

func Example_numpyB() {
	data, err := files.NPZ(filepath.Join(folder, "xy.npz"))
	check(err)
	batch, err := data.Batch(2, dataset.BatchOptions{}).At(0)
	check(err)
	fmt.Println(batch["x"], batch["y"])
	// Output:
	// [[1. 2.]
	//  [3. 4.]] float32[2, 2] [0 1] int64[2]
}
