package track

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Track is a list of places in the plane and the times at which they were visited.
type Track struct {
	Times  tensor.Tensor `tenon:"dtype=float,shape=[points]"`
	Places tensor.Tensor `tenon:"dtype=Times,shape=[points 2]"`
	Unit   string        `tenon:"default=m,oneof=m|km"`
}

// Spec returns the Spec of the fields.
func (t Track) Spec() tenon.Spec { return ext.SpecOf(t) }

// String prints the fields.
func (t Track) String() string { return ext.String(t) }

func init() {
	ext.Register[Track]("example.com/track.Track", ext.Options{
		Version: 2,
		Migrations: map[int]ext.Migration{
			// Version 1 had no unit: everything was in kilometres.
			1: {To: 2, Do: func(fields map[string]any) (map[string]any, error) {
				fields["Unit"] = "km"
				return fields, nil
			}},
		},
	})
}

// New returns a track in metres.
func New(times, places any) (Track, error) {
	ts, err := tensor.Convert(times)
	if err != nil {
		return Track{}, err
	}
	ps, err := tensor.Convert(places)
	if err != nil {
		return Track{}, err
	}
	return ext.New(Track{Times: ts, Places: ps})
}

// Validate checks that the times do not decrease, if they are known.
func (t Track) Validate() error {
	back := ops.Less(ops.Index(t.Times, key.From(1)), ops.Index(t.Times, key.To(-1)))
	bad, ok := op.Known(ops.Any(back))
	if ok && tensor.Item[bool](bad) {
		return &tenon.Error{Kind: tenon.ErrInvalid, Where: "Times", Msg: "time goes back"}
	}
	return nil
}

// Length returns the length of the track: the sum of the distances between consecutive
// places.
func (t Track) Length() tensor.Tensor {
	steps := ops.Sub(ops.Index(t.Places, key.From(1)), ops.Index(t.Places, key.To(-1)))
	return ops.Sum(ops.Norm(steps, 2, -1))
}

// DType returns the element type of the places.
func (t Track) DType() dtype.DType { return t.Places.DType() }

// Shape returns the shape of the places.
func (t Track) Shape() shape.Shape { return t.Places.Shape() }

// HandleOp moves the places by a vector, or scales them. The times stay.
func (t Track) HandleOp(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(Track)
	if !ok {
		return nil, op.NotHandled
	}
	switch c.Op.Name {
	case "add", "sub", "mul":
		y, ok := c.Value(1).(tensor.Tensor)
		if _, both := c.Value(1).(Track); !ok || both {
			return nil, op.NotHandled
		}
		x.Places = op.Apply(c, x.Places, y)
		return op.One(x)
	}
	return nil, op.NotHandled
}

// Metres returns the track with its places in metres.
func (t Track) Metres() Track {
	if t.Unit == "m" {
		return t
	}
	t.Places, t.Unit = ops.Mul(t.Places, 1000), "m"
	return t
}
