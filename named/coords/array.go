package coords

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Array is a named tensor with labels along some of its dimensions. It is immutable.
type Array struct {
	t    *named.Tensor
	axes []axis // sorted by the paths of the names
}

// axis is a dimension with its labels.
type axis struct {
	name   named.Dims // a single name
	labels *Labels
}

var (
	_ tensor.Tensor = (*Array)(nil)
	_ op.Handler    = (*Array)(nil)
	_ tenon.Equaler = (*Spec)(nil)
	_ tenon.Batcher = (*Spec)(nil)
	_ tenon.Boxer   = (*Spec)(nil)
)

// New adds labels to dimensions of a named tensor. It throws if a dimension is missing or its size
// is not the number of labels.
func New(x tenon.Value, coordinates ...Coordinate) *Array {
	a := &Array{t: named.From(x)}
	for _, c := range coordinates {
		n := named.By(c.Name)
		if c.Labels == nil {
			fail(tenon.ErrInvalid, "coords.New", "there are no labels along %v", n)
		}
		if size := a.t.Size(n); size != c.Labels.Len() && size >= 0 {
			fail(tenon.ErrInvalid, "coords.New", "%v has the size %d, and there are %d labels", n, size, c.Labels.Len())
		}
		if _, twice := a.Labels(n); twice {
			fail(tenon.ErrInvalid, "coords.New", "%v has labels twice", n)
		}
		a.axes = append(a.axes, axis{n, c.Labels})
	}
	return a.sorted()
}

func (a *Array) sorted() *Array {
	sortAxes(a.axes)
	return a
}

func sortAxes(list []axis) {
	slices.SortFunc(list, func(x, y axis) int { return strings.Compare(named.Path(x.name), named.Path(y.name)) })
}

// Tensor returns the named tensor without labels.
func (a *Array) Tensor() *named.Tensor { return a.t }

// Labels returns the labels along a dimension, and false if there are none.
func (a *Array) Labels(n named.Name) (*Labels, bool) {
	d := named.By(n)
	for _, x := range a.axes {
		if x.name == d {
			return x.labels, true
		}
	}
	return nil, false
}

// labels is Labels for a function that requires them.
func (a *Array) labels(fn string, n named.Dims) *Labels {
	l, ok := a.Labels(n)
	if !ok {
		if !a.t.Has(n) {
			a.t.Size(n) // throws with the names that there are
		}
		fail(tenon.ErrNotFound, fn, "there are no labels along %v", n)
	}
	return l
}

// DType returns the type of the elements.
func (a *Array) DType() dtype.DType { return a.t.DType() }

// Shape returns the sizes in the order in which the dimensions are stored.
func (a *Array) Shape() shape.Shape { return a.t.Shape() }

// Concrete returns the tensor without names, in the order in which it is stored.
func (a *Array) Concrete() (tensor.Tensor, error) { return a.t.Concrete() }

// String returns the tensor, followed by a line with the labels along each
// dimension.
func (a *Array) String() string { return a.text("%v") }

// Format prints the value for the verbs v and s as String does. A plus flag prints all elements.
func (a *Array) Format(s fmt.State, verb rune) { tensor.Format(s, verb, a, a.text) }

func (a *Array) text(verb string) string {
	s := fmt.Sprintf(verb, a.t)
	for _, x := range a.axes {
		s += fmt.Sprintf("\n%v: %v", x.name, x.labels)
	}
	return s
}

// with returns t with the labels of a along the dimensions that t has, except for those in changed.
func (a *Array) with(t *named.Tensor, changed ...axis) *Array {
	out := &Array{t: t}
	for _, x := range slices.Concat(changed, a.axes) {
		if _, there := out.Labels(x.name); there || !t.Has(x.name) {
			continue
		}
		if size := t.Size(x.name); size < 0 || size == x.labels.Len() {
			out.axes = append(out.axes, x)
		}
	}
	return out.sorted()
}

// Apply returns the result of f for the tensor, with the labels along the dimensions that keep
// their names and sizes.
func Apply(f func(x *named.Tensor) *named.Tensor, a *Array) *Array { return a.with(f(a.t)) }

// UseNamed says how to use functions of package named with arrays.
func (a *Array) UseNamed(fn string) string {
	return "coords.Apply keeps the labels: coords.Apply(" + fn + "[…], array); its method Tensor returns the tensor without them"
}

// Spec returns the *Spec.
func (a *Array) Spec() tenon.Spec { return &Spec{a.t.Spec(), a.axes} }

// TypeName is the registered name of [*Spec].
const TypeName = "named.coords.Array"

// Spec describes Arrays: the Spec of the tensor, and the labels.
type Spec struct {
	tensor tenon.Spec
	axes   []axis
}

// TypeName returns "named.coords.Array".
func (*Spec) TypeName() string { return TypeName }

// Encode returns (tensor Spec, [(name, [label…])…]).
func (s *Spec) Encode() tenon.Encoding {
	l := make(tenon.List, len(s.axes))
	for i, x := range s.axes {
		l[i] = tenon.Tuple{tenon.Str(named.Path(x.name)), x.labels.encode()}
	}
	return tenon.Tuple{tenon.SpecOf{Spec: s.tensor}, l}
}

