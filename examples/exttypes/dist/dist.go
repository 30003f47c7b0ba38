package dist

import (
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A Distribution is a distribution of scalars, or a batch of distributions with one for each
// element of its parameters.
type Distribution interface {
	tenon.Value

	// Sample draws n independent times from a random key: [n, batch…].
	Sample(key tensor.Tensor, n int) tensor.Tensor

	// LogProb returns the logarithm of the probability, or its density, of x, which
	// broadcasts with the batch.
	LogProb(x any) tensor.Tensor

	// Batch returns the shape of the batch.
	Batch() shape.Shape
}

var (
	_ Distribution = Normal{}
	_ Distribution = Categorical{}
	_ Distribution = Mixture{}
)

// Normal is the normal distribution.
type Normal struct {
	Loc   tensor.Tensor `tenon:"dtype=float"`
	Scale tensor.Tensor `tenon:"dtype=Loc"` // positive
}

// Categorical is a distribution of the integers below the size of the last axis of Logits, with
// probabilities Softmax(Logits).
type Categorical struct {
	Logits tensor.Tensor `tenon:"dtype=float,shape=[_ ...]"`
}

// Mixture draws one of several distributions, and then from that one. The last axis of
// the components' batch has one component for each class of Weights.
type Mixture struct {
	Weights    Categorical
	Components Distribution
}

func init() {
	ext.Register[Normal]("tenonml.com/examples/exttypes.Normal")
	ext.Register[Categorical]("tenonml.com/examples/exttypes.Categorical")
	ext.Register[Mixture]("tenonml.com/examples/exttypes.Mixture")
}

// NewNormal returns the normal distribution with a mean and a standard deviation.
func NewNormal(loc, scale any) (Normal, error) {
	l, err := tensor.Convert(loc)
	if err != nil {
		return Normal{}, err
	}
	s, err := tensor.Convert(scale)
	if err != nil {
		return Normal{}, err
	}
	return ext.New(Normal{l, s})
}

// NewCategorical returns the distribution with given logits: […, classes].
func NewCategorical(logits any) (Categorical, error) {
	l, err := tensor.Convert(logits)
	if err != nil {
		return Categorical{}, err
	}
	return ext.New(Categorical{l})
}

// NewMixture returns a mixture of the components with the given weights.
func NewMixture(weights Categorical, components Distribution) (Mixture, error) {
	return ext.New(Mixture{weights, components})
}

// Spec returns the Spec of the parameters.
func (d Normal) Spec() tenon.Spec { return ext.SpecOf(d) }

// String prints the parameters.
func (d Normal) String() string { return ext.String(d) }

// Spec returns the Spec of the logits.
func (d Categorical) Spec() tenon.Spec { return ext.SpecOf(d) }

// String prints the logits.
func (d Categorical) String() string { return ext.String(d) }

// Spec returns the Spec of weights and components.
func (d Mixture) Spec() tenon.Spec { return ext.SpecOf(d) }

// String prints weights and components.
func (d Mixture) String() string { return ext.String(d) }

// Validate checks that all scales are positive, if the data is known.
func (d Normal) Validate() error {
	bad, ok := op.Known(ops.Any(ops.LessEqual(d.Scale, 0)))
	if ok && tensor.Item[bool](bad) {
		return &tenon.Error{Kind: tenon.ErrInvalid, Where: "Scale", Msg: fmt.Sprintf("%v is not above 0", d.Scale)}
	}
	_, err := shape.Broadcast(d.Loc.Shape(), d.Scale.Shape())
	return err
}

// Validate checks that there is a component for each class.
func (d Mixture) Validate() error {
	b, w := d.Components.Batch(), d.Weights.Logits.Shape()
	if b.Rank() < 1 || w.Dim(-1) >= 0 && b.Dim(-1) >= 0 && w.Dim(-1) != b.Dim(-1) {
		return &tenon.Error{Kind: tenon.ErrInvalid, Where: "Components", Msg: fmt.Sprintf("have the batch %v, but the weights %v", b, w)}
	}
	return nil
}

// Batch returns the shape to which the parameters broadcast.
func (d Normal) Batch() shape.Shape {
	return tenon.Must(shape.Broadcast(d.Loc.Shape(), d.Scale.Shape()))
}

// Batch returns the outer axes of the logits.
func (d Categorical) Batch() shape.Shape { return d.Logits.Shape().Remove(-1) }

// Batch returns the batch of the weights.
func (d Mixture) Batch() shape.Shape { return d.Weights.Batch() }

// Sample draws by shifting and scaling standard normal numbers, so that gradients
// reach the parameters.
func (d Normal) Sample(key tensor.Tensor, n int) tensor.Tensor {
	like := ops.Add(ops.ZerosLike(d.Loc), ops.ZerosLike(d.Scale))
	size := ops.Concat([]tensor.Tensor{tensor.Vector([]int64{int64(n)}), ops.Shape(like)}, 0)
	return ops.Add(d.Loc, ops.Mul(d.Scale, ops.RandomNormal(key, size, d.Loc.DType())))
}

// LogProb returns −½((x−μ)/σ)² − log σ − ½ log 2π.
func (d Normal) LogProb(x any) tensor.Tensor {
	z := ops.Div(ops.Sub(x, d.Loc), d.Scale)
	return ops.Sub(ops.Sub(ops.Mul(ops.Square(z), -0.5), ops.Log(d.Scale)), 0.5*math.Log(2*math.Pi))
}

// CDF returns the probability that a number is at most x: ½ erfc(−(x−μ)/σ√2).
func (d Normal) CDF(x any) tensor.Tensor {
	return ops.Mul(ops.Erfc(ops.Div(ops.Sub(d.Loc, x), ops.Mul(d.Scale, math.Sqrt2))), 0.5)
}

// Entropy returns ½ log 2πe + log σ.
func (d Normal) Entropy() tensor.Tensor {
	return ops.Add(ops.Log(d.Scale), 0.5*math.Log(2*math.Pi*math.E))
}

// KL returns the Kullback–Leibler divergence from other to d:
// log σ₂/σ₁ + (σ₁² + (μ₁−μ₂)²) / 2σ₂² − ½.
func (d Normal) KL(other Normal) tensor.Tensor {
	spread := ops.Div(ops.Add(ops.Square(d.Scale), ops.SquaredDifference(d.Loc, other.Loc)), ops.Mul(ops.Square(other.Scale), 2))
	return ops.Sub(ops.Add(ops.Log(ops.Div(other.Scale, d.Scale)), spread), 0.5)
}

// Sample draws class numbers: int64[n, batch…].
func (d Categorical) Sample(key tensor.Tensor, n int) tensor.Tensor {
	size := ops.Concat([]tensor.Tensor{tensor.Vector([]int64{int64(n)}), ops.Shape(d.Logits)}, 0)
	return ops.RandomCategorical(key, ops.BroadcastTo(d.Logits, size))
}

// LogProb returns the logarithm of the probability of class numbers x, which are integers with
// the shape of the batch, or scalars if there is none.
func (d Categorical) LogProb(x any) tensor.Tensor {
	classes := ops.Index(ops.Shape(d.Logits), -1)
	chosen := ops.OneHot(x, classes, -1, ops.OneHotOptions{DType: d.Logits.DType()})
	return ops.Sum(ops.Mul(chosen, ops.LogSoftmax(d.Logits, -1)), -1)
}

// Entropy returns −Σ p log p of each row of logits.
func (d Categorical) Entropy() tensor.Tensor {
	l := ops.LogSoftmax(d.Logits, -1)
	return ops.Neg(ops.Sum(ops.Mul(ops.Exp(l), l), -1))
}

// KL returns the Kullback–Leibler divergence from other to d: Σ p (log p − log q).
func (d Categorical) KL(other Categorical) tensor.Tensor {
	p, q := ops.LogSoftmax(d.Logits, -1), ops.LogSoftmax(other.Logits, -1)
	return ops.Sum(ops.Mul(ops.Exp(p), ops.Sub(p, q)), -1)
}

// Sample draws a component for each number, and the number from that component.
func (d Mixture) Sample(key tensor.Tensor, n int) tensor.Tensor {
	keys := ops.RandomKeys(key, 2)
	class := d.Weights.Sample(keys[0], n)
	all := d.Components.Sample(keys[1], n)
	chosen := ops.OneHot(class, ops.Index(ops.Shape(d.Weights.Logits), -1), -1, ops.OneHotOptions{DType: dtype.Bool})
	return ops.Sum(ops.Where(chosen, all, ops.ZerosLike(all)), -1)
}

// LogProb returns log Σ wᵢ pᵢ(x).
func (d Mixture) LogProb(x any) tensor.Tensor {
	return ops.LogSumExp(ops.Add(ops.LogSoftmax(d.Weights.Logits, -1), d.Components.LogProb(ops.ExpandDims(x, -1))), -1)
}

// EstimateKL returns the mean of log p(x) − log q(x) over n samples of p, in nats, for
// distributions whose divergence has no formula, such as mixtures: [batch…]. Its
// gradient with respect to the parameters of q is that of the divergence.
func EstimateKL(p, q Distribution, key tensor.Tensor, n int) tensor.Tensor {
	x := p.Sample(key, n)
	return ops.Mean(ops.Sub(p.LogProb(x), q.LogProb(x)), 0)
}
