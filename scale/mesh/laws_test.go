package mesh

import (
	"context"
	"fmt"
	"hash"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/internal/optable"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/tensor"
)

// A lawCase is a call of which some axes of some operands are divided.
type lawCase struct {
	call    *op.Call
	row     optable.Row
	values  []tensor.Tensor
	cuts    []divided
	ragged  []string        // for each operand what its first axis has: "ends" or "entries" of rows, or "rows"; nil: none
	want    []tensor.Tensor // of the call on wholes
	wrt     []int           // the operands with gradients
	grads   []tensor.Tensor // nil: none
	weights []tensor.Tensor
}

// divided is an axis of an operand and the axis of the mesh that divides it.
type divided struct{ value, axis, over int }

func (c *lawCase) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s(", c.call.Op.Name)
	for i, v := range c.values {
		fmt.Fprintf(&b, "%v", v.Spec())
		if c.ragged != nil {
			b.WriteString(" " + c.ragged[i])
		}
		for _, d := range c.cuts {
			if d.value == i {
				fmt.Fprintf(&b, " axis %d@%d", d.axis, d.over)
			}
		}
		b.WriteString("; ")
	}
	for i, p := range c.call.Op.Params {
		if p.Kind == op.Attr {
			fmt.Fprintf(&b, " %s=%v", p.Name, c.call.Args[i])
		}
	}
	return b.String() + ")"
}

// lawCases returns calls of the table with each axis of each operand divided, and some pairs of axes: of each
// operation only those calls whose element types and ranks differ.
func lawCases(most int) []*lawCase {
	var out []*lawCase
	rng := rand.New(rand.NewPCG(1, 2))
	for _, r := range optable.Rows() {
		o := r.Definition()
		if o.Stateful {
			continue
		}
		rows := slices.IndexFunc(o.Params, func(p op.Param) bool { return p.Name == "splits" })
		if o.By == op.ByRows && rows < 0 {
			continue
		}
		kinds := map[string]bool{}
		for _, c := range r.Calls {
			call, err := op.NewCall(o, c.Args...)
			if err != nil {
				continue
			}
			var values []tensor.Tensor
			kind := ""
			for _, v := range call.Values() {
				x, ok := v.(tensor.Tensor)
				if !ok || !x.Shape().HasRank() || x.Shape().Size() > 4096 {
					kind = ""
					values = nil
					break
				}
				values = append(values, x)
				kind += fmt.Sprint(x.DType(), x.Shape().Rank(), " ")
			}
			for i, p := range o.Params {
				if p.Kind == op.Attr {
					kind += fmt.Sprint(call.Args[i], " ")
				}
			}
			if values == nil || kinds[kind] || len(kinds) >= most {
				continue
			}
			want, err := tenon.Try(func() []tensor.Tensor { return tenon.Must(call.DoTensors()) })
			if err != nil {
				continue
			}
			kinds[kind] = true
			base := lawCase{call: call, row: r, values: values, want: want}
			base.gradients()
			if rows >= 0 {
				out = append(out, base.byRows(rows)...)
				continue
			}
			var all []divided
			for i, v := range values {
				for a := range v.Shape().Rank() {
					all = append(all, divided{i, a, 0})
				}
			}
			for _, d := range all {
				x := base
				x.cuts = []divided{d}
				out = append(out, &x)
			}
			if len(all) > 1 {
				for range 2 {
					a, b := all[rng.IntN(len(all))], all[rng.IntN(len(all))]
					if a == b {
						continue
					}
					x := base
					b.over = rng.IntN(2)
					if x.cuts = []divided{a, b}; b.over == 0 && a.value == b.value {
						continue
					}
					out = append(out, &x)
				}
			}
		}
	}
	return out
}