func decodeSpec(e tenon.Encoding) (spec tenon.Spec, err error) {
	defer tenon.Catch(&err)
	var inner tenon.SpecOf
	var list tenon.List
	tenon.Throw(tenon.Unpack(e, &inner, &list))
	ts, ok := inner.Spec.(*named.Spec)
	if !ok {
		return nil, tenon.NewError(tenon.ErrDType, "coords.Spec", "the tensor has no names")
	}
	s := &Spec{tensor: ts}
	for i, x := range list {
		var path tenon.Str
		var l tenon.List
		tenon.Throw(tenon.Unpack(x, &path, &l))
		labels := tenon.Must(decodeLabels(l))
		n := named.By(named.Dynamic(string(path)))
		at := slices.IndexFunc(ts.Dims().Names(), func(m named.Name) bool { return named.By(m) == n })
		if at < 0 || ts.Shape().Dim(at) >= 0 && ts.Shape().Dim(at) != labels.Len() {
			return nil, tenon.NewError(tenon.ErrInvalid, "coords.Spec", fmt.Sprintf("%d labels along %q do not fit %v", labels.Len(), string(path), ts))
		}
		if i > 0 && named.Path(s.axes[i-1].name) >= string(path) {
			return nil, tenon.NewError(tenon.ErrInvalid, "coords.Spec", "the dimensions with labels are not in order")
		}
		s.axes = append(s.axes, axis{n, labels})
	}
	return s, nil
}

func init() { tenon.Register(TypeName, decodeSpec) }

// EqualSpec compares the fields without encoding the Specs.
func (s *Spec) EqualSpec(other tenon.Spec) bool {
	o, ok := other.(*Spec)
	return ok && tenon.Equal(s.tensor, o.tensor) && slices.EqualFunc(s.axes, o.axes, func(x, y axis) bool {
		return x.name == y.name && x.labels.Equal(y.labels)
	})
}

// Components returns the named tensor.
func (s *Spec) Components() []tenon.Field {
	return []tenon.Field{{Name: "tensor", Spec: s.tensor}}
}

// Disassemble returns the named tensor.
func (s *Spec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	a, ok := v.(*Array)
	if !ok || a == nil || a.t.Spec().(*named.Spec).Dims() != s.tensor.(*named.Spec).Dims() {
		return nil, tenon.NewError(tenon.ErrDType, "coords.Spec.Disassemble", fmt.Sprintf("the value is not one of %v", s))
	}
	return []tenon.Value{a.t}, nil
}

// Assemble adds the labels to a named tensor.
func (s *Spec) Assemble(components []tenon.Value) (tenon.Value, error) {
	if err := tenon.CheckComponents(s, components); err != nil {
		return nil, err
	}
	t, ok := components[0].(*named.Tensor)
	if !ok {
		return nil, tenon.NewError(tenon.ErrDType, "coords.Spec.Assemble", "the component is not a named tensor")
	}
	return &Array{t, s.axes}, nil
}

// Batched adds the dimension named.Rows, which has no labels.
func (s *Spec) Batched(n int) (tenon.Spec, error) {
	t, err := s.tensor.(tenon.Batcher).Batched(n)
	if err != nil {
		return nil, err
	}
	return s.moved(t.(*named.Spec), 1), nil
}

// Unbatched removes the dimension named.Rows, and any labels along it.
func (s *Spec) Unbatched() (tenon.Spec, error) {
	t, err := s.tensor.(tenon.Batcher).Unbatched()
	if err != nil {
		return nil, err
	}
	return s.moved(t.(*named.Spec), -1), nil
}

// moved returns the Spec of a tensor whose dimensions are those of s, moved by the given number of
// positions. Batching renames dimensions called Rows.
func (s *Spec) moved(t *named.Spec, by int) *Spec {
	from, to := s.tensor.(*named.Spec).Dims().Names(), t.Dims().Names()
	out := &Spec{tensor: t}
	for _, x := range s.axes {
		at := by + slices.IndexFunc(from, func(n named.Name) bool { return named.By(n) == x.name })
		if at >= 0 {
			out.axes = append(out.axes, axis{named.By(to[at]), x.labels})
		}
	}
	sortAxes(out.axes)
	return out
}

// Box encodes the tensor; the labels are in the Spec.
func (s *Spec) Box(v tenon.Value, minRank int) ([]tenon.Value, error) {
	parts, err := s.Disassemble(v)
	if err != nil {
		return nil, err
	}
	return s.tensor.(tenon.Boxer).Box(parts[0], minRank)
}

// Unbox is the inverse of Box.
func (s *Spec) Unbox(tensors []tenon.Value) (tenon.Value, error) {
	t, err := s.tensor.(tenon.Boxer).Unbox(tensors)
	if err != nil {
		return nil, err
	}
	return s.Assemble([]tenon.Value{t})
}

// String returns the Spec of the tensor and the labels.
func (s *Spec) String() string {
	out := tenon.String(s.tensor)
	for _, x := range s.axes {
		out += fmt.Sprintf(" %v%v", x.name, x.labels)
	}
	return out
}

// MarshalJSON writes the value as tensor.AppendJSON does.
func (a *Array) MarshalJSON() ([]byte, error) { return tensor.AppendJSON(nil, a) }

// LogValue returns one line for package log/slog.
func (a *Array) LogValue() slog.Value { return tensor.LogValue(a) }
