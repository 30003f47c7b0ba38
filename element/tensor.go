package element

import (
	"fmt"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// TypeName is the name of the type of Value.
const TypeName = "tenon.element"

// A Tensor is elements of a [Type]. It is immutable.
type Tensor struct {
	// Data is what is stored: of decimals of more than 18 digits the upper 64 bits.
	Data tensor.Tensor `tenon:"name=data"`

	// Low is the lower 64 bits of such decimals. Others have none.
	Low tensor.Tensor `tenon:"name=low,optional"`

	Type Type `tenon:"name=type"`
}

var (
	_ tensor.Tensor = Tensor{}
	_ op.Formed     = Tensor{}
	_ op.Handler    = Tensor{}
	_ op.Accepter   = Tensor{}
)

// A Spec is the Spec of a [Tensor].
type Spec struct{ *ext.Spec }

func init() {
	ext.Register[Tensor](TypeName, ext.Options{Spec: func(s *ext.Spec) tenon.Spec { return Spec{s} }})
}

// DType returns the element type of what is stored.
func (s Spec) DType() dtype.DType { return s.data().DType() }

// Shape returns the shape.
func (s Spec) Shape() shape.Shape { return s.data().Shape() }

type typed interface {
	tenon.Spec
	DType() dtype.DType
	Shape() shape.Shape
}

func (s Spec) data() typed { return s.Components()[0].Spec.(typed) }

// Type returns what the elements mean.
func (s Spec) Type() Type {
	m, _ := s.Static("type")
	f, _ := m.(map[string]any)
	number := func(name string) int { n, _ := f[name].(int); return n }
	zone, _ := f["Zone"].(string)
	return Type{Kind: Kind(number("Kind")), Unit: time.Duration(number("Unit")), Zone: zone, Precision: number("Precision"), Scale: number("Scale"), Width: number("Width")}
}

// String returns the type and the shape: timestamp[us][3].
func (s Spec) String() string { return s.Type().String() + s.Shape().String() }

// Spec returns the Spec, which is a [Spec].
func (t Tensor) Spec() tenon.Spec { return ext.SpecOf(t) }

// DType returns the element type of what is stored.
func (t Tensor) DType() dtype.DType { return t.Data.DType() }

// Shape returns the shape.
func (t Tensor) Shape() shape.Shape { return t.Data.Shape() }

// Form returns what operations work on.
func (t Tensor) Form() op.Form {
	f := op.Form{Columns: []tensor.Tensor{t.Data}, Type: t.Type}
	if t.Low != nil {
		f.Columns = append(f.Columns, t.Low)
	}
	return f
}

// Make returns elements of the type, of what is stored.
func (t Type) Make(columns []tensor.Tensor) (tenon.Value, error) { return t.make(columns) }

func (t Type) make(columns []tensor.Tensor) (tensor.Tensor, error) {
	for _, c := range columns {
		if d := t.Storage(); c.DType() != d {
			return nil, &tenon.Error{Kind: tenon.ErrDType, Op: "element", Msg: fmt.Sprintf("%v is stored as %v, not %v", t, d, c.DType()), Line: source.Line()}
		}
	}
	if len(columns) == 1 && !t.IsWide() {
		return outside(columns[0], func(x tensor.Tensor) tensor.Tensor { return Tensor{Data: x, Type: t} }), nil
	}
	if len(columns) == 2 && t.IsWide() {
		return paired(columns[0], columns[1], t), nil
	}
	return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "element", Msg: fmt.Sprintf("%v of %d columns", t, len(columns)), Line: source.Line()}
}

// outside does something to the innermost values of ragged and masked tensors.
func outside(x tensor.Tensor, f func(x tensor.Tensor) tensor.Tensor) tensor.Tensor {
	switch x := x.(type) {
	case masked.Optional:
		return tenon.Must(masked.New(outside(x.Values(), f), x.Mask()))
	case ragged.Divided:
		return tenon.Must(ragged.FromPartitions(outside(x.FlatValues(), f), x.Partitions()...))
	}
	return f(x)
}