// byRows returns cases whose rows are divided, which an operand of row splits tells: with the values alone, and with
// whatever else has as many entries as there are rows or values.
func (c *lawCase) byRows(splits int) (out []*lawCase) {
	at := -1
	for i, v := range c.values {
		if v == c.call.Args[splits] {
			at = i
		}
	}
	if at < 0 || c.values[at].Shape().Rank() != 1 {
		return nil
	}
	ends, ok := op.Ints(c.values[at])
	if !ok || len(ends) == 0 {
		return nil
	}
	for way := range 2 {
		x := *c
		x.ragged = make([]string, len(c.values))
		for i, v := range c.values {
			n := -1
			if v.Shape().Rank() > 0 {
				n = v.Shape().Dim(0)
			}
			switch {
			case i == at:
				x.ragged[i] = "ends"
			case n == ends[len(ends)-1] && (i == 0 || way == 1):
				x.ragged[i] = "entries"
			case n == len(ends)-1 && way == 1:
				x.ragged[i] = "rows"
			}
		}
		if x.grads != nil {
			x.grads = x.differentiate(x.values)
		}
		if way == 0 || !slices.Equal(x.ragged, out[0].ragged) {
			out = append(out, &x)
		}
	}
	return out
}

// gradients adds what the gradients of the operands are.
func (c *lawCase) gradients() {
	o := c.call.Op
	if o.VJP == nil || o.Nondifferentiable || o.Draws {
		return
	}
	for i, v := range c.values {
		if d := v.DType(); d == dtype.Float64 || d == dtype.Float32 {
			c.wrt = append(c.wrt, i)
		}
	}
	for k, y := range c.want {
		if d := y.DType(); d != dtype.Float32 && d != dtype.Float64 {
			c.wrt = nil
			return
		}
		n := y.Shape().Size()
		w := make([]float64, n)
		for i := range w {
			w[i] = math.Sin(float64(3*i + k + 1))
		}
		c.weights = append(c.weights, ops.Cast(ops.Reshape(tensor.Of(w), y.Shape().Dims()), y.DType()))
	}
	if len(c.wrt) == 0 {
		return
	}
	g, err := tenon.Try(func() []tensor.Tensor { return c.differentiate(c.values) })
	if err != nil {
		c.wrt = nil
		return
	}
	c.grads = g
}

// differentiate returns the gradients of a weighted sum of the results.
func (c *lawCase) differentiate(values []tensor.Tensor) []tensor.Tensor {
	x := make([]tensor.Tensor, len(c.wrt))
	for k, i := range c.wrt {
		x[k] = values[i]
	}
	return grad.Of(func(x []tensor.Tensor) tensor.Tensor {
		all := asValues(values)
		for k, i := range c.wrt {
			all[i] = x[k]
		}
		sum := tensor.Tensor(tensor.Scalar(0.0))
		for k, y := range tenon.Must(c.call.WithValues(all).DoTensors()) {
			w := c.weights[k]
			if c.ragged != nil { // a constant would have to be divided by rows as well
				w = y
			}
			sum = ops.Add(sum, ops.Cast(ops.Sum(ops.Mul(y, w)), dtype.Float64))
		}
		return sum
	})(x)
}

// known returns arguments where operands that are not divided and say where or how many are constants.
func (c *lawCase) known(x []tensor.Tensor) []tensor.Tensor {
	out := slices.Clone(x)
	for i, v := range c.values {
		if v.DType().IsInteger() && (c.ragged == nil || c.ragged[i] == "") && !slices.ContainsFunc(c.cuts, func(d divided) bool { return d.value == i }) {
			out[i] = v
		}
	}
	return out
}

func asValues(list []tensor.Tensor) []tenon.Value {
	out := make([]tenon.Value, len(list))
	for i, x := range list {
		out[i] = x
	}
	return out
}

