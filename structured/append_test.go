package structured_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// Records joined are what they are when they are read together.
func TestRecordsOfDifferentTypesAreJoined(t *testing.T) {
	o := structured.NestedOptions{Missing: structured.MissingMasked}
	for name, parts := range map[string][]list{
		"the same":                {{rec{"a": 1}}, {rec{"a": 2}, rec{"a": 3}}},
		"another order":           {{rec{"a": 1, "b": "x"}}, {rec{"b": "y", "a": 2}}},
		"absent fields":           {{rec{"a": 1}}, {rec{"b": "x"}, rec{"b": "y"}}, {rec{"a": 2, "b": "z"}}},
		"integers and floats":     {{rec{"a": 1}, rec{"a": 2}}, {rec{"a": 1.5}}},
		"some are missing":        {{rec{"a": 1}, rec{"a": nil}}, {rec{"a": 2.5}}, {rec{"c": true}}},
		"nothing is there":        {{rec{"a": nil}, rec{"a": nil}}, {rec{"a": "x"}}, {rec{"a": nil}}},
		"nothing anywhere":        {{rec{"a": nil}}, {rec{"b": nil}}},
		"records in records":      {{rec{"r": rec{"x": 1}}}, {rec{"r": rec{"x": 1.5, "y": "t"}}, rec{"r": nil}}, {rec{"q": 1}}},
		"lists":                   {{rec{"l": list{1, 2}}}, {rec{"l": list{0.5}}, rec{"l": list{}}}, {rec{"m": 1}}},
		"lists with gaps":         {{rec{"l": list{1, nil}}}, {rec{"l": nil}, rec{"l": list{2.5}}}},
		"lists of lists":          {{rec{"l": list{list{1}, list{}}}}, {rec{"l": list{list{2.5, 3}}}}},
		"lists of records":        {{rec{"l": list{rec{"x": 1}}}}, {rec{"l": list{}}, rec{"l": list{rec{"x": 2, "y": "b"}, rec{"y": "c"}}}}, {rec{"z": 0}}},
		"lists of optional ones":  {{rec{"l": list{rec{"x": 1}, nil}}}, {rec{"l": nil}, rec{"l": list{rec{"y": "b"}}}}},
		"records that lack all":   {{rec{}}, {rec{"a": 1}}},
		"a list that comes later": {{rec{"a": 1}}, {rec{"a": 2, "l": list{"x"}}}},
	} {
		tables := make([]*structured.Tensor, len(parts))
		for i, p := range parts {
			tables[i] = read(t, p, o)
		}
		got, err := structured.Concat(tables...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := read(t, slices.Concat(parts...), o)
		same(t, name, sprint(plain(t, got)), sprint(plain(t, want)))
	}
	// Dictionaries and types of elements.
	words := table("s", tenon.Must(structured.EncodeStrings(tensor.Of([]string{"b", "a", "b"}))), 1, 2, 3)
	text := table("s", tensor.Of([]string{"c"}), 4)
	same(t, "words", sprint(plain(t, tenon.Must(structured.Concat(words, text, words)).Select("s"))), "[map[s:b] map[s:a] map[s:b] map[s:c] map[s:b] map[s:a] map[s:b]]")
	small := tenon.Must(structured.Concat(table("n", tensor.Of([]int8{1}), 1), table("n", tensor.Of([]int32{1 << 20}), 2)))
	same(t, "small integers", small.Path("n").DType(), dtype.Int32)
	same(t, "float32 beside integers", tenon.Must(structured.Concat(table("n", tensor.Of([]float32{1}), 1), table("n", tensor.Of([]int32{1 << 20}), 2))).Path("n").DType(), dtype.Float64)
	none := tenon.Must(structured.Concat(table("n", tensor.Of([]int64{}))))
	same(t, "no records", none.Shape().Dim(0), 0)
	// Divided records.
	nested := read(t, list{list{rec{"a": 1}, rec{"a": 2}}, list{}}, o)
	more := read(t, list{list{rec{"a": 1.5, "b": "x"}}}, o)
	same(t, "rank 2", sprint(tenon.Must(tenon.Must(structured.Concat(nested, more)).ToNested())), "[[map[a:1 b:<nil>] map[a:2 b:<nil>]] [] [map[a:1.5 b:x]]]")
}

func TestRecordsWithoutACommonTypeAreNotJoined(t *testing.T) {
	o := structured.NestedOptions{Missing: structured.MissingMasked}
	one := read(t, list{rec{"a": list{rec{"b": 1}}}}, o)
	for name, c := range map[string]struct {
		tables []*structured.Tensor
		says   string
	}{
		"nothing":            {nil, "there are no records"},
		"nil":                {[]*structured.Tensor{one, nil}, "tensor 1 is nil"},
		"a single record":    {[]*structured.Tensor{one, tenon.Must(structured.FromNested(rec{"a": 1}, o)).(*structured.Tensor)}, "tensor 1 is a single record"},
		"text and numbers":   {[]*structured.Tensor{one, read(t, list{rec{"a": list{rec{"b": "x"}}}}, o)}, "structured.Concat: a.b: is "},
		"lists and records":  {[]*structured.Tensor{one, read(t, list{rec{"a": rec{"b": 1}}}, o)}, "structured.Concat: a: is "},
		"records and values": {[]*structured.Tensor{read(t, list{rec{"a": 1}}, o), read(t, list{rec{"a": rec{"b": 1}}}, o)}, "no common type"},
		"lists of depths":    {[]*structured.Tensor{read(t, list{rec{"a": list{1}}}, o), read(t, list{rec{"a": list{list{1}}}}, o)}, "no common type"},
		"truth and numbers":  {[]*structured.Tensor{read(t, list{rec{"a": true}}, o), read(t, list{rec{"a": 1}}, o)}, "no common type"},
		"integers":           {[]*structured.Tensor{read(t, list{rec{"a": odd}}, o), read(t, list{rec{"a": 1.5}}, o)}, "a: has integers beyond 2⁵³"},
	} {
		_, err := structured.Concat(c.tables...)
		var e *tenon.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %q", name, err, c.says)
		}
	}
}
