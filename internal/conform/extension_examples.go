package main

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/examples/exttypes/alignment"
	"github.com/tenonml/tenon/examples/exttypes/csr"
	"github.com/tenonml/tenon/examples/exttypes/digraph"
	"github.com/tenonml/tenon/examples/exttypes/dist"
	"github.com/tenonml/tenon/examples/exttypes/labeled"
	"github.com/tenonml/tenon/examples/exttypes/maskedtensor"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// The operations of the example types run on the packages of examples/exttypes: a
// value of a declared type becomes one of theirs, and the result a value of a
// declared type again.

// fieldOf returns a field of a declared value.
func fieldOf[T any](r *ext.Record, name string) T {
	return cases.As[T](tenon.Must(r.Field(name)))
}

func record(c *cases.Case, i int) *ext.Record { return cases.As[*ext.Record](c.Arg(i)) }

// declaredAs makes a value of a declared type of fields.
func declaredAs(c *cases.Case, name string, fields map[string]any) (any, error) {
	t, _, err := extType(c, name)
	if err != nil {
		return nil, err
	}
	return t.New(fields)
}

// maskedArg returns an argument that is masked, or any other value as it is.
func maskedArg(c *cases.Case, i int) any {
	r, ok := c.Arg(i).(*ext.Record)
	if !ok {
		return c.Arg(i)
	}
	return tenon.Must(ext.New(maskedtensor.MaskedTensor{Values: fieldOf[tensor.Tensor](r, "values"), Mask: fieldOf[tensor.Tensor](r, "mask")}))
}

func maskedResult(c *cases.Case, v tenon.Value) (any, error) {
	m := cases.As[maskedtensor.MaskedTensor](v)
	return declaredAs(c, "MaskedTensor", map[string]any{"values": m.Values, "mask": m.Mask})
}

// maskedCall applies the operation that a case names to its arguments.
func maskedCall(c *cases.Case) (any, error) {
	name := c.AttrStr("op", "")
	o, ok := op.Lookup(name)
	if !ok {
		return nil, tenon.NewError(tenon.ErrNotFound, "extension", "there is no operation "+name)
	}
	args := make([]any, len(c.Args))
	for i := range args {
		args[i] = maskedArg(c, i)
	}
	out, err := op.Do(o, args...)
	if err != nil {
		return nil, err
	}
	return maskedResult(c, out[0])
}

func csrArg(c *cases.Case, i int) csr.Matrix {
	r := record(c, i)
	return tenon.Must(ext.New(csr.Matrix{Values: fieldOf[tensor.Tensor](r, "values"), Columns: fieldOf[tensor.Tensor](r, "columns"),
		RowSplits: fieldOf[tensor.Tensor](r, "row_splits"), NumColumns: fieldOf[int](r, "num_columns")}))
}

func labeledArg(c *cases.Case, i int) labeled.Tensor {
	r := record(c, i)
	return tenon.Must(ext.New(labeled.Tensor{Values: fieldOf[tensor.Tensor](r, "values"), Axes: fieldOf[[]string](r, "axes")}))
}

func labeledResult(c *cases.Case, v tenon.Value) (any, error) {
	t := cases.As[labeled.Tensor](v)
	axes := make([]any, len(t.Axes))
	for i, a := range t.Axes {
		axes[i] = a
	}
	return declaredAs(c, "LabeledTensor", map[string]any{"values": t.Values, "axes": axes})
}

func digraphArg(c *cases.Case) digraph.TensorDigraph {
	r := record(c, 0)
	return tenon.Must(ext.New(digraph.TensorDigraph{Nodes: fieldOf[tensor.Tensor](r, "nodes"), Source: fieldOf[tensor.Tensor](r, "source"), Target: fieldOf[tensor.Tensor](r, "target")}))
}

func alignmentArg(c *cases.Case) alignment.DimensionAlignment {
	r := record(c, 0)
	return tenon.Must(ext.New(alignment.DimensionAlignment{From: fieldOf[string](r, "from_dim"), To: fieldOf[string](r, "to_dim"), Alignment: fieldOf[*ragged.Tensor](r, "alignment")}))
}

