package main

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/protoio"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	cases.Handle(map[string]cases.Func{
		"example.parse": func(c *cases.Case) (any, error) {
			return results(protoio.ParseExamples(cases.List[[]byte](c.Arg(0)), features(c, "features"), protoio.ParseOptions{}))
		},
		"example.parse_single": func(c *cases.Case) (any, error) {
			return results(protoio.ParseExample(cases.As[[]byte](c.Arg(0)), features(c, "features"), protoio.ParseOptions{}))
		},
		"example.parse_single_sequence": func(c *cases.Case) (any, error) {
			context, lists, err := protoio.ParseSequenceExample(cases.As[[]byte](c.Arg(0)), features(c, "context"), features(c, "sequence"), protoio.ParseOptions{})
			if err != nil {
				return nil, err
			}
			return []any{dict(context), dict(lists)}, nil
		},
	})
}

func results(m map[string]tensor.Tensor, err error) (any, error) { return dict(m), err }

func dict(m map[string]tensor.Tensor) cases.Dict {
	d := cases.Dict{}
	for k, v := range m {
		d[k] = v
	}
	return d
}

// features reads the description of features in an attribute.
func features(c *cases.Case, attr string) protoio.Features {
	fs := protoio.Features{}
	for name, x := range cases.As[map[string]any](c.Attrs[attr]) {
		fs[name] = feature(cases.As[map[string]any](x))
	}
	return fs
}

func feature(m map[string]any) protoio.Feature {
	d := cases.DType(m["dtype"])
	switch kind := cases.As[string](m["kind"]); kind {
	case "fixed":
		return protoio.Fixed{DType: d, Shape: cases.Shape(m["shape"]), Default: defaults(m, d)}
	case "fixed_sequence":
		return protoio.Sequence{DType: d, Shape: cases.Shape(m["shape"]), Default: defaults(m, d)}
	case "varlen":
		return protoio.VarLen{DType: d}
	default:
		f := protoio.Ragged{DType: d}
		f.Key, _ = m["value_key"].(string)
		if l, ok := m["partitions"].([]any); ok {
			for _, p := range cases.List[map[string]any](l) {
				f.Partitions = append(f.Partitions, featurePartition(p))
			}
		}
		return f
	}
}

// defaults returns the default elements of a feature, whose numbers take its type.
func defaults(m map[string]any, d dtype.DType) any {
	x, ok := m["default"]
	if !ok || x == nil {
		return nil
	}
	if t, ok := x.(tenon.Value); ok {
		return t
	}
	return tenon.Must(tensor.Const(x, tensor.Options{DType: d}))
}

func featurePartition(m map[string]any) protoio.Partition {
	p := protoio.Partition{}
	for k, v := range m {
		switch k {
		case "row_splits":
			p.RowSplits = cases.As[string](v)
		case "row_lengths":
			p.RowLengths = cases.As[string](v)
		case "row_starts":
			p.RowStarts = cases.As[string](v)
		case "row_limits":
			p.RowLimits = cases.As[string](v)
		case "value_rowids":
			p.ValueRowIDs = cases.As[string](v)
		case "uniform_row_length":
			p.UniformLength = cases.As[int](v)
		}
	}
	return p
}
