package str

import "bytes"

// Split cuts each string at separator and returns the pieces and their row splits.
// With maxSplit > 0 at most that many cuts are made, the last piece being the rest.
//
// An empty separator cuts at runs of ASCII white space and drops those at both
// ends, so that a blank string has no pieces; a rest keeps the white space at its
// end. With any other separator an empty string has one piece, itself.
func Split(x Column, separator string, maxSplit int) (splits []int64, pieces Column) {
	cut := []byte(separator)
	m, _ := build(x.Len(), func(b *builder, i int) error {
		if len(cut) == 0 {
			splitSpace(b, x.At(i), maxSplit)
		} else {
			splitAt(b, x.At(i), cut, maxSplit)
		}
		b.endRow()
		return nil
	})
	return m.splits, m.column
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

// SplitBytes cuts each string into its bytes and returns them and their row splits.
func SplitBytes(x Column) (splits []int64, pieces Column) {
	size := x.Size()
	pieces = Column{Offsets: make([]int64, size+1), Bytes: make([]byte, size, size+slack)}
	for i := range pieces.Offsets {
		pieces.Offsets[i] = int64(i)
	}
	splits = make([]int64, x.Len()+1)
	if x.Len() > 0 {
		copy(pieces.Bytes, x.Bytes[x.Offsets[0]:])
		for i := range splits {
			splits[i] = x.Offsets[i] - x.Offsets[0]
		}
	}
	return splits, pieces
}
