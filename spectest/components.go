package spectest

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// stranger returns a value of a type that occurs in no other test.
func stranger() tenon.Value {
	v, err := tenon.NewOpaque("spectest.Stranger", tenon.Nil{}, nil).Assemble(nil)
	tenon.Throw(err)
	return v
}

// components checks that a value can be taken apart and put together again, and
// that wrong components are rejected.
func (c *checker) components(v tenon.Value, s tenon.Spec) {
	fields := s.Components()
	for i, f := range fields {
		if f.Name == "" || f.Spec == nil {
			c.broken("components", "component %d has the name %q and the Spec %s", i, f.Name, tenon.String(f.Spec))
			return
		}
		if slices.ContainsFunc(fields[:i], func(g tenon.Field) bool { return g.Name == f.Name }) {
			c.broken("components", "two are called %q", f.Name)
		}
	}
	for what, x := range map[string]tenon.Value{"a value of another type": stranger(), "nil": nil} {
		_, err := s.Disassemble(x)
		c.refused("disassemble", what, err)
	}
	parts, err := s.Disassemble(v)
	if err != nil {
		c.broken("disassemble", "%v", err)
		return
	}
	if len(parts) != len(fields) {
		c.broken("disassemble", "there are %d components, the Spec names %d", len(parts), len(fields))
		return
	}
	for i, p := range parts {
		switch {
		case p == nil:
			c.broken("disassemble", "component %q is nil", fields[i].Name)
			return
		case !tenon.Belongs(p, fields[i].Spec):
			c.broken("disassemble", "component %q is %s, the Spec says %s", fields[i].Name, tenon.String(p.Spec()), tenon.String(fields[i].Spec))
		}
	}
	if tenon.IsLeaf(s) {
		if len(fields) > 0 {
			c.broken("components", "a leaf has %d", len(fields))
		}
		_, err := s.Assemble(nil)
		c.refused("assemble", "a leaf of nothing", err)
		return
	}
	c.assemble(v, s, parts)
	c.refuses(s, parts)
}

func (c *checker) assemble(v tenon.Value, s tenon.Spec, parts []tenon.Value) {
	given := slices.Clone(parts)
	back, err := s.Assemble(given)
	if err != nil {
		c.broken("assemble", "%v", err)
		return
	}
	clear(given) // the caller may reuse its slice
	if !sameValue(back, v) {
		c.broken("assemble", "the assembled value is %v", back)
	}
	if !tenon.Equal(back.Spec(), s) {
		c.broken("assemble", "the Spec comes back as %s", tenon.Text(back.Spec()))
	}
	again, err := s.Disassemble(back)
	if err != nil || len(again) != len(parts) {
		c.broken("assemble", "the assembled value is disassembled to %v, %v", again, err)
		return
	}
	again2, err := s.Disassemble(v)
	if err != nil {
		return
	}
	clear(again2)
	if third, err := s.Disassemble(v); err != nil || slices.Contains(third, nil) {
		c.broken("disassemble", "the slice that it returns is the value's own")
	}
}

// refuses checks that Assemble rejects components that are too few, too many or
// of the wrong kind.
func (c *checker) refuses(s tenon.Spec, parts []tenon.Value) {
	try := func(what string, parts []tenon.Value) {
		c.runs("assemble", func() {
			_, err := s.Assemble(parts)
			c.refused("assemble", what, err)
		})
	}
	try("one more component", append(slices.Clone(parts), tensor.Scalar(1)))
	try("nil after the components", append(slices.Clone(parts), nil))
	if len(parts) > 0 {
		try("one component less", parts[:len(parts)-1])
		try("no component", nil)
	}
	for i, f := range s.Components() {
		for what, x := range map[string]tenon.Value{
			"nil": nil, "a value of another type": stranger(), "another element type": other(f.Spec), "another rank": deeper(parts[i]),
		} {
			if x != nil && tenon.Compatible(f.Spec, x.Spec()) || x == nil && what != "nil" {
				continue
			}
			bad := slices.Clone(parts)
			bad[i] = x
			try("for component "+f.Name+" "+what, bad)
		}
	}
}

// other returns a tensor whose element type differs from that of s.
func other(s tenon.Spec) tenon.Value {
	t, ok := s.(*tensor.Spec)
	if !ok {
		return nil
	}
	d := dtype.Complex64
	if t.DType() == d {
		d = dtype.Bool
	}
	sh := make([]int, max(0, t.Shape().Rank()))
	for i := range sh {
		sh[i] = max(0, t.Shape().Dim(i))
	}
	return tensor.NewDense(d, shape.Of(sh...))
}

// deeper returns a tensor like v with one more axis.
func deeper(v tenon.Value) tenon.Value {
	d, ok := v.(*tensor.Dense)
	if !ok {
		return nil
	}
	return tensor.Contiguous(d).Reshaped(d.Shape().Insert(0, 1))
}

// nest checks that package nest takes the value apart and puts it together.
func (c *checker) nest(v tenon.Value) {
	paths, leaves, err := nest.FlattenWithPaths(v, nest.Options{Expand: true})
	if err != nil {
		c.broken("nest", "%v", err)
		return
	}
	seen := map[string]bool{}
	for i, l := range leaves {
		if x, ok := l.(tenon.Value); !ok || !tenon.IsLeaf(x.Spec()) {
			c.broken("nest", "%v is a %T, not a leaf", paths[i], l)
		}
		if p := paths[i].String(); seen[p] {
			c.broken("nest", "two leaves have the path %s", p)
		} else {
			seen[p] = true
		}
	}
	back, err := nest.Pack(v, leaves, nest.Options{Expand: true})
	if err != nil || !sameValue(back, v) {
		c.broken("nest", "packed again it is %v, %v", back, err)
	}
	specs, err := nest.Flatten(v.Spec(), nest.Options{Expand: true})
	if err != nil || len(specs) != len(leaves) {
		c.broken("nest", "the Spec has %d leaves, the value %d (%v)", len(specs), len(leaves), err)
	}
}
