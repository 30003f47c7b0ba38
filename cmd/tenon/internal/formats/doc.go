// Package formats is the table of all formats of files that the command knows: how each is told by its
// first bytes, read as records or as tensors and functions, and written.
//
// A new format is one entry of [Table]; no command has a list of its own.
package formats
