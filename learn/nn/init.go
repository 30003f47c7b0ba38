package nn

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// An Init names a way to initialize the tensors of a layer. The same name, key, type and sizes
// give the same numbers everywhere. Fans are those of a kernel [window..., in, out].
type Init string

const (
	Zeros           Init = "zeros"            // all 0
	Ones            Init = "ones"             // all 1
	Uniform         Init = "uniform"          // in [-0.05, 0.05)
	Normal          Init = "normal"           // with standard deviation 0.05
	TruncatedNormal Init = "truncated_normal" // the same, truncated at two standard deviations

	// Variance 2/(fan in + fan out): X. Glorot and Y. Bengio, AISTATS 2010.
	GlorotUniform Init = "glorot_uniform" // uniform
	GlorotNormal  Init = "glorot_normal"  // normal, truncated at two standard deviations

	// Variance 2/(fan in), for rectifiers: K. He et al., ICCV 2015.
	HeUniform Init = "he_uniform" // uniform
	HeNormal  Init = "he_normal"  // normal, truncated at two standard deviations

	// Variance 1/(fan in): Y. LeCun et al., "Efficient backprop", 1998.
	LecunUniform Init = "lecun_uniform" // uniform
	LecunNormal  Init = "lecun_normal"  // normal, truncated at two standard deviations

	// Orthogonal columns or rows, uniform among all such matrices: A. Saxe et al., ICLR 2014.
	Orthogonal Init = "orthogonal"

	// Ones on the diagonal of a matrix.
	Identity Init = "identity"
)

// truncated is the standard deviation of a standard normal distribution that is truncated at -2
// and 2; dividing by it restores 1.
const truncated = 0.87962566103423978

var inits = map[Init]func(key tensor.Tensor, d dtype.DType, dims []int) tensor.Tensor{
	Zeros:         func(_ tensor.Tensor, d dtype.DType, dims []int) tensor.Tensor { return ops.Zeros(d, dims) },
	Ones:          func(_ tensor.Tensor, d dtype.DType, dims []int) tensor.Tensor { return ops.Ones(d, dims) },
	Uniform:       spread(uniform, func(_, _ float64) float64 { return 0.05 * 0.05 / 3 }),
	Normal:        func(key tensor.Tensor, d dtype.DType, dims []int) tensor.Tensor { return normal(key, d, dims, 0.05) },
	GlorotUniform: spread(uniform, func(in, out float64) float64 { return 2 / (in + out) }),
	GlorotNormal:  spread(truncatedNormal, func(in, out float64) float64 { return 2 / (in + out) }),
	HeUniform:     spread(uniform, func(in, _ float64) float64 { return 2 / in }),
	HeNormal:      spread(truncatedNormal, func(in, _ float64) float64 { return 2 / in }),
	LecunUniform:  spread(uniform, func(in, _ float64) float64 { return 1 / in }),
	LecunNormal:   spread(truncatedNormal, func(in, _ float64) float64 { return 1 / in }),
	TruncatedNormal: func(key tensor.Tensor, d dtype.DType, dims []int) tensor.Tensor {
		return ops.Mul(ops.RandomTruncatedNormal(key, dims, d), 0.05)
	},
	Orthogonal: orthogonal,
	Identity: func(_ tensor.Tensor, d dtype.DType, dims []int) tensor.Tensor {
		if len(dims) != 2 {
			tenon.Throw(tenon.NewError(tenon.ErrShape, "nn.Initialize", fmt.Sprintf("identity initializes matrices, not the shape %v", dims)))
		}
		return ops.Eye(d, dims[0], dims[1])
	},
}

// Initialize returns a tensor of a floating-point type with the given sizes, initialized by the
// method named how. If nothing is random, key is not used and may be nil. It throws errors.
func Initialize(how Init, key tensor.Tensor, d dtype.DType, dims ...int) tensor.Tensor {
	f, ok := inits[how]
	switch {
	case !ok:
		e := tenon.NewError(tenon.ErrNotFound, "nn.Initialize", fmt.Sprintf("there is no initializer %q", how))
		var names []string
		for _, n := range slices.Sorted(maps.Keys(inits)) {
			names = append(names, string(n))
		}
		e.Hint = "there are " + strings.Join(names, ", ")
		tenon.Throw(e)
	case !d.IsFloat():
		tenon.Throw(tenon.NewError(tenon.ErrDType, "nn.Initialize", fmt.Sprintf("%v is not a floating-point type", d)))
	case slices.ContainsFunc(dims, func(n int) bool { return n < 0 }):
		tenon.Throw(tenon.NewError(tenon.ErrShape, "nn.Initialize", fmt.Sprintf("the sizes %v are not those of a shape", dims)))
	}
	return f(key, d, dims)
}

