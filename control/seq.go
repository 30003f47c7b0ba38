package control

import (
	"context"
	"fmt"
	"iter"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/backend"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// A Source provides the elements of a loop, which Go code reads while the loop
// runs.
type Source[X any] struct {
	// Like is an example of an element, a nest of Values. All elements have its
	// structure.
	Like X

	// Specs are the Specs that the Values of every element belong to, in the order of package nest.
	// If it is nil, they are the Specs of Like.
	Specs []tenon.Spec

	// Args are passed to Open in their concrete form.
	Args []tensor.Tensor

	// Open returns the elements of a loop. It is called once for each run of the loop, possibly by
	// several goroutines at once if a traced function is. An error ends the loop.
	Open func(ctx context.Context, args []tensor.Tensor) iter.Seq2[X, error]
}

// FoldSeq is [Fold] over elements that are read while the loop runs, so that they need not fit into
// memory together:
//
//	for each element x: carry = body(carry, x)
//
// It returns the last carry, whose Spec stays the same or widens like those of the variables of
// [While]. In a trace the loop is a single operation: the body is traced once, for the Specs of the
// source, and an element that does not belong to them is an error. It throws errors.
//
// That operation has no gradient. The backward pass would need the elements in reverse order and
// the carry before each of them, which a loop over more data than fits into memory does not keep.
// Gradients can be taken in the body; outside of a trace the loop is a Go loop, which a gradient
// unrolls; and [Fold] over elements that fit into memory has a gradient. A graph that contains the
// loop cannot be stored, because the code that reads the elements is part of the program. Store the
// body as a function instead, and run the loop in the program that loads it.
func FoldSeq[C, X any](body func(C, X) C, carry C, s Source[X]) C {
	const fn = "control.FoldSeq"
	if graph.Current() == nil {
		for x, err := range s.Open(context.Background(), s.Args) {
			tenon.Throw(err)
			next := body(carry, x)
			tenon.Throw(keepsTypes(fn, carry, next))
			carry = next
		}
		return carry
	}
	like := tenon.Must(s.common(fn))
	xSpecs := tenon.Must(like.tensorSpecs())
	c := tenon.Must(widen(fn, carry, func(c *common[C], p []tensor.Tensor) (C, error) {
		v, err := c.pack(p)
		if err != nil {
			return v, err
		}
		x, err := like.pack(symbolsLike(p, xSpecs))
		if err != nil {
			return v, err
		}
		return body(v, x), nil
	}))
	cSpecs := tenon.Must(c.tensorSpecs())
	g := tenon.Must(graph.TraceRegion("body", append(append([]*tensor.Spec(nil), cSpecs...), xSpecs...), func(p []tensor.Tensor) ([]tensor.Tensor, error) {
		v, err := c.pack(p[:len(cSpecs)])
		if err != nil {
			return nil, err
		}
		x, err := like.pack(p[len(cSpecs):])
		if err != nil {
			return nil, err
		}
		return c.tensors(body(v, x))
	}))
	carryTs := tenon.Must(c.tensors(carry))
	args := append(values(carryTs), values(s.Args)...)
	for _, t := range graph.ShareCaptures(g) {
		args = append(args, t)
	}
	out := op.EvalN(foldSeqOp, args, len(carryTs), len(s.Args), g, like.host(fn, s.Open))
	return tenon.Must(c.pack(out))
}

// common returns the structure of the elements.
func (s Source[X]) common(fn string) (*common[X], error) {
	paths, leaves, err := nest.FlattenWithPaths(s.Like, nest.Options{})
	if err != nil {
		return nil, err
	}
	c := &common[X]{like: s.Like}
	for i, l := range leaves {
		v, ok := l.(tenon.Value)
		if !ok {
			return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Op: fn, Where: paths[i].String(), Line: source.Line(), Msg: fmt.Sprintf("elements hold a %T", l),
				Hint: "plain Go data is constant in a traced loop: convert it to Values first"}
		}
		c.specs = append(c.specs, v.Spec())
	}
	if s.Specs == nil {
		return c, nil
	}
	if len(s.Specs) != len(leaves) {
		return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Line: source.Line(), Msg: fmt.Sprintf("there are %d Specs for elements of %d Values", len(s.Specs), len(leaves))}
	}
	for i, l := range leaves {
		if v := l.(tenon.Value); !tenon.Belongs(v, s.Specs[i]) {
			return nil, outOfSpec(fn, paths[i].String(), v, s.Specs[i])
		}
	}
	c.specs = s.Specs
	return c, nil
}

func outOfSpec(fn, where string, v tenon.Value, s tenon.Spec) error {
	return &tenon.Error{Kind: tenon.ErrShape, Op: fn, Where: where, Line: source.Line(),
		Msg:  fmt.Sprintf("the element is %s, but the loop was traced for %s%s", tenon.String(v.Spec()), tenon.String(s), tenon.HiddenDifference(v.Spec(), s)),
		Hint: "declare a Spec for the source that fits all elements, with unknown sizes where they differ"}
}

