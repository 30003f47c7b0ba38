package dimcheck

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A value of an interface type is tracked together with its dynamic type, so that a method call
// runs that type's method. If there may be several types, all of their methods run, and what they
// agree on is known. One of them may fail for arguments that it never gets, so nothing is reported
// then.

// dynamicType returns the key of a type whose methods may be called through an interface.
func dynamicType(t types.Type) (string, bool) {
	base := t
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		base = p.Elem()
	}
	n, ok := types.Unalias(base).(*types.Named)
	if !ok || n.TypeArgs() != nil || types.IsInterface(n) || isTensor(t) || isSchema(n) || isSet(n) {
		return "", false
	}
	if _, isName := typeName(n); isName {
		return "", false
	}
	return types.TypeString(types.Unalias(t), nil), true
}

// methodKeys returns the keys that the method of a dynamic type may have.
func methodKeys(dynamic, method string) []string {
	out := []string{"(" + dynamic + ")." + method}
	if base, isPointer := strings.CutPrefix(dynamic, "*"); isPointer {
		out = append(out, "("+base+")."+method)
	}
	return out
}

// takesTensors reports whether a method of an interface has tensors as arguments
// or results.
func takesTensors(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	if !ok || isNamedType(t, "Name") {
		return false
	}
	for m := range i.Methods() {
		if mentionsTensors(m.Signature()) {
			return true
		}
	}
	return false
}

func mentionsTensors(sig *types.Signature) bool {
	for _, tuple := range []*types.Tuple{sig.Params(), sig.Results()} {
		for v := range tuple.Variables() {
			if isTensor(v.Type()) || isSchema(v.Type()) {
				return true
			}
		}
	}
	return false
}

// boxed returns the node of a value converted to an interface.
func (b *body) boxed(v *ssa.MakeInterface) int {
	x := b.value(v.X)
	if key, ok := dynamicType(v.X.Type()); ok && takesTensors(v.Type()) {
		return b.prog.add(node{Op: boxOp, Key: key, Args: []int{x}})
	}
	return x
}

// unboxed returns the node of the contents of an interface, if they have a given
// type.
func (b *body) unboxed(x int, v *ssa.TypeAssert) int {
	if key, ok := dynamicType(v.AssertedType); ok && takesTensors(v.X.Type()) {
		return b.prog.add(node{Op: unboxOp, Key: key, Args: []int{x}})
	}
	return x
}

// box returns a value of an interface type that contains a value of a given type.
func box(key string, x *val) *val {
	if x == nil {
		return nil
	}
	return &val{Kind: boxKind, Fields: map[string]*val{key: x}}
}

// unbox returns the contents of an interface, if they have a given type.
func unbox(key string, x *val) *val {
	if x == nil || x.Kind != boxKind {
		return x
	}
	return x.Fields[key]
}

// invoke calls a method of the contents of an interface.
func (c *checker) invoke(f *frame, at int, method string, args []*val) *val {
	if args[0].Kind != boxKind {
		return anything
	}
	may := sortedKeys(args[0].Fields) // its possible types
	if len(may) > 1 {
		report := f.report
		f.report = false
		defer func() { f.report = report }()
	}
	var out *val
	for _, t := range may {
		var p *program
		for _, key := range methodKeys(t, method) {
			if p == nil {
				p = c.program(key)
			}
		}
		if p == nil {
			return anything
		}
		out = join(out, c.call(f, at, p, slices.Concat([]*val{args[0].Fields[t]}, args[1:]), nil, nil, false))
	}
	return out
}
