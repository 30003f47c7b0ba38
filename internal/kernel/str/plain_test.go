package str

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// kinds are columns whose strings are alike in different ways: tied in their first bytes,
// ending in zeros, long, many times the same, empty. Short tests take a few of them.
func kinds(n int) map[string]Column {
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	word := func(alphabet string, longest int) string {
		b := make([]byte, rng.IntN(longest+1))
		for i := range b {
			b[i] = alphabet[rng.IntN(len(alphabet))]
		}
		return string(b)
	}
	out := map[string]Column{}
	for name, f := range map[string]func(i int) string{
		"short":          func(int) string { return word("abcdefghijklmnopqrstuvwxyz", 12) },
		"two letters":    func(int) string { return word("ab", 5) },
		"zeros":          func(int) string { return word("\x00", 20) },
		"zeros and ones": func(int) string { return word("\x00\x01", 11) },
		"high":           func(int) string { return word("\x7f\x80\xff", 9) },
		"one beginning":  func(int) string { return "https://www.example.org/" + word("xyz", 10) },
		"long":           func(int) string { return strings.Repeat("-", 40+rng.IntN(3)) + word("01", 40) },
		"few":            func(int) string { return []string{"red", "green", "a colour with a long name", ""}[rng.IntN(4)] },
		"numbered":       func(i int) string { return strings.Repeat("n", i%23) + word("0123456789", 6) },
		"empty":          func(int) string { return "" },
		"same":           func(int) string { return "the same string each time" },
	} {
		if testing.Short() && !slices.Contains([]string{"zeros and ones", "one beginning", "numbered", "empty"}, name) {
			continue
		}
		c := Column{Offsets: []int64{2}, Bytes: []byte("##")}
		for i := range n {
			c.Bytes = append(c.Bytes, f(i)...)
			c.Offsets = append(c.Offsets, int64(len(c.Bytes)))
		}
		c.Bytes = slices.Clip(c.Bytes) // nothing behind the last string
		out[name] = c
	}
	return out
}

// rowsOf cuts n strings into rows of different lengths, some empty, one long.
func rowsOf(n int) []int64 {
	splits := []int64{0}
	for r := 0; int(splits[r]) < n; r++ {
		length := int64(r * 7 % 13)
		if r == 5 {
			length = int64(n / 3)
		}
		splits = append(splits, min(splits[r]+length, int64(n)))
	}
	return append(splits, int64(n))
}

func withProcs(procs int, f func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	f()
}

func TestOrderIsThatOfBytes(t *testing.T) {
	for _, n := range []int{0, 1, 2, 31, 33, 100, chunk + 5} {
		splits := rowsOf(n)
		for name, x := range kinds(n) {
			for _, descending := range []bool{false, true} {
				check := func(what string, got []int64, splits []int64) {
					for r := range len(splits) - 1 {
						row := got[splits[r]:splits[r+1]]
						for i := 1; i < len(row); i++ {
							c := bytes.Compare(x.At(int(splits[r]+row[i-1])), x.At(int(splits[r]+row[i])))
							if descending {
								c = -c
							}
							if c > 0 || c == 0 && row[i-1] >= row[i] {
								t.Fatalf("%s %s, %d strings, descending %v: row %d: %d comes before %d", what, name, n, descending, r, row[i-1], row[i])
							}
						}
						if len(row) > 0 {
							row = slices.Clone(row)
							slices.Sort(row)
							if row[0] != 0 || row[len(row)-1] != int64(len(row)-1) {
								t.Fatalf("%s %s: row %d is no permutation", what, name, r)
							}
						}
					}
				}
				for _, procs := range []int{1, 3} {
					withProcs(procs, func() {
						got := make([]int64, n)
						ArgSortRows(got, x, splits, descending)
						check("ArgSortRows", got, splits)
						sorted := SortRows(x, splits, descending)
						for r := range len(splits) - 1 {
							for i := splits[r]; i < splits[r+1]; i++ {
								if want := x.At(int(splits[r] + got[i])); !bytes.Equal(sorted.At(int(i)), want) {
									t.Fatalf("SortRows %s: string %d is %q, want %q", name, i, sorted.At(int(i)), want)
								}
							}
						}
						ArgSort(got, x, descending)
						check("ArgSort", got, []int64{0, int64(n)})
					})
				}
			}
		}
	}
}

