package rowwise

// named are the operations of which a statement says no more than that they make an index, sizes or
// splits, and those that do with these what they do not do with other values.
var named map[string]func(n *node) []part

func init() {
	first := func(n *node) []part { return []part{n.in[0]} }
	named = map[string]func(n *node) []part{
		"shape": shapeOf, "size": sizeOf, "range": ranged, "stack": stacked, "index": indexed, "gather": gathered,
		"fill": filled, "broadcast_to": broadcast, "reshape": reshaped, "where": chosen, "boolean_mask": whereTrue, "nonzero": placesTrue,
		"cast": first, "searchsorted": sought, "pad": padded, "mirror_pad": padded, "tile": tiled, "slice": sliced, "control.same_rows": sameRows, "rank": func(*node) []part { return []part{same()} },
		"add": arithmetic, "sub": arithmetic, "mul": arithmetic, "equal": arithmetic, "not_equal": arithmetic,
		"convolve": convolved, "convolve_transpose": convolved, "windows": windowed, "fold_windows": windowed,

		"ragged.lengths": ofSplits(func(_ *node, p part) []part {
			return []part{{kind: entries, level: p.level, role: lengths, of: p.into}}
		}),
		"ragged.row_ids": ofSplits(func(_ *node, p part) []part {
			return []part{{kind: entries, level: p.into, into: p.level, role: spread}}
		}),
		"ragged.offsets":     ofSplits(inRow),
		"ragged.max_length":  longest,
		"ragged.mask_splits": ofSplits(maskSplits),
		"ragged.validate_splits": ofSplits(func(n *node, p part) []part {
			if counts(n.in[1], p.into) {
				return []part{p}
			}
			return []part{{}}
		}),
		"ragged.lengths_to_splits": fromLengths, "ragged.uniform_splits": uniform, "ragged.row_ids_to_splits": fromRowIDs,
		"ragged.assert_same_splits": checkedSame, "ragged.range": rangesOf, "ragged.to_dense": toDense, "ragged.from_dense": fromDense,
		"ragged.embedding_bag": bagged, "attention": attended,

		"control.switch": switched, "control.while": looped, "control.scan": scanned, "grad.custom": called, "grad.call": called,
	}
}
