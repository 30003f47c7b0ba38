// Package wire holds loops over serialized messages: finding where the lists of features
// lie, decoding packed variable-length integers of protocol buffers and other lists, and
// asking for messages ahead of reading them.
package wire
