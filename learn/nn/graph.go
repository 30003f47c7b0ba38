package nn

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A Gathering says how a [GraphConv] combines the nodes with edges to a node.
type Gathering string

// How the nodes v with edges to a node are combined.
const (
	MeanOf     Gathering = ""          // their mean (W. Hamilton et al., NeurIPS 2017)
	SumOf      Gathering = "sum"       // their sum (C. Morris et al., AAAI 2019)
	MaxOf      Gathering = "max"       // the maximum of each feature, 0 if there are none
	Normalized Gathering = "symmetric" // Σ v/√(d⁺·d⁻), with the out- and in-degrees, and with an edge from each node to itself (T. Kipf and M. Welling, ICLR 2017)
)

// GraphConv computes new features for each node of a directed graph from its own features and those
// of the nodes with edges to it:
//
//	y = activation(x·Self + gathered(x)·Neighbours + Bias)
type GraphConv struct {
	Self       tensor.Tensor // [in, out]; nil for Normalized, which has edges from nodes to themselves
	Neighbours tensor.Tensor // [in, out]
	Bias       tensor.Tensor // [out], or nil
	Gather     Gathering     `tenon:"static"`
	Activation Activation    `tenon:"static"`
}

// GraphOptions are the options of [NewGraphConv] and [NewGraphAttention]. The zero value is the default.
type GraphOptions struct {
	Gather     Gathering // of a GraphConv
	Activation Activation
	NoBias     bool
	Init       Init // of the kernels; "" stands for GlorotUniform
	DType      dtype.DType
}

// NewGraphConv returns a layer that maps in to out features of nodes.
func NewGraphConv(key tensor.Tensor, in, out int, options ...GraphOptions) GraphConv {
	o := option(options)
	k, d, how := keys(key, 2), floatType(o.DType), orInit(o.Init, GlorotUniform)
	switch o.Gather {
	case MeanOf, SumOf, MaxOf, Normalized:
	default:
		e := tenon.NewError(tenon.ErrNotFound, "nn.NewGraphConv", fmt.Sprintf("there is no gathering %q", string(o.Gather)))
		e.Hint = `there are "", "sum", "max" and "symmetric"`
		tenon.Throw(e)
	}
	l := GraphConv{Neighbours: Initialize(how, k[0], d, in, out), Gather: o.Gather, Activation: o.Activation}
	if o.Gather != Normalized {
		l.Self = Initialize(how, k[1], d, in, out)
	}
	if !o.NoBias {
		l.Bias = ops.Zeros(d, []int{out})
	}
	return l
}

// Apply returns the layer's output. An edge that leads from or to no node is an error. To compute several
// graphs at once, join them into one without edges between them.
//
//	x: [nodes, in], source, target: int64[edges], edge i leads from node source[i] to target[i] → [nodes, out]
func (l GraphConv) Apply(x, source, target tensor.Tensor) tensor.Tensor {
	wantNodes("nn.GraphConv", x)
	n := size(x, 0)
	target = nodesAt(target, n)
	var y tensor.Tensor
	switch l.Gather {
	case Normalized:
		x = multiply(x, l.Neighbours)
		degree := func(ends tensor.Tensor) tensor.Tensor {
			edges := ops.SegmentSum(ops.Cast(ops.OnesLike(ends), x.DType()), ends, n)
			return ops.ExpandDims(ops.Rsqrt(ops.Add(edges, 1.0)), -1)
		}
		out, in := degree(source), degree(target)
		sent := ops.Mul(x, out)
		y = ops.Mul(ops.Add(ops.SegmentSum(ops.Gather(sent, source, 0), target, n), sent), in)
	case MaxOf:
		sent := ops.Gather(x, source, 0)
		some := ops.Greater(ops.SegmentSum(ops.OnesLike(target), target, n), int64(0))
		y = multiply(ops.Where(ops.ExpandDims(some, -1), ops.SegmentMax(sent, target, n), 0.0), l.Neighbours)
	default:
		// Sums may be taken after the multiplication: rows of out features are gathered if they are the shorter
		// ones.
		first := l.Neighbours.Shape().Dim(1) < l.Neighbours.Shape().Dim(0)
		sent := x
		if first {
			sent = multiply(x, l.Neighbours)
		}
		sent = ops.Gather(sent, source, 0)
		if y = ops.SegmentSum(sent, target, n); l.Gather == MeanOf {
			y = ops.Div(y, ops.ExpandDims(ops.Maximum(ops.SegmentSum(ops.Cast(ops.OnesLike(target), x.DType()), target, n), 1.0), -1))
		}
		if !first {
			y = multiply(y, l.Neighbours)
		}
	}
	if l.Self != nil {
		y = ops.Add(y, multiply(x, l.Self))
	}
	return l.Activation.Apply(withBias(y, l.Bias))
}

