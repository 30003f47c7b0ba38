package mesh

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/scale/dist"
)

// An Axis is an axis of a mesh.
type Axis struct {
	Name string
	Size int
}

// A Mesh arranges ranks along axes; the last axis varies fastest.
type Mesh struct {
	axes   []Axis
	at     []int // coordinates of this rank
	world  *dist.Comm
	groups map[string]*dist.Comm
}

// New arranges the ranks of a group along axes, the product of whose sizes must be their
// number. All ranks must call it.
func New(ctx context.Context, c *dist.Comm, axes ...Axis) (*Mesh, error) {
	m, err := Abstract(c.Rank(), axes...)
	if err != nil {
		return nil, err
	}
	if n := m.Size(); n != c.Size() {
		e := &tenon.Error{Kind: tenon.ErrInvalid, Op: "mesh.New", Msg: fmt.Sprintf("the axes %v have %d places, but there are %d ranks", m, n, c.Size())}
		e.Hint = "the product of the sizes must be the number of ranks"
		return nil, c.Fail(e)
	}
	if err := c.Agree(ctx, "mesh.New", m.String()); err != nil {
		return nil, err
	}
	m.world = c
	for i, a := range m.axes {
		if a.Size == 1 {
			continue
		}
		colour := 0 // the coordinates along the other axes
		for j, b := range m.axes {
			if j != i {
				colour = colour*b.Size + m.at[j]
			}
		}
		if m.groups[GroupOf(a.Name)], err = c.Split(ctx, colour, m.at[i]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Abstract returns a mesh without ranks, as seen by one of them. Programs can be explained on
// it, but not run.
func Abstract(rank int, axes ...Axis) (*Mesh, error) {
	m := &Mesh{axes: slices.Clone(axes), groups: map[string]*dist.Comm{}}
	for i, a := range axes {
		switch {
		case a.Name == "" || strings.ContainsAny(a.Name, ":,@ "):
			return nil, tenon.NewError(tenon.ErrInvalid, "mesh.New", fmt.Sprintf("%q is not a valid name of an axis", a.Name))
		case a.Size < 1:
			return nil, tenon.NewError(tenon.ErrInvalid, "mesh.New", fmt.Sprintf("axis %s has the size %d, want at least 1", a.Name, a.Size))
		case slices.IndexFunc(axes, func(b Axis) bool { return a.Name == b.Name }) < i:
			return nil, tenon.NewError(tenon.ErrInvalid, "mesh.New", fmt.Sprintf("two axes are called %s", a.Name))
		case len(axes) > maxAxes:
			return nil, tenon.NewError(tenon.ErrInvalid, "mesh.New", fmt.Sprintf("there are %d axes, more than the limit of %d", len(axes), maxAxes))
		}
	}
	if rank < 0 || rank >= m.Size() {
		return nil, tenon.NewError(tenon.ErrRange, "mesh.New", fmt.Sprintf("there is no rank %d among %d", rank, m.Size()))
	}
	m.at = make([]int, len(axes))
	for i := len(axes) - 1; i >= 0; i-- {
		m.at[i] = rank % axes[i].Size
		rank /= axes[i].Size
	}
	return m, nil
}

const maxAxes = 16

// GroupOf returns the name, in a context, of the group of ranks along an axis, for operations of
// package dist.
func GroupOf(axis string) string { return "mesh:" + axis }

// Size returns the number of ranks.
func (m *Mesh) Size() int {
	n := 1
	for _, a := range m.axes {
		n *= a.Size
	}
	return n
}

// Axes returns the axes.
func (m *Mesh) Axes() []Axis { return slices.Clone(m.axes) }

// Comm returns the group of all ranks, or nil for an [Abstract] mesh.
func (m *Mesh) Comm() *dist.Comm { return m.world }

// String prints "data=4 model=2".
func (m *Mesh) String() string {
	var b strings.Builder
	for i, a := range m.axes {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s=%d", a.Name, a.Size)
	}
	return b.String()
}

// With returns a context in which operations of package dist find the ranks along each axis.
func (m *Mesh) With(ctx context.Context) (context.Context, error) {
	if m.world == nil {
		e := &tenon.Error{Kind: tenon.ErrUnsupported, Op: "mesh", Msg: fmt.Sprintf("the mesh %v has no ranks", m)}
		e.Hint = "it was made by mesh.Abstract, which is for Explain; use mesh.New for the ranks of a job"
		return nil, e
	}
	return dist.With(ctx, m.world, m.groups), nil
}

// axis returns the number of an axis by its name.
func (m *Mesh) axis(name string) int {
	return slices.IndexFunc(m.axes, func(a Axis) bool { return a.Name == name })
}
