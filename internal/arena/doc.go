// Package arena lends large buffers and takes them back.
//
//	b := arena.Alloc(4 * n)
//	x := arena.View[float32](b, n) // contents are arbitrary
//	...
//	b.Release()
//
// Memory fresh from the runtime is cleared and faulted in page by page, which costs
// up to five times the operation that fills it; a buffer that comes back from the
// pool is warm. The owner says when a buffer is free (the interpreter of compiled
// functions knows from liveness). A buffer that is never released is not leaked: the
// garbage collector takes it like any other memory. Free buffers that nobody
// asks for during two collections are dropped too.
//
// Buffers of 4 MiB and more ask for large pages, and memory that is lent again and again
// is moved to them.
//
// A program with a small heap that makes one result of 64 KiB or more after the other would be
// collected every few of them. While collections are less than a tenth of a second apart, the
// package keeps 32 MiB of the heap for itself, without touching it, so that they come less
// often: garbage may then take about 64 MiB more than it would. It does not in a process with a
// limit on its memory (GOMEMLIMIT), nor beside a heap of 64 MiB and more, and drops them at the
// second collection during which nobody asked for such buffers, or when collections have become
// rare.
//
// Before a buffer of 2 MiB or more takes memory from the system, garbage is collected: a result
// that was dropped leaves its memory to the next one. That happens where the heap holds at most
// 16 MiB of objects with pointers, takes a hundredth of the time at most, and not with GOGC=off.
//
// # What callers may rely on
//
//   - A buffer starts on a 64-byte boundary, which is a cache line and an AVX-512 vector.
//   - At least [Slack] bytes behind the last element may be read, and written with
//     anything. They are inside the capacity of what Bytes and View return.
//   - Memory holds no pointers, so the collector does not look inside.
//   - Sizes are rounded up to classes, four for each power of two, so at most a
//     quarter of a buffer is waste.
//   - All functions may be used from many goroutines at once.
//
// # Finding mistakes
//
// Releasing a buffer twice, or asking a released one for its bytes, panics in every
// mode. A slice obtained before the release and used after it is found in debug mode
// (see [SetDebug], or the environment variable TENON_ARENA=debug): released memory
// is filled with 0xFF, which reads as NaN or -1, and is kept aside for a while;
// whether somebody wrote to it is checked before it is lent again, and by [Check].
package arena
