package arrowio

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// The fields of an entry of a map.
const (
	keyOfEntry   = "key"
	valueOfEntry = "value"
)

// mapRows returns lists of entries as maps.
func mapRows(p part) part {
	d := p.data
	entries := d.Children()[0]
	fields := entries.DataType().(*arrow.StructType).Fields()
	typ := arrow.MapOfFields(fields[0], fields[1])
	ends := make([]int32, d.Len()+1)
	put := func(i int, e int64) {
		if e > math.MaxInt32 {
			tenon.Throw(fail(tenon.ErrUnsupported, encodeName, "", "Arrow maps have at most %d entries in total, and these have %d", math.MaxInt32, e))
		}
		ends[i] = int32(e)
	}
	switch t := d.DataType().(type) {
	case *arrow.FixedSizeListType:
		for i := range ends {
			put(i, int64(i)*int64(t.Len()))
		}
	default:
		_, wide := t.(*arrow.LargeListType)
		for i, e := range offsets(d, wide) {
			put(i, e)
		}
	}
	child := array.NewData(typ.Elem(), entries.Len(), entries.Buffers(), entries.Children(), 0, entries.Offset())
	return part{data: array.NewData(typ, d.Len(), []*memory.Buffer{nil, buffer(asBytes(ends))}, []arrow.ArrayData{child}, 0, 0)}
}

// maps returns maps, or the lists of their entries if their keys cannot be map keys: records, lists, or keys that may
// be missing.
func (r *reading) maps(at string, t *arrow.MapType, n int, l level) tensor.Tensor {
	field := func(k int, f arrow.Field, name string) structured.Field {
		d := slice(l.child.Children()[k], l.child.Offset(), l.child.Offset()+l.child.Len())
		return structured.Field{Name: name, Value: r.natural(below(at, name), f, d)}
	}
	fields := []structured.Field{field(0, t.KeyField(), keyOfEntry), field(1, t.ItemField(), valueOfEntry)}
	flat := tenon.Must(structured.FromFields(fields, shape.Of(l.child.Len()), structured.Options{NRows: l.child.Len()}))
	p := r.partition(at, l, n, nil)
	entries := tenon.Must(structured.Divide(flat, p)).(*structured.Tensor)
	if m, err := structured.MapOf(entries); err == nil {
		return m
	}
	if last := lastOfKeys(fields[0].Value, p); last != nil {
		if m, err := structured.MapOf(ops.BooleanMask(entries, last, 0).(*structured.Tensor)); err == nil {
			return m
		}
	}
	return entries
}

// lastOfKeys returns which entries of maps are the last with their key, which counts if another program has written
// several, or nil if keys are not single values.
func lastOfKeys(keys tensor.Tensor, p *ragged.RowPartition) tensor.Tensor {
	splits, ok := p.Splits64()
	if !ok || keys.Shape().Rank() != 1 {
		return nil
	}
	last := make([]bool, keys.Shape().Dim(0))
	for row := range len(splits) - 1 {
		seen := map[string]bool{}
		for i := splits[row+1] - 1; i >= splits[row]; i-- {
			k := fmt.Sprint(ops.Index(keys, int(i)))
			last[i] = !seen[k]
			seen[k] = true
		}
	}
	return tenon.Must(ragged.FromPartitions(tensor.Vector(last), p))
}
