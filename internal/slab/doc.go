// Package slab allocates small pieces of memory out of larger ones: objects that are made by the
// thousand and live together share one allocation.
package slab
