package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/memory"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// CombinationOptions says which combinations [Combinations] makes. With the zero value, each entry
// is used at most once.
type CombinationOptions struct {
	Replacement bool // an entry may be used more than once

	// MaxBytes limits the memory for the positions of the entries, which take 8 bytes each. 0 means
	// half of the memory that the system leaves to the process, and at most GOMEMLIMIT.
	MaxBytes int
}

// Combinations returns all ways to choose n entries of each row of an axis, in lexicographic order
// of their positions. It returns n tensors: the first one holds the first entry of each
// combination, and so on. They share their partitions.
//
//	x: [n, (m), a], axis 1 → [n, (k), a] each. Gradient: the cotangents of the chosen entries.
func Combinations(x tensor.Tensor, n, axis int, o CombinationOptions) (parts []tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	const fn = "ragged.Combinations"
	return combinations(fn, x, n, axisIn(fn, x, axis), o, false), nil
}

// ArgCombinations is [Combinations] for the positions of the entries in their rows, as int64.
func ArgCombinations(x tensor.Tensor, n, axis int, o CombinationOptions) (parts []tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	const fn = "ragged.ArgCombinations"
	return combinations(fn, x, n, axisIn(fn, x, axis), o, true), nil
}

func combinations(fn string, x tensor.Tensor, n, axis int, o CombinationOptions, local bool) []tensor.Tensor {
	if r, ok := x.(Records); ok && !local {
		return recordsAt(combinations(fn, r.Numbers(), n, axis, o, local), r)
	} else if ok {
		x = r.Numbers()
	}
	if values, mask, depth := maskedAt(x); mask != nil {
		parts := combinations(fn, values, n, axis, o, local)
		if depth > axis && local {
			return parts
		}
		masks := []tensor.Tensor{mask}
		if depth > axis {
			masks = combinations(fn, mask, n, axis, o, false)
		}
		for i, p := range parts {
			parts[i] = withMask(p, masks[i%len(masks)])
		}
		return parts
	}
	l, splits := rowsAlong(x, axis)
	withinMemory(fn, "CombinationOptions", []tensor.Tensor{splits}, n, o.MaxBytes, func(m []int64) float64 { return binomial(m[0], n, o.Replacement) })
	out, at := rows.Combinations(splits, n, rows.CombinationOptions{Replacement: o.Replacement, Local: local})
	parts := make([]tensor.Tensor, n)
	p := newPartition(out, at[0].Shape().Dim(0))
	if axis > 0 && l.p.IsUniform() {
		if m := known(l.p.uniform); m >= 0 {
			if k := binomial(int64(m), n, o.Replacement); k <= 1<<31 { // no row is longer
				p = newUniform(l.p.nrows, scalar(int(k), l.p.DType()))
			}
		}
	}
	for i, index := range at {
		parts[i] = l.tuple(index, p, axis, local)
	}
	return parts
}

// binomial returns the number of combinations of n of m entries.
func binomial(m int64, n int, replacement bool) float64 {
	if replacement && m > 0 {
		m += int64(n) - 1
	}
	if int64(n) > m {
		return 0
	}
	k := 1.0
	for i := range min(int64(n), m-int64(n)) {
		k = k * float64(m-i) / float64(i+1)
	}
	return k
}

func everyWay(lengths []int64) float64 {
	k := 1.0
	for _, m := range lengths {
		k *= float64(m)
	}
	return k
}

