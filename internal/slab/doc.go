// Package slab hands out memory in small pieces of larger ones: what is made in thousands and
// lives together costs one allocation for many.
package slab
