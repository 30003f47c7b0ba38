package outsider_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"testing"

	"example.com/outsider"
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/data/protoio"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

type T = tensor.Tensor

func vector(x ...float64) T { return tensor.Vector(x) }

func bags(of string, rows ...[]float64) outsider.Bags {
	r := ragged.FromSlices(rows)
	return tenon.Must(outsider.NewBags(of, r.FlatValues(), r.Partition()))
}

func readings(unit string, there []bool, x ...float64) outsider.Readings {
	return tenon.Must(outsider.NewReadings(unit, vector(x...), tensor.Vector(there)))
}

// values are three rows of each type of this module.
func values() map[string]T {
	return map[string]T{
		"Interval": interval([]float64{0, 1, 2}, []float64{1, 2, 4}),
		"Tagged":   outsider.Tagged{Data: vector(1, 2, 3), Source: "attic"},
		"Bags":     bags("apples", []float64{1}, nil, []float64{2, 3}),
		"Readings": readings("K", []bool{true, false, true}, 1, 0, 3),
	}
}

// records are two columns, one of which is of a type of this module.
func records(v T) *structured.Tensor {
	return tenon.Must(structured.FromFields([]structured.Field{{Name: "id", Value: tensor.Vector([]int64{7, 8, 9})}, {Name: "v", Value: v}}, shape.Of(3), structured.Options{}))
}

// Files of Arrow and Parquet give back what was written, alone and as a column, and programs that
// know nothing of the types see lists, what is missing and structs.
func TestArrowAndParquet(t *testing.T) {
	types := map[string]string{
		"Interval": "struct<lo: float64, hi: float64>", "Tagged": "struct<data: float64>",
		"Bags": "large_list<item: float64>", "Readings": "float64",
	}
	for name, v := range values() {
		f, _, err := arrowio.ToArray("v", v)
		if got := fmt.Sprint(f.Type); err != nil || got != types[name] || f.Nullable != (name == "Readings") {
			t.Errorf("%s is the Arrow type %s, nullable: %v (%v)", name, got, f.Nullable, err)
		}
		for what, x := range map[string]tenon.Value{"alone": v, "a column": records(v)} {
			var a, p bytes.Buffer
			tenon.Throw(arrowio.Encode(&a, x, arrowio.WriteOptions{}))
			back, err := arrowio.Decode(a.Bytes(), arrowio.ReadOptions{})
			if err != nil {
				t.Fatalf("%s, %s: %v", name, what, err)
			}
			equal(t, "Arrow, "+name+", "+what, back, x)
			if what == "alone" {
				continue
			}
			tenon.Throw(parquetio.Encode(&p, x, parquetio.WriteOptions{}))
			if back, err = parquetio.Decode(p.Bytes(), parquetio.ReadOptions{}); err != nil {
				t.Fatalf("%s, %s: %v", name, what, err)
			}
			equal(t, "Parquet, "+name+", "+what, back, x)
		}
	}
}

