// Package arena lends large buffers and takes them back.
//
//	b := arena.Alloc(4 * n)
//	x := arena.View[float32](b, n) // contents are arbitrary
//	...
//	b.Release()
//
// Fresh memory from the runtime is cleared and faulted in page by page, which costs up to five
// times as much as the operation that fills it; a buffer from the pool is warm. The owner
// releases a buffer explicitly (the interpreter of compiled functions knows when from liveness).
// A buffer that is never released is not leaked: the garbage collector reclaims it like any
// other memory. It also reclaims free buffers that are not used for two collections.
//
// Buffers of 4 MiB or more request huge pages, and memory that is lent repeatedly is moved to
// huge pages.
//
// In a program with a small heap that makes one result of 64 KiB or more after another, the
// garbage collector would run after every few of them. While collections are less than a tenth
// of a second apart, the package holds 32 MiB of the heap as ballast, without touching it, so
// that they become less frequent: garbage may then take about 64 MiB more. There is no ballast
// in a process with a memory limit (GOMEMLIMIT) or with a heap of 64 MiB or more. It is dropped
// at the second collection without demand for such buffers, or when collections have become
// rare.
//
// Before a buffer of 2 MiB or more takes memory from the system, garbage is collected, so that
// it can reuse the memory of results that were dropped. This is done only if the heap has at
// most 16 MiB of objects with pointers, takes at most a hundredth of the time, and is disabled
// by GOGC=off.
//
// # What callers may rely on
//
//   - A buffer starts on a 64-byte boundary, which is a cache line and an AVX-512 vector.
//   - At least [Slack] bytes after the last element may be read, and written with
//     anything. They are inside the capacity of what Bytes and View return.
//   - Memory holds no pointers, so the garbage collector does not scan it.
//   - Sizes are rounded up to classes, four for each power of two, so at most a
//     quarter of a buffer is waste.
//   - All functions may be used from many goroutines at once.
//
// # Finding mistakes
//
// Releasing a buffer twice, or accessing a released one, panics in every mode. Debug mode
// detects the use of a slice after its buffer was released (see [SetDebug], or the environment
// variable TENON_ARENA=debug): released memory is filled with 0xFF, which reads as NaN or -1,
// and quarantined for a while; before it is lent again, and in [Check], it is checked for
// writes.
package arena
