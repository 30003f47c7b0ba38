package dimcheck

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A function may ask a tensor for its dimensions and act on the answer. Mistakes in a branch for
// another answer are not reported.

// A guard is a condition under which a node runs.
type guard struct {
	Node int  // of a question whose answer is tracked: x.Has(Batch{})
	Want bool // the answer under which the node runs
	Dark bool // the condition depends on dimensions in a way that is not tracked
	Arg  bool // it is an argument or (Dark) depends on one: the function by itself may take either branch
}

// guards returns the conditions, among those under which a block runs, that depend on dimensions.
func (b *body) guards(block *ssa.BasicBlock) []guard {
	var out []guard
	for ; block != nil && block.Idom() != nil; block = block.Idom() {
		if len(block.Preds) == 1 {
			out = b.branch(out, block.Preds[0], block)
		}
	}
	return out
}

// branch appends the condition under which control flows from one block to
// another.
func (b *body) branch(out []guard, from, to *ssa.BasicBlock) []guard {
	branch, ok := from.Instrs[len(from.Instrs)-1].(*ssa.If)
	if !ok || from.Succs[0] == from.Succs[1] {
		return out
	}
	cond, want := branch.Cond, from.Succs[0] == to
	for {
		not, ok := cond.(*ssa.UnOp)
		if !ok || not.Op != token.NOT {
			break
		}
		cond, want = not.X, !want
	}
	if call, ok := cond.(*ssa.Call); ok && asks(call) == "named.Tensor.Has" {
		return append(out, guard{Node: b.value(call), Want: want})
	}
	if isJump(cond) || isLoop(from) && dependsOn(cond, asksSize, 0) && !dependsOn(cond, asksNames, 0) {
		return out // the body of a loop over positions runs for some of them
	}
	if dependsOn(cond, isQuestion, 0) {
		return append(out, guard{Dark: true})
	}
	if isErrorCheck(cond) {
		return out // it does not depend on dimensions
	}
	switch cond.(type) {
	case *ssa.Parameter, *ssa.FreeVar:
		return append(out, guard{Node: b.value(cond), Want: want, Arg: true})
	}
	if isLoop(from) {
		return out
	}
	if c, ok := cond.(*ssa.BinOp); ok && isInteger(c.X.Type()) {
		return append(out, guard{Node: b.value(c), Want: want, Arg: true})
	}
	if dependsOn(cond, isArgument, 0) {
		return append(out, guard{Dark: true, Arg: true})
	}
	return out
}

// isErrorCheck reports whether a condition compares an error with nil.
func isErrorCheck(cond ssa.Value) bool {
	c, ok := cond.(*ssa.BinOp)
	return ok && types.Identical(c.X.Type(), types.Universe.Lookup("error").Type())
}

// isLoop reports whether a block is the header of a loop.
func isLoop(b *ssa.BasicBlock) bool { return slices.ContainsFunc(b.Preds, b.Dominates) }

// guarded returns a node that has the value of another under conditions.
func (b *body) guarded(x int, guards []guard) int {
	if len(guards) == 0 {
		return x
	}
	return b.prog.add(node{Op: joinOp, Args: []int{x}, Guards: guards})
}

// asks returns the key of a call of package named, or "".
func asks(c *ssa.Call) string {
	fn := c.Call.StaticCallee()
	if fn == nil {
		return ""
	}
	o := declared(fn)
	if o == nil {
		return ""
	}
	key, ok := ruleKey(o)
	if !ok || !strings.HasPrefix(key, "named.") {
		return ""
	}
	return key
}

// dependsOn reports whether a value is derived from one of a kind.
func dependsOn(v ssa.Value, kind func(ssa.Value) bool, depth int) bool {
	if kind(v) {
		return true
	}
	in, ok := v.(ssa.Instruction)
	if !ok || depth > 8 {
		return false
	}
	return slices.ContainsFunc(in.Operands(nil), func(x *ssa.Value) bool { return *x != nil && dependsOn(*x, kind, depth+1) })
}

func isArgument(v ssa.Value) bool {
	switch v.(type) {
	case *ssa.Parameter, *ssa.FreeVar:
		return true
	}
	return false
}

// isQuestion reports whether a value is the answer to a question about a tensor.
func isQuestion(v ssa.Value) bool { return asksSize(v) || asksNames(v) }

// asksSize reports whether a value is the size of a dimension that the tensor has.
func asksSize(v ssa.Value) bool {
	c, ok := v.(*ssa.Call)
	if !ok {
		return false
	}
	key := asks(c)
	return key == "named.Tensor.Size" || key == "named.Dim.Size"
}

// asksNames reports whether a value says, or may say, which dimensions a tensor has.
func asksNames(v ssa.Value) bool {
	c, ok := v.(*ssa.Call)
	if !ok {
		return false
	}
	switch asks(c) {
	case "named.Tensor.Has", "named.Tensor.Dims", "named.Tensor.Shape", "named.Tensor.GShape", "named.Tensor.IsRagged", "named.Tensor.Spec",
		"named.Fits", "named.Dim.Tensor":
		return true
	}
	return false
}

// isJump reports whether a condition is about the state of a range-over-func loop, a variable added
// by the SSA form that says how the loop's body was left.
func isJump(cond ssa.Value) bool {
	c, ok := cond.(*ssa.BinOp)
	if !ok {
		return false
	}
	load, ok := c.X.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return false
	}
	switch v := load.X.(type) {
	case *ssa.FreeVar:
		return strings.HasPrefix(v.Name(), "jump$")
	case *ssa.Alloc:
		return strings.HasPrefix(v.Comment, "jump$")
	}
	return false
}

// runs reports whether a node runs, as far as is known, and whether mistakes in it are certain.
func (n *node) runs(f *frame) (run, certain bool) {
	certain = true
	for _, g := range n.Guards {
		if g.Dark {
			certain = certain && g.Arg && f.args == nil
			continue
		}
		switch v := f.at(g.Node); {
		case v == nil:
		case v.Kind != numberKind:
			certain = certain && g.Arg && f.args == nil
		case (v.Number != 0) != g.Want:
			return false, false
		}
	}
	return true, certain
}
