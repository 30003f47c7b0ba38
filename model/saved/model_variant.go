package saved

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/tensor"
)

// variant assembles a variant and checks that its parts fit.
func (r *reading) variant(j jsonVariant, g *graph.Graph) (*variant, error) {
	v := &variant{graph: g}
	var err error
	if v.args, err = leavesFromJSON(j.Args); err != nil {
		return nil, inside("arguments", err)
	}
	if v.results, err = leavesFromJSON(j.Results); err != nil {
		return nil, inside("results", err)
	}
	if v.captures, err = r.captured(j.Captures); err != nil {
		return nil, err
	}
	for _, e := range j.Effects {
		x := r.m.named(e.path)
		if x == nil {
			return nil, fmt.Errorf("there is no variable %q to assign to", e.path)
		}
		v.effects = append(v.effects, effect{x, e.add})
	}
	if err := v.check(); err != nil {
		return nil, err
	}
	v.ready()
	v.rest = j.rest
	if err := v.nameSizes(j.Sizes); err != nil {
		return nil, err
	}
	if err := v.setBatch(j.Batch); err != nil {
		return nil, err
	}
	return v, r.warmUps(v, j.WarmUp)
}

// captured finds the variables and constants that a variant captures.
func (r *reading) captured(list []jsonCapture) ([]capture, error) {
	var out []capture
	for _, c := range list {
		x := capture{variable: r.m.named(c.Variable), constant: r.constants[c.Constant]}
		if x.variable == nil && x.constant == nil || c.Variable != "" && c.Constant != "" {
			return nil, fmt.Errorf("there is no variable %q and no constant %q", c.Variable, c.Constant)
		}
		out = append(out, x)
	}
	return out, nil
}

// values reads the Values that are made of variables, and checks that they fit together.
func (r *reading) values(list []jsonHeld) error {
	seen := map[string]bool{}
	for _, x := range list {
		if seen[x.Path] {
			return inside("value "+x.Path, fmt.Errorf("it occurs twice"))
		}
		seen[x.Path] = true
		s, err := specFromJSON(x.Spec)
		if err != nil {
			return inside("value "+x.Path, err)
		}
		parts, err := r.captured(x.Parts)
		if err != nil {
			return inside("value "+x.Path, err)
		}
		r.m.values = append(r.m.values, &held{x.Path, s, parts})
	}
	all, err := r.m.Values()
	if err != nil {
		return err
	}
	for path, v := range all {
		if err := tenon.Check(v); err != nil {
			return inside("value "+path, err)
		}
	}
	return nil
}

// warmUps reads the warm-up inputs of a variant.
func (r *reading) warmUps(v *variant, name string) error {
	if name == "" {
		return nil
	}
	file, err := r.weights(name)
	if err == nil && file == nil {
		err = fmt.Errorf("the manifest does not list the file")
	}
	if err != nil {
		return inside(name, err)
	}
	for n := 0; ; n++ {
		leaves, found := make([]any, len(v.args)), 0
		for i, l := range v.args {
			if leaves[i] = l.Plain; l.Spec == nil {
				continue
			}
			at := warmUpName(n, i)
			if _, err := file.Spec(at); err != nil && found == 0 {
				return nil // there are no more
			}
			x, err := file.Value(at)
			if err != nil {
				return inside(name, err)
			}
			leaves[i] = x
			found++
		}
		if found == 0 {
			return nil
		}
		if err := v.addWarmUp(leaves); err != nil {
			return inside(name, err)
		}
	}
}

// check compares the graph's parameters and outputs with the Specs of the variant.
func (v *variant) check() error {
	params, err := tensorsOf(v.args)
	if err != nil {
		return err
	}
	for _, c := range v.captures {
		s := tenon.Spec(nil)
		if c.variable != nil {
			s = c.variable.v.Spec()
		} else {
			s = c.constant.Spec()
		}
		ts, ok := s.(*tensor.Spec)
		if !ok {
			return fmt.Errorf("a captured %s is not supported", tenon.String(s))
		}
		params = append(params, ts)
	}
	if len(params) != len(v.graph.Params) {
		return fmt.Errorf("the graph has %d parameters, but the arguments have %d tensors", len(v.graph.Params), len(params))
	}
	for i, s := range params {
		if p := v.graph.Params[i].Spec(); !tenon.Compatible(s, p) {
			return fmt.Errorf("parameter %d of the graph is %s, but its argument is %s", i, tenon.String(p), tenon.String(s))
		}
	}
	outs, err := tensorsOf(v.results)
	if err != nil {
		return err
	}
	for _, e := range v.effects {
		outs = append(outs, e.variable.v.Spec().(*tensor.Spec))
	}
	if len(outs) != len(v.graph.Outputs) {
		return fmt.Errorf("the graph has %d outputs, but the results have %d tensors", len(v.graph.Outputs), len(outs))
	}
	for i, s := range outs {
		if o := v.graph.Outputs[i].Spec(); !tenon.Compatible(s, o) {
			return fmt.Errorf("output %d of the graph is %s, but its result is %s", i, tenon.String(o), tenon.String(s))
		}
	}
	return nil
}
