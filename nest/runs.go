package nest

import (
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// A run is memory that holds nothing but variables of type tensor.Tensor: an array or struct of
// them, or the elements of a slice that are such arrays or structs. It is walked in one loop,
// whatever types it consists of.

// joined sets the number of tensors that memory of p's type holds if it holds nothing else.
func (p *plan) joined() {
	switch p.kind {
	case kindTensor:
		p.run = 1
	case kindArray:
		p.run = p.n * p.elem.run
	case kindStruct:
		if p.partial {
			return
		}
		for i := range p.fields {
			f := &p.fields[i]
			if f.plan.run == 0 || f.offset != uintptr(p.run)*unsafe.Sizeof(tensor.Tensor(nil)) {
				p.run = 0
				return
			}
			p.run += f.plan.run
		}
	}
	if uintptr(p.run)*unsafe.Sizeof(tensor.Tensor(nil)) != p.size {
		p.run = 0
	}
}

// inRun adds the steps that lead to tensor i of a run to a failure.
func (p *plan) inRun(err *failure, i int) *failure {
	switch p.kind {
	case kindArray:
		return p.elem.inRun(err, i%p.elem.run).at(i / p.elem.run)
	case kindStruct:
		for k := range p.fields {
			f := &p.fields[k]
			if i < f.plan.run {
				return f.plan.inRun(err, i).at(f.name)
			}
			i -= f.plan.run
		}
	}
	return err
}

// runAt returns the tensors of n elements of p's type.
func (p *plan) runAt(at unsafe.Pointer, n int) []tensor.Tensor {
	return unsafe.Slice((*tensor.Tensor)(at), n*p.run)
}

// plain reports whether runs are walked as such: the leaves are the tensors themselves, and their
// paths are not needed.
func (f *flattener) plain() bool { return !f.expand && !f.withPaths }

// tensors adds the leaves of a run.
func (f *flattener) tensors(ts []tensor.Tensor) {
	if f.visit != nil {
		f.visitAll(ts)
		return
	}
	k := len(f.out)
	if cap(f.out)-k < len(ts) {
		f.out = append(f.out, make([]any, len(ts))...)
	}
	out := f.out[k : k+len(ts)]
	n := 0
	for i, t := range ts {
		if t == nil {
			f.hash.add(absent + uint64(i))
			continue
		}
		if d, ok := t.(*tensor.Dense); ok {
			out[n] = d
		} else {
			out[n] = t
		}
		n++
	}
	f.out = f.out[:k+n]
}

// tensors packs a run. The failure contains the steps inside it.
func (k *packer) tensors(p *plan, like, out []tensor.Tensor) *failure {
	next, leaves := k.next, k.leaves
	for i := range like {
		if like[i] == nil {
			continue
		}
		if next < len(leaves) {
			if d, ok := leaves[next].(*tensor.Dense); ok {
				out[i] = d
				next++
				continue
			}
			if t, ok := leaves[next].(tensor.Tensor); ok {
				out[i] = t
				next++
				continue
			}
		}
		k.next = next
		x, err := k.take()
		if err == nil {
			err = fail(tenon.ErrDType, "the leaf is a %T, want a tensor", x)
		}
		return p.inRun(err, i%p.run).at(i / p.run)
	}
	k.next = next
	return nil
}

// few is the largest number of entries of a map that is read without tables.
const few = 8

// A runEntry is an entry of a map from strings to slices that are runs.
type runEntry struct {
	name string
	elem slice
}

// runEntries returns the entries of a map in the order of their keys, using the
// memory of room.
func runEntries(m sliceMap, room *[few]runEntry) []runEntry {
	n := 0
	for name, s := range m {
		if n == few {
			break
		}
		i := n
		for ; i > 0 && name < room[i-1].name; i-- {
			room[i] = room[i-1]
		}
		room[i] = runEntry{name, s}
		n++
	}
	return room[:n]
}

// runMap walks a map from strings to slices that are runs.
func (f *flattener) runMap(p *plan, m sliceMap) {
	var room [few]runEntry
	entries := runEntries(m, &room)
	if f.hash != nil {
		f.hash.add(uint64(len(entries)))
		for i := range entries {
			f.hash.name(entries[i].name)
		}
	}
	for i := range entries {
		s := &entries[i].elem
		f.hash.length(s.data == nil, s.len)
		f.tensors(p.elem.elem.runAt(s.data, s.len))
	}
}

// runMap packs a map from strings to slices that are runs.
func (k *packer) runMap(p *plan, like sliceMap) (sliceMap, *failure) {
	if like == nil {
		return nil, nil
	}
	var room [few]runEntry
	entries := runEntries(like, &room)
	elem := p.elem.elem
	total := 0
	for i := range entries {
		total += entries[i].elem.len
	}
	var all []tensor.Tensor // memory of all slices, if it is small
	if uintptr(total)*elem.size <= blockBytes {
		all = make([]tensor.Tensor, total*elem.run)
	}
	m := make(sliceMap, len(entries))
	for i := range entries {
		e := &entries[i]
		n := e.elem.len * elem.run
		if e.elem.data == nil {
			m[e.name] = slice{}
			continue
		}
		var out []tensor.Tensor
		if len(all) > n {
			out, all = all[:n], all[n:]
		} else if out, all = all, nil; len(out) < n || n == 0 {
			out = make([]tensor.Tensor, n)
		}
		if err := k.tensors(elem, elem.runAt(e.elem.data, e.elem.len), out); err != nil {
			return nil, err.at(e.name)
		}
		m[e.name] = slice{data: unsafe.Pointer(unsafe.SliceData(out)), len: e.elem.len, cap: e.elem.len}
	}
	return m, nil
}

// packRunMap is [Pack] for such a map, without a heap allocation for its place.
func packRunMap(p *plan, like sliceMap, leaves []any) (sliceMap, error) {
	k := packer{leaves: leaves}
	m, err := k.runMap(p, like)
	if err == nil {
		err = k.finish()
	}
	if err != nil {
		return nil, err.as("nest.Pack")
	}
	return m, nil
}
