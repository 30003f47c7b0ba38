// Package nest flattens structures of Go data into their leaves and packs
// them again.
//
// A structure consists of slices, arrays, maps, structs, pointers and interfaces,
// nested in any way, and of types that implement [Node]. Its leaves are
//
//   - every tenon.Value and every tenon.Spec, whatever its Go type. With
//     [Options].Expand they are flattened, too, into the components of their Specs,
//     down to tensors;
//   - Go scalars, and slices and arrays of scalars, which are data rather than
//     structure: a []float32 is one leaf. So are functions and channels;
//   - values of types that implement [Leaf].
//
// # Order
//
// The order of leaves depends only on the structure: slices
// and arrays by index, maps by key (strings by their bytes, integers by size;
// other keys are an error), structs by declaration of their fields.
//
// # Structs
//
// All exported fields take part; an embedded struct has the name of its type. A
// tag changes that:
//
//	Units int     `tenon:"static"` // no leaf; has to be equal for two structures to be the same
//	Cache *cache  `tenon:"-"`      // no leaf, and never compared
//	W     Tensor  `tenon:"name=w"` // "w" in paths
//
// Pack takes static, ignored and unexported fields from its template. An unexported field
// that holds Values, or structs with Values, is an error that names it, because it would be
// silently skipped. An unknown tag is an error, too.
//
// # Nil
//
// A nil pointer or interface is a structure without leaves. An optional
// bias that is nil has nothing to visit, and Pack leaves it nil. A structure
// with nil in a place differs from one with a value there. A nil slice or
// map is an empty one, and stays nil.
//
// # Limits
//
// A structure that contains itself, or is nested more than 200 deep, is an error. A
// pointer that occurs twice is visited twice, and Pack makes two of it.
//
// The plan for a Go type is made once and cached, so a walk costs little more
// than reading the leaves.
//
// Stability: stable.
package nest
