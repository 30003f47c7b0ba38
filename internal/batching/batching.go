package batching

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// tracer is the state of one run of a function on rows.
type tracer struct {
	level int
	n     tensor.Tensor // number of rows, a scalar
	rows  int           // number of rows if known, or -1
	done  atomic.Bool   // the function has returned
	first tensor.Tensor // has less entries more than there are rows
	less  int
}

// variable stands for one row of primal.
type variable struct {
	tracer *tracer
	primal tensor.Tensor
	spec   *tensor.Spec
}

var (
	_ op.Recorder      = (*variable)(nil)
	_ tensor.Concreter = (*variable)(nil)
)

func (t *tracer) variable(primal tensor.Tensor) (*variable, error) {
	s := primal.Shape()
	if s.HasRank() && s.Rank() == 0 {
		return nil, tenon.NewError(tenon.ErrShape, "control.Map", fmt.Sprintf("%s has no rows", tenon.String(primal.Spec())))
	}
	row := s
	if s.HasRank() {
		row = s.Remove(0)
	}
	return &variable{t, primal, tensor.NewSpec(primal.DType(), row)}, nil
}

func (v *variable) Spec() tenon.Spec   { return v.spec }
func (v *variable) DType() dtype.DType { return v.spec.DType() }
func (v *variable) Shape() shape.Shape { return v.spec.Shape() }
func (v *variable) RecordLevel() int   { return v.tracer.level }
func (v *variable) String() string     { return fmt.Sprintf("a row of %v", v.primal) }

// leaked is the error for a row that is used after the function has returned.
func (v *variable) leaked() error {
	e := tenon.NewError(tenon.ErrInvalid, "control.Map", fmt.Sprintf("a row of %s is used after the function of rows has returned", tenon.String(v.primal.Spec())))
	e.Hint = "return it from the function instead of storing it in a captured variable, a field or a map"
	return e
}

// Concrete reports that there is no single row to look at.
func (v *variable) Concrete() (tensor.Tensor, error) {
	e := tenon.NewError(tenon.ErrUnsupported, "tensor.Data", "the tensor stands for every row of a batch at once: its elements differ from row to row")
	e.Hint = "use ops.Where to choose by data, or control.MapRows to run row by row"
	return nil, e
}

