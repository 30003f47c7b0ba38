package train

import (
	"fmt"

	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// notFinite returns the path of the first tensor of a nest that has a NaN or an infinity, and
// describes these numbers; it returns "" if all numbers are finite.
func notFinite(x any) (path, what string) {
	paths, leaves, err := nest.FlattenWithPaths(x, nest.Options{Expand: true})
	if err != nil {
		return "", ""
	}
	for i, l := range leaves {
		t, ok := l.(tensor.Tensor)
		if !ok || !t.DType().IsFloat() {
			continue
		}
		for _, c := range []struct {
			has  tensor.Tensor
			name string
		}{{ops.IsNaN(t), "NaN"}, {ops.IsInf(t), "infinite numbers"}} {
			if n := int(number(ops.CountNonzero(c.has))); n > 0 {
				return paths[i].String(), fmt.Sprintf("%s in %d of %d elements", c.name, n, t.Shape().Size())
			}
		}
	}
	return "", ""
}
