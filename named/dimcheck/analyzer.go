package dimcheck

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// Analyzer reports mistakes in the dimensions of named tensors. Its result is a [*Result].
var Analyzer = &analysis.Analyzer{
	Name:       "dimcheck",
	Doc:        "check the dimensions of named tensors\n\nThe analyzer infers which names the dimensions of each *named.Tensor have, across\nbranches, calls and packages, and reports operations that would fail at run time,\nweights contracted over another dimension than that of their softmax, and queries\nand keys whose roles are exchanged.",
	URL:        "https://pkg.go.dev/github.com/tenonml/tenon/named/dimcheck",
	Run:        run,
	ResultType: reflect.TypeFor[*Result](),
	FactTypes:  []analysis.Fact{(*Programs)(nil)},
}

var hints bool

func init() {
	Analyzer.Flags.BoolVar(&hints, "hints", false, "print the dimensions of each variable as well")
}

// Programs is the fact about a package: what its functions do to dimensions, and what its variables
// are. Both are sorted by key, so that the encoding of the fact is deterministic.
type Programs struct {
	Funcs []*program
	Vars  []variable
}

// A variable is what is known about a variable of a package.
type variable struct {
	Key string
	Val *val
}

// AFact marks Programs as a fact.
func (*Programs) AFact() {}

// String names the functions.
func (p *Programs) String() string { return "programs" }

func run(pass *analysis.Pass) (any, error) {
	res := &Result{}
	if pass.Pkg.Path() == namedPath || !uses(pass.Pkg, namedPath, map[*types.Package]bool{}) {
		return res, nil
	}
	declarations(pass)
	tags(pass)
	k := newPackageCheck(pass)
	k.translate()
	k.checkAll()
	k.export()
	k.diagnostics()
	res.fill(k)
	if hints {
		for _, h := range res.Hints {
			pass.Reportf(h.Pos, "%s is %s", h.Name, h.Dims)
		}
	}
	return res, nil
}

// uses reports whether a package imports another, directly or indirectly.
func uses(pkg *types.Package, path string, seen map[*types.Package]bool) bool {
	if seen[pkg] {
		return false
	}
	seen[pkg] = true
	for _, p := range pkg.Imports() {
		if p.Path() == path || uses(p, path, seen) {
			return true
		}
	}
	return false
}

// A packageCheck is the check of one package.
type packageCheck struct {
	*translator
	*checker
	pass      *analysis.Pass
	functions []*ssa.Function
	order     []*program // in source order
	checked   map[*program]bool
	vars      map[string]*val
	imported  map[string]*program
	initial   *program
	targets   map[*ast.Ident]bool // identifiers that are assigned to
}

func newPackageCheck(pass *analysis.Pass) *packageCheck {
	k := &packageCheck{pass: pass, checked: map[*program]bool{}, vars: map[string]*val{}, imported: map[string]*program{},
		targets: map[*ast.Ident]bool{}}
	for _, f := range pass.AllPackageFacts() {
		p, ok := f.Fact.(*Programs)
		if !ok || f.Package == pass.Pkg {
			continue
		}
		for _, prog := range p.Funcs {
			k.imported[prog.Key] = prog
		}
		for _, v := range p.Vars {
			k.vars[v.Key] = v.Val
		}
	}
	pkg, functions := build(pass)
	k.functions = functions
	k.translator = &translator{pkg: pkg, fset: pass.Fset, calls: map[token.Pos]*ast.CallExpr{}, assigned: map[*ast.CallExpr]string{},
		exprs: map[ast.Expr]spot{}, programs: map[string]*program{}, mutating: map[*ssa.Parameter]bool{}, all: functions}
	for key, p := range k.imported {
		k.programs[key] = p
	}
	for _, f := range pass.Files {
		ast.Inspect(f, k.note)
	}
	k.checker = &checker{results: map[string][]*val{}, running: map[string]*pending{}, active: map[*program]int{}, seen: map[spot]*val{}, right: map[*program]bool{}}
	k.checker.program = k.ready
	k.checker.global = func(key string) *val {
		if v, ok := k.vars[key]; ok {
			return v
		}
		return anything
	}
	return k
}

// build builds the SSA form of the package, with the expressions that values correspond to.
func build(pass *analysis.Pass) (*ssa.Package, []*ssa.Function) {
	prog := ssa.NewProgram(pass.Fset, ssa.GlobalDebug)
	made := map[*types.Package]bool{}
	var imports func(pkgs []*types.Package)
	imports = func(pkgs []*types.Package) {
		for _, p := range pkgs {
			if !made[p] {
				made[p] = true
				prog.CreatePackage(p, nil, nil, true)
				imports(p.Imports())
			}
		}
	}
	imports(pass.Pkg.Imports())
	pkg := prog.CreatePackage(pass.Pkg, pass.Files, pass.TypesInfo, false)
	pkg.Build()
	var functions []*ssa.Function
	for _, f := range pass.Files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil && d.Name.Name != "_" {
				if fn := prog.FuncValue(pass.TypesInfo.Defs[d.Name].(*types.Func)); fn != nil {
					functions = append(functions, fn)
				}
			}
		}
	}
	return pkg, functions
}

