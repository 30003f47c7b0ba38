package ops

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Operations with keys have the keys as an attribute and the tensors among them as a list of
// operands; see key.Keys.

var indexOp *op.Op

func init() {
	indexOp = op.Register(&op.Op{
		Name: "index", Statement: moves(op.Select, two), Doc: "What a list of keys selects.", Strided: true,
		Params: []op.Param{{Name: "x"}, {Name: "key", Kind: op.Attr, Convert: key.Convert}, {Name: "operands", Kind: op.Tensors, Optional: true}}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) {
			keys, err := keysOf(c, 1, 0)
			if err != nil || keys == nil {
				return shape.UnknownRank, err
			}
			return keyedShape(c, keys, c.Tensor(0).Shape())
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			keys, err := keysOf(c, 1, 0)
			if err != nil {
				return nil, err
			}
			v, err := viewOf(c, keys, c.Tensor(0))
			if err != nil {
				return nil, err
			}
			return c.Result(viewed(c.Tensor(0), v))
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			out := make([]tensor.Tensor, 1+len(c.List(2)))
			out[0] = op.Eval(indexUpdateOp, zerosOf(c.Tensor(0), ct[0]), ct[0], c.Args[1], c.List(2))
			return out
		},
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
			if anyOf(batched[1:]) {
				return nil, op.NotHandled
			}
			return c.Result(op.Eval(indexOp, c.Value(0), wholeBatch(c, 1), c.List(2)))
		},
	})
}

// Index returns the part of x that keys select. An integer selects a position along an axis, which
// is removed; key.Range and its relatives select a range, key.Ellipsis all remaining axes, and
// key.NewAxis a new axis of size 1; see package key. One key may be a tensor of positions or
// booleans, which selects along its axis as [Gather] and [BooleanMask] do. Bounds may be scalar
// tensors. A position out of bounds is an error; a range is cut off at the ends. What integers and
// ranges select is a view.
//
//	x: [a, b, c], keys 0, key.Range(1, nil, 2) → [(b-1)/2, c], any element type.
//	Gradient: the cotangent at the selected places, 0 elsewhere.
func Index(x any, keys ...any) tensor.Tensor {
	list, err := key.List(keys...)
	tenon.Throw(named("ops.Index", err))
	for i, k := range list {
		if t, ok := plain(x); ok && k.Kind == key.ByKind {
			if _, ok := plain(k.Value); ok {
				return indexBy(t, list, i)
			}
		}
	}
	ks, values := key.Split(list)
	return op.Eval(indexOp, x, ks, values)
}

// indexBy applies all keys but number i, a tensor, and then that one.
func indexBy(x tensor.Tensor, keys []key.Key, i int) tensor.Tensor {
	by := keys[i].Value.(tensor.Tensor)
	all, err := key.Expand(keys, x.Shape().Rank())
	tenon.Throw(named("ops.Index", err))
	axis, basic := 0, make([]key.Key, 0, len(all))
	found := false
	for _, k := range all {
		switch {
		case k.Kind == key.ByKind && found:
			tenon.Throw(tenon.NewError(tenon.ErrUnsupported, "ops.Index", "several tensors among the keys").
				WithHint("use ops.GatherND with their positions side by side, or one ops.Index after the other"))
		case k.Kind == key.ByKind:
			found = true
			for range k.Axes() {
				basic = append(basic, key.All)
			}
			continue
		case !found && (k.Kind == key.RangeKind || k.Kind == key.NewAxisKind):
			axis++
		}
		basic = append(basic, k)
	}
	ks, values := key.Split(basic)
	y := op.Eval(indexOp, x, ks, values)
	if by.DType().IsBool() {
		return BooleanMask(y, by, axis)
	}
	n := sizeOperand(y, axis)
	return Gather(y, Where(Less(by, 0), Add(by, Cast(n, by.DType())), by), axis)
}

