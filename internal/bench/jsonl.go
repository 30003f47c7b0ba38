package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	register("jsonl_ingest", jsonlIngest)
	register("jsonl_export", jsonlExport)
	register("memory", jsonlMemory)
}

func jsonlIngest(r *runner) {
	name, size := r.ordersFile()
	check := func(x any) []float64 { return orderFacts(x.(*structured.Tensor)) }
	spec := ordersSpec()
	for _, c := range []struct {
		name string
		o    jsonl.Options
	}{
		{"typed", jsonl.Options{Schema: spec}},
		{"inferred", jsonl.Options{Missing: structured.MissingMasked}},
	} {
		r.run(benchCase{name: c.name, bytes: size, check: check}, func() any {
			t, err := jsonl.ReadFile(name, c.o)
			r.fail(err)
			return t
		})
	}
}

func jsonlExport(r *runner) {
	name, _ := r.ordersFile()
	if r.err != nil || !r.want("file") {
		return
	}
	t, err := readOrders(name)
	if r.fail(err) {
		return
	}
	out := filepath.Join(filepath.Dir(name), "out-tenon-"+r.size+".jsonl")
	defer os.Remove(out)
	write := func() any {
		r.fail(jsonl.WriteFile(out, t, jsonl.WriteOptions{}))
		return out
	}
	write()
	st, err := os.Stat(out)
	if r.fail(err) {
		return
	}
	check := func(any) []float64 {
		again, err := readOrders(out)
		if r.fail(err) {
			return nil
		}
		return orderFacts(again)
	}
	r.run(benchCase{name: "file", bytes: float64(st.Size()), check: check}, write)
}

// fail keeps the first error and reports whether there is one.
func (r *runner) fail(err error) bool {
	if r.err == nil {
		r.err = err
	}
	return r.err != nil
}

// jsonlMemory measures the memory of one reading. It means something in a process that
// has done nothing else: the peak is that of the whole process.
func jsonlMemory(r *runner) {
	const note = "metric is peak_over_input: median and min are (peak - base) / bytes of the file"
	name, size := r.ordersFile()
	if r.err != nil || !r.want("typed") || r.instead != nil {
		return
	}
	base, _ := residentBytes()
	start := time.Now()
	t, err := readOrders(name)
	if r.fail(err) {
		return
	}
	seconds := time.Since(start).Seconds()
	now, peak := residentBytes()
	l := line{Note: note, PeakOverInput: float64(peak-base) / size, HeldOverInput: float64(now-base) / size, Seconds: seconds}
	r.emitAs("peak_over_input", benchCase{name: "typed", bytes: size, check: nil}, []float64{l.PeakOverInput}, l)
	orderFacts(t) // the records are held until here
}

// orderFacts are the numbers that all readers of the records agree on.
func orderFacts(t *structured.Tensor) []float64 {
	flat := func(path string) (values tensor.Tensor, present float64) {
		v := t.Path(path)
		for {
			switch x := v.(type) {
			case *ragged.Tensor:
				v = x.FlatValues()
				continue
			case *masked.Tensor:
				m := x.Mask()
				if r, ok := m.(*ragged.Tensor); ok {
					m = r.FlatValues()
				}
				present = floatOf(ops.CountNonzero(m))
				v = x.Values()
				continue
			}
			return v, present
		}
	}
	sum := func(path string) float64 {
		v := t.Path(path)
		return floatOf(ops.Sum(v))
	}
	count := func(path string) float64 { v, _ := flat(path); return float64(v.Shape().Dim(0)) }
	there := func(path string) float64 { _, n := flat(path); return n }
	text := func(path string) float64 {
		v, _ := flat(path)
		s := v.(*tensor.Strings)
		o := s.Offsets()
		return float64(o[len(o)-1] - o[0])
	}
	return []float64{
		floatOf(t.NRows()), count("orders.qty"), count("orders.items.k"), count("tags"),
		sum("id"), floatOf(ops.CountNonzero(t.Path("active"))), sum("score"), sum("age"),
		there("age"), there("email"), there("orders.note"),
		sum("geo.lat"), sum("geo.lon"), sum("orders.qty"), sum("orders.price"), sum("orders.items.k"), sum("orders.items.w"),
		text("user"), text("tags"), text("orders.sku"), text("orders.cat"), text("orders.note"), text("email"),
	}
}

// floatOf returns a scalar as a float64.
func floatOf(x tensor.Tensor) float64 {
	if x.DType() == dtype.Float64 {
		return tensor.Data[float64](x)[0]
	}
	return float64(tensor.Data[int64](x)[0])
}
