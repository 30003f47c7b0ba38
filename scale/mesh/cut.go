package mesh

import (
	"strings"

	"github.com/tenonml/tenon/scale/dist"
)

// over is a list of axes of a mesh, the major one first: a byte for each.
type over string

// has reports whether two lists have an axis in common.
func (o over) has(p over) bool { return strings.ContainsAny(string(o), string(p)) }

// without returns the axes that are not in another list.
func (o over) without(p over) over {
	return over(strings.Map(func(r rune) rune {
		if strings.ContainsRune(string(p), r) {
			return -1
		}
		return r
	}, string(o)))
}

// cut says how the entries of an axis are divided: blocks of entries that belong together are
// shared by the ranks along some axes of the mesh, as [dist.Share] does. The zero value is an axis that
// is whole.
type cut struct {
	over   over
	blocks int
	block  int // entries of a block
}

func (c cut) whole() bool { return c.over == "" }

// parts returns among how many ranks the axes of the mesh divide something.
func (m *Mesh) parts(o over) int {
	n := 1
	for i := range len(o) {
		n *= m.axes[o[i]].Size
	}
	return n
}

// of returns the cut of an axis with n entries.
func (m *Mesh) of(o over, n int) cut { return m.cut(cut{o, n, 1}) }

// cut returns a cut in the one form that all cuts with the same parts have.
func (m *Mesh) cut(c cut) cut {
	if c.whole() {
		return cut{}
	}
	if c.block != 1 && c.blocks%m.parts(c.over) == 0 {
		c.blocks, c.block = c.blocks*c.block, 1
	}
	return c
}

// share returns which entries this rank has.
func (m *Mesh) share(c cut) (lo, hi int) { return m.shareAt(c, m.at) }

func (m *Mesh) shareAt(c cut, at []int) (lo, hi int) {
	k := 0
	for i := range len(c.over) {
		a := int(c.over[i])
		k = k*m.axes[a].Size + at[a]
	}
	lo, hi = dist.Share(c.blocks, m.parts(c.over), k)
	return lo * c.block, hi * c.block
}

// size returns the number of entries of an axis of size n that this rank has.
func (m *Mesh) size(c cut, n int) int {
	if c.whole() {
		return n
	}
	lo, hi := m.share(c)
	return hi - lo
}

// names prints axes of the mesh: "data", "data,model".
func (m *Mesh) names(o over) string {
	list := make([]string, len(o))
	for i := range len(o) {
		list[i] = m.axes[o[i]].Name
	}
	return strings.Join(list, ",")
}
