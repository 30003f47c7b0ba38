// Package layers has layers between dimensions by their names. A layer is a struct of
// named tensors that makes its own weights; sizes are declared once for a model:
//
//	sizes := layers.Sizes{Model{}.Of(128), Head{}.Of(4), Rep{}.Of(32)}
//	query := layers.NewLinear[Model, Heads](key, sizes, layers.LinearOptions{})
//	y := query.Apply(x) // {Batch, Seq, Model} → {Batch, Seq, Head, Rep}
//
// In and Out are names or sets of names (named.Set). What a layer takes may be a tensor or
// a schema, and has any dimensions besides those that the layer is about: a batch needs no
// lifting. The structs are nests, as those of package nn.
//
// Stability: experimental.
package layers