func TestUniqueIsThatOfMaps(t *testing.T) {
	for _, n := range []int{sample, 2*sample + 7} {
		for name, x := range kinds(n) {
			ids := map[string]int64{}
			var wantFirst, wantCounts []int64
			wantInverse := make([]int64, n)
			for i := range n {
				id, ok := ids[string(x.At(i))]
				if !ok {
					id = int64(len(ids))
					ids[string(x.At(i))] = id
					wantFirst, wantCounts = append(wantFirst, int64(i)), append(wantCounts, 0)
				}
				wantInverse[i] = id
				wantCounts[id]++
			}
			for _, procs := range []int{1, 3} {
				withProcs(procs, func() {
					inverse := make([]int64, n)
					for what, f := range map[string]func(inverse []int64, x Column) (first, counts []int64){"Unique": Unique, "uniqueMany": uniqueMany} {
						first, counts := f(inverse, x)
						if !slices.Equal(first, wantFirst) || !slices.Equal(counts, wantCounts) || !slices.Equal(inverse, wantInverse) {
							t.Errorf("%s of %d strings, %s: %d distinct, want %d", what, n, name, len(first), len(wantFirst))
						}
					}
				})
			}
		}
	}
	// Different strings that are told apart by nothing but themselves.
	x := kinds(1000)["one beginning"]
	cards := make([]uint64, 3*1000)
	for i := range 1000 {
		deal(cards[3*i:], x, i, 42)
	}
	var d dealing
	places, exact := make([]uint32, 1000), make([]uint32, 1000)
	if got := d.firstPlaces(places, x, cards); got != exactPlaces(exact, x, cards) || !slices.Equal(places, exact) {
		t.Errorf("%d distinct strings of one hash", got)
	}
	for i := range 1000 {
		if at := int(places[i]); at > i || !bytes.Equal(x.At(at), x.At(i)) {
			t.Fatalf("string %d, %q, is first at %d, %q", i, x.At(i), at, x.At(at))
		}
	}
}

func TestComparisonsAreThoseOfBytes(t *testing.T) {
	for _, n := range []int{0, 1, 63, 200, chunk + 100} {
		for name, x := range kinds(n) {
			y, err := Gather(x, shuffled(n))
			if err != nil {
				t.Fatal(err)
			}
			for what, with := range map[string]Column{"others": y, "one": Of("abc"), "an empty one": Of(""), "itself": x} {
				for _, swapped := range []bool{false, true} {
					a, b := x, with
					if swapped {
						a, b = b, a
					}
					order, less, equal := make([]int8, n), make([]bool, n), make([]bool, n)
					Compare(order, a, b)
					Less(less, a, b)
					Equal(equal, a, b)
					for i := range n {
						want := bytes.Compare(one(a, i), one(b, i))
						if int(order[i]) != want || less[i] != (want < 0) || equal[i] != (want == 0) {
							t.Fatalf("%s, %s: %q, %q: %d, %v, %v", name, what, one(a, i), one(b, i), order[i], less[i], equal[i])
						}
					}
					got := Choose(less, a, b)
					for i := range n {
						want := one(b, i)
						if less[i] {
							want = one(a, i)
						}
						if !bytes.Equal(got.At(i), want) {
							t.Fatalf("%s, %s: string %d of the chosen is %q, want %q", name, what, i, got.At(i), want)
						}
					}
					if got.Len() != n || got.Offsets[0] != 0 {
						t.Fatalf("%s, %s: %d strings are chosen, want %d", name, what, got.Len(), n)
					}
				}
			}
		}
	}
}

// shuffled returns positions below n in some order, a few of them in a row.
func shuffled(n int) []int64 {
	at := make([]int64, n)
	for i, p := range rand.New(rand.NewPCG(3, 4)).Perm(n) {
		at[i] = int64(p)
		if i > 0 && i%5 < 3 {
			at[i] = (at[i-1] + 1) % int64(n)
		}
	}
	return at
}

