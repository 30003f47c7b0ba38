package layers

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/named"
)

// Sizes are the sizes of the dimensions of a model, each declared once.
type Sizes []named.Sized

// Of returns the names with their sizes. It throws an error of kind ErrNotFound for a name without
// a size.
func (s Sizes) Of(names ...named.Name) []named.Sized {
	var out []named.Sized
	for _, n := range named.By(names...).Names() {
		found := false
		for _, d := range s {
			if named.Path(d.Name()) == named.Path(n) {
				out, found = append(out, d), true
				break
			}
		}
		if !found {
			tenon.Throw(tenon.NewError(tenon.ErrNotFound, "layers.Sizes", fmt.Sprintf("there is no size of %v", n)).
				WithHint(fmt.Sprintf("add %v{}.Of(…) to the sizes of the model", n)))
		}
	}
	return out
}

// count returns the number of elements along dimensions.
func count(dims []named.Sized) int {
	n := 1
	for _, d := range dims {
		n *= d.Size()
	}
	return n
}

// by returns the list of the names of a type argument.
func by[N named.Is[N]]() named.Dims {
	var n N
	return named.By(any(n).(named.Name))
}
