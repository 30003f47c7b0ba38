package token

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
)

// A Vocabulary gives tokens their ids: 0 up to the number of known tokens, and
// behind them Buckets ids for the parts of unknown words.
type Vocabulary struct {
	rows    int
	texts   []string
	counts  []int // in how many rows each is
	buckets int
	ids     map[string]int32
}

// VocabularyOptions say what a vocabulary holds. The zero value is the default.
type VocabularyOptions struct {
	// MinRows is in how many rows a token must stand to be known; 0 means 2.
	MinRows int
	// Buckets, if not 0, makes an unknown word the hashed trigrams of its
	// letters, so that a misspelt or rare word is near words that look alike.
	// Otherwise unknown words are dropped.
	Buckets int
}

// BuildVocabulary counts the tokens of rows, which must be training rows only.
// Tokens that are in more rows come first; those in as many, in alphabetical order.
func BuildVocabulary(rows [][]Token, opts VocabularyOptions) *Vocabulary {
	minRows := cmp.Or(opts.MinRows, 2)
	last := map[string]int{} // the last row seen with it, counted from 1
	count := map[string]int{}
	for i, row := range rows {
		for _, t := range row {
			if last[t.Text] != i+1 {
				last[t.Text] = i + 1
				count[t.Text]++
			}
		}
	}
	v := &Vocabulary{rows: len(rows), buckets: opts.Buckets}
	for text, n := range count {
		if n >= minRows {
			v.texts = append(v.texts, text)
		}
	}
	slices.SortFunc(v.texts, func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b))
	})
	for _, t := range v.texts {
		v.counts = append(v.counts, count[t])
	}
	v.index()
	return v
}

func (v *Vocabulary) index() {
	v.ids = make(map[string]int32, len(v.texts))
	for i, t := range v.texts {
		v.ids[t] = int32(i)
	}
}

// Size is how many ids there are.
func (v *Vocabulary) Size() int { return len(v.texts) + v.buckets }

// Text is the token of an id, empty for a bucket.
func (v *Vocabulary) Text(id int32) string {
	if int(id) < len(v.texts) {
		return v.texts[id]
	}
	return ""
}

// ID is the id of a known token.
func (v *Vocabulary) ID(text string) (int32, bool) {
	id, ok := v.ids[text]
	return id, ok
}

// Weight is what a token is worth before training: ln(1 + N/df) / 3 for a word
// in df of N rows, that of a word in one or two rows for a bucket, and 1 for a
// place, which is in many rows by nature.
func (v *Vocabulary) Weight(id int32) float32 {
	df := 1.5
	if int(id) < len(v.texts) {
		if strings.Contains(v.texts[id], ":") {
			return 1
		}
		df = float64(v.counts[id])
	}
	return float32(math.Log(1+float64(v.rows)/df) / 3)
}

// Encode appends the ids of tokens, and the field of each, to two parallel
// slices. A declaration's token counts once in a field however often it stands
// there; a question's words all count.
func (v *Vocabulary) Encode(ids []int32, fields []Field, tokens []Token) ([]int32, []Field) {
	seen := make(map[Token]bool, len(tokens))
	for _, t := range tokens {
		if t.Field >= Name {
			if seen[t] {
				continue
			}
			seen[t] = true
		}
		if id, ok := v.ids[t.Text]; ok {
			ids, fields = append(ids, id), append(fields, t.Field)
		} else if v.buckets > 0 && !t.Field.IsPlace() {
			before := len(ids)
			ids = v.appendTrigrams(ids, t.Text)
			for range len(ids) - before {
				fields = append(fields, t.Field)
			}
		}
	}
	return ids, fields
}

// appendTrigrams appends the buckets of the trigrams of "^word$".
func (v *Vocabulary) appendTrigrams(ids []int32, word string) []int32 {
	r := []rune("^" + word + "$")
	for i := 0; i+3 <= len(r); i++ {
		h := fnv.New32a()
		h.Write([]byte(string(r[i : i+3])))
		ids = append(ids, int32(len(v.texts))+int32(h.Sum32()%uint32(v.buckets)))
	}
	return ids
}

// stored is a Vocabulary's form in JSON.
type stored struct {
	Rows    int      `json:"rows"`
	Buckets int      `json:"buckets"`
	Texts   []string `json:"tokens"`
	Counts  []int    `json:"counts"`
}

// MarshalJSON writes all of the vocabulary.
func (v *Vocabulary) MarshalJSON() ([]byte, error) {
	return json.Marshal(stored{v.rows, v.buckets, v.texts, v.counts})
}

// maxBuckets bounds what a damaged file can make a model allocate.
const maxBuckets = 1 << 24

// UnmarshalJSON reads what [Vocabulary.MarshalJSON] wrote and checks it.
func (v *Vocabulary) UnmarshalJSON(data []byte) error {
	var s stored
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("vocabulary: %w", err)
	}
	switch {
	case len(s.Texts) != len(s.Counts):
		return fmt.Errorf("vocabulary: %d tokens but %d counts", len(s.Texts), len(s.Counts))
	case s.Buckets < 0 || s.Buckets > maxBuckets:
		return fmt.Errorf("vocabulary: %d buckets: want 0 to %d", s.Buckets, maxBuckets)
	case len(s.Texts)+s.Buckets == 0:
		return errors.New("vocabulary: empty")
	}
	for i, n := range s.Counts {
		if n < 1 || n > s.Rows {
			return fmt.Errorf("vocabulary: token %q is in %d of %d rows", s.Texts[i], n, s.Rows)
		}
	}
	n := Vocabulary{rows: s.Rows, texts: s.Texts, counts: s.Counts, buckets: s.Buckets}
	n.index()
	if len(n.ids) != len(n.texts) {
		return errors.New("vocabulary: a token is listed twice")
	}
	*v = n
	return nil
}
