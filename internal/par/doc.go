// Package par runs loops on all processors with one team of workers.
//
//	par.For(len(x), 16<<10, func(lo, hi int) {
//		negate(x[lo:hi])
//	})
//
// # How it works
//
// A loop is divided into chunks of a fixed size, the grain. Every participant, including the
// caller, claims the next chunk with one atomic addition until none is left. The caller starts at
// once and never waits for a worker that has not started, so a loop costs at worst what it costs on
// one processor. Idle workers spin for a short time, so that a sequence of loops finds them awake,
// and then park. A spinning worker joins after 0.1 µs. Waking a parked one takes 40 to 90 µs on
// common virtual machines, and more if the system starts it on the caller's processor. The team
// measures this and spins for twice that time, at most 0.4 ms.
//
// # What callers may rely on
//
//   - Chunk boundaries are multiples of the grain. They depend only on n and grain,
//     never on the number of workers, so that a reduction which keeps one partial
//     result per chunk (index lo/grain) has the same bits on every machine.
//   - Each chunk is passed to f exactly once; calls of f run concurrently.
//   - When For returns, everything that f wrote is visible to the caller.
//   - Loops may be nested, and any number of goroutines may run loops at once.
//   - A panic in f reaches the caller of For with its original value, after the chunks
//     that had already started have ended; chunks not yet started are dropped.
//   - The number of goroutines working on a loop is at most GOMAXPROCS at its start.
//
// # Choosing a grain
//
// A chunk should take at least 10 to 20 µs. That is 16 to 32 thousand elements of an addition, 4 to
// 8 thousand of a transcendental function, one million multiply-adds of a matrix product. A loop of
// a single chunk runs on the caller without involving the team, so the grain is also the threshold
// for parallelism.
package par
