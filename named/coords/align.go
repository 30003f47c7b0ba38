package coords

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/op"
)

// Join says which labels Arrays have along a dimension after they have been
// aligned.
type Join string

// The ways to join labels. The order is that of the first Array; in an outer join, it is followed
// by labels that only others have.
const (
	Inner Join = ""      // labels that all Arrays have
	Outer Join = "outer" // labels that any Array has; elements that an Array lacks are filled
	Left  Join = "left"  // labels of the first Array
	Right Join = "right" // labels of the last Array
	Exact Join = "exact" // different labels, or a different order, are an error
)

// Align returns Arrays with the same labels along each dimension along which several of them have
// labels. fill, such as NaN, replaces elements for labels that an Array does not have.
func Align(how Join, fill any, arrays ...*Array) []*Array {
	out := slices.Clone(arrays)
	var done []named.Dims
	for _, a := range arrays {
		for _, x := range a.axes {
			if slices.Contains(done, x.name) {
				continue
			}
			done = append(done, x.name)
			joined := join(how, x.name, arrays)
			for i, b := range out {
				if _, ok := b.Labels(x.name); ok {
					out[i] = b.reindex(x.name, joined, fill)
				}
			}
		}
	}
	return out
}

// join returns the labels along a dimension of several Arrays.
func join(how Join, d named.Dims, arrays []*Array) *Labels {
	var lists []*Labels
	for _, a := range arrays {
		if l, ok := a.Labels(d); ok {
			lists = append(lists, l)
		}
	}
	first := lists[0]
	var out []any
	switch how {
	case Exact:
		for _, l := range lists[1:] {
			if !first.Equal(l) {
				fail(tenon.ErrInvalid, "coords.Align", "the labels along %v differ: %v and %v", d, first, l)
			}
		}
		return first
	case Left:
		return first
	case Right:
		return lists[len(lists)-1]
	case Inner:
		same := true
		for _, x := range first.list {
			if !slices.ContainsFunc(lists[1:], func(l *Labels) bool { _, ok := l.Position(x); return !ok }) {
				out = append(out, x)
			} else {
				same = false
			}
		}
		if same {
			return first
		}
	case Outer:
		union := &Labels{at: map[any]int{}}
		for _, l := range lists {
			for _, x := range l.list {
				if _, ok := union.Position(x); !ok {
					out = append(out, x)
					union.at[x] = len(union.list)
					union.list = append(union.list, x)
				}
			}
		}
	default:
		fail(tenon.ErrInvalid, "coords.Align", "there is no join %q", string(how))
	}
	return tenon.Must(NewLabels(out...))
}

// handle applies an operation to the tensors of Arrays after aligning them with an inner join.
func handle(c *op.Call) ([]tenon.Value, error) {
	values := c.Values()
	var arrays []*Array
	for _, v := range values {
		if a, ok := v.(*Array); ok {
			arrays = append(arrays, a)
		}
	}
	if len(values) > 1 && !c.Op.IsElementwise() {
		return nil, op.NotHandled
	}
	aligned := Align(Inner, nil, arrays...)
	k := 0
	for i, v := range values {
		if _, ok := v.(*Array); ok {
			values[i] = aligned[k].t
			k++
		}
	}
	res := op.ApplyN(c, values...)
	out := make([]tenon.Value, len(res))
	for i, r := range res {
		out[i] = r
		if t, ok := r.(*named.Tensor); ok {
			merged := &Array{t: t}
			for _, a := range aligned {
				merged = a.with(t, merged.axes...)
			}
			out[i] = merged
		}
	}
	return out, nil
}
