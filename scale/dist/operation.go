package dist

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// The reason why collective operations do not describe their axes.
const elsewhere = "its other operands are on other ranks"

// Parameters that several operations have.
var (
	operand = op.Param{Name: "x", Takes: op.NumbersBools}
	group   = op.Param{Name: "group", Kind: op.Attr, Type: op.StringType, Default: ""}
	combine = op.Param{Name: "combine", Kind: op.Attr, Type: op.StringType, Default: string(Sum)}
	ofAxis  = op.Param{Name: "axis", Kind: op.Attr, Type: op.IntType, Default: 0}
)

// collective registers an operation of several ranks. It is Stateful, because all ranks must
// reach these operations in the same order.
func collective(name, goName, doc string, params []op.Param, s func(c *op.Call) (shape.Shape, error), run func(c *op.Call, comm *Comm, x *tensor.Dense) (tensor.Tensor, error)) *op.Op {
	if s == nil {
		s = func(c *op.Call) (shape.Shape, error) { return c.Tensor(0).Shape(), nil }
	}
	return op.Register(&op.Op{
		Name: "dist." + name, GoName: "dist." + goName, Doc: doc, Results: 1, Stateful: true,
		Params:    append([]op.Param{operand}, params...),
		Statement: op.Statement{Axes: op.Opaque, Why: elsewhere},
		Shape:     s,
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			g, _ := c.Attr("group").(string)
			comm, err := Of(c.Context(), g)
			if err != nil {
				return nil, c.Fail(err)
			}
			out, err := run(c, comm, c.Dense(0))
			if err != nil {
				return nil, c.Fail(err)
			}
			return c.Result(out)
		},
	})
}

// AllReduce returns the combination of the operands of all ranks of a group in the context (""
// for all ranks), which is the same on all of them.
//
// The gradient of [Sum] is the sum of the cotangents of all ranks; that of [Max] and [Min] is
// the same, shared equally among the elements of all ranks that attain the extreme. Other
// reductions have no gradient.
func AllReduce(x any, by Reduction, group string) tensor.Tensor {
	return op.Eval(allReduceOp, x, string(by), group)
}

var allReduceOp = collective("all_reduce", "AllReduce", "combination of the operands of all ranks", []op.Param{combine, group}, nil,
	func(c *op.Call, comm *Comm, x *tensor.Dense) (tensor.Tensor, error) {
		return comm.AllReduce(c.Context(), x, Reduction(c.Str(1)))
	})

// ReduceScatter returns this rank's part of the combination of the operands of all ranks, along
// an axis that [Share] splits.
//
// The gradient of [Sum] joins the cotangents of all ranks. Other reductions have no gradient.
func ReduceScatter(x any, by Reduction, axis int, group string) tensor.Tensor {
	return op.Eval(reduceScatterOp, x, string(by), axis, group)
}

var reduceScatterOp = collective("reduce_scatter", "ReduceScatter", "part of the combination of the operands of all ranks", []op.Param{combine, ofAxis, group},
	sized(2, shape.Unknown),
	func(c *op.Call, comm *Comm, x *tensor.Dense) (tensor.Tensor, error) {
		return inFront(x, c.Int(2), func(x tensor.Tensor) (tensor.Tensor, error) {
			return comm.ReduceScatter(c.Context(), x, Reduction(c.Str(1)))
		})
	})

// AllGather returns the operands of all ranks joined along an axis, in which their sizes may
// differ.
//
// The gradient is this rank's part of the sum of the cotangents of all ranks.
func AllGather(x any, axis int, group string) tensor.Tensor {
	return op.Eval(allGatherOp, x, axis, group)
}

var allGatherOp = collective("all_gather", "AllGather", "operands of all ranks, joined", []op.Param{ofAxis, group},
	sized(1, shape.Unknown),
	func(c *op.Call, comm *Comm, x *tensor.Dense) (tensor.Tensor, error) {
		return inFront(x, c.Int(1), func(x tensor.Tensor) (tensor.Tensor, error) { return comm.AllGather(c.Context(), x) })
	})

