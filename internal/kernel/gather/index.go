package gather

import (
	"strconv"

	"github.com/tenonml/tenon/internal/par"
)

// Index is the set of types of indices.
type Index interface{ ~int32 | ~int64 }

// An IndexError reports the first index that is out of range.
type IndexError struct {
	Pos   int   // its position among the indices
	Index int64 // its value
	Limit int64 // the number of rows: indices lie in [0, Limit)
}

// Error returns "index 7 at position 3 is outside [0, 5)".
func (e *IndexError) Error() string {
	return "index " + strconv.FormatInt(e.Index, 10) + " at position " + strconv.Itoa(e.Pos) +
		" is outside [0, " + strconv.FormatInt(e.Limit, 10) + ")"
}

// chunk is the number of elements that a worker moves at a time.
const chunk = 32 << 10

// Check returns an *[IndexError] for the first index outside [0, limit), or nil.
func Check[I Index](idx []I, limit int64) error {
	for base := 0; base < len(idx); base += chunk {
		part := idx[base:min(base+chunk, len(idx))]
		if inRange(part, limit) {
			continue
		}
		for i, v := range part {
			if int64(v) < 0 || int64(v) >= limit {
				return &IndexError{Pos: base + i, Index: int64(v), Limit: limit}
			}
		}
	}
	return nil
}

// inRange checks all indices without a branch for each.
func inRange[I Index](idx []I, limit int64) bool {
	if limit <= 0 {
		return len(idx) == 0
	}
	var bad int64
	for _, v := range idx {
		bad |= int64(v) | (limit - 1 - int64(v))
	}
	return bad >= 0
}

// Normalize adds limit to negative indices, so that -1 means the last row. Indices
// that are still negative remain for [Check] to find. out may be idx.
func Normalize[I Index](out, idx []I, limit int64) {
	out = out[:len(idx)]
	for i, v := range idx {
		if v < 0 {
			v += I(limit)
		}
		out[i] = v
	}
}

func eachChunk(n, width int, f func(lo, hi int)) {
	par.For(n, max(1, chunk/max(width, 1)), f)
}
