package rows

import "github.com/tenonml/tenon/op"

// Statements that several operations share. Row splits divide the first axis of the values into
// rows, which take the place of an axis here.

const one, two, three, four, five, six = op.Operands(op.First), op.Operands(op.Second), op.Operands(op.Third),
	op.Operands(op.Fourth), op.Operands(op.Fifth), op.Operands(op.Sixth)

// movedZero says what zeros do if they are only moved, products what they do in products of two.
var (
	movedZero = op.Zero{Keeps: true, Linear: []op.Operands{one}}
	keepsZero = op.Zero{Keeps: true}
)

// eachRow returns the statement of an operation on the values of each row.
func eachRow(a op.Axes, m *op.Monoid, z op.Zero) op.Statement {
	return op.Statement{Axes: a, By: op.ByRows, Monoid: m, Missing: op.Skip, Control: two, Zero: z}
}

// moves returns the statement of an operation that moves its first operand's elements.
func moves(a op.Axes, control op.Operands) op.Statement {
	return op.Statement{Axes: a, By: op.ByRows, Moves: one, Control: control, Zero: movedZero}
}

// makes returns the statement of an index, sizes or row splits made from others.
func makes(places, counts op.Results) op.Statement {
	return op.Statement{Axes: op.Create, Control: op.Every, Missing: op.Refuse, Places: places, Counts: counts}
}

// opaque returns the statement of an operation that is not described.
func opaque(why string) op.Statement {
	return op.Statement{Axes: op.Opaque, By: op.ByRows, Missing: op.Refuse, Why: why}
}

// contracts returns the statement of summed products; control are the operands that say which rows
// belong together.
func contracts(linear []op.Operands, control op.Operands) op.Statement {
	var both op.Operands
	for _, s := range linear {
		both |= s
	}
	return op.Statement{
		Axes: op.Contract, By: op.ByRows, Monoid: op.Sums, Missing: op.Refuse, Control: control,
		Zero: op.Zero{Keeps: true, Absorbs: both, Linear: linear},
	}
}
