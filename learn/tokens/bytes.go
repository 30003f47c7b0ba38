package tokens

import (
	"encoding/json"
	"strings"
)

// Byte-level encodings have a character for each byte: printable characters of Latin-1 stand for themselves,
// the other bytes for the characters from 256 on.
var (
	spelling [256]rune
	spelt    = map[rune]byte{}
)

func init() {
	next := rune(256)
	for b := range spelling {
		r := rune(b)
		if !(r >= '!' && r <= '~' || r >= '¡' && r <= '¬' || r >= '®' && r <= 'ÿ') {
			r, next = next, next+1
		}
		spelling[b], spelt[r] = r, byte(b)
	}
}

// spelled returns the characters for the bytes of a word.
func spelled(word string) string {
	var b strings.Builder
	for _, c := range []byte(word) {
		b.WriteRune(spelling[c])
	}
	return b.String()
}

// unspelled returns the bytes of a piece, or the piece itself if it is not spelled in this way.
func unspelled(piece string) string {
	var b strings.Builder
	for _, r := range piece {
		c, ok := spelt[r]
		if !ok {
			return piece
		}
		b.WriteByte(c)
	}
	return b.String()
}

// readDecoder returns the function that joins pieces to a text.
func readDecoder(part json.RawMessage) (func(pieces []string) string, error) {
	kind, err := named(part)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "":
		return func(pieces []string) string { return strings.Join(pieces, " ") }, nil
	case "ByteLevel":
		return func(pieces []string) string {
			var b strings.Builder
			for _, p := range pieces {
				b.WriteString(unspelled(p))
			}
			return b.String()
		}, nil
	case "Metaspace":
		m, err := readMetaspace(part)
		if err != nil {
			return nil, err
		}
		return m.join, nil
	case "Fuse":
		return func(pieces []string) string { return strings.Join(pieces, "") }, nil
	case "WordPiece":
		s, err := readAs[struct {
			Prefix  string
			Cleanup bool
		}](part)
		if err != nil {
			return nil, err
		}
		tidy := strings.NewReplacer(" .", ".", " ?", "?", " !", "!", " ,", ",", " ' ", "'", " n't", "n't", " 'm", "'m", " do not", " don't", " 's", "'s", " 've", "'ve", " 're", "'re")
		return func(pieces []string) string {
			var b strings.Builder
			for i, p := range pieces {
				rest, on := strings.CutPrefix(p, s.Prefix)
				switch {
				case i == 0:
				case on && s.Prefix != "":
					p = rest
				default:
					p = " " + p
				}
				if s.Cleanup {
					p = tidy.Replace(p)
				}
				b.WriteString(p)
			}
			return b.String()
		}, nil
	}
	return nil, unsupported("the decoder is %q", kind)
}
