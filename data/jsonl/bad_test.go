package jsonl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// Each fault is an error with its place.
func TestFaults(t *testing.T) {
	ints := must(structured.NewSpec(shape.OfRank(1), []tenon.Field{{Name: "a", Spec: tensor.NewSpec(dtype.Int64, shape.OfRank(1))}}))
	good := "{\"a\":1}\n" // 8 bytes
	for _, c := range []struct {
		name, text string
		o          jsonl.Options
		want       jsonl.Error // without the detail
		detail     string      // a part of it
	}{
		{"no JSON", good + `{"a":}`, jsonl.Options{}, jsonl.Error{Code: jsonl.Syntax, Offset: 13, Line: 2, Column: 6, Row: 1, Path: "a"}, "expected a value"},
		{"cut off", good + `{"a":2`, jsonl.Options{}, jsonl.Error{Code: jsonl.Syntax, Offset: 14, Line: 2, Column: 7, Row: 1}, "the end of the input"},
		{"mixed types", good + `{"a":"x"}`, jsonl.Options{}, jsonl.Error{Code: jsonl.TypeMismatch, Offset: 13, Line: 2, Column: 6, Row: 1, Path: "a"}, "Unions would accept both"},
		{"not the schema's", good + `{"a":1.5}`, jsonl.Options{Schema: ints}, jsonl.Error{Code: jsonl.TypeMismatch, Offset: 13, Line: 2, Column: 6, Row: 1, Path: "a"}, "expected an integer"},
		{"null", good + `{"a":null}`, jsonl.Options{}, jsonl.Error{Code: jsonl.MissingValue, Offset: 13, Line: 2, Column: 6, Row: 1, Path: "a"}, "null where"},
		{"missing", good + `{}`, jsonl.Options{Schema: ints}, jsonl.Error{Code: jsonl.MissingValue, Offset: 9, Line: 2, Column: 2, Row: 1, Path: "a"}, "no value"},
		{"twice", good + `{"a":1,"a":2}`, jsonl.Options{}, jsonl.Error{Code: jsonl.DuplicateKey, Offset: 19, Line: 2, Column: 12, Row: 1, Path: "a"}, ""},
		{"unknown", good + `{"a":1,"b":2}`, jsonl.Options{Schema: ints}, jsonl.Error{Code: jsonl.UnknownKey, Offset: 15, Line: 2, Column: 8, Row: 1}, `no field "b"`},
		{"beyond int64", good + `{"a":-9223372036854775809}`, jsonl.Options{}, jsonl.Error{Code: jsonl.OutOfRange, Offset: 13, Line: 2, Column: 6, Row: 1, Path: "a"}, "-9223372036854775809"},
		{"too deep", good + `{"a":[[[[1]]]]}`, jsonl.Options{MaxDepth: 3, Unions: true}, jsonl.Error{Code: jsonl.TooDeep, Offset: 15, Line: 2, Column: 8, Row: 1, Path: "a[0][0]"}, "3"},
		{"half a pair", good + `{"b":"\ud800"}`, jsonl.Options{Missing: structured.MissingMasked}, jsonl.Error{Code: jsonl.BadText, Offset: 14, Line: 2, Column: 7, Row: 1, Path: "b"}, ""},
		{"no UTF-8", good + "{\"b\":\"\xff\"}", jsonl.Options{Missing: structured.MissingMasked}, jsonl.Error{Code: jsonl.BadText, Offset: 14, Line: 2, Column: 7, Row: 1, Path: "b"}, "0xff"},
		{"NaN", good + `{"a":NaN}`, jsonl.Options{}, jsonl.Error{Code: jsonl.Syntax, Offset: 13, Line: 2, Column: 6, Row: 1, Path: "a"}, "NaN"},
	} {
		_, err := jsonl.Read(jsonl.Reader("in", strings.NewReader(c.text)), c.o)
		var e *jsonl.Error
		if !errors.As(err, &e) || !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("%s: got %v", c.name, err)
			continue
		}
		got := *e
		got.Detail, c.want.Source = "", "in"
		if d := cmp.Diff(c.want, got); d != "" || !strings.Contains(e.Detail, c.detail) {
			t.Errorf("%s: %v\n%s", c.name, e, d)
		}
	}
}

