// Package nn holds layers, losses, metrics and initial values of neural networks.
//
// A layer is a struct of tensors with a pure method Apply: the same layer and the same
// input give the same result, and nothing changes. What is random takes a key.
//
//	hidden := nn.NewDense(key, 784, 128, nn.DenseOptions{Activation: nn.Relu})
//	y := hidden.Apply(x)                                   // [..., 784] → [..., 128]
//
// A model is any structure of layers: a nest of Values, so gradients, optimizers,
// functions, checkpoints and files take it as it is:
//
//	type Model struct {
//		Words nn.Embedding
//		Mix   nn.MultiHeadAttention
//		Out   nn.Dense
//	}
//	loss, grads := grad.ValueAndGrad(Loss)(model, batch)   // grads is a Model too
//
// The tensors of a layer may be data, symbolic, or variables: [Variables] makes a model
// whose tensors are variables, which training can assign to, and [Frozen] reads them.
//
// # What layers take
//
// Features are the last axis of a dense tensor and the innermost dimension of a ragged
// one: a layer for features works on all items of all rows at once, and one along
// positions (convolution, pooling, attention, recurrence) within each row. Nothing is padded,
// recurrences excepted, whose steps are dense. Experts take the items that are sent to them
// as rows of a ragged tensor.
//
// Of a masked tensor, positions that are missing are left out: windows take them for what lies beyond
// the ends, and means, statistics, attention and states pass them over.
//
// What is known of the data is a layer, too: a [Scaler] by [Moments], a [Vocabulary] by a [Tally]. They are saved
// with a model and not trained. Package features makes them for whole records.
//
// A named tensor has its features along the dimension that the layer's Names say, and
// positions likewise; other dimensions are a batch:
//
//	d := nn.NewDense(key, 64, 32, nn.DenseOptions{Names: nn.Names{In: Rep{}, Out: Hidden{}}})
//	y := d.Apply(x)                                        // {Batch, Rep} → {Batch, Hidden}
//
// # Glossary
//
//   - features: the numbers that describe one item; a layer maps one vector of them to another
//   - position: the place of an item in its row
//   - logits: scores before the softmax or the sigmoid that makes probabilities of them
//   - fan in, fan out: how many inputs an output depends on, and the other way round
//   - streaming: of a metric, a value that is updated batch by batch and merged
//
// Stability: stable.
package nn
