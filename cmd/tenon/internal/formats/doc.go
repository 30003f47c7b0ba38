// Package formats is the table of all file formats that the command supports: how each is detected
// from its first bytes, read as records or as tensors and functions, and written.
//
// A new format is one entry of [Table]; no command has a list of its own.
package formats
