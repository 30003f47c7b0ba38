package dimcheck

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"

	"golang.org/x/tools/go/ssa"

	"github.com/tenonml/tenon/internal/dimtext"
)

// A translator translates the functions of a package to programs.
type translator struct {
	pkg      *ssa.Package
	fset     *token.FileSet
	calls    map[token.Pos]*ast.CallExpr // by the position of the parenthesis
	assigned map[*ast.CallExpr]string    // the variable that takes the result of each call
	exprs    map[ast.Expr]spot           // the node of each expression
	variable map[*ssa.Global]ssa.Value   // values of the variables of the package that are set once
	programs map[string]*program
	mutating map[*ssa.Parameter]bool
	all      []*ssa.Function // of the package
	loaded   map[string]bool // types with values that are loaded and written through
}

// A spot is a node of a program.
type spot struct {
	prog *program
	node int
}

// translate returns the program of a function, including those inside it.
func (t *translator) translate(fn *ssa.Function, outer typeParams) *program {
	b := &body{translator: t, fn: fn, prog: &program{Name: funcName(fn), Params: len(fn.Params), local: map[int]source{}},
		nodes: map[ssa.Value]int{}, inside: map[*ssa.Function]*program{}, params: outer}
	if b.params == nil {
		b.params = typeParams{}
		for i, p := range allTypeParams(fn) {
			b.params[p] = i
		}
	}
	for _, p := range fn.Params {
		b.prog.Mutates = append(b.prog.Mutates, t.mutates(p))
		b.value(p)
	}
	if len(fn.Blocks) == 0 {
		return b.prog
	}
	results := make([][]int, fn.Signature.Results().Len())
	for _, block := range fn.DomPreorder() {
		for _, in := range block.Instrs {
			switch in := in.(type) {
			case *ssa.Call:
				b.value(in)
			case *ssa.Defer:
				b.call(in, &in.Call)
			case *ssa.Go:
				b.call(in, &in.Call)
			case *ssa.MakeClosure:
				b.value(in)
			case *ssa.Store:
				b.storeField(in)
			case *ssa.Return:
				for i, r := range in.Results {
					results[i] = append(results[i], b.guarded(b.value(r), b.guards(block)))
				}
			case *ssa.DebugRef:
				if !in.IsAddr && holdsTensors(in.X.Type()) {
					t.exprs[in.Expr] = spot{b.prog, b.value(in.X)}
				}
			}
		}
	}
	for _, r := range results {
		b.prog.Results = append(b.prog.Results, b.join(r))
	}
	return b.prog
}

// allTypeParams returns the type parameters of a function, or of a method's receiver.
func allTypeParams(fn *ssa.Function) []*types.TypeParam {
	var out []*types.TypeParam
	list := fn.TypeParams()
	if list == nil {
		list = fn.Signature.RecvTypeParams()
	}
	for p := range list.TypeParams() {
		out = append(out, p)
	}
	return out
}

func funcName(fn *ssa.Function) string {
	if fn.Signature.Recv() != nil {
		t := fn.Signature.Recv().Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		if n, ok := types.Unalias(t).(*types.Named); ok {
			return n.Obj().Name() + "." + fn.Name()
		}
	}
	return fn.Name()
}

// A body is a function being translated.
type body struct {
	*translator
	fn     *ssa.Function
	prog   *program
	nodes  map[ssa.Value]int
	inside map[*ssa.Function]*program // the programs of its closures
	params typeParams
}

// closed returns the program of a closure.
func (b *body) closed(fn *ssa.Function) *program {
	p := b.inside[fn]
	if p == nil {
		p = b.translator.translate(fn, b.params)
		b.inside[fn] = p
	}
	return p
}

// add appends a node for a source position.
func (b *body) add(n node, pos, end token.Pos) int {
	if pos.IsValid() {
		p := b.fset.Position(pos)
		n.Site = site(place(p.Filename, p.Line) + ":" + strconv.Itoa(p.Column))
	}
	i := b.prog.add(n)
	if pos.IsValid() {
		b.prog.local[i] = source{pos, end}
	}
	return i
}

