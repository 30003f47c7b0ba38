package segment

import "unsafe"

// Rows in a buffer in cache are done with as few questions as possible: the buffer has
// room behind its end, so that nobody looks after the last rows.

// Room is the number of bytes behind a buffer for which [RepeatInRoom] and
// [HeadsInRoom] are fast.
const Room = writeRoom

// RepeatInRoom is [Repeat] of single elements for the rows of a buffer: it may write
// over what is behind out, up to its capacity.
func RepeatInRoom[T any](out, perRow []T, splits []int64) {
	size := int(unsafe.Sizeof(*new(T)))
	k := moversFor[T]()
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
func HeadsInRoom[T any](out, table []T, splits []int64) bool {
	longest := int(MaxLength(splits))
	if longest > len(table) {
		return false
	}
	size := int(unsafe.Sizeof(*new(T)))
	k := moversFor[T]()
	rows := rowsOf(splits)
	bytes := longest * size
	if k == nil || bytes > readRoom || (cap(out)-len(out))*size < writeRoom || rows == 0 || len(out) > chunkCost {
		for r := range rows {
			copy(out[splits[r]:splits[r+1]], table)
		}
		return true
	}
	// Rows that begin at the same place: those of a matrix whose rows take no room.
	head := bytesOf(table)
	var spare [readRoom]byte
	if cap(head) < readRoom {
		copy(spare[:], head)
		head = spare[:]
	}
	kernel := k.unpad[0]
	if bytes > 64 {
		kernel = k.unpad[1]
	}
	dst := bytesOf(out[:cap(out)])
	kernel(&dst[0], &head[0], &splits[0], rows, size, 0)
	return true
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
