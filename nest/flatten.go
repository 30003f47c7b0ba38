package nest

import (
	"reflect"
	"slices"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// flattener collects leaves.
type flattener struct {
	out       []any
	expand    bool
	withPaths bool
	path      Path
	paths     []Path
	tables    *tables
	depth     int
	hash      *structureHash // nil if nobody asks for it

	// visit receives the leaves instead of out if it is set; visited is room for one leaf.
	visit   func(run []tensor.Tensor) bool
	visited []tensor.Tensor
	refused bool // visit has returned false, or a leaf is not a tensor
}

func (f *flattener) root(x any) *failure {
	if x == nil {
		f.out = []any{}
		return nil
	}
	p, err := planOf(x)
	if err != nil {
		return err
	}
	if f.visit == nil {
		f.out = make([]any, 0, p.leaves.Load())
	}
	if err = f.held(p, x); f.tables != nil {
		f.tables.release()
	}
	if n := int32(len(f.out)); f.visit == nil && n != p.leaves.Load() {
		p.leaves.Store(n)
	}
	return err
}

// held walks the contents of an interface, which are of p's type.
func (f *flattener) held(p *plan, x any) *failure {
	f.hash.plan(p)
	if m := (*sliceMap)(unsafe.Pointer(&words(&x)[1])); p.runs && f.plain() && len(*m) <= few {
		f.runMap(p, *m) // does not escape to the heap
		return nil
	}
	return f.walk(p, p.placeIn(x))
}

func (f *flattener) walk(p *plan, at unsafe.Pointer) *failure {
	switch p.kind {
	case kindTensor:
		if t := *(*tensor.Tensor)(at); t != nil {
			return f.leaf(t)
		}
		f.hash.add(absent)
		return nil
	case kindLeaf, kindValue:
		if x := p.load(at); x != nil {
			return f.leaf(x)
		}
		f.hash.add(absent)
		return nil
	}
	if f.depth++; f.depth > maxDepth {
		return tooDeep()
	}
	err := f.inside(p, at)
	f.depth--
	return err
}

// inside walks a container.
func (f *flattener) inside(p *plan, at unsafe.Pointer) *failure {
	switch p.kind {
	case kindAny:
		x := p.load(at)
		if x == nil {
			f.hash.add(absent)
			return nil
		}
		q, err := planOf(x)
		if err != nil {
			return err
		}
		return f.held(q, x)
	case kindPointer:
		if to := *(*unsafe.Pointer)(at); to != nil {
			return f.walk(p.elem, to)
		}
		f.hash.add(absent)
	case kindSlice, kindArray:
		return f.sequence(p, at)
	case kindStruct:
		if p.run > 0 && f.plain() {
			f.tensors(p.runAt(at, 1))
			return nil
		}
		f.hash.static(p)
		if p.hidden != nil {
			if err := p.hides(at); err != nil {
				return err
			}
		}
		for i := range p.fields {
			x := &p.fields[i]
			f.push(x.name)
			if err := f.walk(x.plan, unsafe.Add(at, x.offset)); err != nil {
				return err.at(x.name)
			}
			f.pop()
		}
	case kindMap:
		if p.runs && f.plain() && len(*(*sliceMap)(at)) <= few {
			f.runMap(p, *(*sliceMap)(at))
			return nil
		}
		if f.tables == nil {
			f.tables = tablesPool.Get().(*tables)
		}
		entries, b := f.tables.push(p, at)
		f.hash.keys(p, entries)
		for i := range entries {
			e := &entries[i]
			if f.withPaths {
				f.path = append(f.path, e.step(p.keys))
			}
			if err := f.walk(p.elem, e.elem); err != nil {
				return err.at(e.step(p.keys))
			}
			f.pop()
		}
		f.tables.pop(p, entries, b)
	case kindNode:
		f.hash.node()
		for i, part := range p.load(at).(Node).NestParts() {
			step := partStep(i, part.Name)
			f.push(step)
			if err := f.walk(anyPlan, unsafe.Pointer(&part.Value)); err != nil {
				return err.at(step)
			}
			f.pop()
		}
	}
	return nil
}

func (f *flattener) sequence(p *plan, at unsafe.Pointer) *failure {
	first, n := place{plan: p, at: at}.sequence()
	f.hash.length(first == nil, n)
	if p.elem.run > 0 && f.plain() {
		f.tensors(p.elem.runAt(first, n))
		return nil
	}
	for i := range n {
		if f.withPaths {
			f.path = append(f.path, i)
		}
		if err := f.walk(p.elem, unsafe.Add(first, uintptr(i)*p.elem.size)); err != nil {
			return err.at(i)
		}
		f.pop()
	}
	return nil
}

func partStep(i int, name string) any {
	if name == "" {
		return i
	}
	return name
}

func (f *flattener) push(step any) {
	if f.withPaths {
		f.path = append(f.path, step)
	}
}

func (f *flattener) pop() {
	if f.withPaths {
		f.path = f.path[:len(f.path)-1]
	}
}

func (f *flattener) add(x any) {
	f.hash.add(1)
	if f.visit != nil {
		f.visitOne(x)
		return
	}
	f.out = append(f.out, x)
	if f.withPaths {
		f.paths = append(f.paths, slices.Clone(f.path))
	}
}

func (f *flattener) leaf(x any) *failure {
	if !f.expand {
		f.add(x)
		return nil
	}
	switch x := x.(type) {
	case *tensor.Dense, *tensor.Strings:
		f.add(x)
		return nil
	case tenon.Value:
		return f.value(x)
	case tenon.Spec:
		return f.spec(x)
	}
	f.add(x)
	return nil
}

// value adds the components of a Value.
func (f *flattener) value(v tenon.Value) *failure {
	if isNil(v) {
		return fail(tenon.ErrInvalid, "the Value is a nil %T", v)
	}
	s := v.Spec()
	if tenon.IsLeaf(s) {
		f.add(v)
		return nil
	}
	if f.depth++; f.depth > maxDepth {
		return tooDeep()
	}
	defer func() { f.depth-- }()
	parts, err := s.Disassemble(v)
	if err != nil {
		return &failure{kind: tenon.AsError(err).Kind, cause: err}
	}
	fields := s.Components()
	if len(parts) != len(fields) {
		return fail(tenon.ErrInvalid, "a %s has %d components, its Spec has %d", s.TypeName(), len(parts), len(fields))
	}
	for i, c := range parts {
		if c == nil {
			return fail(tenon.ErrInvalid, "the component is nil").at(fields[i].Name)
		}
		f.push(fields[i].Name)
		if err := f.value(c); err != nil {
			return err.at(fields[i].Name)
		}
		f.pop()
	}
	return nil
}

func isNil(v tenon.Value) bool {
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

// spec adds the Specs of the components of a Spec.
func (f *flattener) spec(s tenon.Spec) *failure {
	if tenon.IsLeaf(s) {
		f.add(s)
		return nil
	}
	if f.depth++; f.depth > maxDepth {
		return tooDeep()
	}
	defer func() { f.depth-- }()
	for _, c := range s.Components() {
		f.push(c.Name)
		if err := f.spec(c.Spec); err != nil {
			return err.at(c.Name)
		}
		f.pop()
	}
	return nil
}
