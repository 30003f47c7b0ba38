package parquetio

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
)

// sampled is how many values of a column say whether they repeat.
const sampled = 4096

// plainColumns returns the properties of columns whose values hardly repeat: a dictionary of them takes time, and
// is given up in the end.
func plainColumns(b arrow.RecordBatch) []parquet.WriterProperty {
	var list []parquet.WriterProperty
	var walk func(path string, a arrow.Array)
	walk = func(path string, a arrow.Array) {
		switch a := a.(type) {
		case *array.Struct:
			for i, f := range a.DataType().(*arrow.StructType).Fields() {
				walk(path+"."+f.Name, a.Field(i))
			}
		case *array.Map:
			walk(path+".key_value.key", a.Keys())
			walk(path+".key_value.value", a.Items())
		case array.ListLike:
			walk(path+".list.element", a.ListValues())
		case array.ExtensionArray:
			walk(path, a.Storage())
		case *array.Dictionary:
		default:
			if !repeats(a) {
				list = append(list, parquet.WithDictionaryFor(path, false))
			}
		}
	}
	for i, f := range b.Schema().Fields() {
		walk(f.Name, b.Column(i))
	}
	return list
}

// repeats reports whether more than a tenth of some values, which are taken evenly, are there already.
func repeats(a arrow.Array) bool {
	step := max(1, a.Len()/sampled)
	seen := make(map[string]bool, sampled)
	n := 0
	for i := 0; i < a.Len(); i += step {
		if a.IsValid(i) {
			seen[a.ValueStr(i)] = true
			n++
		}
	}
	return n < sampled/16 || len(seen) < n-n/10
}
