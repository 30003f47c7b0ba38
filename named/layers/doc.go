// Package layers provides layers between named dimensions. A layer is a struct of
// named tensors that creates its own weights. Sizes are declared once for a model:
//
//	sizes := layers.Sizes{Model{}.Of(128), Head{}.Of(4), Rep{}.Of(32)}
//	query := layers.NewLinear[Model, Heads](key, sizes, layers.LinearOptions{})
//	y := query.Apply(x) // {Batch, Seq, Model} → {Batch, Seq, Head, Rep}
//
// In and Out are names or sets of names (named.Set). The input of a layer is a tensor or
// a schema. It may have additional dimensions, so a batch needs no
// lifting. The structs are nests like those of package nn.
//
// Stability: experimental.
package layers
