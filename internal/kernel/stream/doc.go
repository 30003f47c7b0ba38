// Package stream copies with non-temporal stores to memory that will not be read soon.
//
// An ordinary store first reads the cache line it writes to, and evicts another. For results that
// exceed the cache, non-temporal stores reduce the traffic of a copy by a third and leave the cache
// undisturbed. The gain is largest if a loop computes a block in the first-level cache and then
// copies it out:
//
//	for each block {
//		kernel(temp, x)
//		stream.Copy(dst, temp)
//	}
//
// [Fetch] is the counterpart: it prefetches what such a loop reads next while it computes.
package stream
