package passes

import (
	"fmt"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// CSE eliminates common subexpressions: operations with the same arguments are computed once.
func CSE(g *graph.Graph) (*graph.Graph, error) {
	if !repeats(g) {
		return g, nil
	}
	seen := map[string][]tensor.Tensor{}
	return graph.Rebuild(g, func(n *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		key, ok := keyOf(n, c)
		if !ok {
			return nil, nil
		}
		if out, ok := seen[key]; ok {
			return out, nil
		}
		out, err := c.DoTensors()
		if err != nil {
			return nil, err
		}
		seen[key] = out
		return out, nil
	})
}

// repeats reports whether two nodes may compute the same: they have the same operation and read the
// same first value.
func repeats(g *graph.Graph) bool {
	type start struct {
		op *op.Op
		of any // a value, or the elements of a constant
	}
	seen := make(map[start]bool, len(g.Nodes))
	for _, n := range g.Nodes {
		s := start{op: n.Op}
		n.EachInput(func(v *graph.Value) {
			if s.of != nil {
				return
			}
			if s.of = v; v.Node() == nil {
				if t, ok := v.ConstValue(); ok {
					s.of = constKey(t)
				}
			}
		})
		if seen[s] {
			return true
		}
		seen[s] = true
	}
	return false
}

func keyOf(n *graph.Node, c *op.Call) (string, bool) {
	if n.Op.Stateful {
		return "", false
	}
	var b strings.Builder
	b.WriteString(n.Op.Name)
	value := func(v tenon.Value) {
		x := v.(*graph.Value)
		if k, ok := x.ConstValue(); ok {
			b.WriteString(constKey(k))
			return
		}
		fmt.Fprintf(&b, " %d", x.ID())
	}
	for _, a := range c.Args {
		b.WriteByte(';')
		switch a := a.(type) {
		case *graph.Value:
			value(a)
		case []tenon.Value:
			for _, x := range a {
				value(x)
			}
		default:
			e, ok := op.EncodeAttr(a)
			if !ok {
				return "", false
			}
			b.WriteString(tenon.EncodingText(e))
		}
	}
	return b.String(), true
}

// constKey returns equal keys for equal constants: small ones are compared by their elements,
// others by identity.
func constKey(t tensor.Tensor) string {
	const small = 64 // bytes
	if d, ok := t.(*tensor.Dense); ok && d.IsContiguous() && d.Len()*d.DType().Size() <= small {
		return fmt.Sprintf(" %v%v%x", d.DType(), d.Shape(), d.Bytes())
	}
	return fmt.Sprintf(" c%p", t)
}
