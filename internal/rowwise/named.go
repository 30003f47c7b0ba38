package rowwise

// named are the operations whose statement is not sufficient. A statement describes the effect on axes; it does not
// describe the meaning of numbers that are made for other operations, nor the effect of an operand that says where,
// which or how many, and these are what matters here. Among the names:
//
//   - those that make sizes, positions and splits all state [op.Create]: only the operation itself
//     knows that "shape" returns sizes and "size" their product, or what "ragged.lengths" and
//     "ragged.row_ids" number;
//   - those that select entries of axes all state [op.Select], with an operand of keys, positions, a
//     mask, margins or copies, and each determines separately which of these leave rows unchanged;
//   - "where" chooses between counts, unlike any other [op.Map];
//   - windows and searches are opaque, or their parameters say more than their statement;
//   - checks that two operands have the same splits or number of rows imply more than that they
//     return the first;
//   - operations with regions have the effect of their regions;
//   - attention is a contraction by its statement, but works on rows if it has splits.
//
// Some names appear elsewhere, for what an operation computes: arithmetic on counts and on positions (scalars,
// shifted), operations whose parameters are labels (labels), and operations on padded rows (filledUp).
var named map[string]func(n *node) []part

func init() {
	named = map[string]func(n *node) []part{
		"shape": shapeOf, "size": sizeOf, "rank": func(*node) []part { return []part{same()} }, "range": ranged,
		"index": indexed, "gather": gathered, "boolean_mask": whereTrue, "slice": sliced, "pad": padded, "mirror_pad": padded, "tile": tiled,
		"where": chosen, "nonzero": placesTrue, "searchsorted": sought, "control.same_rows": sameRows,
		"convolve": convolved, "convolve_transpose": convolved, "windows": windowed, "fold_windows": windowed,
		"max_windows": windowed,

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
