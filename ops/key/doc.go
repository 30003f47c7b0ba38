// Package key describes selections of part of a value, like the expressions between the
// brackets of x[…] in Python.
//
//	ops.Index(x, 0)                                   // x[0]
//	ops.Index(x, key.From(1), -1)                     // x[1:, -1]
//	ops.Index(x, key.Ellipsis, key.Range(nil, nil, -1)) // x[..., ::-1]
//	ops.Index(x, key.NewAxis, key.All)                // x[newaxis, :]
//
// A [Key] selects along one axis, stands for several axes, or adds one. Every
// kind of value accepts the keys that make sense for it: dense and ragged tensors,
// structured ones (by [Field]) and named ones. [List] makes keys from Go values, so
// that functions can accept integers, strings and tensors for [At],
// [Field] and [By].
//
// Bounds are integers, scalar integer tensors (also symbolic ones), or nil if
// omitted. They work as in Python: negative bounds count from the end,
// and bounds of a range outside the axis are clipped.
//
// A list of keys has a text form, such as `1:, -1, ..., $0`, with the values that the
// text refers to as $0, $1, …: see [Format] and [Parse]. Operations store
// keys as attributes in this form.
//
// Stability: stable.
package key