// withinMemory throws an error if tuples of n entries would take more memory than allowed, as far
// as the lengths of the rows are known. count returns the number of tuples that a row of each
// tensor gives.
func withinMemory(fn, options string, splits []tensor.Tensor, n, maxBytes int, count func(lengths []int64) float64) {
	rows := -1
	ends := make([][]int64, len(splits))
	for i, s := range splits {
		if _, ok := s.(*tensor.Dense); !ok || n < 1 {
			return
		}
		ends[i] = int64s(ops.Cast(s, dtype.Int64))
		if rows < 0 || len(ends[i])-1 < rows {
			rows = len(ends[i]) - 1
		}
	}
	total, lengths := 0.0, make([]int64, len(splits))
	for r := range rows {
		for i, e := range ends {
			lengths[i] = e[r+1] - e[r]
		}
		total += count(lengths)
	}
	budget := int64(maxBytes)
	if budget <= 0 {
		budget = memory.Budget()
	}
	if size := total * float64(n) * 8; size > float64(budget) {
		e := invalid(fn, "", "there are %.0f tuples, whose positions take %s, more than the budget of %s", total, memory.Size(int64(min(size, 1<<62))), memory.Size(budget))
		e.Hint = "drop items beforehand, or let " + options + ".MaxBytes set another budget"
		tenon.Throw(e)
	}
}

// recordsAt returns the records with the numbers in each of the given tensors.
func recordsAt(numbers []tensor.Tensor, r ...Records) []tensor.Tensor {
	out := make([]tensor.Tensor, len(numbers))
	for i, at := range numbers {
		out[i] = tenon.Must(r[i%len(r)].AtNumbers(at))
	}
	return out
}

// rowsAlong returns an axis and its row splits. For axis 0, everything is one
// row.
func rowsAlong(x tensor.Tensor, axis int) (lists, tensor.Tensor) {
	if axis > 0 {
		l := listsAt(lifted(x), axis)
		return l, l.p.RowSplits()
	}
	return lists{values: x, dense: true}, oneRow(outerSize(x))
}

// tuple returns the entries at positions of the axis, or the positions themselves, divided by a
// partition.
func (l lists) tuple(index tensor.Tensor, p *RowPartition, axis int, local bool) tensor.Tensor {
	v := index
	if !local {
		v = gatherRows(l.values, index)
	}
	if axis == 0 {
		return v
	}
	return onTop(v, append(append([]*RowPartition(nil), l.outer...), p))
}

// CartesianOptions says how [Cartesian] arranges its results. With the zero value, all tuples of a
// row form a single row.
type CartesianOptions struct {
	Nested bool // tuples that begin with the same entries form rows of their own

	// MaxBytes limits the memory for the positions of the entries, which take 8 bytes each. 0 means
	// half of the memory that the system leaves to the process, and at most GOMEMLIMIT.
	MaxBytes int
}

// Cartesian returns all ways to choose one entry from the row of each tensor along an axis, with
// the last tensor's entry changing fastest. It returns one tensor for each input; they share their
// partitions. Outside the axis, the tensors must have the same rows. A missing row has no entries;
// a row that is missing from the first tensor is missing from the results.
//
//	xs: [n, (mₖ), aₖ] each, axis 1 → [n, (Π m), aₖ]; nested [n, (m₀), (m₁), …, aₖ].
//	Gradient: the cotangents of the chosen entries.
func Cartesian(xs []tensor.Tensor, axis int, o CartesianOptions) (parts []tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return cartesian("ragged.Cartesian", xs, axis, o, false), nil
}

// ArgCartesian is [Cartesian] for the positions of the entries in their rows, as
// int64.
func ArgCartesian(xs []tensor.Tensor, axis int, o CartesianOptions) (parts []tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return cartesian("ragged.ArgCartesian", xs, axis, o, true), nil
}

