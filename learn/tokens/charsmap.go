package tokens

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strings"

	"github.com/rivo/uniseg"
)

// A charsmap replaces characters like SentencePiece's normalization. Its rules are a double-array trie (J. Aoe, IEEE
// Transactions on Software Engineering 15, 1989), whose values are offsets of texts that end with a zero byte.
type charsmap struct {
	trie  []uint32
	texts []byte
}

func readCharsmap(part json.RawMessage) (*charsmap, error) {
	s, err := readAs[struct {
		Map []byte `json:"precompiled_charsmap"` // in base64
	}](part)
	if err != nil {
		return nil, err
	}
	if len(s.Map) == 0 {
		return &charsmap{}, nil
	}
	if len(s.Map) < 4 {
		return nil, invalid("the precompiled charsmap has %d bytes", len(s.Map))
	}
	n, rest := binary.LittleEndian.Uint32(s.Map), s.Map[4:]
	if n%4 != 0 || uint64(n) > uint64(len(rest)) {
		return nil, invalid("the trie of the precompiled charsmap has %d bytes of %d", n, len(rest))
	}
	m := &charsmap{make([]uint32, n/4), rest[n:]}
	for i := range m.trie {
		m.trie[i] = binary.LittleEndian.Uint32(rest[4*i:])
	}
	return m, nil
}

// normalize replaces short clusters of characters that have a rule as a whole, and single characters of other clusters.
func (m *charsmap) normalize(text string) string {
	var b strings.Builder
	for text != "" {
		cluster, rest, _, _ := uniseg.FirstGraphemeClusterInString(text, -1)
		text = rest
		if len(cluster) < 6 {
			if to, ok := m.lookUp(cluster); ok {
				b.WriteString(to)
				continue
			}
		}
		for _, r := range cluster {
			if to, ok := m.lookUp(string(r)); ok {
				b.WriteString(to)
			} else {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// lookUp returns the replacement of the shortest rule that is a prefix of key.
func (m *charsmap) lookUp(key string) (string, bool) {
	at := uint32(0)
	step := func(by uint32) (unit uint32, ok bool) {
		if at ^= by; at >= uint32(len(m.trie)) {
			return 0, false
		}
		return m.trie[at], true
	}
	next := func(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
	unit, ok := step(0)
	if !ok {
		return "", false
	}
	at ^= next(unit)
	for i := range len(key) {
		if unit, ok = step(uint32(key[i])); !ok || key[i] == 0 || unit&(1<<31|0xff) != uint32(key[i]) {
			return "", false
		}
		leaf := unit>>8&1 == 1
		unit, ok = step(next(unit))
		if !leaf {
			continue
		}
		from := int(unit &^ (1 << 31))
		if !ok || from > len(m.texts) {
			return "", false
		}
		to, _, _ := bytes.Cut(m.texts[from:], []byte{0})
		return string(to), true
	}
	return "", false
}
