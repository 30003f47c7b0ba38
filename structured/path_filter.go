package structured

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured/internal/jsonpath"
	"github.com/tenonml/tenon/tensor"
)

// A measure holds the values of an operand or condition for the elements among which a filter
// selects: one for each element or, if it goes through lists, one for each element of these lists.
// It is flat, so that values of different depths can be combined by repetition. Missing values are
// false in its mask.
type measure struct {
	v     tensor.Tensor
	mask  tensor.Tensor          // nil: nothing is missing
	parts []*ragged.RowPartition // for the lists that it goes through
}

// truth returns the elements of the first dimension for which a condition is true.
func (n *node) truth(c jsonpath.Logical) tensor.Tensor {
	m := n.logical(c)
	if len(m.parts) > 0 {
		n.fail("the condition has a boolean for each element of a list: write any(…) or all(…) around it")
	}
	return m.v
}

func (n *node) logical(c jsonpath.Logical) measure {
	switch c := c.(type) {
	case jsonpath.Or:
		x, y, parts := n.together(n.logical(c.X), n.logical(c.Y))
		return measure{v: ops.LogicalOr(x.v, y.v), parts: parts}
	case jsonpath.And:
		x, y, parts := n.together(n.logical(c.X), n.logical(c.Y))
		return measure{v: ops.LogicalAnd(x.v, y.v), parts: parts}
	case jsonpath.Not:
		x := n.logical(c.X)
		return measure{v: ops.LogicalNot(x.v), parts: x.parts}
	case jsonpath.Exists:
		return measure{v: n.exists(c.Query)}
	case jsonpath.Comparison:
		return n.compare(c)
	case jsonpath.Matches:
		x := n.operand(c.X)
		for _, v := range variants(x) {
			if isUnion(x.v) && v.v.DType().IsString() {
				x = v
			}
		}
		if _, ok := c.X.(jsonpath.Literal); ok || !x.v.DType().IsString() {
			n.fail("match and search apply to strings")
		}
		pattern := c.Pattern
		if !c.Whole {
			pattern = `(?s:.*)(?:` + pattern + `)(?s:.*)`
		}
		return measure{v: present(ops.StringRegexFullMatch(x.v, pattern), x.mask), parts: x.parts}
	case jsonpath.Quantified:
		within := *n
		within.quantified = true
		x := within.logical(c.X)
		if len(x.parts) == 0 {
			n.fail("any and all apply to the elements of lists, but there are no lists here")
		}
		reduce := rows.Any
		if c.All {
			reduce = rows.All
		}
		v := x.v
		for _, p := range slices.Backward(x.parts) {
			v = reduce(v, p.RowSplits())
		}
		return measure{v: v}
	}
	return measure{}
}

// present returns a boolean that is false where something is missing.
func present(v, mask tensor.Tensor) tensor.Tensor {
	if mask == nil {
		return v
	}
	return ops.LogicalAnd(v, mask)
}

// follow evaluates a query starting at each element.
func (n *node) follow(q jsonpath.Query) *node {
	m := *n
	m.parts, m.there = slices.Clone(n.parts), slices.Clone(n.there)
	return m.steps(q.Segments)
}

// exists returns the elements for which a query selects something. For an optional value, it must
// be present.
func (n *node) exists(q jsonpath.Query) tensor.Tensor {
	m := n.follow(q)
	found := m.found()
	for _, p := range slices.Backward(m.parts[:m.at-1]) {
		found = rows.Any(found, p.RowSplits())
	}
	return found
}

// found returns which of the nodes that a query has reached are present: lists, records or values.
func (n *node) found() tensor.Tensor {
	if mask := n.there[n.at-1]; mask != nil {
		return mask
	}
	return ops.Fill(ops.Reshape(ops.Cast(n.count(n.at-1), dtype.Int64), []int{1}), true)
}

