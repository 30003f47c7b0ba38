package dimcheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenonml/tenon/internal/dimtext"
)

// A dim is a dimension of a tensor.
type dim struct {
	Name name
	Size int  // dimtext.Absent if it is not known
	Was  name // what it was called before it was renamed, or ""
	Role role // the positions it runs along, as far as a variable's name shows
}

// root returns the original name of the dimension.
func (d dim) root() name {
	if d.Was != "" {
		return d.Was
	}
	return d.Name
}

// A kind says what a value is.
type kind int

const (
	unknown kind = iota
	tensorKind
	namesKind  // a list of names, which may have sizes
	numberKind // an integer
	textKind
	groupKind // a struct, array, slice or several results
	funcKind
	nilKind // Go's nil
	intKind // an integer with unknown value
	boxKind // a value of an interface type, with its possible contents by type in Fields
)

// A val is what is known about a Go value. nil stands for a value that nothing has reached yet.
// Values are immutable.
type val struct {
	Kind   kind
	Dims   []dim
	Attrs  *attrs // for tensors; may be nil
	Number int
	Text   string
	Fields map[string]*val // for groups, where "*" stands for every element, and for boxes
	Func   *function
}

// attrs are what is known about a tensor besides its dimensions.
type attrs struct {
	From    string    // its origin
	Handle  name      // for the dimension of a schema
	Hidden  []name    // the names that it is lifted over
	Extra   []name    // names that a tensor with a schema may have in addition
	Soft    []softmax // the softmaxes whose weights it contains
	Pairs   []pair    // pairs of dimensions that are positions of queries and of keys
	Swapped []pair    // pairs of dimensions whose roles a contraction has exchanged
	Seen    []pair    // for a mask, and for scores under it: who attends to whom
	Both    []shared  // dimensions that both operands of a contraction had and along which they were matched
}

// A shared dimension is one that a contraction treats as a batch dimension.
type shared struct {
	Name name
	Site site // of the contraction
}

// A softmax is the origin of weights.
type softmax struct {
	Over name
	Site site
}

// A pair is two dimensions of scores.
type pair struct{ Query, Key name }

// A function is a function value with what it has captured.
type function struct {
	Prog  *program
	Key   string // for a declared function, instead of Prog
	Binds []*val
	Names [][]name // type arguments
	Over  []name   // the names that named.Lift lifts it over
	Gives gives
}

// gives says what a call of a function value returns.
type gives int

const (
	itsResult gives = iota
	itsGradient
	resultAndGradient
	itsElements // it calls its argument with each element, which is in Binds
)

var (
	anything = &val{Kind: unknown}
	someInt  = &val{Kind: intKind}
	nilVal   = &val{Kind: nilKind}
)

// reached reports whether a value, including everything in a group, has been
// reached.
func (v *val) reached() bool {
	if v == nil {
		return false
	}
	for _, x := range v.Fields {
		if x == nil {
			return false
		}
	}
	return true
}

func tensorOf(dims []dim, a *attrs) *val { return &val{Kind: tensorKind, Dims: dims, Attrs: a} }

// isInt reports whether a value is an integer, known or not.
func isInt(v *val) bool { return v != nil && (v.Kind == numberKind || v.Kind == intKind) }

func isTensorVal(v *val) bool { return v != nil && v.Kind == tensorKind }

// bare returns the tensor of a handle, or nil for a value that is not a tensor.
func bare(v *val) *val {
	if !isTensorVal(v) {
		return nil
	}
	return v.with(func(a *attrs) { a.Handle = "" })
}

func (v *val) attrs() attrs {
	if v.Attrs == nil {
		return attrs{}
	}
	return *v.Attrs
}

// with returns the tensor with changed attributes.
func (v *val) with(change func(a *attrs)) *val {
	a, out := v.attrs(), *v
	change(&a)
	out.Attrs = &a
	return &out
}

func (v *val) find(n name) (dim, bool) {
	i := slices.IndexFunc(v.Dims, func(d dim) bool { return d.Name == n })
	if i < 0 {
		return dim{}, false
	}
	return v.Dims[i], true
}

func (v *val) has(n name) bool { _, ok := v.find(n); return ok }

// names returns the names in a list of names or of a handle.
func (v *val) names() ([]name, bool) {
	switch {
	case v == nil:
		return nil, false
	case v.Kind == tensorKind && v.Attrs != nil && v.Attrs.Handle != "":
		return []name{v.Attrs.Handle}, true
	case v.Kind != namesKind:
		return nil, false
	}
	out := make([]name, len(v.Dims))
	for i, d := range v.Dims {
		out[i] = d.Name
	}
	return out, true
}

func without(dims []dim, names []name) []dim {
	return slices.DeleteFunc(slices.Clone(dims), func(d dim) bool { return slices.Contains(names, d.Name) })
}

// text returns the name as printed among dims.
func text(n name, dims []dim) string {
	for _, d := range dims {
		if d.Name != n && d.Name.short() == n.short() {
			return string(n)
		}
	}
	return n.short()
}

func texts(dims []dim) []dimtext.Dim { return textsIn(dims, dims) }

// textsIn returns dimensions for a message that mentions the names in a scope.
func textsIn(dims, scope []dim) []dimtext.Dim {
	out := make([]dimtext.Dim, len(dims))
	for i, d := range dims {
		out[i] = dimtext.Dim{Name: text(d.Name, scope), Size: d.Size}
	}
	return out
}

func listText(names []name) string { return strings.Join(nameTexts(names), ", ") }

func nameTexts(names []name) []string {
	s := make([]string, len(names))
	for i, n := range names {
		s[i] = n.short()
	}
	return s
}