// gatherPart is the gradient of AllGather: the part of a sum over ranks that belongs to this
// rank's x, whatever its size.
var gatherPartOp = op.Register(&op.Op{
	Name: "dist.gathered_part", GoName: "dist.AllGather's gradient", Doc: "part of the sum of the operands of all ranks that is as large as another tensor", Results: 1, Stateful: true,
	Params:    []op.Param{operand, {Name: "like"}, ofAxis, group},
	Statement: op.Statement{Axes: op.Opaque, Why: elsewhere},
	Shape:     func(c *op.Call) (shape.Shape, error) { return c.Tensor(1).Shape(), nil },
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		comm, err := Of(c.Context(), c.Str(3))
		if err != nil {
			return nil, c.Fail(err)
		}
		n := c.Dense(1).Dim(c.Int(2))
		sizes, err := comm.meet(c.Context(), call{kind: "gradient of all_gather"}, n)
		if err != nil {
			return nil, c.Fail(err)
		}
		lo := 0
		for _, m := range sizes[:comm.Rank()] {
			lo += m
		}
		sum, err := comm.AllReduce(c.Context(), c.Dense(0), Sum)
		if err != nil {
			return nil, c.Fail(err)
		}
		return c.Result(tensor.Contiguous(along(sum, c.Int(2), lo, n).(*tensor.Dense)))
	},
})

// AllToAll sends part r of an axis, as [Share] splits it, to rank r, and joins the received
// parts along that axis.
//
// The gradient sends the cotangents back in the same way, if all ranks have operands of the
// same size.
func AllToAll(x any, axis int, group string) tensor.Tensor {
	return op.Eval(allToAllOp, x, axis, group)
}

var allToAllOp = collective("all_to_all", "AllToAll", "a part of the operand of each rank", []op.Param{ofAxis, group},
	sized(1, shape.Unknown),
	func(c *op.Call, comm *Comm, x *tensor.Dense) (tensor.Tensor, error) {
		return inFront(x, c.Int(1), func(x tensor.Tensor) (tensor.Tensor, error) { return comm.AllToAll(c.Context(), x) })
	})

// Broadcast returns the operand of rank root.
//
// The gradient on that rank is the sum of the cotangents of all ranks; elsewhere it is zero.
func Broadcast(x any, root int, group string) tensor.Tensor {
	return op.Eval(broadcastOp, x, root, group)
}

var rootParam = op.Param{Name: "root", Kind: op.Attr, Type: op.IntType, Default: 0}

var broadcastOp = collective("broadcast", "Broadcast", "operand of one rank", []op.Param{rootParam, group}, nil,
	func(c *op.Call, comm *Comm, x *tensor.Dense) (tensor.Tensor, error) {
		return comm.Broadcast(c.Context(), x, c.Int(1))
	})

// Reduce returns the sum of the operands of all ranks on rank root, and zeros on the others.
//
// The gradient on every rank is the cotangent of rank root.
func Reduce(x any, root int, group string) tensor.Tensor { return op.Eval(reduceOp, x, root, group) }

var reduceOp = collective("reduce", "Reduce", "sum of the operands of all ranks, on one of them", []op.Param{rootParam, group}, nil,
	func(c *op.Call, comm *Comm, x *tensor.Dense) (tensor.Tensor, error) {
		sum, err := comm.AllReduce(c.Context(), x, Sum)
		if err != nil || comm.Rank() == c.Int(1) {
			return sum, err
		}
		return tensor.NewDense(x.DType(), x.Shape()), nil
	})

// Shift returns, on rank r, the operand of rank r-by, modulo the number of ranks.
//
// The gradient shifts the cotangent back.
func Shift(x any, by int, group string) tensor.Tensor { return op.Eval(shiftOp, x, by, group) }

var shiftOp = collective("shift", "Shift", "operand of the rank that is some numbers behind", []op.Param{{Name: "by", Kind: op.Attr, Type: op.IntType, Default: 1}, group}, nil,
	func(c *op.Call, comm *Comm, x *tensor.Dense) (tensor.Tensor, error) {
		return comm.Shift(c.Context(), x, c.Int(1))
	})

