package arena

import (
	"math"
	"runtime"
	"sync"
	"time"
)

// A dropped result is garbage, but its memory is reused only after the next collection, which
// comes when the heap has doubled. Until then each large result takes pages that the system has
// to clear first: 0.1 to 0.3 ms for 2 MiB, or several milliseconds if a host has to provide
// them. Collecting a heap with few pointers takes 0.5 ms whatever its size. So before a large
// buffer takes memory from the system, garbage is collected, as long as that takes at most a
// hundredth of the time.

const (
	// roomFrom is the size of the smallest buffer for which garbage is collected.
	roomFrom = 2 << 20
	// roomScan is the largest amount of memory with pointers that the collector may have to scan.
	roomScan = 16 << 20
	// roomShare is the minimum time between collections, as a multiple of the time that the last
	// one took.
	roomShare = 100
	// roomTries is the number of times that the wait is doubled if collections find nothing.
	roomTries = 8
)

// A heapState is the state of the heap as reported by the runtime, in bytes.
type heapState struct {
	idle  uint64 // free memory that can be reused
	young uint64 // memory allocated since the last collection
	scan  uint64 // objects with pointers
	off   bool   // the program has disabled the collector
}

// room frees memory for large buffers.
type room struct {
	state   func() heapState
	collect func()
	now     func() time.Time

	mu   sync.Mutex
	next time.Time // earliest time of the next collection
	vain int       // number of consecutive collections that freed too little
}

var rooms = room{state: readHeap, collect: runtime.GC, now: time.Now}

// make collects garbage so that n bytes can be reused, if the limits allow it.
func (r *room) make(n int) {
	if n < roomFrom || !r.mu.TryLock() {
		return
	}
	defer r.mu.Unlock()
	start := r.now()
	if start.Before(r.next) {
		return
	}
	size := uint64(n)
	if h := r.state(); h.off || h.idle >= size || h.young < size || h.scan > roomScan {
		return
	}
	r.collect()
	if r.state().idle >= size {
		r.vain = 0
	} else {
		r.vain = min(r.vain+1, roomTries)
	}
	end := r.now()
	r.next = end.Add(roomShare * end.Sub(start) << r.vain)
}

// readHeap reads the state of the heap from the runtime.
func readHeap() heapState {
	v, ok := readMetrics("/memory/classes/heap/free:bytes", "/memory/classes/heap/objects:bytes",
		"/gc/heap/live:bytes", "/gc/scan/heap:bytes", "/gc/gogc:percent")
	return heapState{idle: v[0], young: v[1] - min(v[1], v[2]), scan: v[3], off: !ok || v[4] == math.MaxUint64}
}