// compare compares two operands, following RFC 9535, 2.3.5.2.2: missing values equal only missing
// values.
func (n *node) compare(c jsonpath.Comparison) measure {
	if isNull(c.X) {
		return n.compareNull(c, c.Y)
	}
	if isNull(c.Y) {
		return n.compareNull(c, c.X)
	}
	x, y := n.operand(c.X), n.operand(c.Y)
	_, lx := c.X.(jsonpath.Literal)
	_, ly := c.Y.(jsonpath.Literal)
	if lx && ly {
		n.fail("two constants are compared")
	}
	if lx && !isUnion(y.v) {
		x.v = likeColumn(c.X.(jsonpath.Literal).Value, y.v)
	}
	if ly && !isUnion(x.v) {
		y.v = likeColumn(c.Y.(jsonpath.Literal).Value, x.v)
	}
	pairs := comparable(x, y)
	if len(pairs) == 0 {
		n.fail("%v cannot be compared with %v", typeOf(x.v), typeOf(y.v))
	}
	var parts []*ragged.RowPartition
	x, y, parts = n.together(x, y)
	for i, p := range pairs {
		pairs[i][0], pairs[i][1], _ = n.together(p[0], p[1])
	}
	// each applies f to the values of each pair of types, at most one of which is present.
	each := func(f func(a, b tensor.Tensor) tensor.Tensor) tensor.Tensor {
		var out tensor.Tensor
		for _, p := range pairs {
			v := present(present(f(p[0].v, p[1].v), p[0].mask), p[1].mask)
			if out == nil {
				out = v
			} else {
				out = ops.LogicalOr(out, v)
			}
		}
		return out
	}
	less := func(swap bool) tensor.Tensor {
		return each(func(a, b tensor.Tensor) tensor.Tensor {
			if swap {
				a, b = b, a
			}
			if a.DType().IsBool() {
				n.fail("booleans have no order")
			}
			return lessExactly(a, b)
		})
	}
	equal := func() tensor.Tensor {
		e := each(func(a, b tensor.Tensor) tensor.Tensor { return equalExactly(a, b) })
		if x.mask != nil && y.mask != nil {
			e = ops.LogicalOr(e, ops.LogicalNot(ops.LogicalOr(x.mask, y.mask)))
		}
		return e
	}
	var v tensor.Tensor
	switch c.Op {
	case "==":
		v = equal()
	case "!=":
		v = ops.LogicalNot(equal())
	case "<":
		v = less(false)
	case ">":
		v = less(true)
	case "<=":
		v = ops.LogicalOr(less(false), equal())
	case ">=":
		v = ops.LogicalOr(less(true), equal())
	}
	return measure{v: v, parts: parts}
}

// equalExactly compares numbers by value: an integer and a floating-point number without rounding
// either to the type of the other.
func equalExactly(a, b tensor.Tensor) tensor.Tensor {
	if a.DType().IsFloat() && b.DType().IsInteger() {
		a, b = b, a
	}
	if !a.DType().IsInteger() || !b.DType().IsFloat() {
		return ops.Equal(a, b)
	}
	d := wideInteger(a.DType())
	whole, exact := integers(b, d)
	return ops.LogicalAnd(exact, ops.Equal(ops.Cast(a, d), whole))
}

// lessExactly is a < b by value: n < x if n < ⌈x⌉, and x < n if ⌊x⌋ < n. Numbers beyond the range
// of integers are below or above all of them.
func lessExactly(a, b tensor.Tensor) tensor.Tensor {
	switch {
	case a.DType().IsInteger() && b.DType().IsFloat():
		d := wideInteger(a.DType())
		whole, within := integers(ops.Ceil(b), d)
		return ops.Where(within, ops.Less(ops.Cast(a, d), whole), ops.Greater(b, 0))
	case a.DType().IsFloat() && b.DType().IsInteger():
		d := wideInteger(b.DType())
		whole, within := integers(ops.Floor(a), d)
		return ops.Where(within, ops.Less(whole, ops.Cast(b, d)), ops.Less(a, 0))
	}
	return ops.Less(a, b)
}

// comparable returns pairs of values of the same kind from two measures: a single pair or, for
// unions, those of the variants that can be compared.
func comparable(x, y measure) [][2]measure {
	var out [][2]measure
	for _, a := range variants(x) {
		for _, b := range variants(y) {
			if a.v.DType() != dtype.None && comparisonKind(a.v.DType()) == comparisonKind(b.v.DType()) {
				out = append(out, [2]measure{a, b})
			}
		}
	}
	return out
}

// variants returns a measure for each type of a measure that has one value for each element.
func variants(x measure) []measure {
	u, ok := x.v.(*Union)
	if !ok {
		return []measure{x}
	}
	var out []measure
	for k := range u.rec.cols[1:] {
		v, mask := there(u.variant(k))
		if x.mask != nil {
			mask = ops.LogicalAnd(mask, x.mask)
		}
		if _, deeper := v.(optional); !deeper && v.Shape().Rank() == 1 {
			out = append(out, measure{v, mask, x.parts})
		}
	}
	return out
}

// typeOf returns the name of the type of values, for an error.
func typeOf(v tensor.Tensor) string {
	if v.DType() == dtype.None {
		return tenon.String(v.Spec())
	}
	return v.DType().String()
}

func isNull(o jsonpath.Operand) bool {
	l, ok := o.(jsonpath.Literal)
	return ok && l.Value == nil
}

