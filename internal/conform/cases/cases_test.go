package cases

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// one parses a file with one case, given its members.
func one(t *testing.T, members string) *Case {
	t.Helper()
	f, err := Parse([]byte(`{"group": "g", "reference": "none", "cases": [{"id": "c", ` + members + `}]}`))
	if err != nil {
		t.Fatalf("%s: %v", members, err)
	}
	return f.Cases[0]
}

func TestMatch(t *testing.T) {
	floats := func(text string) string {
		return `{"type": "dense", "dtype": "float32", "shape": [1], "data": [` + text + `]}`
	}
	for _, c := range []struct {
		want string
		tol  string
		got  any
		text string // of the difference; "" where there is none
	}{
		{floats("1.5"), "", tensor.Of([]float32{1.5}), ""},
		{floats("1.5"), "", tensor.Of([]float32{1.25}), "element 0 is 1.25, want 1.5"},
		{floats(`"NaN"`), "", tensor.Of([]float32{1}), "want NaN"},
		{floats("0.0"), "", tensor.Of([]float32{float32(negZero)}), ""},
		{floats("0.0"), `{"ulp": 1, "signed_zero": true}`, tensor.Of([]float32{float32(negZero)}), "element 0"},
		{floats("-0.0"), `{"ulp": 1, "signed_zero": true}`, tensor.Of([]float32{float32(negZero)}), ""},
		{floats("1.0"), `{"ulp": 1}`, tensor.Of([]float32{1.0000001}), ""},
		{floats("1.0"), `{"ulp": 1}`, tensor.Of([]float32{1.0000003}), "element 0"},
		{floats(`"Infinity"`), `{"ulp": 1}`, tensor.Of([]float32{3.4028235e38}), ""},
		{floats("100.0"), `{"rtol": 0.01, "atol": 0}`, tensor.Of([]float32{101}), ""},
		{floats("100.0"), `{"rtol": 0.001, "atol": 0.5}`, tensor.Of([]float32{101}), "element 0"},
		{floats(`"Infinity"`), `{"rtol": 1, "atol": 1}`, tensor.Of([]float32{1}), "element 0"},
		{floats("1.0"), "", tensor.Of([]float64{1}), "got dtype float64, want float32"},
		{floats("1.0"), "", tensor.Of([]float32{1}, 1, 1), "got shape [1, 1], want [1]"},
		{floats("1.0"), "", 1.0, "want a dense tensor"},
		{`{"type": "dense", "dtype": "complex64", "shape": [], "data": [[1.0, -1.0]]}`, `{"rtol": 0.1, "atol": 0}`, tensor.Scalar(complex64(1.05 - 1i)), ""},
		{`{"type": "dense", "dtype": "complex64", "shape": [], "data": [[1.0, -1.0]]}`, "", tensor.Scalar(complex64(1 + 1i)), "element 0"},
		{`{"type": "dense", "dtype": "int64", "shape": [1], "data": ["9007199254740993"]}`, `{"rtol": 1, "atol": 1}`, tensor.Of([]int64{9007199254740992}), "element 0"},
		{`{"type": "dense", "dtype": "string", "shape": [2], "data": ["é", {"b64": "/w=="}]}`, "", tensor.Of([]string{"é", "\xff"}), ""},
		{`{"type": "dense", "dtype": "float16", "shape": [1], "data": [0.1]}`, `{"ulp": 1}`, tensor.Of([]dtype.F16{dtype.F16From(0.1) + 1}), ""},
		{`{"type": "dense", "dtype": "bfloat16", "shape": [1], "data": [0.1]}`, "", tensor.Of([]dtype.BF16{dtype.BF16From(0.1)}), ""},
		{`{"type": "json", "value": {"a": [1, 2.5, null, true, "NaN"]}}`, "", map[string]any{"a": []any{1, 2.5, nil, true, nan}}, ""},
		{`{"type": "json", "value": 1}`, "", 1.0, "got the float64 1, want 1"},
		{`{"type": "json", "value": null}`, "", []int(nil), ""},
		{`{"type": "json", "value": null}`, "", 0, "want <nil>"},
		{`{"type": "list", "items": []}`, "", Tuple{}, "got a tuple, want a list"},
		{`{"type": "tuple", "items": []}`, "", []any{}, "got a list, want a tuple"},
		{`{"type": "dict", "items": {"a": ` + floats("1.0") + `}}`, "", map[string]tensor.Tensor{"a": tensor.Of([]float32{1}), "b": nil}, "got 2 keys, want 1"},
		{`{"type": "dict", "items": {"a": ` + floats("1.0") + `}}`, "", Dict{}, `key "a" is missing`},
		{`[` + floats("1.0") + `, ` + floats("2.0") + `]`, "", []tensor.Tensor{tensor.Of([]float32{1}), tensor.Of([]float32{3})}, "[1]: element 0 is 3, want 2"},
		{`[` + floats("1.0") + `]`, "", []tensor.Tensor{}, "got 0 elements, want 1"},
		{`{"type": "bytes", "b64": "AQI="}`, "", []byte{1, 2}, ""},
		{`{"type": "dtype", "dtype": "int8"}`, "", dtype.Int16, "want dtype int8"},
		{`{"type": "tensor_shape", "shape": [1, null]}`, "", shape.Of(1, -1), ""},
		{`{"type": "tensor_spec", "dtype": "int8", "shape": null, "name": "x"}`, "", tensor.NewSpec(dtype.Int8, shape.UnknownRank), "got int8[...], want x: int8[...]"},
		{`{"type": "namedtuple", "name": "N", "items": [["f", ` + floats("1.0") + `]]}`, "", Named{"N", []string{"f"}, []any{tensor.Of([]float32{1})}}, ""},
		{`{"type": "unheard_of"}`, "", 1, "not known"},
	} {
		tol := ""
		if c.tol != "" {
			tol = `, "tol": ` + c.tol
		}
		m := one(t, `"op": "test.none", "args": [], "want": `+c.want+tol)
		err := match(&Matcher{Case: m, Tol: m.Tol}, m.Want, c.got)
		if (err == nil) != (c.text == "") || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s against %v: %v, want %q", c.want, c.got, err, c.text)
		}
	}
}

