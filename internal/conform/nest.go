package main

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	cases.Handle(map[string]cases.Func{
		"nest.flatten": func(c *cases.Case) (any, error) { return nest.Flatten(c.Arg(0), nestOptions(c)) },
		"nest.flatten_with_paths": func(c *cases.Case) (any, error) {
			paths, leaves, err := nest.FlattenWithPaths(c.Arg(0), nestOptions(c))
			out := make([]any, len(leaves))
			for i := range out {
				out[i] = cases.Dict{"path": []any(paths[i]), "value": leaves[i]}
			}
			return out, err
		},
		"nest.flatten_up_to": func(c *cases.Case) (any, error) {
			return nest.FlattenUpTo(c.Arg(0), c.Arg(1), nestOptions(c))
		},
		"nest.pack_sequence_as": func(c *cases.Case) (any, error) {
			return nest.Pack(c.Arg(0), cases.List[any](c.Arg(1)), nestOptions(c))
		},
		"nest.map_structure": func(c *cases.Case) (any, error) {
			return nest.Map(nestFunc(c.AttrStr("fn", "")), nestOptions(c), c.Arg(0), c.Args[1:]...)
		},
		"nest.assert_same_structure": func(c *cases.Case) (any, error) {
			return true, nest.Same(c.Arg(0), c.Arg(1), nestOptions(c))
		},
	})
}

func nestOptions(c *cases.Case) nest.Options {
	return nest.Options{Expand: c.AttrBool("expand_composites", false), AnyTypes: !c.AttrBool("check_types", true)}
}

// nestFunc returns the function of leaves that a case names.
func nestFunc(name string) func([]any) (any, error) {
	f := map[string]func(x, y float64) float64{
		"add_one": func(x, _ float64) float64 { return x + 1 },
		"double":  func(x, _ float64) float64 { return 2 * x },
		"negate":  func(x, _ float64) float64 { return -x },
		"add":     func(x, y float64) float64 { return x + y },
	}[name]
	return func(leaves []any) (any, error) {
		x := cases.As[*tensor.Dense](leaves[0])
		y := cases.As[*tensor.Dense](leaves[len(leaves)-1])
		switch x.DType() {
		case dtype.Int32:
			return combine[int32](x, y, f), nil
		case dtype.Int64:
			return combine[int64](x, y, f), nil
		}
		return combine[float32](x, y, f), nil
	}
}

func combine[T int32 | int64 | float32](x, y *tensor.Dense, f func(x, y float64) float64) *tensor.Dense {
	out, elems := tensor.Make[T](x.Shape())
	for i, a := range tensor.Data[T](x) {
		elems[i] = T(f(float64(a), float64(tensor.Data[T](y)[i])))
	}
	return out
}
