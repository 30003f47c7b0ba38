package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

// Indexing with missing positions, booleans or entries: what a missing one selects is missing.

func init() {
	name, _ := op.Lookup("index")
	_, err := op.Handle(masked.TypeName, op.Match{Op: name}, func(c *op.Call) ([]tenon.Value, error) {
		keys, err := key.Of(c, 1)
		if err != nil {
			return nil, err
		}
		x, ok := c.Value(0).(tensor.Tensor)
		if !ok {
			return nil, op.NotHandled
		}
		out, ok := missingIndexed(x, keys)
		if !ok {
			return nil, op.NotHandled
		}
		return op.One(out)
	})
	tenon.Throw(err)
}

// missingKey returns the first key as a tensor with missing entries, if it is one.
func missingKey(keys []key.Key) (*masked.Tensor, bool) {
	if len(keys) == 0 || keys[0].Kind != key.ByKind {
		return nil, false
	}
	t, ok := keys[0].Value.(tensor.Tensor)
	if !ok {
		return nil, false
	}
	m, ok := missing(lifted(t))
	return m, ok
}

// missingIndexed returns what keys select if entries, or those listed in the first key, may be
// missing. It declines other keys.
func missingIndexed(x tensor.Tensor, keys []key.Key) (tensor.Tensor, bool) {
	if k, ok := missingKey(keys); ok {
		return indexMissing(x, k, keys[1:]), true
	}
	values, mask, depth := maskedAt(x)
	if mask == nil {
		return nil, false
	}
	// The mask is indexed by the keys for its own dimensions.
	n, covered := 0, 0
	for n < len(keys) && covered < depth {
		if keys[n].Kind == key.EllipsisKind || keys[n].Kind == key.FieldKind {
			return nil, false
		}
		covered += keyAxes(keys[n])
		n++
	}
	if covered > depth {
		mask, n = tenon.Must(masked.New(values, mask)).Full(), len(keys)
	}
	return withMask(ops.Index(values, anyKeys(keys)...), ops.Index(mask, anyKeys(keys[:n])...)), true
}

// indexMissing returns what keys select, the first of which is a tensor with missing positions or
// booleans.
func indexMissing(x tensor.Tensor, k *masked.Tensor, rest []key.Key) tensor.Tensor {
	values, mask, depth := maskedAt(k)
	if depth < rankOf(k) {
		return indexMissingRows(x, values, mask, rest)
	}
	if values.DType().IsBool() {
		// A missing entry is selected, and is missing in the result.
		there := k.Full()
		pick := ops.LogicalOr(values, ops.LogicalNot(there))
		y := ops.Index(x, append([]any{key.By(pick)}, anyKeys(rest)...)...)
		return masking(y, ops.Index(there, key.By(pick)))
	}
	flat, parts := split(mask)
	if flat.Shape().Rank() != 1 {
		tenon.Throw(failed(tenon.ErrUnsupported, indexFn, "", "missing positions come in a vector or in ragged rows"))
	}
	y := ops.Index(x, append([]any{key.By(tenon.Must(DropMissing(k)))}, anyKeys(rest)...)...)
	// Put what was found at the positions that are not missing.
	found := ops.Sub(ops.CumSum(ops.Cast(flat, dtype.Int64), 0, ops.CumOptions{}), int64(1))
	return masking(onParts(takeOrNothing(belowParts(y, len(parts)), found, flat), parts), mask)
}

// indexMissingRows is indexMissing for keys with whole rows missing.
func indexMissingRows(x, by, mask tensor.Tensor, rest []key.Key) tensor.Tensor {
	depth := rankOf(mask)
	values, old, d := maskedAt(x)
	if old != nil && d == depth {
		mask = ops.LogicalAnd(old, mask)
		x = values
	}
	by = filledAt(indexFn, withMask(fromRegular(by, depth), mask), []any{}, depth-1)
	return masking(ops.Index(x, append([]any{key.By(by)}, anyKeys(rest)...)...), mask)
}

// masking returns x with what mask lacks also missing.
func masking(x, mask tensor.Tensor) tensor.Tensor {
	values, old, depth := maskedAt(x)
	if old != nil && depth == rankOf(mask) {
		return withMask(values, ops.LogicalAnd(old, mask))
	}
	return withMask(x, mask)
}

// belowParts returns what is below the n outer partitions.
func belowParts(x tensor.Tensor, n int) tensor.Tensor {
	return throughMasks(func(x tensor.Tensor) tensor.Tensor {
		flat, parts := split(atLeast(x, n))
		return build(flat, parts[n:])
	})(x)
}

// onParts adds partitions on top of values, some of which may be missing.
func onParts(x tensor.Tensor, parts []*RowPartition) tensor.Tensor {
	return throughMasks(func(x tensor.Tensor) tensor.Tensor { return onTop(x, parts) })(x)
}

func anyKeys(keys []key.Key) []any {
	out := make([]any, len(keys))
	for i, k := range keys {
		out[i] = k
	}
	return out
}
