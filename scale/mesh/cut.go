package mesh

import (
	"strings"

	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/shape"
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

	of   *entries // the entries of rows that are divided: as many on each rank as its rows have
	ends *entries // the axis has the ends of rows, 0 first; the rows are divided as the rest says
}

// entries are those of the rows of one ragged value, whose numbers on each rank nobody knows while a
// program is traced. Axes with the same entries have the same sizes on each rank.
type entries struct{ _ byte } // the field gives each an address of its own

// ragged reports whether the sizes of the parts are those of rows.
func (c cut) ragged() bool { return c.of != nil || c.ends != nil }

// rows returns how the rows are divided of which an axis has the ends.
func (c cut) rows() cut {
	c.ends = nil
	return c
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
func (m *Mesh) of(o over, n int) cut { return m.cut(cut{over: o, blocks: n, block: 1}) }

// cut returns a cut in the one form that all cuts with the same parts have.
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

// size returns the number of entries of an axis of size n that this rank has, and shape.Unknown where they are
// those of rows.
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
