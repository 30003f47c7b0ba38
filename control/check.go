package control

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// In calls of graphs that were read from files, nobody has checked the arguments: what regions take
// and return must match the other arguments before anything runs.

// region returns an argument, which must be a region that takes the given inputs.
func region(c *op.Call, i int, inputs []tenon.Value) (*graph.Graph, error) {
	g, ok := c.Args[i].(*graph.Graph)
	if !ok || g == nil {
		return nil, c.Errorf(tenon.ErrInvalid, "argument %d is not a region", i)
	}
	return g, takes(c, g, inputs)
}

// takes checks that a region takes the given inputs.
func takes(c *op.Call, g *graph.Graph, inputs []tenon.Value) error {
	if len(g.Params) != len(inputs) {
		return c.Errorf(tenon.ErrInvalid, "the region %q takes %d inputs, there are %d", g.Name, len(g.Params), len(inputs))
	}
	for i, p := range g.Params {
		if inputs[i] == nil || !tenon.Compatible(p.Spec(), inputs[i].Spec()) {
			return c.Errorf(tenon.ErrDType, "the region %q takes %s as input %d, which is %s", g.Name, tenon.String(p.Spec()), i, specText(inputs[i]))
		}
	}
	return nil
}

func specText(v tenon.Value) string {
	if v == nil {
		return "nil"
	}
	return tenon.String(v.Spec())
}

// gives checks that the first n results of a region have the types of its first parameters.
func gives(c *op.Call, g *graph.Graph, n int) error {
	if len(g.Outputs) < n {
		return c.Errorf(tenon.ErrInvalid, "the region %q returns %d tensors, there are %d variables", g.Name, len(g.Outputs), n)
	}
	for i := range n {
		if p, o := g.Params[i].Spec(), g.Outputs[i].Spec(); !tenon.Compatible(p, o) {
			return c.Errorf(tenon.ErrDType, "the region %q returns %s for a variable of %s", g.Name, tenon.String(o), tenon.String(p))
		}
	}
	return nil
}

// count returns an argument, which must be a number of inputs between 0 and n.
func count(c *op.Call, i, n int) (int, error) {
	k, ok := c.Args[i].(int)
	if !ok || k < 0 || k > n {
		return 0, c.Errorf(tenon.ErrInvalid, "there are %d inputs, of which %v are variables or rows", n, c.Args[i])
	}
	return k, nil
}

// checkWhile checks the arguments of a loop or, if cotangents is set, of its gradient, which has a
// cotangent for each variable after the inputs.
func checkWhile(c *op.Call, cotangents bool) (vars int, inputs []tenon.Value, body *graph.Graph, err error) {
	inputs = c.List(0)
	if vars, err = count(c, 1, len(inputs)); err != nil {
		return 0, nil, nil, err
	}
	if cotangents {
		inputs = inputs[:len(inputs)-vars]
		if vars > len(inputs) {
			return 0, nil, nil, c.Errorf(tenon.ErrInvalid, "there are %d inputs for %d variables", len(inputs), vars)
		}
	}
	cond, err := region(c, 2, inputs)
	if err != nil {
		return 0, nil, nil, err
	}
	if len(cond.Outputs) != 1 || !tenon.Compatible(cond.Outputs[0].Spec(), tensor.NewSpec(dtype.Bool, shape.Of())) {
		return 0, nil, nil, c.Errorf(tenon.ErrDType, "the condition returns %s, not a boolean scalar", fmt.Sprint(cond.Outputs))
	}
	if body, err = region(c, 3, inputs); err != nil {
		return 0, nil, nil, err
	}
	if len(body.Outputs) != vars {
		return 0, nil, nil, c.Errorf(tenon.ErrInvalid, "the body returns %d tensors for %d variables", len(body.Outputs), vars)
	}
	return vars, inputs, body, gives(c, body, vars)
}

// checkScan checks the arguments of a scan. For an input that is iterated over, the body takes one
// row.
func checkScan(c *op.Call) (nc, nx int, body *graph.Graph, err error) {
	inputs := c.List(0)
	if nc, err = count(c, 1, len(inputs)); err != nil {
		return
	}
	if nx, err = count(c, 2, len(inputs)-nc); err != nil {
		return
	}
	body, ok := c.Args[3].(*graph.Graph)
	if !ok || body == nil || len(body.Params) != len(inputs) {
		return 0, 0, nil, c.Errorf(tenon.ErrInvalid, "the body is not a region with a parameter for each of %d inputs", len(inputs))
	}
	sums, err := count(c, 7, nc)
	if err != nil {
		return
	}
	ofRows := c.Args[6] != nil
	if ofRows {
		if s := c.Tensor(6); !s.DType().IsInteger() || s.Shape().HasRank() && s.Shape().Rank() != 1 {
			return 0, 0, nil, c.Errorf(tenon.ErrDType, "row splits are %s, not a vector of integers", tenon.String(s.Spec()))
		}
		for i := nc; i < len(body.Outputs); i++ {
			if s := body.Outputs[i].Shape(); s.HasRank() && s.Rank() == 0 {
				return 0, 0, nil, c.Errorf(tenon.ErrShape, "result %d of the body is a scalar, not one value for each row", i)
			}
		}
	}
	for i, v := range inputs {
		t, ok := v.(tensor.Tensor)
		if !ok {
			return 0, 0, nil, c.Errorf(tenon.ErrDType, "input %d is not a tensor", i)
		}
		want := t.Shape()
		if over := i >= nc && i < nc+nx; over || ofRows && i < nc-sums {
			if want.HasRank() && want.Rank() == 0 {
				return 0, 0, nil, c.Errorf(tenon.ErrShape, "input %d, of which the scan takes rows, is a scalar", i)
			}
			if want.HasRank() {
				want = want.Remove(0)
			}
			if want.HasRank() && ofRows {
				want = want.Insert(0, shape.Unknown)
			}
		}
		if p := body.Params[i]; p.DType() != t.DType() || !p.Shape().CompatibleWith(want) {
			return 0, 0, nil, c.Errorf(tenon.ErrDType, "the body takes %s as input %d, which is %s", tenon.String(p.Spec()), i, tenon.String(t.Spec()))
		}
	}
	return nc, nx, body, gives(c, body, nc)
}