func TestGatherOfRuns(t *testing.T) {
	const n = 2*chunk + 31
	runs := func(length func(r int) int, start func(r int) int) []int64 {
		var at []int64
		for r := 0; len(at) < n; r++ {
			s := start(r) % n
			for i := range min(length(r), n-s) {
				at = append(at, int64(s+i))
			}
		}
		return at
	}
	for name, x := range kinds(n) {
		for what, at := range map[string][]int64{
			"all":         runs(func(int) int { return n }, func(int) int { return 0 }),
			"short":       runs(func(r int) int { return r%4 + 2 }, func(r int) int { return r * 977 }),
			"long":        runs(func(r int) int { return r*31%300 + 1 }, func(r int) int { return r * 4099 }),
			"short later": append(runs(func(int) int { return 50 }, func(r int) int { return r }), shuffled(n)...),
			"none":        shuffled(n),
		} {
			for _, procs := range []int{1, 3} {
				withProcs(procs, func() {
					got, err := Gather(x, at)
					if err != nil || got.Len() != len(at) {
						t.Fatalf("%s, %s: %v", name, what, err)
					}
					for i, p := range at {
						if !bytes.Equal(got.At(i), x.At(int(p))) {
							t.Fatalf("%s, %s: string %d is %q, want %q", name, what, i, got.At(i), x.At(int(p)))
						}
					}
				})
			}
			there := make([]bool, len(at))
			for i := range there {
				there[i] = i%3 != 1
			}
			at[1] = -5 // nobody looks there
			got, ok := GatherWhere(x, at, there)
			if at[1] = 0; !ok || got.Len() != len(at) {
				t.Fatalf("%s, %s: %d strings where they are there", name, what, got.Len())
			}
			for i, p := range at {
				if there[i] && !bytes.Equal(got.At(i), x.At(int(p))) || !there[i] && len(got.At(i)) > 0 {
					t.Fatalf("%s, %s: string %d is %q, there: %v", name, what, i, got.At(i), there[i])
				}
			}
			if _, ok := GatherWhere(x, []int64{0, n}, []bool{false, true}); ok {
				t.Errorf("%s: a string outside is gathered", name)
			}
			for _, bad := range []int64{-1, n} {
				wrong := slices.Clone(at)
				wrong[len(wrong)-7] = bad
				if _, err := Gather(x, wrong); err == nil || !strings.Contains(err.Error(), "at position") {
					t.Errorf("%s, %s: error %v", name, what, err)
				}
			}
		}
	}
}

