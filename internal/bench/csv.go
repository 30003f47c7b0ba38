package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tenonml/tenon/data/csvio"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func init() { register("csv_read", csvRead) }

// csvHashes are the SHA-256 of the files of each size.
var csvHashes = map[string]string{
	"tiny":  "0921b1a262cbfd6dfb4c4603e8ee6bc6e2271040440573d7defba83269806fd7",
	"small": "28e1be170ca48d94803020f470a15f91e65f19e37455161f3487d2b23d446886",
	"full":  "1046bd485564f988685020c44d7a05c89de63ca1876078fa6360e436cea483ec",
}

var csvNotes = []string{"plain words", `"with, a comma"`, `"said ""yes"", twice"`, "\"two\nlines\"", "café — ok", "semi;colon", "tab\there", "x"}

// appendCSV appends the table of n rows.
func appendCSV(b []byte, n int) []byte {
	var s [12]*inputs.Stream
	for k := range s {
		s[k] = inputs.NewStream(25, k)
	}
	b = append(b, "id,user,active,qty,price,score,day,at,city,note\n"...)
	for i := range n {
		b = fmt.Appendf(b, "%d,%s_%d,%t,", i, orderNames[s[0].Below(16)], s[1].Below(100000), s[2].Below(2) == 1)
		if qty, there := s[3].Below(1000000)-500000, s[4].Below(8) != 0; there {
			b = fmt.Appendf(b, "%d", qty)
		}
		price := s[5].Below(10000000)
		b = fmt.Appendf(b, ",%d.%02d,0.%016d,", price/100, price%100, s[6].Next()%1e16)
		if day, there := 10957+s[7].Below(10000), s[8].Below(16) != 0; there {
			b = time.Unix(int64(day)*86400, 0).UTC().AppendFormat(b, "2006-01-02")
		}
		b = append(b, ',')
		b = time.Unix(946684800+int64(s[9].Below(800000000)), 0).UTC().AppendFormat(b, "2006-01-02 15:04:05")
		b = fmt.Appendf(b, ",city%03d,", s[10].Below(500))
		if note := s[11].Below(12); note < len(csvNotes) {
			b = append(b, csvNotes[note]...)
		}
		b = append(b, '\n')
	}
	return b
}

// dataFile returns the name of a file of the other benchmarks, which it makes if need be.
func (r *runner) dataFile(name string, make func() ([]byte, error)) (string, float64) {
	if r.err != nil {
		return "", 0
	}
	dir := os.Getenv("TENON_BENCH_DATA")
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "tenon-bench")
	}
	name = filepath.Join(dir, name)
	if st, err := os.Stat(name); err == nil {
		return name, float64(st.Size())
	}
	text, err := make()
	if r.fail(err) || r.fail(os.MkdirAll(dir, 0o777)) {
		return "", 0
	}
	r.fail(writeWhole(name, text))
	return name, float64(len(text))
}

func csvRead(r *runner) {
	name, size := r.dataFile("orders-"+r.size+".csv", func() ([]byte, error) {
		text := appendCSV(nil, r.pick(1_000_000, 10_000, 1000))
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != csvHashes[r.size] {
			return nil, fmt.Errorf("the rows of size %s are not those of the definition", r.size)
		}
		return text, nil
	})
	types := map[string]csvio.Type{"id": csvio.Int64, "user": csvio.String, "active": csvio.Bool, "qty": csvio.Int64, "price": csvio.Float64,
		"score": csvio.Float64, "day": csvio.Date, "at": csvio.Timestamp, "city": csvio.String, "note": csvio.String}
	var report csvio.Report
	for _, c := range []struct {
		name string
		o    csvio.Options
	}{
		{"typed", csvio.Options{Types: types, Report: &report}},
		{"inferred", csvio.Options{Report: &report}},
	} {
		check := func(x any) []float64 {
			unit := time.Second
			for _, col := range report.Columns {
				if col.Name == "at" && col.Unit > 0 {
					unit = col.Unit
				}
			}
			return csvFacts(x.(*structured.Tensor), float64(time.Second/unit))
		}
		r.run(benchCase{name: c.name, bytes: size, check: check}, func() any {
			t, err := csvio.ReadFile(name, c.o)
			r.fail(err)
			return t
		})
	}
}

// csvFacts are the numbers that all readers agree on; ticks are in a second of the column at.
func csvFacts(t *structured.Tensor, ticks float64) []float64 {
	text := func(path string) (bytes float64) {
		v := t.Path(path)
		if m, ok := v.(*masked.Tensor); ok {
			v = m.Values()
		}
		o := v.(*tensor.Strings).Offsets()
		return float64(o[len(o)-1] - o[0])
	}
	there := func(path string) float64 {
		if m, ok := t.Path(path).(*masked.Tensor); ok {
			return floatOf(ops.CountNonzero(m.Mask()))
		}
		return floatOf(t.NRows())
	}
	sum := func(path string) float64 { return sumOf(t.Path(path)) }
	return []float64{floatOf(t.NRows()), sum("id"), text("user"), floatOf(ops.CountNonzero(t.Path("active"))), there("qty"), sum("qty"),
		sum("price"), sum("score"), there("day"), sum("day"), sum("at") / ticks, text("city"), there("note"), text("note")}
}

// sumOf returns the sum of the numbers that are there, as a float64.
func sumOf(v tensor.Tensor) float64 {
	if d := v.DType(); d.IsInteger() {
		v = ops.Cast(v, dtype.Int64)
	} else {
		v = ops.Cast(v, dtype.Float64)
	}
	s := ops.Sum(v)
	if m, ok := s.(*masked.Tensor); ok {
		s = m.Values()
	}
	return floatOf(s)
}
