package elementwise

import (
	"math"

	"github.com/tenonml/tenon/internal/kernel/special"
)

func binaryFloat[T float](op Op) func(dst, x, y []T) int {
	if f := arithmetic[T](op); f != nil {
		return f
	}
	switch op {
	case Div:
		return div[T]
	case Maximum:
		return maximum[T]
	case Minimum:
		return minimum[T]
	case FloorDiv:
		return floorDivFloat[T]
	case Mod:
		return modFloat[T]
	case TruncDiv:
		return truncDivFloat[T]
	case TruncMod:
		return both64[T](math.Mod)
	case Pow:
		return both64[T](special.Pow)
	case Atan2:
		return both64[T](math.Atan2)
	case Hypot:
		return both64[T](math.Hypot)
	case Xlogy:
		return both64[T](special.Xlogy)
	case Xlog1py:
		return both64[T](special.Xlog1py)
	case LogAddExp:
		return both64[T](special.LogAddExp)
	case NextAfter:
		return nextAfter[T]
	case LeakyRelu:
		return leakyRelu[T]
	case Elu:
		return both64[T](special.Elu)
	}
	return nil
}

// arithmetic returns the kernels that every number type has.
func arithmetic[T number](op Op) func(dst, x, y []T) int {
	switch op {
	case Add:
		return add[T]
	case Sub:
		return sub[T]
	case Mul:
		return mul[T]
	case SquaredDifference:
		return squaredDifference[T]
	}
	return nil
}

func both64[T float](f func(x, y float64) float64) func(dst, x, y []T) int {
	return func(dst, x, y []T) int {
		x, y = x[:len(dst)], y[:len(dst)]
		for i := range dst {
			dst[i] = T(f(float64(x[i]), float64(y[i])))
		}
		return -1
	}
}

func add[T number](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] + y[i]
	}
	return -1
}

func sub[T number](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] - y[i]
	}
	return -1
}

func mul[T number](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] * y[i]
	}
	return -1
}

func squaredDifference[T number](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		d := x[i] - y[i]
		dst[i] = d * d
	}
	return -1
}

func div[T float | complexNumber](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] / y[i]
	}
	return -1
}

// maximum returns NaN if either operand is NaN, and orders -0 below +0.
func maximum[T ordered](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = max(x[i], y[i])
	}
	return -1
}

func minimum[T ordered](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = min(x[i], y[i])
	}
	return -1
}

// divmod follows Python: the remainder has the sign of the divisor, and the quotient is the integer
// for which quotient*y+remainder is nearest x. Division by zero gives x/y and a NaN remainder.
func divmod[T float](x, y T) (quotient, remainder T) {
	r := T(math.Mod(float64(x), float64(y))) // exact
	if y == 0 || r != r {
		return x / y, r
	}
	q := (x - r) / y
	switch {
	case r == 0:
		r = T(math.Copysign(0, float64(y)))
	case r < 0 != (y < 0):
		r += y
		q--
	}
	if q == 0 {
		return T(math.Copysign(0, float64(x)/float64(y))), r
	}
	f := T(math.Floor(float64(q)))
	if q-f > 0.5 {
		f++
	}
	return f, r
}

func floorDivFloat[T float](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i], _ = divmod(x[i], y[i])
	}
	return -1
}

func modFloat[T float](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		_, dst[i] = divmod(x[i], y[i])
	}
	return -1
}

func truncDivFloat[T float](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Trunc(float64(x[i] / y[i])))
	}
	return -1
}

func nextAfter[T float](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	switch d := any(dst).(type) {
	case []float32:
		x, y := any(x).([]float32), any(y).([]float32)
		for i := range d {
			if x[i] == y[i] {
				d[i] = y[i] // a zero with the sign of y
			} else {
				d[i] = math.Nextafter32(x[i], y[i])
			}
		}
	case []float64:
		x, y := any(x).([]float64), any(y).([]float64)
		for i := range d {
			if x[i] == y[i] {
				d[i] = y[i]
			} else {
				d[i] = math.Nextafter(x[i], y[i])
			}
		}
	}
	return -1
}

// leakyRelu is x for positive x and y·x otherwise.
func leakyRelu[T float](dst, x, y []T) int {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		v := x[i]
		if !(v > 0) {
			v *= y[i]
		}
		dst[i] = v
	}
	return -1
}
