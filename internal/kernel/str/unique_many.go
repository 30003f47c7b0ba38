package str

import (
	"math"

	"github.com/tenonml/tenon/internal/arena"
	"github.com/tenonml/tenon/internal/par"
)

// uniqueMany is [Unique] of strings too many of which are distinct for a table in the
// cache. They are dealt out to several tables by their hashes, which equal strings share;
// then it is known of each string where its like is found first, and these places are
// numbered in their order. Strings of up to sixteen bytes are dealt out themselves: to
// look each up in memory takes longer than all the rest.
func uniqueMany(inverse []int64, x Column) (first, counts []int64) {
	n := len(inverse)
	bits := uint(1)
	for n>>bits > dealt && bits < 10 {
		bits++
	}
	parts, chunks := 1<<bits, (n-1)/sample+1
	lent := arena.Alloc(8 * (n + cardWords*n + chunks*parts))
	defer lent.Release()
	words := arena.View[uint64](lent, n+cardWords*n+chunks*parts)
	hashes, cards, ends := words[:n], words[n:n+cardWords*n], words[n+cardWords*n:]
	clear(ends)
	par.For(n, sample, func(lo, hi int) {
		hashWords(hashes[lo:hi], x, lo)
		count := ends[lo/sample*parts:][:parts]
		for _, h := range hashes[lo:hi] {
			count[h>>(64-bits)]++
		}
	})
	next := make([]uint64, parts+1) // where the cards of each table begin
	sum := uint64(0)
	for p := range parts {
		next[p] = sum
		for k := p; k < len(ends); k += parts {
			sum, ends[k] = sum+ends[k], sum
		}
	}
	next[parts] = sum
	par.For(n, sample, func(lo, hi int) {
		to := ends[lo/sample*parts:][:parts]
		for i, h := range hashes[lo:hi] {
			p := h >> (64 - bits)
			deal(cards[cardWords*to[p]:][:cardWords], x, lo+i, h)
			to[p]++
		}
	})
	distinct := make([]int, parts)
	par.For(parts, 1, func(lo, hi int) {
		var d dealing
		for p := lo; p < hi; p++ {
			distinct[p] = d.firstPlaces(x, cards[cardWords*next[p]:cardWords*next[p+1]])
		}
	})
	m := 0
	for _, d := range distinct {
		m += d
	}
	first, counts = freshWords(m)[:0], freshWords(m)
	for i, h := range hashes {
		from := &next[h>>(64-bits)]
		at := int64(cards[cardWords**from])
		*from++
		id := int64(len(first))
		if at == int64(i) {
			first = append(first, at)
			counts[id] = 1
		} else {
			id = inverse[at]
			counts[id]++
		}
		inverse[i] = id
	}
	return first, counts
}

// dealt is about how many strings a table gets.
const dealt = 1 << 12

// A card stands for a string in a table: its first and its last eight bytes, the hash and
// nothing for a long string, and its position below its length, all long ones having one.
const cardWords = 3

// longCard is the length that a card gives a string of more than sixteen bytes.
const longCard = 17 << 32

// deal writes the card of string i, whose hash is h.
func deal(card []uint64, x Column, i int, h uint64) {
	_ = card[2]
	lo := x.Offsets[i]
	n := uint64(x.Offsets[i+1] - lo)
	switch {
	case n > 16:
		card[0], card[1], card[2] = h, 0, longCard|uint64(i)
		return
	case lo+16 <= int64(len(x.Bytes)):
		card[0], card[1] = halves(x.Bytes[lo:lo+16], n)
	default:
		var word [16]byte
		copy(word[:], x.At(i))
		card[0], card[1] = halves(word[:], n)
	}
	card[2] = n<<32 | uint64(i)
}

// A dealing is what tables that strings were dealt out to are made of.
type dealing struct {
	slots []uint64
	found []uint32 // where the like of each string comes first
	pairs []uint64 // two positions of long strings that are to be equal
}

// position is that of a string in a card or a pair.
const position = math.MaxUint32

// firstPlaces replaces the first word of each card by the position where the like of its
// string comes first. It returns the number of distinct strings.
func (d *dealing) firstPlaces(x Column, cards []uint64) (distinct int) {
	n := len(cards) / cardWords
	bits := uint(6)
	for 1<<bits < 2*n && bits < 32 {
		bits++
	}
	if cap(d.slots) < 1<<bits {
		d.slots = make([]uint64, 1<<bits)
	}
	slots := d.slots[:1<<bits]
	clear(slots)
	if cap(d.found) < n {
		d.found = make([]uint32, n+n/8)
	}
	found, pairs, mask := d.found[:n], d.pairs[:0], uint64(len(slots)-1)
	s0, s1 := secrets[0], secrets[1]
	for k := range found {
		card := cards[cardWords*k:][:cardWords]
		u, v, w := card[0], card[1], card[2]
		h := u
		if w < longCard {
			h = mixWords(u, v, w>>32, s0, s1)
		}
		// The upper half of the hash said which table; a slot has the lower one above the
		// number of a card, which counts from 1: a free slot is 0.
		h <<= 32
		at := h >> (64 - bits)
		for {
			s := slots[at&mask]
			if s == 0 {
				slots[at&mask] = h | uint64(k+1)
				found[k] = uint32(w)
				distinct++
				break
			}
			if (s^h)>>32 == 0 {
				other := cards[cardWords*((s&position)-1):][:cardWords]
				if u == other[0] && v == other[1] && (w^other[2])>>32 == 0 {
					found[k] = uint32(other[2])
					if w >= longCard {
						pairs = append(pairs, other[2]<<32|w&position)
					}
					break
				}
			}
			at++
		}
	}
	for k, at := range found {
		cards[cardWords*k] = uint64(at)
	}
	d.pairs = pairs
	// Looked at all together, long strings take less time to come from memory.
	for _, p := range pairs {
		if !x.equal(int64(p>>32), int64(p&position)) {
			return exactPlaces(x, cards)
		}
	}
	return distinct
}

// exactPlaces is firstPlaces for cards of different long strings with one hash.
func exactPlaces(x Column, cards []uint64) (distinct int) {
	t := newTable(len(cards) / cardWords)
	var h [1]uint64
	for k := 0; k < len(cards); k += cardWords {
		i := int64(cards[k+2] & position)
		hashWords(h[:], x, int(i))
		cards[k] = uint64(t.first[t.id(x, i, h[0])])
	}
	return len(t.first)
}
