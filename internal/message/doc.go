// Package message reads and writes protocol buffers field by field, without generated code:
// for formats that are large, of which a program needs a small part, or whose lists are to
// become columns at once.
package message
