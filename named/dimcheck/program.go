package dimcheck

import "go/token"

// A program is what a function does to dimensions. Its nodes stand in the order in which
// they run, but for those of loops, which join what comes later.
type program struct {
	Name    string // as messages call it
	Key     string // of a declared function, in facts
	Params  int
	Nodes   []node
	Results []int  // the nodes of the results
	Mutates []bool // whether the function may change what a parameter points to
	Anons   []int  // the nodes of its closures

	local map[int]source // where nodes stand, in the package that is checked
}

// An op says what a node is.
type op int

const (
	constOp   op = iota // Val
	paramOp             // parameter Int; Val by its type, if that says it
	freeOp              // captured variable Int
	joinOp              // any of Args
	ruleOp              // the operation Key of package named or another that is known
	callOp              // the function Key of Args
	dynamicOp           // the function value Args[0] of the other Args
	closureOp           // the function Prog that captures Args
	funcOp              // the declared function Key
	fieldOp             // the field Key of Args[0]
	elemOp              // the element Key of Args[0]
	groupOp             // Args as fields Keys
	arithOp             // Args[0] Key Args[1]
	globalOp            // the variable Key of a package
	boxOp               // Args[0] of type Key as the value of an interface
	unboxOp             // what is in the interface Args[0], if it is of type Key
	invokeOp            // the method Key of what is in the interface Args[0], of the other Args
)

// A node is a step of a program.
type node struct {
	Op     op
	Key    string
	Keys   []string
	Args   []int    // -1: something that is not followed
	Names  [][]name // type arguments
	Int    int
	Val    *val // for constOp; for others what the type alone says, or nil
	Prog   *program
	Site   site   // where it stands, if something can be wrong with it
	Calls  string // what the variable that takes it is called, or ""
	Bad    bool   // what is wrong with it is reported already
	Guards []guard
}

// A site is a place in the source, "head.go:24:9".
type site string

// line returns the site as errors print it at run time: without the column.
func (s site) line() string {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == ':' {
			return string(s[:i])
		}
	}
	return string(s)
}

// A source is where a node stands in the package that is checked.
type source struct {
	pos, end token.Pos
}

func (p *program) add(n node) int {
	p.Nodes = append(p.Nodes, n)
	return len(p.Nodes) - 1
}

// walk calls f with the program and those of its closures.
func (p *program) walk(f func(*program)) {
	f(p)
	for _, i := range p.Anons {
		p.Nodes[i].Prog.walk(f)
	}
}