// What options allow is no fault.
func TestPolicies(t *testing.T) {
	for _, c := range []struct {
		name, text string
		o          jsonl.Options
		want       string
	}{
		{"last", `{"a":1,"a":2}`, jsonl.Options{Duplicates: jsonl.DuplicateLast}, `{"a":2}`},
		{"first", `{"a":1,"a":2}`, jsonl.Options{Duplicates: jsonl.DuplicateFirst}, `{"a":1}`},
		{"overflow", "{\"a\":1}\n{\"a\":1e300}\n{\"a\":36893488147419103232}", jsonl.Options{Overflow: jsonl.OverflowFloat}, "{\"a\":1.0}\n{\"a\":1e+300}\n{\"a\":36893488147419103000.0}"},
		{"promotion", "{\"a\":1}\n{\"a\":1.5}", jsonl.Options{}, "{\"a\":1.0}\n{\"a\":1.5}"},
		{"replaced", "{\"a\":\"x\xff\\ud800\"}", jsonl.Options{Unicode: jsonl.UnicodeReplace}, `{"a":"x��"}`},
		{"zeros", "{\"a\":1,\"b\":\"x\",\"c\":[1]}\n{}", jsonl.Options{Missing: structured.MissingDefault}, "{\"a\":1,\"b\":\"x\",\"c\":[1]}\n{\"a\":0,\"b\":\"\",\"c\":[]}"},
		{"empty lists", "{\"c\":[1]}\n{\"c\":null}\n{}", jsonl.Options{Missing: structured.MissingEmpty}, "{\"c\":[1]}\n{\"c\":[]}\n{\"c\":[]}"},
		{"literals", `{"a":[NaN,-Infinity,1]}`, jsonl.Options{NonFinite: true}, `{"a":[NaN,-Infinity,1.0]}`},
		{"words", "{\"a\":\"x\"}\n{\"a\":\"x\"}", jsonl.Options{Dictionaries: true}, "{\"a\":\"x\"}\n{\"a\":\"x\"}"},
	} {
		e, err := jsonl.Read(jsonl.Bytes([]byte(c.text)), c.o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var b strings.Builder
		if err := jsonl.Write(&b, e, jsonl.WriteOptions{NonFinite: jsonl.NonFiniteLiteral}); err != nil || b.String() != c.want+"\n" {
			t.Errorf("%s: got %s, want %s: %v", c.name, b.String(), c.want, err)
		}
	}
}

// A bad line is left out, counted and located; nothing else is lost.
func TestLenient(t *testing.T) {
	text := "{\"a\":1}\nnonsense\n{\"a\":\"x\"}\n{\"a\":2}\n{\"a\":3"
	var r jsonl.Report
	e := must(jsonl.Read(jsonl.Reader("in", strings.NewReader(text)), jsonl.Options{Lenient: true, MaxSkipped: 0.6, Report: &r}))
	if got := tensor.Data[int64](must(e.Field("a"))); !cmp.Equal(got, []int64{1, 2}) {
		t.Errorf("got %v", got)
	}
	var lines []int64
	for _, b := range r.Bad {
		lines = append(lines, b.Line)
	}
	if r.Rows != 2 || r.Skipped != 3 || !cmp.Equal(lines, []int64{2, 3, 5}) {
		t.Errorf("got %+v at %v", r, lines)
	}
	if _, err := jsonl.Read(jsonl.Bytes([]byte(text)), jsonl.Options{Lenient: true}); !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "3 of 5 lines") {
		t.Errorf("too many lines are left out: %v", err)
	}
	var last error
	for _, err := range jsonl.Batches(jsonl.Bytes([]byte(text)), 1, jsonl.Options{Lenient: true}) {
		last = err
	}
	if last == nil || !strings.Contains(last.Error(), "3 of 5 lines") {
		t.Errorf("too many lines are left out of batches: %v", last)
	}
	if _, err := jsonl.Read(jsonl.Bytes([]byte(text)), jsonl.Options{Lenient: true, Format: jsonl.Document}); err == nil {
		t.Error("lenient documents were read")
	}
}

func TestWriteRefuses(t *testing.T) {
	for _, c := range []struct {
		v    tensor.Tensor
		kind error
	}{
		{tensor.Of([]complex64{1}), tenon.ErrDType},
		{tensor.Of([]float64{1, inf}), tenon.ErrInvalid},
		{tensor.Of([]string{"\xff"}), tenon.ErrInvalid},
	} {
		if err := jsonl.Write(&strings.Builder{}, c.v, jsonl.WriteOptions{}); !errors.Is(err, c.kind) {
			t.Errorf("%v: got %v", c.v, err)
		}
	}
	var b strings.Builder
	if err := jsonl.Write(&b, tensor.Of([]float64{1, inf}), jsonl.WriteOptions{Array: true, NonFinite: jsonl.NonFiniteNull}); err != nil || b.String() != "[1.0,null]\n" {
		t.Errorf("got %q, %v", b.String(), err)
	}
}
