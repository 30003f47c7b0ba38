package files_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"testing/fstest"

	"github.com/tenonml/tenon/data/dataset/files"
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
