package optable

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func TestEveryOperationHasARow(t *testing.T) {
	once.Do(derive)
	for _, o := range op.All() {
		// The meaning of these is that of their functions.
		ofFunctions := strings.HasPrefix(o.Name, "grad.") || strings.HasPrefix(o.Name, "control.")
		if _, ok := rows[o.Name]; !ok && !ofFunctions {
			t.Errorf("operation %s has no row: add one in internal/optable", o.Name)
		}
	}
	for _, r := range Rows() {
		if r.Definition() == nil {
			t.Errorf("there is a row for %s, and no such operation", r.Op)
		}
	}
}

// eachCall runs f for each call of the table.
func eachCall(t *testing.T, f func(t *testing.T, r Row, c Call)) {
	for _, r := range Rows() {
		if r.Definition() == nil {
			continue
		}
		t.Run(r.Op, func(t *testing.T) {
			for i, c := range r.Calls {
				t.Run(fmt.Sprint(i, describe(c)), func(t *testing.T) { f(t, r, c) })
			}
		})
	}
}

func describe(c Call) string {
	var parts []string
	for _, a := range c.Args {
		switch a := a.(type) {
		case tensor.Tensor:
			parts = append(parts, strings.ReplaceAll(tenon.String(a.Spec()), " ", ""))
		case []tenon.Value:
			parts = append(parts, fmt.Sprintf("%d_tensors", len(a)))
		default:
			parts = append(parts, strings.ReplaceAll(fmt.Sprint(a), " ", ","))
		}
	}
	return strings.Join(parts, ";")
}

func TestValues(t *testing.T) {
	eachCall(t, func(t *testing.T, r Row, c Call) {
		out, err := op.Do(r.Definition(), c.Args...)
		if err != nil {
			t.Fatal(err)
		}
		check(t, r, c, out)
	})
}

// What an operation remembers of a call is for calls of its kind alone.
func TestCallsAgain(t *testing.T) {
	for _, r := range Rows() {
		o := r.Definition()
		if o == nil {
			continue
		}
		t.Run(r.Op, func(t *testing.T) {
			for round, times := range []int{3, 1} {
				for i, c := range r.Calls {
					for range times {
						out, err := op.Do(o, c.Args...)
						if err != nil {
							t.Fatalf("round %d, call %d %s: %v", round, i, describe(c), err)
						}
						check(t, r, c, out)
					}
				}
			}
		})
	}
}

func TestViews(t *testing.T) {
	eachCall(t, func(t *testing.T, r Row, c Call) {
		if r.NoViews {
			return
		}
		v := Call{Args: slices.Clone(c.Args)}
		changed := false
		for i, a := range v.Args {
			switch a := a.(type) {
			case *tensor.Dense:
				if a.Len() > 10000 {
					return
				}
				v.Args[i] = gapped(a)
				changed = changed || v.Args[i] != any(a)
			case []tenon.Value:
				l := slices.Clone(a)
				for k, x := range l {
					if d, ok := x.(*tensor.Dense); ok {
						l[k], changed = gapped(d), true
					}
				}
				v.Args[i] = l
			}
		}
		if !changed {
			return
		}
		out, err := op.Do(r.Definition(), v.Args...)
		if err != nil {
			t.Fatal(err)
		}
		check(t, r, c, out)
	})
}

// Operands that are one element seen many times, through strides of 0, give what
// their copies give.
func TestRepeatedElements(t *testing.T) {
	eachCall(t, func(t *testing.T, r Row, c Call) {
		if r.NoViews || r.Ref == nil {
			return
		}
		views, copies := slices.Clone(c.Args), slices.Clone(c.Args)
		changed := false
		for i, a := range c.Args {
			if d, ok := a.(*tensor.Dense); ok && d.Rank() > 0 && d.Len() > 1 && d.Len() < 10000 {
				v := d.View(0, d.Shape(), make([]int, d.Rank()))
				views[i], copies[i], changed = v, tensor.Contiguous(v), true
			}
		}
		if !changed {
			return
		}
		want, err := op.Do(r.Definition(), copies...)
		if err != nil {
			return // the row's operation needs elements that differ, such as sizes or a permutation
		}
		got, err := op.Do(r.Definition(), views...)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			w := want[i].(tensor.Tensor)
			compare(t, fmt.Sprintf("result %d", i), ArrayOf(got[i].(tensor.Tensor)), ArrayOf(w), r.Tolerance(w.DType()))
		}
	})
}

// gapped returns a view with gaps that has x's elements, the first axis backward.
func gapped(x *tensor.Dense) *tensor.Dense {
	dims := x.Shape().Dims()
	if len(dims) == 0 || x.Len() == 0 {
		return x
	}
	big := make([]int, len(dims))
	for i, d := range dims {
		big[i] = 2 * d
	}
	room := tensor.NewDense(x.DType(), shape.Of(big...))
	strides := tensor.RowMajor(shape.Of(big...))
	for i := range strides {
		strides[i] *= 2
	}
	first := (dims[0] - 1) * strides[0]
	strides[0] = -strides[0]
	size := x.DType().Size()
	src, dst := tensor.Contiguous(x).Bytes(), room.Bytes()
	Indices(dims, func(i int, at []int) {
		o := first
		for k, p := range at {
			o += p * strides[k]
		}
		copy(dst[o*size:(o+1)*size], src[i*size:(i+1)*size])
	})
	return room.View(first, x.Shape(), strides)
}