var indexUpdateOp = op.Register(&op.Op{
	Name: "index_update", Statement: op.Statement{Axes: op.Scatter, Moves: one | two, Control: three, Zero: op.Zero{Keeps: true, Linear: []op.Operands{one | two}}}, Doc: "A copy with other elements where keys select.", Strided: true,
	Params: []op.Param{{Name: "x", Group: 1}, {Name: "y", Group: 1}, {Name: "key", Kind: op.Attr, Convert: key.Convert}, {Name: "operands", Kind: op.Tensors, Optional: true}}, Results: 1,
	Check: func(c *op.Call) error {
		keys, err := keysOf(c, 2, 0)
		if err != nil || keys == nil {
			return err
		}
		y := c.Tensor(1).Shape()
		s, err := keyedShape(c, keys, c.Tensor(0).Shape())
		if err != nil {
			return err
		}
		b, err := broadcast(c, s, y)
		if err == nil && b.HasRank() && s.HasRank() && (b.Rank() != s.Rank() || !b.CompatibleWith(s)) {
			return c.Errorf(tenon.ErrShape, "%v does not broadcast to the selected %v", y, s)
		}
		return err
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		keys, err := keysOf(c, 2, 0)
		if err != nil {
			return nil, err
		}
		v, err := viewOf(c, keys, c.Tensor(0))
		if err != nil {
			return nil, err
		}
		return c.Result(move.ApplyList([]tenon.Value{c.Value(0), c.Value(1)}, func(ds []*tensor.Dense) *tensor.Dense {
			out := move.Copied(ds[0])
			move.CopyTo(out.View(v.restrided(out)), move.Stretched(ds[1], v.shape))
			return out
		}))
	},
})

var _ = gradient(indexUpdateOp, func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
	out := make([]tensor.Tensor, 2+len(c.List(3)))
	zero := Cast(0, ct[0].DType())
	out[0] = op.Eval(indexUpdateOp, ct[0], zero, c.Args[2], c.List(3))
	out[1] = sumTo(op.Eval(indexOp, ct[0], c.Args[2], c.List(3)), c.Tensor(1))
	return out
})

// IndexUpdate returns a copy of x in which the part selected by keys is replaced by y, which is
// broadcast to the shape of [Index]'s result. Keys are integers and those of package key, but not
// tensors of positions; use [TensorScatterUpdate] for those.
//
//	x: [n…], y: what Index(x, keys…) has → [n…], any element type.
//	Gradient: for x the cotangent, 0 at the selected places; for y the cotangent there.
func IndexUpdate(x, y any, keys ...any) tensor.Tensor {
	list, err := key.List(keys...)
	tenon.Throw(named("ops.IndexUpdate", err))
	ks, values := key.Split(list)
	return op.Eval(indexUpdateOp, x, y, ks, values)
}

// named completes an error with the name of a function.
func named(function string, err error) error {
	if err == nil {
		return nil
	}
	e := *tenon.AsError(err)
	e.Op = function
	return &e
}

// wholeBatch returns the keys with one in front that selects the whole batch
// axis.
func wholeBatch(c *op.Call, i int) key.Keys {
	ks, _ := c.Args[i].(key.Keys)
	return append(key.Keys{key.All}, ks...)
}

func anyOf(flags []bool) bool {
	for _, f := range flags {
		if f {
			return true
		}
	}
	return false
}

// keysOf returns the keys of a call, one for each axis of tensor argument x and
// for each new axis, or nil if the tensor's rank is not known.
func keysOf(c *op.Call, at, x int) ([]key.Key, error) {
	keys, err := key.Of(c, at)
	if err != nil {
		return nil, err
	}
	for i, k := range keys {
		if k.Kind == key.ByKind {
			e := c.Errorf(tenon.ErrUnsupported, "a tensor of positions among the keys")
			e.Where, e.Hint = fmt.Sprintf("key %d", i), "use ops.Index or ops.TensorScatterUpdate"
			return nil, e
		}
	}
	s := c.Tensor(x).Shape()
	if !s.HasRank() {
		return nil, nil
	}
	return key.Expand(keys, s.Rank())
}

// keyedShape returns the shape of the selection by expanded keys.
func keyedShape(c *op.Call, keys []key.Key, s shape.Shape) (shape.Shape, error) {
	var room [8]int
	dims := room[:0]
	axis := 0
	for i := range keys {
		k := &keys[i]
		switch k.Kind {
		case key.NewAxisKind:
			dims = append(dims, 1)
			continue
		case key.AtKind:
			if _, _, err := k.Position(s.Dim(axis)); err != nil {
				return s, keyError(c, i, err)
			}
		case key.RangeKind:
			n := s.Dim(axis)
			if !k.IsAll() {
				_, count, _, known, err := k.Span(n)
				if err != nil {
					return s, keyError(c, i, err)
				}
				if n = count; !known {
					n = shape.Unknown
				}
			}
			dims = append(dims, n)
		}
		axis++
	}
	return shape.Of(dims...), nil
}

func keyError(c *op.Call, i int, err error) error {
	e := *tenon.AsError(err)
	e.Where, e.Line = fmt.Sprintf("key %d", i), ""
	return c.Fail(&e)
}
