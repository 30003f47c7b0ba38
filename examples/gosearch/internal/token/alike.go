package token

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed alike.txt
var alikeWords string

// alikeStems gives the stems of the words that say about the same as one, by its stem, in order.
var alikeStems = sync.OnceValue(func() map[string][]string {
	var s Stemmer
	out := map[string][]string{}
	for line := range strings.Lines(alikeWords) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		stems := s.Append(nil, line)
		for _, a := range stems {
			for _, b := range stems {
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

// Alike gives the stems of the words that programmers use for about the same as the word with a
// stem. The words are those of alike.txt.
func Alike(stem string) []string { return alikeStems()[stem] }
