package structured

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// tagName is the name of a union's column that holds each element's variant.
const tagName = "tag"

// Union is a tensor whose elements have several types. It consists of a tag for
// each element and, for each variant, a tensor that holds the elements of that
// type, with filler elsewhere. Operations that move elements move all of these.
type Union struct {
	rec  *Tensor // the tags followed by the variants
	spec *UnionSpec
}

var (
	_ op.Handler    = (*Union)(nil)
	_ tenon.Batcher = (*UnionSpec)(nil)
)

// NewUnion returns the elements that tags, integers, select: element i is element i of the variant
// with the number in tag i. All variants must begin with the dimensions of the tags.
func NewUnion(tags any, variants []Field) (u *Union, err error) {
	defer tenon.Catch(&err)
	const fn = "structured.NewUnion"
	t := tenon.Must(tensor.Convert(tags))
	if !t.DType().IsInteger() || !t.Shape().HasRank() {
		return nil, failed(tenon.ErrDType, fn, "", "the tags are %s, not integers of a known rank", tenon.String(t.Spec()))
	}
	if k, ok := op.Known(t); ok {
		if list, ok := op.Ints(k); ok {
			for i, n := range list {
				if n < 0 || n >= len(variants) {
					return nil, invalid(fn, fmt.Sprintf("tags[%d]", i), "is %d, there are %d variants", n, len(variants))
				}
			}
		}
	}
	fields := append([]Field{{tagName, ops.Cast(t, dtype.Int8)}}, variants...)
	if len(variants) > 127 {
		return nil, invalid(fn, "", "%d variants are too many, want 127 at most", len(variants))
	}
	rec := tenon.Must(FromFields(fields, shape.OfRank(t.Shape().Rank()), Options{}))
	return newUnion(rec), nil
}

func newUnion(rec *Tensor) *Union { return &Union{rec, newUnionSpec(rec.typ())} }

// Spec returns the *UnionSpec.
func (u *Union) Spec() tenon.Spec { return u.spec }

// DType returns dtype.None: there is no single element type.
func (u *Union) DType() dtype.DType { return dtype.None }

// Shape returns the shape of the tags.
func (u *Union) Shape() shape.Shape { return u.rec.Shape() }

// Variants returns the names of the variants, in the order of their tags.
func (u *Union) Variants() []string { return u.rec.FieldNames()[1:] }

// Tags returns the number of each element's variant, as int8.
func (u *Union) Tags() tensor.Tensor { return u.rec.field(u.rec.cols[0]) }

// Variant returns the elements of a variant; the others are missing.
func (u *Union) Variant(name string) (v *masked.Tensor, err error) {
	defer tenon.Catch(&err)
	k := u.rec.find(name)
	if k < 1 {
		return nil, failed(tenon.ErrNotFound, "structured.Union.Variant", name, "is not one of the variants %q", u.Variants())
	}
	return masked.New(u.rec.field(u.rec.cols[k]), u.is(k-1))
}

// is reports which elements are of variant k.
func (u *Union) is(k int) tensor.Tensor { return ops.Equal(u.Tags(), ops.Cast(k, dtype.Int8)) }

// variant returns the elements of variant k; the others are missing.
func (u *Union) variant(k int) tensor.Tensor { return hidden(u.rec.field(u.rec.cols[k+1]), u.is(k)) }

// HandleOp answers operations that move or compare elements.
func (u *Union) HandleOp(c *op.Call) ([]tenon.Value, error) {
	return ofRecords(c)
}

// ofRecords applies an operation that moves or compares elements to the records that unions and
// maps consist of.
func ofRecords(c *op.Call) ([]tenon.Value, error) {
	_, compares := comparisons[c.Op.Name]
	if !moves(c.Op) && !describes(c.Op) && !compares {
		return nil, op.NotHandled
	}
	values := c.Values()
	var first composite
	for i, v := range values {
		x, ok := v.(composite)
		if !ok {
			continue
		}
		if first == nil {
			first = x
		}
		if values[i] = x.records(); compares {
			values[i] = x.canonical()
		}
	}
	return wrapped(op.ApplyN(c, values...), func(t tensor.Tensor) tenon.Value {
		if s, ok := t.(*Tensor); ok {
			return first.like(s)
		}
		return t
	})
}

// String prints the tags and the variants.
func (u *Union) String() string { return u.text("%v") }

// Format prints the value for the verbs v and s as String does. A plus flag prints all elements.
func (u *Union) Format(s fmt.State, verb rune) { tensor.Format(s, verb, u, u.text) }

func (u *Union) text(verb string) string {
	return "union " + fmt.Sprintf(verb, u.rec)
}

// UnionTypeName is the registered name of [*UnionSpec].
const UnionTypeName = "structured.Union"

// UnionSpec describes unions: the Specs of the tags and the variants.
type UnionSpec struct{ composed }

var unions composition

func init() {
	unions = composition{
		name: UnionTypeName, what: "a union consists of tags and variants", fits: tagged,
		like: func(rec *Spec) tenon.Spec { return newUnionSpec(rec) },
		of: func(rec *Tensor) (tensor.Tensor, error) {
			if k, ok := op.Known(rec.cols[0].v()); ok {
				for i, n := range tensor.Data[int8](k) {
					if n < 0 || int(n) >= len(rec.cols)-1 {
						return nil, invalid(UnionTypeName, fmt.Sprintf("tags[%d]", i), "is %d, there are %d variants", n, len(rec.cols)-1)
					}
				}
			}
			return newUnion(rec), nil
		},
	}
	tenon.Register(UnionTypeName, unions.decode)
}

func newUnionSpec(rec *Spec) *UnionSpec { return &UnionSpec{composed{rec, &unions}} }

// Variants returns the names and Specs of the variants, in the order of their tags.
func (s *UnionSpec) Variants() []tenon.Field { return s.rec.Fields()[1:] }

// tagged reports whether the first field of records is tags.
func tagged(s *Spec) bool {
	if len(s.cols) == 0 || s.cols[0].name != tagName {
		return false
	}
	t, ok := s.cols[0].spec.(typedSpec)
	return ok && t.DType() == dtype.Int8
}

// String returns "union[2]{int: int64[2], string: string[2]}".
func (s *UnionSpec) String() string {
	rec := &Spec{rank: s.rec.rank, nrows: s.rec.nrows, dtype: s.rec.dtype, parts: s.rec.parts, cols: s.rec.cols[1:]}
	return "union" + rec.String()[len("struct"):]
}
