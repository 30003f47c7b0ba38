// Package tenon is the root of Tenon: extensible, structured, named tensors.
//
// Tenon computes with [Value]s. Every Value is a pair of a [Spec] and
// components. The Spec holds the static part: element types, known sizes,
// dimension names, field names, and the metadata of a type. The components are
// tensors, or values that have components themselves. A function that
// takes a value apart and puts it together again through its Spec can trace it,
// differentiate it, batch it, branch on it, loop over it and store it without
// knowing its type. Those services are therefore written once, and a type defined
// in another repository gets all of them by implementing the two interfaces of
// this package.
//
// # Specs
//
// A Spec encodes itself as plain data ([Encoding]). The encoding defines
// equality ([Equal]), the order of Specs ([Subtype], [Merge], [Compatible]),
// a canonical text ([Text]), a cache key ([Key]) and a binary form
// ([AppendBinary], [DecodeBinary]). A type that needs other rules implements
// [Subtyper], [Merger] or [Compatibler]. [Register] registers a type under a name
// so that its Spec can be decoded. A name that is not registered decodes to an
// [Opaque] Spec, which loses nothing.
//
// # Errors
//
// Most functions return an error, which is an [*Error] of one of the
// kinds [ErrShape], [ErrDType], [ErrAxis], [ErrRange], [ErrNotFound],
// [ErrUnsupported] and [ErrInvalid]. Functions used in expressions, such
// as ops.Add, return only their result and throw errors; [Try] and [Catch]
// return thrown errors.
//
// # Glossary
//
//   - value: immutable data made of tensors
//   - spec: the static half of a value
//   - component: a tensor or value that is part of a value
//   - leaf: a value without components, such as a dense tensor
//
// Stability: stable.
package tenon
