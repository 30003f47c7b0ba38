package mesh

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A layout is the Spec of a whole tensor, and how its axes are divided.
type layout struct {
	spec *tensor.Spec
	cuts []cut
}

// describe returns text such as "float32[8@data, 64]", followed by the axes of the mesh over which an
// open sum is taken.
func (m *Mesh) describe(l layout, open over) string {
	s := l.spec.Shape()
	if !s.HasRank() {
		return l.spec.DType().String() + s.String()
	}
	dims := make([]string, s.Rank())
	for i := range dims {
		if dims[i] = "?"; s.Dim(i) >= 0 {
			dims[i] = fmt.Sprint(s.Dim(i))
		}
		if i < len(l.cuts) && !l.cuts[i].whole() {
			dims[i] += "@" + m.names(l.cuts[i].over)
		}
	}
	text := l.spec.DType().String() + "[" + strings.Join(dims, ", ") + "]"
	if open != "" {
		text += " summed over " + m.names(open)
	}
	return text
}

// wanted is the attribute of an operation that changes a layout.
type wanted struct {
	plan  *Plan
	names []named.Name
	axes  []int // the axes to make whole if there is no plan; nil stands for all
}

// layoutOp changes how a tensor is divided. Outside of a program nothing is divided.
var layoutOp = op.Register(&op.Op{
	Name: "mesh.layout", GoName: "mesh.To", Doc: "the tensor itself, divided among ranks in another way", Results: 1,
	Params: []op.Param{
		{Name: "x"},
		{Name: "layout", Kind: op.Attr, Convert: func(a any) (any, bool) { w, ok := a.(*wanted); return w, ok }},
	},
	Statement: op.Statement{Axes: op.Map, Moves: op.First, Zero: op.Zero{Keeps: true, Linear: []op.Operands{op.First}}},
	Kernel:    func(c *op.Call) ([]tensor.Tensor, error) { return c.Result(c.Tensor(0)) },
	VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{ct[0]} // its users divide it as they need
	},
})

// To returns x, a structure of Values in a program, divided according to a plan. It gathers, scatters and
// closes sums as necessary. Outside of a program it returns x.
func To[T any](p *Plan, x T) T {
	return each(x, func(t tensor.Tensor, names []named.Name) tensor.Tensor {
		return op.Eval(layoutOp, t, &wanted{plan: p, names: names})
	})
}

// Gather returns x with the dimension N whole, in a program: each rank gets all of its entries. Outside of a
// program it returns x.
func Gather[N named.Is[N], T any](x T) T {
	var n N
	path := named.Path(any(n).(named.Name))
	return each(x, func(t tensor.Tensor, names []named.Name) tensor.Tensor {
		i := slices.IndexFunc(names, func(m named.Name) bool { return named.Path(m) == path })
		if i < 0 {
			return t
		}
		return op.Eval(layoutOp, t, &wanted{axes: []int{i}})
	})
}

// GatherAxis is [Gather] for an axis of tensors without names; without axes, it makes all axes
// whole.
func GatherAxis[T any](x T, axes ...int) T {
	return each(x, func(t tensor.Tensor, names []named.Name) tensor.Tensor {
		return op.Eval(layoutOp, t, &wanted{axes: axes})
	})
}

// each returns a structure with the results of f for each tensor.
func each[T any](x T, f func(t tensor.Tensor, names []named.Name) tensor.Tensor) T {
	leaves := tenon.Must(nest.Flatten(x, nest.Options{}))
	for i, l := range leaves {
		switch v := l.(type) {
		case interface {
			tenon.Value
			Dims() named.Dims
		}:
			if s, ok := v.Spec().(namedSpec); ok && tenon.IsLeaf(s.Inner()) {
				inner := tenon.Must(s.Disassemble(v))[0].(tensor.Tensor)
				leaves[i] = tenon.Must(s.Assemble([]tenon.Value{f(inner, s.Dims().Names())}))
				continue
			}
			leaves[i] = parts(v, f)
		case tensor.Tensor:
			if tenon.IsLeaf(v.Spec()) {
				leaves[i] = f(v, nil)
				continue
			}
			leaves[i] = parts(v, f)
		case tenon.Value:
			leaves[i] = parts(v, f)
		}
	}
	return tenon.Must(nest.Pack(x, leaves, nest.Options{}))
}

// parts applies f to the tensors of which a Value is made. They have no names.
func parts(v tenon.Value, f func(t tensor.Tensor, names []named.Name) tensor.Tensor) tenon.Value {
	leaves := tenon.Must(componentsOf(v))
	list := make([]any, len(leaves))
	for i, t := range leaves {
		list[i] = f(t, nil)
	}
	return tenon.Must(nest.Pack(v, list, nest.Options{Expand: true}))
}

// componentsOf returns the tensors of which a Value is made.
func componentsOf(v tenon.Value) ([]tensor.Tensor, error) {
	leaves, err := nest.Flatten(v, nest.Options{Expand: true})
	if err != nil {
		return nil, err
	}
	out := make([]tensor.Tensor, 0, len(leaves))
	for _, l := range leaves {
		if t, ok := l.(tensor.Tensor); ok {
			out = append(out, t)
		}
	}
	return out, nil
}

// known reports whether all sizes of a shape are known.
func known(s shape.Shape) bool { return s.HasRank() && s.IsFull() }
