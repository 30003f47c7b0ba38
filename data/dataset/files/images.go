package files

import (
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // images of folders are PNG and JPEG
	_ "image/png"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Labelled is an example with its class.
type Labelled struct {
	X     tensor.Tensor // images are uint8[height, width, channels]
	Label tensor.Tensor // int64[]
}

// ImageOptions control how images are read. The zero value leaves them unchanged.
type ImageOptions struct {
	// Channels is 1 for grayscale, 3 for RGB, and 4 for RGBA. 0 means 1 for grayscale images, 4 for
	// images with alpha, and 3 for others.
	Channels int

	// MaxPixels limits the number of pixels of an image. 0 means 100 million.
	MaxPixels int
}

// Images returns the dataset of the images in the subfolders of a folder, and the sorted names
// of the subfolders: images in the first one have label 0, and so on. Images are the files, at
// any depth, whose names end in .png, .jpg or .jpeg, sorted by name. Each image is decoded when
// it is needed. Images of different sizes make ragged batches, or must first be mapped to one
// size.
func Images(dir string, o ImageOptions) (*dataset.Dataset[Labelled], []string, error) {
	return ImagesFS(os.DirFS(dir), o)
}

// ImagesFS is [Images] for a file system.
func ImagesFS(fsys fs.FS, o ImageOptions) (*dataset.Dataset[Labelled], []string, error) {
	if o.Channels != 0 && o.Channels != 1 && o.Channels != 3 && o.Channels != 4 {
		return nil, nil, fail("Images", "", "Channels must be 0, 1, 3 or 4, not %d", o.Channels)
	}
	if o.MaxPixels == 0 {
		o.MaxPixels = 100_000_000
	}
	dirs, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, nil, inFile("Images", ".", err)
	}
	var classes, names []string
	var labels []int64
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		label := int64(len(classes))
		classes = append(classes, d.Name())
		err := fs.WalkDir(fsys, d.Name(), func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			if slices.Contains([]string{".png", ".jpg", ".jpeg"}, strings.ToLower(path.Ext(name))) {
				names, labels = append(names, name), append(labels, label)
			}
			return nil
		})
		if err != nil {
			return nil, nil, inFile("Images", d.Name(), err)
		}
	}
	return dataset.FromFunc(int64(len(names)), func(i int64) (Labelled, error) {
		x, err := readImage(fsys, names[i], o)
		return Labelled{x, tensor.Scalar(labels[i])}, err
	}).Origins(func(i int64) string { return names[i] }), classes, nil
}

// readImage reads an image from a file system.
func readImage(fsys fs.FS, name string, o ImageOptions) (tensor.Tensor, error) {
	b, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, inFile("Images", name, err)
	}
	t, err := DecodeImage(strings.NewReader(string(b)), o)
	if err != nil {
		return nil, inFile("Images", name, err)
	}
	return t, nil
}

// DecodeImage reads a PNG or JPEG image, as uint8[height, width, channels]. 16-bit samples are
// truncated to 8 bits, and colours are not premultiplied by alpha.
func DecodeImage(r io.ReadSeeker, o ImageOptions) (tensor.Tensor, error) {
	if o.MaxPixels == 0 {
		o.MaxPixels = 100_000_000
	}
	c, _, err := image.DecodeConfig(r)
	if err != nil {
		return nil, err
	}
	if c.Width < 0 || c.Height < 0 || c.Width > 0 && c.Height > o.MaxPixels/c.Width {
		return nil, fmt.Errorf("an image of %d × %d pixels exceeds the limit of %d", c.Width, c.Height, o.MaxPixels)
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	m, _, err := image.Decode(r)
	if err != nil {
		return nil, err
	}
	channels := o.Channels
	if channels == 0 {
		channels = natural(m)
	}
	b := m.Bounds()
	t, out := tensor.Make[uint8](shape.Of(b.Dy(), b.Dx(), channels))
	k := 0
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if channels == 1 {
				out[k] = color.GrayModel.Convert(m.At(x, y)).(color.Gray).Y
				k++
				continue
			}
			p := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
			k += copy(out[k:], []uint8{p.R, p.G, p.B, p.A}[:channels])
		}
	}
	return t, nil
}

// natural returns the number of channels of an image.
func natural(m image.Image) int {
	switch m.ColorModel() {
	case color.GrayModel, color.Gray16Model:
		return 1
	}
	if o, ok := m.(interface{ Opaque() bool }); ok && !o.Opaque() {
		return 4
	}
	return 3
}
