package dimcheck

import (
	"go/types"
	"strconv"

	"golang.org/x/tools/go/ssa"
)

// Variables whose address is taken are tracked without regard to the order of writes: a read may
// give any of the values written. Variables that something else may write to are not tracked.

// load returns the node of the value at an address.
func (b *body) load(addr ssa.Value) int {
	switch a := addr.(type) {
	case *ssa.Alloc:
		return b.once(a, func() int { return b.cell(a, a.Type()) })
	case *ssa.MakeSlice:
		return b.once(a, func() int { return b.cell(a, a.Type()) })
	case *ssa.MakeMap:
		return b.once(a, func() int { return b.cell(a, a.Type()) })
	case *ssa.FieldAddr:
		return b.once(a, func() int { return b.field(b.load(a.X), a.X.Type(), a.Field) })
	case *ssa.IndexAddr:
		return b.once(a, func() int { return b.elem(b.load(a.X), a.Index) })
	case *ssa.Global:
		own := b.byType(a.Type())
		if !holdsTensors(a.Type()) {
			return -1
		}
		return b.prog.add(node{Op: globalOp, Key: a.Pkg.Pkg.Path() + "." + a.Name(), Val: own})
	}
	i := b.value(addr)
	if written(addr) { // through the pointer, and perhaps before this
		return b.constant(b.byTypeOrUnknown(addr.Type()))
	}
	return i
}

// once returns the node of a place, made when it is first requested. What is stored there may
// depend on what is read; in that case a node before it stands for it in the meantime.
func (b *body) once(v ssa.Value, f func() int) int {
	if i, ok := b.nodes[v]; ok {
		if i == inProgress {
			i = b.prog.add(node{Op: joinOp})
			b.nodes[v] = i
		}
		return i
	}
	b.nodes[v] = inProgress
	i := f()
	if ahead := b.nodes[v]; ahead != inProgress {
		b.prog.Nodes[ahead].Args = []int{i}
	}
	b.nodes[v] = i
	return i
}

// inProgress stands for a node that is being made.
const inProgress = -2

func (b *body) byTypeOrUnknown(t types.Type) *val {
	if own := b.byType(t); own != nil {
		return own
	}
	return anything
}

// A write is a value that is stored at a path below a root.
type write struct {
	path []string
	val  ssa.Value
}

// cell returns the node of a variable: everything that is stored in it.
func (b *body) cell(root ssa.Value, t types.Type) int {
	own := b.byType(t)
	if !holdsTensors(t) {
		return -1
	}
	w, ok := b.writes(root, nil, nil)
	if !ok {
		return b.constant(b.byTypeOrUnknown(t))
	}
	return b.compose(w, own)
}

// compose returns the node of writes to a place, both as a whole and by fields.
func (b *body) compose(ws []write, own *val) int {
	var whole []int
	fields := map[string][]write{}
	var order []string
	for _, w := range ws {
		if len(w.path) == 0 {
			whole = append(whole, b.value(w.val))
			continue
		}
		k := w.path[0]
		if _, ok := fields[k]; !ok {
			order = append(order, k)
		}
		fields[k] = append(fields[k], write{w.path[1:], w.val})
	}
	if len(order) > 0 {
		n := node{Op: groupOp}
		for _, k := range order {
			n.Keys, n.Args = append(n.Keys, k), append(n.Args, b.compose(fields[k], nil))
		}
		whole = append(whole, b.prog.add(n))
	}
	switch {
	case len(whole) == 0 && own == nil:
		return b.constant(nilVal)
	case len(whole) == 1 && own == nil:
		return whole[0]
	}
	return b.prog.add(node{Op: joinOp, Args: whole, Val: own})
}