func (b *body) join(nodes []int) int {
	if len(nodes) == 1 {
		return nodes[0]
	}
	return b.prog.add(node{Op: joinOp, Args: nodes})
}

func (b *body) constant(v *val) int { return b.prog.add(node{Op: constOp, Val: v}) }

// byType returns what the type of a value determines by itself: the dimensions of a schema, or the
// names of a name type.
func (b *body) byType(t types.Type) *val {
	if p, ok := types.Unalias(t).(*types.Pointer); ok && !isTensor(t) {
		t = p.Elem()
	}
	if dims, ok := schema(t); ok {
		return tensorOf(dims, nil)
	}
	if _, isName := typeName(t); isName || isNamedType(t, "Dim") || isSet(t) {
		if names, ok := b.params.names(t); ok {
			return namesVal(names)
		}
	}
	if p, ok := types.Unalias(t).(*types.TypeParam); ok {
		if i, ok := b.params[p]; ok {
			return namesVal([]name{param(i)})
		}
	}
	return nil
}

// isSet reports whether t is a set of names.
func isSet(t types.Type) bool {
	if isNamedType(t, "Set") {
		return true
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range s.NumFields() {
		if f := s.Field(i); f.Embedded() && isNamedType(f.Type(), "Set") {
			return true
		}
	}
	return false
}

func namesVal(names []name) *val {
	v := &val{Kind: namesKind}
	for _, n := range names {
		v.Dims = append(v.Dims, dim{Name: n, Size: dimtext.Absent})
	}
	return v
}

// value returns the node of a value.
func (b *body) value(v ssa.Value) int {
	if i, ok := b.nodes[v]; ok && i != inProgress {
		return i
	}
	if phi, ok := v.(*ssa.Phi); ok {
		if !holdsTensors(v.Type()) && !isInteger(v.Type()) {
			return -1
		}
		i := b.prog.add(node{Op: joinOp, Val: b.byType(v.Type())})
		b.nodes[v] = i
		args := make([]int, len(phi.Edges))
		for k, e := range phi.Edges {
			from := phi.Block().Preds[k]
			args[k] = b.guarded(b.value(e), b.branch(b.guards(from), from, phi.Block()))
		}
		b.prog.Nodes[i].Args = args
		return i
	}
	i := b.make(v)
	b.nodes[v] = i
	return i
}

func (b *body) make(v ssa.Value) int {
	switch v := v.(type) {
	case *ssa.Parameter:
		for i, p := range b.fn.Params {
			if p == v {
				return b.add(node{Op: paramOp, Int: i, Val: b.byType(v.Type()), Calls: v.Name()}, v.Pos(), v.Pos())
			}
		}
	case *ssa.FreeVar:
		for i, f := range b.fn.FreeVars {
			if f == v {
				return b.prog.add(node{Op: freeOp, Int: i, Val: b.byType(v.Type())})
			}
		}
	case *ssa.Const:
		return b.literal(v)
	case *ssa.Call:
		return b.call(v, &v.Call)
	case *ssa.MakeInterface:
		if basic, ok := v.X.Type().Underlying().(*types.Basic); ok && basic.Info()&(types.IsNumeric|types.IsBoolean) != 0 {
			if isInteger(v.X.Type()) {
				return b.prog.add(node{Op: joinOp, Args: []int{b.value(v.X)}, Val: someInt})
			}
			return b.constant(tensorOf(nil, nil))
		}
		return b.boxed(v)
	case *ssa.ChangeInterface:
		return b.value(v.X)
	case *ssa.ChangeType:
		return b.value(v.X)
	case *ssa.Convert:
		return b.value(v.X)
	case *ssa.MultiConvert:
		return b.value(v.X)
	case *ssa.TypeAssert:
		x := b.unboxed(b.value(v.X), v)
		if v.CommaOk {
			return b.prog.add(node{Op: groupOp, Keys: []string{"0"}, Args: []int{x}})
		}
		return b.typed(x, v.AssertedType)
	case *ssa.Extract:
		return b.prog.add(node{Op: fieldOp, Key: strconv.Itoa(v.Index), Args: []int{b.value(v.Tuple)}, Val: b.byType(v.Type())})
	case *ssa.Field:
		return b.field(b.value(v.X), v.X.Type(), v.Field)
	case *ssa.Index:
		return b.elem(b.value(v.X), v.Index)
	case *ssa.Lookup:
		if !holdsTensors(v.X.Type()) { // of a string
			return -1
		}
		x := b.elem(b.load(v.X), v.Index)
		if v.CommaOk {
			return b.prog.add(node{Op: groupOp, Keys: []string{"0"}, Args: []int{x}})
		}
		return b.typed(x, v.Type())
	case *ssa.Next:
		if r, ok := v.Iter.(*ssa.Range); ok && !v.IsString {
			x := b.prog.add(node{Op: elemOp, Key: "*", Args: []int{b.load(r.X)}})
			return b.prog.add(node{Op: groupOp, Keys: []string{"2"}, Args: []int{x}})
		}
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return b.typed(b.load(v.X), v.Type())
		}
	case *ssa.Slice:
		if v.Low == nil && v.High == nil {
			return b.load(v.X)
		}
		return b.prog.add(node{Op: groupOp, Keys: []string{"*"}, Args: []int{b.prog.add(node{Op: elemOp, Key: "*", Args: []int{b.load(v.X)}})}})
	case *ssa.MakeClosure:
		return b.closure(v)
	case *ssa.Function:
		if v.Parent() != nil {
			i := b.add(node{Op: closureOp, Prog: b.closed(v)}, token.NoPos, token.NoPos)
			b.prog.Anons = append(b.prog.Anons, i)
			return i
		}
		if o := declared(v); o != nil {
			return b.prog.add(node{Op: funcOp, Key: o.FullName(), Names: b.typeArgs(v)})
		}
	case *ssa.BinOp:
		if isInteger(v.X.Type()) {
			return b.prog.add(node{Op: arithOp, Key: v.Op.String(), Args: []int{b.value(v.X), b.value(v.Y)}})
		}
	case *ssa.Alloc, *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Global, *ssa.MakeSlice, *ssa.MakeMap:
		return b.load(v)
	}
	if own := b.byType(v.Type()); own != nil {
		return b.constant(own)
	}
	return -1
}

