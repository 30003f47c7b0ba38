package ops

import (
	"hash/fnv"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/random"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Random numbers are functions of a key: the same key gives the same numbers, on every machine and
// with any number of workers. A key is a tensor uint32[2]. It should be used only once; split it if
// more are needed. Operations that take a key also take several keys, uint32[…, 2], and return
// numbers for each.

// RandomKey returns the key for a seed.
func RandomKey(seed uint64) tensor.Tensor {
	k := random.Seed(seed)
	return tensor.Of([]uint32{k.Lo, k.Hi})
}

// RandomSplit returns n keys that are independent of each other and of the key they are derived
// from.
//
//	key: uint32[…, 2], n  →  uint32[…, n, 2]
func RandomSplit(key, n any) tensor.Tensor { return op.Eval(randomSplitOp, key, n) }

var randomSplitOp = drawing("random_split", "independent keys", op.Op{
	Params: []op.Param{{Name: "key"}, sizeParam("n")},
}, func(c *op.Call) (dtype.DType, shape.Shape, error) {
	n, err := count(c, 1)
	return dtype.Uint32, shape.Of(n, 2), err
}, func(c *op.Call, dst unsafe.Pointer, n int, k random.Key) {
	keys := unsafe.Slice((*uint32)(dst), n)
	for i := 0; i < n; i += 2 {
		d := k.Derive(uint64(i / 2))
		keys[i], keys[i+1] = d.Lo, d.Hi
	}
})

// RandomFor derives a key for a part with a given name, such as a layer of a model. Different names
// give independent keys, whatever their order and number:
//
//	head := nn.NewDense(ops.RandomFor(key, "head"), 64, 10)
//
//	key: uint32[…, 2]  →  uint32[…, 2]
func RandomFor(key any, name string) tensor.Tensor {
	h := fnv.New64a()
	h.Write([]byte(name))
	return RandomFoldIn(RandomFoldIn(key, int64(h.Sum64()>>32)), int64(uint32(h.Sum64())))
}

// RandomKeys returns n keys like [RandomSplit], as a slice.
func RandomKeys(key any, n int) []tensor.Tensor { return Unstack(RandomSplit(key, n), -2) }

// RandomFoldIn returns a key that depends on a key and an integer, such as the number of a step or
// layer. Different integers give independent keys.
//
//	key: uint32[…, 2], data: integer scalar  →  uint32[…, 2]
func RandomFoldIn(key, data any) tensor.Tensor { return op.Eval(randomFoldInOp, key, data) }

var randomFoldInOp = drawing("random_fold_in", "a key that depends on an integer too", op.Op{
	Params: []op.Param{{Name: "key"}, sizeParam("data")},
}, func(c *op.Call) (dtype.DType, shape.Shape, error) {
	return dtype.Uint32, shape.Of(2), nil
}, func(c *op.Call, dst unsafe.Pointer, n int, k random.Key) {
	data, _ := scalarInt(c, 1)
	d := k.Fold(uint64(data))
	copy(unsafe.Slice((*uint32)(dst), 2), []uint32{d.Lo, d.Hi})
})

// drawnParams are the parameters of operations that fill a shape.
var drawnParams = []op.Param{{Name: "key"}, sizesParam("shape"), {Name: "dtype", Kind: op.Attr, Type: op.DTypeType, Default: dtype.Float32}}

// RandomBits returns uniformly distributed integers of an unsigned type, using
// all bits.
func RandomBits(key, shape any, d dtype.DType) tensor.Tensor {
	return op.Eval(randomBitsOp, key, shape, d)
}

var randomBitsOp = drawing("random_bits", "random bits", op.Op{Params: drawnParams},
	drawnShape(func(d dtype.DType) bool { return d == dtype.Uint32 || d == dtype.Uint64 }, "uint32 or uint64"),
	func(c *op.Call, dst unsafe.Pointer, n int, k random.Key) {
		if c.DType(2) == dtype.Uint32 {
			random.Words(unsafe.Slice((*uint32)(dst), n), k)
		} else {
			random.Words64(unsafe.Slice((*uint64)(dst), n), k)
		}
	})

// RandomUniform returns floating-point numbers of type d, uniformly distributed in [0, 1).
func RandomUniform(key, shape any, d dtype.DType) tensor.Tensor {
	return op.Eval(randomUniformOp, key, shape, d)
}

var randomUniformOp = drawing("random_uniform", "uniformly distributed in [0, 1)", op.Op{Params: drawnParams},
	drawnShape(dtype.DType.IsFloat, "floating"),
	func(c *op.Call, dst unsafe.Pointer, n int, k random.Key) {
		switch c.DType(2) {
		case dtype.Float64:
			random.Uniform(unsafe.Slice((*float64)(dst), n), k)
		case dtype.Float32:
			random.Uniform(unsafe.Slice((*float32)(dst), n), k)
		case dtype.Float16:
			random.Uniform(unsafe.Slice((*dtype.F16)(dst), n), k)
		case dtype.BFloat16:
			random.Uniform(unsafe.Slice((*dtype.BF16)(dst), n), k)
		}
	})

// RandomNormal returns normally distributed floating-point numbers of type d, with mean 0 and
// variance 1.
func RandomNormal(key, shape any, d dtype.DType) tensor.Tensor {
	return op.Eval(randomNormalOp, key, shape, d)
}

var randomNormalOp = distribution("random_normal", "normal with mean 0 and variance 1", random.Normal)

// RandomTruncatedNormal returns numbers from the normal distribution with mean 0 and variance 1,
// truncated to the range from -2 to 2.
func RandomTruncatedNormal(key, shape any, d dtype.DType) tensor.Tensor {
	return op.Eval(randomTruncatedNormalOp, key, shape, d)
}

var randomTruncatedNormalOp = distribution("random_truncated_normal", "normal, between -2 and 2", random.Truncated)

// RandomExponential returns exponentially distributed numbers with rate 1.
func RandomExponential(key, shape any, d dtype.DType) tensor.Tensor {
	return op.Eval(randomExponentialOp, key, shape, d)
}

var randomExponentialOp = distribution("random_exponential", "exponential with rate 1", random.Exponential)

// RandomGumbel returns numbers from the Gumbel distribution with location 0 and scale 1. Adding
// them to logits and taking the maximum draws from the softmax of the logits; see
// [RandomCategorical].
func RandomGumbel(key, shape any, d dtype.DType) tensor.Tensor {
	return op.Eval(randomGumbelOp, key, shape, d)
}

var randomGumbelOp = distribution("random_gumbel", "Gumbel with location 0 and scale 1", random.Gumbel)

func distribution(name, doc string, of random.Distribution) *op.Op {
	return drawing(name, doc, op.Op{Params: drawnParams}, drawnShape(dtype.DType.IsFloat, "floating"),
		func(c *op.Call, dst unsafe.Pointer, n int, k random.Key) {
			switch c.DType(2) {
			case dtype.Float64:
				random.Of(unsafe.Slice((*float64)(dst), n), k, of)
			case dtype.Float32:
				random.Of(unsafe.Slice((*float32)(dst), n), k, of)
			case dtype.Float16:
				random.Of(unsafe.Slice((*dtype.F16)(dst), n), k, of)
			case dtype.BFloat16:
				random.Of(unsafe.Slice((*dtype.BF16)(dst), n), k, of)
			}
		})
}

// RandomInt returns integers of type d, uniformly distributed from lo up to, but
// not including, hi.
func RandomInt(key, shape any, lo, hi int, d dtype.DType) tensor.Tensor {
	return op.Eval(randomIntOp, key, shape, d, lo, hi)
}

var randomIntOp = drawing("random_int", "uniformly distributed integers", op.Op{
	Params: append(drawnParams[:2:2], op.Param{Name: "dtype", Kind: op.Attr, Type: op.DTypeType, Default: dtype.Int64},
		op.Param{Name: "lo", Kind: op.Attr, Type: op.IntType}, op.Param{Name: "hi", Kind: op.Attr, Type: op.IntType}),
}, func(c *op.Call) (dtype.DType, shape.Shape, error) {
	d, lo, hi := c.DType(2), c.Int(3), c.Int(4)
	if hi <= lo {
		return d, shape.Shape{}, c.Errorf(tenon.ErrInvalid, "there is no integer from %d up to, but not including, %d", lo, hi)
	}
	if d.IsInteger() && d.Bits() < 64 || d == dtype.Uint64 {
		least, most := 0, 1<<min(d.Bits(), 62)-1
		if d.IsSigned() {
			least, most = -1<<(d.Bits()-1), 1<<(d.Bits()-1)-1
		}
		if lo < least || hi-1 > most && d != dtype.Uint64 {
			return d, shape.Shape{}, c.Errorf(tenon.ErrInvalid, "the integers from %d to %d do not fit %v", lo, hi-1, d)
		}
	}
	return drawnShape(dtype.DType.IsInteger, "an integer")(c)
}, func(c *op.Call, dst unsafe.Pointer, n int, k random.Key) {
	lo, span := int64(c.Int(3)), uint64(c.Int(4))-uint64(c.Int(3))
	switch c.DType(2) {
	case dtype.Int8:
		random.Ints(unsafe.Slice((*int8)(dst), n), k, lo, span)
	case dtype.Int16:
		random.Ints(unsafe.Slice((*int16)(dst), n), k, lo, span)
	case dtype.Int32:
		random.Ints(unsafe.Slice((*int32)(dst), n), k, lo, span)
	case dtype.Int64:
		random.Ints(unsafe.Slice((*int64)(dst), n), k, lo, span)
	case dtype.Uint8:
		random.Ints(unsafe.Slice((*uint8)(dst), n), k, lo, span)
	case dtype.Uint16:
		random.Ints(unsafe.Slice((*uint16)(dst), n), k, lo, span)
	case dtype.Uint32:
		random.Ints(unsafe.Slice((*uint32)(dst), n), k, lo, span)
	case dtype.Uint64:
		random.Ints(unsafe.Slice((*uint64)(dst), n), k, lo, span)
	}
})

// RandomPermutation returns 0, 1, … n-1 in random order, in int64.
func RandomPermutation(key, n any) tensor.Tensor { return op.Eval(randomPermutationOp, key, n) }

var randomPermutationOp = drawing("random_permutation", "0, 1, … in random order", op.Op{
	Params: []op.Param{{Name: "key"}, sizeParam("n")},
}, func(c *op.Call) (dtype.DType, shape.Shape, error) {
	n, err := count(c, 1)
	return dtype.Int64, shape.Of(n), err
}, func(c *op.Call, dst unsafe.Pointer, n int, k random.Key) {
	random.Permutation(unsafe.Slice((*int64)(dst), n), k)
})

// RandomShuffle returns the rows of x, its slices along the first axis, in random
// order.
func RandomShuffle(key, x any) tensor.Tensor {
	n := Index(Shape(x), 0)
	return Gather(x, RandomPermutation(key, n), 0)
}

// RandomBernoulli returns booleans that are true with probability p, which broadcasts to the shape.
func RandomBernoulli(key, shape, p any) tensor.Tensor {
	d := dtype.Float32
	if t, ok := p.(tensor.Tensor); ok && t.DType().IsFloat() {
		d = t.DType()
	}
	return Less(RandomUniform(key, shape, d), p)
}

// RandomCategorical returns one class number for each row of logits, in int64. Class k is drawn
// with probability Softmax(logits)[k]. For several draws from the same logits, broadcast these
// first.
//
//	logits: […, classes]  →  […]
func RandomCategorical(key, logits any) tensor.Tensor {
	l := operandOf(logits)
	return ArgMax(Add(l, RandomGumbel(key, Shape(l), l.DType())), -1)
}

// drawnShape reads the operands of an operation that fills a shape with numbers, whose type must
// satisfy is.
func drawnShape(is func(dtype.DType) bool, what string) func(c *op.Call) (dtype.DType, shape.Shape, error) {
	return func(c *op.Call) (dtype.DType, shape.Shape, error) {
		d := c.DType(2)
		if !is(d) {
			return d, shape.Shape{}, c.Errorf(tenon.ErrDType, "dtype is %v, want %s", d, what)
		}
		s, err := shapeFrom(c, 1)
		return d, s, err
	}
}

// drawing registers an operation that makes numbers from a key. result describes what one key
// gives; fill makes it.
func drawing(name, doc string, o op.Op, result func(c *op.Call) (dtype.DType, shape.Shape, error), fill func(c *op.Call, dst unsafe.Pointer, n int, k random.Key)) *op.Op {
	o.Name, o.Doc, o.Statement, o.Results = name, doc, draws, 1
	o.Elem = func(c *op.Call, _ dtype.DType) dtype.DType {
		d, _, _ := result(c)
		return d
	}
	o.Shape = func(c *op.Call) (shape.Shape, error) {
		_, s, err := result(c)
		if err != nil {
			return s, err
		}
		keys, err := keysShape(c, 0)
		return shape.Concat(keys, s), err
	}
	o.Kernel = func(c *op.Call) ([]tensor.Tensor, error) {
		spec := c.Out[0].(*tensor.Spec)
		out := tensor.Uninit(spec.DType(), spec.Shape())
		keys := tensor.Elems[uint32](c.Dense(0))
		if out.Len() == 0 {
			return c.Result(out)
		}
		n := out.Len() / (len(keys) / 2)
		for i := 0; i < len(keys); i += 2 {
			fill(c, unsafe.Add(out.Raw(), i/2*n*spec.DType().Size()), n, random.Key{Lo: keys[i], Hi: keys[i+1]})
		}
		return c.Result(out)
	}
	o.Batch = func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
		if len(batched) > 1 && batched[1] {
			return nil, op.NotHandled
		}
		return c.DoTensors()
	}
	return op.Register(&o)
}

