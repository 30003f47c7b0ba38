package files_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/tenonml/tenon/data/csvio"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/dataset/files"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/structured"
)

// picture is a PNG of three by two pixels.
func picture() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// An image as height, width and channels.
func ExampleDecodeImage() {
	x, err := files.DecodeImage(bytes.NewReader(picture()), files.ImageOptions{Channels: 3})
	fmt.Println(x.Spec(), err)
	// Output:
	// uint8[2, 3, 3] <nil>
}

// The folders of a file system are the labels of the images in them.
func ExampleImagesFS() {
	fsys := fstest.MapFS{"cat/1.png": {Data: picture()}, "dog/1.png": {Data: picture()}, "dog/2.png": {Data: picture()}}
	data, labels, err := files.ImagesFS(fsys, files.ImageOptions{})
	fmt.Println(labels, err)
	for x, err := range data.All(context.Background()) {
		fmt.Println(x.Label, x.X.Shape(), err)
	}
	// Output:
	// [cat dog] <nil>
	// 0 int64[] [2, 3, 1] <nil>
	// 1 int64[] [2, 3, 1] <nil>
	// 1 int64[] [2, 3, 1] <nil>
}

// The records of files, one behind the other.
func ExampleJSONLines() {
	dir, err := os.MkdirTemp("", "files")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	lines, table := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.csv")
	for name, text := range map[string]string{lines: "{\"id\": 1}\n{\"id\": 2}\n", table: "id\n3\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			panic(err)
		}
	}
	for _, d := range []*dataset.Dataset[*structured.Tensor]{files.JSONLines(jsonl.Options{}, lines), files.CSV(csvio.Options{}, table)} {
		for x, err := range d.All(context.Background()) {
			fmt.Println(x, err)
		}
	}
	// Output:
	// {id: int64}
	//   id
	//   int64
	//   1 <nil>
	// {id: int64}
	//   id
	//   int64
	//   2 <nil>
	// {id: int64}
	//   id
	//   int64
	//   3 <nil>
}
