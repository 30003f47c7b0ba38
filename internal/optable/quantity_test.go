package optable

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	fn "github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// tagged is a stranger's type with a form and nothing else.
type tagged struct {
	Value tensor.Tensor
	Tag   string
}

// quantity is numbers with a unit, of which it knows what operations do to it.
type quantity struct {
	Value  tensor.Tensor
	Metres int
}

func init() {
	ext.Register[tagged]("tenon.test/optable.tagged")
	ext.Register[quantity]("tenon.test/optable.quantity")
}

func (t tagged) Spec() tenon.Spec   { return ext.SpecOf(t) }
func (t tagged) DType() dtype.DType { return t.Value.DType() }
func (t tagged) Shape() shape.Shape { return t.Value.Shape() }
func (t tagged) Form() op.Form      { return op.Form{Columns: []tensor.Tensor{t.Value}, Type: tag(t.Tag)} }

type tag string

func (t tag) Make(x []tensor.Tensor) (tenon.Value, error) { return tagged{x[0], string(t)}, nil }

func (q quantity) Spec() tenon.Spec   { return ext.SpecOf(q) }
func (q quantity) DType() dtype.DType { return q.Value.DType() }
func (q quantity) Shape() shape.Shape { return q.Value.Shape() }
func (q quantity) Form() op.Form {
	return op.Form{Columns: []tensor.Tensor{q.Value}, Type: metres(q.Metres)}
}

// metres is a power of the unit of length; 0 is that of plain numbers.
type metres int

func (m metres) Make(x []tensor.Tensor) (tenon.Value, error) { return quantity{x[0], int(m)}, nil }

// Judge reads the unit of the results off the statement: what is linear in all operands
// together, moves them or picks one has their unit; a product has the product; all else
// takes plain numbers.
func (m metres) Judge(c *op.Call, operands []op.FormType) (op.FormType, error) {
	o := c.Op
	unit := func(i int) int { u, _ := operands[i].(metres); return int(u) }
	same, sum, n := true, 0, 0
	var all op.Operands
	k := -1
	for i := range c.Operands() {
		k++
		if o.Control.Has(i) || o.Axes == op.Map && o.Moves != 0 && !o.Moves.Has(i) {
			continue
		}
		all |= 1 << i
		if n++; n > 1 && unit(k) != unit(k-1) {
			same = false
		}
		sum += unit(k)
	}
	picks := o.Monoid != nil && (o.Monoid.Picks || o.Monoid == op.Sums || o.Monoid == op.Means) && o.Axes != op.Contract
	product := o.Zero.LinearIn(op.First) && o.Zero.LinearIn(op.Second)
	switch {
	case o.ShapeOnly != 0 || o.Places != 0 || o.Counts != 0:
		return m, nil
	case same && (o.Zero.LinearIn(all) || o.Moves != 0 || picks || o.Checks):
		return m, nil
	case product:
		return metres(sum), nil
	case o.Zero.LinearIn(op.First) && o.Zero.Dividend == op.First:
		return metres(unit(0) - unit(1)), nil
	case same && sum == 0:
		return metres(0), nil
	}
	return nil, tenon.NewError(tenon.ErrInvalid, "", fmt.Sprintf("units do not fit: %v", operands))
}

// A type that states a form takes part in operations, at once and in traces, on elements of
// any other type; what they are of is for its Judge to say, by the statement.
func TestQuantities(t *testing.T) {
	m := func(x tensor.Tensor, n int) tensor.Tensor { return quantity{x, n} }
	x, y := m(tensor.Of([]float64{1, 4, 9}), 1), m(tensor.Of([]float64{2, 2, 3}), 1)
	rows := m(tenon.Must(ragged.FromRowSplits([]float64{1, 2, 3}, []int64{0, 2, 3})), 2)
	for name, c := range map[string]struct {
		f    func() tensor.Tensor
		want string
	}{
		"a sum":                {func() tensor.Tensor { return ops.Add(x, y) }, "[3 6 12] m^1"},
		"a product":            {func() tensor.Tensor { return ops.Mul(x, y) }, "[2 8 27] m^2"},
		"a quotient":           {func() tensor.Tensor { return ops.Div(x, y) }, "[0.5 2 3] m^0"},
		"a contraction":        {func() tensor.Tensor { return ops.Dot(x, y) }, "[37] m^2"},
		"a reduction":          {func() tensor.Tensor { return ops.Sum(x) }, "[14] m^1"},
		"the greatest":         {func() tensor.Tensor { return ops.Max(x) }, "[9] m^1"},
		"a position":           {func() tensor.Tensor { return ops.ArgMax(x, 0) }, "[2]"},
		"a move":               {func() tensor.Tensor { return ops.Reverse(x, 0) }, "[9 4 1] m^1"},
		"a choice":             {func() tensor.Tensor { return ops.Where([]bool{true, false, true}, x, y) }, "[1 2 9] m^1"},
		"of rows":              {func() tensor.Tensor { return ops.Sum(rows, 1) }, "[3 3] m^2"},
		"metres and metres²":   {func() tensor.Tensor { return ops.Add(x, ops.Mul(x, y)) }, "units do not fit: [1 2]"},
		"metres and a number":  {func() tensor.Tensor { return ops.Add(x, 1.0) }, "units do not fit: [1 <nil>]"},
		"a function of metres": {func() tensor.Tensor { return ops.Exp(x) }, "units do not fit: [1]"},
	} {
		for how, f := range map[string]func() tensor.Tensor{"eager": c.f, "traced": fn.New(c.f).Call} {
			got := "nothing"
			v, err := tenon.Try(f)
			var e *tenon.Error
			switch q, ok := v.(quantity); {
			case errors.As(err, &e):
				got = e.Msg
			case ok:
				got = fmt.Sprintf("%v m^%d", ArrayOf(plain(q.Value)).Floats(), q.Metres)
			case v != nil:
				got = fmt.Sprint(ArrayOf(plain(v)).Floats())
			}
			if got != c.want {
				t.Errorf("%s, %s: %s, want %s", name, how, got, c.want)
			}
		}
	}
	one := tensor.Of([]float64{1})
	if got, err := tenon.Try(func() tensor.Tensor { return ops.Add(tagged{one, "a"}, tagged{one, "b"}) }); err == nil {
		t.Errorf("different tags give %v", got)
	}
}
