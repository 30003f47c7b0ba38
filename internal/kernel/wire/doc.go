// Package wire holds loops over serialized messages: packed variable-length integers
// of protocol buffers, and asking for messages ahead of reading them.
package wire
