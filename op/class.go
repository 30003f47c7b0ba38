package op

import "fmt"

// Class is a group of operations that a handler can answer with the same code. It follows from an
// operation's [Statement].
type Class uint8

// The classes.
const (
	Other              Class = iota // none of the below
	UnaryElementwise                // one tensor x; the result has x's shape, computed element by element
	BinaryElementwise               // two tensors x and y that broadcast
	TernaryElementwise              // three tensors that broadcast, such as where and clip
	Reduction                       // one tensor, parameters axis and keepdims; the axes are removed
	Cumulative                      // one tensor, a parameter axis; the shape stays, each element depends on its row
	Assert                          // checks its arguments and returns them
	Structural                      // moves elements without computing: reshape, concat, gather, …
	Creation                        // makes a tensor from sizes: fill, range, eye, …
	Random                          // takes a key
)

var classNames = [...]string{"other", "unary_elementwise", "binary_elementwise", "ternary_elementwise", "reduction", "cumulative", "assert", "structural", "creation", "random"}

// String returns the name of the class, such as "unary_elementwise".
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return fmt.Sprintf("class(%d)", uint8(c))
}

// class derives the class from the statement.
func (o *Op) class() Class {
	n, lists := len(o.tensors), false
	for _, i := range o.tensors {
		lists = lists || o.Params[i].Kind == Tensors
	}
	alone := n == 1 && !lists && o.axis >= 0 && o.Params[o.axis].Name == "axis" && o.By == ByAxis
	switch {
	case o.Draws:
		return Random
	case o.Checks:
		return Assert
	case o.Axes == Map && o.Control == 0 && o.Results == 1 && !lists && n >= 1 && n <= 3:
		return UnaryElementwise + Class(n-1)
	case o.Axes == Reduce && alone:
		return Reduction
	case (o.Axes == Scan || o.Axes == Along) && alone && o.Missing != Last && o.Moves == 0:
		return Cumulative
	case o.Axes == Create && o.ShapeOnly == 0:
		return Creation
	case o.Moves != 0:
		return Structural
	}
	switch o.Axes {
	case Select, Scatter, Regroup:
		return Structural
	}
	return Other
}

// IsUnaryElementwise reports whether the operation maps each element of one tensor.
func (o *Op) IsUnaryElementwise() bool { return o.Class == UnaryElementwise }

// IsBinaryElementwise reports whether the operation combines two broadcast tensors.
func (o *Op) IsBinaryElementwise() bool { return o.Class == BinaryElementwise }

// IsElementwise reports whether the operation is elementwise in any number of operands.
func (o *Op) IsElementwise() bool {
	return o.Class == UnaryElementwise || o.Class == BinaryElementwise || o.Class == TernaryElementwise
}

// IsReduction reports whether the operation reduces axes of one tensor.
func (o *Op) IsReduction() bool { return o.Class == Reduction }

// IsAssert reports whether the operation only checks its arguments.
func (o *Op) IsAssert() bool { return o.Class == Assert }
