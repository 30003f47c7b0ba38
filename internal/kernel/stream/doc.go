// Package stream copies to memory that nobody will read soon, past the cache.
//
// An ordinary store first reads the cache line it writes to, and evicts another.
// For results that exceed the cache, the copy's traffic shrinks by a third and what
// is in the cache stays. The gain is largest where a loop computes a block in the
// first-level cache and then hands it over:
//
//	for each block {
//		kernel(temp, x)
//		stream.Copy(dst, temp)
//	}
//
// [Fetch] is the other half: what such a loop reads next comes from memory while it
// computes.
package stream