// keysShape returns the leading axes of operand i, which is one key or several.
func keysShape(c *op.Call, i int) (shape.Shape, error) {
	k := c.Tensor(i)
	if k.DType() != dtype.Uint32 {
		return shape.Shape{}, c.Errorf(tenon.ErrDType, "the key has the element type %v, want uint32", k.DType()).WithHint("ops.RandomKey makes a key of a seed")
	}
	s := k.Shape()
	if !s.HasRank() {
		return s, nil
	}
	if s.Rank() == 0 || s.Dim(-1) >= 0 && s.Dim(-1) != 2 {
		return s, c.Errorf(tenon.ErrShape, "a key has two elements, got the shape %v", s)
	}
	return s.Remove(-1), nil
}

// Dropout returns x with each element set to 0 with probability rate, and the others divided by 1 -
// rate, so that the mean is preserved (Srivastava et al., 2014). The key determines which elements
// are set to 0.
//
// Gradient: ct with the same elements set to 0, and the others divided.
func Dropout(key, x any, rate float64) tensor.Tensor { return op.Eval(dropoutOp, key, x, rate) }

var dropoutOp = op.Register(&op.Op{
	Name: "dropout", Statement: op.Statement{Axes: op.Map, Draws: true, Control: one, Zero: op.Zero{Keeps: true, Linear: []op.Operands{two}}}, Doc: "sets elements to 0 at random", Results: 1,
	Params: []op.Param{{Name: "key"}, {Name: "x", Takes: op.Floats}, {Name: "rate", Kind: op.Attr, Type: op.FloatType}},
	Elem:   func(c *op.Call, _ dtype.DType) dtype.DType { return c.Tensor(1).DType() },
	Check: func(c *op.Call) error {
		if p := c.Float(2); !(p >= 0 && p < 1) {
			return c.Errorf(tenon.ErrInvalid, "rate is %v, want at least 0 and below 1", p)
		}
		keys, err := keysShape(c, 0)
		if err == nil && keys.HasRank() && keys.Rank() != 0 {
			return c.Errorf(tenon.ErrShape, "dropout takes one key, got the shape %v", c.Tensor(0).Shape())
		}
		return err
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x, d := c.Dense(1), c.Dense(1).DType()
		key := tensor.Elems[uint32](c.Dense(0))
		k := random.Key{Lo: key[0], Hi: key[1]}
		switch d {
		case dtype.Float64:
			out := tensor.Uninit(d, x.Shape())
			random.Drop(tensor.Elems[float64](out), tensor.Elems[float64](x), k, c.Float(2))
			return c.Result(out)
		case dtype.Float32:
			out := tensor.Uninit(d, x.Shape())
			random.Drop(tensor.Elems[float32](out), tensor.Elems[float32](x), k, c.Float(2))
			return c.Result(out)
		}
		wide := castDense(x, dtype.Float32)
		out := tensor.Uninit(dtype.Float32, x.Shape())
		random.Drop(tensor.Elems[float32](out), tensor.Elems[float32](wide), k, c.Float(2))
		return c.Result(castDense(out, d))
	},
})

var _ = gradient(dropoutOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	return []tensor.Tensor{nil, Dropout(c.Tensor(0), ct[0], c.Float(2))}
})
