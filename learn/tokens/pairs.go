package tokens

import (
	"container/heap"
	"encoding/json"
	"fmt"
	"strings"
)

// pairs is a byte-pair encoding (R. Sennrich et al., Neural Machine Translation of Rare Words with Subword Units, ACL
// 2016): of all adjacent pairs in a word, the one that was learned first is merged into one piece, until none is left.
type pairs struct {
	vocabulary *vocabulary
	merges     map[[2]uint]merge
	unknown    *uint
	fuse       bool // adjacent unknown characters are one token
	bytes      bool // unknown characters are spelled as tokens of their bytes, if there are such tokens
	whole      bool // words that are tokens are not split
}

// A merge is the piece that a pair becomes, and its rank: when it was learned.
type merge struct {
	rank int
	id   uint
}

func readPairs(part json.RawMessage) (*pairs, error) {
	type settings struct {
		Vocab     map[string]uint `json:"vocab"`
		Merges    []json.RawMessage
		Dropout   *float64
		Unknown   *string `json:"unk_token"`
		Fuse      bool    `json:"fuse_unk"`
		Bytes     bool    `json:"byte_fallback"`
		Whole     bool    `json:"ignore_merges"`
		Continues *string `json:"continuing_subword_prefix"`
		End       *string `json:"end_of_word_suffix"`
	}
	s, err := readAs[settings](part)
	if err != nil {
		return nil, err
	}
	for name, x := range map[string]*string{"continuing_subword_prefix": s.Continues, "end_of_word_suffix": s.End} {
		if x != nil && *x != "" {
			return nil, unsupported("the model's %s is %q", name, *x)
		}
	}
	if s.Dropout != nil && *s.Dropout != 0 {
		return nil, unsupported("the model drops out merges")
	}
	v, err := newVocabulary(s.Vocab)
	if err != nil {
		return nil, err
	}
	p := &pairs{v, make(map[[2]uint]merge, len(s.Merges)), nil, s.Fuse, s.Bytes, s.Whole}
	for rank, m := range s.Merges {
		a, b, err := readMerge(m)
		if err != nil {
			return nil, err
		}
		left, ok := v.ids[a]
		right, ok2 := v.ids[b]
		id, ok3 := v.ids[a+b]
		if !ok || !ok2 || !ok3 {
			return nil, invalid("merge %d of %q and %q has no tokens", rank, a, b)
		}
		p.merges[[2]uint{left, right}] = merge{rank, id}
	}
	if s.Unknown != nil {
		id, ok := v.ids[*s.Unknown]
		if !ok {
			return nil, invalid("there is no token %q for unknown words", *s.Unknown)
		}
		p.unknown = &id
	}
	return p, nil
}

// readMerge reads "a b", or ["a", "b"].
func readMerge(m json.RawMessage) (a, b string, err error) {
	var list []string
	if err := json.Unmarshal(m, &list); err == nil && len(list) == 2 {
		return list[0], list[1], nil
	}
	var s string
	if err := json.Unmarshal(m, &s); err != nil {
		return "", "", invalid("%s is not a merge", m)
	}
	a, b, ok := strings.Cut(s, " ")
	if !ok {
		return "", "", invalid("%q is not a merge", s)
	}
	return a, b, nil
}

// append implements [model].
func (p *pairs) append(ids []uint, word string) []uint {
	if id, ok := p.vocabulary.ids[word]; ok && p.whole {
		return append(ids, id)
	}
	return append(ids, p.merged(p.characters(word))...)
}

// characters returns the tokens of single characters.
func (p *pairs) characters(word string) (ids []uint) {
	unknown := false
	for _, c := range word {
		id, ok := p.vocabulary.ids[string(c)]
		if ok {
			ids, unknown = append(ids, id), false
			continue
		}
		if p.bytes {
			var own []uint
			for _, b := range []byte(string(c)) {
				if id, ok := p.vocabulary.ids[fmt.Sprintf("<0x%02X>", b)]; ok {
					own = append(own, id)
				}
			}
			if len(own) == len(string(c)) {
				ids, unknown = append(ids, own...), false
				continue
			}
		}
		if p.unknown != nil && !(unknown && p.fuse) {
			ids = append(ids, *p.unknown)
		}
		unknown = true
	}
	return ids
}

// A candidate is an adjacent pair that may be merged.
type candidate struct {
	merge
	at          int
	left, right uint
}

type candidates []candidate

func (c candidates) Len() int { return len(c) }
func (c candidates) Less(i, k int) bool {
	return c[i].rank < c[k].rank || c[i].rank == c[k].rank && c[i].at < c[k].at
}
func (c candidates) Swap(i, k int) { c[i], c[k] = c[k], c[i] }
func (c *candidates) Push(x any)   { *c = append(*c, x.(candidate)) }
func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// merged merges adjacent pairs in O(n log n) time.
func (p *pairs) merged(ids []uint) []uint {
	n := len(ids)
	before, behind, gone := make([]int, n), make([]int, n), make([]bool, n)
	var queue candidates
	offer := func(at int) {
		if at < 0 || behind[at] >= n {
			return
		}
		l, r := ids[at], ids[behind[at]]
		if m, ok := p.merges[[2]uint{l, r}]; ok {
			queue = append(queue, candidate{m, at, l, r})
		}
	}
	for i := range ids {
		before[i], behind[i] = i-1, i+1
	}
	for i := range ids {
		offer(i)
	}
	heap.Init(&queue)
	for len(queue) > 0 {
		c := heap.Pop(&queue).(candidate)
		next := 0
		if !gone[c.at] {
			next = behind[c.at]
		}
		if gone[c.at] || next >= n || ids[c.at] != c.left || ids[next] != c.right {
			continue // one of the two was merged into another piece
		}
		ids[c.at], gone[next] = c.id, true
		if behind[c.at] = behind[next]; behind[c.at] < n {
			before[behind[c.at]] = c.at
		}
		for _, at := range []int{before[c.at], c.at} {
			k := len(queue)
			if offer(at); len(queue) > k {
				heap.Fix(&queue, k)
			}
		}
	}
	out := ids[:0]
	for i, id := range ids {
		if !gone[i] {
			out = append(out, id)
		}
	}
	return out
}
