// Package gotype determines how Go types are read as data: which fields a struct has, under which
// names, and what lists, maps and pointers become.
package gotype