func cartesian(fn string, xs []tensor.Tensor, axis int, o CartesianOptions, local bool) []tensor.Tensor {
	if len(xs) == 0 {
		tenon.Throw(invalid(fn, "xs", "is empty"))
	}
	a := axisIn(fn, xs[0], axis)
	if values, mask := outermostMissing(xs, a); mask != nil {
		parts := cartesian(fn, values, axis, o, local)
		if _, first, depth := maskedAt(xs[0]); first != nil && depth == rankOf(mask) {
			for i, p := range parts {
				parts[i] = withMask(p, first)
			}
		}
		return parts
	}
	levels := make([]lists, len(xs))
	splits := make([]tensor.Tensor, len(xs))
	records := make([]Records, len(xs))
	xs = append([]tensor.Tensor(nil), xs...)
	for i, x := range xs {
		if r, ok := x.(Records); ok {
			records[i], xs[i] = r, r.Numbers()
		}
		if b := axisIn(fn, x, axis); b != a {
			tenon.Throw(invalid(fn, "axis", "%d means different dimensions of tensors of different ranks", axis))
		}
		levels[i], splits[i] = rowsAlong(withoutMask(lifted(xs[i])), a)
		if first := levels[0]; a > 0 && i > 0 {
			if n, m := first.p.StaticNRows(), levels[i].p.StaticNRows(); n >= 0 && m >= 0 && n != m {
				tenon.Throw(invalid(fn, "xs["+itoa(i)+"]", "has %d rows, the first tensor %d", m, n))
			}
			samePartitions(fn, first.outer, levels[i].outer)
		}
	}
	d := dtype.Int32
	for _, s := range splits {
		if s.DType() == dtype.Int64 {
			d = dtype.Int64
		}
	}
	for i, s := range splits {
		splits[i] = cast(s, d)
	}
	withinMemory(fn, "CartesianOptions", splits, len(xs), o.MaxBytes, everyWay)
	outSplits, at := rows.Cartesian(splits, local)
	inner := []*RowPartition{newPartition(outSplits, at[0].Shape().Dim(0))}
	if o.Nested {
		inner = nestedRows(splits)
	}
	lengths := make([]tensor.Tensor, len(xs))
	for i, l := range levels {
		switch {
		case a == 0:
			lengths[i] = ops.Cast(outerSize(l.values), d)
		case l.p.IsUniform():
			lengths[i] = ops.Cast(l.p.uniform, d)
		}
	}
	uniformTuples(inner, levels[0], lengths)
	parts := make([]tensor.Tensor, len(xs))
	for i, index := range at {
		arranged := func(v tensor.Tensor) tensor.Tensor {
			if a > 0 || o.Nested {
				v = onTop(v, append(append([]*RowPartition(nil), levels[0].outer...), inner...))
			}
			if a == 0 && o.Nested {
				v = v.(*Tensor).Values()
			}
			return v
		}
		if local {
			parts[i] = arranged(index)
			continue
		}
		parts[i] = throughMasks(func(x tensor.Tensor) tensor.Tensor {
			l, _ := rowsAlong(x, a)
			return arranged(gatherRows(l.values, index))
		})(lifted(xs[i]))
		if r := records[i]; r != nil {
			parts[i] = tenon.Must(r.AtNumbers(parts[i]))
		}
	}
	return parts
}

// uniformTuples makes the partitions of a product uniform if its rows have equal length. lengths
// holds the common row lengths of the factors that have one; the rows of the first factor are those
// of l.
func uniformTuples(parts []*RowPartition, l lists, lengths []tensor.Tensor) {
	n := scalar(1, parts[0].DType())
	if l.p != nil {
		n = ops.Cast(l.p.NRows(), n.DType())
	}
	if len(parts) == 1 {
		for _, m := range lengths[1:] {
			if lengths[0] != nil && m != nil {
				lengths[0] = product(lengths[0], m)
			} else {
				lengths[0] = nil
			}
		}
	}
	for i, p := range parts {
		if lengths[i] != nil {
			parts[i] = newUniform(n, ops.Cast(lengths[i], p.DType()))
		}
		n = parts[i].NVals()
	}
}

// nestedRows returns the partitions of nested products: the rows of the first tensor, below each of
// its entries the corresponding row of the second, and so on.
func nestedRows(splits []tensor.Tensor) []*RowPartition {
	out := []*RowPartition{newPartition(splits[0], shape.Unknown)}
	row := out[0].ValueRowIDs() // for each entry so far, the row of the tensors that it belongs to
	for _, s := range splits[1:] {
		lengths := ops.Gather(rows.Lengths(s), ops.Cast(row, dtype.Int64), 0)
		p := newPartition(cast(rows.FromLengths(lengths), s.DType()), shape.Unknown)
		row = ops.Gather(row, ops.Cast(p.ValueRowIDs(), dtype.Int64), 0)
		out = append(out, p)
	}
	return out
}
