package ragged

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

const indexFn = "ops.Index"

func init() {
	handle(func(c *op.Call) ([]tenon.Value, error) {
		keys, err := key.Of(c, 1)
		if err != nil {
			return nil, err
		}
		t, ok := c.Value(0).(tensor.Tensor)
		if !ok || !taken(t) {
			return nil, op.NotHandled
		}
		if _, ok := missingKey(keys); ok {
			out, _ := missingIndexed(t, keys)
			return op.One(out)
		}
		return op.One(index(t, keys))
	}, "index")
}

// taken reports whether ragged handlers work on a tensor: a ragged one, or one without structure.
func taken(t tenon.Value) bool {
	_, ok := t.(*Tensor)
	return ok || plain(t)
}

// Index returns the part of t that keys select, like [ops.Index]:
//
//   - an integer selects one row of the outermost dimension, or one entry of each
//     slice along a uniform dimension. On a ragged dimension below the first it is an
//     error, since rows may be too short for it; see [Pick]
//   - a range with any step selects in the outermost dimension, or in each row
//   - key.Ellipsis and key.NewAxis work as for dense tensors
//   - a vector of integers selects rows by number; a ragged tensor of integers
//     selects in each row the positions that its row lists
//   - a boolean vector selects the rows for which it is true; a ragged boolean tensor
//     selects in each row the entries for which its row is true
//
// The result is ragged as long as it has ragged dimensions below the first.
func (t *Tensor) Index(keys ...any) (out tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	list, err := key.List(keys...)
	tenon.Throw(complete(err))
	return index(t, list), nil
}

// TypeName returns "ragged.Tensor".
func (t *Tensor) TypeName() string { return TypeName }

// complete adds an operation and a line to an error of package key.
func complete(err error) error {
	if err == nil {
		return nil
	}
	e := *tenon.AsError(err)
	if e.Op == "" {
		e.Op, e.Line = indexFn, source.Line()
	}
	return &e
}

// index returns the part of t that keys select. It throws.
func index(t tensor.Tensor, keys []key.Key) tensor.Tensor {
	rank := t.Shape().Rank()
	if rank < 0 {
		tenon.Throw(failed(tenon.ErrUnsupported, indexFn, "", "the rank of the tensor is not known"))
	}
	return keyed(t, wholeKeys(keys, rank), 0)
}

// wholeKeys returns keys without an ellipsis: the keys cover as many axes as
// there are; a ragged tensor covers as many as it has.
func wholeKeys(keys []key.Key, rank int) []key.Key {
	axes, at := 0, -1
	for i, k := range keys {
		switch k.Kind {
		case key.EllipsisKind:
			if at >= 0 {
				tenon.Throw(invalid(indexFn, fmt.Sprintf("key %d", i), "is a second ellipsis"))
			}
			at = i
		case key.FieldKind:
			tenon.Throw(failed(tenon.ErrDType, indexFn, fmt.Sprintf("key %d", i), "a tensor has no field %q", k.Name))
		default:
			axes += keyAxes(k)
		}
	}
	if axes > rank {
		tenon.Throw(invalid(indexFn, "", "keys for %d dimensions, the tensor has %d", axes, rank))
	}
	if at < 0 && len(keys) > 0 && !keys[len(keys)-1].IsAll() {
		return keys
	}
	out := make([]key.Key, 0, len(keys)+rank-axes)
	for i, k := range keys {
		if i != at {
			out = append(out, k)
			continue
		}
		for range rank - axes {
			out = append(out, key.All)
		}
	}
	for len(out) > 0 && out[len(out)-1].IsAll() {
		out = out[:len(out)-1]
	}
	return out
}

// keyAxes returns the number of dimensions that a key covers.
func keyAxes(k key.Key) int {
	if k.Kind == key.ByKind {
		if r, ok := k.Value.(*Tensor); ok {
			return r.Shape().Rank()
		}
	}
	return k.Axes()
}

// keyed applies keys to a tensor, the first one to its outermost dimension, which
// is dimension dim of the indexed tensor.
func keyed(t tensor.Tensor, keys []key.Key, dim int) tensor.Tensor {
	if len(keys) == 0 {
		return t
	}
	r, ok := t.(*Tensor)
	if !ok {
		return keyedDense(t, keys)
	}
	k, rest := keys[0], keys[1:]
	switch k.Kind {
	case key.AtKind:
		return keyed(rowAt(r, k), rest, dim+1)
	case key.NewAxisKind:
		return withAxis(keyed(t, rest, dim), 0)
	case key.ByKind:
		return keyedBy(r, k.Value, rest, dim)
	}
	return keyedInRows(rowRange(r, k), rest, dim)
}

// keyedDense applies keys to a tensor without partitions. A ragged key selects
// along dense rows.
func keyedDense(t tensor.Tensor, keys []key.Key) tensor.Tensor {
	for i, k := range keys {
		by, ok := k.Value.(*Tensor)
		if k.Kind != key.ByKind || !ok {
			continue
		}
		if i > 0 {
			tenon.Throw(failed(tenon.ErrUnsupported, indexFn, fmt.Sprintf("key %d", i), "a ragged tensor of positions must select from the outermost dimension on"))
		}
		rank := by.Shape().Rank()
		if rank > t.Shape().Rank() {
			tenon.Throw(invalid(indexFn, "key 0", "the positions have %d dimensions, the tensor %d", rank, t.Shape().Rank()))
		}
		return keyedBy(atLeastWith(t, rank-1, by.parts[0].spec.dtype).(*Tensor), by, keys[1:], 0)
	}
	return ops.Index(t, anyKeys(keys)...)
}

