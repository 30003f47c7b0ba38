package dist

import (
	"context"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist/internal/wire"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A Reduction names the elementwise operation of two tensors, a monoid's Combine, by which the
// elements of ranks are combined.
type Reduction string

// Reductions that MPI implements. Others, such as "log_add_exp", work as well.
const (
	Sum     Reduction = "add"
	Product Reduction = "mul"
	Max     Reduction = "maximum"
	Min     Reduction = "minimum"
	Any     Reduction = "logical_or"
	All     Reduction = "logical_and"
)

// dense returns x as a contiguous tensor of numbers.
func dense(what string, x tensor.Tensor) (*tensor.Dense, error) {
	d, ok := x.(*tensor.Dense)
	if !ok {
		e := &tenon.Error{Kind: tenon.ErrUnsupported, Op: "dist." + what, Msg: "it takes numbers in memory, not nothing"}
		if x != nil {
			e.Msg = "it takes numbers in memory, not " + tenon.String(x.Spec())
			e.Hint = "the operations of the package take symbolic tensors, and GatherValues any Value"
		}
		return nil, e
	}
	return tensor.Contiguous(d), nil
}

// half converts half floats to float32.
func half(x *tensor.Dense) *tensor.Dense {
	if d := x.DType(); d == dtype.Float16 || d == dtype.BFloat16 {
		return ops.Cast(x, dtype.Float32).(*tensor.Dense)
	}
	return x
}

// AllReduce returns the combination of the tensors of all ranks, which must have the same shape.
// The result is the same on all ranks.
func (c *Comm) AllReduce(ctx context.Context, x tensor.Tensor, by Reduction) (_ tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	d, err := dense("AllReduce", x)
	if err != nil {
		return nil, c.Fail(err)
	}
	combine, err := combiner(by)
	if err != nil {
		return nil, c.Fail(err)
	}
	what := call{kind: "all_reduce", combine: by, dtype: d.DType(), shape: d.Shape()}
	y := half(d)
	small := c.small(len(y.Bytes()))
	var operand []byte
	if small {
		operand = y.Bytes()
	}
	if _, err := c.meetWith(ctx, what, 0, operand); err != nil || c.Size() == 1 {
		return d, err
	}
	if small {
		return cast(c.combineSmall(y, combine), d), nil
	}
	out := tensor.Uninit(y.DType(), y.Shape())
	if n, ok := c.t.(wire.Collective); ok {
		if r := n.AllReduce(out.Bytes(), y.Bytes(), y.DType(), string(by)); r != nil {
			if err := c.wait(ctx, what, r); err != nil {
				return nil, err
			}
			return cast(out, d), nil
		}
	}
	// Each rank combines a part of the elements, and all ranks get all parts.
	sizes := shares(y.Len(), c.Size())
	part, err := c.combine(ctx, what, y, sizes, combine)
	if err != nil {
		return nil, err
	}
	if err := c.wait(ctx, what, c.gather(out.Bytes(), scaled(sizes, y.DType().Size()), part.Bytes())); err != nil {
		return nil, err
	}
	return cast(out, d), nil
}

// combine returns this rank's part of the combination.
func (c *Comm) combine(ctx context.Context, what call, x *tensor.Dense, sizes []int, combine *op.Op) (*tensor.Dense, error) {
	own, width := sizes[c.Rank()], x.DType().Size()
	received := tensor.Uninit(x.DType(), shape.Of(own*c.Size()))
	same := make([]int, c.Size())
	for r := range same {
		same[r] = own * width
	}
	if err := c.wait(ctx, what, c.exchange(received.Bytes(), same, x.Bytes(), scaled(sizes, width))); err != nil {
		return nil, err
	}
	sum := ops.Slice(received, []int{0}, []int{own})
	for r := 1; r < c.Size(); r++ {
		sum = op.Eval(combine, sum, ops.Slice(received, []int{r * own}, []int{own}))
	}
	return tensor.Contiguous(sum.(*tensor.Dense)), nil
}

func combiner(by Reduction) (*op.Op, error) {
	if o, ok := op.Lookup(string(by)); ok && o.IsBinaryElementwise() {
		return o, nil
	}
	e := &tenon.Error{Kind: tenon.ErrUnsupported, Op: "dist", Msg: fmt.Sprintf("%q is not a reduction", string(by))}
	e.Hint = "give the name of an elementwise operation of two tensors, such as dist.Sum"
	return nil, e
}

func scaled(n []int, k int) []int {
	out := make([]int, len(n))
	for i := range n {
		out[i] = n[i] * k
	}
	return out
}

// cast converts a reduced tensor to the element type of an operand.
func cast(x, like *tensor.Dense) tensor.Tensor {
	if x.DType() == like.DType() {
		return x
	}
	return ops.Cast(x, like.DType())
}

// ReduceScatter returns this rank's part of the combination of the tensors of all ranks: rows
// [lo, hi) of the first axis, as [Share] splits it.
func (c *Comm) ReduceScatter(ctx context.Context, x tensor.Tensor, by Reduction) (_ tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	d, err := dense("ReduceScatter", x)
	if err != nil {
		return nil, c.Fail(err)
	}
	combine, err := combiner(by)
	if err != nil {
		return nil, c.Fail(err)
	}
	if d.Rank() == 0 {
		return nil, c.Fail(&tenon.Error{Kind: tenon.ErrShape, Op: "dist.ReduceScatter", Msg: "a scalar has no first axis to split"})
	}
	what := call{kind: "reduce_scatter", combine: by, dtype: d.DType(), shape: d.Shape()}
	if _, err := c.meet(ctx, what, 0); err != nil || c.Size() == 1 {
		return d, err
	}
	y, rows := half(d), shares(d.Dim(0), c.Size())
	s := d.Shape().With(0, rows[c.Rank()])
	counts := scaled(rows, d.Shape().Tail(1).Size())
	if n, ok := c.t.(wire.Collective); ok {
		out := tensor.Uninit(y.DType(), s)
		if r := n.ReduceScatter(out.Bytes(), y.Bytes(), counts, y.DType(), string(by)); r != nil {
			if err := c.wait(ctx, what, r); err != nil {
				return nil, err
			}
			return cast(out, d), nil
		}
	}
	part, err := c.combine(ctx, what, y, counts, combine)
	if err != nil {
		return nil, err
	}
	return cast(part.Reshaped(s), d), nil
}

// AllGather returns the rows of all ranks, joined along the first axis. The tensors may differ
// only in the size of that axis.
func (c *Comm) AllGather(ctx context.Context, x tensor.Tensor) (_ tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	d, err := dense("AllGather", x)
	if err != nil {
		return nil, c.Fail(err)
	}
	if d.Rank() == 0 {
		return nil, c.Fail(&tenon.Error{Kind: tenon.ErrShape, Op: "dist.AllGather", Msg: "a scalar has no first axis to join along", Hint: "add one with ops.ExpandDims"})
	}
	what := call{kind: "all_gather", dtype: d.DType(), shape: d.Shape(), free: true}
	rows, err := c.meet(ctx, what, d.Dim(0))
	if err != nil || c.Size() == 1 {
		return d, err
	}
	total := 0
	for _, n := range rows {
		total += n
	}
	out := tensor.Uninit(d.DType(), d.Shape().With(0, total))
	width := d.Shape().Tail(1).Size() * d.DType().Size()
	return out, c.wait(ctx, what, c.gather(out.Bytes(), scaled(rows, width), d.Bytes()))
}

// AllToAll sends part r of the first axis, as [Share] splits it, to rank r, and returns the
// parts that this rank receives, joined in the order of the ranks.
func (c *Comm) AllToAll(ctx context.Context, x tensor.Tensor) (_ tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	d, err := dense("AllToAll", x)
	if err != nil {
		return nil, c.Fail(err)
	}
	if d.Rank() == 0 {
		return nil, c.Fail(&tenon.Error{Kind: tenon.ErrShape, Op: "dist.AllToAll", Msg: "a scalar has no first axis to split"})
	}
	what := call{kind: "all_to_all", dtype: d.DType(), shape: d.Shape(), free: true}
	rows, err := c.meet(ctx, what, d.Dim(0))
	if err != nil || c.Size() == 1 {
		return d, err
	}
	received, total := make([]int, c.Size()), 0
	for r, n := range rows {
		lo, hi := Share(n, c.Size(), c.Rank())
		received[r] = hi - lo
		total += hi - lo
	}
	out := tensor.Uninit(d.DType(), d.Shape().With(0, total))
	width := d.Shape().Tail(1).Size() * d.DType().Size()
	return out, c.wait(ctx, what, c.exchange(out.Bytes(), scaled(received, width), d.Bytes(), scaled(shares(d.Dim(0), c.Size()), width)))
}

// Broadcast returns the tensor of rank root. The others pass a tensor of the same type and
// shape, whose elements are ignored.
func (c *Comm) Broadcast(ctx context.Context, x tensor.Tensor, root int) (_ tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	d, err := dense("Broadcast", x)
	if err == nil {
		err = c.hasRank("Broadcast", root)
	}
	if err != nil {
		return nil, c.Fail(err)
	}
	what := call{kind: "broadcast", dtype: d.DType(), shape: d.Shape(), root: root}
	if _, err := c.meet(ctx, what, 0); err != nil || c.Size() == 1 {
		return d, err
	}
	if c.Rank() == root {
		return d, c.wait(ctx, what, c.spread(d.Bytes(), root))
	}
	out := tensor.Uninit(d.DType(), d.Shape())
	return out, c.wait(ctx, what, c.spread(out.Bytes(), root))
}

// Shift sends x from rank r to rank r+by, modulo the number of ranks, and returns the tensor of
// rank r-by. The tensors must have the same shape on all ranks.
func (c *Comm) Shift(ctx context.Context, x tensor.Tensor, by int) (_ tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	d, err := dense("Shift", x)
	if err != nil {
		return nil, c.Fail(err)
	}
	what := call{kind: "shift", dtype: d.DType(), shape: d.Shape(), root: by}
	if _, err := c.meet(ctx, what, 0); err != nil || c.Size() == 1 {
		return d, err
	}
	n := c.Size()
	to, from := ((c.Rank()+by)%n+n)%n, ((c.Rank()-by)%n+n)%n
	if to == c.Rank() {
		return d, nil
	}
	out := tensor.Uninit(d.DType(), d.Shape())
	return out, c.wait(ctx, what, wire.All{c.t.Send(to, wire.OfCollective, d.Bytes()), c.t.Receive(from, wire.OfCollective, out.Bytes())})
}

// Send sends a tensor to one rank, which must call [Comm.Receive] with a tensor of the same type
// and shape.
func (c *Comm) Send(ctx context.Context, x tensor.Tensor, to int) error {
	d, err := dense("Send", x)
	if err == nil {
		err = c.hasRank("Send", to)
	}
	if err != nil {
		return c.Fail(err)
	}
	return c.pointToPoint(ctx, call{kind: "send", dtype: d.DType(), shape: d.Shape(), root: to}, c.t.Send, to, d)
}

// Receive returns the tensor that a rank sends, which must have the type and shape of like.
func (c *Comm) Receive(ctx context.Context, like tensor.Tensor, from int) (tensor.Tensor, error) {
	d, err := dense("Receive", like)
	if err == nil {
		err = c.hasRank("Receive", from)
	}
	if err != nil {
		return nil, c.Fail(err)
	}
	out := tensor.Uninit(d.DType(), d.Shape())
	return out, c.pointToPoint(ctx, call{kind: "receive", dtype: d.DType(), shape: d.Shape(), root: from}, c.t.Receive, from, out)
}

// pointToPoint moves a tensor between two ranks.
func (c *Comm) pointToPoint(ctx context.Context, what call, move func(int, wire.Tag, []byte) wire.Request, with int, d *tensor.Dense) error {
	if c.world.failed != nil {
		return c.world.failed
	}
	return c.wait(ctx, what, move(with, wire.OfPointToPoint, d.Bytes()))
}

// hasRank returns an error unless r is another existing rank.
func (c *Comm) hasRank(what string, r int) error {
	if r < 0 || r >= c.Size() || (what != "Broadcast" && r == c.Rank()) {
		return &tenon.Error{Kind: tenon.ErrRange, Op: "dist." + what, Msg: fmt.Sprintf("there is no other rank %d among %d", r, c.Size())}
	}
	return nil
}
