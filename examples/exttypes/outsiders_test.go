package exttypes_test

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// tagged is derived, like a tensor, and in every operation by its form.
type tagged struct {
	Data   tensor.Tensor
	Source string
}

func (t tagged) Spec() tenon.Spec   { return ext.SpecOf(t) }
func (t tagged) DType() dtype.DType { return t.Data.DType() }
func (t tagged) Shape() shape.Shape { return t.Data.Shape() }
func (t tagged) Form() op.Form {
	return op.Form{Columns: []tensor.Tensor{t.Data}, Type: source(t.Source)}
}

type source string

func (s source) Make(columns []tensor.Tensor) (tenon.Value, error) {
	return tagged{columns[0], string(s)}, nil
}

// shared is derived and no tensor, with a field that all rows share and one that may be absent.
type shared struct {
	X    tensor.Tensor
	Axis tensor.Tensor `tenon:"batch=keep"`
	Note tensor.Tensor `tenon:"optional"`
}

func (s shared) Spec() tenon.Spec { return ext.SpecOf(s) }

func init() {
	ext.Register[tagged]("tenon.test/exttypes.tagged")
	ext.Register[shared]("tenon.test/exttypes.shared")
	tenon.Register(polyName, func(e tenon.Encoding) (tenon.Spec, error) {
		n, err := tenon.As[tenon.Int](e)
		return polySpec{int(n)}, err
	})
}

const polyName = "tenon.test/exttypes.Poly"

// poly is written by hand and no tensor: a polynomial, or several, of any degree. The
// coefficients stand one behind the other, with where each ends. It boxes itself as rows.
type poly struct {
	flat, ends tensor.Tensor
	n          int // negative: a single one, 0: several
}

func polynomial(x ...float64) poly {
	return poly{tensor.Vector(x), tensor.Vector([]int64{int64(len(x))}), -1}
}

func (p poly) Spec() tenon.Spec { return polySpec{p.n} }

func (p poly) String() string { return "poly" + tensor.Vector(tensor.Data[float64](p.flat)).String() }

type polySpec struct{ n int }

func (polySpec) TypeName() string         { return polyName }
func (s polySpec) Encode() tenon.Encoding { return tenon.Int(s.n) }
func (s polySpec) Components() []tenon.Field {
	return []tenon.Field{{Name: "flat", Spec: tensor.NewSpec(dtype.Float64, shape.Of(-1))}, {Name: "ends", Spec: tensor.NewSpec(dtype.Int64, shape.Of(-1))}}
}

func (s polySpec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	p, ok := v.(poly)
	if !ok {
		return nil, tenon.NewError(tenon.ErrDType, polyName, "the value is no polynomial")
	}
	return []tenon.Value{p.flat, p.ends}, nil
}

func (s polySpec) Assemble(c []tenon.Value) (tenon.Value, error) {
	if err := tenon.CheckComponents(s, c); err != nil {
		return nil, err
	}
	return poly{c[0].(tensor.Tensor), c[1].(tensor.Tensor), s.n}, nil
}

func (s polySpec) Batched(int) (tenon.Spec, error) { return polySpec{0}, nil }
func (s polySpec) Unbatched() (tenon.Spec, error)  { return polySpec{-1}, nil }

func (s polySpec) Box(v tenon.Value, _ int) ([]tenon.Value, error) {
	p := v.(poly)
	if s.n < 0 {
		return []tenon.Value{p.flat}, nil
	}
	r, err := ragged.FromRowSplits(p.flat, ops.Concat([]tensor.Tensor{tensor.Vector([]int64{0}), p.ends}, 0))
	return []tenon.Value{r}, err
}

func (s polySpec) Unbox(ts []tenon.Value) (tenon.Value, error) {
	if r, ok := ts[0].(tensor.Tensor); ok {
		if d, ok := ragged.As(r); ok {
			return poly{d.FlatValues(), d.Partition().RowLimits(), 0}, nil
		}
		if r.Shape().Rank() > 1 { // of one degree
			n, k := r.Shape().Dim(0), r.Shape().Dim(1)
			ends := make([]int64, n)
			for i := range ends {
				ends[i] = int64((i + 1) * k)
			}
			return poly{ops.Reshape(r, []int{-1}), tensor.Vector(ends), 0}, nil
		}
		return poly{r, ops.Shape(r), -1}, nil
	}
	return nil, tenon.NewError(tenon.ErrDType, polyName, "the value is no tensor")
}