// GraphAttention computes, for each node, a mean of itself and of the nodes with edges to it, weighted by attention (P.
// Veličković et al., ICLR 2018):
//
//	eᵢⱼ = LeakyRelu(vᵢ·Source + vⱼ·Target),   yⱼ = activation(concat over heads of Σᵢ softmaxᵢ(eᵢⱼ)·vᵢ + Bias),   v = x·Kernel
type GraphAttention struct {
	Kernel         tensor.Tensor // [in, heads·features]
	Source, Target tensor.Tensor // [heads, features]
	Bias           tensor.Tensor // [heads·features], or nil
	Activation     Activation    `tenon:"static"`
}

// NewGraphAttention returns a layer that maps in to out features of nodes; heads must divide
// out.
func NewGraphAttention(key tensor.Tensor, in, out, heads int, options ...GraphOptions) GraphAttention {
	o := option(options)
	if heads < 1 || out%heads != 0 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, "nn.NewGraphAttention", fmt.Sprintf("%d heads do not divide %d features", heads, out)))
	}
	k, d, how := keys(key, 3), floatType(o.DType), orInit(o.Init, GlorotUniform)
	l := GraphAttention{
		Kernel: Initialize(how, k[0], d, in, out), Source: Initialize(how, k[1], d, heads, out/heads),
		Target: Initialize(how, k[2], d, heads, out/heads), Activation: o.Activation,
	}
	if !o.NoBias {
		l.Bias = ops.Zeros(d, []int{out})
	}
	return l
}

// Apply returns the layer's output; see [GraphConv.Apply].
func (l GraphAttention) Apply(x, source, target tensor.Tensor) tensor.Tensor {
	wantNodes("nn.GraphAttention", x)
	n := size(x, 0)
	self := ops.Range(int64(0), n, int64(1))
	from, to := ops.Concat([]any{ops.Cast(source, dtype.Int64), self}, 0), ops.Concat([]any{nodesAt(target, n), self}, 0)
	heads := l.Source.Shape().Dim(0)
	v := withLast(multiply(x, l.Kernel), 1, heads, l.Source.Shape().Dim(1)) // [nodes, heads, features]
	score := func(of tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Mul(v, of), -1) }
	e := ops.LeakyRelu(ops.Add(ops.Gather(score(l.Source), from, 0), ops.Gather(score(l.Target), to, 0)), 0.2)
	greatest := ops.StopGradient(ops.SegmentMax(e, to, n))
	w := ops.Exp(ops.Sub(e, ops.Gather(greatest, to, 0))) // [edges, heads]
	sum := ops.SegmentSum(ops.Mul(ops.Gather(v, from, 0), ops.ExpandDims(w, -1)), to, n)
	y := ops.Div(sum, ops.ExpandDims(ops.SegmentSum(w, to, n), -1))
	return l.Activation.Apply(withBias(withLast(y, 2, heads*l.Source.Shape().Dim(1)), l.Bias))
}

// nodesAt returns the nodes at the ends of edges, and fails if one of them does not exist; a segment sum would ignore an
// edge to node -1.
func nodesAt(ends, n tensor.Tensor) tensor.Tensor {
	return ops.Gather(ops.Range(int64(0), n, int64(1)), ends, 0)
}

// wantNodes fails if nodes is not a matrix.
func wantNodes(fn string, x tensor.Tensor) {
	if s := x.Shape(); s.HasRank() && s.Rank() != 2 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("nodes are %s, want [nodes, features]", tenon.String(x.Spec()))))
	}
}
