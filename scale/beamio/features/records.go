package main

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// makeRecords writes records as JSON lines, the same ones each time.
func makeRecords(prefix string, count, files int) error {
	if err := os.MkdirAll(filepath.Dir(prefix), 0o777); err != nil {
		return err
	}
	for k := range files {
		f, err := os.Create(fmt.Sprintf("%s-%05d.jsonl", prefix, k))
		if err != nil {
			return err
		}
		w := bufio.NewWriterSize(f, 1<<20)
		r := rand.New(rand.NewPCG(28, uint64(k)))
		var b []byte
		for i := count * k / files; i < count*(k+1)/files; i++ {
			b = appendRecord(b[:0], r, i)
			w.Write(b) // Flush returns the error
		}
		if err := errors.Join(w.Flush(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

func appendRecord(b []byte, r *rand.Rand, i int) []byte {
	number := func(x float64) { b = strconv.AppendFloat(b, x, 'f', 3, 64) }
	// list appends n items between brackets.
	list := func(n int, one func()) {
		b = append(b, '[')
		for k := range n {
			if k > 0 {
				b = append(b, ',')
			}
			one()
		}
		b = append(b, ']')
	}
	b = strconv.AppendInt(append(b, `{"event":`...), int64(i), 10)
	b = append(b, `,"run":"`...)
	b = append(strconv.AppendInt(append(b, 'r'), int64(r.IntN(50)), 10), '"')
	b = append(b, `,"missing":`...)
	if r.IntN(10) == 0 {
		b = append(b, "null"...)
	} else {
		number(20 * r.ExpFloat64())
	}
	b = append(b, `,"jets":`...)
	list(r.IntN(5), func() {
		b = append(b, `{"pt":`...)
		number(20 + 30*r.ExpFloat64())
		b = append(b, `,"eta":`...)
		number(r.NormFloat64())
		b = append(b, `,"phi":`...)
		number(6.283*r.Float64() - 3.1415)
		b = append(b, '}')
	})
	b = append(b, `,"vertices":`...)
	list(1+r.IntN(2), func() {
		b = append(b, `{"z":`...)
		number(5 * r.NormFloat64())
		b = append(b, `,"tracks":`...)
		list(r.IntN(4), func() { number(r.ExpFloat64()) })
		b = append(b, '}')
	})
	return append(b, "}\n"...)
}