func init() {
	one := func(f func(c *op.Call, x, y, ct tensor.Tensor) tensor.Tensor) func(*op.Call, []tensor.Tensor, []tensor.Tensor) []tensor.Tensor {
		return func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
			return []tensor.Tensor{f(c, c.Tensor(0), out[0], ct[0])}
		}
	}
	allReduceOp.VJP = one(func(c *op.Call, x, y, ct tensor.Tensor) tensor.Tensor {
		sum := AllReduce(ct, Sum, c.Str(2))
		switch Reduction(c.Str(1)) {
		case Sum:
			return sum
		case Max, Min:
			is := ops.Cast(ops.Equal(x, y), ct.DType())
			return ops.Mul(ops.Div(sum, AllReduce(is, Sum, c.Str(2))), is)
		}
		tenon.Throw(c.Errorf(tenon.ErrUnsupported, "the reduction %s over ranks has no gradient", c.Str(1)))
		return nil
	})
	allGatherOp.VJP = one(func(c *op.Call, x, y, ct tensor.Tensor) tensor.Tensor {
		return op.Eval(gatherPartOp, ct, x, c.Int(1), c.Str(2))
	})
	gatherPartOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{AllGather(ct[0], c.Int(2), c.Str(3)), nil}
	}
	reduceScatterOp.VJP = one(func(c *op.Call, x, y, ct tensor.Tensor) tensor.Tensor {
		if Reduction(c.Str(1)) != Sum {
			tenon.Throw(c.Errorf(tenon.ErrUnsupported, "the reduction %s over ranks has no gradient", c.Str(1)))
		}
		return AllGather(ct, c.Int(2), c.Str(3))
	})
	allToAllOp.VJP = one(func(c *op.Call, x, y, ct tensor.Tensor) tensor.Tensor {
		return AllToAll(ct, c.Int(1), c.Str(2))
	})
	broadcastOp.VJP = one(func(c *op.Call, x, y, ct tensor.Tensor) tensor.Tensor {
		return Reduce(ct, c.Int(1), c.Str(2))
	})
	reduceOp.VJP = one(func(c *op.Call, x, y, ct tensor.Tensor) tensor.Tensor {
		return Broadcast(ct, c.Int(1), c.Str(2))
	})
	shiftOp.VJP = one(func(c *op.Call, x, y, ct tensor.Tensor) tensor.Tensor {
		return Shift(ct, -c.Int(1), c.Str(2))
	})
}

// sized is the shape of the operand with another size of the axis that parameter i names.
func sized(i, n int) func(c *op.Call) (shape.Shape, error) {
	return func(c *op.Call) (shape.Shape, error) {
		s, axis := c.Tensor(0).Shape(), c.Int(i)
		if !s.HasRank() {
			return s, nil
		}
		if axis < -s.Rank() || axis >= s.Rank() {
			return s, c.Errorf(tenon.ErrAxis, "axis %d is out of range for rank %d", axis, s.Rank())
		}
		return s.With(counted(axis, s.Rank()), n), nil
	}
}

// counted counts an axis from the first one.
func counted(axis, rank int) int {
	if axis < 0 {
		return axis + rank
	}
	return axis
}

// inFront calls f with an axis moved to the front, and moves it back.
func inFront(x *tensor.Dense, axis int, f func(x tensor.Tensor) (tensor.Tensor, error)) (tensor.Tensor, error) {
	if counted(axis, x.Rank()) == 0 {
		return f(x)
	}
	y, err := f(ops.MoveAxis(x, axis, 0))
	if err != nil {
		return nil, err
	}
	return tensor.Contiguous(ops.MoveAxis(y, 0, axis).(*tensor.Dense)), nil
}

// along returns n entries of an axis, starting with lo.
func along(x tensor.Tensor, axis, lo, n int) tensor.Tensor {
	s := x.Shape()
	begin, size := make([]int, s.Rank()), make([]int, s.Rank())
	for i := range begin {
		size[i] = s.Dim(i)
	}
	axis = counted(axis, s.Rank())
	begin[axis], size[axis] = lo, n
	return ops.Slice(x, begin, size)
}
