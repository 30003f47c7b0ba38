package interp_test

import (
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/internal/interp"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// choice is a comparison and a choice with their neighbours.
func choice(p [4]tensor.Tensor) tensor.Tensor {
	return ops.Add(ops.Where(ops.Greater(ops.Neg(p[0]), p[2]), ops.Mul(p[1], 2), ops.Square(p[2])), p[3])
}

// Comparisons and choices run in the loop of their neighbours, whichever operands are one
// element for all.
func TestChoicesFuse(t *testing.T) {
	const n = 3000
	for _, d := range []dtype.DType{dtype.Float32, dtype.Float64, dtype.Int32, dtype.Int64, dtype.Float16} {
		for form := range 8 {
			t.Run(fmt.Sprintf("%v, %03b", d, form), func(t *testing.T) {
				var in [4]tensor.Tensor
				for i := range in {
					size := n
					if form>>i&1 != 0 {
						size = 1
					}
					in[i] = ops.Cast(ops.Sub(ops.Mod(ops.Mul(ops.Range(0, size, 1), 7+i), 11), 5), d)
				}
				f := function.New(choice)
				if got, want := f.Call(in), choice(in); !tensor.Equal(got, want, tensor.EqualOptions{}) {
					t.Errorf("got %v, want %v", got, want)
				}
				if g := tenon.Must(f.Trace(in)); form == 0 && d.Size() >= 4 {
					if steps := interp.Steps(g); len(steps) != 1 {
						t.Errorf("the steps are %v, want one", steps)
					}
				}
			})
		}
	}
}
