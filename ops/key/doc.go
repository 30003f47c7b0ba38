// Package key says which part of a value is meant: what stands between the
// brackets of x[…] in Python.
//
//	ops.Index(x, 0)                                   // x[0]
//	ops.Index(x, key.From(1), -1)                     // x[1:, -1]
//	ops.Index(x, key.Ellipsis, key.Range(nil, nil, -1)) // x[..., ::-1]
//	ops.Index(x, key.NewAxis, key.All)                // x[newaxis, :]
//
// A [Key] selects along one axis, or stands for several axes, or adds one. Every
// kind of value takes the keys that make sense for it: dense and ragged tensors,
// structured ones (by [Field]) and named ones. [List] makes keys of Go values, so
// that functions can take integers, strings and tensors where they mean [At],
// [Field] and [By].
//
// Bounds are integers, scalar integer tensors (also symbolic ones), or nil where
// they are left out. They have Python's meaning: negative ones count from the end,
// and a range's bounds that lie outside are moved to the end.
//
// A list of keys has a text, such as `1:, -1, ..., $0`, and the values that the
// text refers to as $0, $1, …: [Format] and [Parse]. That is how operations hold
// keys as attributes.
//
// Stability: stable.
package key
