package nest

import (
	"reflect"
	"slices"
	"strconv"
	"unsafe"

	"github.com/tenonml/tenon"
)

// comparer walks two structures side by side.
type comparer struct {
	o     Options
	leaf  func(a, b place) *failure // called where a has a leaf
	short error                     // the kind of error if a has a container and b a leaf
	depth int
}

// upTo collects the parts at the places where another structure has leaves.
type upTo struct {
	comparer
	out []any
}

func sameRoots(a, b any, o Options) *failure {
	c := comparer{o: o, short: tenon.ErrInvalid}
	c.leaf = c.leaves
	return c.compare(rootPlace(a), rootPlace(b))
}

// leaves compares two places, the first of which is a leaf.
func (c *comparer) leaves(a, b place) *failure {
	b, ok := b.resolved()
	switch {
	case b.err != nil:
		return b.err
	case !ok:
		return fail(tenon.ErrInvalid, "the first has a leaf, the second nothing")
	case !b.isLeaf():
		return fail(tenon.ErrInvalid, "the first has a leaf, the second %s", b.describe())
	case !c.o.Expand:
		return nil
	}
	s, t := specOf(a.load()), specOf(b.load())
	if (s == nil || tenon.IsLeaf(s)) && (t == nil || tenon.IsLeaf(t)) {
		return nil
	}
	if s == nil || t == nil {
		return fail(tenon.ErrInvalid, "a %v and a %v", reflect.TypeOf(a.load()), reflect.TypeOf(b.load()))
	}
	if _, ok := tenon.Merge(s, t); !ok {
		return fail(tenon.ErrInvalid, "no Spec is above both %s and %s%s", tenon.String(s), tenon.String(t), tenon.HiddenDifference(s, t))
	}
	return nil
}

