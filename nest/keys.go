package nest

import (
	"cmp"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"github.com/tenonml/tenon"
)

// keyKind says how the keys of a map are read and ordered.
type keyKind uint8

const (
	stringKeys keyKind = iota
	signedKeys
	unsignedKeys
)

func keysOf(t reflect.Type) (keyKind, *failure) {
	switch t.Kind() {
	case reflect.String:
		return stringKeys, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return signedKeys, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return unsignedKeys, nil
	}
	return 0, fail(tenon.ErrUnsupported, "the keys of a map are strings or integers, not %v", t)
}

// entry is an entry of a map: its key and the place of its element.
type entry struct {
	name string
	num  int64 // an integer key; the bits of an unsigned one
	elem unsafe.Pointer
}

// step returns the key for paths.
func (e entry) step(k keyKind) any {
	switch k {
	case stringKeys:
		return e.name
	case signedKeys:
		return int(e.num)
	}
	return uint(e.num)
}

// key sets a reflect.Value to the key.
func (e entry) key(k keyKind, v reflect.Value) {
	switch k {
	case stringKeys:
		v.SetString(e.name)
	case signedKeys:
		v.SetInt(e.num)
	default:
		v.SetUint(uint64(e.num))
	}
}

func order(k keyKind) func(a, b entry) int {
	switch k {
	case stringKeys:
		return func(a, b entry) int { return cmp.Compare(a.name, b.name) }
	case signedKeys:
		return func(a, b entry) int { return cmp.Compare(a.num, b.num) }
	}
	return func(a, b entry) int { return cmp.Compare(uint64(a.num), uint64(b.num)) }
}

// sliceMap is the memory layout of maps from strings to slices, the most common maps whose elements
// are not leaves. Whatever the slices contain, such maps differ only in type, so they can be read
// and made without reflection.
type sliceMap = map[string]slice

// tables reads maps. It keeps the memory it needs for reuse.
type tables struct {
	stack []entry // the entries of the maps being walked
	name  string
	elem  slice // the element of a sliceMap being made
}

var tablesPool = sync.Pool{New: func() any { return new(tables) }}

// release makes tables available for reuse. After a walk that failed, they still
// hold entries.
func (t *tables) release() {
	if len(t.stack) == 0 {
		t.name, t.elem = "", slice{}
		tablesPool.Put(t)
	}
}

// push appends the entries of a map to the stack, in the order of their keys, and
// returns them. The elements are copied, since elements of a map are not
// addressable.
func (t *tables) push(p *plan, at unsafe.Pointer) ([]entry, *slice) {
	var m reflect.Value
	n := 0
	if p.slices {
		n = len(*(*sliceMap)(at))
	} else {
		m = p.value(at)
		n = m.Len()
	}
	if n == 0 {
		return nil, nil
	}
	base := len(t.stack)
	t.stack = slices.Grow(t.stack, n)
	b, _ := p.buffers.Get().(*slice)
	if b == nil {
		b = new(slice)
	}
	if b.cap < n {
		valueAt(p.list, unsafe.Pointer(b)).Grow(n)
	}
	b.len = n
	if p.slices {
		t.read(*(*sliceMap)(at), unsafe.Slice((*slice)(b.data), n))
		out := t.stack[base:len(t.stack):len(t.stack)]
		t.sort(p, out)
		return out, b
	}
	elems := valueAt(p.list, unsafe.Pointer(b))
	key := t.key(p)
	iter := m.MapRange()
	for i := 0; i < n && iter.Next(); i++ {
		e := entry{elem: unsafe.Add(b.data, uintptr(i)*p.elem.size)}
		key.SetIterKey(iter)
		switch p.keys {
		case stringKeys:
			e.name = t.name
		case signedKeys:
			e.num = key.Int()
		default:
			e.num = int64(key.Uint())
		}
		elems.Index(i).SetIterValue(iter)
		t.stack = append(t.stack, e)
	}
	out := t.stack[base:len(t.stack):len(t.stack)]
	t.sort(p, out)
	return out, b
}

// read appends the entries of a map to the stack and copies the elements to places.
func (t *tables) read(m sliceMap, places []slice) {
	i := 0
	for name, s := range m {
		if i == len(places) {
			break
		}
		places[i] = s
		t.stack = append(t.stack, entry{name: name, elem: unsafe.Pointer(&places[i])})
		i++
	}
}

func (t *tables) sort(p *plan, es []entry) {
	if p.keys == stringKeys && len(es) <= 12 {
		sortNames(es)
	} else {
		slices.SortFunc(es, order(p.keys))
	}
}

// sortNames sorts a few entries by insertion.
func sortNames(es []entry) {
	for i := 1; i < len(es); i++ {
		for k := i; k > 0 && es[k].name < es[k-1].name; k-- {
			es[k], es[k-1] = es[k-1], es[k]
		}
	}
}

// pop removes the entries that push returned, and the elements.
func (t *tables) pop(p *plan, entries []entry, b *slice) {
	if b == nil {
		return
	}
	clear(entries)
	t.stack = t.stack[:len(t.stack)-len(entries)]
	if p.slices {
		clear(unsafe.Slice((*slice)(b.data), b.len))
	} else {
		valueAt(p.list, unsafe.Pointer(b)).Clear()
	}
	p.buffers.Put(b)
}

// key returns a place for a key; for strings it is t.name.
func (t *tables) key(p *plan) reflect.Value {
	if p.keys == stringKeys {
		return valueAt(p.key, unsafe.Pointer(&t.name))
	}
	return reflect.New(p.typ.Key()).Elem()
}
