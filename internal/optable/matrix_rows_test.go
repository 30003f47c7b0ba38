package optable

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A calling is a call of rows of different lengths.
type calling struct {
	sample
	depth int
	typed []bool
	rows  *op.Call        // the call on axes that lie depth further behind
	args  []tenon.Value   // its values
	parts [][]tenon.Value // the values of each row
}

// What operations mean for rows that is not told by their axes: each gives, of its results, the
// dense tensors that want, of the rows alone, has too.
var ofRows = map[string]struct {
	got  func(c *calling, out []tenon.Value) []tensor.Tensor
	want func(c *calling) ([]tensor.Tensor, error)
}{
	"dropout":   {flatOf, together},
	"bincount":  {whole, together},
	"histogram": {whole, together},
	"size":      {whole, together},
	"ensure_shape": {(*calling).eachOf, func(c *calling) (list []tensor.Tensor, err error) {
		for _, p := range c.parts {
			list = append(list, p[0].(tensor.Tensor))
		}
		return list, nil
	}},
	"rank": {whole, func(c *calling) ([]tensor.Tensor, error) {
		x := c.parts[0][0].(tensor.Tensor)
		return []tensor.Tensor{tensor.Scalar(int64(x.Shape().Rank() + c.depth))}, nil
	}},
	"nonzero": {whole, func(c *calling) ([]tensor.Tensor, error) {
		var list []tensor.Tensor
		for k, p := range c.parts {
			at, err := c.WithValues(p).DoTensors()
			if err != nil {
				return nil, err
			}
			n := at[0].Shape().Dim(0)
			list = append(list, ops.Concat([]tensor.Tensor{ops.Zeros(at[0].DType(), []int{n, c.depth - 1}), ops.Fill([]int{n, 1}, int64(k)), at[0]}, 1))
		}
		return []tensor.Tensor{ops.Concat(list, 0)}, nil
	}},
	"stack": {func(c *calling, out []tenon.Value) (list []tensor.Tensor) {
		for i := range c.args {
			list = append(list, c.each(ops.Gather(out[0], int64(i), 0))...)
		}
		return list
	}, func(c *calling) (list []tensor.Tensor, err error) {
		for i := range c.args {
			for _, p := range c.parts {
				list = append(list, p[i].(tensor.Tensor))
			}
		}
		return list, nil
	}},
}

// inEachRow are operations that do to each row what they do to it alone, which their axes do
// not tell.
var inEachRow = map[string]bool{"dot": true, "bitcast": true, "sequence_mask": true, "unique": true, "top_k": true, "index": true, "strings.unicode_encode": true, "attention": true}

// partedOperands are the operations whose positions have rows as their operands have.
var partedOperands = map[string]bool{"take_along_axis": true, "put_along_axis": true, "attention": true}

// contractions are operations whose first operand alone has rows.
var contractions = map[string]bool{"matmul": true, "matvec": true, "einsum": true, "contract": true}

func whole(_ *calling, out []tenon.Value) []tensor.Tensor { return visible(out) }

func flatOf(_ *calling, out []tenon.Value) []tensor.Tensor {
	return []tensor.Tensor{plainGrad(out[0].(*ragged.Tensor).FlatValues())}
}

// together does the call on all rows as one.
func together(c *calling) ([]tensor.Tensor, error) {
	values := c.Values()
	for _, i := range indices(c.typed) {
		var list []tensor.Tensor
		for _, p := range c.parts {
			list = append(list, p[i].(tensor.Tensor))
		}
		values[i] = ops.Concat(list, 0)
	}
	return c.WithValues(values).DoTensors()
}

// each returns the rows of a result.
func (c *calling) each(v tenon.Value) (out []tensor.Tensor) {
	y := v.(tensor.Tensor)
	for range c.depth - 1 {
		y = ops.Gather(y, int64(0), 0)
	}
	for k := range c.parts {
		out = append(out, plainGrad(ops.Gather(y, int64(k), 0)))
	}
	return out
}

func (c *calling) eachOf(out []tenon.Value) (list []tensor.Tensor) {
	for _, v := range out {
		list = append(list, c.each(v)...)
	}
	return list
}

// alone does the call on each row.
func (c *calling) alone() ([]tensor.Tensor, error) {
	var outs [][]tensor.Tensor
	for _, p := range c.parts {
		out, err := c.WithValues(p).DoTensors()
		if err != nil {
			return nil, err
		}
		outs = append(outs, out)
	}
	var list []tensor.Tensor
	for i := range outs[0] {
		for _, out := range outs {
			list = append(list, out[i])
		}
	}
	return list, nil
}

// byRow reports whether an operation does to each row what it does to that row alone.
func byRow(o *op.Op) bool {
	if inEachRow[o.Name] || contractions[o.Name] {
		return true
	}
	if o.By != op.ByAxis || o.Results < 0 || o.Draws {
		return false
	}
	switch o.Axes {
	case op.Map:
		return true
	case op.Reduce, op.Scan, op.Along, op.Insert, op.Remove, op.Window:
		return o.AxisParam() >= 0 || o.Core > 0
	case op.Select, op.Scatter, op.Join:
		return o.AxisParam() >= 0
	}
	return false
}

