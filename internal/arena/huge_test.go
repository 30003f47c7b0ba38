package arena

import (
	"runtime"
	"testing"
)

// Memory is renewed before it is lent, never while somebody has it: buffers that are
// held keep what was written, however often their neighbours come and go.
func TestRenewalLeavesHeldBuffersAlone(t *testing.T) {
	const size = 5 << 20
	var held []*Buffer
	fill := func(b *Buffer, v byte) {
		data := b.Bytes()
		for i := range data {
			data[i] = v
		}
	}
	for round := range 8 {
		for range 3 {
			fill(Alloc(size+round), 0xEE) // dropped
		}
		b := Alloc(size)
		fill(b, byte(round))
		held = append(held, b)
		runtime.GC()
	}
	for round, b := range held {
		for i, v := range b.Bytes() {
			if v != byte(round) {
				t.Fatalf("byte %d of buffer %d is %#x", i, round, v)
			}
		}
	}
}

// Asking for large pages never changes memory, whatever part of one a buffer covers.
func TestGrowingByLargePagesChangesNothing(t *testing.T) {
	defer weight.watched.Store(weight.watched.Swap(true))
	var held [][]byte
	for i, n := range []int{ballastFrom, 1<<20 - 7, 1 << 20, 3<<20 + 1} {
		for range 2 {
			b := arbitrary(n)
			for k := range b {
				b[k] = byte(i + 1)
			}
			held = append(held, b)
			preferHugePages(b)
		}
	}
	for i, b := range held {
		for k, v := range b {
			if v != byte(i/2+1) {
				t.Fatalf("byte %d of buffer %d is %d", k, i, v)
			}
		}
	}
}
