package token

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed alike.txt
var alikeWords string

// alikeStems returns, for each stem, the sorted stems of words with about the same meaning.
var alikeStems = sync.OnceValue(func() map[string][]string {
	var s Stemmer
	out := map[string][]string{}
	for line := range strings.Lines(alikeWords) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		from, to, directed := strings.Cut(line, ">")
		if !directed {
			to = from
		}
		others := s.Append(nil, to)
		for _, a := range s.Append(nil, from) {
			for _, b := range others {
				if a != b {
					out[a] = append(out[a], b)
				}
			}
		}
	}
	for a, others := range out {
		slices.Sort(others)
		out[a] = slices.Compact(others)
	}
	return out
})

// Alike returns the stems of words that programmers use with about the same meaning as a word
// with the given stem. The words are in alike.txt.
func Alike(stem string) []string { return alikeStems()[stem] }
