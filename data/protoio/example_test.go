package protoio_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/protoio"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// message writes fields with a length.
func message(fields ...any) []byte {
	var b []byte
	for i := 0; i < len(fields); i += 2 {
		b = protowire.AppendTag(b, protowire.Number(fields[i].(int)), protowire.BytesType)
		switch x := fields[i+1].(type) {
		case string:
			b = protowire.AppendString(b, x)
		case []byte:
			b = protowire.AppendBytes(b, x)
		}
	}
	return b
}

func entry(key string, feature []byte) []byte { return message(1, key, 2, feature) }

func ints(xs ...int64) []byte {
	var packed []byte
	for _, x := range xs {
		packed = protowire.AppendVarint(packed, uint64(x))
	}
	return message(3, message(1, packed))
}

func loose(xs ...int64) []byte {
	var list []byte
	for _, x := range xs {
		list = protowire.AppendTag(list, 1, protowire.VarintType)
		list = protowire.AppendVarint(list, uint64(x))
	}
	return message(3, list)
}

var one32 = message(2, message(1, "\x00\x00\x80\x3f"))

// example writes a message of entries.
func example(entries ...[]byte) []byte {
	var features []byte
	for _, e := range entries {
		features = append(features, message(1, e)...)
	}
	return message(1, features)
}