// hostSeq provides elements as the tensors that they consist of.
type hostSeq func(ctx context.Context, args []tensor.Tensor) iter.Seq2[[]tensor.Tensor, error]

// host takes the elements of a source apart.
func (c *common[X]) host(fn string, open func(context.Context, []tensor.Tensor) iter.Seq2[X, error]) hostSeq {
	apart := func(i int, x X) ([]tensor.Tensor, error) {
		if err := nest.Same(c.like, x, nest.Options{}); err != nil {
			return nil, err
		}
		paths, leaves, err := nest.FlattenWithPaths(x, nest.Options{})
		if err != nil {
			return nil, err
		}
		for k, l := range leaves {
			if v, ok := l.(tenon.Value); ok && !tenon.Belongs(v, c.specs[k]) {
				where := fmt.Sprintf("element %d", i)
				if p := paths[k].String(); p != "" {
					where += ", " + p
				}
				return nil, outOfSpec(fn, where, v, c.specs[k])
			}
		}
		return c.tensors(x)
	}
	return func(ctx context.Context, args []tensor.Tensor) iter.Seq2[[]tensor.Tensor, error] {
		return func(yield func([]tensor.Tensor, error) bool) {
			i := 0
			for x, err := range open(ctx, args) {
				var ts []tensor.Tensor
				if err == nil {
					ts, err = apart(i, x)
				}
				if !yield(ts, err) || err != nil {
					return
				}
				i++
			}
		}
	}
}

// foldSeqOp runs a region for each element that Go code provides. Its inputs are the carry, the
// arguments of that code, and captures. The body takes the carry, the tensors of an element, and
// the captures, and returns the next carry.
var foldSeqOp = op.Register(&op.Op{
	Name: "control.fold_seq", Statement: op.Statement{Axes: op.Opaque, Missing: op.Refuse, Why: "runs functions of the program"},
	Doc: "Runs the body with a carry for each element that a Go function reads.",
	Params: []op.Param{
		{Name: "inputs", Kind: op.Tensors},
		{Name: "carry", Kind: op.Attr, Type: op.IntType},
		{Name: "args", Kind: op.Attr, Type: op.IntType},
		{Name: "body", Kind: op.Attr},
		{Name: "elements", Kind: op.Attr},
	},
	Results:  -1,
	Stateful: true,
	VJP: func(c *op.Call, _, _ []tensor.Tensor) []tensor.Tensor {
		e := c.Errorf(tenon.ErrUnsupported, "the loop has no gradient: its elements are read once and are not available in the backward pass")
		e.Hint = "take gradients in the body, of the loss of each element; or run control.Fold over elements that fit into memory"
		tenon.Throw(e)
		return nil
	},
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		inputs := c.List(0)
		nc, err := count(c, 1, len(inputs))
		if err != nil {
			return nil, err
		}
		na, err := count(c, 2, len(inputs)-nc)
		if err != nil {
			return nil, err
		}
		body, ok := c.Args[3].(*graph.Graph)
		if !ok || body == nil || len(body.Params) < len(inputs)-na {
			return nil, c.Errorf(tenon.ErrInvalid, "the body is not a region that takes %d inputs and an element", len(inputs)-na)
		}
		if _, ok := c.Args[4].(hostSeq); !ok {
			return nil, c.Errorf(tenon.ErrInvalid, "there is no source of elements")
		}
		behind := len(body.Params) - (len(inputs) - nc - na) // number of parameters before the captures
		for i, v := range inputs {
			k := i
			switch {
			case i >= nc+na:
				k = behind + i - nc - na
			case i >= nc:
				continue
			}
			if p := body.Params[k]; v == nil || !tenon.Compatible(p.Spec(), v.Spec()) {
				return nil, c.Errorf(tenon.ErrDType, "the body takes %s as input %d, which is %s", tenon.String(p.Spec()), i, specText(v))
			}
		}
		if len(body.Outputs) != nc {
			return nil, c.Errorf(tenon.ErrInvalid, "the body returns %d tensors for a carry of %d", len(body.Outputs), nc)
		}
		specs := make([]tenon.Spec, nc)
		for i := range specs {
			specs[i] = body.Params[i].Spec()
		}
		return specs, gives(c, body, nc)
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		nc, na := c.Int(1), c.Int(2)
		inputs := c.List(0)
		program, err := backend.Region(c.Context(), c.Args[3].(*graph.Graph))
		if err != nil {
			return nil, err
		}
		carry, captured := c.Tensors(0)[:nc:nc], inputs[nc+na:]
		for x, err := range c.Args[4].(hostSeq)(c.Context(), c.Tensors(0)[nc:nc+na]) {
			if err != nil {
				return nil, err
			}
			args := append(values(carry), values(x)...)
			if carry, err = run(c.Context(), program, append(args, captured...)); err != nil {
				return nil, err
			}
		}
		return carry, nil
	},
})