// writes appends what is stored at an address and below. It returns false if
// something else may write there too.
func (b *body) writes(addr ssa.Value, path []string, out []write) ([]write, bool) {
	refs := addr.Referrers()
	if refs == nil {
		return out, false
	}
	ok := true
	for _, r := range *refs {
		switch r := r.(type) {
		case *ssa.Store:
			if r.Addr == addr {
				out = append(out, write{path, r.Val})
			}
			// A pointer or slice that is stored elsewhere may be loaded and written through, if
			// anything in the package writes to such elements.
			ok = ok && (r.Addr == addr || !b.overwritten(addr.Type()))
		case *ssa.FieldAddr:
			s := r.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct)
			out, ok = b.and(ok, r, append(path[:len(path):len(path)], s.Field(r.Field).Name()), out)
		case *ssa.IndexAddr:
			out, ok = b.and(ok, r, append(path[:len(path):len(path)], elemKey(r.Index)), out)
		case *ssa.MapUpdate:
			if r.Map == addr {
				out = append(out, write{append(path[:len(path):len(path)], elemKey(r.Key)), r.Value})
			}
			ok = ok && r.Map == addr && r.Value != addr
		case *ssa.Lookup, *ssa.Range:
			ok = ok && !b.changesElements(r.(ssa.Value))
		case *ssa.Slice:
			out, ok = b.and(ok, r, path, out)
		case *ssa.Phi:
			_, isMap := r.Type().Underlying().(*types.Map)
			ok = ok && !isMap // maps are written to without an address
		case *ssa.UnOp, *ssa.DebugRef, *ssa.Return, *ssa.BinOp, *ssa.Field:
		case *ssa.MakeInterface, *ssa.ChangeType:
			out, ok = b.and(ok, r.(ssa.Value), path, out)
		case *ssa.MakeClosure:
			for i, x := range r.Bindings {
				if x == addr {
					ok = ok && !b.writtenBy(r.Fn.(*ssa.Function), i)
				}
			}
		case ssa.CallInstruction:
			ok = ok && !b.passedOn(r.Common(), addr)
		default:
			ok = false
		}
	}
	return out, ok
}

// overwritten reports whether something in the package writes to elements or fields through a
// pointer, slice or map of this type that it has loaded from somewhere.
func (t *translator) overwritten(typ types.Type) bool {
	if t.loaded == nil {
		t.loaded = map[string]bool{}
		for _, fn := range t.all {
			t.noteWrites(fn)
		}
	}
	return t.loaded[types.TypeString(typ.Underlying(), nil)]
}

// noteWrites records the types of loaded pointers and slices that a function writes through.
func (t *translator) noteWrites(fn *ssa.Function) {
	for _, block := range fn.Blocks {
		for _, in := range block.Instrs {
			if m, ok := in.(*ssa.MapUpdate); ok {
				if _, own := m.Map.(*ssa.MakeMap); !own {
					t.loaded[types.TypeString(m.Map.Type().Underlying(), nil)] = true
				}
			}
			s, ok := in.(*ssa.Store)
			if !ok {
				continue
			}
			for addr := s.Addr; ; {
				switch a := addr.(type) {
				case *ssa.FieldAddr:
					addr = a.X
					continue
				case *ssa.IndexAddr:
					addr = a.X
					continue
				case *ssa.Alloc, *ssa.MakeSlice, *ssa.Global:
				default:
					t.loaded[types.TypeString(a.Type().Underlying(), nil)] = true
				}
				break
			}
		}
	}
	for _, a := range fn.AnonFuncs {
		t.noteWrites(a)
	}
}

func (b *body) and(ok bool, v ssa.Value, path []string, out []write) ([]write, bool) {
	out, fine := b.writes(v, path, out)
	return out, ok && fine
}

// writtenBy reports whether a closure writes to a variable that it has captured.
func (t *translator) writtenBy(fn *ssa.Function, i int) bool {
	if i >= len(fn.FreeVars) {
		return false
	}
	return t.changes(fn.FreeVars[i])
}

// passedOn reports whether a call may write to what an argument points to.
func (t *translator) passedOn(c *ssa.CallCommon, arg ssa.Value) bool {
	if c.IsInvoke() {
		return true
	}
	if isBuiltin(c.Value) {
		return c.Value.Name() == "copy" && c.Args[0] == arg
	}
	if s, ok := arg.(*ssa.Slice); ok {
		if a, ok := s.X.(*ssa.Alloc); ok && a.Comment == "varargs" { // made only for this call
			return false
		}
	}
	fn := c.StaticCallee()
	if fn == nil {
		return true
	}
	o := declared(fn)
	if o == nil {
		return fn.Parent() == nil
	}
	if _, known := ruleKey(o); known { // operations never change their arguments
		return false
	}
	if origin := fn.Origin(); origin != nil {
		fn = origin
	}
	for i, a := range c.Args {
		if a != arg {
			continue
		}
		if fn.Pkg == t.pkg && i < len(fn.Params) {
			if t.mutates(fn.Params[i]) {
				return true
			}
			continue
		}
		p := t.programs[o.FullName()]
		if p == nil || i >= len(p.Mutates) || p.Mutates[i] {
			return true
		}
	}
	return false
}

