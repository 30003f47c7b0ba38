package grad

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// recorded is a function of structures as a graph of the tensors of its argument and of what it
// captures: values on tapes, values of enclosing traces, and variables.
type recorded[R any] struct {
	region *graph.Graph
	out    *structure[R]
	values []tensor.Tensor // the results, if there are data
}

// record runs f and records its operations. If the elements of the argument exist, f runs on these,
// so that it may look at them.
func record[A, R any](in *structure[A], f func(A) R) (*recorded[R], error) {
	r := &recorded[R]{}
	specs := make([]*tensor.Spec, len(in.ts))
	data := make([]tensor.Tensor, len(in.ts))
	concrete := graph.Current() == nil
	for i, t := range in.ts {
		spec, ok := t.Spec().(*tensor.Spec)
		if !ok {
			return nil, tenon.NewError(tenon.ErrDType, "grad.Custom", fmt.Sprintf("%s is not a tensor", tenon.String(t.Spec())))
		}
		specs[i] = spec
		if concrete {
			data[i], concrete = concreteOf(t)
		}
	}
	flat := onTensors(in, f, &r.out)
	var err error
	if !concrete {
		r.region, err = graph.TraceRegion("f", specs, flat)
		return r, err
	}
	w := &watch{op.NextLevel(), graph.New("f")}
	defer w.graph.Seal()
	args := make([]tensor.Tensor, len(specs))
	for i, s := range specs {
		args[i] = &watched{w, data[i], w.graph.Param(s)}
	}
	out, err := call(flat, args)
	if err != nil {
		return nil, err
	}
	for i, t := range out {
		value, ok := concreteOf(t)
		if !ok {
			return nil, tenon.NewError(tenon.ErrInvalid, "grad.Custom", fmt.Sprintf("result %d belongs to a trace", i))
		}
		if w.owns(t) {
			t = t.(*watched).symbol
		}
		symbol, err := w.graph.Import(t)
		if err != nil {
			return nil, err
		}
		r.values = append(r.values, value)
		w.graph.Outputs = append(w.graph.Outputs, symbol)
	}
	r.region = w.graph
	return r, nil
}

// call evaluates the region with a rule and returns the results in their structure.
func (r *recorded[R]) call(args []tensor.Tensor, made *rule, apart bool) (R, error) {
	vs := make([]tenon.Value, 0, len(args)+len(r.region.Captures))
	for _, t := range args {
		vs = append(vs, t)
	}
	recorded := anyRecorded(args)
	for _, t := range r.region.Captures {
		vs = append(vs, t)
		recorded = true
	}
	if !recorded && len(r.values) > 0 {
		return r.out.pack(r.values)
	}
	return r.out.pack(op.EvalN(customOp, vs, len(args), r.region, made, apart))
}

func anyRecorded(ts []tensor.Tensor) bool {
	for _, t := range ts {
		if _, ok := t.(op.Recorder); ok {
			return true
		}
	}
	return false
}

// concreteOf returns the elements of a tensor, if they exist.
func concreteOf(t tensor.Tensor) (tensor.Tensor, bool) {
	for {
		if _, ok := t.(op.Recorder); !ok {
			return t, true
		}
		c, ok := t.(tensor.Concreter)
		if !ok {
			return nil, false
		}
		x, err := c.Concrete()
		if err != nil || x == t {
			return nil, false
		}
		t = x
	}
}

// watch runs operations and records them in a graph at the same time.
type watch struct {
	level int
	graph *graph.Graph
}

// watched is a tensor with its elements and its counterpart in the graph.
type watched struct {
	watch  *watch
	data   tensor.Tensor
	symbol *graph.Value
}

var (
	_ op.Recorder      = (*watched)(nil)
	_ op.Constant      = (*watched)(nil)
	_ tensor.Concreter = (*watched)(nil)
)

func (v *watched) Spec() tenon.Spec                  { return v.data.Spec() }
func (v *watched) DType() dtype.DType                { return v.data.DType() }
func (v *watched) Shape() shape.Shape                { return v.data.Shape() }
func (v *watched) RecordLevel() int                  { return v.watch.level }
func (v *watched) String() string                    { return fmt.Sprint(v.data) }
func (v *watched) Concrete() (tensor.Tensor, error)  { return v.data, nil }
func (v *watched) ConstValue() (tensor.Tensor, bool) { return op.Known(v.data) }

func (w *watch) owns(t tenon.Value) bool {
	v, ok := t.(*watched)
	return ok && v.watch == w
}

// Record runs a call on data and records it. Values from outside are captured.
func (v *watched) Record(c *op.Call) ([]tenon.Value, error) {
	w := v.watch
	values := c.Values()
	data, symbols := make([]tenon.Value, len(values)), make([]tenon.Value, len(values))
	for i, x := range values {
		if w.owns(x) {
			data[i], symbols[i] = x.(*watched).data, x.(*watched).symbol
			continue
		}
		d, ok := concreteOf(x.(tensor.Tensor))
		if !ok {
			return nil, c.Errorf(tenon.ErrInvalid, "an operand belongs to a trace, and the others have data")
		}
		data[i], symbols[i] = d, x
	}
	recorded, err := w.graph.Record(c.WithValues(symbols))
	if err != nil {
		return nil, err
	}
	out, err := c.WithValues(data).Do()
	if err != nil {
		return nil, err
	}
	for i, x := range out {
		out[i] = &watched{w, x.(tensor.Tensor), recorded[i].(*graph.Value)}
	}
	return out, nil
}
