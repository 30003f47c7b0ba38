package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	get := func(f func(t *structured.Tensor, c *cases.Case) any) cases.Func {
		return func(c *cases.Case) (any, error) {
			return tenon.Try(func() any { return f(structArg(c, 0), c) })
		}
	}
	cases.Handle(map[string]cases.Func{
		"structured.from_fields": func(c *cases.Case) (any, error) {
			fields, err := fieldsArg(c)
			if err != nil {
				return nil, err
			}
			o := structured.Options{NRows: c.Attrs["nrows"], RowPartitions: partitionArgs(c.Attrs["row_partitions"]), Identifiers: true}
			s, given := c.Attrs["shape"]
			if !given {
				s = []any{}
			}
			return structured.FromFields(fields, cases.Shape(s), o)
		},
		"structured.from_fields_and_rank": func(c *cases.Case) (any, error) {
			fields, err := fieldsArg(c)
			if err != nil {
				return nil, err
			}
			return structured.FromFieldsAndRank(fields, c.Int(1), structured.Options{DType: c.AttrDType("dtype", dtype.None), Identifiers: true})
		},
		"structured.from_shape": func(c *cases.Case) (any, error) {
			s, err := tenon.Try(func() *ragged.Shape { return shapeFromLengths(c, 0) })
			if err != nil {
				return nil, err
			}
			return structured.FromShape(s)
		},
		"structured.field_names": get(func(t *structured.Tensor, _ *cases.Case) any {
			return slices.Sorted(slices.Values(t.FieldNames()))
		}),
		"structured.field_value": func(c *cases.Case) (any, error) { return structArg(c, 0).Field(namesArg(c.Arg(1))...) },
		"structured.to_pyval":    func(c *cases.Case) (any, error) { return structArg(c, 0).ToNested() },
		"structured.round_trip": func(c *cases.Case) (any, error) {
			t, err := structured.FromNested(cases.As[cases.JSON](c.Arg(0)).Value, structured.NestedOptions{Int: dtype.Int32, Float: dtype.Float32, Identifiers: true})
			if err != nil {
				return nil, err
			}
			return cases.As[*structured.Tensor](t).ToNested()
		},
		"structured.nrows": get(func(t *structured.Tensor, _ *cases.Case) any { return orNil(t.NRows()) }),
		"structured.row_partitions": get(func(t *structured.Tensor, _ *cases.Case) any {
			return t.RowPartitions()
		}),
		"structured.static_shape": get(func(t *structured.Tensor, _ *cases.Case) any {
			dims := []any{}
			for _, n := range t.Shape().Dims() {
				if n < 0 {
					dims = append(dims, nil)
				} else {
					dims = append(dims, n)
				}
			}
			return dims
		}),
		"structured.equal":   get(func(t *structured.Tensor, c *cases.Case) any { return t.Equal(structArg(c, 1)) }),
		"structured.getitem": structItem,
		"structured.partition_outer_dimension": func(c *cases.Case) (any, error) {
			p, ok := c.Arg(1).(*ragged.RowPartition)
			if !ok {
				return nil, tenon.NewError(tenon.ErrDType, "structured.PartitionOuterDimension", "the argument is not a row partition")
			}
			return structArg(c, 0).PartitionOuterDimension(p)
		},
		"structured.merge_dims": func(c *cases.Case) (any, error) { return structArg(c, 0).MergeDims(c.Int(1), c.Int(2)) },
		"structured.promote": func(c *cases.Case) (any, error) {
			name, ok := c.Arg(2).(string)
			if !ok || !plainName(name) {
				return nil, tenon.NewError(tenon.ErrInvalid, "structured.Promote", "the new name is not an identifier")
			}
			return structArg(c, 0).Promote(namesArg(c.Arg(1)), name)
		},
		"structured.with_updates":     withUpdates,
		"structured.with_shape_dtype": func(c *cases.Case) (any, error) { return structArg(c, 0).WithShapeDType(cases.DType(c.Arg(1))) },
	})
}

func fieldsArg(c *cases.Case) ([]structured.Field, error) {
	d, ok := c.Arg(0).(cases.Dict)
	if !ok {
		return nil, tenon.NewError(tenon.ErrDType, "structured.FromFields", "the fields are not a mapping")
	}
	var fields []structured.Field
	for _, name := range slices.Sorted(maps.Keys(d)) {
		v, err := tensor.Convert(d[name])
		if err != nil {
			return nil, err
		}
		fields = append(fields, structured.Field{Name: name, Value: v})
	}
	return fields, nil
}

// plainName reports whether a name is one that the cases' reference allows.
func plainName(name string) bool {
	_, err := structured.FromFields([]structured.Field{{Name: name, Value: tensor.Scalar(false)}}, ops.Cast(0, dtype.Int64).Shape(), structured.Options{Identifiers: true})
	return err == nil
}

func structItem(c *cases.Case) (any, error) {
	var keys []any
	for _, x := range cases.List[any](c.Arg(1)) {
		switch x := x.(type) {
		case string:
			keys = append(keys, key.Ellipsis)
		case map[string]any:
			switch {
			case x["newaxis"] != nil:
				keys = append(keys, key.NewAxis)
			case x["field"] != nil:
				keys = append(keys, key.Field(cases.As[string](x["field"])))
			default:
				b := cases.List[any](x["slice"])
				keys = append(keys, key.Range(b[0], b[1], b[2]))
			}
		default:
			keys = append(keys, x)
		}
	}
	return structArg(c, 0).Index(keys...)
}

