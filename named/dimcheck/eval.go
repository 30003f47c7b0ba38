package dimcheck

import (
	"slices"
)

// A checker runs programs on sets of dimensions.
type checker struct {
	program func(key string) *program
	global  func(key string) *val

	problems []problem
	results  map[string][]*val   // results of runs, by program and arguments
	running  map[string]*pending // runs in progress
	assumed  int                 // how many of them a call inside them has asked for
	active   map[*program]int
	soft     map[softmax]*softUse
	failed   bool              // the operation that was run last would fail
	seen     map[spot]*val     // the values of the nodes of the function being checked
	right    map[*program]bool // functions that some call uses correctly
	failures int               // number of operations that have failed, reported or not
	steps    int
}

const (
	maxPasses = 12      // passes over a program with loops
	maxSteps  = 200_000 // nodes for one function
)

// A frame is a run of a program.
type frame struct {
	prog   *program
	args   []*val // nil if the function is checked by itself
	binds  []*val
	names  [][]name // type arguments
	parent *frame
	call   int // the parent's node of the call
	home   bool
	vals   []*val
	stuck  []bool // nodes of loops that do not converge, and are unknown
	depth  int
	report bool
}

// check runs a program to find mistakes that do not depend on its arguments.
func (c *checker) check(p *program) {
	c.soft, c.steps = map[softmax]*softUse{}, 0
	c.run(&frame{prog: p, home: true, report: true})
	c.flush()
}

// tuple combines the results of a function as those of a call.
func tuple(res []*val) *val {
	if len(res) == 1 {
		return res[0]
	}
	out := &val{Kind: groupKind, Fields: map[string]*val{}}
	for i, r := range res {
		out.Fields[index(i)] = r
	}
	return out
}

func (c *checker) run(f *frame) []*val {
	p := f.prog
	c.active[p]++
	defer func() { c.active[p]-- }()
	f.vals = make([]*val, len(p.Nodes))
	report := f.report
	if p.loops() {
		f.report = false
		for pass := 0; c.pass(f); pass++ {
			if pass == maxPasses {
				c.giveUp(f)
			}
			if pass > 2*maxPasses {
				break
			}
		}
		f.report = report
	}
	if report || !p.loops() {
		c.pass(f)
	}
	if f.home && report {
		c.record(f)
	}
	out := make([]*val, len(p.Results))
	for i, r := range p.Results {
		out[i] = f.at(r)
	}
	return out
}

// loops reports whether a node depends on a later one.
func (p *program) loops() bool {
	for i, n := range p.Nodes {
		if n.Op == joinOp && slices.ContainsFunc(n.Args, func(a int) bool { return a >= i }) {
			return true
		}
	}
	return false
}

// pass runs all nodes once, and reports whether anything has changed.
func (c *checker) pass(f *frame) bool {
	changed := false
	for i := range f.prog.Nodes {
		v := f.vals[i]
		if c.steps++; c.steps > maxSteps {
			f.vals[i] = anything
			continue
		}
		if f.vals[i] = c.node(f, i); !changed {
			changed = !equal(v, f.vals[i])
		}
	}
	return changed
}

// giveUp makes the nodes of loops that do not converge unknown.
func (c *checker) giveUp(f *frame) {
	f.stuck = make([]bool, len(f.prog.Nodes))
	for i, n := range f.prog.Nodes {
		f.stuck[i] = n.Op == joinOp && slices.ContainsFunc(n.Args, func(a int) bool { return a >= i })
	}
}

// record keeps the values of the nodes, for editors.
func (c *checker) record(f *frame) {
	for i, v := range f.vals {
		s := spot{f.prog, i}
		if old := c.seen[s]; v != nil && v.Kind != unknown {
			c.seen[s] = join(old, v)
		} else if old == nil {
			c.seen[s] = v
		}
	}
}

func (f *frame) at(i int) *val {
	if i < 0 {
		return anything
	}
	return f.vals[i]
}

// node returns the value of a node.
func (c *checker) node(f *frame, i int) *val {
	n := &f.prog.Nodes[i]
	run, certain := n.runs(f)
	if !run {
		return nil
	}
	report := f.report
	f.report, c.failed = report && certain, false
	v := c.value(f, i, n)
	f.report = report
	if n.Op == ruleOp && c.failed && !certain {
		return nil // it does not run
	}
	if n.Val == nil || n.Op == constOp {
		return v
	}
	own := f.resolved(n.Val)
	switch {
	case v == nil || v.Kind == unknown:
		return own
	case v.Kind == tensorKind && own.Kind == namesKind, // a handle
		v.Kind == numberKind && own.Kind == intKind:
		return v
	case v.Kind != own.Kind:
		return own
	}
	return v
}

// resolved returns v with names for type parameters filled in.
func (f *frame) resolved(v *val) *val {
	if v == nil || v.Kind != namesKind && v.Kind != tensorKind || !slices.ContainsFunc(v.Dims, func(d dim) bool { _, ok := d.Name.param(); return ok }) {
		return v
	}
	out := *v
	out.Dims = nil
	for _, d := range v.Dims {
		names, ok := f.expand([]name{d.Name})
		if !ok {
			return anything
		}
		for _, n := range names {
			out.Dims = append(out.Dims, dim{Name: n, Size: d.Size})
		}
	}
	return &out
}

// expand fills in the names that type parameters stand for.
func (f *frame) expand(names []name) ([]name, bool) {
	var out []name
	for _, n := range names {
		i, isParam := n.param()
		if !isParam {
			out = append(out, n)
			continue
		}
		if i >= len(f.names) || f.names[i] == nil {
			return nil, false
		}
		out = append(out, f.names[i]...)
	}
	return out, len(out) > 0
}