// Record applies the call to all rows.
func (v *variable) Record(c *op.Call) ([]tenon.Value, error) {
	t := v.tracer
	if t.done.Load() {
		return nil, v.leaked()
	}
	values := c.Values()
	batched := make([]bool, len(values))
	primals := make([]tenon.Value, len(values))
	for i, x := range values {
		primals[i] = x
		if y, ok := x.(*variable); ok && y.tracer == t {
			batched[i], primals[i] = true, y.primal
		}
	}
	if out := sameForAll(c, primals); out != nil {
		return []tenon.Value{out}, nil
	}
	out, err := Rule(c.WithValues(slices.Clone(primals)), batched)
	if errors.Is(err, op.NotHandled) {
		out, err = t.rowByRow(c, primals, batched)
	}
	if err != nil {
		return nil, c.Fail(err)
	}
	res := make([]tenon.Value, len(out))
	for i, o := range out {
		if res[i], err = t.variable(o); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// elementwise aligns the rows: an operand whose rows have fewer dimensions than those of others
// gets dimensions of size 1 after the batch dimension.
func elementwise(c *op.Call, batched []bool) (out []tensor.Tensor, err error) {
	primals, rank := c.Values(), 0
	for i, v := range primals {
		s := v.(tensor.Tensor).Shape()
		if !s.HasRank() {
			return nil, c.Errorf(tenon.ErrShape, "the rank of an operand is not known")
		}
		r := s.Rank()
		if batched[i] {
			r--
		}
		rank = max(rank, r)
	}
	ragged := lines(primals, batched)
	for i, v := range primals {
		if !batched[i] {
			continue
		}
		x := v.(tensor.Tensor)
		if s := x.Shape(); ragged != nil && tenon.IsLeaf(x.Spec()) && s.Rank() == 1 && s.Dim(0) < 0 {
			primals[i] = ragged.SpreadRows(x)
			continue
		}
		for have := x.Shape().Rank() - 1; have < rank; have++ {
			x = ops.ExpandDims(x, 1)
		}
		primals[i] = x
	}
	return op.ApplyN(c, primals...), nil
}

// spreader is a batch whose rows differ in length. It can assign the entries of a vector to the
// elements of the corresponding rows.
type spreader interface {
	tensor.Tensor
	SpreadRows(perRow tensor.Tensor) tensor.Tensor
}

// lines returns the operand whose rows differ in length, if others have one number for each row.
// Their number is known to agree, which broadcasting, where a single entry may stand for all, could
// check only at run time.
func lines(primals []tenon.Value, batched []bool) (ragged spreader) {
	for i, v := range primals {
		if r, ok := v.(spreader); ok && batched[i] && r.Shape().Rank() > 1 {
			if ragged == nil || r.Shape().Rank() > ragged.Shape().Rank() {
				ragged = r
			}
		}
	}
	return ragged
}

// sameForAll returns the sizes of a row of a dense tensor, which all rows share, or nil for any
// other call.
func sameForAll(c *op.Call, primals []tenon.Value) tensor.Tensor {
	if c.Op.Name != "shape" && c.Op.Name != "size" {
		return nil
	}
	x := primals[0].(tensor.Tensor)
	if _, ok := x.(interface{ RowShapes() tensor.Tensor }); ok || !tenon.IsLeaf(x.Spec()) {
		return nil
	}
	row := ops.Index(ops.Shape(x), key.From(1))
	if c.Op.Name == "size" {
		return ops.Prod(row)
	}
	return row
}

// rowByRow runs an operation without a rule on one row after the other.
func (t *tracer) rowByRow(c *op.Call, primals []tenon.Value, batched []bool) (out []tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	if t.rows < 0 {
		return nil, c.Errorf(tenon.ErrUnsupported, "the operation has no rule for rows whose number is not known")
	}
	var results [][]tensor.Tensor
	for r := range t.rows {
		args := make([]tenon.Value, len(primals))
		for i, p := range primals {
			if args[i] = p; batched[i] {
				args[i] = ops.Gather(p, int64(r), 0)
			}
		}
		res := op.ApplyN(c, args...)
		if results == nil {
			results = make([][]tensor.Tensor, len(res))
		}
		for k, x := range res {
			results[k] = append(results[k], x)
		}
	}
	for _, r := range results {
		out = append(out, ops.Stack(r, 0))
	}
	return out, nil
}

// Run calls f on all rows of xs at once. Every tensor in xs has a leading axis of the same size; a
// ragged tensor of ragged rank 1 represents its rows. The results get a leading axis; results that
// do not depend on the rows are repeated.
func Run[X, Y any](fn string, f func(X) Y, xs X) (y Y, err error) {
	defer tenon.Catch(&err)
	t := &tracer{level: op.NextLevel(), rows: -1}
	defer t.done.Store(true)
	leaves, err := nest.Flatten(xs, nest.Options{})
	if err != nil {
		return y, err
	}
	for i, l := range leaves {
		v, ok := l.(tenon.Value)
		if !ok {
			continue
		}
		if leaves[i], err = t.rowOf(fn, v); err != nil {
			return y, err
		}
	}
	row, err := nest.Pack(xs, leaves, nest.Options{})
	if err != nil {
		return y, err
	}
	res := f(row)
	out, err := nest.Flatten(res, nest.Options{})
	if err != nil {
		return y, err
	}
	for i, l := range out {
		if v, ok := l.(tenon.Value); ok {
			if out[i], err = t.collect(fn, v); err != nil {
				return y, err
			}
		}
	}
	return nest.Pack(res, out, nest.Options{})
}

// Possible reports whether a function can be run on all rows of v at once: a row must be a tensor,
// or be made of the rows of components for which this holds.
func Possible(v tenon.Value) bool {
	if shared, ok := componentRows(v.Spec()); ok {
		parts, err := v.Spec().Disassemble(v)
		if err != nil {
			return false
		}
		for k, p := range parts {
			if !shared[k] && !Possible(p) {
				return false
			}
		}
		return true
	}
	t, ok := v.(tensor.Tensor)
	if !ok || t.DType() == dtype.None {
		return false
	}
	b, ok := v.Spec().(tenon.Batcher)
	if !ok {
		return false
	}
	row, err := b.Unbatched()
	if err != nil {
		return false
	}
	parts, err := nest.Flatten(row, nest.Options{Expand: true})
	return err == nil && len(parts) == 1
}

// componentRows is [rows.Components] for values that are only taken apart. It includes values whose
// rows are made of the rows of components although a batch of them is not made of batches, such as
// lists of records.
func componentRows(s tenon.Spec) (shared []bool, ok bool) {
	if shared, ok = rows.Components(s); ok {
		return shared, true
	}
	b, ok := s.(tenon.Batcher)
	if !ok || tenon.IsLeaf(s) {
		return nil, false
	}
	row, err := b.Unbatched()
	if err != nil || tenon.IsLeaf(row) {
		return nil, false
	}
	whole, fields := s.Components(), row.Components()
	if len(whole) != len(fields) {
		return nil, false
	}
	for i, f := range whole {
		c, ok := f.Spec.(tenon.Batcher)
		if !ok {
			return nil, false
		}
		if r, err := c.Unbatched(); err != nil || !tenon.Equal(r, fields[i].Spec) {
			return nil, false
		}
	}
	return make([]bool, len(whole)), true
}

// rowOf returns the value that represents a row of v in the function.
func (t *tracer) rowOf(fn string, v tenon.Value) (tenon.Value, error) {
	if shared, ok := componentRows(v.Spec()); ok {
		row, err := rows.RowSpec(v.Spec())
		if err != nil {
			return nil, err
		}
		parts, err := v.Spec().Disassemble(v)
		if err != nil {
			return nil, err
		}
		for k, p := range parts {
			if shared[k] {
				continue
			}
			if parts[k], err = t.rowOf(fn, p); err != nil {
				return nil, err
			}
		}
		return row.Assemble(parts)
	}
	x, ok := v.(tensor.Tensor)
	if !ok {
		return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Op: fn, Msg: fmt.Sprintf("rows of %s cannot run in bulk", tenon.String(v.Spec())), Line: source.Line(),
			Hint: "use control.MapRows"}
	}
	n := rowsOfShape(x.Shape(), 0)
	if n >= 0 && t.rows >= 0 && n != t.rows {
		return nil, &tenon.Error{Kind: tenon.ErrShape, Op: fn, Msg: fmt.Sprintf("arguments have %d and %d rows", t.rows, n), Line: source.Line()}
	}
	t.rows = max(t.rows, n)
	if t.n == nil && x.Shape().Rank() != 0 {
		t.n = rowsOf(x)
	}
	return t.variable(t.alike(x))
}

// rowsOf returns the number of rows as a scalar. A ragged tensor, whose sizes are not a vector,
// provides it itself.
func rowsOf(x tensor.Tensor) tensor.Tensor {
	if r, ok := x.(interface{ NRows() tensor.Tensor }); ok {
		return ops.Cast(r.NRows(), dtype.Int64)
	}
	return ops.Gather(ops.Shape(x), int64(0), 0)
}

// inside reports whether a value depends on the rows.
func (t *tracer) inside(v tenon.Value) bool {
	leaves, err := nest.Flatten(v, nest.Options{Expand: true})
	return err != nil || slices.ContainsFunc(leaves, func(l any) bool {
		b, ok := l.(*variable)
		return ok && b.tracer == t
	})
}

// collect returns a result for all rows.
func (t *tracer) collect(fn string, v tenon.Value) (tenon.Value, error) {
	if b, ok := v.(*variable); ok {
		if b.tracer == t {
			return b.primal, nil
		}
		if b.tracer.done.Load() {
			return nil, b.leaked()
		}
	}
	s := v.Spec()
	if tenon.IsLeaf(s) {
		x := v.(tensor.Tensor)
		return ops.BroadcastTo(x, ops.Concat([]tensor.Tensor{ops.Reshape(t.n, []int{1}), ops.Shape(x)}, 0)), nil
	}
	batch, err := rows.BatchSpec(s, t.rows)
	if err != nil {
		return nil, rows.Named(fn, err)
	}
	parts, err := s.Disassemble(v)
	if err != nil {
		return nil, err
	}
	shared, _ := rows.Components(s)
	for i, p := range parts {
		if i < len(shared) && shared[i] {
			if t.inside(p) {
				return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Where: s.Components()[i].Name, Msg: "all rows share the field (batch=keep), but it is computed from each of them", Line: source.Line()}
			}
			continue
		}
		if parts[i], err = t.collect(fn, p); err != nil {
			return nil, err
		}
	}
	return batch.Assemble(parts)
}
