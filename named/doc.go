// Package named holds tensors whose dimensions have names.
//
// A name is a Go type, declared in one line. It is found by the editor's completion,
// renamed by its refactoring, and another package's name with the same spelling is
// another name:
//
//	type (
//		Batch  struct{ named.Dim[Batch] }
//		Seq    struct{ named.Dim[Seq] }
//		KeySeq struct{ named.Dim[KeySeq] }
//		Rep    struct{ named.Dim[Rep] }
//		Kq     struct{ named.Dim[Kq] }
//	)
//
// The dimensions of a [*Tensor] are a set. Operations find them by name, and what an
// operation means never depends on the order in which they are stored:
//
//	queries := named.Dot[Rep](x, queryM)                       // {Seq, Rep} · {Rep, Kq} → {Seq, Kq}
//	keys := named.Rename[Seq, KeySeq](named.Dot[Rep](x, keyM)) // {KeySeq, Kq}
//	att := named.Softmax[KeySeq](named.Dot[Kq](queries, keys)) // {Seq, KeySeq}
//
// What names an operation is about is a type argument; a set of names ([Set]) stands
// for several. Where they are values, [By] makes a list of them whose methods are the same
// operations: named.By(Kq{}).Dot(queries, keys). [Dynamic] makes a name of a text.
//
// A schema states in a struct what a function takes or gives. [Bind] gives a tensor
// such a type; another set of dimensions does not compile from there on, and the dimensions are
// handles with the operations of their own:
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
// [Dot] contracts names that both tensors have and fails if they share another one.
// [Contract] takes shared names that are not summed over as a batch, and any number of
// tensors; a name that is summed over stands in two of them at least. A softmax of scores
// under a [CausalMask] goes over its keys, and the scale of a norm has what is normalised.
// A field of a model declares its dimensions with a tag, `dims:"Model,Head"`. [Lift] takes a function over a name that it does not know of.
//
// Elementwise operations need one operand whose names contain the others'; all
// combinations have to be asked for with [Outer] or [BroadcastTo]. A name has one size in an
// operation. [Rename] fails where the old name is missing or the new one is there. What is
// merged or split follows the order that is listed. A tensor without dimensions is a scalar.
//
// Names are checked when an operation is called, in a trace when it is recorded: an
// error shows the tensors, the names they share, where they come from, and a repair.
//
// # What is inside
//
// Inside is a dense or a ragged tensor, concrete, symbolic, or recorded for a gradient.
// A named tensor is a Value like any other: functions, gradients, control flow, nests and
// storage need not know of names. Functions of package ops take named tensors where their
// meaning does not depend on axis numbers: ops.Exp(x), ops.Add(x, y), ops.Sum(x).
//
// Contractions become batches of matrix products with strides: nothing is transposed
// for them, and what they work out for given names is kept. [Explain] shows it.
//
// # Glossary
//
//   - name: what a dimension is called: a Go type or a text
//   - layout: the names in the order in which dimensions are stored
//   - schema: a struct that embeds a *Tensor and names
//   - handle: a name in a schema, which stands for the dimension of its tensor
//   - lifted: of a function, taken over a further dimension
//
// Stability: stable.
package named
