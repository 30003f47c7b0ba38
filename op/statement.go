package op

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
)

// A Statement describes, as data, what an operation does to axes and to elements. Each type of
// value reads it, so that the operation need not be described again for ragged, masked, sparse or
// named values, or for a type defined elsewhere. It is modeled on the signatures of NumPy's
// generalized ufuncs, arrow-go's handling of nulls, Awkward's reducers and Shardy's sharding rules.
//
// Statements obey laws that internal/optable checks with every kernel: a statement that contradicts
// its operation fails a test.
type Statement struct {
	// Axes says what becomes of the axes that the operation works on. Every other axis is a batch
	// axis: the operation does the same at each of its positions.
	Axes Axes

	// By says what determines these axes: a parameter, or an operand that divides the first axis
	// into rows or segments.
	By By

	// Core is the number of trailing axes that an operation without a parameter for its axes works
	// on, such as 2 for matrices.
	Core int

	// Monoid is what Reduce, Scan, Scatter and Contract combine elements with, and what Along
	// normalizes by. It is nil if parts of an axis cannot be combined.
	Monoid *Monoid

	// Missing says what a missing element of an operand does.
	Missing Missing

	// Zero says what zeros do.
	Zero Zero

	// Moves are the operands whose elements are moved but never looked at; they may be anything,
	// such as records or strings.
	Moves Operands

	// Control are the operands that say where, which or how many: positions, sizes, row splits,
	// keys. They are not broadcast against the others.
	Control Operands

	// ShapeOnly are the operands of which only the shape and element type matter.
	ShapeOnly Operands

	Fills  bool // some elements of the result come from no operand: zeros, or a given value
	Checks bool // the result is the first operand; the operation fails if a condition does not hold
	Draws  bool // elements are drawn at random; the first operand is a key

	// Places are the results that are positions along an axis, Counts those that are numbers of
	// elements. Neither has the type of the operands: they have no unit and no fields, and a mask
	// only where there was nothing.
	Places, Counts Results

	// Why says why an operation is Opaque.
	Why string
}

// Axes says what becomes of the axes that an operation works on.
type Axes uint8

// What may become of axes.
const (
	Unstated  Axes = iota
	Map            // no axes: operands are broadcast, the result has an element for each of theirs
	Reduce         // the axes are removed, or keep one entry
	Scan           // the axis stays; an element depends on the elements up to it
	Along          // the axis stays; an element depends on all elements along it
	Select         // the axis gets those entries of the operand that an index, or the operation, selects
	Scatter        // the axes stay; an index says which entries get those of another operand
	Join           // the entries of the operands are concatenated
	Stack          // the operands are the entries of a new axis
	Insert         // axes are added
	Remove         // axes are removed without reducing anything
	Permute        // the axes are permuted
	Broadcast      // axes of size 1, and new ones, are stretched
	Regroup        // the elements, in their order, get other axes
	Contract       // axes have labels; products are summed over those that the result lacks
	Window         // the axis gets an entry for each window of neighbors
	Create         // a value is made from sizes, bounds, keys or row splits
	Opaque         // none of these: Why says why
)

var axesNames = [...]string{
	"unstated", "map", "reduce", "scan", "along", "select", "scatter", "join", "stack", "insert", "remove",
	"permute", "broadcast", "regroup", "contract", "window", "create", "opaque",
}

// String returns the name, such as "reduce".
func (a Axes) String() string {
	if int(a) < len(axesNames) {
		return axesNames[a]
	}
	return fmt.Sprintf("axes(%d)", uint8(a))
}

// By says what determines the axes that an operation works on.
type By uint8

// What may determine the axes.
const (
	ByAxis By = iota // a parameter for axes, or Core
	ByRows           // an operand of row splits divides the first axis of the others
	ByIDs            // an operand has a segment number for each entry of the first axes
)

// Missing says what a missing element does.
type Missing uint8

// What missing elements may do.
const (
	Propagate Missing = iota // the result is missing if an operand is
	Skip                     // the others are combined as if it did not exist
	Last                     // they come after the others
	Ignore                   // nothing: the elements do not matter
	Refuse                   // the operation is not defined for them
)

// Operands is a set of operands. Operand i is the tensor parameter number i, not counting
// attributes; a list is one operand.
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

// Zero says what zeros do. Control operands are arbitrary in all cases.
type Zero struct {
	// Keeps means that only zeros give zeros, along axes that have entries. A reduction of no
	// elements gives its monoid's identity.
	Keeps bool

	// Absorbs are the operands whose zeros give zeros, whatever finite numbers the others contain.
	Absorbs Operands

	// Dividend are the operands whose zeros give zeros where the operation is defined; it is
	// undefined where the divisor is zero.
	Dividend Operands

	// Linear are the sets of operands in which the operation is jointly linear:
	// one set of two for a sum, two sets of one for a product.
	Linear []Operands
}

// LinearIn reports whether an operation is jointly linear in a set of operands.
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
		return "refers to operands that do not exist"
	}
	return ""
}

// constant reports whether small changes of the operands leave the results unchanged.
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

// Reshapes reports whether the result has the elements of the operand, in order, with another
// shape.
func (o *Op) Reshapes() bool {
	switch o.Axes {
	case Regroup, Insert, Remove:
		return o.Moves == First && o.By == ByAxis && !o.Fills && o.Core == 0
	}
	return false
}

// AxisParam returns the index of the parameter that names axes, or -1 if there is none.
func (o *Op) AxisParam() int { return o.axis }

// axisParam computes the result of AxisParam.
func (o *Op) axisParam() int {
	return slices.IndexFunc(o.Params, func(p Param) bool {
		return p.Kind == Attr && (p.Name == "axis" || strings.HasSuffix(p.Name, "_axis"))
	})
}

// Axes returns the axes, counted from 0, that a call on tensors of the given rank works on, in the
// order in which they are named: those of the parameter, all if it is omitted, or the last ones. It
// returns an error of kind [tenon.ErrAxis] for an axis that does not exist.
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

// Operands yields the values among the arguments, in the order of [Call.Values], each with the
// number of its operand. All values of a list have the same number.
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
