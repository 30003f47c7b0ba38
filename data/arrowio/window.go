package arrowio

import (
	"encoding/binary"
	"fmt"

	"github.com/google/flatbuffers/go"
	"github.com/klauspost/compress/zstd"
)

// checkWindows checks the window sizes of the Zstandard frames in the body of a message, because a decoder
// allocates the window at once. The metadata has been checked.
func checkWindows(meta, body []byte) error {
	m := root(meta)
	at, ok := slot(&m, 2)
	if !ok {
		return nil
	}
	batch := child(&m, at)
	switch m.GetByteSlot(4+2*1, 0) {
	case kindDictionary:
		if at, ok = slot(&batch, 1); !ok {
			return nil
		}
		batch = child(&batch, at)
	case kindBatch:
	default:
		return nil
	}
	if at, ok = slot(&batch, 3); !ok {
		return nil // not compressed
	}
	const zstandard, width, prefix = 1, 16, 8
	if c := child(&batch, at); c.GetByteSlot(4, 0) != zstandard {
		return nil
	}
	start, n, err := vector(&batch, 2, width)
	if err != nil {
		return err
	}
	for i := range n {
		at := start + flatbuffers.UOffsetT(i*width)
		off := batch.GetInt64(at)
		b := body[off : off+batch.GetInt64(at+8)]
		if len(b) < prefix {
			continue
		}
		if said := int64(binary.LittleEndian.Uint64(b)); said >= 0 {
			if err := windows(b[prefix:], uint64(said)); err != nil {
				return err
			}
		}
	}
	return nil
}

// windows checks the frames of a buffer whose uncompressed size is stated as said. Invalid frames are left to the
// decoder to reject. The layout is that of RFC 8878, section 3.1.
func windows(b []byte, said uint64) error {
	const usual = 8 << 20 // window size that every decoder should support
	for len(b) > 0 {
		var h zstd.Header
		rest, err := h.DecodeAndStrip(b)
		if err != nil {
			return nil
		}
		if b = rest; h.Skippable {
			b = b[min(uint64(len(b)), uint64(h.SkippableSize)):]
			continue
		}
		window := h.WindowSize
		if h.SingleSegment {
			window = max(window, h.FrameContentSize)
		}
		if window > max(said, usual) {
			return fmt.Errorf("a buffer of %d bytes is compressed with a window of %d bytes", said, window)
		}
		b = behindBlocks(b)
		if h.HasCheckSum {
			b = b[min(len(b), 4):]
		}
	}
	return nil
}

// behindBlocks returns the bytes after the blocks of a frame.
func behindBlocks(b []byte) []byte {
	const header, rle = 3, 1
	for len(b) >= header {
		h := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
		size := int(h >> 3)
		if h>>1&3 == rle {
			size = 1
		}
		b = b[header:]
		b = b[min(len(b), size):]
		if h&1 != 0 { // the last one
			return b
		}
	}
	return nil
}
