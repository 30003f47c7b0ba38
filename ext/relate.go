package ext

import (
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// tensorLike has an element type and a shape.
type tensorLike interface {
	DType() dtype.DType
	Shape() shape.Shape
}

// size is the value of a symbol in a pattern of sizes.
type size struct {
	n    int
	from string // where it was first seen
}

// sizes checks the relations between the fields of one value.
type sizes struct {
	info  *info
	p     unsafe.Pointer
	known map[string]size
}

// relations checks, at registration, that tags refer to fields that exist.
func (i *info) relations() error {
	fields := i.node.flat(0, nil)
	named := func(name string) *field {
		for k := range fields {
			if fields[k].name == name {
				return &fields[k]
			}
		}
		return nil
	}
	for _, f := range fields {
		bad := func(format string, args ...any) error {
			return &tenon.Error{Kind: tenon.ErrInvalid, Op: "ext.Register", Where: f.name, Msg: fmt.Sprintf(format, args...)}
		}
		t := f.tag
		if t.shape != "" && t.dims == nil {
			if g := named(t.shape); g == nil || !g.node.isPlace() {
				return bad("shape=%s does not name a field with a Value; write sizes in brackets, such as shape=[rows 3]", t.shape)
			}
		}
		if t.dtype != "" {
			if _, ok := classes[t.dtype]; !ok {
				if _, err := dtype.Parse(t.dtype); err != nil {
					if g := named(t.dtype); g == nil || !g.node.isPlace() {
						return bad("dtype=%s is neither an element type, nor a class of them, nor a field that is a Value", t.dtype)
					}
				}
			}
		}
		if name, ok := strings.CutPrefix(t.rank, "len("); ok {
			name, ok = strings.CutSuffix(name, ")")
			if g := named(name); !ok || g == nil || g.node.kind != kindSlice && g.node.kind != kindArray && g.node.kind != kindMap && g.node.kind != kindString {
				return bad("rank=%s is not the length of a field", t.rank)
			}
		} else if t.rank != "" {
			if n, err := strconv.Atoi(t.rank); err != nil || n < 0 {
				return bad("rank=%s is not a rank", t.rank)
			}
		}
		for _, d := range t.dims {
			if g := named(d.symbol); g != nil && g.node.kind != kindInt && g.node.kind != kindUint && g.node.kind != kindSlice {
				return bad("the size %s is the name of a field that is neither a static integer nor a slice: choose another symbol", d.symbol)
			}
		}
	}
	return nil
}

// classes are the groups of element types that tags can name.
var classes = map[string]func(dtype.DType) bool{
	"float":          dtype.DType.IsFloat,
	"integer":        dtype.DType.IsInteger,
	"numeric":        dtype.DType.IsNumeric,
	"complex":        dtype.DType.IsComplex,
	"differentiable": dtype.DType.IsDifferentiable,
}

// field checks the relations of a field.
func (s *sizes) field(f field) error {
	t := f.tag
	if t.dtype == "" && t.rank == "" && t.shape == "" && t.len == nil {
		return nil
	}
	at := unsafe.Add(s.p, f.offset)
	if t.len != nil && (f.node.kind == kindSlice || f.node.kind == kindMap) {
		if err := s.match(f.name, f.node.at(at).Len(), *t.len, "has %d elements"); err != nil {
			return err
		}
	}
	if f.node.places == 0 {
		return nil
	}
	values := f.node.appendValues(at, nil)
	names := f.node.appendNames(at, f.name, nil)
	for k, v := range values {
		x, ok := v.(tensorLike)
		if !ok {
			continue
		}
		if err := s.value(f, names[k], x); err != nil {
			return err
		}
	}
	return nil
}

func broken(where, format string, args ...any) error {
	return &tenon.Error{Kind: tenon.ErrInvalid, Where: where, Msg: fmt.Sprintf(format, args...)}
}

// value checks the relations of a Value.
func (s *sizes) value(f field, name string, x tensorLike) error {
	t, d, sh := f.tag, x.DType(), x.Shape()
	if t.dtype != "" {
		if in, ok := classes[t.dtype]; ok {
			if !in(d) {
				return broken(name, "is %v, want a %s type", d, t.dtype)
			}
		} else if want, err := dtype.Parse(t.dtype); err == nil {
			if d != want {
				return broken(name, "is %v, want %v", d, want)
			}
		} else if y, ok := s.other(t.dtype); ok && y.DType() != d {
			return broken(name, "is %v, %s is %v", d, t.dtype, y.DType())
		}
	}
	if !sh.HasRank() {
		return nil
	}
	if t.rank != "" {
		want, err := strconv.Atoi(t.rank)
		if err != nil {
			of := strings.TrimSuffix(strings.TrimPrefix(t.rank, "len("), ")")
			want = s.lengthOf(of)
		}
		if sh.Rank() != want {
			return broken(name, "has shape %v, of rank %d; want rank %d (%s)", sh, sh.Rank(), want, t.rank)
		}
	}
	switch {
	case t.dims != nil:
		if err := s.dims(name, sh, t); err != nil {
			return err
		}
	case t.shape != "":
		if y, ok := s.other(t.shape); ok && !sh.CompatibleWith(y.Shape()) {
			return broken(name, "has shape %v, %s has %v", sh, t.shape, y.Shape())
		}
	}
	if t.len != nil && f.node.isPlace() {
		if sh.Rank() == 0 {
			return broken(name, "is a scalar, want a length")
		}
		return s.match(name, sh.Dim(0), *t.len, "has %d rows")
	}
	return nil
}

func (s *sizes) dims(name string, sh shape.Shape, t *tag) error {
	want := t.dims
	rest := len(want) > 0 && want[len(want)-1].symbol == "..."
	if rest {
		want = want[:len(want)-1]
	}
	if sh.Rank() < len(want) || !rest && sh.Rank() != len(want) {
		return broken(name, "has shape %v, want %s", sh, t.shape)
	}
	for a, d := range want {
		if err := s.match(name, sh.Dim(a), d, "axis "+strconv.Itoa(a)+" has size %d"); err != nil {
			return err
		}
	}
	return nil
}

// match compares a size with a pattern.
func (s *sizes) match(name string, n int, d dim, what string) error {
	if d.symbol == "_" || n == shape.Unknown {
		return nil
	}
	if d.symbol == "" {
		if n != d.plus {
			return broken(name, what+", want %d", n, d.plus)
		}
		return nil
	}
	old, ok := s.known[d.symbol]
	if !ok {
		if k := s.lengthOf(d.symbol); k >= 0 {
			old, ok = size{k, d.symbol}, true
		}
	}
	if ok && old.n+d.plus != n {
		plus := ""
		if d.plus != 0 {
			plus = fmt.Sprintf("%+d", d.plus)
		}
		return broken(name, what+", want %s%s = %d, as %s has it", n, d.symbol, plus, old.n+d.plus, old.from)
	}
	if n < d.plus {
		return broken(name, what+", which leaves %s below 0", n, d.symbol)
	}
	if !ok {
		s.known[d.symbol] = size{n - d.plus, name}
	}
	return nil
}

// lengthOf returns the static integer in a field or its length, or -1 if it has neither.
func (s *sizes) lengthOf(name string) int {
	for _, f := range s.info.node.flat(0, nil) {
		if f.name != name {
			continue
		}
		v := f.node.at(unsafe.Add(s.p, f.offset))
		switch f.node.kind {
		case kindInt:
			return int(v.Int())
		case kindUint:
			return int(v.Uint())
		case kindSlice, kindArray, kindMap, kindString: // for rank=len(…); sizes can name only slices
			return v.Len()
		}
	}
	return -1
}

// other returns the tensor in the named field.
func (s *sizes) other(name string) (tensorLike, bool) {
	for _, f := range s.info.node.flat(0, nil) {
		if f.name == name && f.node.isPlace() {
			x, ok := f.node.load(unsafe.Add(s.p, f.offset)).(tensorLike)
			return x, ok
		}
	}
	return nil, false
}
