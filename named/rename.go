package named

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tenonml/tenon"
)

// Rename renames a dimension. It throws an error of kind ErrNotFound if the tensor lacks it, and of
// kind ErrInvalid if the tensor already has the new name. Sets are renamed name by name.
//
//	keys := named.Rename[Seq, KeySeq](x)
func Rename[From Is[From], To Is[To]](x tenon.Value) *Tensor {
	return renamed(x, groupOf[From](), groupOf[To]())
}

// Rename renames the dimensions in the list, one by one, to the names in to.
func (d Dims) Rename(x tenon.Value, to ...Name) *Tensor {
	return renamed(x, d.group(), By(to...).names)
}

func renamed(x tenon.Value, from, to *layout) *Tensor {
	t := rename("named.Rename", tensorOf("named.Rename", x), from, to)
	t.from = calledFrom(4)
	if len(from.ids) == 1 {
		t.from.from, t.from.to = from.ids[0], to.ids[0]
	}
	return t
}

// Renaming renames several dimensions at once, so that names can be exchanged.
func Renaming(x tenon.Value, names map[Name]Name) *Tensor {
	var from, to []id
	keys := slices.SortedFunc(maps.Keys(names), func(a, b Name) int {
		return slices.Compare(groupOfName(a).ids, groupOfName(b).ids)
	})
	for _, n := range keys {
		from, to = append(from, groupOfName(n).ids...), append(to, groupOfName(names[n]).ids...)
	}
	t := rename("named.Renaming", tensorOf("named.Renaming", x), layoutOf(from), layoutOf(to))
	t.from = here()
	return t
}

func rename(fn string, t *Tensor, from, to *layout) *Tensor {
	l := t.spec.names.plan(planKey{kind: planRename, other: to, dims: from}, func() (any, error) {
		fn := fmt.Sprintf("%s %v→%v", fn, from, to)
		if len(from.ids) != len(to.ids) {
			return nil, newError(tenon.ErrInvalid, fn, fmt.Sprintf("%d names cannot be renamed to %d", len(from.ids), len(to.ids)))
		}
		out := slices.Clone(t.spec.names.ids)
		for i, n := range from.ids {
			at := t.spec.names.index(n)
			if at < 0 {
				return nil, errMissing(fn, n, one{"tensor", t})
			}
			out[at] = to.ids[i]
		}
		if n, twice := duplicate(from.ids); twice {
			return nil, newError(tenon.ErrInvalid, fn, fmt.Sprintf("%v is renamed twice", n))
		}
		if n, twice := duplicate(out); twice {
			return nil, errTaken(fn, n, one{"tensor", t})
		}
		return layoutOf(out), nil
	}).(*layout)
	if t.side != nil {
		t.side.refuse(fn, l, one{"tensor", t})
	}
	return newTensor(t.data, l, t.side.renamed(from, to))
}

// renamed returns the side of a tensor after renaming.
func (s *side) renamed(from, to *layout) *side {
	if s == nil || s.seen == nil {
		return s
	}
	out, who := *s, *s.seen
	for _, n := range []*id{&who.query, &who.key} {
		if at := from.index(*n); at >= 0 {
			*n = to.ids[at]
		}
	}
	out.seen = &who
	return &out
}
