package parquetio

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// Numbers of any width, in runs of any lengths, are read in pieces as they were written, and those of widths that a slow loop reads too.
func TestRunsAreReadInPieces(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	for width := range 33 {
		for _, n := range []int{1, 7, 8, 9, 100, 1000} {
			want := make([]uint32, 0, n)
			for len(want) < n {
				v := uint32(draw.Uint64() & (1<<width - 1))
				for range 1 + draw.IntN(3)*draw.IntN(20) {
					want = append(want, v)
				}
			}
			want = want[:n]
			b := appendNumbers(nil, want, width)
			for _, piece := range []int{8, 13, 64, 2048} {
				runs, buf, got := runReader[uint32]{b: b, width: width, unpack: unpackNumbers}, make([]uint32, piece+8), []uint32(nil)
				for len(got) < n {
					k, err := runs.read(buf[:min(piece, n-len(got))])
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, buf[:k]...)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("width %d, %d numbers in pieces of %d: got %d, want %d", width, n, piece, got, want)
				}
			}
		}
	}
	if _, err := hybrid(nil, []byte{0x03, 0x01}, 9, 1, unpackBytes); !errors.Is(err, errRuns) {
		t.Error(err)
	}
}

// Levels are compared eight at a time as they are one at a time, also with the highest bit.
func TestThresholds(t *testing.T) {
	draw := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		levels := make([]uint8, 64+draw.IntN(100))
		for i := range levels {
			levels[i] = uint8(draw.Uint32())
		}
		level := uint8(draw.Uint32())
		want, word := 0, uint64(0)
		for i, l := range levels {
			if l > level {
				want++
				if i < 64 {
					word |= 1 << i
				}
			}
		}
		if got := above(levels, level); got != want {
			t.Fatalf("%d of %v are above %d, want %d", got, levels, level, want)
		}
		if got := thresholdOf(level).of(levels, 0); got != word {
			t.Fatalf("%x of %v are above %d, want %x", got, levels, level, word)
		}
	}
}

// Values are moved to where bits say, whatever their width, in their own memory too.
func TestSpread(t *testing.T) {
	draw := rand.New(rand.NewPCG(7, 8))
	for _, width := range []int{1, 2, 3, 4, 8, 12, 16} {
		for range 50 {
			slots := 1 + draw.IntN(200)
			at := make(bitset, (slots+63)/64)
			want := make([]byte, slots*width)
			b := append(make([]byte, 0, 1+draw.IntN(2)*(slots*width+8)), nil...)
			dense := draw.IntN(3)
			for i := range slots {
				if draw.IntN(4) < 1+dense {
					at[i>>6] |= 1 << (i & 63)
					x := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, draw.Uint64()), draw.Uint64())[:width]
					b = append(b, x...)
					copy(want[i*width:], x)
				}
			}
			if got := spread(b, width, slots, at); !slices.Equal(got, want) {
				t.Fatalf("width %d, %d slots %x: got %x, want %x", width, slots, at, got, want)
			}
		}
	}
}
