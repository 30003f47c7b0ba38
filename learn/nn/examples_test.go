package nn_test

import (
	"fmt"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// show prints numbers with three digits.
func show[T float32 | float64](x tensor.Tensor) {
	fmt.Printf("%.3f\n", tensor.Data[T](x))
}

// sequences returns some numbers as a batch of two sequences of five items with four features.
func sequences() tensor.Tensor {
	return ops.RandomNormal(ops.RandomKey(7), []int{2, 5, 4}, dtype.Float32)
}

// Layers with windows: positions become fewer, as many for each group of features, or more.
func ExampleNewConv() {
	key, image := ops.RandomKey(1), ops.RandomNormal(ops.RandomKey(2), []int{1, 8, 8, 3}, dtype.Float32)
	half := nn.NewConv(key, []int{3, 3}, 3, 16, nn.ConvOptions{Windows: nn.Windows{Stride: []int{2, 2}, Padding: nn.Same}})
	each := nn.NewDepthwiseConv(key, []int{3, 3}, 16, 1)
	back := nn.NewConvTranspose(key, []int{2, 2}, 16, 3, nn.ConvOptions{Windows: nn.Windows{Stride: []int{2, 2}}})
	x := half.Apply(image)
	fmt.Println(x.Shape(), each.Apply(x).Shape(), back.Apply(x).Shape())
	// Output:
	// [1, 4, 4, 16] [1, 2, 2, 16] [1, 8, 8, 3]
}

// Norms have no memory but for that of batches, whose running statistics the caller keeps.
func ExampleNewLayerNorm() {
	x := tensor.Of([]float32{1, 3, 5, 7, -2, 0, 2, 4}, 1, 2, 4)
	show[float32](nn.NewLayerNorm(4).Apply(x))
	show[float32](nn.NewRMSNorm(4).Apply(x))
	show[float32](nn.NewGroupNorm(4, 2).Apply(x))
	show[float32](nn.NewInstanceNorm(4).Apply(x))
	norm, running := nn.NewBatchNorm(4)
	fmt.Println(norm.Apply(x, running).Shape())
	// Output:
	// [-1.342 -0.447 0.447 1.342 -1.342 -0.447 0.447 1.342]
	// [0.218 0.655 1.091 1.528 -0.816 0.000 0.816 1.633]
	// [0.277 1.387 0.277 1.387 -1.387 -0.277 -1.387 -0.277]
	// [1.000 1.000 1.000 1.000 -1.000 -1.000 -1.000 -1.000]
	// [1, 2, 4]
}

// Recurrent layers give the state after each item, and the last one.
func ExampleNewLSTM() {
	key := ops.RandomKey(1)
	states, last := nn.NewRNN(key, 4, 3).Apply(sequences())
	fmt.Println(states.Shape(), last.Shape())
	states, last = nn.NewGRU(key, 4, 3).Apply(sequences())
	fmt.Println(states.Shape(), last.Shape())
	states, h, c := nn.NewLSTM(key, 4, 3, nn.RecurrentOptions{Reverse: true}).Apply(sequences())
	fmt.Println(states.Shape(), h.Shape(), c.Shape())
	// Output:
	// [2, 5, 3] [2, 3]
	// [2, 5, 3] [2, 3]
	// [2, 5, 3] [2, 3] [2, 3]
}

// Two layers, each in both directions.
func ExampleNewStack() {
	stack := nn.NewStack(ops.RandomKey(1), 2, 4, 3, true, func(key tensor.Tensor, in int, reverse bool) nn.GRU {
		return nn.NewGRU(key, in, 3, nn.RecurrentOptions{Reverse: reverse})
	})
	states, last := stack.Apply(sequences())
	fmt.Println(states.Shape(), len(last))
	// Output:
	// [2, 5, 6] 1
}

// Blocks of a transformer, whose positions are learned.
func ExampleNewEncoderBlock() {
	keys := ops.RandomKeys(ops.RandomKey(1), 3)
	x := nn.NewPositions(keys[0], 16, 4).Apply(sequences())
	read := nn.NewEncoderBlock(keys[1], 4, 2).Apply(x)
	said := nn.NewDecoderBlock(keys[2], 4, 2).Apply(x, read, nil)
	fmt.Println(read.Shape(), said.Shape())
	// Output:
	// [2, 5, 4] [2, 5, 4]
}

// Each item goes to the two of eight experts that suit it.
func ExampleNewExperts() {
	experts := nn.NewExperts(ops.RandomKey(1), 8, 4, 16, nn.ExpertOptions{Top: 2})
	fmt.Println(experts.Apply(sequences()).Shape())
	// Output:
	// [2, 5, 4]
}

// What is made of a set does not depend on the order of its items.
func ExampleNewSet() {
	set := nn.NewSet(ops.RandomKey(1), []int{4, 8}, []int{3})
	x := sequences()
	fmt.Println(set.Apply(x).Shape(), tensor.AllClose(set.Apply(ops.Reverse(x, 1)), set.Apply(x)))
	// Output:
	// [2, 3] <nil>
}

// Three nodes and the edges 0→1, 0→2 and 1→2.
func ExampleNewGraphConv() {
	nodes := ops.RandomNormal(ops.RandomKey(7), []int{3, 4}, dtype.Float32)
	source, target := tensor.Of([]int64{0, 0, 1}), tensor.Of([]int64{1, 2, 2})
	fmt.Println(nn.NewGraphConv(ops.RandomKey(1), 4, 6).Apply(nodes, source, target).Shape())
	fmt.Println(nn.NewGraphAttention(ops.RandomKey(1), 4, 6, 2).Apply(nodes, source, target).Shape())
	// Output:
	// [3, 6]
	// [3, 6]
}

// Attention with causal sight: the first position sees itself alone. Rotation first, so that scores depend on distances.
func ExampleAttend() {
	x := ops.RandomNormal(ops.RandomKey(3), []int{1, 3, 2, 4}, dtype.Float32)
	turned := nn.Rotary(x, ops.Range(0, 3, 1))
	y := nn.Attend(turned, turned, x, nn.AttendOptions{Sight: nn.Sight{Causal: true}})
	fmt.Println(y.Shape(), tensor.AllClose(ops.Index(y, 0, 0), ops.Index(x, 0, 0)))
	// Output:
	// [1, 3, 2, 4] <nil>
}

// Weights by the name of how they start.
func ExampleInitialize() {
	fmt.Println(nn.Initialize(nn.Ones, nil, dtype.Float32, 2))
	w := nn.Initialize(nn.GlorotUniform, ops.RandomKey(1), dtype.Float32, 3, 3)
	fmt.Println(tensor.Item[bool](ops.All(ops.LessEqual(ops.Abs(w), 1))))
	// Output:
	// [1. 1.] float32[2]
	// true
}

// Losses of truth values: what is right already counts little with a focus.
func ExampleBinaryCrossEntropy() {
	logits, truth := tensor.Of([]float64{0, 2, -2}), tensor.Of([]float64{1, 1, 1})
	show[float64](nn.BinaryCrossEntropy(logits, truth))
	show[float64](nn.BinaryCrossEntropy(logits, truth, nn.BinaryOptions{Positive: 2}))
	show[float64](nn.Focal(logits, truth, 2))
	// Output:
	// [0.693 0.127 2.127]
	// [1.386 0.254 4.254]
	// [0.173 0.002 1.650]
}

// Losses of numbers with a variance, and of pairs of scores that have an order.
func ExampleGaussian() {
	x, y := tensor.Of([]float64{1, 2}), tensor.Of([]float64{1, 4})
	show[float64](nn.Gaussian(x, y, tensor.Of([]float64{1, 4})))
	fmt.Println(nn.MarginRanking(x, y, tensor.Of([]float64{1, -1}), 0.5))
	// Output:
	// [0.000 1.193]
	// [0.5 0. ] float64[2]
}

// Losses of directions: of pairs, of triples, and of pairs among all of a batch.
func ExampleCosine() {
	a, b := tensor.Of([]float64{1, 0, 0, 2}, 2, 2), tensor.Of([]float64{3, 0, 1, 0}, 2, 2)
	show[float64](nn.Cosine(a, b))
	show[float64](nn.CosineEmbedding(a, b, tensor.Of([]float64{1, -1}), nn.VectorOptions{Margin: 0.5}))
	fmt.Println(nn.Triplet(a, a, b))
	show[float64](nn.Contrastive(a, a, nn.ContrastiveOptions{Temperature: 1}))
	// Output:
	// [0.000 1.000]
	// [0.000 0.000]
	// [0. 0.] float64[2]
	// [0.313 0.313]
}

// The loss against a few of a million classes, which are drawn as often as they are likely to occur.
func ExampleSampledSoftmax() {
	key := ops.RandomKey(1)
	weights := ops.RandomNormal(key, []int{1000, 4}, dtype.Float32)
	x, labels := ops.RandomNormal(ops.RandomKey(2), []int{2, 4}, dtype.Float32), tensor.Of([]int64{3, 14})
	fmt.Println(nn.SampledSoftmax(weights, nil, x, labels, nn.UniformSample(key, 20, 1000, dtype.Float32)).Shape())
	fmt.Println(nn.SampledSoftmax(weights, nil, x, labels, nn.LogUniformSample(key, 20, 1000, dtype.Float32), nn.SampledOptions{KeepHits: true}).Shape())
	// Output:
	// [2]
	// [2]
}

type (
	side struct{ named.Dim[side] }
	page struct{ named.Dim[page] }
)

// Vectors of length 1 in the same directions, along the last axis or a named dimension.
func ExampleNormalize() {
	x := tensor.Of([]float64{3, 4, 0, 2}, 2, 2)
	show[float64](nn.Normalize(x))
	y := nn.Normalize(named.Of(x, side{}, page{}), nn.VectorOptions{Features: side{}})
	show[float64](named.Unnamed(y, side{}, page{}))
	// Output:
	// [0.600 0.800 0.000 1.000]
	// [1.000 0.894 0.000 0.447]
}