// mutates reports whether a function may write to what a parameter points to, or keeps the pointer.
func (t *translator) mutates(p *ssa.Parameter) bool {
	switch p.Type().Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map:
	default:
		return false
	}
	if isTensor(p.Type()) {
		return false
	}
	if m, ok := t.mutating[p]; ok {
		return m
	}
	t.mutating[p] = true // assumed inside a recursive function
	m := len(p.Parent().Blocks) == 0 || t.changes(p)
	t.mutating[p] = m
	return m
}

// changes reports whether something may be written through a pointer, or the pointer escapes to
// where that is not known.
func (t *translator) changes(ptr ssa.Value) bool {
	refs := ptr.Referrers()
	if refs == nil {
		return true
	}
	for _, r := range *refs {
		switch r := r.(type) {
		case *ssa.UnOp:
			if pointsOn(r.Type()) && t.changes(r) {
				return true
			}
		case *ssa.Lookup, *ssa.Range:
			if t.changesElements(r.(ssa.Value)) {
				return true
			}
		case *ssa.DebugRef, *ssa.BinOp, *ssa.Field:
		case *ssa.FieldAddr:
			if t.changes(r) {
				return true
			}
		case *ssa.IndexAddr:
			if t.changes(r) {
				return true
			}
		case *ssa.Slice:
			if t.changes(r) {
				return true
			}
		case *ssa.MakeClosure:
			for i, x := range r.Bindings {
				if x == ptr && t.writtenBy(r.Fn.(*ssa.Function), i) {
					return true
				}
			}
		case ssa.CallInstruction:
			if t.passedOn(r.Common(), ptr) {
				return true
			}
		default: // stored, returned, sent
			return true
		}
	}
	return false
}

// pointsOn reports whether what is loaded may be written through in turn.
func pointsOn(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map:
		return !isTensor(t)
	}
	return false
}

// changesElements reports whether something may be written through an element of a map, either one
// that is looked up or one in a loop.
func (t *translator) changesElements(v ssa.Value) bool {
	if r, ok := v.(*ssa.Range); ok {
		m, ok := r.X.Type().Underlying().(*types.Map)
		return ok && pointsOn(m.Elem())
	}
	return pointsOn(v.Type()) && t.changes(v) || v.(*ssa.Lookup).CommaOk && pointsOn(v.Type().(*types.Tuple).At(0).Type())
}

// written reports whether a function writes through a pointer that it got from elsewhere.
func written(ptr ssa.Value) bool {
	refs := ptr.Referrers()
	if refs == nil {
		return false
	}
	for _, r := range *refs {
		switch r := r.(type) {
		case *ssa.Store:
			if r.Addr == ptr {
				return true
			}
		case *ssa.FieldAddr:
			if written(r) {
				return true
			}
		case *ssa.IndexAddr:
			if written(r) {
				return true
			}
		case *ssa.MapUpdate:
			if r.Map == ptr {
				return true
			}
		}
	}
	return false
}

// findVariables finds the variables of the package that are set once, where they are declared, and
// never again, not even through their address.
func (t *translator) findVariables(functions []*ssa.Function) {
	t.variable = map[*ssa.Global]ssa.Value{}
	again := map[*ssa.Global]bool{}
	init := t.pkg.Func("init")
	var walk func(fn *ssa.Function)
	walk = func(fn *ssa.Function) {
		for _, block := range fn.Blocks {
			for _, in := range block.Instrs {
				if s, ok := in.(*ssa.Store); ok {
					if g, ok := s.Addr.(*ssa.Global); ok && fn == init && t.variable[g] == nil {
						t.variable[g] = s.Val
						continue
					}
				}
				for _, op := range in.Operands(nil) {
					if g, ok := (*op).(*ssa.Global); ok && !t.reads(in) {
						again[g] = true
					}
				}
			}
		}
		for _, a := range fn.AnonFuncs {
			walk(a)
		}
	}
	walk(init)
	for _, fn := range functions {
		walk(fn)
	}
	for g := range again {
		delete(t.variable, g)
	}
}

// reads reports whether an instruction only reads a variable.
func (t *translator) reads(in ssa.Instruction) bool {
	switch in := in.(type) {
	case *ssa.UnOp:
		return !pointsOn(in.Type()) || !t.changes(in)
	case *ssa.DebugRef:
		return true
	case *ssa.FieldAddr:
		return !written(in)
	case *ssa.IndexAddr:
		return !written(in)
	}
	return false
}

// index returns the key of an element.
func index(i int) string { return strconv.Itoa(i) }