func normalArg(c *cases.Case, i int) dist.Normal {
	r := record(c, i)
	return tenon.Must(ext.New(dist.Normal{Loc: fieldOf[tensor.Tensor](r, "loc"), Scale: fieldOf[tensor.Tensor](r, "scale")}))
}

func init() {
	cases.Handle(map[string]cases.Func{
		"extension.masked_unary":  maskedCall,
		"extension.masked_binary": maskedCall,
		"extension.masked_reduce_sum": func(c *cases.Case) (any, error) {
			sum := ops.Sum
			if c.AttrBool("keepdims", false) {
				sum = ops.SumKeep
			}
			return maskedResult(c, sum(maskedArg(c, 0), c.AttrInts("axis")...))
		},
		"extension.masked_shape": func(c *cases.Case) (any, error) { return ops.Shape(maskedArg(c, 0)), nil },
		"extension.masked_tile": func(c *cases.Case) (any, error) {
			return maskedResult(c, ops.Tile(maskedArg(c, 0), c.AttrInts("multiples")))
		},
		"extension.csr_to_dense": func(c *cases.Case) (any, error) { return csrArg(c, 0).ToDense() },
		"extension.csr_from_dense": func(c *cases.Case) (any, error) {
			m, err := csr.FromDense(c.Tensor(0))
			if err != nil {
				return nil, err
			}
			return declaredAs(c, "CSRSparseTensor", map[string]any{"values": m.Values, "columns": m.Columns, "row_splits": m.RowSplits, "num_columns": m.NumColumns})
		},
		"extension.csr_matvec":  func(c *cases.Case) (any, error) { return ops.MatVec(csrArg(c, 0), c.Tensor(1)), nil },
		"extension.csr_matmul":  func(c *cases.Case) (any, error) { return ops.MatMul(csrArg(c, 0), c.Tensor(1)), nil },
		"extension.labeled_add": func(c *cases.Case) (any, error) { return labeledResult(c, ops.Add(labeledArg(c, 0), labeledArg(c, 1))) },
		"extension.labeled_reduce_sum": func(c *cases.Case) (any, error) {
			return labeledResult(c, labeled.Sum(labeledArg(c, 0), c.AttrStr("axis", "")))
		},
		"extension.digraph_in_degree": func(c *cases.Case) (any, error) { return digraphArg(c).InDegree(), nil },
		"extension.digraph_sum_messages": func(c *cases.Case) (any, error) {
			g := digraphArg(c).SumMessages()
			return declaredAs(c, "TensorDigraph", map[string]any{"nodes": g.Nodes, "source": g.Source, "target": g.Target})
		},
		"extension.labeled_digraph_weighted_sum": func(c *cases.Case) (any, error) {
			r := record(c, 0)
			g := tenon.Must(ext.New(digraph.LabeledDigraph{
				NodeLabels: fieldOf[map[string]tensor.Tensor](r, "node_labels"), EdgeLabels: fieldOf[map[string]tensor.Tensor](r, "edge_labels"),
				Source: fieldOf[tensor.Tensor](r, "source"), Target: fieldOf[tensor.Tensor](r, "target"),
			}))
			return g.WeightedSum(c.AttrStr("node", ""), c.AttrStr("edge", "")), nil
		},
		"extension.alignment_gather": func(c *cases.Case) (any, error) { return alignmentArg(c).Broadcast(c.Tensor(1)), nil },
		"extension.alignment_invert": func(c *cases.Case) (any, error) {
			a := alignmentArg(c).Invert(c.Int(1))
			return declaredAs(c, "DimensionAlignment", map[string]any{"from_dim": a.From, "to_dim": a.To, "alignment": a.Alignment})
		},
		"extension.normal_log_prob": func(c *cases.Case) (any, error) { return normalArg(c, 0).LogProb(c.Tensor(1)), nil },
		"extension.normal_cdf":      func(c *cases.Case) (any, error) { return normalArg(c, 0).CDF(c.Tensor(1)), nil },
		"extension.normal_entropy":  func(c *cases.Case) (any, error) { return normalArg(c, 0).Entropy(), nil },
		"extension.normal_kl":       func(c *cases.Case) (any, error) { return normalArg(c, 0).KL(normalArg(c, 1)), nil },
	})
}