// updateFuncs are the functions of a field's old value that cases name.
var updateFuncs = map[string]func(x tensor.Tensor) tensor.Tensor{
	"add_one":        func(x tensor.Tensor) tensor.Tensor { return ops.Add(x, 1) },
	"double":         func(x tensor.Tensor) tensor.Tensor { return ops.Mul(x, 2) },
	"negate":         func(x tensor.Tensor) tensor.Tensor { return ops.Neg(x) },
	"identity":       func(x tensor.Tensor) tensor.Tensor { return x },
	"sum_last":       func(x tensor.Tensor) tensor.Tensor { return ops.Sum(x, -1) },
	"upper":          upper,
	"expand_last":    func(x tensor.Tensor) tensor.Tensor { return ops.ExpandDims(x, -1) },
	"drop_first_row": func(x tensor.Tensor) tensor.Tensor { return ops.Index(x, key.From(1)) },
	"keep_first_field": func(x tensor.Tensor) tensor.Tensor {
		s := cases.As[*structured.Tensor](x)
		var drop []structured.Update
		for _, name := range slices.Sorted(slices.Values(s.FieldNames()))[1:] {
			drop = append(drop, structured.Update{Path: []string{name}})
		}
		return tenon.Must(s.WithUpdates(drop))
	},
}

// structFilled answers with zeros or ones in the records' dimensions, of a type that a
// case may name.
func structFilled(c *cases.Case, f func(x any) tensor.Tensor) (any, error) {
	if !c.Has("dtype") {
		return f(c.Tensor(0)), nil
	}
	s, err := structArg(c, 0).DynamicShape()
	if err != nil {
		return nil, err
	}
	return ragged.Fill(s, f(ops.Zeros(c.AttrDType("dtype", dtype.None), []int{})))
}

// upper returns strings with their ASCII letters in capitals.
func upper(x tensor.Tensor) tensor.Tensor {
	if r, ok := x.(*ragged.Tensor); ok {
		return tenon.Must(r.WithFlatValues(upper(r.FlatValues())))
	}
	in := tensor.Data[string](x)
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' {
				return r - 'a' + 'A'
			}
			return r
		}, s)
	}
	return ops.Reshape(tensor.Of(out), x.Shape().Dims())
}

func withUpdates(c *cases.Case) (any, error) {
	var updates []structured.Update
	for _, x := range cases.List[any](c.Arg(1)) {
		pair := cases.List[any](x)
		u := structured.Update{Path: namesArg(pair[0])}
		switch v := pair[1].(type) {
		case tensor.Tensor:
			u.Value = v
			if n := len(u.Path); n > 0 && !plainName(u.Path[n-1]) {
				return nil, tenon.NewError(tenon.ErrInvalid, "structured.WithUpdates", "a new name is not an identifier")
			}
		case map[string]any:
			f := updateFuncs[cases.As[string](v["fn"])]
			u.Func = func(x tensor.Tensor) (tensor.Tensor, error) { return tenon.Try(func() tensor.Tensor { return f(x) }) }
		}
		updates = append(updates, u)
	}
	return structArg(c, 0).WithUpdates(updates)
}

func init() {
	cases.Handle(map[string]cases.Func{
		"structured.concat": func(c *cases.Case) (any, error) {
			return tenon.Try(func() any { return ops.Concat(c.Tensors(0), c.Int(1)) })
		},
		"structured.expand_dims": func(c *cases.Case) (any, error) {
			return tenon.Try(func() any { return ops.ExpandDims(c.Tensor(0), c.Int(1)) })
		},
		"structured.gather": func(c *cases.Case) (any, error) {
			batch := c.AttrInt("batch_dims", 0)
			o, _ := op.Lookup("gather")
			call, err := op.Bind(o, []any{c.Tensor(0), c.Tensor(1)}, map[string]any{"axis": c.AttrInt("axis", batch), "batch_dims": batch})
			if err != nil {
				return nil, err
			}
			return op.Eval(o, call.Args...), nil
		},
		"structured.rank": func(c *cases.Case) (any, error) { return ops.Cast(structArg(c, 0).Rank(), dtype.Int32), nil },
		"structured.size": func(c *cases.Case) (any, error) {
			s, err := structArg(c, 0).DynamicShape()
			if err != nil {
				return nil, err
			}
			return ops.Cast(s.Size(), c.AttrDType("out_type", dtype.Int32)), nil
		},
		"structured.shape": func(c *cases.Case) (any, error) {
			s, err := structArg(c, 0).DynamicShape()
			if err != nil {
				return nil, err
			}
			if s, err = s.WithDType(c.AttrDType("out_type", dtype.Int32)); err != nil {
				return nil, err
			}
			return shapeDict(s), nil
		},
		"structured.zeros_like": func(c *cases.Case) (any, error) {
			return structFilled(c, ops.ZerosLike)
		},
		"structured.ones_like": func(c *cases.Case) (any, error) {
			return structFilled(c, ops.OnesLike)
		},
		"structured.from_pyval": func(c *cases.Case) (any, error) {
			if c.Has("typespec") {
				return structured.FromNested(cases.As[cases.JSON](c.Arg(0)).Value,
					structured.NestedOptions{Identifiers: true, Spec: cases.As[tenon.Spec](c.Attrs["typespec"])})
			}
			return structured.FromNested(cases.As[cases.JSON](c.Arg(0)).Value,
				structured.NestedOptions{Int: dtype.Int32, Float: dtype.Float32, Identifiers: true})
		},
		"structured.flatten_fields": func(c *cases.Case) (any, error) {
			var leaves []any
			var walk func(t *structured.Tensor)
			walk = func(t *structured.Tensor) {
				for _, name := range slices.Sorted(slices.Values(t.FieldNames())) {
					v := tenon.Must(t.Field(name))
					if s, ok := v.(*structured.Tensor); ok {
						walk(s)
					} else {
						leaves = append(leaves, v)
					}
				}
			}
			walk(structArg(c, 0))
			return leaves, nil
		},
	})
}