func made(t testing.TB, features map[string]any) []byte {
	t.Helper()
	b, err := protoio.AppendExample(nil, features)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func text(x any) string { return fmt.Sprintf("%v", x) }

// rows prints a tensor as nested Go slices.
func rows(t testing.TB, x tensor.Tensor) string {
	t.Helper()
	if r, ok := x.(*ragged.Tensor); ok {
		return text(tenon.Must(r.Nested()))
	}
	return text(x)
}

func TestWhatTheLastFieldSays(t *testing.T) {
	for name, c := range map[string]struct {
		b    []byte
		want []int64
	}{
		"two entries":             {example(entry("v", ints(1, 2)), entry("v", ints(3))), []int64{3}},
		"another type at first":   {example(entry("v", one32), entry("v", ints(3))), []int64{3}},
		"not packed":              {example(entry("v", loose(1, -2, 3))), []int64{1, -2, 3}},
		"two lists of a kind":     {example(entry("v", append(ints(1, 2), loose(5)...))), []int64{1, 2, 5}},
		"two kinds of lists":      {example(entry("v", append(append(ints(7), one32...), ints(5)...))), []int64{5}},
		"no list":                 {example(entry("v", nil)), []int64{}},
		"no value":                {example(message(1, "v")), []int64{}},
		"two messages":            {append(example(entry("v", ints(1, 2))), example(entry("v", ints(7)))...), []int64{7}},
		"value before key":        {example(message(2, ints(4), 1, "v")), []int64{4}},
		"a value in pieces":       {example(message(1, "v", 2, ints(4), 2, ints(5), 2, ints(6))), []int64{4, 5, 6}},
		"unknown fields":          {append([]byte("\x18\x05"), example(append(entry("v", append([]byte("\x25abcd"), ints(9)...)), "\x18\x05"...))...), []int64{9}},
		"other features":          {example(entry("u", ints(1)), entry("v", ints(2)), entry("w", one32)), []int64{2}},
		"every length of numbers": {example(entry("v", ints(0, 127, 128, 16383, 16384, 1<<21-1, 1<<21, 1<<28-1, 1<<28, 1<<35-1, 1<<35, 1<<42, 1<<49, 1<<56-1, 1<<56, 1<<62, math.MaxInt64, math.MinInt64, -1, 1))), []int64{0, 127, 128, 16383, 16384, 1<<21 - 1, 1 << 21, 1<<28 - 1, 1 << 28, 1<<35 - 1, 1 << 35, 1 << 42, 1 << 49, 1<<56 - 1, 1 << 56, 1 << 62, math.MaxInt64, math.MinInt64, -1, 1}},
	} {
		m, err := protoio.ParseExample(c.b, protoio.Features{"v": protoio.Ragged{DType: dtype.Int64}}, protoio.ParseOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, tensor.Data[int64](m["v"]), cmp.Transformer("", func(x []int64) []int64 { return append([]int64{}, x...) })); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The answers are those of TensorFlow 2.21.
func TestPartitions(t *testing.T) {
	a := made(t, map[string]any{"v": []int64{1, 2, 3, 4, 5, 6, 7, 8}, "n": []int64{1, 3}, "s": []int64{0, 2, 4},
		"i": []int64{0, 0, 2, 2, 2, 3, 3, 3}, "st": []int64{0, 3, 3}, "li": []int64{3, 3, 8}})
	b := made(t, map[string]any{"v": []int64{9, 10}, "n": []int64{1}, "s": []int64{0, 1}, "i": []int64{1, 1}, "st": []int64{0}, "li": []int64{2}})
	type parts = []protoio.Partition
	for _, c := range []struct {
		parts parts
		want  string
	}{
		{parts{{RowLengths: "n"}, {UniformLength: 2}}, "[[[[1 2]] [[3 4] [5 6] [7 8]]] [[[9 10]]]]"},
		{parts{{RowSplits: "s"}, {UniformLength: 2}}, "[[[[1 2] [3 4]] [[5 6] [7 8]]] [[[9 10]]]]"},
		{parts{{ValueRowIDs: "i"}}, "[[[1 2] [] [3 4 5] [6 7 8]] [[] [9 10]]]"},
		{parts{{RowStarts: "st"}}, "[[[1 2 3] [] [4 5 6 7 8]] [[9 10]]]"},
		{parts{{RowLimits: "li"}}, "[[[1 2 3] [] [4 5 6 7 8]] [[9 10]]]"},
		{parts{{UniformLength: 2}}, "[[[1 2] [3 4] [5 6] [7 8]] [[9 10]]]"},
	} {
		for _, splits := range []dtype.DType{dtype.None, dtype.Int32} {
			fs := protoio.Features{"r": protoio.Ragged{DType: dtype.Int64, Key: "v", Partitions: c.parts, Splits: splits}}
			m, err := protoio.ParseExamples([][]byte{a, b}, fs, protoio.ParseOptions{})
			if err != nil {
				t.Errorf("%+v: %v", c.parts, err)
				continue
			}
			if got := rows(t, m["r"]); got != c.want {
				t.Errorf("%+v: got %s, want %s", c.parts, got, c.want)
			}
			one, err := protoio.ParseExample(a, fs, protoio.ParseOptions{})
			if err != nil {
				t.Errorf("%+v: %v", c.parts, err)
				continue
			}
			if got := strings.ReplaceAll(rows(t, one["r"]), "\n ", " "); !strings.HasPrefix(c.want[1:], strings.SplitN(got, "] int64", 2)[0]) {
				t.Errorf("%+v of one: got %s", c.parts, got)
			}
		}
	}
	m, err := protoio.ParseExamples([][]byte{made(t, map[string]any{"v": []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, "n": []int64{1, 2, 0, 3, 4, 2}})},
		protoio.Features{"r": protoio.Ragged{DType: dtype.Int64, Key: "v", Partitions: parts{{UniformLength: 3}, {RowLengths: "n"}}}}, protoio.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := rows(t, m["r"]); got != "[[[[0] [1 2] []] [[3 4 5] [6 7 8 9] [10 11]]]]" {
		t.Errorf("rows in groups of three: got %s", got)
	}
}

func TestPartitionsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		part protoio.Partition
		data []int64
	}{
		"splits do not start at 0":  {protoio.Partition{RowSplits: "p"}, []int64{1, 3}},
		"splits end early":          {protoio.Partition{RowSplits: "p"}, []int64{0, 2}},
		"no splits":                 {protoio.Partition{RowSplits: "p"}, []int64{}},
		"splits fall":               {protoio.Partition{RowSplits: "p"}, []int64{0, 2, 1, 3}},
		"negative length":           {protoio.Partition{RowLengths: "p"}, []int64{4, -1}},
		"lengths overflow":          {protoio.Partition{RowLengths: "p"}, []int64{math.MaxInt64, math.MaxInt64}},
		"too few lengths":           {protoio.Partition{RowLengths: "p"}, []int64{1}},
		"starts beyond the end":     {protoio.Partition{RowStarts: "p"}, []int64{0, 4}},
		"limits beyond the end":     {protoio.Partition{RowLimits: "p"}, []int64{4}},
		"row ids fall":              {protoio.Partition{ValueRowIDs: "p"}, []int64{0, 2, 1}},
		"negative row id":           {protoio.Partition{ValueRowIDs: "p"}, []int64{-1, 0, 0}},
		"too few row ids":           {protoio.Partition{ValueRowIDs: "p"}, []int64{0, 0}},
		"a row id of any size":      {protoio.Partition{ValueRowIDs: "p"}, []int64{0, 0, 1 << 40}},
		"the largest row id":        {protoio.Partition{ValueRowIDs: "p"}, []int64{0, 0, math.MaxInt64}},
		"no multiple of the length": {protoio.Partition{UniformLength: 2}, nil},
		"two at once":               {protoio.Partition{UniformLength: 3, RowSplits: "p"}, []int64{0, 3}},
		"none":                      {protoio.Partition{}, nil},
	} {
		b := made(t, map[string]any{"v": []int64{1, 2, 3}, "p": c.data})
		fs := protoio.Features{"r": protoio.Ragged{DType: dtype.Int64, Key: "v", Partitions: []protoio.Partition{c.part}}}
		if m, err := protoio.ParseExamples([][]byte{b}, fs, protoio.ParseOptions{}); !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("%s: got %v, %v", name, m, err)
		}
	}
}

func TestForms(t *testing.T) {
	messages := [][]byte{
		made(t, map[string]any{"s": []string{"a", "b"}, "f": []float32{1, 2, 3, 4}}),
		made(t, map[string]any{"s": []string{"c"}}),
		made(t, map[string]any{"s": []string{"d", "", "e"}, "f": []float32{5, 6}}),
	}
	m, err := protoio.ParseExamples(messages, protoio.Features{
		"strings":  protoio.Sequence{DType: dtype.String, Key: "s", Default: "-"},
		"pairs":    protoio.Sequence{DType: dtype.Float32, Key: "f", Shape: shape.Of(2), Default: []float32{-1, -2}},
		"sparse":   protoio.VarLen{DType: dtype.String, Key: "s"},
		"fallback": protoio.Fixed{DType: dtype.Int64, Shape: shape.Of(2, 1), Default: 7},
		"none":     protoio.Sequence{DType: dtype.Int64},
	}, protoio.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b", "-", "c", "-", "-", "d", "", "e"}, tensor.Data[string](m["strings"])); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float32{1, 2, 3, 4, -1, -2, -1, -2, 5, 6, -1, -2}, tensor.Data[float32](m["pairs"])); diff != "" || !m["pairs"].Shape().Equal(shape.Of(3, 2, 2)) {
		t.Error(m["pairs"].Shape(), diff)
	}
	if s := m["sparse"].(*sparse.Tensor); !s.Shape().Equal(shape.Of(3, 3)) || text(tensor.Data[int64](s.Indices())) != "[0 0 0 1 1 0 2 0 2 1 2 2]" {
		t.Errorf("got %v", s)
	}
	if diff := cmp.Diff([]int64{7, 7, 7, 7, 7, 7}, tensor.Data[int64](m["fallback"])); diff != "" || !m["fallback"].Shape().Equal(shape.Of(3, 2, 1)) {
		t.Error(diff)
	}
	if !m["none"].Shape().Equal(shape.Of(3, 0)) {
		t.Errorf("a sequence without elements has the shape %v", m["none"].Shape())
	}
}

func TestExamplesRefused(t *testing.T) {
	good := made(t, map[string]any{"v": []int64{1, 2}})
	long := make([]int64, 1000)
	for name, c := range map[string]struct {
		b     []byte
		f     protoio.Feature
		o     protoio.ParseOptions
		where string
	}{
		"missing":              {example(), protoio.Fixed{DType: dtype.Int64}, protoio.ParseOptions{}, `example 1, feature "v"`},
		"too long":             {good, protoio.Fixed{DType: dtype.Int64}, protoio.ParseOptions{}, "2 values, not 1"},
		"another type":         {good, protoio.Ragged{DType: dtype.Float32}, protoio.ParseOptions{}, "list of int64"},
		"no such type":         {good, protoio.Ragged{DType: dtype.Float64}, protoio.ParseOptions{}, "float64"},
		"cut off":              {good[:len(good)-1], protoio.Ragged{DType: dtype.Int64}, protoio.ParseOptions{}, "example 1: the message is truncated or malformed at byte 0"},
		"open number":          {example(entry("v", message(3, message(1, "\x01\x80")))), protoio.Ragged{DType: dtype.Int64}, protoio.ParseOptions{}, `example 1, feature "v": a packed list is malformed at byte 13`},
		"number without end":   {example(entry("v", message(3, message(1, strings.Repeat("\x80", 8))))), protoio.Ragged{DType: dtype.Int64}, protoio.ParseOptions{}, `example 1, feature "v": a packed list is malformed at byte 13`},
		"number too long":      {example(entry("v", message(3, message(1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")))), protoio.Ragged{DType: dtype.Int64}, protoio.ParseOptions{}, "packed"},
		"float of three bytes": {example(entry("v", message(2, message(1, "abc")))), protoio.Ragged{DType: dtype.Float32}, protoio.ParseOptions{}, "packed"},
		"extra":                {example(entry("v", ints(1)), entry("u", ints(1))), protoio.Ragged{DType: dtype.Int64}, protoio.ParseOptions{RefuseExtra: true}, `"u"`},
		"odd items":            {made(t, map[string]any{"v": []int64{1, 2, 3}}), protoio.Sequence{DType: dtype.Int64, Shape: shape.Of(2)}, protoio.ParseOptions{}, "multiple of 2"},
		"padding":              {made(t, map[string]any{"v": long}), protoio.Sequence{DType: dtype.Int64}, protoio.ParseOptions{MaxPadded: 1500}, "too many"},
		"default's type":       {good, protoio.Fixed{DType: dtype.Int64, Default: tensor.Scalar(1.5)}, protoio.ParseOptions{}, "default"},
		"default's size":       {good, protoio.Fixed{DType: dtype.Int64, Shape: shape.Of(2), Default: []int64{1, 2, 3}}, protoio.ParseOptions{}, "default"},
		"unknown shape":        {good, protoio.Fixed{DType: dtype.Int64, Shape: shape.Of(-1)}, protoio.ParseOptions{}, "must be fully known"},
		"huge shape":           {good, protoio.Fixed{DType: dtype.Int64, Shape: shape.Of(math.MaxInt)}, protoio.ParseOptions{}, ""},
	} {
		m, err := protoio.ParseExamples([][]byte{example(entry("v", firstOf(c.f))), c.b}, protoio.Features{"v": c.f}, c.o)
		if !errors.As(err, new(*tenon.Error)) || !strings.Contains(err.Error(), c.where) {
			t.Errorf("%s: got %v, %v", name, m, err)
		}
	}
	if _, err := protoio.ParseExamples(nil, protoio.Features{"a": protoio.VarLen{DType: dtype.Int64, Key: "k"}, "b": protoio.VarLen{DType: dtype.String, Key: "k"}}, protoio.ParseOptions{}); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("one key of two types: %v", err)
	}
	if _, err := protoio.ParseExamples(nil, protoio.Features{"a": nil}, protoio.ParseOptions{}); err == nil {
		t.Error("a nil feature")
	}
}

// Lists are decoded some messages after they were found; what counts is the order of
// the messages all the same: which one is wrong first, and which list is the last one.
func TestOrderOfWhatIsFound(t *testing.T) {
	features := protoio.Features{"v": protoio.Ragged{DType: dtype.Int64}, "w": protoio.Ragged{DType: dtype.Float32}}
	good := example(entry("v", ints(1)), entry("w", one32))
	list, other := example(entry("v", message(3, message(1, "\x80"))), entry("w", one32)), []byte{0xff}
	for _, c := range []struct {
		messages [][]byte
		where    string
	}{
		{[][]byte{good, list, other}, `example 1, feature "v": a packed list is malformed at byte 13`},
		{[][]byte{good, other, list}, "example 1: the message is truncated"},
		{[][]byte{good, example(entry("w", message(2, message(1, "abc"))), entry("v", message(3, message(1, "\x80")))), list}, `example 1, feature "w"`},
		{[][]byte{good, example(entry("v", one32)), list}, `example 1, feature "v": is a list of float32`},
	} {
		if _, err := protoio.ParseExamples(c.messages, features, protoio.ParseOptions{}); err == nil || !strings.Contains(err.Error(), c.where) {
			t.Errorf("got %v, want %s", err, c.where)
		}
	}
	messages := [][]byte{
		good,
		example(entry("v", ints(2)), entry("v", ints(3, 4))),
		example(entry("v", ints(5)), entry("v", one32), entry("v", ints(6))),
		example(entry("v", loose(7))),
		example(entry("w", one32), entry("v", ints(8))),
		example(entry("v", ints(9)), entry("x", ints(1)), entry("v", message(4, "")), entry("w", one32)),
		example(entry("w", one32)),
	}
	m := tenon.Must(protoio.ParseExamples(messages, features, protoio.ParseOptions{}))
	v, w := m["v"].(*ragged.Tensor), m["w"].(*ragged.Tensor)
	if got := rows(t, v); got != "[[1] [3 4] [6] [7] [8] [] []]" {
		t.Errorf("v is %v", got)
	}
	if got := tensor.Data[int64](w.RowSplits()); !slices.Equal(got, []int64{0, 1, 1, 1, 1, 2, 3, 4}) {
		t.Errorf("w has the splits %v", got)
	}
}

// What is wrong in a value put together from pieces has no place in the message.
func TestWrongInPieces(t *testing.T) {
	b := example(message(1, "v", 2, ints(4), 2, message(3, message(1, "\x01\x80"))))
	_, err := protoio.ParseExample(b, protoio.Features{"v": protoio.Ragged{DType: dtype.Int64}}, protoio.ParseOptions{})
	if !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "a packed list is malformed") || strings.Contains(err.Error(), "byte") {
		t.Errorf("got %v", err)
	}
}

// firstOf returns a list that a feature of the tests takes.
func firstOf(f protoio.Feature) []byte {
	switch f := f.(type) {
	case protoio.Fixed:
		if f.Shape.Size() == 2 {
			return ints(1, 2)
		}
		return ints(1)
	case protoio.Ragged:
		if f.DType == dtype.Float32 {
			return one32
		}
	}
	return ints(1, 2)
}

// Many messages, in chunks, give what one after the other gives.
func TestManyMessages(t *testing.T) {
	t.Run("in turn", func(t *testing.T) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		manyMessages(t)
	})
	t.Run("at once", manyMessages)
}

func manyMessages(t *testing.T) {
	const n = 8000
	// More and more values, so that what is made room for after the first ones is not
	// enough.
	count := func(i int) int { return i % 37 * (1 + 4*i/n) }
	messages := make([][]byte, n)
	var want []int64
	for i := range messages {
		xs := make([]int64, count(i))
		for j := range xs {
			xs[j] = int64(i) << (j % 60)
		}
		want = append(want, xs...)
		messages[i] = made(t, map[string]any{"id": []int64{int64(i)}, "v": xs, "t": strings.Repeat("x", i%5)})
	}
	s, err := protoio.ParseStructured(messages, protoio.Features{
		"id": protoio.Fixed{DType: dtype.Int64}, "v": protoio.Ragged{DType: dtype.Int64}, "t": protoio.Fixed{DType: dtype.String},
	}, protoio.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v := tenon.Must(s.Field("v")).(*ragged.Tensor)
	if !slices.Equal(want, tensor.Data[int64](v.FlatValues())) {
		t.Error("values differ")
	}
	splits, texts := tensor.Data[int64](v.RowSplits()), tenon.Must(s.Field("t")).(*tensor.Strings)
	for i := range n {
		if splits[i+1]-splits[i] != int64(count(i)) || len(texts.At(i)) != i%5 {
			t.Fatalf("row %d has %d values and the text %q", i, splits[i+1]-splits[i], texts.At(i))
		}
	}
	messages[4711] = []byte("\x0a\x05")
	if _, err := protoio.ParseExamples(messages, protoio.Features{"v": protoio.Ragged{DType: dtype.Int64}}, protoio.ParseOptions{}); err == nil || !strings.Contains(err.Error(), "example 4711") {
		t.Errorf("got %v", err)
	}
}

func TestEncodedComesBack(t *testing.T) {
	deep := tenon.Must(ragged.Const([][][]float64{{{1.5, 2}, {}}, {}, {{3}}}, ragged.Options{DType: dtype.Float32}))
	flat := tenon.Must(ragged.FromRowSplits(tensor.Of([]int64{1, 2, 3, 4, 5, 6}, 3, 2), []int32{0, 1, 1, 3}))
	columns := map[string]tensor.Tensor{
		"ids":   tensor.Of([]int64{-1, 0, 1 << 40}),
		"grid":  tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2),
		"names": tensor.Of([]string{"a", "", "\xff"}),
		"deep":  deep,
		"flat":  flat,
	}
	messages, fs, err := protoio.EncodeExamples(columns)
	if err != nil {
		t.Fatal(err)
	}
	back, err := protoio.ParseExamples(messages, fs, protoio.ParseOptions{RefuseExtra: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range columns {
		if !tensor.Equal(want, back[name], tensor.EqualOptions{}) {
			t.Errorf("%s: got %v, want %v", name, back[name], want)
		}
	}
	inferred, err := protoio.InferFeatures(messages)
	if err != nil || len(inferred) != 6 || inferred["deep/row_lengths_1"] != nil && inferred["deep/row_lengths_1"].(protoio.Ragged).DType != dtype.Int64 {
		t.Errorf("inferred %v, %v", inferred, err)
	}
	for name, bad := range map[string]tensor.Tensor{"float64": tensor.Of([]float64{1, 2, 3}), "rows": tensor.Of([]int64{1}), "scalar": tensor.Scalar(int64(1))} {
		if _, _, err := protoio.EncodeExamples(map[string]tensor.Tensor{"ids": columns["ids"], "x": bad}); !errors.As(err, new(*tenon.Error)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStructuredComesBack(t *testing.T) {
	x, err := structured.FromNested([]any{map[string]any{"id": 1, "tags": []any{"a", "b"}}, map[string]any{"id": 2, "tags": []any{}}}, structured.NestedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	messages, fs, err := protoio.EncodeStructured(x.(*structured.Tensor))
	if err != nil {
		t.Fatal(err)
	}
	back, err := protoio.ParseStructured(messages, fs, protoio.ParseOptions{})
	if err != nil || !tensor.Equal(x, back, tensor.EqualOptions{}) {
		t.Errorf("got %v, %v", back, err)
	}
}

// sequence writes a SequenceExample of a context and lists.
func sequenceExample(context []byte, lists ...any) []byte {
	var all []byte
	for i := 0; i < len(lists); i += 2 {
		var list []byte
		for _, step := range lists[i+1].([][]byte) {
			list = append(list, message(1, step)...)
		}
		all = append(all, message(1, message(1, lists[i].(string), 2, list))...)
	}
	return append(context, message(2, all)...)
}

func TestSequences(t *testing.T) {
	a := sequenceExample(example(entry("id", ints(1))), "f", [][]byte{ints(1, 2), ints(), ints(3)}, "p", [][]byte{ints(4, 5)})
	b := sequenceExample(example(entry("id", ints(2))), "f", [][]byte{ints(9)}, "f", [][]byte{ints(7), ints(8)})
	s, err := protoio.ParseSequenceExamples([][]byte{a, b}, protoio.Features{"id": protoio.Fixed{DType: dtype.Int64}}, protoio.Features{
		"f": protoio.Ragged{DType: dtype.Int64}, "s": protoio.VarLen{DType: dtype.Int64, Key: "f"},
		"p": protoio.Sequence{DType: dtype.Int64, Shape: shape.Of(2), Default: -1},
	}, protoio.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := rows(t, s.Lists["f"]); got != "[[[1 2] [] [3]] [[7] [8]]]" {
		t.Errorf("got %s", got)
	}
	if p := s.Lists["p"]; !p.Shape().Equal(shape.Of(2, 1, 2)) || text(tensor.Data[int64](p)) != "[4 5 -1 -1]" {
		t.Errorf("got %v", p)
	}
	if v := s.Lists["s"].(*sparse.Tensor); !v.Shape().Equal(shape.Of(2, 3, 2)) || text(tensor.Data[int64](v.Indices())) != "[0 0 0 0 0 1 0 2 0 1 0 0 1 1 0]" {
		t.Errorf("got %v", v)
	}
	if text(tensor.Data[int64](s.Context["id"])) != "[1 2]" || text(tensor.Data[int64](s.Lengths["f"])) != "[3 2]" || text(tensor.Data[int64](s.Lengths["p"])) != "[1 0]" {
		t.Errorf("got %v", s)
	}
	for name, f := range map[string]protoio.Feature{"fixed": protoio.Fixed{DType: dtype.Int64}, "steps of other sizes": protoio.Sequence{DType: dtype.Int64}, "type": protoio.Ragged{DType: dtype.String}} {
		if _, _, err := protoio.ParseSequenceExample(a, nil, protoio.Features{"f": f}, protoio.ParseOptions{}); !errors.As(err, new(*tenon.Error)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEncodeSequences(t *testing.T) {
	context := map[string]tensor.Tensor{"id": tensor.Vector([]int64{1, 2, 3}), "name": tensor.Of([]string{"a", "", "é"})}
	f := tenon.Must(ragged.Const([][][]float32{{{1, 2}, {}, {3}}, {}, {{4}}}, ragged.Options{}))
	lists := map[string]tensor.Tensor{
		"f":     f,
		"pairs": tenon.Must(ragged.FromRowSplits(tensor.Wrap([]int64{1, 2, 3, 4, -5, 6}, shape.Of(3, 2)), []int64{0, 2, 2, 3})),
		"grid":  tenon.Must(tensor.Convert([][]string{{"x", "y"}, {"z", ""}, {"u", "v"}})),
		"deep":  tenon.Must(ragged.Const([]any{[]any{[]any{[]any{1, 2}, []any{}}, []any{}}, []any{}, []any{[]any{[]any{3}}}}, ragged.Options{})),
	}
	messages, cf, lf, err := protoio.EncodeSequenceExamples(context, lists)
	if err != nil {
		t.Fatal(err)
	}
	s, err := protoio.ParseSequenceExamples(messages, cf, lf, protoio.ParseOptions{RefuseExtra: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range context {
		if !tensor.Equal(s.Context[name], want, tensor.EqualOptions{}) {
			t.Errorf("%s: got %v, want %v", name, s.Context[name], want)
		}
	}
	for name, want := range map[string]string{
		"f": rows(t, f), "deep": "[[[[1 2] []] []] [] [[[3]]]]",
	} {
		if got := rows(t, s.Lists[name]); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	if p := s.Lists["pairs"]; !p.Shape().Equal(shape.Of(3, 2, 2)) || text(tensor.Data[int64](p)) != "[1 2 3 4 0 0 0 0 -5 6 0 0]" || text(tensor.Data[int64](s.Lengths["pairs"])) != "[2 0 1]" {
		t.Errorf("got %v", p)
	}
	if !tensor.Equal(s.Lists["grid"], lists["grid"], tensor.EqualOptions{}) {
		t.Errorf("got %v", s.Lists["grid"])
	}
	r, err := s.Structured()
	if err != nil || len(r.FieldNames()) != 6 || !r.Shape().Equal(shape.Of(3)) {
		t.Fatalf("got %v, %v", r, err)
	}
	if got := rows(t, tenon.Must(r.Field("f"))); got != rows(t, f) {
		t.Errorf("records have %s", got)
	}
	for what, lists := range map[string]map[string]tensor.Tensor{
		"rows":     {"f": tenon.Must(ragged.Const([][]int64{{1}}, ragged.Options{}))},
		"no steps": {"f": tensor.Of([]int64{1, 2, 3})},
		"a type":   {"f": tensor.Wrap([]float64{1, 2, 3}, shape.Of(3, 1))},
		"size 0":   {"f": tensor.Wrap([]float32{}, shape.Of(3, 1, 0))},
	} {
		if _, _, _, err := protoio.EncodeSequenceExamples(context, lists); !errors.As(err, new(*tenon.Error)) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func ExampleParseExamples() {
	messages := make([][]byte, 2)
	messages[0], _ = protoio.AppendExample(nil, map[string]any{"id": 1, "tokens": []int64{5, 6, 7}})
	messages[1], _ = protoio.AppendExample(nil, map[string]any{"id": 2, "tokens": []int64{8}})
	columns, err := protoio.ParseExamples(messages, protoio.Features{
		"id":     protoio.Fixed{DType: dtype.Int64},
		"tokens": protoio.Ragged{DType: dtype.Int64},
	}, protoio.ParseOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(columns["id"])
	fmt.Println(columns["tokens"])
	// Output:
	// [1 2] int64[2]
	// [[5 6 7] [8]] int64[2, ~]
}

func FuzzParseExamples(f *testing.F) {
	f.Add(example(entry("v", ints(1, 300, -1)), entry("f", one32), entry("s", message(1, message(1, "text")))))
	f.Add(example(entry("v", loose(1, 2)), entry("p", ints(0, 2))))
	f.Add(example(message(1, "v", 2, ints(4), 2, ints(5))))
	f.Add([]byte("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	fs := protoio.Features{
		"f": protoio.Sequence{DType: dtype.Float32}, "s": protoio.VarLen{DType: dtype.String}, "d": protoio.Fixed{DType: dtype.Int64, Key: "v", Default: 1},
		"r": protoio.Ragged{DType: dtype.Int64, Key: "v", Partitions: []protoio.Partition{{RowSplits: "p"}}},
		"i": protoio.Ragged{DType: dtype.Int64, Key: "v", Partitions: []protoio.Partition{{ValueRowIDs: "v"}}},
	}
	plain := protoio.Features{"v": protoio.Ragged{DType: dtype.Int64}}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 512 {
			return
		}
		for _, want := range []protoio.Features{fs, plain} {
			_, err := protoio.ParseExamples([][]byte{b, example(), b}, want, protoio.ParseOptions{MaxPadded: 1 << 16})
			if err != nil && !errors.As(err, new(*tenon.Error)) {
				t.Fatal(err)
			}
			_, err = protoio.ParseSequenceExamples([][]byte{b, b}, plain, plain, protoio.ParseOptions{})
			if err != nil && !errors.As(err, new(*tenon.Error)) {
				t.Fatal(err)
			}
		}
		if _, err := protoio.InferFeatures([][]byte{b}); err != nil && !errors.As(err, new(*tenon.Error)) {
			t.Fatal(err)
		}
	})
}
