package mesh

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A tracer is one run of a program on the parts of its values.
type tracer struct {
	mesh  *Mesh
	level int
	graph *graph.Graph // the graph into which calls are recorded
	done  bool         // the program has returned
	log   []Collective

	program []string // the calls, in the form that ranks compare

	same   map[*entries]*entries         // entries that have turned out to be the same as others
	counts map[*entries]counted          // where the number of this rank's entries is found
	starts map[*entries][2]tensor.Tensor // of the entries of this rank, and the total number
}

// A variable stands for a whole tensor, of which this rank has a part.
type variable struct {
	*tracer
	spec *tensor.Spec // of the whole
	cuts []cut        // of each axis
	open over         // the whole is the sum over the ranks along these axes of the mesh
	at   cut          // elements are positions along an axis divided in this way, counted from the first one of this rank
	size []sizeOf     // elements are the sizes of axes, which on each rank are those of rows

	local tensor.Tensor                  // the part; nil until it is made
	make  func(cuts []cut) tensor.Tensor // makes a part of a whole tensor, with any cuts

	closed *variable // the sum, once it has been closed
}

var (
	_ op.Recorder      = (*variable)(nil)
	_ op.Constant      = (*variable)(nil)
	_ tensor.Concreter = (*variable)(nil)
)

func (v *variable) Spec() tenon.Spec   { return v.spec }
func (v *variable) DType() dtype.DType { return v.spec.DType() }
func (v *variable) Shape() shape.Shape { return v.spec.Shape() }
func (v *variable) RecordLevel() int   { return v.level }

// String prints "float32[8@data, 64]".
func (v *variable) String() string { return v.mesh.describe(layout{v.spec, v.cuts}, v.open) }

// ConstValue returns the elements of a whole tensor, if they are known.
func (v *variable) ConstValue() (tensor.Tensor, bool) {
	if v.local == nil || v.divided() {
		return nil, false
	}
	return op.Known(v.local)
}

// Concrete returns an error, because no rank has the elements.
func (v *variable) Concrete() (tensor.Tensor, error) {
	if t, ok := v.ConstValue(); ok {
		return t, nil
	}
	e := tenon.NewError(tenon.ErrUnsupported, "tensor.Data", fmt.Sprintf("%v stands for a tensor on all ranks; its elements do not exist while the program is traced", v))
	e.Hint = "to branch or loop on data, use control.Cond or control.While on whole values"
	return nil, e
}

// divided reports whether ranks have different tensors.
func (v *variable) divided() bool {
	return v.open != "" || slices.ContainsFunc(v.cuts, func(c cut) bool { return !c.whole() })
}

// sizeOf is the size of a divided axis.
type sizeOf struct {
	cut cut
	n   int // if it is known
}

// whole returns a variable for a tensor that each rank has.
func (t *tracer) whole(x tensor.Tensor) *variable {
	return &variable{tracer: t, spec: tensor.NewSpec(x.DType(), x.Shape()), cuts: make([]cut, max(0, x.Shape().Rank())), local: x}
}

// of returns the variable that a value of a call is.
func (t *tracer) of(v tenon.Value) *variable {
	if x, ok := v.(*variable); ok && x.tracer == t {
		return x
	}
	return t.whole(v.(tensor.Tensor))
}

// canonical replaces entries that are the same as others by these.
func (v *variable) canonical() *variable {
	for a, k := range v.cuts {
		v.cuts[a] = v.tracer.canonical(k)
	}
	for i, n := range v.size {
		v.size[i].cut = v.tracer.canonical(n.cut)
	}
	v.at = v.tracer.canonical(v.at)
	return v
}

func (t *tracer) canonical(k cut) cut {
	for t.same[k.of] != nil {
		k.of = t.same[k.of]
	}
	for t.same[k.ends] != nil {
		k.ends = t.same[k.ends]
	}
	return k
}

// part returns the part of the tensor with the given cuts, which must be within the part of
// this rank.
func (v *variable) part(cuts []cut) tensor.Tensor {
	if v.local == nil {
		if !slices.ContainsFunc(cuts, func(c cut) bool { return !c.whole() }) {
			v.local = v.make(cuts)
			return v.local
		}
		return v.make(cuts)
	}
	begin, size, same := []int{}, []int{}, true
	for i, c := range cuts {
		if c.of != nil && v.cuts[i].whole() {
			return v.entriesOf(cuts)
		}
		n := v.Shape().Dim(i)
		lo, hi := 0, v.mesh.size(v.cuts[i], n)
		if c != v.cuts[i] {
			lo, hi = v.mesh.share(c)
			same = false
		}
		begin, size = append(begin, lo), append(size, hi-lo)
	}
	if same {
		return v.local
	}
	return ops.Slice(v.local, begin, size)
}

// entriesOf is part for axes of which this rank has the entries of its rows.
func (v *variable) entriesOf(cuts []cut) tensor.Tensor {
	begin, size := make([]tensor.Tensor, len(cuts)), make([]tensor.Tensor, len(cuts))
	rest := slices.Clone(cuts)
	for i, c := range cuts {
		begin[i], size[i] = tensor.Scalar(int64(0)), tensor.Scalar(int64(-1))
		if c.of != nil && v.cuts[i].whole() {
			begin[i], _ = v.before(c)
			size[i] = v.countOf(c)
			rest[i] = cut{}
		}
	}
	return ops.Slice(v.part(rest), ops.Stack(begin, 0), ops.Stack(size, 0))
}

// shapeOf returns the shape of the part of a tensor.
func (m *Mesh) shapeOf(s shape.Shape, cuts []cut) shape.Shape {
	for i, c := range cuts {
		if !c.whole() {
			s = s.With(i, m.size(c, s.Dim(i)))
		}
	}
	return s
}

// symbolic returns a tensor as one of the graph, so that operations of several ranks are recorded even with
// known operands.
func (t *tracer) symbolic(x tensor.Tensor) tensor.Tensor {
	if _, ok := x.(*graph.Value); ok || t.graph == nil {
		return x
	}
	return t.graph.Const(x)
}