// note collects calls by the position of their parenthesis, and the variables that take their
// results.
func (k *packageCheck) note(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		k.calls[n.Lparen] = n
	case *ast.AssignStmt:
		for _, l := range n.Lhs {
			if id, ok := l.(*ast.Ident); ok {
				k.targets[id] = true
			}
		}
		if len(n.Lhs) == len(n.Rhs) {
			for i, r := range n.Rhs {
				k.assign(n.Lhs[i], r)
			}
		}
	case *ast.ValueSpec:
		if len(n.Names) == len(n.Values) {
			for i, r := range n.Values {
				k.assign(n.Names[i], r)
			}
		}
	}
	return true
}

func (k *packageCheck) assign(left, right ast.Expr) {
	call, ok := ast.Unparen(right).(*ast.CallExpr)
	if id, isName := left.(*ast.Ident); ok && isName {
		k.assigned[call] = id.Name
	}
}

func (k *packageCheck) translate() {
	k.findVariables(k.functions)
	k.initial = k.translator.translate(k.pkg.Func("init"), nil)
	for _, fn := range k.functions {
		p := k.translator.translate(fn, nil)
		k.order = append(k.order, p)
		if o := declared(fn); o != nil {
			k.programs[o.FullName()] = p
		}
	}
}

// ready returns the program of a function, which is checked by itself before it is called with
// arguments.
func (k *packageCheck) ready(key string) *program {
	p := k.programs[key]
	if p == nil || p.local == nil || k.checked[p] {
		return p
	}
	k.checkOne(p)
	return p
}

func (k *packageCheck) checkAll() {
	k.variables()
	k.checkOne(k.initial)
	for _, p := range k.order {
		k.checkOne(p)
	}
}

// variables determines the values of the variables of the package. They may depend on each other,
// in the order in which they are initialized.
func (k *packageCheck) variables() {
	if len(k.variable) == 0 {
		return
	}
	b := &body{translator: k.translator, fn: k.pkg.Func("init"), prog: &program{Name: "init", local: map[int]source{}},
		nodes: map[ssa.Value]int{}, inside: map[*ssa.Function]*program{}, params: typeParams{}}
	for _, block := range b.fn.DomPreorder() {
		for _, in := range block.Instrs {
			s, ok := in.(*ssa.Store)
			if !ok {
				continue
			}
			g, ok := s.Addr.(*ssa.Global)
			if !ok || k.variable[g] != s.Val || !holdsTensors(g.Type()) {
				continue
			}
			b.prog.Results = []int{b.value(s.Val)}
			if v := k.checker.run(&frame{prog: b.prog})[0]; v != nil && v.Kind != funcKind {
				k.vars[g.Pkg.Pkg.Path()+"."+g.Name()] = v
			}
		}
	}
}

func (k *packageCheck) checkOne(p *program) {
	if k.checked[p] {
		return
	}
	k.checked[p] = true
	soft, steps := k.soft, k.steps
	from := len(k.problems)
	k.check(p)
	k.soft, k.steps = soft, steps
	for _, q := range k.problems[from:] {
		last := q.calls[len(q.calls)-1]
		last.prog.Nodes[last.node].Bad = true
	}
}

// export makes what other packages need to know a fact.
func (k *packageCheck) export() {
	funcs := map[string]*program{}
	var add func(key string, p *program)
	add = func(key string, p *program) {
		if funcs[key] != nil {
			return
		}
		funcs[key], p.Key = p, key
		p.walk(func(q *program) {
			for _, n := range q.Nodes {
				if n.Op == callOp || n.Op == funcOp {
					if callee := k.programs[n.Key]; callee != nil {
						add(n.Key, callee)
					}
				}
			}
		})
	}
	for _, fn := range k.functions {
		if o := declared(fn); o != nil && k.programs[o.FullName()] != nil && relevant(o) {
			add(o.FullName(), k.programs[o.FullName()])
		}
	}
	fact := &Programs{}
	for _, key := range slices.Sorted(maps.Keys(funcs)) {
		fact.Funcs = append(fact.Funcs, funcs[key])
	}
	prefix := k.pass.Pkg.Path() + "."
	for _, key := range slices.Sorted(maps.Keys(k.vars)) {
		if v := k.vars[key]; strings.HasPrefix(key, prefix) && v.Func == nil && v.Fields == nil {
			fact.Vars = append(fact.Vars, variable{key, v})
		}
	}
	if len(fact.Funcs)+len(fact.Vars) > 0 {
		k.pass.ExportPackageFact(fact)
	}
}

// relevant reports whether a function involves tensors.
func relevant(o *types.Func) bool {
	sig := o.Signature()
	return holdsTensors(sig.Results()) || holdsTensors(sig.Params()) || sig.Recv() != nil && holdsTensors(sig.Recv().Type())
}