// shard returns the operands of a case, divided.
func (c *lawCase) shard(m *Mesh) (s Sharded[[]tensor.Tensor], ok bool) {
	s = Sharded[[]tensor.Tensor]{mesh: m, like: c.values}
	if c.ragged != nil && m.axes[0].Size > 1 {
		n, of := c.values[slices.Index(c.ragged, "ends")].Shape().Dim(0)-1, &entries{}
		rows := m.of(over(rune(0)), n)
		for i, v := range c.values {
			l := layout{v.Spec().(*tensor.Spec), make([]cut, v.Shape().Rank())}
			switch c.ragged[i] {
			case "ends":
				l.cuts[0] = rows
				l.cuts[0].ends = of
			case "rows":
				l.cuts[0] = rows
			case "entries":
				l.cuts[0] = cut{over: rows.over, of: of}
				l.spec = tensor.NewSpec(v.DType(), v.Shape().With(0, -1))
			}
			s.layouts = append(s.layouts, l)
		}
		s.parts = tenon.Must(m.partsOf(c.values, s.layouts))
		return s, true
	}
	for i, v := range c.values {
		l := layout{v.Spec().(*tensor.Spec), make([]cut, v.Shape().Rank())}
		for _, d := range c.cuts {
			if d.value != i || d.over >= len(m.axes) || m.axes[d.over].Size == 1 {
				continue
			}
			l.cuts[d.axis] = m.of(over(rune(d.over)), v.Shape().Dim(d.axis))
		}
		s.layouts = append(s.layouts, l)
		s.parts = append(s.parts, partAlone(m, v, l.cuts))
	}
	return s, true
}

// partAlone returns a part of a tensor that is not that of rows.
func partAlone(m *Mesh, x tensor.Tensor, cuts []cut) tensor.Tensor {
	y, _ := m.partOf(x, cuts, nil)
	return y
}

// outcome is what became of a case.
type outcome struct {
	derived, refused, graded, notGraded int
	reasons                             map[string]int
}

// String prints the numbers of cases.
func (o outcome) String() string {
	return fmt.Sprintf("%d calls equal the whole, %d refused with the repair; %d gradients equal, %d refused", o.derived, o.refused, o.graded, o.notGraded)
}

// A plan on any mesh equals the plan on a mesh of one: for the statement of each operation, with sizes that do
// not divide, and with gradients.
func TestLaws(t *testing.T) {
	most, meshes := 2, [][]Axis{{{"a", 1}}, {{"a", 2}}, {{"a", 3}}, {{"a", 2}, {"b", 2}}, {{"a", 4}, {"b", 2}}}
	if testing.Short() {
		most, meshes = 1, meshes[1:4]
	}
	cases := lawCases(most)
	total := 0
	for _, axes := range meshes {
		var all outcome
		size := 1
		for _, a := range axes {
			size *= a.Size
		}
		err := dist.Simulate(t.Context(), size, dist.Options{}, func(ctx context.Context, c *dist.Comm) error {
			own, err := lawsOn(ctx, t, c, cases, axes...)
			if c.Rank() == 0 {
				all = own
			}
			return err
		})
		if err != nil {
			t.Fatalf("mesh %v: %v", axes, err)
		}
		t.Logf("mesh %v: %v", axes, all)
		total += all.derived + all.graded
		if size == 1 && all.refused+all.notGraded > 0 {
			t.Errorf("%d refused on a mesh of one", all.refused)
		}
		if testing.Verbose() && size == 2 {
			for _, r := range slices.Sorted(mapsKeys(all.reasons)) {
				t.Logf("    %s: %d", r, all.reasons[r])
			}
		}
	}
	t.Logf("%d cases", total)
}

// lawsOn tries cases on one rank of a mesh.
func lawsOn(ctx context.Context, t errorer, c *dist.Comm, cases []*lawCase, axes ...Axis) (outcome, error) {
	o := outcome{reasons: map[string]int{}}
	m, err := New(ctx, c, axes...)
	if err != nil {
		return o, err
	}
	for chunk := range slices.Chunk(cases, 200) {
		if err := tryAll(ctx, t, m, chunk, &o); err != nil {
			return o, err
		}
	}
	return o, nil
}

// errorer is what a case is reported to.
type errorer interface {
	Errorf(format string, args ...any)
}

