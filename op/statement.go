package op

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
)

// A Statement says what an operation does to axes and to elements, as data. Each type of
// value reads it, so that nobody has to describe the operation again for ragged, masked,
// sparse or named values, or for a type that is written elsewhere. The models are NumPy's
// signatures of generalised ufuncs, arrow-go's handling of nulls, Awkward's reducers and
// Shardy's sharding rules.
//
// A statement has laws, which internal/optable tries with every kernel: a statement that
// contradicts its operation is a failing test.
type Statement struct {
	// Axes is what becomes of the axes that the operation is about. Every other axis is
	// a batch axis: the operation does the same at each of its places.
	Axes Axes

	// By says what tells these axes: a parameter, or an operand that divides the first
	// axis into rows or segments.
	By By

	// Core is the number of trailing axes that an operation without a parameter for
	// its axes is about, such as 2 for matrices.
	Core int

	// Monoid is what Reduce, Scan, Scatter and Contract combine elements with, and
	// what Along normalises by. It is nil where parts of an axis cannot be combined.
	Monoid *Monoid

	// Missing is what an element of an operand that is missing does.
	Missing Missing

	// Zero is what zeros do.
	Zero Zero

	// Moves are the operands whose elements are moved and never looked at: these may
	// be anything, such as records or strings.
	Moves Operands

	// Control are the operands that say where, which or how many: positions, sizes,
	// row splits, keys. They are not laid over the others.
	Control Operands

	// ShapeOnly are the operands of which only the shape and element type matter.
	ShapeOnly Operands

	Fills  bool // some elements of the result come from no operand: zeros, or a value that is given
	Checks bool // the result is the first operand; the operation fails where a condition does not hold
	Draws  bool // elements are drawn at random: the first operand is a key

	// Places are the results that are positions along an axis, Counts those that are
	// numbers of elements. Neither is of what the operands are of: they have no unit,
	// no fields, and no mask but where nothing was there.
	Places, Counts Results

	// Why is the reason for which an operation is Opaque.
	Why string
}

// Axes says what becomes of the axes that an operation is about.
type Axes uint8

// What becomes of axes.
const (
	Unstated  Axes = iota
	Map            // none is named: operands are broadcast, the result has an element for each of theirs
	Reduce         // the axes go away, or keep one entry
	Scan           // the axis stays, an element depends on those up to it
	Along          // the axis stays, an element depends on all of the axis
	Select         // the axis gets the entries of the operand that an index, or the operation, tells
	Scatter        // the axes stay; an index tells which entries get those of another operand
	Join           // the entries of the operands follow one another
	Stack          // the operands are the entries of a new axis
	Insert         // axes are made
	Remove         // axes go away with nothing reduced
	Permute        // the axes change places
	Broadcast      // axes of size 1, and new ones, get a size
	Regroup        // the elements in their order get other axes
	Contract       // axes have labels; those that the result lacks are summed over products
	Window         // the axis gets an entry for each run of neighbours
	Create         // a value is made from sizes, bounds, keys or row splits
	Opaque         // none of these: Why says what it is
)

var axesNames = [...]string{
	"unstated", "map", "reduce", "scan", "along", "select", "scatter", "join", "stack", "insert", "remove",
	"permute", "broadcast", "regroup", "contract", "window", "create", "opaque",
}

// String returns the name: "reduce".
func (a Axes) String() string {
	if int(a) < len(axesNames) {
		return axesNames[a]
	}
	return fmt.Sprintf("axes(%d)", uint8(a))
}

// By says what tells the axes that an operation is about.
type By uint8

// What tells the axes.
const (
	ByAxis By = iota // a parameter for axes, or Core
	ByRows           // an operand of row splits divides the first axis of the others
	ByIDs            // an operand has the number of a segment for each entry of the first axes
)

// Missing says what an element that is missing does.
type Missing uint8

// What missing elements do.
const (
	Propagate Missing = iota // the result is missing where an operand is
	Skip                     // the others are taken as if there were no more
	Last                     // they come behind the others
	Ignore                   // nothing: the elements do not matter
	Refuse                   // the operation has no meaning for them
)

// Operands is a set of operands. Operand i is the tensor parameter with number i, counted
// without attributes; a list is one operand.
type Operands uint8

// Results is a set of results.
type Results uint8

// Members of [Operands] and [Results].
const (
	First = 1 << iota
	Second
	Third
	Fourth
	Fifth
	Sixth
	Every = 0xff
)

