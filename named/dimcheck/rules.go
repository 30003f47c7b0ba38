package dimcheck

import (
	"errors"
	"go/types"
	"slices"
	"strings"

	"github.com/tenonml/tenon/internal/dimtext"
	"github.com/tenonml/tenon/internal/throw"
)

// A ruleCall is a call of a known operation.
type ruleCall struct {
	c     *checker
	f     *frame
	at    int
	n     *node
	op    string // "named.Dot"
	title string // its title in errors, if that is not the operation with its names
	dims  []name // the names it is over: type arguments, or those of a list
	names [][]name
	args  []*val
	first int // index in the source of the first of args
}

// A rule returns the result of an operation. It is called if the names are known. It ends early if
// nothing more can be learned, because an argument is not known or a problem has been reported; the
// result is then unknown.
type rule func(r *ruleCall) *val

var errEnd = errors.New("a rule has ended")

func (r *ruleCall) end() { throw.Throw(errEnd) }

// run returns the result of a rule, or an unknown value if it has ended early.
func (r *ruleCall) run(f rule) (v *val) {
	v = anything
	defer func() {
		var err error
		if end := recover(); end != nil && !throw.Recovered(end, &err) {
			throw.Again(end)
		}
	}()
	return f(r)
}

// ruleKey returns the key of the rule of a function, if there is one.
func ruleKey(o *types.Func) (string, bool) {
	if o.Pkg() == nil || !strings.HasPrefix(o.Pkg().Path(), module) {
		return "", false
	}
	pkg := strings.TrimPrefix(strings.TrimPrefix(o.Pkg().Path(), module), "/")
	for _, tier := range []string{"data/", "learn/", "model/"} {
		pkg = strings.TrimPrefix(pkg, tier)
	}
	if pkg == "" {
		pkg = "tenon"
	}
	key := pkg + "."
	if recv := o.Signature().Recv(); recv != nil {
		t := recv.Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		n, ok := types.Unalias(t).(*types.Named)
		if !ok {
			return "", false
		}
		key += n.Obj().Name() + "."
	}
	key += o.Name()
	if pkg == "named" {
		return key, true // unknown ones give unknown results
	}
	if pkg == "ops" {
		return key, true
	}
	_, ok := otherRules[key]
	return key, ok
}

// takesTypes are functions some of whose type arguments are not names.
var takesTypes = map[string]bool{"named.Bind": true, "named.Lift": true, "named.LiftOver": true, "named.Fits": true, "named.BindOver": true}

// rule returns the result of a call of an operation.
func (c *checker) rule(f *frame, at int, n *node) *val {
	r := &ruleCall{c: c, f: f, at: at, n: n, op: n.Key, args: f.all(n.Args), names: f.expandAll(n.Names)}
	for i, a := range r.args {
		if !a.reached() {
			return nil
		}
		if a.Kind == nilKind {
			r.args[i] = nil
		}
	}
	key := n.Key
	if method, ok := strings.CutPrefix(key, "named.Dims."); ok && dimsMethods[method] == nil {
		key, r.op = "named."+method, "named."+method
		if len(r.args) == 0 {
			return anything
		}
		dims, known := r.args[0].names()
		if !known {
			return anything
		}
		r.dims, r.args = dims, r.args[1:]
		if rule, ok := listRules[method]; ok {
			return r.finish(r.run(rule))
		}
	} else if method, ok := strings.CutPrefix(key, "named.Dim."); ok && namedRules[key] == nil { // for a handle
		if dims, known := orAnything(r.arg(0)).names(); known && isTensorVal(r.args[0]) {
			key, r.op, r.dims, r.first = "named."+method, "named."+method, dims, -1
			r.args[0] = bare(r.args[0])
		}
	} else if len(n.Names) > 0 && strings.HasPrefix(key, "named.") {
		if r.dims = r.names[0]; !takesTypes[key] && slices.ContainsFunc(r.names, func(l []name) bool { return l == nil }) {
			return anything // names for type parameters of the function
		}
	}
	if rule, ok := namedRules[key]; ok {
		return r.finish(r.run(rule))
	}
	if rule, ok := otherRules[key]; ok {
		return r.finish(r.run(rule))
	}
	if pkg, name, _ := strings.Cut(key, "."); pkg == "ops" || pkg == "named" {
		return r.finish(r.run(stated(pkg, name)))
	}
	return anything
}

// finish records where a tensor comes from and its role.
func (r *ruleCall) finish(v *val) *val {
	switch v {
	case nil:
		v = anything
	case unreached:
		return nil
	}
	return withRoles(v, r.n.Calls)
}

// unreached is the result of a rule that calls a function that nothing has reached yet.
var unreached = &val{}

func orUnreached(v *val) *val {
	if v == nil {
		return unreached
	}
	return v
}

// arg returns an argument, or nil if it is unknown or missing.
func (r *ruleCall) arg(i int) *val {
	if i >= len(r.args) {
		return nil
	}
	return r.args[i]
}

// known returns an argument if it is a tensor with known dimensions, and nil otherwise.
func (r *ruleCall) known(i int) *val {
	v := r.arg(i)
	if !isTensorVal(v) || v.Attrs != nil && v.Attrs.Handle != "" {
		return nil
	}
	return v
}

// The functions below return arguments that a rule requires.

// tensor returns a tensor with known dimensions.
func (r *ruleCall) tensor(i int) *val {
	v := r.known(i)
	if v == nil {
		r.end()
	}
	return v
}

// along returns a tensor that has the names that the operation is over.
func (r *ruleCall) along(i int) *val {
	x := r.tensor(i)
	r.needs(r.dims, x, i)
	return x
}

