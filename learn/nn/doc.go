// Package nn implements layers, losses, metrics and initializers of neural networks.
//
// A layer is a struct of tensors with a pure method Apply: the same layer and the same
// input give the same result, and nothing changes. Random layers take a key.
//
//	hidden := nn.NewDense(key, 784, 128, nn.DenseOptions{Activation: nn.Relu})
//	y := hidden.Apply(x)                                   // [..., 784] → [..., 128]
//
// A model is any structure of layers. It is a nest of Values, so gradients, optimizers,
// functions, checkpoints and files accept it directly:
//
//	type Model struct {
//		Words nn.Embedding
//		Mix   nn.MultiHeadAttention
//		Out   nn.Dense
//	}
//	loss, grads := grad.ValueAndGrad(Loss)(model, batch)   // grads is a Model too
//
// The tensors of a layer may be data, symbolic, or variables. [Variables] returns a model
// with variables for training to assign to, and [Frozen] reads them.
//
// # Inputs of layers
//
// Features are the last axis of a dense tensor and the innermost dimension of a ragged
// one. A layer on features processes all items of all rows at once, and a layer along
// positions (convolution, pooling, attention, recurrence) works within each row. Nothing is padded,
// except in recurrences, which have dense steps. Experts receive their items
// as rows of a ragged tensor.
//
// Layers skip missing positions of a masked tensor: windows treat them like positions beyond
// the ends, and means, statistics, attention and states ignore them.
//
// Knowledge about the data is stored in layers, too: a [Scaler] is made from [Moments], a [Vocabulary]
// from a [Tally]. They are saved with a model and not trained. Package features makes them for whole records.
//
// The features of a named tensor lie along the dimension given by the layer's Names, and
// so do its positions; other dimensions are a batch:
//
//	d := nn.NewDense(key, 64, 32, nn.DenseOptions{Names: nn.Names{In: Rep{}, Out: Hidden{}}})
//	y := d.Apply(x)                                        // {Batch, Rep} → {Batch, Hidden}
//
// # Glossary
//
//   - features: the numbers that describe one item; a layer maps one feature vector to another
//   - position: the place of an item in its row
//   - logits: scores before the softmax or sigmoid that turns them into probabilities
//   - fan in, fan out: the number of inputs that an output depends on, and the reverse
//   - streaming: a streaming metric is updated batch by batch and merged
//
// Stability: stable.
package nn
