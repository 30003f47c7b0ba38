package howto

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"

	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/dataset/files"
)

func Example_textandimagesA() {
	name := filepath.Join(folder, "lines.txt")
	check(os.WriteFile(name, []byte("one\ntwo\r\nthree"), 0o666))
	lines, err := files.Lines(name)
	check(err)
	batch, err := lines.Batch(2, dataset.BatchOptions{}).At(1)
	check(err)
	n, _ := lines.Len()
	fmt.Println(n, batch)
	// Output:
	// 3 ["three"] string[1]
}

func Example_textandimagesB() {
	var picture bytes.Buffer
	check(png.Encode(&picture, image.NewGray(image.Rect(0, 0, 3, 2))))
	for _, name := range []string{"cat/1.png", "dog/1.png", "dog/2.png"} {
		file := filepath.Join(folder, "pets", name)
		check(os.MkdirAll(filepath.Dir(file), 0o777))
		check(os.WriteFile(file, picture.Bytes(), 0o666))
	}
	pets, classes, err := files.Images(filepath.Join(folder, "pets"), files.ImageOptions{Channels: 3})
	check(err)
	batch, err := pets.Batch(3, dataset.BatchOptions{}).At(0)
	check(err)
	fmt.Println(classes, batch.X.Spec(), batch.Label)
	// Output:
	// [cat dog] uint8[3, 2, 3, 3] [0 1 1] int64[3]
}
