// Package named implements tensors with named dimensions.
//
// A name is a Go type, declared in one line. Editors complete and rename it, and
// a name with the same spelling in another package is a different name:
//
//	type (
//		Batch  struct{ named.Dim[Batch] }
//		Seq    struct{ named.Dim[Seq] }
//		KeySeq struct{ named.Dim[KeySeq] }
//		Rep    struct{ named.Dim[Rep] }
//		Kq     struct{ named.Dim[Kq] }
//	)
//
// The dimensions of a [*Tensor] are a set. Operations find them by name, and their
// meaning never depends on the order in which dimensions are stored:
//
//	queries := named.Dot[Rep](x, queryM)                       // {Seq, Rep} · {Rep, Kq} → {Seq, Kq}
//	keys := named.Rename[Seq, KeySeq](named.Dot[Rep](x, keyM)) // {KeySeq, Kq}
//	att := named.Softmax[KeySeq](named.Dot[Kq](queries, keys)) // {Seq, KeySeq}
//
// Type arguments give the names that an operation works on; a set of names ([Set]) stands
// for several. If names are values, [By] makes a list of them that has the same
// operations as methods: named.By(Kq{}).Dot(queries, keys). [Dynamic] makes a name from a string.
//
// A schema is a struct that states the dimensions of an argument or result. [Bind] gives a tensor
// such a type. From there on, a tensor with another set of dimensions does not compile, and the dimensions are
// handles with methods for the operations:
//
//	type AttnIn struct {
//		*named.Tensor
//		Seq
//		Rep
//	}
//	in := named.Bind[AttnIn](x)
//	in.Rep.Dot(queryM.Rep)
//
// # Rules
//
// [Dot] contracts names that both tensors have, and fails if they share another one. [Contract]
// accepts any number of tensors, and treats shared names that it does not sum over as batch
// dimensions; at least two tensors must have each name that it sums over. A softmax of scores under
// a [CausalMask] goes over its keys, and the scale of a norm has the normalized dimensions. A field
// of a model declares its dimensions with a tag, `dims:"Model,Head"`. [Lift] applies a function
// over a dimension that the function does not know.
//
// In an elementwise operation, one operand must have all the names of the others. Use [Outer] or [BroadcastTo]
// for all combinations. All operands must agree on the size of a name.
// [Rename] fails if the old name is missing or the new one is present. Merging and
// splitting follow the listed order. A tensor without dimensions is a scalar.
//
// Names are checked when an operation is called, or recorded in a trace. An
// error shows the tensors, the names they share, where they come from, and a repair.
//
// # Implementation
//
// A named tensor wraps a dense or ragged tensor, which may be concrete, symbolic, or on a gradient tape.
// It is a Value like any other: functions, gradients, control flow, nests and
// storage need not know about names. Functions of package ops accept named tensors if their
// meaning does not depend on axis numbers: ops.Exp(x), ops.Add(x, y), ops.Sum(x).
//
// Contractions become batched matrix products with strides, without transposing, and their
// plans are cached by names. [Explain] shows a plan.
//
// # Glossary
//
//   - name: a Go type or a string that identifies a dimension
//   - layout: the names in the order in which dimensions are stored
//   - schema: a struct that embeds a *Tensor and names
//   - handle: a name in a schema, which represents the dimension of its tensor
//   - lifted: applied over a further dimension
//
// Stability: stable.
package named
