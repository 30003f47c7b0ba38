// Package elements encodes structures of Values as bytes and decodes them, for the caches of
// datasets and for messages between ranks. Values of any type are encoded as their Spec and the
// tensors they flatten to, and plain Go data next to them as JSON. The decoder does not trust its
// input.
package elements
