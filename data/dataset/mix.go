package dataset

import (
	"math"
	"slices"
)

// A Part is a dataset with its weight in a mixture.
type Part[T any] struct {
	Data   *Dataset[T]
	Weight float64
}

// Stop determines when a mixture ends.
type Stop uint8

// The ends of a mixture.
const (
	First Stop = iota // when one part has no more elements
	Last              // when all parts have been read completely; parts that end earlier start another epoch
	Never             // never; parts that end start another epoch
)

const (
	maxPattern = 1 << 16 // largest number of elements in the pattern of a mixture
	maxParts   = 1 << 12
)

// Mix returns a mixture of datasets: the elements of each in order, in the proportions given
// by the weights. The proportions are exact: of the first n elements, a part with share p has
// p·n, to within less than one. Weights are rounded to multiples of 1/65536 of the total
// unless they are exact fractions with a smaller denominator. The mixture is not random, and
// element i is found in constant time. All parts must be numbered.
func Mix[T any](stop Stop, parts ...Part[T]) *Dataset[T] {
	var weights []float64
	var list []*Dataset[T]
	for _, p := range parts {
		list, weights = append(list, p.Data), append(weights, p.Weight)
	}
	up, numbered, _, err := several(list)
	sum := 0.0
	for _, w := range weights {
		if sum += w; (!(w > 0) || math.IsInf(sum, 0)) && err == nil {
			err = invalid("Mix", "the weights %v are not all positive", weights)
		}
	}
	switch {
	case err != nil:
	case len(parts) == 0 || len(parts) > maxParts:
		err = invalid("Mix", "cannot mix %d parts", len(parts))
	case stop > Never:
		err = invalid("Mix", "unknown Stop %d", stop)
	case !numbered:
		err = unnumbered("Mix")
	}
	if err != nil {
		return failing[T](err)
	}
	m := patternOf(counts(weights, sum))
	known := sizesOf("Mix", up)
	size := func() (int64, error) {
		s, err := known()
		if err != nil {
			return 0, err
		}
		if stop == Never {
			if slices.Contains(s.each, 0) {
				return 0, invalid("Mix", "a part has no elements")
			}
			return math.MaxInt64, nil
		}
		if stop == First {
			end := int64(math.MaxInt64)
			for k, n := range s.each {
				end = min(end, m.end(k, n))
			}
			return end, nil
		}
		end := int64(0)
		for k, n := range s.each {
			if n == 0 {
				return 0, invalid("Mix", "a part has no elements")
			}
			end = max(end, m.end(k, n-1)+1)
		}
		return end, nil
	}
	return derived(routed("Mix", up, size, func(i int64) (int, int64) {
		s, _ := known() // size has already returned the error
		all, _ := size()
		epoch, i := i/all, i%all
		k, j := m.find(i)
		n := s.each[k]
		used := (m.before(k, all) + n - 1) / n * n // whole epochs of the part in one epoch of the mixture
		return k, epoch*used + j
	}))
}

// counts returns the number of elements of each part in a pattern, for the smallest denominator
// that represents the weights exactly, or for maxPattern.
func counts(weights []float64, sum float64) []int64 {
	out := make([]int64, len(weights))
	for n := int64(len(weights)); n <= 4096; n++ {
		fits := true
		for i, w := range weights {
			x := w / sum * float64(n)
			out[i] = int64(math.Round(x))
			if out[i] == 0 || math.Abs(x-float64(out[i])) > 1e-9*float64(n) {
				fits = false
				break
			}
		}
		if fits {
			return out
		}
	}
	left := int64(maxPattern)
	rest := make([]float64, len(weights))
	for i, w := range weights {
		x := w / sum * maxPattern
		out[i] = max(1, int64(x))
		rest[i] = x - float64(out[i])
		left -= out[i]
	}
	for left != 0 {
		k, step := 0, int64(1)
		if left < 0 {
			step = -1
		}
		for i := range rest {
			if out[i]+step > 0 && (out[k]+step <= 0 || float64(step)*(rest[i]-rest[k]) > 0) {
				k = i
			}
		}
		out[k] += step
		rest[k] -= float64(step)
		left -= step
	}
	return out
}

// A pattern says which part each of n elements belongs to; it repeats.
type pattern struct {
	part   []uint16
	rank   []int32 // number of preceding elements of the same part
	places [][]int32
}

// patternOf spreads parts evenly: each element of a part is due within an interval of
// positions, and each position goes to the part that is due and whose interval ends first.
// This keeps every part within one element of its share (C. Liu and J. Layland, 1973).
func patternOf(counts []int64) *pattern {
	n := int64(0)
	for _, c := range counts {
		n += c
	}
	p := &pattern{part: make([]uint16, n), rank: make([]int32, n), places: make([][]int32, len(counts))}
	for i := range n {
		best, end := -1, int64(0)
		for k, c := range counts {
			have := int64(len(p.places[k]))
			if have*n >= c*(i+1) { // it would be ahead of its share
				continue
			}
			if e := ((have+1)*n + c - 1) / c; best < 0 || e < end {
				best, end = k, e
			}
		}
		p.part[i], p.rank[i] = uint16(best), int32(len(p.places[best]))
		p.places[best] = append(p.places[best], int32(i))
	}
	return p
}

// find returns the part of element i, and its number within that part.
func (p *pattern) find(i int64) (int, int64) {
	n := int64(len(p.part))
	k := int(p.part[i%n])
	return k, i/n*int64(len(p.places[k])) + int64(p.rank[i%n])
}

// end returns the position of element n of a part, or the largest number if that overflows.
func (p *pattern) end(k int, n int64) int64 {
	c, all := int64(len(p.places[k])), int64(len(p.part))
	if n/c >= math.MaxInt64/all-1 {
		return math.MaxInt64
	}
	return n/c*all + int64(p.places[k][n%c])
}

// before returns how many of the first n elements belong to a part.
func (p *pattern) before(k int, n int64) int64 {
	all := int64(len(p.part))
	at, _ := slices.BinarySearch(p.places[k], int32(n%all))
	return n/all*int64(len(p.places[k])) + int64(at)
}