func TestLiteralsInManyStrings(t *testing.T) {
	for _, n := range []int{fewKept + 1, literalChunk + 11} {
		for name, x := range kinds(n) {
			for _, lit := range []string{"a", "ab", "\x00\x00", "\x7f", "example", "--", "absent"} {
				for _, procs := range []int{1, 3} {
					withProcs(procs, func() {
						for _, global := range []bool{true, false} {
							most := 1
							if global {
								most = -1
							}
							got, err := RegexReplace(x, `\Q`+lit+`\E`, `<\0>\\`, global)
							if err != nil || got.Len() != n {
								t.Fatal(err)
							}
							for i := range n {
								if want := strings.Replace(string(x.At(i)), lit, "<"+lit+`>\`, most); string(got.At(i)) != want {
									t.Fatalf("%s: %q in %q becomes %q, want %q", name, lit, x.At(i), got.At(i), want)
								}
							}
						}
						for _, most := range []int{-1, 1, 2} {
							splits := make([]int64, n+1)
							got := Split(splits, x, lit, most)
							want := int64(0)
							for i := range n {
								m := -1
								if most > 0 {
									m = most + 1
								}
								for _, w := range strings.SplitN(string(x.At(i)), lit, m) {
									if string(got.At(int(want))) != w {
										t.Fatalf("%s: piece of %q cut at %q is %q, want %q", name, x.At(i), lit, got.At(int(want)), w)
									}
									want++
								}
								if splits[i+1] != want {
									t.Fatalf("%s: %q cut at %q: split %d, want %d", name, x.At(i), lit, splits[i+1], want)
								}
							}
							if splits[0] != 0 || got.Len() != int(want) {
								t.Fatalf("%s: %d pieces, want %d", name, got.Len(), want)
							}
						}
					})
				}
			}
		}
	}
}

func TestFingerprintsOfManyStrings(t *testing.T) {
	for name, x := range kinds(chunk + 300) {
		out := make([]uint64, x.Len())
		Fingerprints(out, x)
		for i, h := range out {
			if want := Fingerprint64(x.At(i)); h != want {
				t.Fatalf("%s: %q has the fingerprint %d, want %d", name, x.At(i), h, want)
			}
		}
	}
	rng := rand.New(rand.NewPCG(5, 6))
	hashes := make([]uint64, 10_000)
	for range 50 {
		n := rng.Uint64()>>rng.IntN(64) + 1
		for i := range hashes {
			hashes[i] = rng.Uint64() >> (rng.IntN(4) * i % 64)
		}
		got := slices.Clone(hashes)
		Buckets(got, n)
		for i, h := range hashes {
			if got[i] != h%n {
				t.Fatalf("%d modulo %d: %d, want %d", h, n, got[i], h%n)
			}
		}
	}
}

func TestPad(t *testing.T) {
	for _, n := range []int{0, 1, 40, chunk + 77} {
		splits := rowsOf(n)
		for name, x := range kinds(n) {
			for _, width := range []int{0, 1, 5, max(n/3, 13)} {
				for _, fill := range []string{"", "?", "filled up"} {
					got := Pad(x, splits, width, []byte(fill))
					if got.Len() != width*(len(splits)-1) {
						t.Fatalf("%s, width %d: %d strings", name, width, got.Len())
					}
					for i := range got.Len() {
						want, at := fill, splits[i/width]+int64(i%width)
						if at < splits[i/width+1] {
							want = string(x.At(int(at)))
						}
						if string(got.At(i)) != want {
							t.Fatalf("%s, width %d: string %d is %q, want %q", name, width, i, got.At(i), want)
						}
					}
				}
			}
		}
	}
}

// TestManyAreCutAsFew cuts and strips many strings at once, and each by itself.
func TestManyAreCutAsFew(t *testing.T) {
	const n = chunk + 100
	pos, length := make([]int64, n), make([]int64, n)
	for i := range n {
		pos[i], length[i] = int64(i%5)-2, int64(i%7)-1
	}
	for name, x := range kinds(n) {
		for _, c := range []struct{ pos, length []int64 }{{[]int64{0}, []int64{3}}, {[]int64{0}, []int64{-1}}, {[]int64{1}, []int64{2}}, {[]int64{-1}, []int64{1}}, {pos, length}, {[]int64{0}, length}} {
			wrong := -1
			for i := range n {
				if p, size := one64(c.pos, i), int64(len(x.At(i))); wrong < 0 && (p > size || p < -size) {
					wrong = i
				}
			}
			got, err := Substr(x, c.pos, c.length, Byte)
			if wrong >= 0 {
				if e, ok := err.(*Error); !ok || e.Index != wrong {
					t.Fatalf("%s: error %v, want string %d", name, err, wrong)
				}
				continue
			}
			for i := range n {
				want, _ := Substr(Of(string(x.At(i))), []int64{one64(c.pos, i)}, []int64{one64(c.length, i)}, Byte)
				if !bytes.Equal(got.At(i), want.At(0)) {
					t.Fatalf("%s: from %d, %d of %q: %q", name, one64(c.pos, i), one64(c.length, i), x.At(i), got.At(i))
				}
			}
		}
		some := slices.Clone(x.Bytes)
		for i := range some {
			if i%9 == 4 {
				some[i] = " \t\n\v\f\r\x1f"[i%7]
			}
		}
		spaced := Column{x.Offsets, some}
		for _, x := range []Column{x, spaced} {
			got := Strip(x)
			for i := range n {
				if want := bytes.Trim(x.At(i), " \t\n\v\f\r"); !bytes.Equal(got.At(i), want) {
					t.Fatalf("%s: %q is stripped to %q", name, x.At(i), got.At(i))
				}
			}
		}
	}
}
