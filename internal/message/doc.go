// Package message reads and writes protocol buffers field by field, without generated code,
// for formats that are large but of which a program needs only a small part, or whose lists
// are read directly into columns.
package message
