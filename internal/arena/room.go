package arena

import (
	"math"
	"runtime"
	"sync"
	"time"
)

// A result that nobody holds any more is garbage, but its memory serves again only after the
// next collection, and that comes when the heap has doubled. Until then each large result is
// made in pages that the system has to clear first: 0.1 to 0.3 ms for 2 MiB, several where
// its host has to find them. A collection of a heap with few pointers takes 0.5 ms whatever its
// size. So before memory comes from the system for a large buffer, what was allocated since the
// last collection is collected, as long as that takes a hundredth of the time at most.

const (
	// roomFrom is the size of the smallest buffer that room is made for.
	roomFrom = 2 << 20
	// roomScan is how much memory with pointers there may be for the collector to look through.
	roomScan = 16 << 20
	// roomShare is how many times as long as a collection took the next one is waited for.
	roomShare = 100
	// roomTries is the number of times that the wait is doubled when collections find nothing.
	roomTries = 8
)

// A heapState says what the collector knows, in bytes.
type heapState struct {
	idle  uint64 // memory that is at hand
	young uint64 // what was allocated since the last collection
	scan  uint64 // objects with pointers
	off   bool   // the program wants no collections
}

// room makes room for large buffers.
type room struct {
	state   func() heapState
	collect func()
	now     func() time.Time

	mu   sync.Mutex
	next time.Time // when the next collection may be
	vain int       // how many of the last ones found too little
}

var rooms = room{state: readHeap, collect: runtime.GC, now: time.Now}

// make sees to it that n bytes are at hand, where a collection may do that.
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

// readHeap asks the runtime.
func readHeap() heapState {
	v, ok := readMetrics("/memory/classes/heap/free:bytes", "/memory/classes/heap/objects:bytes",
		"/gc/heap/live:bytes", "/gc/scan/heap:bytes", "/gc/gogc:percent")
	return heapState{idle: v[0], young: v[1] - min(v[1], v[2]), scan: v[3], off: !ok || v[4] == math.MaxUint64}
}
