package rowwise

// named are the operations of which a statement does not say enough. A statement tells what becomes of axes; it does
// not tell what numbers mean that are made for other operations, nor what an operand does that says where, which or
// how many, and here this is what matters. Of the names
//
//   - those that make sizes, positions and splits all state [op.Create]: that "shape" tells sizes and "size" their
//     product, or what "ragged.lengths" and "ragged.row_ids" number, is nowhere but in the operation;
//   - those that take entries out of axes all state [op.Select], with an operand of keys, positions, a mask, margins or
//     copies, and each finds out by its own what of these leaves rows as they are;
//   - "where" chooses between counts as no other [op.Map] does;
//   - windows and searches are opaque, or state less than their parameters tell;
//   - checks that two have the same splits, or as many rows, tell more than that they return the first;
//   - operations with regions do what these do;
//   - attention is a contraction by its statement, but by rows where it has splits.
//
// Some names stand elsewhere, for what the operation computes of elements: those of arithmetic on counts and on
// positions (scalars, shifted), those whose parameters are labels (labels), those of rows that are filled up
// (filledUp).
var named map[string]func(n *node) []part

func init() {
	named = map[string]func(n *node) []part{
		"shape": shapeOf, "size": sizeOf, "rank": func(*node) []part { return []part{same()} }, "range": ranged,
		"index": indexed, "gather": gathered, "boolean_mask": whereTrue, "slice": sliced, "pad": padded, "mirror_pad": padded, "tile": tiled,
		"where": chosen, "nonzero": placesTrue, "searchsorted": sought, "control.same_rows": sameRows,
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
