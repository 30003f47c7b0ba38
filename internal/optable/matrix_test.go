package optable

import (
	"errors"
	"flag"
	"fmt"
	"math/cmplx"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	fn "github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

var update = flag.Bool("update", false, "write docs/coverage.md anew")

const coverageFile = "../../docs/coverage.md"

// A cell is what an operation does with a type of value.
type cell struct {
	equal   int      // calls with the results of the dense reference
	refused []string // the reasons of others
}

// TestMatrix does every operation on every type of value. What is not refused gives what
// the dense kernel gives of the same elements, which TestValues compares with a readable
// reference: at once, in a graph, and in its gradient, which TestGradients compares with
// differences. docs/coverage.md is written from it.
func TestMatrix(t *testing.T) {
	cols := columns()
	var names []string
	cells := map[string][]cell{}
	for _, r := range Rows() {
		o := r.Definition()
		if o == nil || strings.HasPrefix(o.Name, "control.") || strings.HasPrefix(o.Name, "grad.") {
			continue
		}
		calls := samples(t, r)
		names = append(names, o.Name)
		row := make([]cell, len(cols))
		for k, col := range cols {
			for _, c := range calls {
				tried(t, r, &col, c, &row[k])
			}
		}
		cells[o.Name] = row
	}
	text := coverage(names, cols, cells)
	if *update {
		if err := os.WriteFile(coverageFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(coverageFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != text {
		a, b := strings.Split(string(have), "\n"), strings.Split(text, "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Errorf("%s is not up to date: run go test ./internal/optable -run Matrix -update\nline %d is\n%s\nnow\n%s", coverageFile, i+1, a[i], b[i])
				break
			}
		}
		if len(a) != len(b) {
			t.Errorf("%s has %d lines, now there are %d", coverageFile, len(a), len(b))
		}
	}
}

// samples returns a few calls of a row whose data are small and have elements, of element
// types that differ.
func samples(t *testing.T, r Row) []*op.Call {
	var out []*op.Call
	seen := map[string]bool{}
	for _, args := range r.Calls {
		c, err := op.NewCall(r.Definition(), args.Args...)
		if err == nil {
			c, err = promote(c)
		}
		if err != nil {
			t.Fatal(err)
		}
		key, fits := "", false
		for i, v := range c.Operands() {
			x := v.(tensor.Tensor)
			switch n := x.Shape().Size(); {
			case data(c.Op, i) && (n == 0 || n > 200) || n > 500:
				fits, key = false, "-"
			case key != "-":
				key += fmt.Sprint(x.Shape().Rank(), kindOf(x.DType()))
				fits = fits || x.Shape().Rank() > 0
			}
		}
		if fits && !seen[key] && len(out) < 5 {
			seen[key] = true
			out = append(out, c)
		}
	}
	return out
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
		is = append(is, !c.Op.Control.Has(i) && r >= col.rank && (r == most || col.rows == nil))
	}
	return is
}

func tried(t *testing.T, r Row, col *column, c *op.Call, to *cell) {
	typed := operandsOf(c, col)
	if !slices.Contains(typed, true) {
		return
	}
	var err error
	if why := inRows[r.Op]; why != "" && col.lists && r.Op == "boolean_mask" && c.Values()[1].(tensor.Tensor).Shape().Rank() > 1 {
		err = errors.New(why)
	} else if col.rows != nil {
		err = triedRows(t, r, col, c, typed)
	} else {
		err = triedWhole(t, r, col, c, typed)
	}
	switch {
	case err == errSkip:
	case err != nil:
		why := reason(err)
		if own, ok := inRows[r.Op]; ok && (col.lists || col.rows != nil) {
			why = own
		}
		if !slices.Contains(to.refused, why) {
			to.refused = append(to.refused, why)
		}
	default:
		to.equal++
	}
}

// triedWhole compares the results of a call with typed operands with those of the dense
// call.
func triedWhole(t *testing.T, r Row, col *column, c *op.Call, typed []bool) error {
	want, err := c.DoTensors()
	if err != nil || c.Op.Monoid != nil && c.Op.Monoid.Picks && emptyRows(c) && strings.HasPrefix(col.name, "masked") {
		return errSkip // of nothing, a masked value picks nothing
	}
	values := c.Values()
	for i, is := range typed {
		if is {
			if values[i], err = col.typed(values[i].(tensor.Tensor)); err != nil {
				return errSkip
			}
		}
	}
	got, err := c.WithValues(values).Do()
	if err != nil {
		return refusal(t, r, col, c, err)
	}
	for k := range want {
		x, err := plainOf(got[k])
		if err != nil {
			t.Errorf("%s, %s, %s: result %d: %v", r.Op, col.name, describe(Call{Args: c.Args}), k, err)
			return nil
		}
		if w := unlike(x, want[k], 16*r.Tolerance(want[k].DType())); w != "" {
			t.Errorf("%s, %s, %s: result %d: %s", r.Op, col.name, describe(Call{Args: c.Args}), k, w)
			return nil
		}
	}
	traced(t, r, col, c, typed, values, got)
	differentiated(t, r, col, c, typed, values, want)
	return nil
}

// triedRows compares each row of the results with what the call gives of the row alone.
func triedRows(t *testing.T, r Row, col *column, c *op.Call, typed []bool) error {
	o := c.Op
	batched := o.By == op.ByAxis && o.Results == 1 && !o.Draws
	switch o.Axes {
	case op.Map:
	case op.Reduce, op.Scan, op.Along, op.Insert, op.Remove:
		batched = batched && (o.AxisParam() >= 0 || o.Core > 0)
	case op.Select:
		batched = batched && o.AxisParam() >= 0
	default:
		batched = false
	}
	rows := c
	if k := o.AxisParam(); k >= 0 && batched {
		axes, err := c.Axes(c.Values()[slices.Index(typed, true)].(tensor.Tensor).Shape().Rank() + inserted(c))
		if err != nil || len(axes) == 0 {
			return errSkip
		}
		for i := range axes {
			axes[i] += col.depth
		}
		if _, one := c.Args[k].(int); one {
			rows = c.WithArg(k, axes[0])
		} else {
			rows = c.WithArg(k, axes)
		}
	}
	if !batched {
		return errSkip
	}
	values := c.Values()
	parts := make([][]tenon.Value, 3)
	for i, is := range typed {
		x := values[i].(tensor.Tensor)
		ps := []tensor.Tensor{x, x, x}
		if is {
			ps = partsOf(x)
			v, err := col.rows(ps)
			if err != nil {
				return errSkip
			}
			values[i] = v
		} else if x.Shape().Rank() > 0 && !o.Control.Has(i) {
			return errSkip // it would have to be repeated for the rows
		}
		for k := range parts {
			parts[k] = append(parts[k], ps[k])
		}
	}
	var want []tensor.Tensor
	for _, p := range parts {
		out, err := c.WithValues(p).DoTensors()
		if err != nil {
			return errSkip // the operation has no meaning for the shorter rows
		}
		want = append(want, out[0])
	}
	got, err := rows.WithValues(values).Do()
	if err != nil {
		return refusal(t, r, col, c, err)
	}
	y := got[0].(tensor.Tensor)
	for range col.depth - 1 {
		y = ops.Gather(y, int64(0), 0)
	}
	for k, w := range want {
		x, err := plainOf(ops.Gather(y, int64(k), 0))
		if err != nil {
			t.Errorf("%s, %s, %s: row %d: %v", r.Op, col.name, describe(Call{Args: c.Args}), k, err)
			return nil
		}
		if w := unlike(x, w, 16*r.Tolerance(w.DType())); w != "" {
			t.Errorf("%s, %s, %s: row %d: %s", r.Op, col.name, describe(Call{Args: c.Args}), k, w)
			return nil
		}
	}
	traced(t, r, col, rows, typed, values, got)
	return nil
}

// inserted returns how many axes a call makes, which its parameter counts.
func inserted(c *op.Call) int {
	if c.Op.Axes != op.Insert {
		return 0
	}
	return max(1, len(c.Ints(c.Op.AxisParam())))
}

// refusal returns the error of a call that is not done. A fault of the library's own is not
// a refusal.
func refusal(t *testing.T, r Row, col *column, c *op.Call, err error) error {
	if s := err.Error(); strings.Contains(s, "panicked") || strings.Contains(s, "bug") {
		t.Errorf("%s, %s, %s: %v", r.Op, col.name, describe(Call{Args: c.Args}), err)
	}
	return err
}

// traced compares a call in a graph with the same call at once. What says where or how many
// is known in the graph.
func traced(t *testing.T, r Row, col *column, c *op.Call, typed []bool, values, got []tenon.Value) {
	t.Helper()
	var xs []tensor.Tensor
	for i, v := range values {
		if typed[i] {
			xs = append(xs, v.(tensor.Tensor))
		}
	}
	g := fn.New(func(xs []tensor.Tensor) []tensor.Tensor {
		vs, k := slices.Clone(values), 0
		for i, is := range typed {
			if is {
				vs[i] = xs[k]
				k++
			}
		}
		return list(tenon.Must(c.WithValues(vs).Do()))
	}, fn.Options{})
	out, err := tenon.Try(func() []tensor.Tensor { return g.Call(xs) })
	if err != nil {
		t.Errorf("%s, %s, %s, in a graph: %v", r.Op, col.name, describe(Call{Args: c.Args}), err)
		return
	}
	for k := range got {
		a, errA := plainOf(out[k])
		b, errB := plainOf(got[k])
		if errA != nil || errB != nil {
			continue
		}
		if w := unlike(a, b, 4*r.Tolerance(b.DType())); w != "" {
			t.Errorf("%s, %s, %s, in a graph: result %d: %s", r.Op, col.name, describe(Call{Args: c.Args}), k, w)
		}
	}
}

// differentiated compares the gradient through a typed value with that of the dense call.
func differentiated(t *testing.T, r Row, col *column, c *op.Call, typed []bool, values []tenon.Value, want []tensor.Tensor) {
	t.Helper()
	i := slices.Index(typed, true)
	dense := c.Values()
	x := dense[i].(tensor.Tensor)
	if c.Op.VJP == nil || x.DType() != dtype.Float64 {
		return
	}
	cts := cotangents(want)
	if cts == nil {
		return
	}
	pull := func(values []tenon.Value, make func(x tensor.Tensor) tensor.Tensor) (tensor.Tensor, error) {
		g, err := grad.VJPTensors([]tensor.Tensor{x}, cts, func(in []tensor.Tensor) (out []tensor.Tensor, err error) {
			defer tenon.Catch(&err)
			vs := slices.Clone(values)
			vs[i] = make(in[0])
			for _, v := range tenon.Must(c.WithValues(vs).Do()) {
				out = append(out, plainGrad(v))
			}
			return out, nil
		})
		if err != nil {
			return nil, err
		}
		return g[0], nil
	}
	b, err := pull(dense, func(x tensor.Tensor) tensor.Tensor { return x })
	if err != nil {
		return
	}
	a, err := pull(values, func(x tensor.Tensor) tensor.Tensor { return tenon.Must(col.typed(x)) })
	if err != nil {
		t.Errorf("%s, %s, %s, gradient: %v", r.Op, col.name, describe(Call{Args: c.Args}), err)
		return
	}
	if w := unlike(a, b, 1e-9); w != "" {
		t.Errorf("%s, %s, %s: gradient: %s", r.Op, col.name, describe(Call{Args: c.Args}), w)
	}
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
	types   = regexp.MustCompile(`<[^>]*>|[a-z]+[0-9]*\[[^\]]*\](\{[^}]*\})?`)
	numbers = regexp.MustCompile(`\[[-0-9, ]*\]|-?[0-9]+`)
)

// reason returns what an error says about any operands: without their types and numbers.
func reason(err error) string {
	var e *tenon.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	text, _, _ := strings.Cut(e.Msg, "\n")
	text = types.ReplaceAllString(text, "T")
	return numbers.ReplaceAllString(text, "n")
}

// coverage writes the table.
func coverage(names []string, cols []column, cells map[string][]cell) string {
	var b strings.Builder
	fmt.Fprint(&b, `# What each operation does with each type of value

Written by `+"`go test ./internal/optable -run Matrix -update`"+`, which does every operation on every type and compares the result, entry by
entry, with that of dense tensors: at once, in a graph, and the gradient. ● is equal, a number is a refusal with the reason below, ◐ is equal for
some operands and refused for others, – is an operation that is about no elements, or that no sample of the table fits.

`)
	fmt.Fprint(&b, "| operation | axes |")
	for _, c := range cols {
		fmt.Fprintf(&b, " %s |", c.name)
	}
	fmt.Fprintf(&b, "\n|---|---|%s\n", strings.Repeat(":-:|", len(cols)))
	var reasons []string
	for _, n := range names {
		o, _ := op.Lookup(n)
		fmt.Fprintf(&b, "| `%s` | %s |", n, o.Axes)
		for _, c := range cells[n] {
			fmt.Fprintf(&b, " %s |", symbol(c, &reasons))
		}
		fmt.Fprintln(&b)
	}
	fmt.Fprint(&b, "\n## Reasons\n\n")
	for i, why := range reasons {
		fmt.Fprintf(&b, "%d. %s\n", i+1, why)
	}
	fmt.Fprint(&b, "\n## Operations that are not described\n\nTypes answer for these by name, or not at all.\n\n")
	for _, o := range op.All() {
		if o.Axes == op.Opaque {
			fmt.Fprintf(&b, "- `%s`: %s.\n", o.Name, o.Why)
		}
	}
	return b.String()
}

func symbol(c cell, reasons *[]string) string {
	var parts []string
	switch {
	case c.equal > 0 && c.refused != nil:
		parts = append(parts, "◐")
	case c.equal > 0:
		parts = append(parts, "●")
	case c.refused == nil:
		return "–"
	}
	for _, why := range c.refused {
		i := slices.Index(*reasons, why)
		if i < 0 {
			i = len(*reasons)
			*reasons = append(*reasons, why)
		}
		parts = append(parts, fmt.Sprint(i+1))
	}
	return strings.Join(parts, " ")
}
