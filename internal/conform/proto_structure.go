package main

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/protoio"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	cases.Handle(map[string]cases.Func{
		"proto.encode_structure": func(c *cases.Case) (any, error) {
			e, err := encoding(c.Arg(0))
			if err != nil {
				return nil, err
			}
			return protoio.AppendStructure(nil, e, declaredClasses(c))
		},
		"proto.decode_structure": func(c *cases.Case) (any, error) {
			o := declaredClasses(c)
			e, err := protoio.DecodeStructure(cases.As[[]byte](c.Arg(0)), o)
			if err != nil {
				return nil, err
			}
			return structure(e), nil
		},
	})
	cases.HandleKind("bounded_tensor_spec", cases.Kind{
		Decode: func(c *cases.Case, o cases.Object) (any, error) { return boundedSpec(c, o) },
		Compare: func(m *cases.Matcher, want cases.Object, got any) error {
			w, err := boundedSpec(m.Case, want)
			if err != nil {
				return err
			}
			return cases.MatchSpec(w, got)
		},
	})
}

// declaredClasses registers the types that the file of a case declares and gives
// them the names that they have in tensorflow.
func declaredClasses(c *cases.Case) protoio.Options {
	o := protoio.Options{Classes: map[string]string{}}
	for _, t := range c.File.Types {
		s := &declaredSpec{name: t.Name}
		registerDeclared(s)
		o.Classes[s.TypeName()] = t.Name
	}
	return o
}

func boundedSpec(c *cases.Case, o cases.Object) (tenon.Spec, error) {
	s := tensor.NewSpec(cases.DType(o["dtype"]), cases.Shape(o["shape"]))
	if n, ok := o["name"].(string); ok {
		s = s.Named(n)
	}
	var bounds [2]tenon.Array
	for i, k := range []string{"minimum", "maximum"} {
		v, err := c.Decode(o[k])
		if err != nil {
			return nil, err
		}
		d := cases.As[*tensor.Dense](v)
		bounds[i] = tenon.Array{DType: d.DType(), Shape: d.Shape(), Data: string(d.Bytes())}
	}
	return protoio.Bounded(s, bounds[0], bounds[1]), nil
}

// encoding returns a nest of static data, as cases write them, as an Encoding.
func encoding(x any) (tenon.Encoding, error) {
	switch x := x.(type) {
	case cases.JSON:
		return encoding(x.Value)
	case shape.Shape:
		return tenon.Shape{Shape: x}, nil
	case []any:
		l := make(tenon.List, len(x))
		for i := range x {
			var err error
			if l[i], err = encoding(x[i]); err != nil {
				return nil, err
			}
		}
		return l, nil
	case cases.Tuple:
		l, err := encoding([]any(x))
		if err != nil {
			return nil, err
		}
		return tenon.Tuple(l.(tenon.List)), nil
	case cases.Dict:
		m := make(map[string]tenon.Encoding, len(x))
		for k, v := range x {
			var err error
			if m[k], err = encoding(v); err != nil {
				return nil, err
			}
		}
		return tenon.NewDict(m), nil
	case cases.Named:
		n := tenon.NamedTuple{Name: x.Name}
		for i, k := range x.Keys {
			e, err := encoding(x.Items[i])
			if err != nil {
				return nil, err
			}
			n.Fields = append(n.Fields, tenon.Entry{Name: k, Value: e})
		}
		return n, nil
	case *tensor.Dense:
		return tenon.Array{DType: x.DType(), Shape: x.Shape(), Data: string(x.Bytes())}, nil
	}
	e, _, err := encodeAny(x)
	return e, err
}

// structure is the reverse of encoding.
func structure(e tenon.Encoding) any {
	switch e := e.(type) {
	case tenon.Nil:
		return nil
	case tenon.Bool:
		return bool(e)
	case tenon.Int:
		return int(e)
	case tenon.Float:
		return float64(e)
	case tenon.Str:
		return string(e)
	case tenon.Shape:
		return e.Shape
	case tenon.DType:
		return e.DType
	case tenon.SpecOf:
		return e.Spec
	case tenon.List:
		return structures(e)
	case tenon.Tuple:
		return cases.Tuple(structures(e))
	case tenon.Dict:
		d := cases.Dict{}
		for _, x := range e {
			d[x.Name] = structure(x.Value)
		}
		return d
	case tenon.NamedTuple:
		n := cases.Named{Name: e.Name}
		for _, x := range e.Fields {
			n.Keys, n.Items = append(n.Keys, x.Name), append(n.Items, structure(x.Value))
		}
		return n
	case tenon.Array:
		return arrayTensor(e)
	}
	return fmt.Errorf("a %T in a structure", e)
}

func structures(es []tenon.Encoding) []any {
	out := make([]any, len(es))
	for i, e := range es {
		out[i] = structure(e)
	}
	return out
}

func arrayTensor(a tenon.Array) tensor.Tensor {
	d, err := tensor.FromBytes(a.DType, a.Shape, []byte(a.Data))
	tenon.Throw(err)
	return d
}
