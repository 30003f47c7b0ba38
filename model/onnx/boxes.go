package onnx

import (
	"cmp"
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// nonMaxSuppression selects boxes by score, without those that overlap too much with one
// selected before: boxes [batch, n, 4], scores [batch, classes, n] → batch, class and box of
// each.
func nonMaxSuppression(c *call) []any {
	boxes, scores := c.x(0), c.x(1)
	most, overlap, least := int(c.scalar(2, 0)), c.scalar(3, 0), c.scalar(4, math.Inf(-1))
	centred := c.flag("center_point_box")
	pick := func(in []T) ([]tenon.Value, error) {
		d, n := dims(in[1]), dims(in[0])[1]
		if d[2] != n || d[0] != dims(in[0])[0] || dims(in[0])[2] != 4 {
			return nil, &tenon.Error{Kind: tenon.ErrShape, Msg: "the shapes of boxes and scores do not fit"}
		}
		all := tensor.Data[float64](ops.Cast(in[0], dtype.Float64))
		s := tensor.Data[float64](ops.Cast(in[1], dtype.Float64))
		var out []int64
		for b := range d[0] {
			for k := range d[1] {
				row := s[(b*d[1]+k)*n:][:n]
				for _, i := range picked(all[b*n*4:][:n*4], row, most, overlap, least, centred) {
					out = append(out, int64(b), int64(k), int64(i))
				}
			}
		}
		return []tenon.Value{tensor.Of(out, len(out)/3, 3)}, nil
	}
	spec := tensor.NewSpec(dtype.Int64, shape.Of(shape.Unknown, 3))
	return one(control.GoFunc(pick, []tenon.Spec{spec}, []T{boxes, scores})[0])
}

// picked returns the indices of the selected boxes of one class.
func picked(boxes, scores []float64, most int, overlap, least float64, centred bool) []int {
	var order []int
	for i, s := range scores {
		if s > least {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	var out []int
	for _, i := range order {
		if len(out) >= most {
			break
		}
		free := !slices.ContainsFunc(out, func(j int) bool {
			return shared(corners(boxes[4*i:][:4], centred), corners(boxes[4*j:][:4], centred)) > overlap
		})
		if free {
			out = append(out, i)
		}
	}
	return out
}

// corners returns the smallest and largest coordinates of a box along both axes.
func corners(b []float64, centred bool) [4]float64 {
	if centred {
		return [4]float64{b[0] - b[2]/2, b[1] - b[3]/2, b[0] + b[2]/2, b[1] + b[3]/2}
	}
	return [4]float64{min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3])}
}

// shared is the intersection of two boxes over their union.
func shared(a, b [4]float64) float64 {
	area := func(b [4]float64) float64 { return max(0, b[2]-b[0]) * max(0, b[3]-b[1]) }
	both := area([4]float64{max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])})
	if all := area(a) + area(b) - both; all > 0 {
		return both / all
	}
	return 0
}
