package structured

// A query is a parsed path expression: segments that are applied in turn to what the
// one before has selected.
type query struct {
	root     bool // starts at the whole tensor ($), not at each record
	segments []segment
}

// A segment selects children of each node.
type segment interface{ segment() }

// byName goes to fields of records: one, or several, which make a record of them.
type byName struct {
	names []string
	list  bool // written as a list of names
}

// wildcard goes to all elements of a list.
type wildcard struct{}

// byIndex goes to one element of a list; a negative index counts from the end.
type byIndex struct{ at int }

// bySlice goes to a range of a list's elements.
type bySlice struct{ start, stop, step *int }

// byFilter goes to the elements of a list for which a condition holds.
type byFilter struct{ cond logical }

func (byName) segment()   {}
func (wildcard) segment() {}
func (byIndex) segment()  {}
func (bySlice) segment()  {}
func (byFilter) segment() {}

// A logical is an expression with a truth value for each node.
type logical interface{ logical() }

type (
	// or and and combine two conditions, not turns one round.
	or  struct{ x, y logical }
	and struct{ x, y logical }
	not struct{ x logical }

	// exists asks whether a query selects anything.
	exists struct{ q query }

	// comparison compares two values.
	comparison struct {
		op   string // ==, !=, <, <=, > or >=
		x, y operand
	}

	// matches asks whether a string matches a regular expression, as a whole or in
	// some part.
	matches struct {
		x       operand
		pattern string
		whole   bool
	}

	// quantified asks whether a condition holds for any or for all of the elements
	// that it speaks of.
	quantified struct {
		x   logical
		all bool
	}
)

func (or) logical()         {}
func (and) logical()        {}
func (not) logical()        {}
func (exists) logical()     {}
func (comparison) logical() {}
func (matches) logical()    {}
func (quantified) logical() {}

// An operand is a value that is compared.
type operand interface{ operand() }

type (
	// literal is a constant: int64, float64, string, bool, or nil for null.
	literal struct{ value any }

	// queried is what a query selects; value says that the function value made it.
	queried struct {
		q     query
		value bool
	}

	// measured is the length of a value, or the number of nodes of a query.
	measured struct {
		q     query
		nodes bool
	}
)

func (literal) operand()  {}
func (queried) operand()  {}
func (measured) operand() {}