func (f *frame) expandAll(list [][]name) [][]name {
	out := make([][]name, len(list))
	for i, names := range list {
		out[i], _ = f.expand(names)
	}
	return out
}

func (c *checker) value(f *frame, i int, n *node) *val {
	switch n.Op {
	case constOp:
		return f.resolved(n.Val)
	case paramOp:
		if f.args == nil {
			return withRoles(orUnknown(f.resolved(n.Val)), n.Calls)
		}
		return withRoles(f.args[n.Int], n.Calls)
	case freeOp:
		if n.Int < len(f.binds) {
			return f.binds[n.Int]
		}
		return anything
	case joinOp:
		if f.stuck != nil && f.stuck[i] {
			return anything
		}
		var v *val
		for _, a := range n.Args {
			v = join(v, f.at(a))
		}
		return v
	case ruleOp:
		return c.rule(f, i, n)
	case callOp:
		if !f.reached(n.Args) {
			return nil
		}
		if p := c.program(n.Key); p != nil {
			return withRoles(c.call(f, i, p, f.all(n.Args), nil, f.expandAll(n.Names), false), n.Calls)
		}
		return anything
	case dynamicOp:
		if !f.reached(n.Args) {
			return nil
		}
		return withRoles(c.apply(f, i, f.at(n.Args[0]), f.all(n.Args[1:])), n.Calls)
	case closureOp:
		fn := &function{Prog: n.Prog, Binds: f.all(n.Args), Names: f.names}
		if f.report && f.home {
			g := &frame{prog: n.Prog, binds: fn.Binds, names: f.names, parent: f, call: i, home: true, depth: f.depth + 1, report: true}
			c.run(g)
		}
		return &val{Kind: funcKind, Func: fn}
	case funcOp:
		return &val{Kind: funcKind, Func: &function{Key: n.Key, Names: f.expandAll(n.Names)}}
	case fieldOp:
		return c.field(f, n)
	case elemOp:
		return elem(f.at(n.Args[0]), n.Key)
	case groupOp:
		out := &val{Kind: groupKind, Fields: map[string]*val{}}
		for k, key := range n.Keys {
			out.Fields[key] = f.at(n.Args[k])
		}
		return out
	case arithOp:
		return arith(n.Key, f.at(n.Args[0]), f.at(n.Args[1]))
	case globalOp:
		return c.global(n.Key)
	case boxOp:
		return box(n.Key, f.at(n.Args[0]))
	case unboxOp:
		return unbox(n.Key, f.at(n.Args[0]))
	case invokeOp:
		if !f.reached(n.Args) {
			return nil
		}
		return withRoles(c.invoke(f, i, n.Key, f.all(n.Args)), n.Calls)
	}
	return anything
}

func orUnknown(v *val) *val {
	if v == nil {
		return anything
	}
	return v
}

// reached reports whether all of the given nodes have values.
func (f *frame) reached(nodes []int) bool {
	return !slices.ContainsFunc(nodes, func(i int) bool { return f.at(i) == nil })
}

func (f *frame) all(nodes []int) []*val {
	out := make([]*val, len(nodes))
	for i, n := range nodes {
		out[i] = f.at(n)
	}
	return out
}

func (c *checker) field(f *frame, n *node) *val {
	x := f.at(n.Args[0])
	switch {
	case x == nil || x.Kind == nilKind:
		return x
	case x.Kind == groupKind:
		if v, ok := x.Fields[n.Key]; ok {
			return v
		}
		return nilVal
	case x.Kind == funcKind:
		return x
	case x.Kind != tensorKind:
		return anything
	}
	own := f.resolved(n.Val)
	switch {
	case own == nil:
		return x
	case own.Kind == namesKind && x.Attrs != nil && x.Attrs.Handle != "":
		return x // its Dim
	case own.Kind == namesKind && len(own.Dims) == 1:
		return x.with(func(a *attrs) { a.Handle = own.Dims[0].Name })
	case own.Kind == tensorKind && n.Int == 1: // a schema inside
		return x.with(func(a *attrs) { a.Extra = union(a.Extra, dimNames(without(x.Dims, dimNames(own.Dims)))) })
	}
	return x
}

func elem(x *val, key string) *val {
	switch {
	case x == nil || x.Kind == nilKind:
		return x
	case x.Kind != groupKind:
		return anything
	}
	if v, ok := x.Fields[key]; ok && key != "*" {
		return join(v, x.Fields["*"])
	}
	var v *val
	for k, y := range x.Fields {
		if key == "*" || k == "*" {
			v = join(v, y)
		}
	}
	return v
}

func arith(op string, a, b *val) *val {
	if a == nil || b == nil {
		return nil
	}
	if a.Kind != numberKind || b.Kind != numberKind {
		if isInt(a) && isInt(b) {
			return someInt
		}
		return anything
	}
	x, y := a.Number, b.Number
	switch op {
	case "+":
		x += y
	case "-":
		x -= y
	case "*":
		x *= y
	case "/":
		if y == 0 {
			return anything
		}
		x /= y
	case "%":
		if y == 0 {
			return anything
		}
		x %= y
	case "==":
		return truth(x == y)
	case "!=":
		return truth(x != y)
	case "<":
		return truth(x < y)
	case "<=":
		return truth(x <= y)
	case ">":
		return truth(x > y)
	case ">=":
		return truth(x >= y)
	default:
		return anything
	}
	return &val{Kind: numberKind, Number: x}
}

// truth returns a boolean.
func truth(b bool) *val {
	if b {
		return &val{Kind: numberKind, Number: 1}
	}
	return &val{Kind: numberKind}
}
