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
// From here on functions, loops, branches, gradients, batches, datasets, files and
// servers take a Masked like any other Value. docs/extension-types.md walks through a
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
//     pointer stands for nothing. Types may refer to themselves through slices, maps and
//     pointers; a value that holds itself, or nests more than 200 deep, is an error.
//
// A Spec owns its static data, and so does each value that is put together by one: what
// is done to a slice or a map later changes nothing else.
//
// Any other kind is an error at registration that names the field's path. Fields are
// exported; one with the tag "-" is left out, belongs to one value, and is empty in those made of it. An embedded struct adds its
// fields to those of the struct around it; if it is a registered type itself, the
// outer type refines it: it is asked first in dispatch, and has the inner type's handlers
// where it has none. It needs a Spec method of its own.
//
// # Tags
//
// Items of a `tenon:"…"` tag are separated by commas.
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
// declare, and the type's own Validate method ([Validator]). A value that arrives from outside
// is checked by [Check]. Assemble, which gradients, batches and loops use, checks the
// number and Specs of components alone: a cotangent is no probability, and a batch has
// an axis more than its rows.
//
// # Versions and unknown types
//
// The encoding of a Spec carries [Options].Version. What is stored under an older one
// keeps its old components and assembles to a value of the current version through
// [Migration]s. Its Spec takes such a value apart again, whatever names and places fields
// have now, if the older version can say all that the value says. A type that is not registered loads as a tenon.Opaque; [Resolve]
// makes the real value once it is.
//
// # Operations
//
// A type answers for operations with a HandleOp method (op.Handler), or with functions
// for an operation ([Handle]), a class ([HandleUnary], [HandleBinary],
// [HandleReduction], [HandleAssert], [HandleClass]), which may be added to types of
// other packages as well. [Cast] declares how one type becomes another.
//
// # Cost
//
// The plan of a struct is made once. cmd/tenongen writes it as Go code instead, which is
// faster still; [Generated] is what that code calls.
//
// Stability: stable.
package ext
