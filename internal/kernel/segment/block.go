package segment

import "unsafe"

// The functions in this file work on the rows of a buffer that stays in cache. They skip most
// checks and allocate nothing: the work is never divided, and the room after the buffer's end makes
// special treatment of the last rows unnecessary.

// Room is the number of bytes after a buffer's end that [RepeatInRoom] and [HeadsInRoom] need to be
// fast.
const Room = writeRoom

// BlockRows is a number of rows whose multiples make buffers efficient.
const BlockRows = maxBatch

// A Word is an element that is only moved, never computed with.
type Word interface {
	uint8 | uint16 | uint32 | uint64
}

// FromZero writes the splits of a buffer's rows, shifted so that the first is 0, to out.
func FromZero(out, splits []int64) {
	if k := vectorsNow(); k != nil {
		k.shift(&out[0], &splits[0], len(splits), -splits[0])
		return
	}
	for i, v := range splits {
		out[i] = v - splits[0]
	}
}

// SumInBlock is [Sum] for the rows of a buffer, with inner size 1.
func SumInBlock[T float32 | float64](out, values []T, splits []int64) {
	reduceInBlock(reduceSum, out, values, splits)
}

// MeanInBlock is [Mean] for the rows of a buffer, with inner size 1.
func MeanInBlock[T float32 | float64](out, values []T, splits []int64) {
	reduceInBlock(reduceMean, out, values, splits)
}

// MaxInBlock is [Max] for the rows of a buffer, with inner size 1.
func MaxInBlock[T float32 | float64](out, values []T, splits []int64) {
	reduceInBlock(reduceMax, out, values, splits)
}

// MinInBlock is [Min] for the rows of a buffer, with inner size 1.
func MinInBlock[T float32 | float64](out, values []T, splits []int64) {
	reduceInBlock(reduceMin, out, values, splits)
}

func reduceInBlock[T float32 | float64](r reduction, out, values []T, splits []int64) {
	k := kernelsFor[T]()
	if k == nil {
		for i := range out {
			out[i] = reducePlainly(r, values[splits[i]:splits[i+1]])
		}
		return
	}
	ws := workspaces.Get().(*workspace)
	k.reducers[r].run(ws, out, values, splits, 0, func(i int) { out[i] = k.reduce(r, values[splits[i]:splits[i+1]]) })
	workspaces.Put(ws)
}

// RepeatInRoom is [Repeat] for the rows of a buffer, with inner size 1. It may write past the end
// of out, up to its capacity.
func RepeatInRoom[T Word](out, perRow []T, splits []int64) {
	size := int(unsafe.Sizeof(*new(T)))
	k := vectorsNow()
	rows := rowsOf(splits)
	if k == nil || size != 4 && size != 8 || (cap(out)-len(out))*size < writeRoom || rows == 0 || len(out) > chunkCost {
		Repeat(out, perRow, splits, 1)
		return
	}
	dst, own := bytesOf(out[:cap(out)]), bytesOf(perRow)
	k.repeat[size/4-1](&dst[0], &own[0], &splits[0], rows)
}

// HeadsInRoom fills each row of a buffer with the first elements of table, as many as the row is
// long. It may write past the end of out, up to its capacity. It reports false if a row is longer
// than the table.
func HeadsInRoom[T Word](out, table []T, splits []int64) bool {
	ws := workspaces.Get().(*workspace)
	defer workspaces.Put(ws)
	longest := int(longestInBlock(ws, splits))
	if longest > len(table) {
		return false
	}
	size := int(unsafe.Sizeof(*new(T)))
	k := vectorsNow()
	rows := rowsOf(splits)
	bytes := longest * size
	if k == nil || bytes > readRoom || (cap(out)-len(out))*size < writeRoom || rows == 0 || len(out) > chunkCost {
		for r := range rows {
			copy(out[splits[r]:splits[r+1]], table)
		}
		return true
	}
	head := bytesOf(table)
	if cap(head) < readRoom {
		copy(ws.a[:], head)
		head = ws.a[:]
	}
	// All rows are copied from the same place, as if from a matrix whose rows are 0 apart.
	kernel := k.unpad[0]
	if bytes > 64 {
		kernel = k.unpad[1]
	}
	dst := bytesOf(out[:cap(out)])
	kernel(&dst[0], &head[:1][0], &splits[0], rows, size, 0)
	return true
}

// longestInBlock is [MaxLength] for the rows of a buffer.
func longestInBlock(ws *workspace, splits []int64) (longest int64) {
	rest := rowsOf(splits) &^ 7
	if k := vectorsNow(); k == nil {
		rest = 0
	} else if rest > 0 {
		clear(ws.splits[:8])
		k.longest(&ws.splits[0], &splits[0], rest)
		for _, n := range ws.splits[:8] {
			longest = max(longest, n)
		}
	}
	for r := rest; r < rowsOf(splits); r++ {
		longest = max(longest, splits[r+1]-splits[r])
	}
	return longest
}
