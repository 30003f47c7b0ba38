// Package ext derives a type of Value from a Go struct.
//
//	type Masked struct {
//		Values tensor.Tensor
//		Mask   tensor.Tensor `tenon:"dtype=bool,shape=Values"`
//	}
//
//	func (m Masked) Spec() tenon.Spec { return ext.SpecOf(m) }
//
//	func init() { ext.Register[Masked]("example.com/masked.Masked") }
//
// Functions, loops, branches, gradients, batches, datasets, files and
// servers then accept a Masked like any other Value. docs/extension-types.md walks through a
// type from an empty folder to training with it.
//
// # Fields
//
// A field is one of
//
//   - a Value: an interface such as tensor.Tensor, or a type of Value such as
//     *ragged.Tensor or another registered struct. It becomes a component;
//   - static data: bool, integers, floats, strings, bytes, dtype.DType, shape.Shape, a
//     tenon.Spec, and types made of these, such as time.Duration. They are part of
//     the Spec: two values that differ in them have different types;
//   - a struct, slice, array, map with string keys, or pointer, of any of these. A nil
//     pointer has no components. Types may refer to themselves through slices, maps and
//     pointers; a value that contains itself, or nests more than 200 deep, is an error.
//
// A Spec owns its static data, and so does each value assembled from it: later changes
// to a slice or map affect nothing else.
//
// Any other kind is an error at registration that names the path of the field. Fields must be
// exported. A field with the tag "-" is ignored: it belongs to one value and is zero in values
// derived from it. An embedded struct adds its
// fields to those of the outer struct. If the embedded struct is a registered type itself, the
// outer type refines it: dispatch asks the outer type first and falls back on the handlers of
// the inner one. The outer type needs a Spec method of its own.
//
// # Tags
//
// Commas separate the items of a `tenon:"…"` tag.
//
//	name=values         the field's name in paths and encodings
//	optional            a Value that may be nil
//	dense               a dense tensor, not just any
//	type=pkg.Type       a Value of a registered type
//	default=3           what New puts in place of a zero field
//	oneof=same|valid    the static values that are allowed
//	static              for a field of type any: nil, a bool, int, float64 or string
//	dtype=float32       an element type, a class of them (float, integer, numeric,
//	                    complex, differentiable), or the field that has the same one
//	rank=2              a rank, or rank=len(Axes): as many axes as the field has elements
//	shape=Values        the same shape as another field
//	shape=[rows+1 3 _]  sizes: numbers, symbols that mean the same in all fields of the
//	                    value, plus or minus a number, "_" for anything, and "..." at the end
//	                    for any more. A symbol that is the name of a static integer
//	                    stands for it, one that is the name of a slice for its length
//	len=rows            the length of a slice or map, or the size of the outermost axis
//	batch=keep          all rows of a batch share the field
//	batch=none          values with this field have no batches
//
// # Validation
//
// [New] completes and checks a value: defaults, required fields, the relations that tags
// declare, and the type's own Validate method ([Validator]). [Check] checks a value that
// arrives from outside. Assemble, which gradients, batches and loops use, checks only the
// number and Specs of components: a cotangent is not a probability, and a batch has
// one axis more than its rows.
//
// # Versions and unknown types
//
// The encoding of a Spec contains [Options].Version. A Spec stored under an older version
// keeps its old components, and assembles a value of the current version through
// [Migration]s. It can also take such a value apart again, even if fields have been renamed or
// moved, as long as the older version can represent the value. A type that is not registered
// is read as a tenon.Opaque; [Resolve] converts it once the type is registered.
//
// # Operations
//
// A type handles operations with a HandleOp method (op.Handler), or with functions
// for an operation ([Handle]) or a class of operations ([HandleUnary], [HandleBinary],
// [HandleReduction], [HandleAssert], [HandleClass]). Such functions can also be added to types
// of other packages. [Cast] declares how to convert one type to another.
//
// # Cost
//
// Registration analyses a struct once and caches the plan. cmd/tenongen generates the plan as
// Go code, which is faster still; that code calls [Generated].
//
// Stability: stable.
package ext