// typed returns a node whose type is known more precisely than that of x.
func (b *body) typed(x int, t types.Type) int {
	own := b.byType(t)
	if own == nil {
		return x
	}
	return b.prog.add(node{Op: joinOp, Args: []int{x}, Val: own})
}

func (b *body) literal(c *ssa.Const) int {
	switch {
	case c.Value == nil:
		if own := b.byType(c.Type()); own != nil && own.Kind == namesKind {
			return b.constant(own)
		}
		return b.constant(nilVal)
	case c.Value.Kind() == constant.Int && isInteger(c.Type()):
		if i, exact := constant.Int64Val(c.Value); exact {
			return b.constant(&val{Kind: numberKind, Number: int(i)})
		}
	case c.Value.Kind() == constant.Bool:
		return b.constant(truth(constant.BoolVal(c.Value)))
	case c.Value.Kind() == constant.String:
		return b.constant(&val{Kind: textKind, Text: constant.StringVal(c.Value)})
	}
	return -1
}

// field returns the node of a field of a struct.
func (b *body) field(x int, t types.Type, i int) int {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return -1
	}
	f := s.Field(i)
	own := b.byType(f.Type())
	if dims, ok := b.params.fieldDims(t, s, i); ok {
		own = tensorOf(namesVal(dims).Dims, nil)
	}
	n := node{Op: fieldOp, Key: f.Name(), Args: []int{x}, Val: own}
	if own != nil && own.Kind == tensorKind && isSchema(f.Type()) { // a schema embedded in another one
		n.Int = 1
	}
	return b.prog.add(n)
}

func (b *body) elem(x int, index ssa.Value) int {
	return b.prog.add(node{Op: elemOp, Key: elemKey(index), Args: []int{x}})
}

// elemKey returns the key of the element at an index or map key, or "*" if it is not constant.
func elemKey(index ssa.Value) string {
	if c, ok := index.(*ssa.Const); ok && c.Value != nil {
		return c.Value.ExactString()
	}
	return "*"
}
