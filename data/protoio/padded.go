package protoio

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/tensor"
)

// longest returns the number of values of the longest row.
func longest(splits []int64) int {
	n := int64(0)
	for i := 1; i < len(splits); i++ {
		n = max(n, splits[i]-splits[i-1])
	}
	return int(n)
}

// padded returns the concatenation of the rows, padded to width values each. Shorter rows continue
// with the elements of fill, a vector as long as an item, which starts over at each whole item.
func (c *column) padded(width int, fill tensor.Tensor) tensor.Tensor {
	switch v := c.values.(type) {
	case *tensor.Strings:
		return padStrings(v, c.splits, width, fill.(*tensor.Strings))
	case *tensor.Dense:
		if v.DType() == dtype.Int64 {
			return padDense[int64](v, c.splits, width, fill)
		}
	}
	return padDense[float32](c.values.(*tensor.Dense), c.splits, width, fill)
}

func padDense[T int64 | float32](v *tensor.Dense, splits []int64, width int, fill tensor.Tensor) tensor.Tensor {
	rows := len(splits) - 1
	out := tensor.Uninit(v.DType(), shape.Of(rows*width))
	src, dst, pad := tensor.Elems[T](v), tensor.Elems[T](out), tensor.Elems[T](tensor.Contiguous(fill.(*tensor.Dense)))
	par.For(rows, max(1, 16<<10/max(1, width)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := dst[i*width : (i+1)*width]
			n := copy(row, src[splits[i]:splits[i+1]])
			for n < width {
				n += copy(row[n:], pad)
			}
		}
	})
	return out
}

func padStrings(v *tensor.Strings, splits []int64, width int, fill *tensor.Strings) tensor.Tensor {
	rows := len(splits) - 1
	offsets := make([]int64, 1, rows*width+1)
	var bytes []byte
	for i := range rows {
		n := 0
		for j := splits[i]; j < splits[i+1]; j++ {
			bytes = append(bytes, v.At(int(j))...)
			offsets = append(offsets, int64(len(bytes)))
			n++
		}
		for ; n < width; n++ {
			bytes = append(bytes, fill.At(n%fill.Len())...)
			offsets = append(offsets, int64(len(bytes)))
		}
	}
	return tensor.WrapStrings(offsets, bytes, shape.Of(rows*width))
}

// sequence returns [rows, longest, shape…].
func (c *column) sequence(b *builder, f Sequence) (tensor.Tensor, error) {
	item := f.Shape.Size()
	if !f.Shape.IsFull() || item == 0 {
		return nil, fail(tenon.ErrShape, b.name, "the shape %v of a sequence's items must be fully known and not empty", f.Shape)
	}
	for i := range c.rows() {
		if n := c.splits[i+1] - c.splits[i]; n%int64(item) != 0 {
			return nil, b.at(i, "has %d values, which is not a multiple of %d", n, item)
		}
	}
	width := longest(c.splits)
	if c.rows() > 0 && width > b.o.maxPadded()/c.rows() {
		return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "protoio", Where: b.name,
			Msg:  "padding to the longest list takes too many elements",
			Hint: "use a Ragged feature, or raise MaxPadded"}
	}
	def := f.Default
	if def == nil {
		def = ops.Zeros(f.DType, []int{1})
	}
	fill, err := filler(b.name, f.DType, def, item)
	if err != nil {
		return nil, err
	}
	full, err := withOuter(b.name, f.Shape, c.rows(), width/item)
	if err != nil {
		return nil, err
	}
	return reshape(c.padded(width, fill), full), nil
}

// varLen returns the rows as a sparse tensor.
func (c *column) varLen() (tensor.Tensor, error) {
	at := tensor.Uninit(dtype.Int64, shape.Of(c.values.Shape().Size(), 2))
	xs := tensor.Elems[int64](at)
	par.For(c.rows(), 4<<10, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j := c.splits[i]; j < c.splits[i+1]; j++ {
				xs[2*j], xs[2*j+1] = int64(i), j-c.splits[i]
			}
		}
	})
	return sparse.New(at, c.values, []int64{int64(c.rows()), int64(longest(c.splits))})
}

// varLenRow returns the only row as a sparse vector.
func (c *column) varLenRow() (tensor.Tensor, error) {
	n := c.values.Shape().Size()
	at, xs := tensor.Make[int64](shape.Of(n, 1))
	for i := range xs {
		xs[i] = int64(i)
	}
	return sparse.New(at, c.values, []int64{int64(n)})
}
