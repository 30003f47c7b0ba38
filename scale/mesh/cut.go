package mesh

import (
	"strings"

	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/shape"
)

// over is a list of axes of a mesh, the major one first, with a byte for each.
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

// A cut says how the entries of an axis are divided: blocks of entries are shared by the ranks along
// some axes of the mesh, as [dist.Share] does. The zero value means that the axis is whole.
type cut struct {
	over   over
	blocks int
	block  int // entries of a block

	of   *entries // the entries of divided rows; each rank has those of its rows
	ends *entries // the axis has the ends of rows, beginning with 0; the rows are divided as the other fields say
}

// entries are the entries of the rows of one ragged value, whose number on each rank is unknown
// while a program is traced. Axes with the same entries have the same sizes on each rank.
type entries struct{ _ byte } // the field gives each an address of its own

// ragged reports whether the sizes of the parts depend on rows.
func (c cut) ragged() bool { return c.of != nil || c.ends != nil }

// rows returns the cut of the rows whose ends an axis has.
func (c cut) rows() cut {
	c.ends = nil
	return c
}

func (c cut) whole() bool { return c.over == "" }

// parts returns the number of parts into which axes of the mesh divide an axis.
func (m *Mesh) parts(o over) int {
	n := 1
	for i := range len(o) {
		n *= m.axes[o[i]].Size
	}
	return n
}

// of returns the cut of an axis with n entries.
func (m *Mesh) of(o over, n int) cut { return m.cut(cut{over: o, blocks: n, block: 1}) }

// cut returns the canonical form of a cut.
func (m *Mesh) cut(c cut) cut {
	if c.whole() {
		return cut{}
	}
	if c.ragged() {
		return c
	}
	if c.block != 1 && c.blocks%m.parts(c.over) == 0 {
		c.blocks, c.block = c.blocks*c.block, 1
	}
	return c
}

// share returns the range of entries that this rank has.
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

// size returns the number of entries that this rank has of an axis of size n, or shape.Unknown if that depends
// on rows.
func (m *Mesh) size(c cut, n int) int {
	switch {
	case c.whole():
		return n
	case c.of != nil:
		return shape.Unknown
	case c.ends != nil:
		return m.size(c.rows(), n-1) + 1
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
