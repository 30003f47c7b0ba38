package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	register("parquet_read", parquetRead)
	register("parquet_write", parquetWrite)
}

const eventGroups = 8 // row groups

// events returns the records of parquet_read.
func events(n int) (*structured.Tensor, error) {
	stream := func(k int) *inputs.Stream { return inputs.NewStream(23, k) }
	id, run, time := make([]int64, n), make([]int32, n), make([]int64, n)
	city, weight, hasWeight := make([]string, n), make([]float64, n), make([]bool, n)
	lat, lon, hasGeo := make([]float64, n), make([]float64, n), make([]bool, n)
	jetEnds := make([]int64, n+1)
	var s [13]*inputs.Stream
	for k := range s {
		s[k] = stream(k)
	}
	for i := range n {
		id[i], run[i] = int64(i), int32(i*100/n)
		time[i] = 1704067200000000 + int64(i)*31000000 + int64(s[0].Below(30000000))
		city[i] = fmt.Sprintf("city%03d", s[1].Below(500))
		hasWeight[i], weight[i] = s[2].Below(8) != 0, float64(s[3].Next()>>11)*(1.0/(1<<53))*100
		hasGeo[i] = s[4].Below(3) != 0
		lat[i], lon[i] = float64(s[5].Below(1800001)-900000)/1e4, float64(s[6].Below(3600001)-1800000)/1e4
		jetEnds[i+1] = jetEnds[i] + int64(s[7].Below(6))
	}
	m := int(jetEnds[n])
	cat, qty, pt, hitEnds := make([]string, m), make([]int64, m), make([]float64, m), make([]int64, m+1)
	for j := range m {
		cat[j], qty[j], pt[j] = orderCats[s[8].Below(16)], int64(1+s[9].Below(9)), float64(s[10].Below(10000))/100
		hitEnds[j+1] = hitEnds[j] + int64(s[11].Below(8))
	}
	hits := make([]int32, hitEnds[m])
	for h := range hits {
		hits[h] = int32(s[12].Below(100000))
	}
	return tenon.Try(func() *structured.Tensor {
		records := func(n int, fields ...structured.Field) *structured.Tensor {
			return tenon.Must(structured.FromFields(fields, shape.Of(n), structured.Options{NRows: n}))
		}
		jets := records(m, structured.Field{Name: "cat", Value: tensor.Of(cat)}, structured.Field{Name: "qty", Value: tensor.Of(qty)},
			structured.Field{Name: "pt", Value: tensor.Of(pt)}, structured.Field{Name: "hits", Value: tenon.Must(ragged.FromRowSplits(hits, hitEnds))})
		part := tenon.Must(ragged.PartitionFromRowSplits(jetEnds, ragged.PartitionOptions{}))
		geo := records(n, structured.Field{Name: "lat", Value: tensor.Of(lat)}, structured.Field{Name: "lon", Value: tensor.Of(lon)})
		return records(n, structured.Field{Name: "id", Value: tensor.Of(id)}, structured.Field{Name: "run", Value: tensor.Of(run)},
			structured.Field{Name: "time", Value: tensor.Of(time)}, structured.Field{Name: "city", Value: tensor.Of(city)},
			structured.Field{Name: "weight", Value: tenon.Must(masked.New(tensor.Of(weight), tensor.Of(hasWeight)))},
			structured.Field{Name: "geo", Value: tenon.Must(masked.New(geo, tensor.Of(hasGeo)))},
			structured.Field{Name: "jets", Value: tenon.Must(jets.PartitionOuterDimension(part))})
	})
}

var codecs = map[string]parquetio.Compression{"zstd": parquetio.Zstd, "none": parquetio.Uncompressed}

// parquetFile returns a file of records: that of the other benchmarks where they have made one.
func (r *runner) parquetFile(prefix, codec string, rows int, table func(int) (*structured.Tensor, error)) string {
	name, _ := r.dataFile(fmt.Sprintf("%s-%s-%s.parquet", prefix, r.size, codec), func() ([]byte, error) {
		t, err := table(rows)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = parquetio.Encode(&b, t, parquetio.WriteOptions{GroupRows: rows / eventGroups, Compression: codecs[codec], Plain: true})
		return b.Bytes(), err
	})
	return name
}

