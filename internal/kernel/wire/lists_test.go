package wire

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A batch is lists of one kind, each at some place of a message.
type batch struct {
	messages [][]byte
	rows     []Span
}

// add appends a message with a list behind other bytes and before others.
func (b *batch) add(draw *rand.Rand, list []byte) {
	before, behind := draw.IntN(20), draw.IntN(20)*draw.IntN(2)
	m := slices.Concat(slices.Repeat([]byte{0xff}, before), list, slices.Repeat([]byte{0x7f}, behind))
	b.messages = append(b.messages, slices.Clip(m))
	b.rows = append(b.rows, SpanOf(before, before+len(list)))
}

func (b *batch) addAbsent() {
	b.messages, b.rows = append(b.messages, nil), append(b.rows, Absent)
}

func TestSpan(t *testing.T) {
	for _, c := range [][2]int{{0, 0}, {0, MostSpan}, {MostSpan, MostSpan}, {7, 12}, {1 << 30, 1<<30 + 5}} {
		s := SpanOf(c[0], c[1])
		if from, to := Bounds(s); s >= Absent || from != c[0] || to != c[1] {
			t.Errorf("the span of %v is %d, of %d to %d", c, s, from, to)
		}
	}
}

// Lists of all sizes are decoded one after the other, with room for exactly what is
// asked for; what is rare is left to the caller at its row.
func TestInts(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	for _, bits := range []int{7, 14, 20, 28, 29, 35, 50, 56} {
		var b batch
		var want []int64
		var counts []int64
		for size := range 200 {
			if size%7 == 3 {
				b.addAbsent()
				counts = append(counts, Absent)
			}
			n := size % 83
			var list []byte
			for range n {
				x := draw.Uint64() >> (64 - draw.IntN(bits) - 1)
				want = append(want, int64(x))
				list = binary.AppendUvarint(list, x)
			}
			counts = append(counts, int64(n))
			b.add(draw, list)
		}
		atEachFamily(t, func() {
			rows := slices.Clone(b.rows)
			dst := make([]int64, len(want)+700)
			done, n := Ints(dst, b.messages, rows)
			if done != len(rows) || !slices.Equal(dst[:n], want) || !slices.Equal(rows, counts) {
				t.Errorf("%d bits: %d of %d rows, %d of %d numbers", bits, done, len(rows), n, len(want))
			}
			// Without room for a row, it and those behind it stay.
			rows, dst = slices.Clone(b.rows), make([]int64, len(want))
			done, n = Ints(dst[:len(want)/2], b.messages, rows)
			if done == len(rows) || !slices.Equal(dst[:n], want[:n]) || !slices.Equal(rows[:done], counts[:done]) || !slices.Equal(rows[done:], b.rows[done:]) {
				t.Errorf("%d bits: with little room %d rows and %d numbers", bits, done, n)
			}
			if slices.ContainsFunc(dst[len(want)/2:], func(x int64) bool { return x != 0 }) {
				t.Errorf("%d bits: written beyond the room", bits)
			}
		})
	}
}

func TestIntsLeft(t *testing.T) {
	negative := binary.AppendUvarint([]byte{3}, math.MaxUint64)
	for name, c := range map[string]struct {
		list []byte
		left bool
	}{
		"cut off":                    {[]byte{1, 2, 0x80}, true},
		"cut off behind 64":          {append(make([]byte, 64), 0x80), true},
		"cut off behind one":         {append(make([]byte, 63), 0x80), true},
		"eleven bytes":               {append(slices.Repeat([]byte{0x80}, 10), 1), true},
		"eight bytes with a top bit": {slices.Repeat([]byte{0x80}, 8), true},
		"one byte with a top bit":    {[]byte{0x80}, true},
		"a negative number":          {negative, false},
		"nothing":                    {nil, false},
	} {
		atEachFamily(t, func() {
			b := batch{}
			draw := rand.New(rand.NewPCG(5, 6))
			b.add(draw, []byte{5, 6})
			b.add(draw, c.list)
			b.add(draw, []byte{7})
			rows, dst := slices.Clone(b.rows), make([]int64, 400)
			done, n := Ints(dst, b.messages, rows)
			switch {
			case done == 1 && n == 2 && dst[0] == 5 && dst[1] == 6 && rows[0] == 2 && rows[1] == b.rows[1] && rows[2] == b.rows[2]:
			case c.left || done != 3 || rows[2] != 1 || dst[n-1] != 7:
				t.Errorf("%s: %d rows, %d numbers, %v", name, done, n, dst[:n])
			}
		})
	}
}

