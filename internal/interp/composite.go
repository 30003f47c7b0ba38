package interp

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/kernel/fused"
)

// composite is a group of nodes for which there is a single kernel: act(x·scale + shift) or act(x +
// shift), where scale and shift are rows that repeat.
type composite struct {
	act     fused.Activation
	product [2]int // inputs of the group: x and scale in either order or, without a scale, x and shift
	shift   int    // input of the group; -1 without a scale
	dtype   dtype.DType
}

var activations = map[string]fused.Activation{
	"relu": fused.Relu, "gelu": fused.Gelu, "gelu_tanh": fused.GeluTanh, "silu": fused.Silu, "sigmoid": fused.Sigmoid, "tanh": fused.Tanh,
}

// compose returns the composite that the nodes of a group form, or nil.
func (g *group) compose(nodes []*graph.Node) *composite {
	last := len(nodes) - 1
	d := g.nodes[last].dtype
	if len(g.outs) != 1 || g.outAt[0] != last || d != dtype.Float32 && d != dtype.Float64 {
		return nil
	}
	c := &composite{shift: -1, dtype: d}
	act, ok := activations[nodes[last].Op.Name]
	if ok {
		c.act, last = act, last-1
	}
	names := ""
	for _, n := range nodes[:last+1] {
		names += n.Op.Name + " "
	}
	first := g.nodes[0].operands
	switch {
	case first[0] < 0 || first[1] < 0 || ok && g.nodes[last+1].operands[0] != -1-last:
		return nil
	case names == "mul add ":
		sum := g.nodes[1].operands
		switch {
		case sum[0] == -1 && sum[1] >= 0:
			c.shift = sum[1]
		case sum[1] == -1 && sum[0] >= 0:
			c.shift = sum[0]
		default:
			return nil
		}
	case names == "add " && ok:
	default:
		return nil
	}
	c.product = [2]int{first[0], first[1]}
	return c
}

// run computes a composite. It reports false if its operands have other forms.
func (c *composite) run(g *group, r *run) bool {
	row := func(i int) bool { return r.forms[i].period > 0 && r.forms[i].period == r.step }
	x, w := c.product[0], c.product[1]
	if row(x) {
		x, w = w, x
	}
	if r.forms[x].scalar || r.forms[x].period > 0 || r.gaps || !row(w) || c.shift >= 0 && !row(c.shift) {
		return false
	}
	if c.dtype == dtype.Float32 {
		affine[float32](c, r, r.outs[g.outAt[0]], x, w)
	} else {
		affine[float64](c, r, r.outs[g.outAt[0]], x, w)
	}
	return true
}

func affine[T float32 | float64](c *composite, r *run, dst unsafe.Pointer, x, w int) {
	out, in := unsafe.Slice((*T)(dst), r.n), unsafe.Slice((*T)(r.forms[x].base), r.n)
	first := unsafe.Slice((*T)(r.forms[w].base), r.step)
	if c.shift < 0 {
		fused.Bias(c.act, out, in, first, r.step)
		return
	}
	fused.Affine(c.act, out, in, first, unsafe.Slice((*T)(r.forms[c.shift].base), r.step), r.step)
}
