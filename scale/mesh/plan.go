package mesh

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A Rule of a plan says how a dimension is divided.
type Rule struct {
	path string // of the name; "" for tensors without names
	text string
	axis int
	over []string
}

// On divides the dimensions with a name among the ranks along axes of the mesh, the major one first.
// Without axes they are whole.
func On[N named.Is[N]](axes ...string) Rule {
	var n N
	return OnName(any(n).(named.Name), axes...)
}

// OnName is [On] for a name that is a value.
func OnName(n named.Name, axes ...string) Rule {
	return Rule{path: named.Path(n), text: n.String(), over: slices.Clone(axes)}
}

// Unnamed divides an axis of tensors without dimension names, if they have that axis. Axis 0 is
// that of the rows of a batch.
func Unnamed(axis int, axes ...string) Rule {
	return Rule{text: fmt.Sprintf("axis %d", axis), axis: axis, over: slices.Clone(axes)}
}

// A Plan says which dimensions are divided, and how.
type Plan struct {
	mesh    *Mesh
	rules   []Rule
	named   map[string]over
	unnamed map[int]over
}

// Plan returns a plan with rules. Dimensions without a rule are whole.
func (m *Mesh) Plan(rules ...Rule) (*Plan, error) {
	p := &Plan{mesh: m, rules: slices.Clone(rules), named: map[string]over{}, unnamed: map[int]over{}}
	for _, r := range rules {
		var o over
		for _, name := range r.over {
			i := m.axis(name)
			if i < 0 {
				e := &tenon.Error{Kind: tenon.ErrNotFound, Op: "mesh.Plan", Msg: fmt.Sprintf("%s should be divided along %q, but the mesh %v has no such axis", r.text, name, m)}
				return nil, e
			}
			if strings.ContainsRune(string(o), rune(i)) {
				return nil, tenon.NewError(tenon.ErrInvalid, "mesh.Plan", fmt.Sprintf("%s should be divided along %s twice", r.text, name))
			}
			if m.axes[i].Size > 1 {
				o += over(rune(i))
			}
		}
		if r.path != "" {
			p.named[r.path] = o
		} else {
			p.unnamed[r.axis] = o
		}
	}
	return p, nil
}

// With returns a plan with further rules, which override earlier ones for the same dimensions, for
// instance to describe how values are stored.
func (p *Plan) With(rules ...Rule) (*Plan, error) {
	return p.mesh.Plan(append(slices.Clone(p.rules), rules...)...)
}

// Mesh returns the mesh of the plan.
func (p *Plan) Mesh() *Mesh { return p.mesh }

// String prints "Batch@data Hidden@model".
func (p *Plan) String() string {
	var list []string
	for _, r := range p.rules {
		if len(r.over) > 0 {
			list = append(list, r.text+"@"+strings.Join(r.over, ","))
		}
	}
	return strings.Join(list, " ")
}

// namedSpec is the Spec of a tensor with dimension names.
type namedSpec interface {
	tenon.Spec
	Inner() tenon.Spec
	Dims() named.Dims
}

// cuts returns how the axes of a tensor are divided. names are the names of its dimensions, or
// nil if they have none.
func (p *Plan) cuts(s shape.Shape, names []named.Name) ([]cut, error) {
	if !s.HasRank() {
		return nil, nil
	}
	out := make([]cut, s.Rank())
	var used over
	for i := range out {
		o, what := p.unnamed[i], fmt.Sprintf("axis %d", i)
		if names != nil {
			o, what = p.named[named.Path(names[i])], names[i].String()
		}
		switch {
		case o == "":
			continue
		case s.Dim(i) < 0:
			return nil, tenon.NewError(tenon.ErrUnsupported, "mesh.Plan", fmt.Sprintf("%s should be divided, but its size is unknown", what))
		case used.has(o):
			other := "another axis"
			for j := range i {
				if out[j].over.has(o) {
					if other = fmt.Sprintf("axis %d", j); names != nil {
						other = names[j].String()
					}
				}
			}
			e := &tenon.Error{Kind: tenon.ErrInvalid, Op: "mesh.Plan", Msg: fmt.Sprintf("%s and %s of one tensor of shape %v are both divided along %s", other, what, s, p.mesh.names(o))}
			e.Hint = "divide one of them along another axis of the mesh, or not at all"
			return nil, e
		}
		used += o
		out[i] = p.mesh.of(o, s.Dim(i))
	}
	return out, nil
}

// layouts returns how the tensors of a Value are divided.
func (p *Plan) layouts(v tenon.Value, known map[tensor.Tensor]*entries) ([]layout, error) {
	s := v.Spec()
	var names []named.Name
	if n, ok := s.(namedSpec); ok {
		if names = n.Dims().Names(); names == nil {
			names = []named.Name{}
		}
		if tenon.IsLeaf(n.Inner()) {
			s = n.Inner()
		}
	}
	if t, ok := s.(*tensor.Spec); ok {
		cuts, err := p.cuts(t.Shape(), names)
		return []layout{{t, cuts}}, err
	}
	k, err := p.rowCut(v, names)
	if err != nil {
		return nil, err
	}
	if n, ok := s.(namedSpec); ok {
		parts, err := n.Disassemble(v)
		if err != nil {
			return nil, err
		}
		v = parts[0]
	}
	return p.layoutsOfRows(v, k, known)
}

// rowCut returns how the rows of a Value that is not a dense tensor are divided.
func (p *Plan) rowCut(v tenon.Value, names []named.Name) (cut, error) {
	axes, n := 1, -1
	if t, ok := v.(tensor.Tensor); ok && t.Shape().HasRank() {
		if axes = t.Shape().Rank(); axes > 0 {
			n = t.Shape().Dim(0)
		}
	}
	if axes > 0 && n < 0 {
		var err error
		if n, err = rows.Count(v); err != nil {
			return cut{}, nil // it has no rows
		}
	}
	if names != nil {
		axes = len(names)
	}
	for i := 1; i < axes; i++ {
		o := p.unnamed[i]
		if names != nil {
			o = p.named[named.Path(names[i])]
		}
		if o != "" {
			e := tenon.NewError(tenon.ErrUnsupported, "mesh.Plan", fmt.Sprintf("axis %d of %s should be divided, but only its rows can be", i, tenon.String(v.Spec())))
			e.Hint = "divide the first axis, or another name"
			return cut{}, e
		}
	}
	o := p.unnamed[0]
	if names != nil {
		o = p.named[named.Path(names[0])]
	}
	if o == "" || axes == 0 || n < 0 {
		return cut{}, nil
	}
	return p.mesh.of(o, n), nil
}
