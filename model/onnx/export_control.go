package onnx

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// relaxed returns values of which only the types and the numbers of axes are stated.
func relaxed(list []*graph.Value) []*graph.Value {
	g := graph.New("types")
	out := make([]*graph.Value, len(list))
	for i, v := range list {
		out[i] = g.Param(tensor.NewSpec(v.DType(), v.Shape().Relaxed()))
	}
	return out
}

// switched writes a choice among graphs as a chain of If nodes.
func switched(e *node) []string { return e.choice(0, e.Regions(), e.list(1)) }

func (e *node) choice(i int, regions []*graph.Graph, in []string) []string {
	if len(regions) == 1 {
		return e.inlined(regions[0], in)
	}
	here := e.cast(e.in(0), dtype.Int64)
	is := e.do("Equal", []string{here, e.w.constant(tensor.Scalar(int64(i)))})
	branch := func(name string, write func(e *node) []string) attr {
		return withGraph(name, e.graphMessage(name, nil, func(b *block, _ []string) ([]string, []*graph.Value) {
			return write(e.inside(b)), relaxed(e.Outs)
		}))
	}
	then := branch("then_branch", func(e *node) []string { return e.inlined(regions[0], in) })
	otherwise := branch("else_branch", func(e *node) []string { return e.choice(i+1, regions[1:], in) })
	return e.put(len(e.Outs), "If", []string{is}, then, otherwise)
}

// inside returns the node for writing into another block. The values that it uses have been
// written before.
func (e *node) inside(b *block) *node {
	s := *e.section
	s.block = b
	inner := *e
	inner.section = &s
	return &inner
}

// whiled writes a loop. Its body computes, at the end, whether to continue.
func whiled(e *node) []string {
	all, n := e.list(0), e.c.Int(1)
	cond, body := e.Regions()[0], e.Regions()[1]
	vars, captures := all[:n], all[n:]
	first := e.inlined(cond, all)[0]
	scalars := graph.New("types")
	turn, going := scalars.Param(tensor.NewSpec(dtype.Int64, shape.Of())), scalars.Param(tensor.NewSpec(dtype.Bool, shape.Of()))
	like := relaxed(body.Params[:n])
	g := e.graphMessage("body", append([]*graph.Value{turn, going}, like...), func(b *block, in []string) ([]string, []*graph.Value) {
		inner := e.inside(b)
		next := inner.inlined(body, append(in[2:len(in):len(in)], captures...))
		again := inner.inlined(cond, append(next[:n:n], captures...))
		return append(again[:1:1], next...), append([]*graph.Value{going}, like...)
	})
	return e.put(n, "Loop", append([]string{"", first}, vars...), withGraph("body", g))
}

// scanned writes a scan or, if there is nothing to scan, a loop with a fixed number of
// iterations.
func scanned(e *node) []string {
	if e.c.Args[6] != nil {
		refuse(tenon.ErrUnsupported, "ONNX's Scan does not support ragged rows")
	}
	all, nc, nx := e.list(0), e.c.Int(1), e.c.Int(2)
	body, reverse := e.Regions()[0], e.c.Bool(4)
	captures := all[nc+nx:]
	ys := len(body.Outputs) - nc
	carried, results := relaxed(body.Params[:nc]), relaxed(body.Outputs)
	if nx > 0 {
		g := e.graphMessage("body", append(carried, relaxed(body.Params[nc:nc+nx])...), func(b *block, in []string) ([]string, []*graph.Value) {
			return e.inside(b).inlined(body, append(in[:len(in):len(in)], captures...)), results
		})
		attrs := []attr{withGraph("body", g), withInt("num_scan_inputs", nx)}
		if reverse {
			attrs = append(attrs, withInts("scan_input_directions", ones(nx)), withInts("scan_output_directions", ones(ys)))
		}
		return e.put(nc+ys, "Scan", all[:nc+nx], attrs...)
	}
	if reverse && ys > 0 {
		refuse(tenon.ErrUnsupported, "ONNX's Loop does not stack results in reverse")
	}
	scalars := graph.New("types")
	turn, going := scalars.Param(tensor.NewSpec(dtype.Int64, shape.Of())), scalars.Param(tensor.NewSpec(dtype.Bool, shape.Of()))
	g := e.graphMessage("body", append([]*graph.Value{turn, going}, carried...), func(b *block, in []string) ([]string, []*graph.Value) {
		out := e.inside(b).inlined(body, append(in[2:len(in):len(in)], captures...))
		return append([]string{in[1]}, out...), append([]*graph.Value{going}, results...)
	})
	return e.put(nc+ys, "Loop", append([]string{e.int64s(5), ""}, all[:nc]...), withGraph("body", g))
}

// inlinedCall writes the body of a region in place of its call.
func inlinedCall(e *node) []string { return e.inlined(e.Regions()[0], e.list(0)) }
