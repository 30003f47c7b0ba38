// Package nest takes structures of Go data apart into their leaves and puts
// them together again.
//
// A structure is made of slices, arrays, maps, structs, pointers and interfaces,
// nested in any way, and of types that implement [Node]. Its leaves are
//
//   - every tenon.Value and every tenon.Spec, whatever Go type it has. With
//     [Options].Expand they come apart too, into the components of their Specs,
//     down to tensors;
//   - Go scalars, and slices and arrays of scalars, which are data rather than
//     structure: a []float32 is one leaf. So are functions and channels;
//   - values of types that implement [Leaf].
//
// # Order
//
// Leaves are visited in one order that depends on the structure alone: slices
// and arrays by index, maps by key (strings by their bytes, integers by size;
// other keys are an error), structs by declaration of their fields.
//
// # Structs
//
// Exported fields take part, embedded structs under the name of their type. A
// tag changes that:
//
//	Units int     `tenon:"static"` // no leaf; has to be equal for two structures to be the same
//	Cache *cache  `tenon:"-"`      // no leaf, and never compared
//	W     Tensor  `tenon:"name=w"` // "w" in paths
//
// Pack takes static, ignored and unexported fields from its template. A field that is not
// exported and holds Values, or structs that do, is an error that names it: nobody would see
// them. So is a tag that nobody knows.
//
// # Nil
//
// A nil pointer or interface is a structure without leaves: where an optional
// bias is nil, there is nothing to visit, and Pack leaves it nil. A structure
// with nil in a place is not the same as one with something there. A nil slice or
// map is an empty one, and stays nil.
//
// # Limits
//
// A structure that holds itself, or is nested more than 200 deep, is an error. A
// pointer that occurs twice is visited twice, and Pack makes two of it.
//
// The plan for a Go type is made once and kept, so that a walk costs little more
// than reading the leaves.
//
// Stability: stable.
package nest
