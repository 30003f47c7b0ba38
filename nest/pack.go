package nest

import (
	"reflect"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// packer puts leaves into copies of a template.
type packer struct {
	leaves []any
	next   int
	expand bool
	tables *tables
	depth  int
	block  block
}

func (k *packer) take() (any, *failure) {
	if k.next >= len(k.leaves) {
		return nil, fail(tenon.ErrInvalid, "there are only %d leaves", len(k.leaves))
	}
	k.next++
	return k.leaves[k.next-1], nil
}

func (k *packer) finish() *failure {
	k.block.done()
	if k.next < len(k.leaves) {
		return fail(tenon.ErrInvalid, "there are %d leaves, the structure has %d", len(k.leaves), k.next)
	}
	return nil
}

// pack fills out, which is zero, after the template at like.
func (k *packer) pack(p *plan, like, out unsafe.Pointer) *failure {
	switch p.kind {
	case kindTensor, kindLeaf, kindValue:
		return k.leaf(p, like, out)
	}
	if k.depth++; k.depth > maxDepth {
		return tooDeep()
	}
	err := k.inside(p, like, out)
	k.depth--
	return err
}

// leaf fills the place of a leaf.
func (k *packer) leaf(p *plan, like, out unsafe.Pointer) *failure {
	if p.kind == kindTensor && !k.expand {
		if *(*tensor.Tensor)(like) == nil {
			return nil
		}
	} else if p.kind != kindLeaf || p.nils || k.expand {
		x := p.load(like)
		if x == nil {
			return nil
		}
		if s := k.composite(x); s != nil {
			v, err := k.assemble(s)
			if err != nil {
				return err
			}
			return p.storeAdopted(p, v, like, out)
		}
	}
	x, err := k.take()
	if err != nil {
		return err
	}
	return p.storeAdopted(p, x, like, out)
}

// composite returns the Spec of a template's leaf if it is to be assembled from
// components, and nil if it is replaced as a whole.
func (k *packer) composite(x any) tenon.Spec {
	if !k.expand {
		return nil
	}
	s := specOf(x)
	if s == nil || tenon.IsLeaf(s) {
		return nil
	}
	return s
}

// specOf returns the Spec of a Value, or a Spec itself, and nil for anything else.
func specOf(x any) tenon.Spec {
	switch x := x.(type) {
	case tenon.Value:
		if isNil(x) {
			return nil
		}
		return x.Spec()
	case tenon.Spec:
		return x
	}
	return nil
}

// assemble makes a value of a Spec from the next leaves.
func (k *packer) assemble(s tenon.Spec) (tenon.Value, *failure) {
	if tenon.IsLeaf(s) {
		x, err := k.take()
		if err != nil {
			return nil, err
		}
		v, ok := x.(tenon.Value)
		if !ok {
			return nil, fail(tenon.ErrDType, "the leaf is a %T, which cannot be a component of a Value", x)
		}
		return v, nil
	}
	if k.depth++; k.depth > maxDepth {
		return nil, tooDeep()
	}
	defer func() { k.depth-- }()
	fields := s.Components()
	parts := make([]tenon.Value, len(fields))
	for i, f := range fields {
		var err *failure
		if parts[i], err = k.assemble(f.Spec); err != nil {
			return nil, err.at(f.Name)
		}
	}
	v, err := s.Assemble(parts)
	if err != nil {
		return nil, &failure{kind: tenon.AsError(err).Kind, cause: err}
	}
	return v, nil
}

// inside fills a container.
func (k *packer) inside(p *plan, like, out unsafe.Pointer) *failure {
	switch p.kind {
	case kindAny:
		return k.dynamic(p, like, out)
	case kindPointer:
		to := *(*unsafe.Pointer)(like)
		if to == nil {
			return nil
		}
		made := reflect.New(p.elem.typ).UnsafePointer()
		*(*unsafe.Pointer)(out) = made
		return k.pack(p.elem, to, made)
	case kindSlice:
		n := (*slice)(like).len
		if (*slice)(like).data == nil {
			return nil
		}
		if n == 0 {
			p.value(out).Set(reflect.MakeSlice(p.typ, 0, 0))
			return nil
		}
		k.block.slice(p, n, out)
		return k.sequence(p.elem, n, (*slice)(like).data, (*slice)(out).data)
	case kindArray:
		return k.sequence(p.elem, p.n, like, out)
	case kindStruct:
		if p.partial {
			p.value(out).Set(p.value(like))
		}
		for i := range p.fields {
			f := &p.fields[i]
			to := unsafe.Add(out, f.offset)
			if p.partial {
				f.plan.value(to).SetZero()
			}
			if err := k.pack(f.plan, unsafe.Add(like, f.offset), to); err != nil {
				return err.at(f.name)
			}
		}
	case kindMap:
		return k.table(p, like, out)
	case kindNode:
		return k.node(p, like, out)
	}
	return nil
}

// dynamic fills the place of an interface.
func (k *packer) dynamic(p *plan, like, out unsafe.Pointer) *failure {
	x := p.load(like)
	if x == nil {
		return nil
	}
	q, at, err := placeOf(x)
	if err != nil {
		return err
	}
	if q.kind == kindLeaf { // the place is the interface, so a leaf of another type fits
		if q.nils && *(*unsafe.Pointer)(at) == nil {
			return p.store(x, out)
		}
		if s := k.composite(x); s != nil {
			v, err := k.assemble(s)
			if err != nil {
				return err
			}
			return p.storeAdopted(q, v, at, out)
		}
		leaf, err := k.take()
		if err != nil {
			return err
		}
		return p.storeAdopted(q, leaf, at, out)
	}
	made := reflect.New(q.typ).UnsafePointer()
	if err := k.pack(q, at, made); err != nil {
		return err
	}
	y := q.box
	if q.direct {
		words(&y)[1] = *(*unsafe.Pointer)(made)
	} else {
		words(&y)[1] = made // nobody else has a pointer to the memory
	}
	return p.store(y, out)
}

func (k *packer) sequence(p *plan, n int, like, out unsafe.Pointer) *failure {
	if p.run > 0 && !k.expand {
		return k.tensors(p, p.runAt(like, n), p.runAt(out, n))
	}
	for i := range n {
		off := uintptr(i) * p.size
		if err := k.pack(p, unsafe.Add(like, off), unsafe.Add(out, off)); err != nil {
			return err.at(i)
		}
	}
	return nil
}

// table fills a map.
func (k *packer) table(p *plan, like, out unsafe.Pointer) *failure {
	if *(*unsafe.Pointer)(like) == nil {
		return nil
	}
	if m := *(*sliceMap)(like); p.runs && !k.expand && len(m) <= few {
		made, err := k.runMap(p, m)
		*(*sliceMap)(out) = made
		return err
	}
	entries, b := k.tables.push(p, like)
	if p.slices {
		return k.sliceTable(p, entries, b, out)
	}
	m := reflect.MakeMapWithSize(p.typ, len(entries))
	elem := reflect.New(p.elem.typ).Elem()
	for i := range entries {
		e := &entries[i]
		elem.SetZero()
		if err := k.pack(p.elem, e.elem, elem.Addr().UnsafePointer()); err != nil {
			return err.at(e.step(p.keys))
		}
		key := k.tables.key(p)
		e.key(p.keys, key)
		m.SetMapIndex(key, elem)
	}
	k.tables.pop(p, entries, b)
	p.value(out).Set(m)
	return nil
}

// sliceTable fills a map from strings to slices, given the entries of the template.
func (k *packer) sliceTable(p *plan, entries []entry, b *slice, out unsafe.Pointer) *failure {
	m := make(sliceMap, len(entries))
	around := k.tables.elem // of the map that contains this one
	for i := range entries {
		e := &entries[i]
		k.tables.elem = slice{}
		if err := k.pack(p.elem, e.elem, unsafe.Pointer(&k.tables.elem)); err != nil {
			return err.at(e.name)
		}
		m[e.name] = k.tables.elem
	}
	k.tables.elem = around
	k.tables.pop(p, entries, b)
	*(*sliceMap)(out) = m
	return nil
}

// node fills the place of a Node.
func (k *packer) node(p *plan, like, out unsafe.Pointer) *failure {
	n := p.load(like).(Node)
	parts := n.NestParts()
	made := make([]any, len(parts))
	for i := range parts {
		if err := k.pack(anyPlan, unsafe.Pointer(&parts[i].Value), unsafe.Pointer(&made[i])); err != nil {
			return err.at(partStep(i, parts[i].Name))
		}
	}
	v, err := n.NestPack(made)
	if err != nil {
		return &failure{kind: tenon.AsError(err).Kind, cause: err}
	}
	return p.store(v, out)
}
