// Package tenon is the root of Tenon: extensible, structured, named tensors.
//
// Everything that Tenon computes with is a [Value], and every Value is a pair
// of a [Spec] and components. The Spec holds what is static: element types,
// the sizes that are known, dimension names, field names, a type's own
// metadata. The components are tensors, or values that come apart in the same
// way. Whoever can take a value apart and put it together again through its
// Spec can trace it, differentiate it, batch it, branch on it, loop over it and
// store it without knowing its type. That is why those services are written
// once, and why a type defined in another repository gets all of them by
// implementing the two interfaces of this package.
//
// # Specs
//
// A Spec encodes itself as plain data ([Encoding]). From the encoding follow
// equality ([Equal]), the order of Specs ([Subtype], [Merge], [Compatible]),
// a canonical text ([Text]), a key for caches ([Key]) and a binary form
// ([AppendBinary], [DecodeBinary]). A type that knows better implements [Subtyper],
// [Merger] or [Compatibler]. [Register] makes a type known by name so that its
// Spec can be read back; a name that is not registered reads back as an
// [Opaque] Spec, which loses nothing.
//
// # Errors
//
// Functions that do work return an error, which is an [*Error] of one of the
// kinds [ErrShape], [ErrDType], [ErrAxis], [ErrRange], [ErrNotFound],
// [ErrUnsupported] and [ErrInvalid]. Functions that are meant for formulas, such
// as ops.Add, return only their result and throw; [Try] and [Catch] turn what
// they throw into an error again.
//
// # Glossary
//
//   - value: immutable data made of tensors
//   - spec: the static half of a value
//   - component: a tensor or value that a value is made of
//   - leaf: a value with no components of its own, such as a dense tensor
//
// Stability: stable.
package tenon
