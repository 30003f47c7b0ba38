package str

import (
	"math"

	"github.com/tenonml/tenon/internal/arena"
	"github.com/tenonml/tenon/internal/par"
)

// uniqueMany is [Unique] for strings with so many distinct values that a table of them does not fit
// into the cache. It partitions the strings by hash into several tables, each of which finds the
// first occurrence of each of its strings; these occurrences are then numbered in order. Strings of
// up to sixteen bytes are copied into the partitions, because reading them again from memory would
// dominate the time.
func uniqueMany(inverse []int64, x Column) (first, counts []int64) {
	n := len(inverse)
	bits := uint(1)
	for n>>bits > dealt && bits < 10 {
		bits++
	}
	parts, chunks := 1<<bits, (n-1)/sample+1
	lent, words := arena.Lend[uint64](n + cardWords*n + chunks*parts)
	defer lent.Release()
	hashes, cards, ends := words[:n], words[n:n+cardWords*n], words[n+cardWords*n:]
	clear(ends)
	par.For(n, sample, func(lo, hi int) {
		hashWords(hashes[lo:hi], x, lo)
		count := ends[lo/sample*parts:][:parts]
		for _, h := range hashes[lo:hi] {
			count[h>>(64-bits)]++
		}
	})
	next := make([]uint64, parts+1) // where the cards of each partition begin
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
	// The places take less memory than the cards, and are read again in the order of x.
	lent2, places := arena.Lend[uint32](n)
	defer lent2.Release()
	distinct := make([]int, parts)
	par.For(parts, 1, func(lo, hi int) {
		var d dealing
		for p := lo; p < hi; p++ {
			distinct[p] = d.firstPlaces(places[next[p]:next[p+1]], x, cards[cardWords*next[p]:])
		}
	})
	m := 0
	for _, d := range distinct {
		m += d
	}
	first, counts = freshWords(m)[:0], freshWords(m)
	for i, h := range hashes {
		from := &next[h>>(64-bits)]
		at := int64(places[*from])
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

// dealt is the approximate number of strings in a partition.
const dealt = 1 << 12

// A card represents a string in a partition. Its first two words are the bytes of the string or,
// for a long string, its hash and 0. The third holds the length, which is the same for all long
// strings, above the position.
const cardWords = 3

// longCard is the length that cards give for strings of more than sixteen bytes, shifted into
// place.
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

// A dealing is the scratch memory for partitions.
type dealing struct {
	slots []uint64
	pairs []uint64 // pairs of positions of long strings that are assumed to be equal
}

// position masks the position in a card or a pair.
const position = math.MaxUint32

// firstPlaces writes to places, for each card, the position of the first occurrence of its string.
// It returns the number of distinct strings.
func (d *dealing) firstPlaces(places []uint32, x Column, cards []uint64) (distinct int) {
	n := len(places)
	bits := uint(6)
	for 1<<bits < 2*n && bits < 32 {
		bits++
	}
	if cap(d.slots) < 1<<bits {
		d.slots = make([]uint64, 1<<bits)
	}
	slots := d.slots[:1<<bits]
	clear(slots)
	pairs, mask := d.pairs[:0], uint64(len(slots)-1)
	s0, s1 := secrets[0], secrets[1]
	for k := range places {
		card := cards[cardWords*k:][:cardWords]
		u, v, w := card[0], card[1], card[2]
		h := u
		if w < longCard {
			h = mixWords(u, v, w>>32, s0, s1)
		}
		// The upper half of the hash selected the partition. A slot holds the lower half above the
		// index of a card, which counts from 1, so that a free slot is 0.
		h <<= 32
		at := h >> (64 - bits)
		for {
			s := slots[at&mask]
			if s == 0 {
				slots[at&mask] = h | uint64(k+1)
				places[k] = uint32(w)
				distinct++
				break
			}
			if (s^h)>>32 == 0 {
				other := cards[cardWords*((s&position)-1):][:cardWords]
				if u == other[0] && v == other[1] && (w^other[2])>>32 == 0 {
					places[k] = uint32(other[2])
					if w >= longCard {
						pairs = append(pairs, other[2]<<32|w&position)
					}
					break
				}
			}
			at++
		}
	}
	d.pairs = pairs
	// Comparing the long strings together, at the end, lets their cache misses overlap.
	for _, p := range pairs {
		if !x.equal(int64(p>>32), int64(p&position)) {
			return exactPlaces(places, x, cards)
		}
	}
	return distinct
}

// exactPlaces is firstPlaces for the case that different long strings have the same hash.
func exactPlaces(places []uint32, x Column, cards []uint64) (distinct int) {
	t := newTable(len(places))
	var h [1]uint64
	for k := range places {
		i := int64(cards[cardWords*k+2] & position)
		hashWords(h[:], x, int(i))
		places[k] = uint32(t.first[t.id(x, i, h[0])])
	}
	return len(t.first)
}
