// Package wire implements loops over serialized messages: locating lists of features, decoding
// packed variable-length integers of protocol buffers and other lists, and prefetching messages.
package wire