func parquetRead(r *runner) {
	n := r.pick(1_000_000, 10_000, 1000)
	read := func(name, codec string, o parquetio.ReadOptions, check func(any) []float64) {
		if !r.want(name) || r.err != nil {
			return
		}
		file := r.parquetFile("events", codec, n, events)
		r.run(benchCase{name: name, items: float64(n), unit: "rows", check: check}, func() any {
			v, err := parquetio.ReadFile(file, o)
			if r.fail(err) || o.Where == nil {
				return v
			}
			return where(v.(*structured.Tensor))
		})
	}
	all := func(x any) []float64 { return eventFacts(x.(*structured.Tensor)) }
	read("all_zstd", "zstd", parquetio.ReadOptions{}, all)
	read("all_none", "none", parquetio.ReadOptions{}, all)
	read("one_nested_column", "zstd", parquetio.ReadOptions{Columns: []string{"jets.pt"}}, func(x any) []float64 {
		t := x.(*structured.Tensor)
		return append([]float64{floatOf(t.NRows())}, inputs.Of(tensor.Data[float64](leafOf(t.Path("jets.pt"))))...)
	})
	read("filter_1pct", "zstd", parquetio.ReadOptions{Where: []parquetio.Range{{Column: "run", Min: 42, Max: 42}}}, all)
	rows := r.pick(2_000_000, 20_000, 2000)
	if !r.want("flat") || r.err != nil {
		return
	}
	file := r.parquetFile("flat", "zstd", rows, flatRows)
	r.run(benchCase{name: "flat", items: float64(rows), unit: "rows", check: flatFacts}, func() any {
		v, err := parquetio.ReadFile(file, parquetio.ReadOptions{})
		r.fail(err)
		return v
	})
}

// where returns the records of run 42, of pages that hold others too.
func where(t *structured.Tensor) *structured.Tensor {
	return ops.BooleanMask(t, ops.Equal(t.Path("run"), int32(42)), 0).(*structured.Tensor)
}

func parquetWrite(r *runner) {
	n := r.pick(1_000_000, 10_000, 1000)
	t, err := events(n)
	if r.fail(err) {
		return
	}
	for _, codec := range []string{"zstd", "none"} {
		out := filepath.Join(os.TempDir(), "tenon-bench", "out-tenon-"+r.size+"-"+codec+".parquet")
		if r.fail(os.MkdirAll(filepath.Dir(out), 0o777)) {
			return
		}
		size := &Facts{}
		c := benchCase{name: codec, items: float64(n), unit: "rows", facts: size, check: func(any) []float64 {
			st, err := os.Stat(out)
			if r.fail(err) {
				return nil
			}
			size.FileBytes = st.Size()
			v, err := parquetio.ReadFile(out, parquetio.ReadOptions{Plain: true})
			if r.fail(err) {
				return nil
			}
			return eventFacts(v.(*structured.Tensor))
		}}
		r.run(c, func() any {
			r.fail(parquetio.WriteFile(out, t, parquetio.WriteOptions{GroupRows: n / eventGroups, Compression: codecs[codec], Plain: true}))
			return out
		})
		_ = os.Remove(out)
	}
}

// leafOf returns the values of a column without lists and masks around them.
func leafOf(v tensor.Tensor) tensor.Tensor {
	for {
		switch x := v.(type) {
		case *ragged.Tensor:
			v = x.FlatValues()
		case *masked.Tensor:
			v = x.Values()
		case element.Tensor:
			v = x.Data
		default:
			return v
		}
	}
}

