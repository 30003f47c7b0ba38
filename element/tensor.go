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

// A Tensor is a tensor of elements of a [Type]. It is immutable.
type Tensor struct {
	// Data is the stored data. For decimals of more than 18 digits, it is the upper 64 bits.
	Data tensor.Tensor `tenon:"name=data"`

	// Low is the lower 64 bits of decimals of more than 18 digits. It is nil for
	// other types.
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

// DType returns the element type of the stored data.
func (s Spec) DType() dtype.DType { return s.data().DType() }

// Shape returns the shape.
func (s Spec) Shape() shape.Shape { return s.data().Shape() }

type typed interface {
	tenon.Spec
	DType() dtype.DType
	Shape() shape.Shape
}

func (s Spec) data() typed { return s.Components()[0].Spec.(typed) }

// Type returns the type of the elements.
func (s Spec) Type() Type {
	m, _ := s.Static("type")
	f, _ := m.(map[string]any)
	number := func(name string) int { n, _ := f[name].(int); return n }
	zone, _ := f["Zone"].(string)
	return Type{Kind: Kind(number("Kind")), Unit: time.Duration(number("Unit")), Zone: zone, Precision: number("Precision"), Scale: number("Scale"), Width: number("Width")}
}

// String returns the type and the shape, as in "timestamp[us][3]".
func (s Spec) String() string { return s.Type().String() + s.Shape().String() }

// Spec returns the Spec of t, a [Spec].
func (t Tensor) Spec() tenon.Spec { return ext.SpecOf(t) }

// DType returns the element type of the stored data.
func (t Tensor) DType() dtype.DType { return t.Data.DType() }

// Shape returns the shape.
func (t Tensor) Shape() shape.Shape { return t.Data.Shape() }

// Form returns the stored data that operations work on.
func (t Tensor) Form() op.Form {
	f := op.Form{Columns: []tensor.Tensor{t.Data}, Type: t.Type}
	if t.Low != nil {
		f.Columns = append(f.Columns, t.Low)
	}
	return f
}

// Make makes elements of the type from stored data.
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

// outside applies f to the innermost values of ragged and masked tensors.
func outside(x tensor.Tensor, f func(x tensor.Tensor) tensor.Tensor) tensor.Tensor {
	switch x := x.(type) {
	case masked.Optional:
		return tenon.Must(masked.New(outside(x.Values(), f), x.Mask()))
	case ragged.Divided:
		return tenon.Must(ragged.FromPartitions(outside(x.FlatValues(), f), x.Partitions()...))
	}
	return f(x)
}

// paired combines the two halves of wide decimals.
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

// New makes elements of a type from stored data: integers of any type for times and decimals,
// strings for binary data. Ragged and masked tensors stay ragged and masked.
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
		e := &tenon.Error{Kind: tenon.ErrDType, Op: "element.New", Msg: fmt.Sprintf("%s cannot be %v, which is stored as %v", tenon.String(v.Spec()), t, t.Storage()), Line: source.Line()}
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

// sizes checks the sizes of binary data, if they are known.
func (t Type) sizes(v tensor.Tensor) error {
	fits, ok := op.Known(ops.All(ops.Equal(ops.StringLength(v, ops.UnitByte), t.Width)))
	if !ok || tensor.Item[bool](fits) {
		return nil
	}
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: "element.New", Msg: fmt.Sprintf("some elements do not have the %d bytes of %v", t.Width, t), Line: source.Line()}
}

// FromHalves makes decimals of more than 18 digits from the upper and lower 64 bits of their two's
// complement.
func FromHalves(high, low []int64, t Type, dims ...int) (tensor.Tensor, error) {
	if err := t.check(); err != nil || !t.IsWide() || len(high) != len(low) {
		return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "element.FromHalves", Msg: fmt.Sprintf("%d and %d halves of %v", len(high), len(low), t), Err: err, Line: source.Line()}
	}
	return Tensor{Data: tensor.Of(high, dims...), Low: tensor.Of(low, dims...), Type: t}, nil
}

// TypeOf returns the type of the elements of a tensor, which may be ragged or masked. It returns
// false if the tensor has no such type.
func TypeOf(x tensor.Tensor) (Type, bool) {
	var t Type
	found := false
	look(x, func(e Tensor) { t, found = e.Type, true })
	return t, found
}

// look calls f with each Tensor among the innermost values of ragged and masked tensors.
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

// each applies f to the Tensors inside ragged and masked ones.
func each(fn string, x tensor.Tensor, f func(x Tensor) tensor.Tensor) (out tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return outside(x, func(x tensor.Tensor) tensor.Tensor {
		t, ok := x.(Tensor)
		if !ok {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrDType, Op: fn, Msg: fmt.Sprintf("%s does not have an element type", tenon.String(x.Spec())), Hint: "use element.New to give numbers a unit", Line: source.Line()})
		}
		return f(t)
	}), nil
}

// Stored returns the stored data: numbers for times and for decimals of up to 18 digits, and
// strings for binary data.
func Stored(x tensor.Tensor) (tensor.Tensor, error) {
	return each("element.Stored", x, func(t Tensor) tensor.Tensor {
		if t.Low != nil {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrUnsupported, Op: "element.Stored", Msg: fmt.Sprintf("%v is stored as two numbers", t.Type), Hint: "element.To(x, element.DecimalOf(18, scale)) makes one of them", Line: source.Line()})
		}
		return t.Data
	})
}
