package ops

import "github.com/tenonml/tenon/op"

// Statements that several operations share. The fields are described in [op.Statement].

const one, two, three, four = op.Operands(op.First), op.Operands(op.Second), op.Operands(op.Third), op.Operands(op.Fourth)

// Elementwise operations.
var (
	mapped       = op.Statement{Axes: op.Map}
	keepsZero    = op.Statement{Axes: op.Map, Zero: op.Zero{Keeps: true}}
	linear       = op.Statement{Axes: op.Map, Zero: op.Zero{Keeps: true, Linear: []op.Operands{one}}}
	additive     = op.Statement{Axes: op.Map, Zero: op.Zero{Keeps: true, Linear: []op.Operands{one | two}}}
	multiplying  = op.Statement{Axes: op.Map, Zero: op.Zero{Keeps: true, Absorbs: one | two, Linear: products}}
	conjunction  = op.Statement{Axes: op.Map, Zero: op.Zero{Keeps: true, Absorbs: one | two}}
	absorbsFirst = op.Statement{Axes: op.Map, Zero: op.Zero{Keeps: true, Absorbs: one}}
	divided      = op.Statement{Axes: op.Map, Zero: op.Zero{Dividend: one}}
	passes       = op.Statement{Axes: op.Map, Moves: one, Zero: movedZero}
	likeShape    = op.Statement{Axes: op.Map, ShapeOnly: one, Missing: op.Ignore}
)

// movedZero says what zeros do if they are only moved, products what they do in products of two.
var (
	movedZero = op.Zero{Keeps: true, Linear: []op.Operands{one}}
	products  = []op.Operands{one, two}
)

// Operations along axes.
var (
	sums       = op.Statement{Axes: op.Reduce, Monoid: op.Sums, Missing: op.Skip, Zero: movedZero}
	means      = op.Statement{Axes: op.Reduce, Monoid: op.Means, Missing: op.Skip, Zero: movedZero}
	normalises = op.Statement{Axes: op.Along, Monoid: op.LogSums, Missing: op.Skip}
	ordered    = op.Statement{Axes: op.Along, Missing: op.Last, Zero: op.Zero{Keeps: true}}
	places     = op.Statement{Axes: op.Along, Missing: op.Last, Places: op.First}
)

// reduces returns the statement of a reduction that maps zeros to zero.
func reduces(m *op.Monoid) op.Statement {
	return op.Statement{Axes: op.Reduce, Monoid: m, Missing: op.Skip, Zero: op.Zero{Keeps: true}}
}

// scans returns the statement of a running reduction.
func scans(m *op.Monoid, z op.Zero) op.Statement {
	return op.Statement{Axes: op.Scan, Monoid: m, Missing: op.Skip, Zero: z}
}

// segments returns the statement of a reduction of segments.
func segments(m *op.Monoid, z op.Zero) op.Statement {
	return op.Statement{Axes: op.Reduce, By: op.ByIDs, Monoid: m, Missing: op.Skip, Control: two | three, Zero: z}
}

// moves returns the statement of an operation that moves its first operand's elements; control are
// the operands that say where to.
func moves(a op.Axes, control op.Operands) op.Statement {
	return op.Statement{Axes: a, Moves: one, Control: control, Zero: movedZero}
}

// contracts is the statement of products summed over axes.
var contracts = op.Statement{
	Axes: op.Contract, Monoid: op.Sums, Missing: op.Skip,
	Zero: op.Zero{Keeps: true, Absorbs: one | two, Linear: products},
}

// scatters returns the statement of scattering the third operand's elements into the first.
func scatters(m *op.Monoid) op.Statement {
	s := op.Statement{Axes: op.Scatter, Monoid: m, Control: two, Zero: op.Zero{Keeps: true}}
	switch m {
	case nil:
		s.Moves = one | three
		fallthrough
	case op.Sums:
		s.Zero.Linear = []op.Operands{one | three}
	}
	return s
}

// opaque returns the statement of an operation that is not described.
func opaque(why string) op.Statement {
	return op.Statement{Axes: op.Opaque, Missing: op.Refuse, Why: why}
}

// draws is the statement of drawing random elements, given a key and sizes.
var draws = op.Statement{Axes: op.Create, Draws: true, Control: op.Every, Missing: op.Refuse}

// tells is the statement of results that follow from a shape alone.
var tells = op.Statement{Axes: op.Create, ShapeOnly: one, Counts: op.First, Missing: op.Ignore}