// eventFacts are the numbers that all readers agree on.
func eventFacts(t *structured.Tensor) []float64 {
	length := func(path string) float64 { return float64(leafOf(t.Path(path)).Shape().Dim(0)) }
	sum := func(path string) float64 { return sumOf(t.Path(path)) }
	there := func(path string) float64 {
		if m, ok := t.Path(path).(*masked.Tensor); ok {
			return floatOf(ops.CountNonzero(m.Mask()))
		}
		return floatOf(t.NRows())
	}
	text := func(path string) float64 {
		o := leafOf(t.Path(path)).(*tensor.Strings).Offsets()
		return float64(o[len(o)-1] - o[0])
	}
	times := 0.0
	for _, x := range tensor.Data[int64](leafOf(t.Path("time"))) {
		times += float64(x % 1000003)
	}
	return []float64{floatOf(t.NRows()), length("jets.pt"), length("jets.hits"), sum("id"), sum("run"), times, text("city"),
		there("weight"), sum("weight"), there("geo.lat"), sum("geo.lat"), sum("geo.lon"), text("jets.cat"), sum("jets.qty"), sum("jets.pt"), sum("jets.hits")}
}

// flatRows returns the records of the case flat.
func flatRows(n int) (*structured.Tensor, error) {
	var fields []structured.Field
	for c := range 20 {
		s, gaps := inputs.NewStream(23, 100+c), inputs.NewStream(23, 200+c)
		var v tensor.Tensor
		switch {
		case c < 5:
			limit := uint64(1)
			for range 1 + 2*c {
				limit *= 10
			}
			v = made(n, func(int) int64 { return int64((s.Next() >> 32) * limit >> 32) })
		case c < 8:
			v = made(n, func(int) float64 { return float64(s.Below(1000000)) / 100 })
		case c < 10:
			v = made(n, func(int) float64 { return float64(s.Next()>>11) * (1.0 / (1 << 53)) })
		case c < 14:
			limit := uint64(1) << (4 + 8*(c-10))
			v = made(n, func(int) int32 { return int32((s.Next() >> 32) * limit >> 32) })
		case c < 16:
			v = made(n, func(int) float32 { return s.Sym() })
		case c == 16:
			v = made(n, func(int) string { return fmt.Sprintf("city%03d", s.Below(500)) })
		case c == 17:
			v = made(n, func(int) string { return fmt.Sprintf("k%016x", s.Next()) })
		case c == 18:
			v = made(n, func(int) bool { return s.Below(2) == 1 })
		default:
			v = made(n, func(i int) int64 { return 1704067200000000 + int64(i)*1000000 + int64(s.Below(1000000)) })
		}
		if c%5 == 4 {
			m, err := masked.New(v, made(n, func(int) bool { return gaps.Below(10) != 0 }))
			if err != nil {
				return nil, err
			}
			v = m
		}
		fields = append(fields, structured.Field{Name: fmt.Sprintf("c%02d", c), Value: v})
	}
	return structured.FromFields(fields, shape.Of(n), structured.Options{})
}

func made[T dtype.Native](n int, f func(i int) T) tensor.Tensor {
	out := make([]T, n)
	for i := range out {
		out[i] = f(i)
	}
	return tensor.Of(out)
}

// flatFacts are the numbers of the case flat that all readers agree on.
func flatFacts(x any) []float64 {
	t := x.(*structured.Tensor)
	out := []float64{floatOf(t.NRows())}
	for c := range 20 {
		v := t.Path(fmt.Sprintf("c%02d", c))
		count, sum := out[0], 0.0
		var mask []bool
		if m, ok := v.(*masked.Tensor); ok {
			mask = tensor.Data[bool](m.Full())
			count = floatOf(ops.CountNonzero(m.Mask()))
			v = m.Values()
		}
		v = leafOf(v)
		switch d := v.(type) {
		case *tensor.Strings:
			o := d.Offsets()
			sum = float64(o[len(o)-1] - o[0])
		default:
			if v.DType() == dtype.Bool {
				sum = floatOf(ops.CountNonzero(v))
				break
			}
			for i, x := range tensor.Data[float64](ops.Cast(v, dtype.Float64)) {
				switch {
				case mask != nil && !mask[i]:
				case c == 19:
					sum += float64(tensor.Data[int64](v)[i] % 1000003)
				default:
					sum += x
				}
			}
		}
		out = append(out, count, sum)
	}
	return out
}