func mapsKeys(m map[string]int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

type lawFunc = Func[[]tensor.Tensor, []tensor.Tensor]

// tryAll compares calls, and their gradients, with those on wholes. What is refused is so on all ranks.
func tryAll(ctx context.Context, t errorer, m *Mesh, cases []*lawCase, o *outcome) error {
	type trial struct {
		c        *lawCase
		gradient bool
		f        *lawFunc
		s        Sharded[[]tensor.Tensor]
	}
	var trials []trial
	h := fnv.New64a()
	for _, c := range cases {
		s, _ := c.shard(m)
		f := Function(m, func(x []tensor.Tensor) []tensor.Tensor {
			return tenon.Must(c.call.WithValues(asValues(c.known(x))).DoTensors())
		})
		ok := o.traced(t, h, "result", c, f, s)
		if !ok {
			o.refused++
			continue
		}
		trials = append(trials, trial{c, false, f, s})
		if c.grads == nil {
			continue
		}
		g := Function(m, func(x []tensor.Tensor) []tensor.Tensor { return c.differentiate(c.known(x)) })
		if !o.traced(t, h, "gradient", c, g, s) {
			o.notGraded++
			continue
		}
		trials = append(trials, trial{c, true, g, s})
	}
	if err := m.world.Agree(ctx, "what is refused", fmt.Sprintf("%x", h.Sum(nil))); err != nil {
		return err
	}
	for _, x := range trials {
		want, n := x.c.want, &o.derived
		if x.gradient {
			want, n = x.c.grads, &o.graded
		}
		*n++
		y, err := x.f.Call(ctx, x.s)
		if err != nil {
			return fmt.Errorf("%v: %w", x.c, err)
		}
		var whole []tensor.Tensor
		if x.c.ragged != nil {
			if whole, err = y.Whole(ctx); err != nil {
				return fmt.Errorf("%v: %w", x.c, err)
			}
		}
		for i, w := range want {
			tolerance := 16*x.c.row.Tolerance(w.DType()) + 64*optable.Precision(w.DType())
			if x.gradient {
				tolerance *= 16
			}
			var text string
			if whole != nil {
				text = unlike(whole[i], w, tolerance)
			} else {
				text = unlike(y.parts[i], partAlone(m, w, y.layouts[i].cuts), tolerance)
			}
			if text != "" {
				t.Errorf("mesh %v, rank %d: %v: result %d, gradient %v: %s", m, m.world.Rank(), x.c, i, x.gradient, text)
			}
		}
	}
	return nil
}

// traced traces a function of a case, and reports whether it can be: what cannot says how to mend it.
func (o *outcome) traced(t errorer, h hash.Hash, what string, c *lawCase, f *lawFunc, s Sharded[[]tensor.Tensor]) bool {
	_, err := f.trace(s)
	if err == nil {
		return true
	}
	if !errWhole(err) {
		t.Errorf("mesh %v, rank %d: %v: %s: %v", s.mesh, s.mesh.world.Rank(), c, what, err)
	}
	fmt.Fprintln(h, c.String(), what)
	o.reasons[what+" "+c.call.Op.Axes.String()+" "+c.call.Op.Name+": "+tenon.AsError(err).Msg]++
	return false
}

// unlike says how two tensors differ.
func unlike(got, want tensor.Tensor, tolerance float64) string {
	if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) {
		return fmt.Sprintf("got %v, want %v", got.Spec(), want.Spec())
	}
	if !want.DType().IsDifferentiable() {
		if !tensor.Equal(got, want) {
			return fmt.Sprintf("got %v, want %v", got, want)
		}
		return ""
	}
	g, w := optable.ArrayOf(got), optable.ArrayOf(want)
	scale := 1.0
	for _, x := range w.X {
		if a := math.Hypot(real(x), imag(x)); !math.IsInf(a, 0) && !math.IsNaN(a) {
			scale = max(scale, a)
		}
	}
	for i, x := range w.X {
		y := g.X[i]
		near := func(a, b float64) bool {
			return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= tolerance*scale
		}
		if !near(real(x), real(y)) || !near(imag(x), imag(y)) {
			return fmt.Sprintf("element %d: got %v, want %v", i, y, x)
		}
	}
	return ""
}

// errWhole says whether an error says how to have a value whole, or its size.
func errWhole(err error) bool {
	hint := tenon.AsError(err).Hint
	return strings.Contains(hint, "mesh.") || strings.Contains(hint, "axis of the mesh")
}
