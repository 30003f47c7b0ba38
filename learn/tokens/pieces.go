package tokens

import (
	"encoding/json"
	"unicode/utf8"
)

// pieces are word pieces (M. Schuster and K. Nakajima, Japanese and Korean Voice Search, ICASSP 2012), as BERT uses
// them: the longest piece that the word begins with, then the longest that continues it, and so on.
type pieces struct {
	vocabulary *vocabulary
	unknown    uint
	prefix     string // of pieces that continue a word
	most       int    // maximum number of characters of a word
}

func readPieces(part json.RawMessage) (*pieces, error) {
	type settings struct {
		Vocab   map[string]uint `json:"vocab"`
		Unknown string          `json:"unk_token"`
		Prefix  string          `json:"continuing_subword_prefix"`
		Most    int             `json:"max_input_chars_per_word"`
	}
	s, err := readAs[settings](part)
	if err != nil {
		return nil, err
	}
	v, err := newVocabulary(s.Vocab)
	if err != nil {
		return nil, err
	}
	id, ok := v.ids[s.Unknown]
	if !ok {
		return nil, invalid("there is no token %q for unknown words", s.Unknown)
	}
	if s.Most <= 0 || s.Most > 1<<12 {
		return nil, invalid("words of up to %d characters", s.Most)
	}
	return &pieces{v, id, s.Prefix, s.Most}, nil
}

// append implements [model].
func (p *pieces) append(ids []uint, word string) []uint {
	if utf8.RuneCountInString(word) > p.most {
		return append(ids, p.unknown)
	}
	n := len(ids)
	for at := 0; at < len(word); {
		prefix, end := "", len(word)
		if at > 0 {
			prefix = p.prefix
		}
		id, ok := p.vocabulary.ids[prefix+word[at:end]]
		for !ok && end > at {
			_, size := utf8.DecodeLastRuneInString(word[at:end])
			if end -= size; end > at {
				id, ok = p.vocabulary.ids[prefix+word[at:end]]
			}
		}
		if !ok {
			return append(ids[:n], p.unknown)
		}
		ids, at = append(ids, id), end
	}
	return ids
}