func (p place) describe() string {
	switch p.plan.kind {
	case kindSlice, kindArray:
		_, n := p.sequence()
		return "a " + p.plan.typ.String() + " of " + plural(n, "element")
	case kindMap:
		return "a " + p.plan.typ.String() + " of " + plural(p.plan.value(p.at).Len(), "key")
	}
	return "a " + p.plan.typ.String()
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func (c *comparer) compare(a, b place) *failure {
	if c.depth++; c.depth > maxDepth {
		return tooDeep()
	}
	defer func() { c.depth-- }()
	a, some := a.resolved()
	switch {
	case a.err != nil:
		return a.err
	case !some:
		if _, other := b.resolved(); other {
			return fail(tenon.ErrInvalid, "the first has nothing, the second something")
		}
		return nil
	case a.isLeaf():
		return c.leaf(a, b)
	}
	b, some = b.resolved()
	switch {
	case b.err != nil:
		return b.err
	case !some:
		return fail(tenon.ErrInvalid, "the first has %s, the second nothing", a.describe())
	case b.isLeaf():
		return fail(c.short, "the first has %s, the second a leaf", a.describe())
	case a.plan.typ != b.plan.typ && !c.o.AnyTypes:
		return fail(tenon.ErrDType, "the first has a %v, the second a %v", a.plan.typ, b.plan.typ)
	}
	if c.o.AnyTypes {
		for a.plan.kind == kindPointer && a.plan.typ != b.plan.typ {
			if a, some = a.deref().resolved(); !some || a.err != nil {
				return c.compare(a, b)
			}
		}
		for b.plan.kind == kindPointer && a.plan.typ != b.plan.typ {
			if b, some = b.deref().resolved(); !some || b.err != nil {
				return c.compare(a, b)
			}
		}
	}
	return c.containers(a, b)
}

// containers compares two places that hold containers.
func (c *comparer) containers(a, b place) *failure {
	ka, kb := a.plan.kind, b.plan.kind
	if ka == kindArray {
		ka = kindSlice
	}
	if kb == kindArray {
		kb = kindSlice
	}
	if ka != kb {
		return fail(tenon.ErrDType, "the first has %s, the second %s", a.describe(), b.describe())
	}
	switch ka {
	case kindPointer:
		return c.compare(a.deref(), b.deref())
	case kindSlice:
		return c.sequences(a, b)
	case kindMap:
		return c.maps(a, b)
	case kindStruct:
		return c.structs(a, b)
	}
	return c.nodes(a, b)
}

func (c *comparer) sequences(a, b place) *failure {
	pa, n := a.sequence()
	pb, m := b.sequence()
	if n != m {
		return fail(tenon.ErrInvalid, "the first has %s, the second %d", plural(n, "element"), m)
	}
	ea, eb := a.plan.elem, b.plan.elem
	for i := range n {
		x := place{plan: ea, at: unsafe.Add(pa, uintptr(i)*ea.size)}
		y := place{plan: eb, at: unsafe.Add(pb, uintptr(i)*eb.size)}
		if err := c.compare(x, y); err != nil {
			return err.at(i)
		}
	}
	return nil
}

func (c *comparer) maps(a, b place) *failure {
	if a.plan.keys != b.plan.keys {
		return fail(tenon.ErrDType, "the first has a %v, the second a %v", a.plan.typ, b.plan.typ)
	}
	k := a.plan.keys
	var ta, tb tables
	ea, ba := ta.push(a.plan, a.at)
	eb, bb := tb.push(b.plan, b.at)
	defer ta.pop(a.plan, ea, ba)
	defer tb.pop(b.plan, eb, bb)
	for i := range min(len(ea), len(eb)) {
		switch d := order(k)(ea[i], eb[i]); {
		case d < 0:
			return missing(k, ea[i], "second")
		case d > 0:
			return missing(k, eb[i], "first")
		}
	}
	switch {
	case len(ea) > len(eb):
		return missing(k, ea[len(eb)], "second")
	case len(eb) > len(ea):
		return missing(k, eb[len(ea)], "first")
	}
	for i := range ea {
		x, y := place{plan: a.plan.elem, at: ea[i].elem}, place{plan: b.plan.elem, at: eb[i].elem}
		if err := c.compare(x, y); err != nil {
			return err.at(ea[i].step(k))
		}
	}
	return nil
}

func missing(k keyKind, e entry, which string) *failure {
	if k == stringKeys {
		return fail(tenon.ErrInvalid, "the %s has no key %q", which, e.name)
	}
	return fail(tenon.ErrInvalid, "the %s has no key %v", which, e.step(k))
}

func (c *comparer) structs(a, b place) *failure {
	fa, fb := a.plan.fields, b.plan.fields
	sameNames := func(x, y field) bool { return x.name == y.name }
	if a.plan != b.plan && (!slices.EqualFunc(fa, fb, sameNames) || !slices.EqualFunc(a.plan.static, b.plan.static, sameNames)) {
		return fail(tenon.ErrDType, "the fields of %v and %v have different names", a.plan.typ, b.plan.typ)
	}
	for i, f := range a.plan.static {
		g := b.plan.static[i]
		x := reflect.NewAt(f.typ, unsafe.Add(a.at, f.offset)).Elem().Interface()
		y := reflect.NewAt(g.typ, unsafe.Add(b.at, g.offset)).Elem().Interface()
		if !SameData(x, y) {
			return fail(tenon.ErrInvalid, "the static field is %v in the first and %v in the second", x, y).at(f.name)
		}
	}
	if c.o.Hidden && a.plan == b.plan {
		for _, f := range a.plan.beside {
			if !identical(f.typ, unsafe.Add(a.at, f.offset), unsafe.Add(b.at, f.offset)) {
				return fail(tenon.ErrInvalid, "the field, which is not walked, differs in the second").at(f.name)
			}
		}
	}
	for i := range fa {
		x := place{plan: fa[i].plan, at: unsafe.Add(a.at, fa[i].offset)}
		y := place{plan: fb[i].plan, at: unsafe.Add(b.at, fb[i].offset)}
		if err := c.compare(x, y); err != nil {
			return err.at(fa[i].name)
		}
	}
	return nil
}

func (c *comparer) nodes(a, b place) *failure {
	pa, pb := a.node().NestParts(), b.node().NestParts()
	if len(pa) != len(pb) {
		return fail(tenon.ErrInvalid, "the first has %s, the second %d", plural(len(pa), "part"), len(pb))
	}
	for i := range pa {
		if pa[i].Name != pb[i].Name {
			return fail(tenon.ErrInvalid, "part %d is %q in the first and %q in the second", i, pa[i].Name, pb[i].Name)
		}
		if err := c.compare(rootPlace(pa[i].Value), rootPlace(pb[i].Value)); err != nil {
			return err.at(partStep(i, pa[i].Name))
		}
	}
	return nil
}