// rowRange returns the rows that a range selects.
func rowRange(t *Tensor, k key.Key) *Tensor {
	if k.IsAll() {
		return t
	}
	p := t.parts[0]
	d := p.spec.dtype
	first, n, step, ok, err := k.Span(p.spec.nrows)
	tenon.Throw(complete(err))
	switch {
	case ok && step == 1:
		return rowsBetween(t, first, first+n).(*Tensor)
	case ok && p.spec.uniform && p.spec.length == 0: // whatever their number is
		return partitioned(t.Values(), newUniform(scalar(n, d), p.uniform))
	case ok:
		return gatherRows(t, tensor.Vector(steps(first, n, step))).(*Tensor)
	}
	all := ops.Range(scalar(0, d), p.NRows(), scalar(1, d))
	return gatherRows(t, ops.Index(all, k)).(*Tensor)
}

func steps(first, n, step int) []int64 {
	out := ints(n)
	for i := range out {
		out[i] = int64(first + i*step)
	}
	return out
}

// keyedInRows applies keys below the outermost dimension, in each row of t.
func keyedInRows(t tensor.Tensor, keys []key.Key, dim int) tensor.Tensor {
	if len(keys) == 0 {
		return t
	}
	r, ok := t.(*Tensor)
	if !ok {
		return keyedDense(t, append([]key.Key{key.All}, keys...))
	}
	k, rest := keys[0], keys[1:]
	p := r.parts[0]
	switch k.Kind {
	case key.NewAxisKind:
		d := p.spec.dtype
		return partitioned(keyedInRows(r, rest, dim), newUniform(p.NRows(), scalar(1, d)))
	case key.AtKind:
		if !p.IsUniform() {
			e := invalid(indexFn, "", "dimension %d is ragged: an integer selects only along the outermost dimension and uniform ones", dim+1)
			e.Hint = "ragged.Pick takes one entry of each row and says what becomes of rows that are too short; a range keeps the dimension"
			tenon.Throw(e)
		}
		return keyedInRows(gatherRows(r.Values(), entriesAt(p, k)), rest, dim+1)
	case key.ByKind:
		e := failed(tenon.ErrUnsupported, indexFn, "", "a tensor of positions or booleans must select from the outermost dimension on")
		e.Hint = "include the leading dimensions: a ragged one selects in each row"
		tenon.Throw(e)
	}
	if k.IsAll() {
		return partitioned(keyedInRows(r.Values(), rest, dim+1), p)
	}
	values, q := rangeOfRows(r, k)
	return partitioned(keyedInRows(values, rest, dim+1), q)
}

// rangeOfRows returns the values that a range selects from each row, and their
// partition. A uniform partition stays uniform.
func rangeOfRows(t *Tensor, k key.Key) (tensor.Tensor, *RowPartition) {
	p := t.parts[0]
	values := t.Values()
	if !p.IsUniform() {
		if _, ok := values.(*Tensor); !ok {
			flat, splits := rows.Slice(values, p.RowSplits(), k)
			return flat, newPartition(splits, flat.Shape().Dim(0))
		}
		splits, at := rows.SliceIndex(p.RowSplits(), k)
		return gatherRows(values, at), newPartition(splits, at.Shape().Dim(0))
	}
	d := p.spec.dtype
	first, n, step, ok, err := k.Span(p.spec.length)
	tenon.Throw(complete(err))
	if ok && p.spec.nrows == 0 { // whatever their length is
		return values, assembleUniform(p.nrows, scalar(n, d))
	}
	if v, isDense := values.(*tensor.Dense); isDense && ok && v.IsContiguous() { // a view of rows
		dims := append([]int{p.spec.nrows, p.spec.length}, v.Shape().Tail(1).Dims()...)
		kept := tensor.Contiguous(ops.Index(ops.Reshape(v, dims), key.All, k).(*tensor.Dense))
		return kept.Reshaped(v.Shape().With(0, p.spec.nrows*n)), newUniform(p.nrows, scalar(n, d))
	}
	var within tensor.Tensor // the positions selected in a row
	if ok {
		within = cast(tensor.Vector(steps(first, n, step)), d)
	} else {
		within = ops.Index(ops.Range(scalar(0, d), p.uniform, scalar(1, d)), k)
	}
	count := sizeOf(within, 0, d)
	q := newUniform(p.nrows, count)
	starts := ops.Mul(ops.Range(scalar(0, d), p.nrows, scalar(1, d)), p.uniform)
	at := ops.Add(ops.ExpandDims(starts, 1), ops.ExpandDims(within, 0))
	return gatherRows(values, reshapeTo(at, []size{{q.nvals, q.NVals}}, d)), q
}

// entriesAt returns, for each row of equal length, the position of its entry selected by a key.
func entriesAt(p *RowPartition, k key.Key) tensor.Tensor {
	d := p.spec.dtype
	starts := ops.Mul(ops.Range(scalar(0, d), p.nrows, scalar(1, d)), p.uniform)
	return ops.Add(starts, position(k, p.spec.length, p.uniform))
}