// compareNull compares an operand with null, which equals missing values, including lists and
// records. Inside any and all, the elements of lists are compared.
func (n *node) compareNull(c jsonpath.Comparison, o jsonpath.Operand) measure {
	var there tensor.Tensor
	var parts []*ragged.RowPartition
	switch o := o.(type) {
	case jsonpath.Literal:
		n.fail("two constants are compared")
	case jsonpath.Queried:
		m := n.follow(o.Query)
		if n.quantified {
			for m.deepen() {
			}
			m.at = m.rank
		}
		there, parts = m.found(), m.parts[:m.at-1]
	default:
		x := n.operand(o)
		there, parts = allOr(x.v, x.mask), x.parts
	}
	switch c.Op {
	case "==", "<=", ">=":
		return measure{v: ops.LogicalNot(there), parts: parts}
	case "!=":
		return measure{v: there, parts: parts}
	}
	return measure{v: ops.LogicalAnd(there, false), parts: parts}
}

// comparisonKind returns the same element type for all types that can be compared
// with each other.
func comparisonKind(d dtype.DType) dtype.DType {
	if d.IsNumeric() {
		return dtype.Float64
	}
	return d
}

// likeColumn returns a constant in the element type in which it is compared with a column: a
// fraction gets the column's type if that is floating-point, and is float64 for integers.
func likeColumn(x any, column tensor.Tensor) tensor.Tensor {
	v := tenon.Must(tensor.Convert(x))
	if column != nil {
		if t, ok := element.TypeOf(column); ok {
			return tenon.Must(element.Literal(x, t))
		}
	}
	if column == nil || !v.DType().IsNumeric() {
		return v
	}
	d := column.DType()
	i, isInt := x.(int64)
	switch {
	case d.IsFloat() || d.IsComplex():
		return ops.Cast(v, d)
	case d == dtype.Uint64 && isInt && i >= 0:
		return ops.Cast(v, d)
	case d == dtype.Uint64:
		return ops.Cast(v, dtype.Float64)
	}
	return v
}

// operand returns the values of an operand for each element; a constant has a
// single value.
func (n *node) operand(o jsonpath.Operand) measure {
	switch o := o.(type) {
	case jsonpath.Queried:
		m := n.follow(o.Query)
		for m.deepen() {
		}
		if m.leaf == nil {
			n.fail("a record is compared; name one of its fields")
		}
		return measure{m.leaf, m.there[m.rank-1], m.parts}
	case jsonpath.Measured:
		return n.measured(o)
	case jsonpath.Literal:
		if o.Value == nil {
			return measure{v: tensor.Scalar(false)}
		}
		return measure{v: tenon.Must(tensor.Convert(o.Value))}
	}
	return measure{}
}

// measured returns the length of what a query selects, or the number of nodes.
func (n *node) measured(o jsonpath.Measured) measure {
	m := n.follow(o.Query)
	if o.Nodes {
		counts := ops.Cast(m.found(), dtype.Int64)
		for _, p := range slices.Backward(m.parts[:m.at-1]) {
			counts = rows.Sum(counts, p.RowSplits())
		}
		return measure{v: counts}
	}
	if m.at < m.rank || m.deepen() {
		return measure{ops.Cast(m.parts[m.at-1].RowLengths(), dtype.Int64), m.there[m.at-1], m.parts[:m.at-1]}
	}
	if m.leaf == nil || !m.leaf.DType().IsString() {
		n.fail("length applies to lists and strings")
	}
	return measure{ops.Cast(ops.StringLength(m.leaf, ops.UnitChar), dtype.Int64), m.there[m.rank-1], m.parts}
}

// together brings two measures to the same depth: the one that goes through fewer lists is repeated
// for the elements of the others.
func (n *node) together(x, y measure) (a, b measure, parts []*ragged.RowPartition) {
	if len(x.parts) > len(y.parts) {
		b, a, parts = n.together(y, x)
		return a, b, parts
	}
	for i, p := range x.parts {
		if q := y.parts[i]; p != q {
			// The lists must be equal; the check is part of the result.
			s := rows.AssertSame(q.RowSplits(), p.RowSplits())
			y.parts = slices.Clone(y.parts)
			y.parts[i] = partitionOf(s)
		}
	}
	if x.v.Shape().IsScalar() { // a single value for all elements
		return x, y, y.parts
	}
	for _, p := range y.parts[len(x.parts):] {
		ids := p.ValueRowIDs()
		x.v = ops.Gather(x.v, ids, 0)
		if x.mask != nil {
			x.mask = ops.Gather(x.mask, ids, 0)
		}
	}
	return x, y, y.parts
}