// fans returns the number of inputs and outputs that a kernel [window..., in, out] connects.
func fans(dims []int) (in, out float64) {
	switch len(dims) {
	case 0:
		return 1, 1
	case 1:
		return float64(max(1, dims[0])), float64(max(1, dims[0]))
	}
	window := 1
	for _, n := range dims[:len(dims)-2] {
		window *= n
	}
	return float64(max(1, window*dims[len(dims)-2])), float64(max(1, window*dims[len(dims)-1]))
}

// spread returns an initializer whose variance depends on the fans.
func spread(draw func(key tensor.Tensor, d dtype.DType, dims []int, deviation float64) tensor.Tensor, variance func(in, out float64) float64) func(tensor.Tensor, dtype.DType, []int) tensor.Tensor {
	return func(key tensor.Tensor, d dtype.DType, dims []int) tensor.Tensor {
		return draw(key, d, dims, math.Sqrt(variance(fans(dims))))
	}
}

func uniform(key tensor.Tensor, d dtype.DType, dims []int, deviation float64) tensor.Tensor {
	limit := math.Sqrt(3) * deviation
	return ops.Mul(ops.Sub(ops.RandomUniform(key, dims, d), 0.5), 2*limit)
}

func normal(key tensor.Tensor, d dtype.DType, dims []int, deviation float64) tensor.Tensor {
	return ops.Mul(ops.RandomNormal(key, dims, d), deviation)
}

func truncatedNormal(key tensor.Tensor, d dtype.DType, dims []int, deviation float64) tensor.Tensor {
	return ops.Mul(ops.RandomTruncatedNormal(key, dims, d), deviation/truncated)
}

// orthogonal returns the orthogonal factor of the QR decomposition of a normal matrix, with R's
// diagonal made nonnegative, which is uniformly distributed (F. Mezzadri, Notices of the AMS
// 54, 2007).
func orthogonal(key tensor.Tensor, d dtype.DType, dims []int) tensor.Tensor {
	if len(dims) < 2 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, "nn.Initialize", fmt.Sprintf("orthogonal initializes matrices, not the shape %v", dims)))
	}
	rows, columns := 1, dims[len(dims)-1]
	for _, n := range dims[:len(dims)-1] {
		rows *= n
	}
	if rows == 0 || columns == 0 {
		return ops.Zeros(d, dims)
	}
	wide := []int{min(rows, columns), max(rows, columns)}
	q := op.Eval(orthonormalOp, ops.RandomNormal(key, wide, dtype.Float64))
	if rows > columns {
		q = ops.Transpose(q, 1, 0)
	}
	return ops.Cast(ops.Reshape(q, dims), d)
}

// orthonormalOp makes the rows of a matrix orthonormal. There may be no more rows than columns.
var orthonormalOp = op.Register(&op.Op{
	Name: "nn.orthonormal", Statement: op.Statement{Axes: op.Opaque, Core: 2, Missing: op.Refuse, Why: "a decomposition of whole matrices"}, Doc: "rows that are orthonormal", Results: 1, Nondifferentiable: true,
	Params: []op.Param{{Name: "x"}},
	Infer:  func(c *op.Call) ([]tenon.Spec, error) { return []tenon.Spec{c.Tensor(0).Spec()}, nil },
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x := tensor.Contiguous(c.Dense(0))
		out := tensor.Uninit(x.DType(), x.Shape())
		q, n := tensor.Elems[float64](out), x.Shape().Dim(1)
		copy(q, tensor.Elems[float64](x))
		for i := 0; n > 0 && i < len(q); i += n {
			orthonormal(q[i:i+n], q[:i])
		}
		return []tensor.Tensor{out}, nil
	},
})

// orthonormal subtracts from row its projections on the rows before it, which are orthonormal,
// twice, so that no rounding error remains, and scales it to length 1.
func orthonormal(row, before []float64) {
	n := len(row)
	dot := func(x, y []float64) (sum float64) {
		for i, a := range x {
			sum += a * y[i]
		}
		return sum
	}
	for range 2 {
		for at := 0; at < len(before); at += n {
			b := before[at : at+n]
			k := dot(row, b)
			for i := range row {
				row[i] -= k * b[i]
			}
		}
	}
	k := 1 / math.Sqrt(dot(row, row))
	for i := range row {
		row[i] *= k
	}
}

// keys returns n keys derived from one.
func keys(key tensor.Tensor, n int) []tensor.Tensor {
	return ops.RandomKeys(key, n)
}

func floatType(d dtype.DType) dtype.DType {
	if d == dtype.None {
		return dtype.Float32
	}
	return d
}

func orInit(i, d Init) Init {
	if i == "" {
		return d
	}
	return i
}