// String describes what is known.
func (v *val) String() string {
	if v == nil || v.Kind == nilKind {
		return "nil"
	}
	switch v.Kind {
	case tensorKind:
		return dimtext.Braces(texts(v.Dims))
	case namesKind:
		return "names" + dimtext.Braces(texts(v.Dims))
	case numberKind:
		return fmt.Sprint(v.Number)
	case intKind:
		return "int"
	case textKind:
		return fmt.Sprintf("%q", v.Text)
	case groupKind:
		var s []string
		for _, k := range slices.Sorted(maps.Keys(v.Fields)) {
			s = append(s, k+": "+v.Fields[k].String())
		}
		return "(" + strings.Join(s, ", ") + ")"
	case funcKind:
		return "func"
	}
	return "?"
}

// join returns what is known if the value may be either one.
func join(a, b *val) *val {
	switch {
	case a == nil || a == b:
		return b
	case b == nil || b.Kind == nilKind:
		return a
	case a.Kind == nilKind:
		return b
	case isInt(a) && isInt(b) && a.Kind != b.Kind:
		return someInt
	case a.Kind != b.Kind:
		return anything
	}
	switch a.Kind {
	case tensorKind:
		return joinTensors(a, b)
	case namesKind:
		if !slices.EqualFunc(a.Dims, b.Dims, func(x, y dim) bool { return x.Name == y.Name }) {
			return anything
		}
		return &val{Kind: namesKind, Dims: joinDims(a.Dims, b)}
	case numberKind:
		if a.Number == b.Number {
			return a
		}
		return someInt
	case intKind:
		return a
	case textKind:
		if a.Text == b.Text {
			return a
		}
	case groupKind, boxKind:
		return joinGroups(a, b)
	case funcKind:
		if a.Func == b.Func || equal(a, b) {
			return a
		}
	}
	return anything
}

func joinDims(dims []dim, b *val) []dim {
	out := slices.Clone(dims)
	for i := range out {
		d, _ := b.find(out[i].Name)
		if d.Size != out[i].Size {
			out[i].Size = dimtext.Absent
		}
		if d.Was != out[i].Was {
			out[i].Was = ""
		}
		if d.Role != out[i].Role {
			out[i].Role = ""
		}
	}
	return out
}

func joinTensors(a, b *val) *val {
	if len(a.Dims) != len(b.Dims) || len(without(a.Dims, dimNames(b.Dims))) > 0 {
		return anything
	}
	x, y := a.attrs(), b.attrs()
	out := attrs{
		Hidden: intersect(x.Hidden, y.Hidden), Extra: intersect(x.Extra, y.Extra), Soft: intersect(x.Soft, y.Soft),
		Pairs: intersect(x.Pairs, y.Pairs), Swapped: intersect(x.Swapped, y.Swapped), Seen: intersect(x.Seen, y.Seen), Both: intersect(x.Both, y.Both),
	}
	if x.From == y.From {
		out.From = x.From
	}
	if x.Handle == y.Handle {
		out.Handle = x.Handle
	}
	return tensorOf(joinDims(a.Dims, b), &out)
}

func dimNames(dims []dim) []name {
	out := make([]name, len(dims))
	for i, d := range dims {
		out[i] = d.Name
	}
	return out
}

func intersect[T comparable](a, b []T) []T {
	return slices.DeleteFunc(slices.Clone(a), func(x T) bool { return !slices.Contains(b, x) })
}

func union[T comparable](a, b []T) []T {
	out := slices.Clip(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

func joinGroups(a, b *val) *val {
	out := map[string]*val{}
	for k, x := range a.Fields {
		out[k] = x
	}
	for k, y := range b.Fields {
		out[k] = join(out[k], y)
	}
	return &val{Kind: a.Kind, Fields: out}
}

func equal(a, b *val) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || a.Kind != b.Kind || a.Number != b.Number || a.Text != b.Text || !slices.Equal(a.Dims, b.Dims) {
		return false
	}
	x, y := a.attrs(), b.attrs()
	if x.From != y.From || x.Handle != y.Handle || !slices.Equal(x.Hidden, y.Hidden) || !slices.Equal(x.Extra, y.Extra) ||
		!slices.Equal(x.Soft, y.Soft) || !slices.Equal(x.Pairs, y.Pairs) || !slices.Equal(x.Swapped, y.Swapped) ||
		!slices.Equal(x.Seen, y.Seen) || !slices.Equal(x.Both, y.Both) {
		return false
	}
	if f, g := a.Func, b.Func; f != g {
		if f == nil || g == nil || f.Prog != g.Prog || f.Key != g.Key || f.Gives != g.Gives || !slices.Equal(f.Over, g.Over) ||
			!slices.EqualFunc(f.Binds, g.Binds, equal) || !slices.EqualFunc(f.Names, g.Names, slices.Equal) {
			return false
		}
	}
	return maps.EqualFunc(a.Fields, b.Fields, equal)
}

// each returns the value with f applied to every tensor in it, and whether all of it is known.
func (v *val) each(f func(t *val) *val) (*val, bool) {
	switch {
	case v == nil:
		return nil, true
	case v.Kind == tensorKind:
		return f(v), true
	case v.Kind == unknown || v.Kind == funcKind || v.Kind == boxKind:
		return v, v.Kind == funcKind
	case v.Kind != groupKind:
		return v, true
	}
	out, all := map[string]*val{}, true
	for k, x := range v.Fields {
		y, known := x.each(f)
		out[k], all = y, all && known
	}
	return &val{Kind: groupKind, Fields: out}, all
}
