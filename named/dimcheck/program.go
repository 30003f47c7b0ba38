package dimcheck

import "go/token"

// A program describes what a function does to dimensions. Its nodes are in the order in which they
// run, except that nodes of loops also join later ones.
type program struct {
	Name    string // for messages
	Key     string // for a declared function, in facts
	Params  int
	Nodes   []node
	Results []int  // the nodes of the results
	Mutates []bool // whether the function may change what each parameter points to
	Anons   []int  // the nodes of its closures

	local map[int]source // positions of nodes, in the package being checked
}

// An op is the kind of a node.
type op int

const (
	constOp   op = iota // Val
	paramOp             // parameter Int; Val by its type, if that determines it
	freeOp              // captured variable Int
	joinOp              // any of Args
	ruleOp              // the operation Key of package named or another known operation
	callOp              // the function Key called with Args
	dynamicOp           // the function value Args[0] called with the other Args
	closureOp           // the function Prog with Args captured
	funcOp              // the declared function Key
	fieldOp             // the field Key of Args[0]
	elemOp              // the element Key of Args[0]
	groupOp             // Args as fields Keys
	arithOp             // Args[0] Key Args[1]
	globalOp            // the variable Key of a package
	boxOp               // Args[0] of type Key converted to an interface
	unboxOp             // the contents of the interface Args[0], if they are of type Key
	invokeOp            // the method Key of the contents of the interface Args[0], called with the other Args
)

// A node is a step of a program.
type node struct {
	Op     op
	Key    string
	Keys   []string
	Args   []int    // -1: something that is not tracked
	Names  [][]name // type arguments
	Int    int
	Val    *val // for constOp; for others, what the type alone determines, or nil
	Prog   *program
	Site   site   // its position, if it can be wrong
	Calls  string // the name of the variable that takes it, or ""
	Bad    bool   // its mistakes have been reported already
	Guards []guard
}

// A site is a position in the source, such as "head.go:24:9".
type site string

// line returns the site as run-time errors print it: without the column.
func (s site) line() string {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == ':' {
			return string(s[:i])
		}
	}
	return string(s)
}

// A source is the position of a node in the package being checked.
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
