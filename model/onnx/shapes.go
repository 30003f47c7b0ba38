package onnx

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// sizesOf returns the sizes of a tensor as a vector, with known elements if all sizes are
// known.
func sizesOf(x T) T {
	if x.Shape().IsFull() {
		return vector(x.Shape().Dims())
	}
	return ops.Shape(x)
}

func shapeOf(c *call) []any {
	x := c.x(0)
	n := rank(x)
	clamp := func(k int) int {
		if k < 0 {
			k += n
		}
		return min(max(k, 0), n)
	}
	from, to := clamp(c.int("start", 0)), clamp(c.int("end", n))
	if part := x.Shape().Slice(from, max(from, to)); part.IsFull() {
		return one(vector(part.Dims()))
	}
	return one(ops.Index(ops.Shape(x), key.Range(from, max(from, to), nil)))
}

func sizeOf(c *call) []any {
	if s := c.x(0).Shape(); s.IsFull() {
		return one(tensor.Scalar(int64(s.Size())))
	}
	return one(ops.Size(c.x(0)))
}

// reshape takes 0 to mean the size of x along the same axis, unless the model says otherwise.
func reshape(c *call) []any {
	x := c.x(0)
	if c.has(1) && !c.isKnown(1) {
		return one(ops.Reshape(x, c.x(1)))
	}
	want := c.intsAt(1, "shape")
	if !c.flag("allowzero") {
		want = slices.Clone(want)
		for i, n := range want {
			if n == 0 {
				if i >= rank(x) {
					refuse(tenon.ErrShape, "size %d of %v refers to an axis that %s does not have", i, want, tenon.String(x.Spec()))
				}
				if want[i] = x.Shape().Dim(i); want[i] < 0 {
					return one(ops.Reshape(x, ops.Where(ops.Equal(vector(c.intsAt(1, "shape")), int64(0)), resized(ops.Shape(x), len(want)), vector(c.intsAt(1, "shape")))))
				}
			}
		}
	}
	return one(ops.Reshape(x, want))
}

// resized returns the first n elements of a vector, padded with zeros.
func resized(v T, n int) T {
	have := v.Shape().Dim(0)
	if have >= n {
		return ops.Index(v, key.To(n))
	}
	return ops.Pad(v, [][]int{{0, n - have}}, ops.PadOptions{})
}

func flatten(c *call) []any {
	x := c.x(0)
	k := axis(c.int("axis", 1), rank(x))
	if tail := x.Shape().Slice(k, rank(x)); tail.IsFull() && tail.Size() > 0 {
		return one(ops.Reshape(x, []int{-1, tail.Size()}))
	}
	if head := x.Shape().Slice(0, k); head.IsFull() && head.Size() > 0 {
		return one(ops.Reshape(x, []int{head.Size(), -1}))
	}
	return one(flattened(x, k))
}

func squeeze(c *call) []any {
	axes := c.intsAt(1, "axes")
	if axes == nil {
		for i, n := range dims(c.x(0)) {
			if n == 1 {
				axes = append(axes, i)
			}
		}
	}
	if len(axes) == 0 {
		return one(c.x(0))
	}
	return one(ops.Squeeze(c.x(0), axes...))
}

func unsqueeze(c *call) []any {
	if axes := c.intsAt(1, "axes"); len(axes) > 0 {
		return one(ops.ExpandDims(c.x(0), axes...))
	}
	return one(c.x(0))
}

func transpose(c *call) []any {
	return one(ops.Transpose(c.x(0), c.ints("perm")...))
}

// expand broadcasts x to a shape, and the shape to x.
func expand(x, sizes T) T {
	if want, ok := constInts(sizes); ok && x.Shape().IsFull() {
		s, err := shape.Broadcast(x.Shape(), shape.Of(want...))
		tenon.Throw(err)
		return ops.BroadcastTo(x, s.Dims())
	}
	return ops.Where(ops.Ones(dtype.Bool, sizes), x, x)
}

func depthToSpace(c *call) []any {
	x, b := c.x(0), c.int("blocksize", 1)
	d := dims(x)
	n, deep, h, w := d[0], d[1]/(b*b), d[2], d[3]
	if c.text("mode", "DCR") == "CRD" {
		x = ops.Transpose(ops.Reshape(x, []int{n, deep, b, b, h, w}), 0, 1, 4, 2, 5, 3)
	} else {
		x = ops.Transpose(ops.Reshape(x, []int{n, b, b, deep, h, w}), 0, 3, 4, 1, 5, 2)
	}
	return one(ops.Reshape(x, []int{n, deep, h * b, w * b}))
}

func spaceToDepth(c *call) []any {
	x, b := c.x(0), c.int("blocksize", 1)
	d := dims(x)
	n, deep, h, w := d[0], d[1], d[2]/b, d[3]/b
	x = ops.Transpose(ops.Reshape(x, []int{n, deep, h, b, w, b}), 0, 3, 5, 1, 2, 4)
	return one(ops.Reshape(x, []int{n, deep * b * b, h, w}))
}
