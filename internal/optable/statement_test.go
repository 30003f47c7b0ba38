package optable

import (
	"fmt"
	"math/cmplx"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A law is what a part of an operation's statement says about its results. It returns what
// is wrong, and whether the call was one that the law speaks of.
type law struct {
	name string
	try  func(c *op.Call, out []tensor.Tensor) (wrong string, tried bool)
}

var laws = []law{
	{"zeros are kept", keepsZeros},
	{"zeros are absorbed", absorbsZeros},
	{"linear", isLinear},
	{"elements move", elementsMove},
	{"only the shape matters", shapeMatters},
	{"shapes", statedShape},
	{"positions and numbers", placesAndCounts},
	{"checks", returnsFirst},
	{"monoid", isMonoid},
}

// Each statement is tried against the kernel, on the calls of the table: a statement that
// is not true of its operation fails here.
func TestStatements(t *testing.T) {
	tried := map[string]bool{}
	for _, r := range Rows() {
		o := r.Definition()
		if o == nil {
			continue
		}
		t.Run(r.Op, func(t *testing.T) {
			for i, args := range r.Calls {
				c, err := op.NewCall(o, args.Args...)
				if err == nil {
					c, err = promote(c)
				}
				if err != nil {
					t.Fatal(err)
				}
				if slices.ContainsFunc(c.Values(), func(v tenon.Value) bool { return v.(tensor.Tensor).Shape().Size() > 2000 }) {
					continue
				}
				out, err := c.DoTensors()
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range laws {
					wrong, was := l.try(c, out)
					if wrong != "" {
						t.Errorf("call %d %s: %s: %s", i, describe(args), l.name, wrong)
					}
					if was {
						tried[r.Op+" "+l.name] = true
					}
				}
			}
		})
	}
	for _, r := range Rows() {
		o := r.Definition()
		says := map[string]bool{
			"zeros are kept": o.Zero.Keeps && o.Moves == 0, "zeros are absorbed": o.Zero.Absorbs|o.Zero.Dividend != 0, "linear": o.Zero.Linear != nil,
			"elements move": o.Moves != 0, "only the shape matters": o.ShapeOnly != 0, "checks": o.Checks,
			"monoid": o.Monoid != nil && !o.Monoid.Ordered && (o.Axes == op.Reduce || o.Axes == op.Scan || o.Axes == op.Along || scattersAtTuples(o)),
		}
		for name, is := range says {
			if is && !tried[r.Op+" "+name] {
				t.Errorf("%s: no call of the table tries what its statement says: %s", r.Op, name)
			}
		}
	}
}

// with returns the results of a call with other values, those that f returns something for.
func with(c *op.Call, f func(operand int, x tensor.Tensor) tensor.Tensor) ([]tensor.Tensor, error) {
	var values []tenon.Value
	for i, v := range c.Operands() {
		if x := f(i, v.(tensor.Tensor)); x != nil {
			v = x
		}
		values = append(values, v)
	}
	return c.WithValues(values).DoTensors()
}

// data reports whether an operand holds elements that an operation computes with or moves.
func data(o *op.Op, i int) bool { return !o.Control.Has(i) && !o.ShapeOnly.Has(i) }

// isZeros reports whether a tensor holds nothing but zeros.
func isZeros(x tensor.Tensor) bool {
	return !slices.ContainsFunc(ArrayOf(x).X, func(v complex128) bool { return v != 0 })
}

func zeroed(x tensor.Tensor) tensor.Tensor {
	if x.DType() == dtype.String {
		return nil
	}
	return ops.ZerosLike(x)
}

func hasText(c *op.Call, out []tensor.Tensor) bool {
	for _, v := range c.Values() {
		if v.(tensor.Tensor).DType() == dtype.String {
			return true
		}
	}
	return slices.ContainsFunc(out, func(x tensor.Tensor) bool { return x.DType() == dtype.String })
}

// ofNothing reports whether a call has data without elements: then an operation that keeps
// zeros may give its identity.
func ofNothing(c *op.Call) bool {
	for i, v := range c.Operands() {
		if data(c.Op, i) && v.(tensor.Tensor).Shape().Size() == 0 {
			return true
		}
	}
	return false
}

// emptyRows reports whether one of the rows or segments of a call has no elements.
func emptyRows(c *op.Call) bool {
	switch c.Op.By {
	case op.ByRows:
		for k, p := range c.Op.Params {
			if p.Name == "splits" && c.Tensor(k) != nil {
				s := ArrayOf(c.Tensor(k)).Floats()
				for i := range len(s) - 1 {
					if s[i] == s[i+1] {
						return true
					}
				}
			}
		}
	case op.ByIDs:
		return true
	}
	return false
}

// areOfNothing reports whether all elements are zero, or what a monoid gives of nothing.
func areOfNothing(m *op.Monoid, x tensor.Tensor) bool {
	if m == nil {
		return false
	}
	none := ArrayOf(m.IdentityOf(x.DType())).X[0]
	return !slices.ContainsFunc(ArrayOf(x).X, func(v complex128) bool {
		return v != 0 && v != none && !(m.Divide != op.ByNothing && cmplx.IsNaN(v))
	})
}

func keepsZeros(c *op.Call, out []tensor.Tensor) (string, bool) {
	says := c.Op.Zero.Keeps
	if !says && !c.Op.IsElementwise() || hasText(c, out) || ofNothing(c) || c.Op.Checks && !says {
		return "", false
	}
	if c.Op.Axes == op.Scan && c.Attr("exclusive") == true {
		return "", false // the first element has nothing before it
	}
	got, err := with(c, func(i int, x tensor.Tensor) tensor.Tensor {
		if data(c.Op, i) {
			return zeroed(x)
		}
		return nil
	})
	if err != nil {
		return "", false // zeros are not in the domain
	}
	for k, x := range got {
		if says && c.Op.Axes != op.Opaque && !c.Op.Places.Has(k) && x.DType() != dtype.String && !besides(c, k) && !isZeros(x) && !(emptyRows(c) && areOfNothing(c.Op.Monoid, x)) {
			return fmt.Sprintf("result %d of zeros is not zero", k), true
		}
	}
	return "", true
}

// besides reports whether a result tells of the rows of the first one.
func besides(c *op.Call, k int) bool { return c.Op.By == op.ByRows && k > 0 }

func absorbsZeros(c *op.Call, out []tensor.Tensor) (string, bool) {
	z := c.Op.Zero
	if hasText(c, out) || ofNothing(c) {
		return "", false
	}
	tried := false
	for k := range 4 {
		if !z.Absorbs.Has(k) && !z.Dividend.Has(k) {
			continue
		}
		got, err := with(c, func(i int, x tensor.Tensor) tensor.Tensor {
			switch {
			case i == k:
				return zeroed(x)
			case z.Dividend != 0 && data(c.Op, i):
				return ops.Where(ops.Equal(x, zeroed(x)), ops.OnesLike(x), x)
			case data(c.Op, i) && x.DType().IsFloat():
				return ops.Clip(x, -1e3, 1e3) // finite
			}
			return nil
		})
		if err != nil {
			continue
		}
		if tried = true; !isZeros(got[0]) {
			return fmt.Sprintf("a zero in operand %d does not give zero", k), true
		}
	}
	return "", tried
}

func isLinear(c *op.Call, out []tensor.Tensor) (string, bool) {
	if len(out) == 0 || hasText(c, out) || !out[0].DType().IsDifferentiable() {
		return "", false
	}
	tried := false
	for _, set := range c.Op.Zero.Linear {
		in := func(f func(x tensor.Tensor) tensor.Tensor) func(int, tensor.Tensor) tensor.Tensor {
			return func(i int, x tensor.Tensor) tensor.Tensor {
				if !set.Has(i) {
					return nil
				}
				return f(x)
			}
		}
		wide := true
		for i, v := range c.Operands() {
			d := v.(tensor.Tensor).DType()
			wide = wide && (!set.Has(i) || d == dtype.Float64 || d == dtype.Complex128 || d == dtype.Float32)
		}
		if !wide {
			continue
		}
		x, err1 := with(c, in(finite))
		y, err2 := with(c, in(other))
		sum, err3 := with(c, in(func(x tensor.Tensor) tensor.Tensor { return ops.Add(ops.Mul(finite(x), 3.0), other(x)) }))
		if err1 != nil || err2 != nil || err3 != nil {
			continue
		}
		tried = true
		for k := range sum {
			if !sum[k].DType().IsDifferentiable() {
				continue
			}
			want := ops.Add(ops.Mul(x[k], 3.0), y[k])
			a, b := ArrayOf(sum[k]), ArrayOf(want)
			for i := range a.X {
				tol := 1e-6
				if sum[k].DType() == dtype.Float32 {
					tol = 1e-2
				}
				if d := cmplx.Abs(a.X[i] - b.X[i]); d > tol*(1+cmplx.Abs(b.X[i])) {
					return fmt.Sprintf("in operands %b together, result %d: %v, want %v", set, k, a.X[i], b.X[i]), true
				}
			}
		}
	}
	return "", tried
}

// finite returns numbers that are neither infinite nor large.
func finite(x tensor.Tensor) tensor.Tensor {
	if x.DType().IsComplex() {
		return x
	}
	return ops.Clip(ops.NaNToNum(x), -1e3, 1e3)
}

// other returns other numbers.
func other(x tensor.Tensor) tensor.Tensor {
	return ops.Sub(1.5, ops.Mul(finite(x), 0.25))
}

// elementsMove tries whether elements come through that an operation cannot know, and lie
// in the same places whatever they are.
func elementsMove(c *op.Call, out []tensor.Tensor) (string, bool) {
	if c.Op.Moves == 0 {
		return "", false
	}
	n := int64(0)
	numbered := func(sign int64) func(int, tensor.Tensor) tensor.Tensor {
		n = 0
		return func(i int, x tensor.Tensor) tensor.Tensor {
			if !c.Op.Moves.Has(i) {
				return nil
			}
			size := int64(x.Shape().Size())
			y := ops.Mul(ops.Reshape(ops.Range(n+1, n+1+size, int64(1)), x.Shape().Dims()), sign)
			n += size
			return y
		}
	}
	up, err1 := with(c, numbered(1))
	most := n
	down, err2 := with(c, numbered(-1))
	if err1 != nil || err2 != nil {
		return fmt.Sprintf("other elements are refused: %v, %v", err1, err2), true
	}
	for k := range up {
		if besides(c, k) || out[k].DType() != out[0].DType() {
			continue // row splits and the like
		}
		a, b := ArrayOf(up[k]), ArrayOf(down[k])
		for i := range a.X {
			v := real(a.X[i])
			if b.X[i] != -a.X[i] || !(v >= 1 && v <= float64(most)) && !(c.Op.Fills && v == 0) {
				return fmt.Sprintf("result %d has %v of elements and %v of their negatives", k, a.X[i], b.X[i]), true
			}
		}
	}
	return "", true
}

func shapeMatters(c *op.Call, out []tensor.Tensor) (string, bool) {
	if c.Op.ShapeOnly == 0 || hasText(c, out) {
		return "", false
	}
	got, err := with(c, func(i int, x tensor.Tensor) tensor.Tensor {
		if c.Op.ShapeOnly.Has(i) {
			return ops.ZerosLike(x)
		}
		return nil
	})
	if err != nil {
		return err.Error(), true
	}
	for k := range got {
		if a, b := ArrayOf(got[k]), ArrayOf(out[k]); !slices.Equal(a.X, b.X) {
			return "the elements matter", true
		}
	}
	return "", true
}

// statedShape compares the shape of the result with what becomes of the axes.
func statedShape(c *op.Call, out []tensor.Tensor) (string, bool) {
	if len(out) == 0 {
		return "", false
	}
	o, got := c.Op, out[0].Shape()
	var all []shape.Shape
	for i, v := range c.Operands() {
		if !o.Control.Has(i) {
			all = append(all, v.(tensor.Tensor).Shape())
		}
	}
	if len(all) == 0 {
		return "", false
	}
	s := all[0]
	want := func(w shape.Shape) (string, bool) {
		if !got.Equal(w) {
			return fmt.Sprintf("%v of %v gives %v, want %v", o.Axes, all, got, w), true
		}
		return "", true
	}
	axes, err := c.Axes(s.Rank())
	keep, _ := c.Attr("keepdims").(bool)
	switch o.Axes {
	case op.Map:
		w := s
		for _, t := range all[1:] {
			if w, err = shape.Broadcast(w, t); err != nil {
				return err.Error(), true
			}
		}
		return want(w)
	case op.Reduce:
		if o.By != op.ByAxis || o.Control != 0 || err != nil {
			return "", false
		}
		slices.Sort(axes)
		w := s
		for _, a := range slices.Backward(axes) {
			if w = w.Remove(a); keep {
				w = w.Insert(a, 1)
			}
		}
		return want(w)
	case op.Scan, op.Along:
		if got.Rank() != s.Rank() {
			return fmt.Sprintf("%v has another rank than %v", got, s), true
		}
		for a := range s.Rank() {
			if got.Dim(a) != s.Dim(a) && (o.Missing != op.Last || o.By == op.ByAxis && !slices.Contains(axes, a)) {
				return fmt.Sprintf("%v has another axis %d than %v", got, a, s), true
			}
		}
	case op.Join:
		if got.Rank() != s.Rank() {
			return "joined operands have another rank", true
		}
	case op.Stack, op.Insert:
		if got.Rank() <= s.Rank() && !(o.AxisParam() >= 0 && len(c.Ints(o.AxisParam())) == 0) {
			return fmt.Sprintf("%v gives %v", s, got), true
		}
	case op.Remove:
		if got.Rank() > s.Rank() || got.Size() > s.Size() {
			return fmt.Sprintf("%v gives %v", s, got), true
		}
	case op.Permute:
		a, b := slices.Sorted(slices.Values(s.Dims())), slices.Sorted(slices.Values(got.Dims()))
		if !slices.Equal(a, b) {
			return fmt.Sprintf("%v gives %v", s, got), true
		}
	case op.Regroup:
		if o.By == op.ByAxis && o.Moves != 0 && got.Size() != s.Size() {
			return fmt.Sprintf("%v gives %v", s, got), true
		}
	case op.Broadcast:
		if got.Size() > 0 && got.Size() < s.Size() {
			return fmt.Sprintf("%v gives %v", s, got), true
		}
	case op.Scatter:
		if !o.Fills {
			return want(s)
		}
	default:
		return "", false
	}
	return "", true
}

// placesAndCounts tries that positions and numbers of elements are integers, which do not
// grow with the elements.
func placesAndCounts(c *op.Call, out []tensor.Tensor) (string, bool) {
	o := c.Op
	if o.Places == 0 && o.Counts == 0 {
		return "", false
	}
	for k, x := range out {
		if (o.Places.Has(k) || o.Counts.Has(k)) && !x.DType().IsInteger() {
			return fmt.Sprintf("result %d is %v", k, x.DType()), true
		}
	}
	got, err := with(c, func(i int, x tensor.Tensor) tensor.Tensor {
		if data(o, i) && x.DType().IsFloat() && o.Axes != op.Opaque && o.Core == 0 {
			return ops.Mul(finite(x), ops.Cast(2.0, x.DType()))
		}
		return nil
	})
	if err != nil {
		return "", false
	}
	base, _ := with(c, func(i int, x tensor.Tensor) tensor.Tensor {
		if data(o, i) && x.DType().IsFloat() && o.Axes != op.Opaque && o.Core == 0 {
			return finite(x)
		}
		return nil
	})
	for k := range got {
		if (o.Places.Has(k) || o.Counts.Has(k)) && !slices.Equal(ArrayOf(got[k]).X, ArrayOf(base[k]).X) {
			return fmt.Sprintf("result %d changes with the elements' unit", k), true
		}
	}
	return "", true
}

func returnsFirst(c *op.Call, out []tensor.Tensor) (string, bool) {
	if !c.Op.Checks {
		return "", false
	}
	x := c.Values()[0].(tensor.Tensor)
	if a, b := ArrayOf(x), ArrayOf(out[0]); !slices.Equal(a.Shape, b.Shape) || !slices.Equal(a.X, b.X) || !slices.Equal(a.S, b.S) {
		return "the result is not the first operand", true
	}
	return "", true
}

// isMonoid tries the identity and the combination on a vector made of the call's elements.
func isMonoid(c *op.Call, out []tensor.Tensor) (string, bool) {
	o := c.Op
	m := o.Monoid
	if m == nil || hasText(c, out) {
		return "", false
	}
	x := c.Values()[0].(tensor.Tensor)
	if d := x.DType(); x.Shape().Size() < 4 || d.IsComplex() || d.IsFloat() && d != dtype.Float64 {
		return "", false
	}
	x = ops.Reshape(x, []int{-1})
	if x.DType() == dtype.Float64 {
		x = finite(x)
	}
	run, ok := onVector(c)
	if !ok {
		return "", false
	}
	if o.Axes == op.Scatter {
		same, err := run(x)
		if err != nil {
			return err.Error(), true
		}
		if w := differs(same, x); w != "" {
			return "the identity changes an element: " + w, true
		}
		return "", true
	}
	identity := ops.Reshape(m.IdentityOf(x.DType()), []int{1})
	whole, err := run(x)
	if err != nil {
		return "", false // elements of other calls, such as integers that do not fit
	}
	if m.Divide == op.ByNothing {
		more, err := run(ops.Concat([]tensor.Tensor{x, identity}, 0))
		if err != nil {
			return err.Error(), true
		}
		if o.Axes == op.Scan || o.Axes == op.Along {
			n := x.Shape().Size()
			more = ops.Slice(more, []int{0}, []int{n})
		}
		if w := differs(more, whole); w != "" {
			return "the identity changes a result: " + w, true
		}
	}
	if m.Combine == "" || o.Places != 0 || o.Axes == op.Along {
		return "", true
	}
	combine, _ := op.Lookup(m.Combine)
	if o.Axes == op.Scan {
		n := x.Shape().Size()
		want := op.Eval(combine, ops.Slice(whole, []int{0}, []int{n - 1}), ops.Slice(x, []int{1}, []int{n - 1}))
		if w := differs(ops.Slice(whole, []int{1}, []int{n - 1}), want); w != "" {
			return "a step is not a combination: " + w, true
		}
		return "", true
	}
	h := x.Shape().Size() / 2
	a, err1 := run(ops.Slice(x, []int{0}, []int{h}))
	b, err2 := run(ops.Slice(x, []int{h}, []int{h}))
	both, err3 := run(ops.Slice(x, []int{0}, []int{2 * h}))
	if err1 != nil || err2 != nil || err3 != nil {
		return fmt.Sprint(err1, err2, err3), true
	}
	want := op.Eval(combine, a, b)
	switch m.Divide {
	case op.ByCount:
		want = ops.Div(want, 2.0)
	case op.ByRootOfCount:
		want = ops.Div(want, ops.Sqrt(2.0))
	}
	if w := differs(both, want); w != "" {
		return "parts do not combine: " + w, true
	}
	if m.Divide == op.ByNothing {
		none, err := run(ops.Slice(x, []int{0}, []int{0}))
		if err != nil {
			return err.Error(), true
		}
		if w := differs(none, m.IdentityOf(none.DType())); w != "" {
			return "of nothing: " + w, true
		}
	}
	return "", true
}

// scattersAtTuples reports whether an operation combines elements with others, at tuples of
// positions.
func scattersAtTuples(o *op.Op) bool {
	return o.Axes == op.Scatter && o.Moves == 0 && !o.Fills && o.AxisParam() < 0
}

// onVector returns the operation of a call on one vector that is a single fiber.
func onVector(c *op.Call) (run func(x tensor.Tensor) (tensor.Tensor, error), ok bool) {
	o := c.Op
	do := func(args ...any) (tensor.Tensor, error) {
		out, err := op.Do(o, args...)
		if err != nil {
			return nil, err
		}
		return out[0].(tensor.Tensor), nil
	}
	switch {
	case scattersAtTuples(o):
		return func(x tensor.Tensor) (tensor.Tensor, error) {
			n := x.Shape().Size()
			at := ops.Reshape(ops.Range(0, n, 1), []int{n, 1})
			return do(x, at, ops.BroadcastTo(o.Monoid.IdentityOf(x.DType()), []int{n}))
		}, true
	case o.Axes != op.Reduce && o.Axes != op.Scan && o.Axes != op.Along:
		return nil, false
	case o.By == op.ByRows:
		return func(x tensor.Tensor) (tensor.Tensor, error) {
			return do(x, tensor.Of([]int64{0, int64(x.Shape().Size())}))
		}, len(o.Params) == 2 || o.Axes == op.Scan
	case o.By == op.ByIDs:
		return func(x tensor.Tensor) (tensor.Tensor, error) {
			return do(x, ops.Zeros(dtype.Int64, ops.Shape(x)), int64(1))
		}, true
	case o.Control != 0:
		return func(x tensor.Tensor) (tensor.Tensor, error) { return do(x, []int64{}) }, true
	}
	return func(x tensor.Tensor) (tensor.Tensor, error) { return do(x) }, true
}

// differs tells where two results are not equal but for rounding, wherever their shapes
// differ by axes of size 1.
func differs(got, want tensor.Tensor) string {
	a, b := ArrayOf(got), ArrayOf(want)
	if len(a.X) != len(b.X) {
		return fmt.Sprintf("%d elements, want %d", len(a.X), len(b.X))
	}
	for i := range a.X {
		if d := cmplx.Abs(a.X[i] - b.X[i]); a.X[i] != b.X[i] && !(d <= 1e-9*(1+cmplx.Abs(b.X[i]))) {
			return fmt.Sprintf("element %d is %v, want %v", i, a.X[i], b.X[i])
		}
	}
	return ""
}
