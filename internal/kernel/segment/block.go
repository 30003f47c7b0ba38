package segment

import "unsafe"

// Rows in a buffer in cache are done with as few questions as possible, and without
// memory of their own: nobody shares the work, and the buffer has room behind its end,
// so that nobody looks after the last rows.

// Room is the number of bytes behind a buffer for which [RepeatInRoom] and
// [HeadsInRoom] are fast.
const Room = writeRoom

// BlockRows is what the number of rows of a buffer had better be a multiple of.
const BlockRows = maxBatch

// A Word is an element that is only moved.
type Word interface {
	uint8 | uint16 | uint32 | uint64
}

// FromZero writes splits less the first one, for the rows of a buffer, to out.
func FromZero(out, splits []int64) {
	if k := vectorsNow(); k != nil {
		k.shift(&out[0], &splits[0], len(splits), -splits[0])
		return
	}
	for i, v := range splits {
		out[i] = v - splits[0]
	}
}

// SumInBlock is [Sum] of single elements for the rows of a buffer.
func SumInBlock[T float32 | float64](out, values []T, splits []int64) {
	reduceInBlock(reduceSum, out, values, splits)
}

// MeanInBlock is [Mean] of single elements for the rows of a buffer.
func MeanInBlock[T float32 | float64](out, values []T, splits []int64) {
	reduceInBlock(reduceMean, out, values, splits)
}

// MaxInBlock is [Max] of single elements for the rows of a buffer.
func MaxInBlock[T float32 | float64](out, values []T, splits []int64) {
	reduceInBlock(reduceMax, out, values, splits)
}

// MinInBlock is [Min] of single elements for the rows of a buffer.
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

// RepeatInRoom is [Repeat] of single elements for the rows of a buffer: it may write
// over what is behind out, up to its capacity.
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

// HeadsInRoom writes to each row the first elements of a table, as many as the row is
// long, for the rows of a buffer: it may write over what is behind out, up to its
// capacity. It reports false where a row is longer than the table.
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
	// Rows that all begin at the same place: those of a matrix whose rows take no room.
	kernel := k.unpad[0]
	if bytes > 64 {
		kernel = k.unpad[1]
	}
	dst := bytesOf(out[:cap(out)])
	kernel(&dst[0], &head[:1][0], &splits[0], rows, size, 0)
	return true
}

// longestInBlock is [MaxLength].
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
