package arena

import (
	"testing"
	"time"
)

// Room is made where memory would come from the system, garbage may be there, and a
// collection is cheap and has not been for a hundred times as long as one takes.
func TestRoom(t *testing.T) {
	const mb = 1 << 20
	good := heapState{idle: 7 * mb, young: 8 * mb, scan: 16 * mb}
	for _, c := range []struct {
		name string
		n    int
		h    heapState
		want int
	}{
		{"what was allocated may be garbage", 8 * mb, good, 1},
		{"memory is at hand", 7 * mb, good, 0},
		{"less was allocated", 9 * mb, good, 0},
		{"a small buffer", roomFrom - 1, heapState{young: 8 * mb}, 0},
		{"many pointers", 8 * mb, heapState{young: 8 * mb, scan: 17 * mb}, 0},
		{"no collections wanted", 8 * mb, heapState{young: 8 * mb, off: true}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			collections := 0
			r := &room{state: func() heapState { return c.h }, collect: func() { collections++ }, now: func() time.Time { return time.Unix(0, 0) }}
			if r.make(c.n); collections != c.want {
				t.Errorf("%d collections, want %d", collections, c.want)
			}
		})
	}
}

// Collections that take 1 ms come every 0.1 s where they find something, and ever more seldom
// where they do not.
func TestRoomIsMadeSeldom(t *testing.T) {
	const n = 8 << 20
	for _, c := range []struct {
		name    string
		garbage uint64
		want    []time.Duration // when collections begin
	}{
		{"garbage", n, []time.Duration{0, 101, 202, 303, 404, 505, 606, 707, 808, 909}},
		{"all in use", 0, []time.Duration{0, 201, 602}},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin := time.Unix(1000, 0)
			now := begin
			h := heapState{young: n}
			var at []time.Duration
			r := &room{
				state:   func() heapState { return h },
				collect: func() { at = append(at, now.Sub(begin)); now = now.Add(time.Millisecond); h.idle = c.garbage },
				now:     func() time.Time { return now },
			}
			for now.Sub(begin) < time.Second {
				h.idle = 0
				r.make(n)
				now = begin.Add(now.Sub(begin).Truncate(time.Millisecond) + time.Millisecond)
			}
			for i := range c.want {
				c.want[i] *= time.Millisecond
			}
			if len(at) != len(c.want) {
				t.Fatalf("collections at %v, want %v", at, c.want)
			}
			for i, d := range at {
				if d < c.want[i] || d > c.want[i]+5*time.Millisecond {
					t.Errorf("collection %d at %v, want %v", i, d, c.want[i])
				}
			}
		})
	}
}

// The runtime knows the metrics by which room is made.
func TestHeapState(t *testing.T) {
	x := make([]byte, 32<<20)
	h := readHeap()
	if h.off || h.young == 0 && h.idle == 0 && h.scan == 0 {
		t.Errorf("state %+v with %d bytes in use", h, len(x))
	}
}