// check compares results with the reference and with what Infer says.
func check(t *testing.T, r Row, c Call, out []tenon.Value) {
	t.Helper()
	got := make([]Array, len(out))
	for i, v := range out {
		got[i] = ArrayOf(v.(tensor.Tensor))
	}
	if r.Check != nil {
		if err := r.Check(c.RefArgs(), got); err != nil {
			t.Error(err)
		}
	}
	if r.Ref == nil {
		if r.Check == nil {
			t.Error("the row has neither Ref nor Check")
		}
		return
	}
	want := r.Ref(c.RefArgs())
	if len(want) != len(got) {
		t.Fatalf("%d results, want %d", len(got), len(want))
	}
	for i := range want {
		compare(t, fmt.Sprintf("result %d", i), got[i], want[i], r.Tolerance(out[i].(tensor.Tensor).DType()))
	}
}

func compare(t *testing.T, what string, got, want Array, tolerance float64) {
	t.Helper()
	if !slices.Equal(got.Shape, want.Shape) {
		t.Errorf("%s: shape %v, want %v", what, got.Shape, want.Shape)
		return
	}
	if !slices.Equal(got.S, want.S) {
		t.Errorf("%s: %q, want %q", what, got.S, want.S)
	}
	bad := 0
	for i, w := range want.X {
		if g := got.X[i]; !near(real(g), real(w), tolerance, cmplx.Abs(w)) || !near(imag(g), imag(w), tolerance, cmplx.Abs(w)) {
			if bad++; bad < 4 {
				t.Errorf("%s, element %d: %v, want %v", what, i, g, w)
			}
		}
	}
	if bad >= 4 {
		t.Errorf("%s: %d of %d elements differ", what, bad, len(want.X))
	}
}

func near(got, want, tolerance, size float64) bool {
	switch {
	case want != want:
		return got != got
	case math.IsInf(want, 0) || math.IsInf(got, 0):
		return got == want
	}
	if !(size > 1) || math.IsInf(size, 0) { // or is NaN: the other part of the number
		size = 1
	}
	return math.Abs(got-want) <= tolerance*size
}

// A placeholder is a symbolic tensor: a Spec and nothing else.
type placeholder struct{ spec *tensor.Spec }

func (p *placeholder) Spec() tenon.Spec   { return p.spec }
func (p *placeholder) DType() dtype.DType { return p.spec.DType() }
func (p *placeholder) Shape() shape.Shape { return p.spec.Shape() }

// Infer has to say something true of the results, however little it is told.
func TestInfer(t *testing.T) {
	relaxations := map[string]func(s shape.Shape) shape.Shape{
		"known sizes":  func(s shape.Shape) shape.Shape { return s },
		"known rank":   func(s shape.Shape) shape.Shape { return s.Relaxed() },
		"nothing":      func(s shape.Shape) shape.Shape { return shape.UnknownRank },
		"half of them": half,
	}
	eachCall(t, func(t *testing.T, r Row, c Call) {
		call, err := op.NewCall(r.Definition(), c.Args...)
		if err != nil {
			t.Fatal(err)
		}
		out, err := call.Do()
		if err != nil {
			t.Fatal(err)
		}
		if call, err = promote(call); err != nil {
			t.Fatal(err)
		}
		for name, relax := range relaxations {
			values := call.Values()
			for i, v := range values {
				x := v.(tensor.Tensor)
				values[i] = &placeholder{tensor.NewSpec(x.DType(), relax(x.Shape()))}
			}
			specs, err := call.WithValues(values).Infer()
			if err != nil && r.SizesKnown && name != "known sizes" {
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if len(specs) != len(out) {
				t.Errorf("%s: %d Specs for %d results", name, len(specs), len(out))
				continue
			}
			for i, s := range specs {
				if !tenon.Subtype(out[i].Spec(), s) {
					t.Errorf("%s: result %d is %v, which is not a %v", name, i, tenon.String(out[i].Spec()), tenon.String(s))
				}
			}
		}
	})
}

// half forgets every other size.
func half(s shape.Shape) shape.Shape {
	for i := 0; i < s.Rank(); i += 2 {
		s = s.With(i, shape.Unknown)
	}
	return s
}

// promote casts the operands of a call as dispatch does before it infers.
func promote(c *op.Call) (*op.Call, error) {
	common := map[uint8]dtype.DType{}
	values := c.Values()
	k := 0
	groups := make([]uint8, len(values))
	for i, p := range c.Op.Params {
		n := 0
		switch a := c.Args[i].(type) {
		case []tenon.Value:
			n = len(a)
		case tenon.Value:
			n = 1
		}
		for range n {
			groups[k] = p.Group
			if d := values[k].(tensor.Tensor).DType(); common[p.Group] == dtype.None {
				common[p.Group] = d
			} else if p.Group > 0 {
				var err error
				if common[p.Group], err = dtype.Promote(common[p.Group], d); err != nil {
					return nil, err
				}
			}
			k++
		}
	}
	cast, _ := op.Lookup("cast")
	for i, v := range values {
		if g := groups[i]; g > 0 && v.(tensor.Tensor).DType() != common[g] {
			out, err := op.Do(cast, v, common[g])
			if err != nil {
				return nil, err
			}
			values[i] = out[0]
		}
	}
	return c.WithValues(values), nil
}
