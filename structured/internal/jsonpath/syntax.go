package jsonpath

// A Query is a parsed path expression: segments, each applied to what the previous one has
// selected.
type Query struct {
	Root     bool // starts at the whole tensor ($) instead of each record
	Segments []Segment
}

// A Segment selects children of each node.
type Segment interface{ segment() }

// The kinds of segments.
type (
	// ByName selects fields of records: a single one, or several, which form a record.
	ByName struct {
		Names []string
		List  bool // written as a list of names
	}

	// Wildcard selects all elements of a list.
	Wildcard struct{}

	// ByIndex selects one element of a list; a negative index counts from the end.
	ByIndex struct{ At int }

	// BySlice selects a range of a list's elements.
	BySlice struct{ Start, Stop, Step *int }

	// ByFilter selects the elements of a list for which a condition is true.
	ByFilter struct{ Cond Logical }
)

func (ByName) segment()   {}
func (Wildcard) segment() {}
func (ByIndex) segment()  {}
func (BySlice) segment()  {}
func (ByFilter) segment() {}

// A Logical is a boolean expression for each node.
type Logical interface{ logical() }

// The kinds of conditions.
type (
	// Or is true if either condition is.
	Or struct{ X, Y Logical }

	// And is true if both conditions are.
	And struct{ X, Y Logical }

	// Not is true if the condition is not.
	Not struct{ X Logical }

	// Exists tests whether a query selects anything.
	Exists struct{ Query Query }

	// Comparison compares two values.
	Comparison struct {
		Op   string // ==, !=, <, <=, > or >=
		X, Y Operand
	}

	// Matches tests whether a string matches a regular expression, either as a whole or in part.
	Matches struct {
		X       Operand
		Pattern string
		Whole   bool
	}

	// Quantified tests whether a condition holds for any or for all of the elements it refers to.
	Quantified struct {
		X   Logical
		All bool
	}
)

func (Or) logical()         {}
func (And) logical()        {}
func (Not) logical()        {}
func (Exists) logical()     {}
func (Comparison) logical() {}
func (Matches) logical()    {}
func (Quantified) logical() {}

// An Operand is a value in a comparison.
type Operand interface{ operand() }

// The kinds of operands.
type (
	// Literal is a constant: int64, float64, string, bool, or nil for null.
	Literal struct{ Value any }

	// Queried is what a query selects. Value means that it came from the function value.
	Queried struct {
		Query Query
		Value bool
	}

	// Measured is the length of a value, or the number of nodes of a query.
	Measured struct {
		Query Query
		Nodes bool
	}
)

func (Literal) operand()  {}
func (Queried) operand()  {}
func (Measured) operand() {}

// Names returns the names of a query that consists of single names.
func (q Query) Names() (names []string, ok bool) {
	for _, s := range q.Segments {
		n, ok := s.(ByName)
		if !ok || n.List {
			return nil, false
		}
		names = append(names, n.Names...)
	}
	return names, true
}