// Has reports whether operand i is in the set.
func (s Operands) Has(i int) bool { return s>>i&1 != 0 }

// Has reports whether result i is in the set.
func (s Results) Has(i int) bool { return s>>i&1 != 0 }

// Zero says what zeros do. Operands that are Control are as they are in all of it.
type Zero struct {
	// Keeps says that zeros alone give zeros, on axes that have entries: of nothing,
	// a reduction gives its monoid's identity.
	Keeps bool

	// Absorbs are the operands a zero of which gives a zero, whatever finite number
	// the others have.
	Absorbs Operands

	// Dividend are the operands a zero of which gives a zero where the operation is
	// defined, which it is not where the divisor is zero.
	Dividend Operands

	// Linear are the sets of operands in which the operation is linear together:
	// one set of two for a sum, two sets of one for a product.
	Linear []Operands
}

// LinearIn reports whether an operation is linear in a set of operands together.
func (z Zero) LinearIn(s Operands) bool { return slices.Contains(z.Linear, s) }

// check returns what is wrong with the statement of an operation.
func (s *Statement) check(o *Op) string {
	switch {
	case s.Axes == Unstated:
		return "says nothing about axes: set Axes, or Opaque with a reason"
	case (s.Axes == Opaque) != (s.Why != ""):
		return "needs a reason where it is opaque, and only there"
	case s.Moves&(s.Control|s.ShapeOnly) != 0 || s.Control&s.ShapeOnly != 0:
		return "puts an operand into two sets"
	case s.beyond(len(o.tensors)):
		return "speaks of operands that it does not have"
	}
	return ""
}

// constant reports whether small changes of the operands leave the results as they are.
func (o *Op) constant() bool {
	if o.Axes == Create && (o.Control == Every || o.ShapeOnly != 0) {
		return true
	}
	all := Results(1)<<max(1, o.Results) - 1
	return o.Results > 0 && (o.Places|o.Counts)&all == all
}

// beyond reports whether a set other than Every has operands from number n on.
func (s *Statement) beyond(n int) bool {
	for _, set := range []Operands{s.Moves, s.Control, s.ShapeOnly} {
		if set != Every && set>>n != 0 {
			return true
		}
	}
	return false
}

// Reshapes reports whether the result has the elements of the operand in their order, under
// another shape.
func (o *Op) Reshapes() bool {
	switch o.Axes {
	case Regroup, Insert, Remove:
		return o.Moves == First && o.By == ByAxis && !o.Fills && o.Core == 0
	}
	return false
}

// AxisParam returns the index of the parameter that names axes, and -1 where there is none.
func (o *Op) AxisParam() int { return o.axis }

// axisParam finds what AxisParam returns.
func (o *Op) axisParam() int {
	return slices.IndexFunc(o.Params, func(p Param) bool {
		return p.Kind == Attr && (p.Name == "axis" || strings.HasSuffix(p.Name, "_axis"))
	})
}

// Axes returns the axes that a call is about, of rank ones, counted from 0, in the order in
// which they are named: those of the parameter, all where it is left out, or the last ones.
// It returns an [tenon.ErrAxis] error for one that does not exist.
func (c *Call) Axes(rank int) ([]int, error) {
	if c.Op.axis < 0 {
		n := min(c.Op.Core, rank)
		return upFrom(rank-n, rank), nil
	}
	var list []int
	switch a := c.Args[c.Op.axis].(type) {
	case int:
		list = []int{a}
	case []int:
		list = slices.Clone(a)
	}
	if list == nil {
		return upFrom(0, rank), nil
	}
	for i, a := range list {
		if a < -rank || a >= rank {
			return nil, c.Errorf(tenon.ErrAxis, "axis %d is out of range for rank %d", a, rank)
		}
		list[i] = (a + rank) % rank
	}
	return list, nil
}

func upFrom(first, end int) []int {
	list := make([]int, 0, end-first)
	for i := first; i < end; i++ {
		list = append(list, i)
	}
	return list
}

// Operands yields the values among the arguments, in the order of [Call.Values], each with
// the number of its operand: the values of a list have one number.
func (c *Call) Operands() iter.Seq2[int, tenon.Value] {
	return func(yield func(int, tenon.Value) bool) {
		for k, i := range c.Op.tensors {
			switch v := c.Args[i].(type) {
			case tenon.Value:
				if !yield(k, v) {
					return
				}
			case []tenon.Value:
				for _, x := range v {
					if !yield(k, x) {
						return
					}
				}
			}
		}
	}
}
