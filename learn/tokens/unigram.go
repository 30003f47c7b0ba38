package tokens

import (
	"encoding/json"
	"fmt"
	"math"
	"unicode/utf8"
)

// unigram splits a text into pieces with the greatest sum of scores, which are logarithms of probabilities (T. Kudo,
// Subword Regularization, ACL 2018), like SentencePiece, T5 and XLM-R. A character that is in no piece costs more than
// any piece.
type unigram struct {
	vocabulary *vocabulary
	scores     map[string]float64
	longest    int // bytes of a piece
	unknown    uint
	cost       float64 // the score of an unknown character
	bytes      bool    // unknown characters are spelled in pieces such as <0x41>, if all of these exist
}

// penalty is the difference between the score of the worst piece and that of an unknown
// character.
const penalty = 10

func readUnigram(part json.RawMessage) (*unigram, error) {
	s, err := readAs[struct {
		Unknown *uint                `json:"unk_id"`
		Vocab   [][2]json.RawMessage `json:"vocab"`
		Bytes   bool                 `json:"byte_fallback"`
	}](part)
	if err != nil {
		return nil, err
	}
	u := &unigram{scores: make(map[string]float64, len(s.Vocab)), cost: math.Inf(1), bytes: s.Bytes}
	ids := make(map[string]uint, len(s.Vocab))
	for i, entry := range s.Vocab {
		var piece string
		var score float64
		if json.Unmarshal(entry[0], &piece) != nil || json.Unmarshal(entry[1], &score) != nil {
			return nil, invalid("piece %d is not a pair of a text and a score", i)
		}
		if _, ok := ids[piece]; ok {
			return nil, invalid("two pieces are %q", piece)
		}
		ids[piece] = uint(i)
		u.scores[piece], u.longest, u.cost = score, max(u.longest, len(piece)), min(u.cost, score-penalty)
	}
	if s.Unknown == nil || *s.Unknown >= uint(len(s.Vocab)) {
		return nil, invalid("unk_id is none of the %d pieces", len(s.Vocab))
	}
	u.unknown = *s.Unknown
	u.vocabulary, err = newVocabulary(ids)
	return u, err
}

// append implements [model].
func (u *unigram) append(ids []uint, word string) []uint {
	// A way is the best segmentation up to the end of a character: the start of its last piece, and the sum
	// of scores.
	type way struct {
		from  int
		score float64
		known bool
	}
	ways := make([]way, len(word)+1)
	for i := range ways {
		ways[i].from = -1
	}
	ways[0].from = 0
	reach := func(from, to int, score float64, known bool) {
		if w := &ways[to]; w.from < 0 || ways[from].score+score > w.score {
			*w = way{from, ways[from].score + score, known}
		}
	}
	for from := 0; from < len(word); {
		_, size := utf8.DecodeRuneInString(word[from:])
		single := false
		for to := from + size; to <= min(len(word), from+u.longest); {
			if score, ok := u.scores[word[from:to]]; ok {
				reach(from, to, score, true)
				single = single || to == from+size
			}
			if to == len(word) {
				break
			}
			_, next := utf8.DecodeRuneInString(word[to:])
			to += next
		}
		if !single {
			reach(from, from+size, u.cost, false)
		}
		from += size
	}
	var pieces []string // from the last to the first; adjacent unknown characters are one piece
	var known []bool
	for end := len(word); end > 0; {
		w := ways[end]
		if n := len(pieces); n > 0 && !w.known && !known[n-1] {
			pieces[n-1] = word[w.from : end+len(pieces[n-1])]
		} else {
			pieces, known = append(pieces, word[w.from:end]), append(known, w.known)
		}
		end = w.from
	}
	for i := len(pieces) - 1; i >= 0; i-- {
		if id, ok := u.vocabulary.ids[pieces[i]]; ok && known[i] {
			ids = append(ids, id)
		} else {
			ids = u.spell(ids, pieces[i])
		}
	}
	return ids
}

// spell appends the bytes of an unknown piece, or the unknown token.
func (u *unigram) spell(ids []uint, piece string) []uint {
	n := len(ids)
	for i := 0; u.bytes && i < len(piece); i++ {
		id, ok := u.vocabulary.ids[fmt.Sprintf("<0x%02X>", piece[i])]
		if !ok {
			return append(ids[:n], u.unknown)
		}
		ids = append(ids, id)
	}
	if !u.bytes {
		ids = append(ids, u.unknown)
	}
	return ids
}