var nan, negZero = func() (float64, float64) { zero := 0.0; return zero / zero, -1 / (1 / zero) }()

func TestRun(t *testing.T) {
	answer := func(v any, err error) Func { return func(*Case) (any, error) { return v, err } }
	Handle(map[string]Func{
		"test.one":      answer(1, nil),
		"test.shape":    answer(nil, tenon.NewError(tenon.ErrShape, "x", "no")),
		"test.throws":   func(*Case) (any, error) { tenon.Throw(tenon.NewError(tenon.ErrNotFound, "x", "no")); return nil, nil },
		"test.plain":    answer(nil, errors.New("plain")),
		"test.panics":   func(*Case) (any, error) { panic("oh") },
		"test.misreads": func(c *Case) (any, error) { return c.Int(0), nil },
		"test.wraps":    answer(nil, fmt.Errorf("outside: %w", tenon.NewError(tenon.ErrRange, "x", "no"))),
		"test.attrs": func(c *Case) (any, error) {
			return []any{c.AttrInt("i", 7), c.AttrInts("one"), c.AttrInts("none"), c.AttrFloat("f", 0), c.AttrStr("s", "d"), c.AttrBool("b", true), c.AttrDType("t", dtype.Bool).String(), c.AttrStrs("s")}, nil
		},
	})
	for _, c := range []struct {
		members string
		status  Status
		reason  string
	}{
		{`"op": "test.one", "args": [], "want": {"type": "json", "value": 1}`, Passed, ""},
		{`"op": "test.one", "args": [], "want": {"type": "json", "value": 2}`, Failed, "got the int 1, want 2"},
		{`"op": "test.one", "args": [], "error": {"kind": "type"}`, Failed, "got 1, want an error of kind type"},
		{`"op": "test.shape", "args": [], "error": {"kind": "invalid_argument"}`, Passed, ""},
		{`"op": "test.shape", "args": [], "error": {"kind": "type"}`, Failed, "of kind invalid_argument, want kind type"},
		{`"op": "test.throws", "args": [], "error": {"kind": "not_found"}`, Passed, ""},
		{`"op": "test.wraps", "args": [], "error": {"kind": "out_of_range"}`, Passed, ""},
		{`"op": "test.plain", "args": [], "want": null`, Failed, "plain"},
		{`"op": "test.panics", "args": [], "error": {"kind": "invalid_argument"}`, Failed, "panic: oh"},
		{`"op": "test.misreads", "args": ["a"], "error": {"kind": "invalid_argument"}`, Failed, "misread"},
		{`"op": "test.misreads", "args": [], "error": {"kind": "invalid_argument"}`, Failed, "misread"},
		{`"op": "test.one", "args": [{"type": "dense", "dtype": "float1", "shape": [], "data": [1]}], "error": {"kind": "invalid_argument"}`, Passed, ""},
		{`"op": "test.one", "args": [{"type": "unheard_of"}], "want": null`, Skipped, "not known"},
		{`"op": "test.nobody", "args": [], "want": null`, Skipped, "test.nobody is not known"},
		{`"op": "test.attrs", "args": [], "attrs": {"one": 3, "none": null, "f": "-Infinity", "s": "x", "b": false, "t": "int8"},
			"want": {"type": "json", "value": [7, [3], null, "-Infinity", "x", false, "int8", ["x"]]}`, Passed, ""},
	} {
		r := Run(one(t, c.members))
		if r.Status != c.status || !strings.Contains(r.Reason, c.reason) {
			t.Errorf("%s: %d %s, want %d %s", c.members, r.Status, r.Reason, c.status, c.reason)
		}
	}
}

func TestParse(t *testing.T) {
	for _, bad := range []string{
		`{`, `{"cases": []}`, `{"group": "g", "cases": []} x`, `{"group": "g", "cases": [{"id": "a"}]}`,
		`{"group": "g", "cases": [{"id": "a", "op": "o"}, {"id": "a", "op": "o"}]}`,
	} {
		if _, err := Parse([]byte(bad)); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
	files, err := ReadAll("../../../testdata/conformance/spec", "../../../testdata/conformance/nest.json")
	if err != nil || len(files) != 2 || files[0].Group != "nest" || len(files[0].Types) != 3 {
		t.Errorf("got %d files, %v", len(files), err)
	}
	if _, err := ReadAll("nowhere"); err == nil {
		t.Error("a folder that is not there")
	}
}
