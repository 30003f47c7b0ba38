package nn

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// normEpsilon is added to squared norms, so that a zero vector is normalized to 0 and has a
// gradient.
const normEpsilon = 1e-12

// Normalize divides vectors by their length: x/√(Σx² + 1e-12) over the features.
//
//	x: [..., features], dense, masked or ragged, or {..., Features} → the same
func Normalize(x tensor.Tensor, options ...VectorOptions) tensor.Tensor {
	const fn = "nn.Normalize"
	o := option(options)
	if t, ok := x.(dimensioned); ok {
		wantGiven(fn, "VectorOptions.Features", o.Features, t)
	}
	return onFeatures(fn, x, Names{In: o.Features}, func(x tensor.Tensor) tensor.Tensor {
		return ops.Mul(x, ops.Rsqrt(ops.Add(ops.SumKeep(ops.Square(x), -1), normEpsilon)))
	})
}

// VectorOptions are those of [Normalize] and of losses that compare vectors. The zero value is the default.
type VectorOptions struct {
	Margin   float64    // see the loss
	Features named.Name // the dimension of the vectors of named values
}

// cosine returns the cosine of the angle of the vectors of two dense tensors.
func cosine(x, y tensor.Tensor) tensor.Tensor {
	return ops.Sum(ops.Mul(Normalize(x), Normalize(y)), -1)
}

// Cosine returns 1 - cos of the angle between prediction and target.
//
//	[..., features] twice → [...], from 0 to 2
func Cosine(prediction, target tensor.Tensor, options ...VectorOptions) tensor.Tensor {
	return onVectors("nn.Cosine", "Features", option(options).Features, func(x []tensor.Tensor) tensor.Tensor {
		return ops.Sub(1.0, cosine(x[0], x[1]))
	}, of(prediction), of(target))
}

// CosineEmbedding returns 1 - cos of the angle for pairs of sign 1, which belong together, and
// max(0, cos - Margin) for those of sign -1.
//
//	a, b: [..., features], sign: [...] → [...]
func CosineEmbedding(a, b, sign tensor.Tensor, options ...VectorOptions) tensor.Tensor {
	o := option(options)
	return onVectors("nn.CosineEmbedding", "Features", o.Features, func(x []tensor.Tensor) tensor.Tensor {
		cos := cosine(x[0], x[1])
		return ops.Where(ops.Greater(x[2], 0), ops.Sub(1.0, cos), ops.Relu(ops.Sub(cos, o.Margin)))
	}, of(a), of(b), operand{sign, 1})
}

// Triplet returns max(0, |anchor - positive| - |anchor - negative| + Margin) by Euclidean
// distances (F. Schroff et al., CVPR 2015). A margin of 0 means 1.
//
//	[..., features] three times → [...]
func Triplet(anchor, positive, negative tensor.Tensor, options ...VectorOptions) tensor.Tensor {
	o := option(options)
	if o.Margin == 0 {
		o.Margin = 1
	}
	return onVectors("nn.Triplet", "Features", o.Features, func(x []tensor.Tensor) tensor.Tensor {
		return ops.Relu(ops.Add(ops.Sub(distance(x[0], x[1]), distance(x[0], x[2])), o.Margin))
	}, of(anchor), of(positive), of(negative))
}

// distance returns the Euclidean distance between the vectors of two dense tensors. Its
// gradient is 0 where they are equal.
func distance(x, y tensor.Tensor) tensor.Tensor {
	square := ops.Sum(ops.SquaredDifference(x, y), -1)
	apart := ops.Greater(square, 0.0)
	return ops.Where(apart, ops.Sqrt(ops.Where(apart, square, ops.OnesLike(square))), 0.0)
}

// ContrastiveOptions are the options of [Contrastive]. The zero value is the default.
type ContrastiveOptions struct {
	Temperature float64 // by which cosines are divided; 0 means 0.05
	Symmetric   bool    // the mean of both directions: finding the key for a query, and the query for a key
}

// Contrastive returns, for each query, the cross entropy of finding its own key among the keys
// of the batch by cosine similarity (A. van den Oord et al., arXiv:1807.03748).
//
//	queries: [n, features], keys: [n, features] → [n]
func Contrastive(queries, keys tensor.Tensor, options ...ContrastiveOptions) tensor.Tensor {
	const fn = "nn.Contrastive"
	o := option(options)
	if o.Temperature == 0 {
		o.Temperature = 0.05
	}
	if !(o.Temperature > 0) {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("the temperature is %v, want more than 0", o.Temperature)))
	}
	for _, v := range []tensor.Tensor{queries, keys} {
		if _, ok := v.(someMissing); ok {
			tenon.Throw(tenon.NewError(tenon.ErrUnsupported, fn, fmt.Sprintf("%s has missing items, which would be wrong answers to the others", tenon.String(v.Spec()))).WithHint("leave them out: masked.Compress"))
		}
	}
	return onItems(fn, func(x []tensor.Tensor) tensor.Tensor {
		logits := ops.Mul(ops.MatMulT(Normalize(x[0]), Normalize(x[1]), false, true), 1/o.Temperature)
		own := ops.Range(int64(0), ops.Index(ops.Cast(ops.Shape(logits), dtype.Int64), 0), int64(1))
		loss := ops.SoftmaxCrossEntropy(logits, own)
		if o.Symmetric {
			loss = ops.Mul(ops.Add(loss, ops.SoftmaxCrossEntropy(ops.Transpose(logits, 1, 0), own)), 0.5)
		}
		return loss
	}, of(queries), of(keys))
}
