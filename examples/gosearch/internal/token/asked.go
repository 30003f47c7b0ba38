package token

import (
	"strings"

	"github.com/kljensen/snowball/english"
)

// Asked is a word of a person's question.
type Asked struct {
	Word, Stem string
	Stop       bool     // such as "how": contributes little
	Compound   bool     // made of two words of the question, or one of two into which a word was split
	Alike      []string // stems with about the same meaning: [Alike]
}

// Ask returns the words of a person's question. Two words that known accepts as one are added as
// that word ("file name"), and an unknown word may be split into two known ones ("wordlist").
func (t *Tokenizer) Ask(text string, known func(stem string) bool) []Asked {
	raw := Words(nil, text)
	out := make([]Asked, 0, len(raw))
	add := func(word string, stop, compound bool) {
		a := Asked{Word: word, Stem: t.stemmer.Stem(word), Stop: stop, Compound: compound}
		if !stop {
			a.Alike = Alike(a.Stem)
		}
		out = append(out, a)
	}
	for i, w := range raw {
		stop := english.IsStopWord(w) || len(w) == 1
		add(w, stop, false)
		if i+1 < len(raw) && !stop && known(t.stemmer.Stem(w+raw[i+1])) {
			add(w+raw[i+1], false, true)
		}
		if known(t.stemmer.Stem(w)) {
			continue
		}
		for k := shortPart; k+shortPart <= len(w); k++ {
			if known(t.stemmer.Stem(w[:k])) && known(t.stemmer.Stem(w[k:])) {
				add(w[:k], false, true)
				add(w[k:], false, true)
				break
			}
		}
	}
	return out
}

// shortPart is the minimum number of letters of a part of a word.
const shortPart = 3

// Content returns a question without uninformative words, or the question itself if nothing else
// is left.
func (t *Tokenizer) Content(text string) []Token {
	var kept []string
	for _, w := range Words(nil, text) {
		if !english.IsStopWord(w) && len(w) > 1 {
			kept = append(kept, w)
		}
	}
	if len(kept) == 0 {
		return t.Question(text)
	}
	return t.Question(strings.Join(kept, " "))
}

// Stems appends the stems of the words of text.
func (t *Tokenizer) Stems(dst []string, text string) []string { return t.stemmer.Append(dst, text) }
