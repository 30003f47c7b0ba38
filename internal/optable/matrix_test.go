package optable

import (
	"errors"
	"fmt"
	"math/cmplx"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	fn "github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/internal/generated"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

const coverageFile = "../../docs/coverage.md"

// A cell is what an operation does with a type of value.
type cell struct {
	derived int      // calls that the type answers by the operation's statement
	own     int      // calls that it answers by a handler of its own for the operation
	refused []string // the reasons of others
	none    string   // why there can be no call
}

// TestMatrix does every operation on every type of value. What is not refused gives what
// the dense kernel gives of the same elements, which TestValues compares with a readable
// reference: at once, in a graph, and in its gradient, by differences. Where no call of the
// table fits a type, it says why there can be none. docs/coverage.md is written from it.
func TestMatrix(t *testing.T) {
	cols := columns()
	var names []string
	cells := map[string][]cell{}
	all := 0
	for _, r := range Rows() {
		o := r.Definition()
		if o == nil || strings.HasPrefix(o.Name, "control.") || strings.HasPrefix(o.Name, "grad.") {
			continue
		}
		all++
		t.Run(o.Name, func(t *testing.T) {
			calls := samples(t, r)
			names = append(names, o.Name)
			row := make([]cell, len(cols))
			for k := range cols {
				for _, s := range calls {
					if c := &row[k]; !s.lifted || c.derived+c.own+len(c.refused) == 0 {
						tried(t, r, &cols[k], s, c)
					}
				}
				if c := &row[k]; c.derived+c.own+len(c.refused) == 0 {
					if c.none = impossible(o, &cols[k], calls); c.none == "" {
						t.Errorf("%s: no call of the table fits", cols[k].name)
					}
				}
			}
			cells[o.Name] = row
		})
	}
	if len(names) < all {
		return // the flag -run chose some
	}
	generated.File(t, coverageFile, coverage(names, cols, cells), "go test ./internal/optable -run Matrix -update")
}

// A sample is a call of the matrix.
type sample struct {
	*op.Call
	of     Call // what it was made of
	lifted bool // it has a batch axis that the table does not give it
}

// samples returns a few calls of a row whose data are small and have elements, of element
// types and ranks that differ, and behind them such with more axes.
func samples(t *testing.T, r Row) []sample {
	var out []sample
	seen := map[string]bool{}
	most := 0
	for _, args := range r.Calls {
		c, err := op.NewCall(r.Definition(), args.Args...)
		if err == nil {
			c, err = promote(c)
		}
		if err != nil {
			t.Fatal(err)
		}
		key, fits, rank := "", false, 0
		for i, v := range c.Operands() {
			x := v.(tensor.Tensor)
			switch n := x.Shape().Size(); {
			case data(c.Op, i) && (n == 0 || n > 200) || n > 500:
				fits, key = false, "-"
			case key != "-":
				key += fmt.Sprint(x.Shape().Rank(), kindOf(x.DType()))
				fits = fits || x.Shape().Rank() > 0
				rank = max(rank, x.Shape().Rank())
			}
		}
		if fits && !seen[key] && (len(out) < 5 || rank > most) {
			seen[key] = true
			most = max(most, rank)
			out = append(out, sample{c, args, false})
		}
	}
	for _, s := range slices.Clone(out) {
		for c := s.Call; ; {
			if c = liftedCall(c); c == nil {
				break
			}
			out = append(out, sample{c, Call{Args: c.Args, Grad: s.of.Grad, Kink: s.of.Kink}, true})
		}
	}
	return out
}

// liftedCall returns a call with one more axis in front, which the statement of its operation
// says is a batch axis, and nil where there would be more than three or it is none.
func liftedCall(c *op.Call) *op.Call {
	most := 0
	for i, v := range c.Operands() {
		if !c.Op.Control.Has(i) {
			most = max(most, v.(tensor.Tensor).Shape().Rank())
		}
	}
	if most == 0 || most > 2 {
		return nil
	}
	values := c.Values()
	k := -1
	for i, v := range c.Operands() {
		k++
		if x := v.(tensor.Tensor); !c.Op.Control.Has(i) && x.Shape().Rank() == most {
			values[k] = ops.Stack([]tensor.Tensor{x, ops.Reverse(x, -1)}, 0)
		}
	}
	up, err := shifted(c, 1, most)
	if err != nil {
		return nil
	}
	up = up.WithValues(values)
	if _, err = up.DoTensors(); err != nil {
		return nil
	}
	return up
}

// shifted returns a call about axes that lie some further behind, for operands of a rank.
func shifted(c *op.Call, by, rank int) (*op.Call, error) {
	k := c.Op.AxisParam()
	if k < 0 {
		return c, nil
	}
	axes, err := c.Axes(rank + inserted(c))
	if err != nil {
		return nil, err
	}
	for i := range axes {
		axes[i] += by
	}
	if _, one := c.Args[k].(int); one {
		return c.WithArg(k, axes[0]), nil
	}
	return c.WithArg(k, axes), nil
}

// impossible says why there is no call of an operation for a type.
func impossible(o *op.Op, col *column, calls []sample) string {
	if len(calls) == 0 {
		return "the operands say where, which or how many, and have no elements of their own"
	}
	for _, s := range calls {
		for i, v := range s.Operands() {
			if x := v.(tensor.Tensor); !o.Control.Has(i) && x.Shape().Rank() >= col.rank && (col.of == nil || col.of(x) != nil) {
				return ""
			}
		}
	}
	if col.of != nil {
		return "the operands are no numbers of which there are such elements"
	}
	return "the operands have fewer axes than the type"
}

// kindOf groups element types that operations treat alike.
func kindOf(d dtype.DType) string {
	switch {
	case d.IsFloat():
		return "f"
	case d.IsInteger():
		return "i"
	}
	return d.String()
}

var errSkip = errors.New("not a call for this type")

// operandsOf returns which values of a call become values of the column's type: data, and
// operands of which the shape matters, that have as many axes as the one with most.
func operandsOf(c *op.Call, col *column) []bool {
	most := 0
	for i, v := range c.Operands() {
		if !c.Op.Control.Has(i) {
			most = max(most, v.(tensor.Tensor).Shape().Rank())
		}
	}
	var is []bool
	for i, v := range c.Operands() {
		r := v.(tensor.Tensor).Shape().Rank()
		is = append(is, !c.Op.Control.Has(i) && r >= col.rank && (col.most == 0 || r <= col.most) && (r == most || col.rows == nil))
	}
	return is
}

func tried(t *testing.T, r Row, col *column, s sample, to *cell) {
	typed := operandsOf(s.Call, col)
	if !slices.Contains(typed, true) {
		return
	}
	var own bool
	var err error
	switch why := inRows[r.Op]; {
	case why != "" && col.lists && r.Op == "boolean_mask" && s.Values()[1].(tensor.Tensor).Shape().Rank() > 1:
		err = errors.New(why)
	case col.rows != nil:
		own, err = triedRows(t, r, col, s, typed)
	case col.of != nil:
		own, err = triedElements(t, r, col, s, typed)
	case col.mask != nil:
		own, err = triedMissing(t, r, col, s, typed)
	default:
		own, err = triedWhole(t, r, col, s, typed)
	}
	switch {
	case err == errSkip:
	case err != nil:
		why := reason(err)
		if text, ok := inRows[r.Op]; ok && (col.lists || col.rows != nil) {
			why = text
		}
		if !slices.Contains(to.refused, why) {
			to.refused = append(to.refused, why)
		}
	case own:
		to.own++
	default:
		to.derived++
	}
}

// done does a call, and tells whether the type answered by a handler of its own.
func done(t *testing.T, c *op.Call) ([]tenon.Value, bool, error) {
	t.Helper()
	e := c.Explain()
	if e.Err != nil {
		if s := e.Err.Error(); strings.Contains(s, "panicked") || strings.Contains(s, "bug") { // a fault of the library's own
			t.Errorf("%s: %v", describe(Call{Args: c.Args}), e.Err)
		}
	}
	return e.Results, e.Overridden, e.Err
}

// triedWhole compares the results of a call with typed operands with those of the dense
// call.
func triedWhole(t *testing.T, r Row, col *column, s sample, typed []bool) (own bool, err error) {
	want, err := s.DoTensors()
	if err != nil {
		return false, errSkip
	}
	values := s.Values()
	for i, is := range typed {
		if is {
			if values[i], err = col.typed(values[i].(tensor.Tensor)); err != nil {
				return false, errSkip
			}
		}
	}
	got, own, err := done(t, s.WithValues(values))
	if err != nil {
		return own, err
	}
	what := fmt.Sprintf("%s, %s", col.name, describe(Call{Args: s.Args}))
	for k := range want {
		w := want[k]
		x, err := plainOf(got[k])
		if m, ok := got[k].(*masked.Tensor); ok && s.Op.Monoid != nil && s.Op.Monoid.Picks && emptyRows(s.Call) {
			list := visible([]tenon.Value{m}) // of nothing, a masked value picks nothing
			x, w, err = list[0], shown(w, list[1]), nil
		}
		if err != nil {
			t.Errorf("%s: result %d: %v", what, k, err)
			return own, nil
		}
		if w := unlike(x, w, 16*r.Tolerance(want[k].DType())); w != "" {
			t.Errorf("%s: result %d: %s", what, k, w)
			return own, nil
		}
	}
	traced(t, r, what, s.Call, typed, values, got)
	differentiated(t, what, s, typed, func(in []tensor.Tensor) []tensor.Tensor {
		values := s.Values()
		for k, i := range indices(typed) {
			values[i] = tenon.Must(col.typed(in[k]))
		}
		out := tenon.Must(s.WithValues(values).Do())
		return visible(out)
	})
	return own, nil
}

// indices returns the numbers of those that are true.
func indices(is []bool) (list []int) {
	for i, yes := range is {
		if yes {
			list = append(list, i)
		}
	}
	return list
}

// traced compares a call in a graph with the same call at once. What says where or how many
// is known in the graph.
func traced(t *testing.T, r Row, what string, c *op.Call, typed []bool, values, got []tenon.Value) {
	t.Helper()
	var xs []tensor.Tensor
	for i, v := range values {
		if typed[i] {
			xs = append(xs, v.(tensor.Tensor))
		}
	}
	g := fn.New(func(xs []tensor.Tensor) []tensor.Tensor {
		vs := slices.Clone(values)
		for k, i := range indices(typed) {
			vs[i] = xs[k]
		}
		return list(tenon.Must(c.WithValues(vs).Do()))
	}, fn.Options{})
	out, err := tenon.Try(func() []tensor.Tensor { return g.Call(xs) })
	if err != nil {
		t.Errorf("%s, in a graph: %v", what, err)
		return
	}
	a, errA := tenon.Try(func() []tensor.Tensor { return visible(asValues(out)) })
	b, errB := tenon.Try(func() []tensor.Tensor { return visible(got) })
	if errA != nil || errB != nil {
		return
	}
	for k := range b {
		if w := unlike(a[k], b[k], 4*r.Tolerance(b[k].DType())); w != "" {
			t.Errorf("%s, in a graph: result %d: %s", what, k, w)
		}
	}
}

func asValues(list []tensor.Tensor) []tenon.Value {
	out := make([]tenon.Value, len(list))
	for i, x := range list {
		out[i] = x
	}
	return out
}

// differentiated compares the gradient of a function of the dense tensors that typed
// operands are made of with differences, in a random direction.
func differentiated(t *testing.T, what string, s sample, typed []bool, f func(in []tensor.Tensor) []tensor.Tensor) {
	t.Helper()
	o := s.Op
	if o.Nondifferentiable || o.VJP == nil || s.of.Grad != nil && len(s.of.Grad) == 0 {
		return
	}
	var x []tensor.Tensor
	var wrt []int
	for k, i := range indices(typed) {
		v := s.Values()[i].(tensor.Tensor)
		x = append(x, v)
		if v.DType() == dtype.Float64 && (s.of.Grad == nil || slices.Contains(s.of.Grad, i)) {
			wrt = append(wrt, k)
		}
	}
	if len(wrt) == 0 {
		return
	}
	of := func(in []tensor.Tensor) (out []tensor.Tensor, err error) {
		defer tenon.Catch(&err)
		all := slices.Clone(x)
		for j, k := range wrt {
			all[k] = in[j]
		}
		return f(all), nil
	}
	in := make([]tensor.Tensor, len(wrt))
	for j, k := range wrt {
		in[j] = x[k]
	}
	out, err := of(in)
	if err != nil {
		t.Errorf("%s, once more: %v", what, err)
		return
	}
	cts := cotangents(out)
	if cts == nil {
		return
	}
	for k, y := range out {
		if cts[k] != nil { // of nothing, there may be no number
			cts[k] = ops.Where(ops.IsFinite(y), cts[k], ops.ZerosLike(cts[k]))
		}
	}
	g, err := grad.VJPTensors(in, cts, of)
	if err != nil {
		t.Errorf("%s, gradient: %v", what, err)
		return
	}
	for k := range g {
		g[k] = plain(g[k])
	}
	compareGradients(t, what+", gradient", of, in, cts, g, 2e-7, someDirection)
}

// someDirection is a random direction of a space of real numbers.
func someDirection(n int, _ bool) [][]complex128 {
	rng := rand.New(rand.NewPCG(31, uint64(n)))
	v := make([]complex128, n)
	for i := range v {
		v[i] = complex(rng.Float64()*2-1, 0)
	}
	return [][]complex128{v}
}

// plainGrad is plainOf for values that stand for others: what is missing cannot be seen.
func plainGrad(v tenon.Value) tensor.Tensor {
	if m, ok := v.(interface{ Values() tensor.Tensor }); ok {
		if _, all := v.(interface{ Full() tensor.Tensor }); all {
			return plainGrad(m.Values())
		}
	}
	return plain(v)
}

// unlike tells where two dense tensors differ by more than a tolerance.
func unlike(got, want tensor.Tensor, tolerance float64) string {
	a, b := ArrayOf(got), ArrayOf(want)
	if !slices.Equal(a.Shape, b.Shape) {
		return fmt.Sprintf("shape %v, want %v", a.Shape, b.Shape)
	}
	if !slices.Equal(a.S, b.S) {
		return fmt.Sprintf("%q, want %q", a.S, b.S)
	}
	for i, w := range b.X {
		if g := a.X[i]; !near(real(g), real(w), tolerance, cmplx.Abs(w)) || !near(imag(g), imag(w), tolerance, cmplx.Abs(w)) {
			return fmt.Sprintf("element %d is %v, want %v", i, g, w)
		}
	}
	return ""
}

var (
	several = regexp.MustCompile(`\[T( T)*\]`)
	types   = regexp.MustCompile(`<[^>]*>|\bdecimal\(\d+, \d+\)(\[[^\]]*\])?|\buuid\b(\[[^\]]*\])?|[a-z]+[0-9]*\[[^\]]*\](\{[^}]*\})?`)
	numbers = regexp.MustCompile(`\[[-0-9, ]*\]|-?[0-9]+`)
	quoted  = regexp.MustCompile(`"[^"]*"`)
)

// reason returns what an error says about any operands: without their types and numbers.
func reason(err error) string {
	var e *tenon.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	text, _, _ := strings.Cut(e.Msg, "\n")
	text = quoted.ReplaceAllString(several.ReplaceAllString(types.ReplaceAllString(text, "T"), "T"), "…")
	return numbers.ReplaceAllString(text, "n")
}

// coverage writes the table.
func coverage(names []string, cols []column, cells map[string][]cell) string {
	var b strings.Builder
	fmt.Fprint(&b, `# What each operation does with each type of value

Generated by `+"`go test ./internal/optable -run Matrix -update`"+`. The test applies every operation to every type and compares the result, entry by
entry, with that of dense tensors, both eagerly and in a graph; it compares the gradient with finite differences.

| mark | meaning |
|---|---|
| ● | the type derives the result from the statement of the operation |
| ◆ | the type has a handler for this operation |
| a number | some or all operands are an error, for the reason with this number below |
| a letter | no such call is possible, for the reason with this letter below |

`)
	fmt.Fprint(&b, "| operation | axes |")
	for _, c := range cols {
		fmt.Fprintf(&b, " %s |", c.name)
	}
	fmt.Fprintf(&b, "\n|---|---|%s\n", strings.Repeat(":-:|", len(cols)))
	var reasons, nones []string
	for _, n := range names {
		o, _ := op.Lookup(n)
		fmt.Fprintf(&b, "| `%s` | %s |", n, o.Axes)
		for _, c := range cells[n] {
			fmt.Fprintf(&b, " %s |", symbol(c, &reasons, &nones))
		}
		fmt.Fprintln(&b)
	}
	fmt.Fprint(&b, "\n## Types\n\n")
	for _, c := range cols {
		fmt.Fprintf(&b, "- %s: %s.\n", c.name, c.what)
	}
	fmt.Fprint(&b, "\n## Reasons\n\n")
	for i, why := range reasons {
		fmt.Fprintf(&b, "%d. %s\n", i+1, why)
	}
	fmt.Fprint(&b, "\n## Impossible calls\n\n")
	for i, why := range nones {
		fmt.Fprintf(&b, "- %c: %s.\n", 'a'+i, why)
	}
	fmt.Fprint(&b, "\n## Undescribed operations\n\nThe statement of these operations does not describe them. Types handle them by name, or not at all.\n\n")
	for _, o := range op.All() {
		if o.Axes == op.Opaque {
			fmt.Fprintf(&b, "- `%s`: %s.\n", o.Name, o.Why)
		}
	}
	return b.String()
}

func symbol(c cell, reasons, nones *[]string) string {
	number := func(list *[]string, why string) int {
		i := slices.Index(*list, why)
		if i < 0 {
			i = len(*list)
			*list = append(*list, why)
		}
		return i
	}
	if c.none != "" {
		return string(rune('a' + number(nones, c.none)))
	}
	var parts []string
	if c.derived > 0 {
		parts = append(parts, "●")
	}
	if c.own > 0 {
		parts = append(parts, "◆")
	}
	for _, why := range c.refused {
		parts = append(parts, fmt.Sprint(number(reasons, why)+1))
	}
	return strings.Join(parts, " ")
}
