package parquetio

import (
	"math"
	"runtime"
	"strings"
	"testing"
)

// A page that says it holds 2 GB, or more entries than it has bytes for, is an error, for which no memory is taken.
func TestPagesThatSayTooMuch(t *testing.T) {
	head := func(kind, size, packed, n int64, field int) []byte {
		w := &record{}
		w.structure(func() {
			w.integer(1, kindInt32, kind)
			w.integer(2, kindInt32, size)
			w.integer(3, kindInt32, packed)
			w.in(field, func() {
				w.integer(1, kindInt32, n)
				w.integer(2, kindInt32, encPlain)
				if field == 5 {
					w.integer(3, kindInt32, encRLE)
					w.integer(4, kindInt32, encRLE)
				}
			})
		})
		return append(w.b, make([]byte, max(0, packed))...)
	}
	for name, b := range map[string][]byte{
		"2 GB, data":           head(pageData, math.MaxInt32, 100, 10, 5),
		"2 GB, dictionary":     head(pageDict, math.MaxInt32, 100, 10, 7),
		"negative":             head(pageData, -1, 100, 10, 5),
		"packed past the end":  head(pageData, 100, 100, 10, 5)[:50],
		"negative, compressed": head(pageData, 100, -1, 10, 5),
		"negative entries":     head(pageData, 100, 100, -10, 5),
		"no header":            {0},
	} {
		for _, c := range []codec{codecNone, codecZstd, codecSnappy, codecGzip, codecLZ4, codecBrotli} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			p := &pages{r: &reading{o: &ReadOptions{}, most: 64 << 20}, codec: c, b: b, left: 10, scheme: &column{}}
			_, err := p.next()
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Errorf("%s, %v: no error", name, c)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
				t.Errorf("%s, %v: %d bytes are taken", name, c, n)
			}
			if strings.HasPrefix(name, "2 GB") && !strings.Contains(err.Error(), "MaxBytes") {
				t.Errorf("%s, %v: %v", name, c, err)
			}
		}
	}
}

// A page whose frame says that a decoder has to keep a lot is read, or an error, without memory for what it says.
func TestWindowsThatSayTooMuch(t *testing.T) {
	for _, log := range []byte{20, 27, 29, 31, 38} {
		raw := []byte("sixteen bytes...")
		frame := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, (log - 10) << 3}, byte(len(raw))<<3|1, 0, 0)
		frame = append(frame, raw...)
		p := &pages{r: &reading{o: &ReadOptions{}, most: 64 << 20}, codec: codecZstd}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		b, err := p.unpackedBytes(codecZstd, frame, nil, int64(len(raw)))
		runtime.ReadMemStats(&after)
		if err == nil && string(b) != string(raw) || err != nil && log < 28 {
			t.Errorf("a window of 2^%d bytes: %q, %v", log, b, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
			t.Errorf("a window of 2^%d bytes: %d bytes are taken", log, n)
		}
		p.release()
	}
}
