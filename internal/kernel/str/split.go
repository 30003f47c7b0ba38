package str

import "bytes"

// Split splits each string at separator and returns the pieces. splits, which has one entry
// more than there are strings, receives their row splits. With maxSplit > 0 each string is
// split at most that many times, and the last piece is the rest.
//
// An empty separator splits at runs of ASCII white space and drops those at both ends, so
// that a blank string has no pieces; the rest keeps its trailing white space. With any
// other separator an empty string has one piece, itself.
func Split(splits []int64, x Column, separator string, maxSplit int) Column {
	if separator != "" && x.Len() > fewKept {
		f := find(x, []byte(separator), max(maxSplit, 0))
		return f.split(splits)
	}
	pieces, _ := build(x.Len(), splits, cuts{x, []byte(separator), maxSplit}, func(b *builder, i int, with cuts) error {
		if len(with.at) == 0 {
			splitSpace(b, with.x.At(i), with.most)
		} else {
			splitAt(b, with.x.At(i), with.at, with.most)
		}
		return nil
	})
	return pieces
}

// cuts is the arguments of a chunk of [Split].
type cuts struct {
	x    Column
	at   []byte
	most int
}

func splitAt(b *builder, s, cut []byte, maxSplit int) {
	for n := 0; maxSplit <= 0 || n < maxSplit; n++ {
		i := bytes.Index(s, cut)
		if i < 0 {
			break
		}
		b.add(s[:i])
		s = s[i+len(cut):]
	}
	b.add(s)
}

func splitSpace(b *builder, s []byte, maxSplit int) {
	for n := 1; ; n++ {
		s = skipSpace(s)
		if len(s) == 0 {
			return
		}
		i := 0
		for i < len(s) && !space(s[i]) {
			i++
		}
		b.add(s[:i])
		s = s[i:]
		if n == maxSplit {
			b.add(skipSpace(s))
			return
		}
	}
}

func skipSpace(s []byte) []byte {
	for len(s) > 0 && space(s[0]) {
		s = s[1:]
	}
	return s
}

// SplitBytes splits each string into its bytes. splits, which has one entry more than there are
// strings, receives their row splits.
func SplitBytes(splits []int64, x Column) Column {
	size := int(x.Size())
	pieces := newColumn(size, size)
	for i := range pieces.Offsets {
		pieces.Offsets[i] = int64(i)
	}
	splits[0] = 0
	if x.Len() > 0 {
		copy(pieces.Bytes, x.Bytes[x.Offsets[0]:])
		for i := range splits {
			splits[i] = x.Offsets[i] - x.Offsets[0]
		}
	}
	return pieces
}
