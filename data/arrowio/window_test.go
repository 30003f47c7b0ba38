package arrowio

import (
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func TestWindows(t *testing.T) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true))
	if err != nil {
		t.Fatal(err)
	}
	small := enc.EncodeAll(make([]byte, 1<<10), nil)
	large := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 19 << 3, 1 | 1<<3, 0, 0, 'a'} // 512 MiB, a block of one byte
	sized := []byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x20, 1 | 1<<1 | 1<<3, 0, 0, 'a'}
	skipped := []byte{0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 2}
	for _, c := range []struct {
		name string
		b    []byte
		said uint64
		ok   bool
	}{
		{"nothing", nil, 0, true},
		{"a frame", small, 1 << 10, true},
		{"frames", slices.Concat(small, skipped, small), 2 << 10, true},
		{"a large window", large, 1, false},
		{"a large window of as much", large, 1 << 29, true},
		{"a large size", sized, 1, false},
		{"behind another frame", slices.Concat(small, large), 1 << 11, false},
		{"behind what is skipped", slices.Concat(skipped, skipped, large), 1, false},
		{"no frame", []byte("no frame at all"), 1, true},
	} {
		if err := windows(c.b, c.said); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		for i := range c.b { // what ends early
			windows(c.b[:i], c.said)
		}
	}
}
