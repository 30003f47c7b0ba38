package ops

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// TensorDot sums products over pairs of axes: axis xAxes[i] of x with axis yAxes[i] of y. The
// result has the other axes of x followed by those of y. It is computed as an [Einsum].
//
//	ops.TensorDot(x, y, []int{1, 2}, []int{0, 1})   // [a, b, c], [b, c, d] → [a, d]
func TensorDot(x, y any, xAxes, yAxes []int) tensor.Tensor {
	xt, yt := operandOf(x), operandOf(y)
	fail := func(kind error, format string, args ...any) {
		tenon.Throw(&tenon.Error{Kind: kind, Op: "ops.TensorDot", Args: []string{tenon.String(xt.Spec()), tenon.String(yt.Spec())}, Msg: fmt.Sprintf(format, args...)})
	}
	if len(xAxes) != len(yAxes) {
		fail(tenon.ErrAxis, "%d axes of x and %d of y", len(xAxes), len(yAxes))
	}
	xr, yr := xt.Shape().Rank(), yt.Shape().Rank()
	if xr < 0 || yr < 0 {
		fail(tenon.ErrShape, "the ranks must be known")
	}
	letters := make([]rune, xr+yr) // of x's axes, then of y's
	for i := range letters {
		letters[i] = firstSpare + rune(i)
	}
	summed := map[rune]bool{}
	for i := range xAxes {
		a, err := xt.Shape().Axis(xAxes[i])
		b, err2 := yt.Shape().Axis(yAxes[i])
		switch {
		case err != nil:
			fail(tenon.ErrAxis, "%v", err)
		case err2 != nil:
			fail(tenon.ErrAxis, "%v", err2)
		case summed[letters[a]] || letters[xr+b] < firstSpare+rune(xr):
			fail(tenon.ErrAxis, "an axis is listed twice in %v or %v", xAxes, yAxes)
		}
		letters[xr+b] = letters[a]
		summed[letters[a]] = true
	}
	e := equation{in: []string{string(letters[:xr]), string(letters[xr:])}}
	for _, r := range letters {
		if !summed[r] {
			e.out += string(r)
		}
	}
	return Einsum(e.String(), xt, yt)
}

// operandOf converts an argument to a tensor.
func operandOf(x any) tensor.Tensor {
	if t, ok := x.(tensor.Tensor); ok {
		return t
	}
	return tenon.Must(tensor.Convert(x))
}
