package arrowio

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/anatomy"
)

// complete throws if an element of an array is missing although the Spec requires a value. optional
// are the depths, below the array's rows, at which elements may be missing.
func (r *reading) complete(at string, f arrow.Field, d arrow.ArrayData, s tenon.Spec, optional ...int) {
	_, _, d = storage(f, d)
	switch a := anatomy.OfSpec(s); a.Kind {
	case anatomy.Optional:
		if m := shapeOf(a.Mask); m.HasRank() {
			r.complete(at, arrow.Field{}, d, a.Inner, append(slices.Clone(optional), m.Rank()-1)...)
		}
	case anatomy.Named:
		r.complete(at, arrow.Field{}, d, a.Inner, optional...)
	case anatomy.Map:
		rec := anatomy.OfSpec(a.Inner)
		n := len(rec.Partitions)
		d, ok := r.levels(at, d, n, optional)
		if !ok {
			return
		}
		var own []int
		if slices.Contains(optional, n) {
			own = []int{0}
		}
		r.complete(at, arrow.Field{}, d, rec.Fields[0].Spec, own...)
	case anatomy.Leaf, anatomy.Element, anatomy.Words:
		r.levels(at, d, -1, optional)
	case anatomy.Lists:
		n := len(a.Partitions)
		d, ok := r.levels(at, d, n, optional)
		if !ok {
			return
		}
		var inner []int
		for _, k := range optional {
			if k >= n {
				inner = append(inner, k-n)
			}
		}
		r.complete(at, arrow.Field{}, d, a.Inner, inner...)
	case anatomy.Records, anatomy.Parts:
		n := len(a.Partitions)
		d, ok := r.levels(at, d, n, optional)
		t, isStruct := d.DataType().(*arrow.StructType)
		if !ok || !isStruct {
			return
		}
		if !slices.Contains(optional, n) && valid(d) != nil {
			r.missing(at)
		}
		for _, c := range a.Fields {
			if k, ok := t.FieldIdx(c.Name); ok {
				r.complete(below(at, c.Name), t.Field(k), slice(d.Children()[k], d.Offset(), d.Offset()+d.Len()), c.Spec)
			}
		}
	}
}

// levels descends n levels of lists, or down to the first type that is not a list if n is negative,
// and returns what is below them.
func (r *reading) levels(at string, d arrow.ArrayData, n int, optional []int) (arrow.ArrayData, bool) {
	for k := 0; k != n; k++ {
		w := dictionaryOf(d)
		if !slices.Contains(optional, k) && (valid(d) != nil || w != nil && valid(w) != nil) {
			r.missing(at)
		}
		l, ok := r.level(d)
		if !ok {
			return d, n < 0
		}
		d = l.child
	}
	return d, true
}

func (r *reading) missing(at string) {
	tenon.Throw(fail(tenon.ErrDType, r.fn, at, "elements are null, but the Spec is not masked; use a Spec of package masked, or fill them"))
}
