package named

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/dimtext"
)

// A layout is an interned list of names: those of a tensor's dimensions in the order in which they
// are stored, or those that an operation works on. Equal lists are the same pointer, so that the
// plan of an operation for certain layouts is found by comparing pointers.
type layout struct {
	ids []id

	recent [8]atomic.Pointer[plan] // plans, indexed by a hash of their keys
	mu     sync.Mutex
	plans  map[planKey]*plan
}

// A planKey identifies an operation, and what its plan depends on besides the layout of its first
// operand.
type planKey struct {
	kind  planKind
	other *layout // of the second operand, or the result
	dims  *layout // the names that the operation works on
}

type planKind uint8

const (
	planBinary planKind = iota
	planOuter
	planDot
	planContract
	planPermute
	planReduce
	planRename
)

// A plan is what an operation computes once for certain layouts.
type plan struct {
	key   planKey
	value any
}

// maxPlans is the number of plans that a layout keeps; beyond it, they are discarded.
const maxPlans = 4096

// plan returns the result of make from its first call with the key. It throws an error of make,
// which is called again the next time.
func (l *layout) plan(key planKey, make func() (any, error)) any {
	h := uintptr(unsafe.Pointer(key.other))>>4 ^ uintptr(unsafe.Pointer(key.dims))>>6 ^ uintptr(key.kind)
	slot := &l.recent[(h^h>>8)%uintptr(len(l.recent))]
	if p := slot.Load(); p != nil && p.key == key {
		return p.value
	}
	l.mu.Lock()
	p := l.plans[key]
	l.mu.Unlock()
	if p == nil {
		p = &plan{key: key, value: tenon.Must(make())}
		l.mu.Lock()
		if l.plans == nil || len(l.plans) >= maxPlans {
			l.plans = map[planKey]*plan{}
		}
		l.plans[key] = p
		l.mu.Unlock()
	}
	slot.Store(p)
	return p.value
}

var layouts struct {
	sync.RWMutex
	m map[string]*layout
}

// none is the empty list.
var none = layoutOf(nil)

// layoutOf returns the layout with the given names.
func layoutOf(ids []id) *layout {
	var room [64]byte
	key := room[:0]
	for _, n := range ids {
		key = append(key, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	layouts.RLock()
	l := layouts.m[string(key)]
	layouts.RUnlock()
	if l != nil {
		return l
	}
	layouts.Lock()
	defer layouts.Unlock()
	if l := layouts.m[string(key)]; l != nil {
		return l
	}
	if layouts.m == nil {
		layouts.m = map[string]*layout{}
	}
	l = &layout{ids: slices.Clip(slices.Clone(ids))}
	layouts.m[string(key)] = l
	return l
}

// index returns the position of a name, or -1 if l does not have it.
func (l *layout) index(n id) int {
	for i, x := range l.ids {
		if x == n {
			return i
		}
	}
	return -1
}

func (l *layout) has(n id) bool { return l.index(n) >= 0 }

// hasAll reports whether every name of m is in l.
func (l *layout) hasAll(m *layout) bool {
	if l == m {
		return true
	}
	for _, n := range m.ids {
		if !l.has(n) {
			return false
		}
	}
	return true
}

// without returns the names of l that m lacks.
func (l *layout) without(m *layout) *layout {
	return l.filter(func(n id) bool { return !m.has(n) })
}

// both returns the names of l that m also has.
func (l *layout) both(m *layout) *layout { return l.filter(m.has) }

func (l *layout) filter(keep func(id) bool) *layout {
	out := make([]id, 0, len(l.ids))
	for _, n := range l.ids {
		if keep(n) {
			out = append(out, n)
		}
	}
	if len(out) == len(l.ids) {
		return l
	}
	return layoutOf(out)
}

// and returns l followed by the names of m that it lacks.
func (l *layout) and(m *layout) *layout {
	out := slices.Clone(l.ids)
	for _, n := range m.ids {
		if !l.has(n) {
			out = append(out, n)
		}
	}
	if len(out) == len(l.ids) {
		return l
	}
	return layoutOf(out)
}

// positions returns the positions of the names of m in l, which must have them
// all.
func (l *layout) positions(m *layout) []int {
	out := make([]int, len(m.ids))
	for i, n := range m.ids {
		out[i] = l.index(n)
	}
	return out
}

// duplicate returns a name that occurs twice.
func duplicate(ids []id) (id, bool) {
	for i, n := range ids {
		if slices.Contains(ids[:i], n) {
			return n, true
		}
	}
	return 0, false
}

// text returns the name as printed within l: in full if another name has the same
// short form.
func (l *layout) text(n id) string {
	short := n.String()
	for _, m := range l.ids {
		if m != n && (m.String() == short || dimtext.Short(m.info().path) == dimtext.Short(n.info().path)) {
			return n.info().path
		}
	}
	return short
}

// texts returns the names of of as printed within l.
func (l *layout) texts(of *layout) []string {
	s := make([]string, len(of.ids))
	for i, n := range of.ids {
		s[i] = l.text(n)
	}
	return s
}

// String returns the names, separated by commas.
func (l *layout) String() string {
	return strings.Join(l.texts(l), ", ")
}

// canonical returns the same names sorted by their paths, an order that does not depend on how a
// tensor is stored.
func canonical(l *layout) *layout {
	ids := slices.Clone(l.ids)
	slices.SortFunc(ids, func(a, b id) int { return strings.Compare(a.info().path, b.info().path) })
	return layoutOf(ids)
}
