package token

import (
	"strings"
	"sync"

	"github.com/kljensen/snowball/english"
)

// A Stemmer reduces words to their stems by the English Snowball rules
// (https://snowballstem.org/algorithms/english/stemmer.html) and remembers
// them: a collection repeats each of its words a hundred times, and looking one
// up is ten times faster than stemming it. It is safe for concurrent use; the
// zero Stemmer is ready.
type Stemmer struct{ stems sync.Map }

// Stem gives the stem of a word in lower case.
func (s *Stemmer) Stem(word string) string {
	if stem, ok := s.stems.Load(word); ok {
		return stem.(string)
	}
	stem := english.Stem(word, true)
	if stem == "" {
		stem = word
	}
	s.stems.Store(strings.Clone(word), stem)
	return stem
}

// Append appends the stems of the words of text to dst.
func (s *Stemmer) Append(dst []string, text string) []string {
	at := len(dst)
	dst = Words(dst, text)
	for i := at; i < len(dst); i++ {
		dst[i] = s.Stem(dst[i])
	}
	return dst
}
