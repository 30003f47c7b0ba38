package parquetio

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
)

// bounds are the smallest and the greatest of some values, in stored form. There are none if the values have no
// order, or if they include NaN.
type bounds struct {
	there       bool
	least, most []byte
}

// longest is the maximum length of a bound; longer ones are omitted.
const longest = 4096

// kept returns a copy of the bounds, because the memory of their values may be reused.
func (b bounds) kept() bounds {
	if !b.there || len(b.least) > longest || len(b.most) > longest {
		return bounds{}
	}
	return bounds{true, bytes.Clone(b.least), bytes.Clone(b.most)}
}

// join returns the bounds of the union of two sets of values.
func (c *slot) join(a, b bounds) bounds {
	switch {
	case !a.there:
		return b
	case !b.there:
		return a
	}
	if c.compare(b.least, a.least) < 0 {
		a.least = b.least
	}
	if c.compare(b.most, a.most) > 0 {
		a.most = b.most
	}
	return a
}

// compare returns the order of two values.
func (c *slot) compare(a, b []byte) int {
	switch c.typ {
	case typeInt32:
		x, y := binary.LittleEndian.Uint32(a), binary.LittleEndian.Uint32(b)
		if c.order == signed {
			return cmp.Compare(int32(x), int32(y))
		}
		return cmp.Compare(x, y)
	case typeInt64:
		x, y := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)
		if c.order == signed {
			return cmp.Compare(int64(x), int64(y))
		}
		return cmp.Compare(x, y)
	case typeFloat:
		return cmp.Compare(math.Float32frombits(binary.LittleEndian.Uint32(a)), math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case typeDouble:
		return cmp.Compare(math.Float64frombits(binary.LittleEndian.Uint64(a)), math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
	if c.order == signed && a[0]^b[0] >= 0x80 { // one of two decimals is negative
		return cmp.Compare(b[0]>>7, a[0]>>7)
	}
	return bytes.Compare(a, b)
}

// boundsOf returns the bounds of the values [from, to).
func (c *slot) boundsOf(v *values, from, to int) bounds {
	if from == to || c.order == unordered {
		return bounds{}
	}
	switch {
	case c.typ == typeInt32 && c.order == signed:
		return extremes(numbers[int32](v)[from:to])
	case c.typ == typeInt32:
		return extremes(numbers[uint32](v)[from:to])
	case c.typ == typeInt64 && c.order == signed:
		return extremes(numbers[int64](v)[from:to])
	case c.typ == typeInt64:
		return extremes(numbers[uint64](v)[from:to])
	case c.typ == typeFloat:
		return floats(numbers[float32](v)[from:to])
	case c.typ == typeDouble:
		return floats(numbers[float64](v)[from:to])
	}
	least, most := v.at(from), v.at(from)
	for i := from + 1; i < to; i++ {
		if x := v.at(i); c.compare(x, least) < 0 {
			least = x
		} else if c.compare(x, most) > 0 {
			most = x
		}
	}
	return bounds{true, least, most}
}

// boundsOfWords returns the bounds of the dictionary entries that numbers refer to. seen records, by the number of a
// round, which entries have been considered.
func (c *slot) boundsOfWords(d *words, numbers []uint32, seen []uint32, round uint32) bounds {
	if len(numbers) == 0 || c.order == unordered {
		return bounds{}
	}
	least, most := d.at(int(numbers[0])), d.at(int(numbers[0]))
	for _, k := range numbers {
		if seen[k] == round {
			continue
		}
		seen[k] = round
		if x := d.at(int(k)); c.compare(x, least) < 0 {
			least = x
		} else if c.compare(x, most) > 0 {
			most = x
		}
	}
	return bounds{true, least, most}
}

// extremes returns the bounds of integers.
func extremes[T int32 | int64 | uint32 | uint64](x []T) bounds {
	least, most := x[0], x[0]
	for _, v := range x {
		least, most = min(least, v), max(most, v)
	}
	return bounds{true, asBytes([]T{least}), asBytes([]T{most})}
}

// floats returns the bounds of floating-point numbers. If a bound is zero, it includes both zeros, because readers
// may distinguish them.
func floats[T float32 | float64](x []T) bounds {
	least, most := T(math.Inf(1)), T(math.Inf(-1))
	ok := false
	for _, v := range x {
		if v <= least {
			least, ok = v, true
		}
		if v >= most {
			most, ok = v, true
		}
	}
	if !ok {
		return bounds{}
	}
	if least == 0 {
		least = T(math.Copysign(0, -1))
	}
	if most == 0 {
		most = 0
	}
	return bounds{true, asBytes([]T{least}), asBytes([]T{most})}
}
