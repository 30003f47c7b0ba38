package parquetio

import (
	"bytes"
	"cmp"

	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/tenonml/tenon"
)

// mayMeet reports whether a row of a row group may have a value in a range, by the
// statistics of the column; where there are none it may.
func mayMeet(m *metadata.FileMetaData, group int, cols []*node, w Range) bool {
	leaf := -1
	cols[0].leaves(func(n *node) {
		if leaf >= 0 {
			tenon.Throw(fail(tenon.ErrInvalid, "parquetio.ReadOptions.Where", w.Column, "the column is a record: name one of its fields"))
		}
		leaf = n.leaf
	})
	c, err := m.RowGroup(group).ColumnChunk(leaf)
	if err != nil {
		return true
	}
	if ok, err := c.StatsSet(); err != nil || !ok {
		return true
	}
	s, err := c.Statistics()
	if err != nil || s == nil {
		return true
	}
	if s.HasNullCount() && s.NullCount() == c.NumValues() {
		return false
	}
	if !s.HasMinMax() {
		return true
	}
	switch s := s.(type) {
	case *metadata.BooleanStatistics:
		return overlap(truth(s.Min()), truth(s.Max()), w, func(v any) (int64, bool) {
			b, ok := v.(bool)
			return truth(b), ok
		})
	case *metadata.Int32Statistics:
		return overlap(int64(s.Min()), int64(s.Max()), w, asInt)
	case *metadata.Int64Statistics:
		return overlap(s.Min(), s.Max(), w, asInt)
	case *metadata.Float32Statistics:
		return overlap(float64(s.Min()), float64(s.Max()), w, asFloat)
	case *metadata.Float64Statistics:
		return overlap(s.Min(), s.Max(), w, asFloat)
	case *metadata.ByteArrayStatistics:
		return overlap(string(bytes.Clone(s.Min())), string(bytes.Clone(s.Max())), w, func(v any) (string, bool) {
			x, ok := v.(string)
			return x, ok
		})
	}
	return true
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// overlap reports whether values from least to most may be in a range. A bound of another
// type than the column's says nothing.
func overlap[T cmp.Ordered](least, most T, w Range, as func(any) (T, bool)) bool {
	if low, ok := as(w.Min); ok && most < low {
		return false
	}
	if high, ok := as(w.Max); ok && least > high {
		return false
	}
	return true
}

func asInt(v any) (int64, bool) {
	switch x := v.(type) {
	case int:
		return int64(x), true
	case int32:
		return int64(x), true
	case int64:
		return x, true
	}
	return 0, false
}

func asFloat(v any) (float64, bool) {
	if n, ok := asInt(v); ok {
		return float64(n), true
	}
	x, ok := v.(float64)
	return x, ok
}
