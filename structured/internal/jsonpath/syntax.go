package jsonpath

// A Query is a parsed path expression: segments that are applied in turn to what the
// one before has selected.
type Query struct {
	Root     bool // starts at the whole tensor ($), not at each record
	Segments []Segment
}

// A Segment selects children of each node.
type Segment interface{ segment() }

// The kinds of segments.
type (
	// ByName goes to fields of records: one, or several, which make a record of them.
	ByName struct {
		Names []string
		List  bool // written as a list of names
	}

	// Wildcard goes to all elements of a list.
	Wildcard struct{}

	// ByIndex goes to one element of a list; a negative index counts from the end.
	ByIndex struct{ At int }

	// BySlice goes to a range of a list's elements.
	BySlice struct{ Start, Stop, Step *int }

	// ByFilter goes to the elements of a list for which a condition holds.
	ByFilter struct{ Cond Logical }
)

func (ByName) segment()   {}
func (Wildcard) segment() {}
func (ByIndex) segment()  {}
func (BySlice) segment()  {}
func (ByFilter) segment() {}

// A Logical is an expression with a truth value for each node.
type Logical interface{ logical() }

// The kinds of conditions.
type (
	// Or holds where one of two conditions does.
	Or struct{ X, Y Logical }

	// And holds where both of two conditions do.
	And struct{ X, Y Logical }

	// Not holds where a condition does not.
	Not struct{ X Logical }

	// Exists asks whether a query selects anything.
	Exists struct{ Query Query }

	// Comparison compares two values.
	Comparison struct {
		Op   string // ==, !=, <, <=, > or >=
		X, Y Operand
	}

	// Matches asks whether a string matches a regular expression, as a whole or in
	// some part.
	Matches struct {
		X       Operand
		Pattern string
		Whole   bool
	}

	// Quantified asks whether a condition holds for any or for all of the elements
	// that it speaks of.
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

// An Operand is a value that is compared.
type Operand interface{ operand() }

// The kinds of operands.
type (
	// Literal is a constant: int64, float64, string, bool, or nil for null.
	Literal struct{ Value any }

	// Queried is what a query selects; Value says that the function value made it.
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