func TestFloats(t *testing.T) {
	draw := rand.New(rand.NewPCG(7, 8))
	var b batch
	var want []float32
	var counts []int64
	for size := range 150 {
		if size%5 == 1 {
			b.addAbsent()
			counts = append(counts, Absent)
		}
		var list []byte
		for range size {
			x := draw.Float32()
			want, list = append(want, x), binary.LittleEndian.AppendUint32(list, math.Float32bits(x))
		}
		counts = append(counts, int64(size))
		b.add(draw, list)
	}
	atEachFamily(t, func() {
		rows, dst := slices.Clone(b.rows), make([]float32, len(want)+Slack)
		done, n := Floats(dst, b.messages, rows)
		if done != len(rows) || !slices.Equal(dst[:n], want) || !slices.Equal(rows, counts) {
			t.Errorf("%d of %d rows, %d of %d numbers", done, len(rows), n, len(want))
		}
		rows, dst = slices.Clone(b.rows), make([]float32, len(want))
		done, n = Floats(dst[:len(want)/2], b.messages, rows)
		if done == len(rows) || !slices.Equal(dst[:n], want[:n]) || !slices.Equal(rows[done:], b.rows[done:]) {
			t.Errorf("with little room %d rows and %d numbers", done, n)
		}
		if slices.ContainsFunc(dst[len(want)/2:], func(x float32) bool { return x != 0 }) {
			t.Error("written beyond the room")
		}
		odd := batch{}
		odd.add(draw, make([]byte, 7))
		if done, n := Floats(make([]float32, 200), odd.messages, odd.rows); done != 0 || n != 0 {
			t.Errorf("7 bytes are %d numbers", n)
		}
	})
}

func TestStrings(t *testing.T) {
	draw := rand.New(rand.NewPCG(9, 10))
	var b batch
	var want []byte
	var ends, counts []int64
	for size := range 400 {
		if size%11 == 1 {
			b.addAbsent()
			counts = append(counts, Absent)
		}
		var list []byte
		n := draw.IntN(4)
		for range n {
			x := make([]byte, (size+draw.IntN(3))%128)
			for i := range x {
				x[i] = byte(draw.Uint32())
			}
			want, list = append(want, x...), append(append(list, firstTag, byte(len(x))), x...)
			ends = append(ends, 1000+int64(len(want)))
		}
		counts = append(counts, int64(n))
		b.add(draw, list)
	}
	atEachFamily(t, func() {
		rows := slices.Clone(b.rows)
		dst, at := make([]byte, len(want)+2*Slack), make([]int64, len(ends)+3*Slack)
		done, size, n := Strings(dst, at, 1000, b.messages, rows)
		if done != len(rows) || !slices.Equal(dst[:size], want) || !slices.Equal(at[:n], ends) || !slices.Equal(rows, counts) {
			t.Errorf("%d of %d rows, %d of %d strings", done, len(rows), n, len(ends))
		}
		rows, dst = slices.Clone(b.rows), make([]byte, len(want))
		done, size, n = Strings(dst[:len(want)/2], at, 1000, b.messages, rows)
		if done == len(rows) || !slices.Equal(dst[:size], want[:size]) || !slices.Equal(at[:n], ends[:n]) || !slices.Equal(rows[done:], b.rows[done:]) {
			t.Errorf("with little room %d rows and %d strings", done, n)
		}
		if slices.ContainsFunc(dst[len(want)/2:], func(x byte) bool { return x != 0 }) {
			t.Error("written beyond the room")
		}
		for _, list := range [][]byte{{firstTag}, {firstTag, 1}, {firstTag, 0x80, 1}, {firstTag, 1, 'x', 8, 1}, {firstTag, 0, firstTag, 9}} {
			odd := batch{}
			odd.add(draw, list)
			if done, size, n := Strings(make([]byte, 400), make([]int64, 100), 0, odd.messages, odd.rows); done != 0 || n != 0 || size != 0 {
				t.Errorf("% x are %d strings", list, n)
			}
		}
	})
}

// A span that does not lie in its message is not followed.
func TestSpanOutside(t *testing.T) {
	rows := []Span{SpanOf(0, 20)}
	if _, _, ok := intLists(make([]int64, 200), [][]byte{make([]byte, 20)}, []Span{SpanOf(0, 20)}); !ok {
		t.Skip("there is no kernel that could read outside: Go's own checks hold")
	}
	if done, _ := Ints(make([]int64, 200), [][]byte{make([]byte, 19)}, rows); done != 0 {
		t.Error("20 bytes of 19 are read")
	}
}