// behind returns the call on axes that lie depth further behind.
func behind(s sample, depth, rank int) (*op.Call, error) {
	switch k := s.Args; s.Op.Name {
	case "index":
		keys := make(key.Keys, depth)
		for i := range keys {
			keys[i] = key.Range(nil, nil, nil)
		}
		return s.WithArg(1, append(keys, k[1].(key.Keys)...)), nil
	case "ensure_shape":
		return s.WithArg(1, shape.Of(append(slices.Repeat([]int{shape.Unknown}, depth+1), k[1].(shape.Shape).Dims()[1:]...)...)), nil
	case "stack":
		return s.Call, nil
	case "einsum":
		terms, out, arrow := strings.Cut(k[1].(string), "->")
		if !arrow {
			return nil, errSkip
		}
		return s.WithArg(1, "ZYX"[:depth]+terms+"->"+"ZYX"[:depth]+out), nil
	case "contract":
		outer := []int{90, 91, 92}[:depth]
		c := s.WithArg(2, slices.Concat(outer, k[2].([]int)))
		return c.WithArg(4, slices.Concat(outer, k[4].([]int))), nil
	case "attention":
		c := s.Call
		for i := 6; i <= 10 && k[10] != nil; i++ {
			if labels := k[i].([]int); labels != nil {
				c = c.WithArg(i, slices.Concat([]int{90, 91, 92}[:depth], labels))
			}
		}
		return c, nil
	}
	c, err := shifted(s.Call, depth, rank)
	if err == nil && c.Op.AxisParam() >= 0 {
		if axes, _ := c.Axes(8); len(axes) == 0 {
			return nil, errSkip
		}
	}
	return c, err
}

// triedRows compares each row of the results with what the call gives of the row alone.
func triedRows(t *testing.T, r Row, col *column, s sample, typed []bool) (own bool, err error) {
	o := s.Op
	if partedOperands[o.Name] {
		for i, v := range s.Values() {
			typed[i] = v.(tensor.Tensor).Shape().Rank() > 0
		}
	}
	if contractions[o.Name] {
		for i := range typed {
			typed[i] = i == 0 && typed[0]
		}
		if !typed[0] {
			return false, errSkip
		}
	}
	c := &calling{sample: s, depth: col.depth, typed: typed, rows: s.Call, args: s.Values(), parts: make([][]tenon.Value, 3)}
	means, special := ofRows[o.Name]
	known := special || byRow(o)
	for i, is := range typed {
		x := c.args[i].(tensor.Tensor)
		ps := []tensor.Tensor{x, x, x}
		if is {
			ps = partsOf(x)
			if c.args[i], err = col.rows(ps); err != nil {
				return false, errSkip
			}
		} else if x.Shape().Rank() > 0 && !o.Control.Has(i) && o.Axes != op.Map && !contractions[o.Name] {
			known = false // it would have to be repeated for the rows
		}
		for k := range c.parts {
			c.parts[k] = append(c.parts[k], ps[k])
		}
	}
	if !special {
		means.got, means.want = (*calling).eachOf, (*calling).alone
	}
	var want []tensor.Tensor
	if known {
		if c.rows, err = behind(s, col.depth, s.Values()[slices.Index(typed, true)].(tensor.Tensor).Shape().Rank()); err != nil {
			return false, errSkip
		}
		want, err = means.want(c)
	}
	got, own, refused := done(t, c.rows.WithValues(c.args))
	if refused != nil || !known || err != nil || o.Name == "sequence_mask" && !s.Has(1) {
		if refused == nil {
			refused = errSkip // there is nothing to compare it with
		}
		return own, refused
	}
	what := fmt.Sprintf("%s, %s", col.name, describe(Call{Args: s.Args}))
	seen, err := tenon.Try(func() []tensor.Tensor { return means.got(c, got) })
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return own, nil
	}
	for k, x := range seen {
		if w := unlike(x, want[k], 16*r.Tolerance(want[k].DType())); w != "" {
			t.Errorf("%s: result %d of row %d: %s", what, k/3, k%3, w)
			return own, nil
		}
	}
	traced(t, r, what, c.rows, typed, c.args, got)
	differentiated(t, what, s, typed, func(in []tensor.Tensor) []tensor.Tensor {
		values := slices.Clone(c.args)
		for k, i := range indices(typed) {
			if c.parts[0][i] != tenon.Value(in[k]) {
				values[i] = tenon.Must(col.rows(partsOf(in[k])))
			}
		}
		return means.got(c, tenon.Must(c.rows.WithValues(values).Do()))
	})
	return own, nil
}

// inserted returns how many axes a call makes, which its parameter counts.
func inserted(c *op.Call) int {
	if c.Op.Axes != op.Insert {
		return 0
	}
	return max(1, len(c.Ints(c.Op.AxisParam())))
}
