package parquetio_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/data/csvio"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// elementTypes have two elements each.
var elementTypes = map[string]struct {
	typ   element.Type
	texts []string
}{
	"s":       {element.TimestampOf(time.Second, ""), []string{"2024-02-29T10:11:12", "1969-12-31T23:59:59"}},
	"ms":      {element.TimestampOf(time.Millisecond, "UTC"), []string{"2024-02-29T10:11:12.001Z", "1969-12-31T23:59:59.999Z"}},
	"us":      {element.TimestampOf(time.Microsecond, "Europe/Berlin"), []string{"2024-07-01T12:00:00.000001+02:00", "2024-01-01T12:00:00+01:00"}},
	"ns":      {element.TimestampOf(time.Nanosecond, ""), []string{"2024-02-29T10:11:12.000000001", "1969-12-31T23:59:59.999999999"}},
	"date":    {element.DateType, []string{"2024-02-29", "0001-01-01"}},
	"time_s":  {element.TimeOf(time.Second), []string{"10:11:12", "23:59:59"}},
	"time_ns": {element.TimeOf(time.Nanosecond), []string{"10:11:12.000000001", "23:59:59.999999999"}},
	"took_s":  {element.DurationOf(time.Second), []string{"PT1H", "-PT1S"}},
	"took_us": {element.DurationOf(time.Microsecond), []string{"PT0.000001S", "-PT1S"}},
	"price":   {element.DecimalOf(10, 2), []string{"12.30", "-0.05"}},
	"wide":    {element.DecimalOf(38, 4), []string{"1234567890123456789012345678901234.5678", "-0.0005"}},
	"fixed":   {element.FixedOf(3), []string{"AAEC", "////"}},
	"id":      {element.UUIDType, []string{"00000000-0000-4000-8000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff"}},
}

// Elements keep unit, zone, precision and scale through every format, where some are missing and in rows of different lengths too.
func TestElementsGoThroughFormats(t *testing.T) {
	flat := []structured.Field{{Name: "n", Value: tensor.Vector([]int64{1, 2})}}
	var nested []structured.Field
	types := map[string]csvio.Type{}
	for name, c := range elementTypes {
		x := tenon.Must(element.Parse(c.texts, c.typ))
		some := tenon.Must(masked.New(x, []bool{false, true}))
		flat = append(flat, structured.Field{Name: name, Value: x}, structured.Field{Name: name + "_some", Value: some})
		nested = append(nested, structured.Field{Name: name + "_rows", Value: tenon.Must(ragged.FromRowSplits(x, []int64{0, 0, 2}))},
			structured.Field{Name: name + "_gaps", Value: tenon.Must(structured.Divide(some, tenon.Must(ragged.PartitionFromRowSplits([]int64{0, 2, 2}, ragged.PartitionOptions{}))))})
		types[name], types[name+"_some"] = csvio.Type(c.typ.String()), csvio.Type(c.typ.String())
	}
	table := tenon.Must(structured.FromFields(flat, shape.Of(2), structured.Options{NRows: 2}))
	all := tenon.Must(structured.FromFields(append(nested, flat...), shape.Of(2), structured.Options{NRows: 2}))
	var b bytes.Buffer
	read := func(write func() error, read func() (tenon.Value, error)) func() (tenon.Value, error) {
		return func() (tenon.Value, error) {
			b.Reset()
			if err := write(); err != nil {
				return nil, err
			}
			return read()
		}
	}
	for name, c := range map[string]struct {
		in   *structured.Tensor
		trip func() (tenon.Value, error)
	}{
		"parquet": {all, read(func() error { return parquetio.Encode(&b, all, parquetio.WriteOptions{}) }, func() (tenon.Value, error) {
			return parquetio.Decode(b.Bytes(), parquetio.ReadOptions{})
		})},
		"arrow": {all, func() (tenon.Value, error) {
			rec, err := arrowio.ToRecord(all)
			if err != nil {
				return nil, err
			}
			return arrowio.FromRecord(rec, arrowio.ReadOptions{})
		}},
		"arrow alone": {all, func() (tenon.Value, error) {
			rec, err := arrowio.ToRecord(all)
			if err != nil {
				return nil, err
			}
			return arrowio.FromRecord(rec, arrowio.ReadOptions{Plain: true})
		}},
		"jsonl": {all, read(func() error { return jsonl.Write(&b, all, jsonl.WriteOptions{}) }, func() (tenon.Value, error) {
			return jsonl.Read(jsonl.Bytes(b.Bytes()), jsonl.Options{Schema: all.Spec().(*structured.Spec)})
		})},
		"csv": {table, read(func() error { return csvio.Write(&b, table, csvio.WriteOptions{}) }, func() (tenon.Value, error) {
			return csvio.Read(csvio.Bytes(b.Bytes()), csvio.Options{Types: types})
		})},
	} {
		v, err := c.trip()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, field := range c.in.FieldNames() {
			want, got := tenon.Must(c.in.Field(field)), tenon.Must(v.(*structured.Tensor).Field(field))
			a, _ := element.TypeOf(want)
			b, _ := element.TypeOf(got)
			if x, y := fmt.Sprint(tenon.Must(tensor.Plain(want))), fmt.Sprint(tenon.Must(tensor.Plain(got))); a != b || x != y {
				t.Errorf("%s: %s is %v %s, want %v %s", name, field, b, y, a, x)
			}
		}
	}
}
