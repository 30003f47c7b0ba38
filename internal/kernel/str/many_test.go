package str

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestManyStrings does to many strings at once what the same functions do to a few at a
// time, which they do in another way.
func TestManyStrings(t *testing.T) {
	for _, alphabet := range []string{"abcXYZ \t-", "aßéΣ x\xff"} {
		x, y := manyStrings(alphabet, 1, chunk+777), manyStrings(alphabet, 2, chunk+777)
		n := x.Len()
		lengths := make([]int64, n)
		for i := range lengths {
			lengths[i] = int64(i%5) - 1
		}
		splits := []int64{0}
		for r := 0; int(splits[r]) < n; r++ {
			splits = append(splits, min(splits[r]+int64(r%7), int64(n)))
		}
		part := func(c Column, lo, hi int) Column { return Column{Offsets: c.Offsets[lo : hi+1], Bytes: c.Bytes} }
		for name, f := range map[string]func(lo, hi int) Column{
			"Lower":     func(lo, hi int) Column { return Lower(part(x, lo, hi)) },
			"Upper":     func(lo, hi int) Column { return Upper(part(x, lo, hi)) },
			"LowerUTF8": func(lo, hi int) Column { return LowerUTF8(part(x, lo, hi)) },
			"UpperUTF8": func(lo, hi int) Column { return UpperUTF8(part(x, lo, hi)) },
			"Strip":     func(lo, hi int) Column { return Strip(part(x, lo, hi)) },
			"Join": func(lo, hi int) Column {
				return Join([]Column{part(x, lo, hi), Of("one"), part(y, lo, hi)}, hi-lo, ", ")
			},
			"Substr": func(lo, hi int) Column {
				out, err := Substr(part(x, lo, hi), []int64{0}, lengths[lo:hi], Byte)
				if err != nil {
					t.Fatal(err)
				}
				return out
			},
			"Substr of characters": func(lo, hi int) Column {
				out, err := Substr(part(x, lo, hi), []int64{0}, lengths[lo:hi], Char)
				if err != nil {
					t.Fatal(err)
				}
				return out
			},
		} {
			got, at := f(0, n), 0
			for lo := 0; lo < n; lo += 1000 {
				want := f(lo, min(lo+1000, n))
				for i := range want.Len() {
					if !bytes.Equal(got.At(at), want.At(i)) {
						t.Fatalf("%s %q: string %d is %q, want %q", name, alphabet, at, got.At(at), want.At(i))
					}
					at++
				}
			}
			if got.Len() != n || at != n {
				t.Errorf("%s: %d strings, want %d", name, got.Len(), n)
			}
		}
		joined := JoinRows(x, splits, "; ")
		for r := range len(splits) - 1 {
			want := bytes.Join(x.strings(splits[r], splits[r+1]), []byte("; "))
			if !bytes.Equal(joined.At(r), want) {
				t.Fatalf("JoinRows: row %d is %q, want %q", r, joined.At(r), want)
			}
		}
		equal, chars := make([]bool, n), make([]int64, n)
		Equal(equal, x, y)
		Lengths(chars, x, Char)
		for i := range n {
			if want := bytes.Equal(x.At(i), y.At(i)); equal[i] != want {
				t.Fatalf("Equal(%q, %q) = %v", x.At(i), y.At(i), equal[i])
			}
			if want := int64(countChars(x.At(i))); chars[i] != want {
				t.Fatalf("%q has %d characters, want %d", x.At(i), chars[i], want)
			}
		}
		for _, descending := range []bool{false, true} {
			order := make([]int64, n)
			ArgSortRows(order, x, splits, descending)
			for r := range len(splits) - 1 {
				want := make([]int64, splits[r+1]-splits[r])
				for i := range want {
					want[i] = int64(i)
				}
				slices.SortStableFunc(want, func(a, b int64) int {
					c := bytes.Compare(x.At(int(splits[r]+a)), x.At(int(splits[r]+b)))
					if descending {
						c = -c
					}
					return c
				})
				if got := order[splits[r]:splits[r+1]]; !slices.Equal(got, want) {
					t.Fatalf("row %d %q: order %v, want %v", r, x.strings(splits[r], splits[r+1]), got, want)
				}
			}
		}
	}
}

// strings returns the strings from lo up to hi.
func (c Column) strings(lo, hi int64) [][]byte {
	var s [][]byte
	for i := lo; i < hi; i++ {
		s = append(s, c.At(int(i)))
	}
	return s
}

// manyStrings returns n strings of up to ten characters, many of them equal, in memory that
// holds others before and behind them.
func manyStrings(alphabet string, seed uint64, n int) Column {
	rng := rand.New(rand.NewPCG(seed, 0))
	var letters []string
	for i := 0; i < len(alphabet); {
		_, size, _ := decodeUTF8([]byte(alphabet[i:]))
		letters = append(letters, alphabet[i:i+size])
		i += size
	}
	c := Column{Offsets: []int64{3}, Bytes: []byte("###")}
	for range n {
		for range 4*rng.IntN(3) + rng.IntN(3) {
			c.Bytes = append(c.Bytes, letters[rng.IntN(len(letters))]...)
		}
		c.Offsets = append(c.Offsets, int64(len(c.Bytes)))
	}
	c.Bytes = append(c.Bytes, "##"...)
	return c
}