// paired puts both halves of wide decimals together.
func paired(high, low tensor.Tensor, t Type) tensor.Tensor {
	switch h := high.(type) {
	case masked.Optional:
		if l, ok := low.(masked.Optional); ok {
			return tenon.Must(masked.New(paired(h.Values(), l.Values(), t), h.Mask()))
		}
	case ragged.Divided:
		if l, ok := low.(ragged.Divided); ok {
			return tenon.Must(ragged.FromPartitions(paired(h.FlatValues(), l.FlatValues(), t), h.Partitions()...))
		}
	}
	return Tensor{Data: high, Low: low, Type: t}
}

// New returns elements of a type, of what is stored: integers of any type for times and decimals, strings
// for binary data. What is ragged or masked stays so.
//
//	New([]int64{0, 86400}, TimestampOf(time.Second, "UTC"))
func New(data any, t Type) (x tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	if err := t.check(); err != nil {
		return nil, err
	}
	v, err := tensor.Convert(data)
	if err != nil {
		return nil, err
	}
	d := v.DType()
	if (t.Storage() == dtype.String) != d.IsString() || !d.IsString() && !d.IsInteger() {
		e := &tenon.Error{Kind: tenon.ErrDType, Op: "element.New", Msg: fmt.Sprintf("%s are no %v, which is stored as %v", tenon.String(v.Spec()), t, t.Storage()), Line: source.Line()}
		if d.IsString() {
			e.Hint = "use element.Parse to read text"
		}
		return nil, e
	}
	if t.Storage() == dtype.String {
		if err := t.sizes(v); err != nil {
			return nil, err
		}
	} else if d != t.Storage() {
		v = ops.Cast(v, t.Storage())
	}
	if t.IsWide() {
		return widened(v, t), nil
	}
	return t.make([]tensor.Tensor{v})
}

// sizes checks the sizes of binary data, where they are known.
func (t Type) sizes(v tensor.Tensor) error {
	fits, ok := op.Known(ops.All(ops.Equal(ops.StringLength(v, ops.UnitByte), t.Width)))
	if !ok || tensor.Item[bool](fits) {
		return nil
	}
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: "element.New", Msg: fmt.Sprintf("some elements do not have the %d bytes of %v", t.Width, t), Line: source.Line()}
}

// FromHalves returns decimals of more than 18 digits of the upper and lower 64 bits of their numbers in two's complement.
func FromHalves(high, low []int64, t Type, dims ...int) (tensor.Tensor, error) {
	if err := t.check(); err != nil || !t.IsWide() || len(high) != len(low) {
		return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "element.FromHalves", Msg: fmt.Sprintf("%d and %d halves of %v", len(high), len(low), t), Err: err, Line: source.Line()}
	}
	return Tensor{Data: tensor.Of(high, dims...), Low: tensor.Of(low, dims...), Type: t}, nil
}

// TypeOf returns what the elements of a tensor mean, also of a ragged or masked one; false for others.
func TypeOf(x tensor.Tensor) (Type, bool) {
	var t Type
	found := false
	look(x, func(e Tensor) { t, found = e.Type, true })
	return t, found
}

// look calls f with the innermost values of ragged and masked tensors, where they are a Tensor.
func look(x tensor.Tensor, f func(Tensor)) {
	switch x := x.(type) {
	case Tensor:
		f(x)
	case masked.Optional:
		look(x.Values(), f)
	case ragged.Divided:
		look(x.FlatValues(), f)
	}
}

// each does something to the Tensor in ragged and masked ones.
func each(fn string, x tensor.Tensor, f func(x Tensor) tensor.Tensor) (out tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return outside(x, func(x tensor.Tensor) tensor.Tensor {
		t, ok := x.(Tensor)
		if !ok {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrDType, Op: fn, Msg: fmt.Sprintf("%s has no type of element", tenon.String(x.Spec())), Hint: "use element.New to give numbers a unit", Line: source.Line()})
		}
		return f(t)
	}), nil
}

// Stored returns what is stored: the numbers of times and of decimals of up to 18 digits, and binary data as strings.
func Stored(x tensor.Tensor) (tensor.Tensor, error) {
	return each("element.Stored", x, func(t Tensor) tensor.Tensor {
		if t.Low != nil {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrUnsupported, Op: "element.Stored", Msg: fmt.Sprintf("%v is stored as two numbers", t.Type), Hint: "element.To(x, element.DecimalOf(18, scale)) makes one of them", Line: source.Line()})
		}
		return t.Data
	})
}
