package dimcheck

import (
	"go/token"
	"go/types"
	"strconv"

	"golang.org/x/tools/go/ssa"
)

func (b *body) closure(v *ssa.MakeClosure) int {
	fn := v.Fn.(*ssa.Function)
	if fn.Parent() == nil { // a bound method
		return b.bound(fn, v)
	}
	binds := make([]int, len(v.Bindings))
	for i, x := range v.Bindings {
		binds[i] = b.value(x)
	}
	i := b.add(node{Op: closureOp, Args: binds, Prog: b.closed(fn)}, token.NoPos, token.NoPos)
	b.prog.Anons = append(b.prog.Anons, i)
	return i
}

// bound returns the node of a method value, which is a closure that has captured the receiver.
func (b *body) bound(fn *ssa.Function, v *ssa.MakeClosure) int {
	method, ok := fn.Object().(*types.Func)
	if !ok || len(v.Bindings) != 1 {
		return -1
	}
	n := method.Signature().Params().Len() + 1
	p := &program{Name: method.Name(), Params: n - 1, Mutates: make([]bool, n-1)}
	args := []int{p.add(node{Op: freeOp})}
	for i := range n - 1 {
		args = append(args, p.add(node{Op: paramOp, Int: i, Val: b.byType(method.Signature().Params().At(i).Type())}))
	}
	call := p.add(node{Op: callOp, Key: method.Origin().FullName(), Args: args})
	if r := method.Signature().Results().Len(); r == 1 {
		p.Results = []int{call}
	} else {
		for i := range r {
			p.Results = append(p.Results, p.add(node{Op: fieldOp, Key: strconv.Itoa(i), Args: []int{call}}))
		}
	}
	return b.prog.add(node{Op: closureOp, Args: []int{b.value(v.Bindings[0])}, Prog: p})
}

// declared returns the function as declared in the source; fn may be an instance of it.
func declared(fn *ssa.Function) *types.Func {
	if o := fn.Origin(); o != nil {
		fn = o
	}
	o, _ := fn.Object().(*types.Func)
	if o == nil {
		return nil
	}
	return o.Origin()
}

// typeArgs returns the names that the type arguments of an instance stand for.
func (b *body) typeArgs(fn *ssa.Function) [][]name {
	args := fn.TypeArgs()
	if args == nil {
		return nil
	}
	out := make([][]name, len(args))
	for i, a := range args {
		out[i], _ = b.params.names(a)
	}
	return out
}

// call returns the node of a call.
func (b *body) call(in ssa.CallInstruction, c *ssa.CallCommon) int {
	pos, end := c.Pos(), c.Pos()
	if e := b.calls[c.Pos()]; e != nil {
		pos, end = e.Pos(), e.End()
	}
	n := node{Op: dynamicOp}
	if e := b.calls[c.Pos()]; e != nil {
		n.Calls = b.assigned[e]
	}
	var args []ssa.Value
	switch callee := c.StaticCallee(); {
	case c.IsInvoke():
		switch {
		case isNamedType(c.Value.Type(), "Name"):
			n.Op, n.Key = ruleOp, "named.Name."+c.Method.Name()
		case mentionsTensors(c.Method.Signature()):
			n.Op, n.Key = invokeOp, c.Method.Name()
		default:
			return b.opaque(in)
		}
		args = append([]ssa.Value{c.Value}, c.Args...)
	case callee != nil && callee.Parent() == nil && declared(callee) != nil && !isClosure(c.Value):
		o := declared(callee)
		n.Op, n.Key, n.Names = callOp, o.FullName(), b.typeArgs(callee)
		if key, ok := ruleKey(o); ok {
			n.Op, n.Key = ruleOp, key
			if sig := o.Signature(); sig.Recv() != nil {
				n.Names = nil
			}
		}
		args = c.Args
		if types := callee.TypeArgs(); n.Op == ruleOp && (n.Key == "named.Bind" && len(types) == 1 || n.Key == "named.BindOver" && len(types) == 2) {
			if t := types[len(types)-1]; isSchema(t) {
				dims, _ := schema(t)
				n.Val, n.Keys = tensorOf(dims, nil), []string{typeText(t)}
			}
		}
	case isBuiltin(c.Value):
		return b.builtin(c)
	default:
		args = append([]ssa.Value{c.Value}, c.Args...)
	}
	for _, a := range args {
		n.Args = append(n.Args, b.value(a))
	}
	if n.Val == nil {
		if v := in.Value(); v != nil {
			n.Val = b.byType(v.Type())
		}
	}
	n.Guards = b.guards(in.Block())
	return b.add(n, pos, end)
}

func typeText(t types.Type) string {
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

// opaque returns the node of a call that is not followed.
func (b *body) opaque(in ssa.CallInstruction) int {
	if v := in.Value(); v != nil {
		if own := b.byType(v.Type()); own != nil {
			return b.constant(own)
		}
	}
	return -1
}

func isClosure(v ssa.Value) bool { _, ok := v.(*ssa.MakeClosure); return ok }

func isBuiltin(v ssa.Value) bool { _, ok := v.(*ssa.Builtin); return ok }

func (b *body) builtin(c *ssa.CallCommon) int {
	if c.Value.Name() != "append" || len(c.Args) != 2 || !holdsTensors(c.Args[0].Type()) {
		return -1
	}
	elems := b.join([]int{
		b.prog.add(node{Op: elemOp, Key: "*", Args: []int{b.value(c.Args[0])}}),
		b.prog.add(node{Op: elemOp, Key: "*", Args: []int{b.value(c.Args[1])}}),
	})
	return b.prog.add(node{Op: groupOp, Keys: []string{"*"}, Args: []int{elems}})
}