// JSON has lists, null and objects for them; the Spec says of which type they are.
func TestJSONLines(t *testing.T) {
	lines := map[string]string{
		"Interval": `{"id":7,"v":{"lo":0.0,"hi":1.0}}`, "Tagged": `{"id":7,"v":{"data":1.0}}`,
		"Bags": `{"id":7,"v":[1.0]}`, "Readings": `{"id":7,"v":1.0}`,
	}
	for name, v := range values() {
		x := records(v)
		var b bytes.Buffer
		tenon.Throw(jsonl.Write(&b, x, jsonl.WriteOptions{}))
		if got, _, _ := bytes.Cut(b.Bytes(), []byte("\n")); string(got) != lines[name] {
			t.Errorf("%s: %s", name, got)
		}
		back, err := jsonl.Read(jsonl.Bytes(b.Bytes()), jsonl.Options{Schema: x.Spec().(*structured.Spec)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		equal(t, "JSON, "+name, back, x)
		b.Reset()
		tenon.Throw(jsonl.Write(&b, v, jsonl.WriteOptions{}))
		if n := bytes.Count(b.Bytes(), []byte("\n")); n != 3 {
			t.Errorf("%s alone is %d lines: %s", name, n, b.Bytes())
		}
	}
}

func TestSavedAndWire(t *testing.T) {
	name := filepath.Join(t.TempDir(), "v")
	all, specs := map[string]any{}, map[string]any{}
	for k, v := range values() {
		all[k], specs[k] = v, v.Spec()
		wire := tenon.Must(protoio.AppendStructure(nil, tenon.SpecOf{Spec: v.Spec()}, protoio.Options{}))
		e, err := protoio.DecodeStructure(wire, protoio.Options{})
		if s, ok := e.(tenon.SpecOf); err != nil || !ok || !tenon.Equal(s.Spec, v.Spec()) {
			t.Errorf("%s: the message is read as %v, %v", k, e, err)
		}
		text := tenon.Must(tensor.AppendJSON(nil, v))
		x, err := tensor.ParseJSON(text, v.Spec())
		if err != nil {
			t.Errorf("%s: %s: %v", k, text, err)
			continue
		}
		equal(t, "JSON, "+k, x, v)
	}
	tenon.Throw(saved.Write(name, all))
	back := tenon.Must(saved.Read(name, specs))
	for k, v := range values() {
		equal(t, "saved, "+k, back[k].(tenon.Value), v)
	}
}

// Batches of each kind, of rows of a batch and of elements that are made one by one.
func TestDatasets(t *testing.T) {
	ctx := context.Background()
	for name, v := range values() {
		n := tenon.Must(ext.Rows(v))
		var rows []tenon.Value
		for i := range n {
			rows = append(rows, tenon.Must(ext.Row(v, i)))
		}
		for _, kind := range []dataset.Kind{dataset.Dense, dataset.Ragged, dataset.Padded} {
			for what, d := range map[string]*dataset.Dataset[tenon.Value]{"rows": dataset.FromRows[tenon.Value](v), "elements": dataset.FromSlice(rows),
				"batches": dataset.FromBatches(func() iter.Seq2[tenon.Value, error] {
					return func(yield func(tenon.Value, error) bool) { yield(v, nil) }
				}),
				"interleaved": dataset.Interleave(dataset.FromRows[tenon.Value](v), dataset.FromRows[tenon.Value](v))} {
				list, err := d.Batch(2, dataset.BatchOptions{Kind: kind}).Collect(ctx)
				if name == "Bags" && kind == dataset.Dense {
					continue // their sizes differ
				}
				if err != nil {
					t.Errorf("%s, %s, kind %d: %v", name, what, kind, err)
					continue
				}
				if got := tenon.Must(ext.Row(list[0], 0)); kind == dataset.Ragged && !tensor.Equal(got, rows[0]) {
					t.Errorf("%s, %s, kind %d: row 0 is %v, want %v", name, what, kind, got, rows[0])
				}
			}
		}
		cached, err := dataset.FromSlice(rows).Cache(ctx, filepath.Join(t.TempDir(), "cache"), "1", dataset.CacheOptions{})
		if err != nil {
			t.Errorf("%s, cached: %v", name, err)
			continue
		}
		batches := cached.Batch(n, dataset.BatchOptions{Kind: dataset.Ragged})
		for i, row := range rows {
			equal(t, "cached, "+name, tenon.Must(cached.At(int64(i))), row)
			part := tenon.Must(batches.Share(i, n).At(0))
			if got := tenon.Must(ext.Row(part, 0)); !tensor.Equal(got, row) {
				t.Errorf("%s, share %d: got %v, want %v", name, i, got, row)
			}
		}
		last := func(x tenon.Value) tenon.Value {
			return dataset.Reduce(cached, x, func(_, x tenon.Value) tenon.Value { return x })
		}
		equal(t, "loop, "+name, function.New(last).Call(rows[0]), rows[n-1])
	}
}

// Layers take what answers their operations, and give it back.
func TestLayers(t *testing.T) {
	key := ops.RandomKey(1)
	x := tenon.Must(tensor.Convert([][]float32{{1, 2, 3, 4}, {2, 0, 1, 5}}))
	dense, norm, attention := nn.NewDense(key, 4, 4), nn.NewLayerNorm(4), nn.NewMultiHeadAttention(key, 4, 2)
	mlp := nn.NewMLP(key, []int{4, 8, 2})
	for name, layer := range map[string]func(T) T{"Dense": dense.Apply, "LayerNorm": norm.Apply, "MLP": mlp.Apply, "RMSNorm": nn.NewRMSNorm(4).Apply,
		"MultiHeadAttention": func(x T) T { return attention.Apply(ops.ExpandDims(x, 0)) },
	} {
		want := layer(x)
		for what, f := range map[string]func(T) T{"eager": layer, "traced": function.New(layer).Call} {
			got, ok := f(outsider.Tagged{Data: x, Source: "attic"}).(outsider.Tagged)
			if !ok || got.Source != "attic" {
				t.Errorf("%s, %s: %v", name, what, got)
				continue
			}
			if err := tensor.AllClose(got.Data, want); err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
	bounds := dense.Apply(outsider.Around(x, 0.25)).(outsider.Interval)
	y := dense.Apply(ops.Add(x, 0.2))
	if inside := ops.All(ops.LogicalAnd(ops.LessEqual(bounds.Lo, y), ops.GreaterEqual(bounds.Hi, y))); !tensor.Item[bool](inside) {
		t.Errorf("%v is outside of %v", y, bounds)
	}
}
