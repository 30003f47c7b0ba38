package jsoncol

import (
	"testing"
)

func TestInference(t *testing.T) {
	masked := Options{Missing: MissingMasked}
	unions := Options{Missing: MissingMasked, Unions: true}
	for _, test := range []struct {
		name, text, schema string
		o                  Options
		want               []any
	}{
		{"integers", "1\n-2\n", "int64", Options{}, []any{int64(1), int64(-2)}},
		{"floats", "1.5\n2e3\n", "float64", Options{}, []any{1.5, 2000.0}},
		{"integers and floats", "1\n9007199254740993\n0.5", "float64", Options{}, []any{1.0, 9007199254740992.0, 0.5}},
		{"floats and integers", "0.5\n1", "float64", Options{}, []any{0.5, 1.0}},
		{"strings", `"a"` + "\n" + `""`, "string", Options{}, []any{"a", ""}},
		{"booleans", "true\nfalse", "bool", Options{}, []any{true, false}},
		{"nulls", "null\nnull", "null", masked, []any{nil, nil}},
		{"nulls first", "null\nnull\n1", "?int64", masked, []any{nil, nil, int64(1)}},
		{"nulls first, default", "null\n1", "int64", Options{Missing: MissingDefault}, []any{int64(0), int64(1)}},
		{"empty lists", "[]\n[]", "var * null", Options{}, []any{[]any{}, []any{}}},
		{"empty lists first", "[]\n[[]]\n[[1],[]]", "var * var * int64", Options{}, []any{[]any{}, []any{[]any{}}, []any{[]any{int64(1)}, []any{}}}},
		{"empty objects", "{}\n{}", "{}", Options{}, []any{object{}, object{}}},
		{"first appearance", `{"b":1,"a":2}` + "\n" + `{"a":3,"c":4,"b":5}`, "{b: int64, a: int64, c: ?int64}", masked,
			[]any{object{"a": int64(2), "b": int64(1)}, object{"a": int64(3), "c": int64(4), "b": int64(5)}}},
		{"names", `{"a b":1,"é":2,"":3,"\"":4,"x-1":5}`, `{"a b": int64, "é": int64, "": int64, "\"": int64, x-1: int64}`, Options{},
			[]any{object{"a b": int64(1), "é": int64(2), "": int64(3), `"`: int64(4), "x-1": int64(5)}}},
		{"later fields deep down", `{"a":[{"x":1}]}` + "\n" + `{"a":[{"y":[true]},{"x":1.5,"y":[]}]}`, "{a: var * {x: ?float64, y: ?var * bool}}", masked,
			[]any{object{"a": []any{object{"x": 1.0}}}, object{"a": []any{object{"y": []any{true}}, object{"x": 1.5, "y": []any{}}}}}},
		{"union", "1\n\"a\"\n2.5\nnull\n[1]\n{\"a\":1}\ntrue\n[\"x\"]", "?union[float64, string, var * union[int64, string], {a: int64}, bool]", unions,
			[]any{1.0, "a", 2.5, nil, []any{int64(1)}, object{"a": int64(1)}, true, []any{"x"}}},
		{"union of a column with gaps", `{"a":{"b":[1]}}` + "\n{}\n" + `{"a":{"b":[2,3]}}` + "\n" + `{"a":null}` + "\n" + `{"a":7}`, "{a: ?union[{b: var * int64}, int64]}", unions,
			[]any{object{"a": object{"b": []any{int64(1)}}}, object{}, object{"a": object{"b": []any{int64(2), int64(3)}}}, object{}, object{"a": int64(7)}}},
		{"union in a union", "1\n[1]\n[\"a\",[null]]", "union[int64, var * union[int64, string, var * null]]", unions,
			[]any{int64(1), []any{int64(1)}, []any{"a", []any{nil}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, size := range []int{1, 0} {
				o := test.o
				o.ChunkSize = size
				table := wantRows(t, test.text, o, test.want...)
				if got := table.Schema.String(); got != test.schema {
					t.Errorf("chunks of %d: schema %s, want %s", size, got, test.schema)
				}
			}
		})
	}
}

func TestInferenceConflict(t *testing.T) {
	for _, test := range []struct {
		text, path   string
		line, column int64
	}{
		{"1\n\"a\"", "", 2, 1},
		{`{"a":1}` + "\n" + `{"a":[1]}`, "a", 2, 6},
		{`{"a":[1,"x"]}`, "a[1]", 1, 9},
		{`{"a":[{"b":{}}]}` + "\n" + `{"a":[{"b":{}},{"b":true}]}`, "a[1].b", 2, 21},
		{"[]\n[1]\n[[]]", "[0]", 3, 2},
	} {
		for _, size := range []int{1, 0} {
			e := wantError(t, test.text, Options{ChunkSize: size})
			if e.Code != TypeMismatch || e.Path != test.path || e.Line != test.line || e.Column != test.column {
				t.Errorf("%q: %v: code %d, want path %q at %d:%d", test.text, e, e.Code, test.path, test.line, test.column)
			}
		}
	}
}

// A schema may say some of the type and leave the rest to the data.
func TestPartialSchema(t *testing.T) {
	schema := NewStruct(named("a", float64s), named("rest", &Schema{}), named("l", NewList(&Schema{})))
	table := wantRows(t, `{"a":1,"rest":{"x":[1]},"l":[]}`+"\n"+`{"a":2,"rest":{"x":[2.5]},"l":["s"]}`, Options{Schema: schema},
		object{"a": 1.0, "rest": object{"x": []any{1.0}}, "l": []any{}}, object{"a": 2.0, "rest": object{"x": []any{2.5}}, "l": []any{"s"}})
	if got, want := table.Schema.String(), "{a: float64, rest: {x: var * float64}, l: var * string}"; got != want {
		t.Errorf("schema %s, want %s", got, want)
	}
	if e := wantError(t, `{"a":"x","rest":1,"l":[]}`, Options{Schema: schema}); e.Code != TypeMismatch || e.Path != "a" {
		t.Errorf("%v", e)
	}
	if schema.Fields[1].Schema.Kind != Null {
		t.Error("the schema given was changed")
	}
}

// A union that is given takes what it lists and nothing else.
func TestGivenUnion(t *testing.T) {
	schema := &Schema{Kind: Union, Fields: []SchemaField{named("", texts), named("", NewList(int64s))}}
	table := wantRows(t, `"a"`+"\n[1,2]\n[]\n\"b\"", Options{Schema: schema}, "a", []any{int64(1), int64(2)}, []any{}, "b")
	if names := []string{table.Column.Fields[0].Name, table.Column.Fields[1].Name}; names[0] != "string" || names[1] != "array" {
		t.Errorf("alternatives are called %q", names)
	}
	if e := wantError(t, "1", Options{Schema: schema}); e.Code != TypeMismatch || e.Detail != "expected string or array, found 1" {
		t.Errorf("%v", e)
	}
	if e := wantError(t, `["a"]`, Options{Schema: schema}); e.Code != TypeMismatch || e.Path != "[0]" {
		t.Errorf("%v", e)
	}
}
