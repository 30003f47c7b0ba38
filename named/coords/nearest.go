package coords

import (
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/named"
)

// NearestOptions say which labels are considered near.
type NearestOptions struct {
	Within float64 // the largest difference; 0 means any
	Before bool    // only labels that are not greater
	After  bool    // only labels that are not less
}

// Nearest returns the part of an Array at the label along a dimension that is nearest to a number;
// of two that are equally near, it takes the first. The labels must be numbers. If none is near
// enough, the error is of kind ErrNotFound.
//
//	coords.Nearest[Time](x, 12.3, coords.NearestOptions{Before: true}) // the last one up to then
func Nearest[N named.Is[N]](a *Array, label any, o NearestOptions) *Array {
	return NearestAt(a, by[N](), label, o)
}

// NearestAt is [Nearest] for a name that is a value.
func NearestAt(a *Array, n named.Name, label any, o NearestOptions) *Array {
	const fn = "coords.Nearest"
	d := named.By(n)
	l := a.labels(fn, d)
	to, ok := number(l.bound(fn, label))
	if !ok {
		fail(tenon.ErrDType, fn, "strings have no distance: the labels along %v are %v", d, l)
	}
	best, at := math.Inf(1), -1
	for i, x := range l.list {
		y, ok := number(x)
		distance := math.Abs(y - to)
		if ok && distance < best && !(o.Before && y > to) && !(o.After && y < to) && (o.Within == 0 || distance <= o.Within) {
			best, at = distance, i
		}
	}
	if at < 0 {
		tenon.Throw(tenon.NewError(tenon.ErrNotFound, fn, fmt.Sprintf("no label along %v is near %s", d, text(label))).WithHint("there are " + l.String()))
	}
	return a.with(d.Index(a.t, at))
}

// number returns a label as a number.
func number(label any) (float64, bool) {
	switch x := label.(type) {
	case int64:
		return float64(x), true
	case float64:
		return x, true
	}
	return 0, false
}
