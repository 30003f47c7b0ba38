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