// list returns the elements of a variadic argument.
func (r *ruleCall) list(i int) []*val {
	v := r.arg(i)
	if v == nil {
		return nil
	}
	if v.Kind != groupKind || v.Fields["*"] != nil {
		r.end()
	}
	out := make([]*val, len(v.Fields))
	for k := range out {
		x, ok := v.Fields[index(k)]
		if !ok {
			r.end()
		}
		out[k] = x
	}
	return out
}

// tensors returns the elements of a variadic argument that are tensors, at least one.
func (r *ruleCall) tensors(i int) []*val {
	vs := r.list(i)
	if len(vs) == 0 || slices.ContainsFunc(vs, func(v *val) bool { return !isTensorVal(v) }) {
		r.end()
	}
	return vs
}

// text returns a string.
func (r *ruleCall) text(i int) string {
	v := r.arg(i)
	if v == nil || v.Kind != textKind {
		r.end()
	}
	return v.Text
}

// listed returns the names of an argument.
func (r *ruleCall) listed(i int) []name {
	names, ok := r.arg(i).names()
	if !ok {
		r.end()
	}
	return names
}

// sized returns a variadic argument of names with sizes.
func (r *ruleCall) sized(i int) []dim { return r.flatten(r.list(i)) }

// flatten returns the names in values that are names, handles or lists of them.
func (r *ruleCall) flatten(elems []*val) []dim {
	var out []dim
	for _, e := range elems {
		names, ok := e.names()
		if !ok {
			r.end()
		}
		if e.Kind == namesKind {
			out = append(out, e.Dims...)
			continue
		}
		for _, n := range names {
			out = append(out, dim{Name: n, Size: dimtext.Absent})
		}
	}
	return out
}

func (r *ruleCall) one(role string, v *val, arg int) operand {
	return operand{role, v, arg + r.first}
}

func (r *ruleCall) pair(a, b *val) []operand {
	return []operand{r.one("left", a, 0), r.one("right", b, 1)}
}

func (r *ruleCall) several(vs []*val, first int) []operand {
	switch len(vs) {
	case 1:
		return []operand{r.one("tensor", vs[0], first)}
	case 2:
		return []operand{r.one("left", vs[0], first), r.one("right", vs[1], first+1)}
	}
	out := make([]operand, len(vs))
	for i, v := range vs {
		out[i] = r.one("operand "+index(i), v, first+i)
	}
	return out
}

// needs reports names that a tensor lacks.
func (r *ruleCall) needs(dims []name, v *val, arg int) { needs(r, dims, r.one("tensor", v, arg)) }

func needs(r *ruleCall, dims []name, o operand) {
	for _, n := range dims {
		if !o.v.has(n) {
			r.missing(n, o)
		}
	}
}

// result returns a tensor made from others; it keeps the names that they are lifted over.
func (r *ruleCall) result(dims []dim, of ...*val) *val {
	var hidden []name
	for _, v := range of {
		if isTensorVal(v) && v.Attrs != nil {
			hidden = union(hidden, v.Attrs.Hidden)
		}
	}
	for _, v := range of {
		if !isTensorVal(v) {
			continue
		}
		for _, n := range hidden {
			if v.has(n) && !slices.Contains(v.attrs().Hidden, n) {
				r.outside(n, of)
			}
		}
	}
	if _, twice := repeated(dims); twice {
		r.end()
	}
	return tensorOf(dims, &attrs{Hidden: hidden})
}

// outside reports a tensor from outside a function that is lifted over one of its names.
func (r *ruleCall) outside(n name, of []*val) {
	var vs []*val
	for _, v := range of {
		if isTensorVal(v) {
			vs = append(vs, v)
		}
	}
	msg := n.short() + " is what named.Lift takes the function over, and a tensor from outside has it\n" + lines(r.several(vs, 0)...)
	r.title = r.op
	r.misuse(msg, "pass the tensor to the lifted function as an argument, so that it is taken apart along "+n.short()+" too")
}

// same returns the tensor as the result of an operation that keeps dimensions. What is known about
// weights and scores is kept.
func (r *ruleCall) same(v *val) *val {
	a := v.attrs()
	return tensorOf(v.Dims, &attrs{Hidden: a.Hidden, Soft: a.Soft, Pairs: a.Pairs, Swapped: a.Swapped, Seen: a.Seen, Both: a.Both})
}

// made returns a tensor made by an operation, with its origin.
func (r *ruleCall) made(dims []dim) *val {
	if n, twice := repeated(dims); twice {
		r.title = r.op
		r.twice(n, dimNames(dims))
	}
	return tensorOf(dims, &attrs{From: r.n.Site.line()})
}

// repeated returns a name that occurs twice among dimensions.
func repeated(dims []dim) (name, bool) {
	for i, d := range dims {
		if slices.ContainsFunc(dims[:i], func(e dim) bool { return e.Name == d.Name }) {
			return d.Name, true
		}
	}
	return "", false
}

// sameSizes reports names with two different sizes.
func (r *ruleCall) sameSizes(operands []operand, except []name) {
	for i, a := range operands {
		for _, d := range a.v.Dims {
			for _, b := range operands[i+1:] {
				e, ok := b.v.find(d.Name)
				if ok && d.Size >= 0 && e.Size >= 0 && d.Size != e.Size && !slices.Contains(except, d.Name) {
					r.sizesDiffer(d.Name, a, b)
				}
			}
		}
	}
}

// merged returns the dimensions of a and those of b that a lacks, combining what is known about
// their sizes.
func merged(a, b []dim) []dim {
	out := slices.Clone(a)
	for _, d := range b {
		i := slices.IndexFunc(out, func(e dim) bool { return e.Name == d.Name })
		if i < 0 {
			out = append(out, d)
		} else if out[i].Size == dimtext.Absent {
			out[i].Size = d.Size
		}
	}
	return out
}
