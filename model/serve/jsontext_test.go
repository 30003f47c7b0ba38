package serve

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// plainJSON returns a value with its lists taken apart, as encoding/json does with numbers as texts.
func plainJSON(x any) any {
	switch x := x.(type) {
	case number:
		return json.Number(x)
	case *list:
		out := []any{}
		for _, e := range x.all() {
			out = append(out, plainJSON(e))
		}
		return out
	case *object:
		out := map[string]any{}
		for i, n := range x.names {
			out[n] = plainJSON(x.values[i])
		}
		return out
	}
	return x
}

// FuzzJSON compares what is read with encoding/json: the same values, and nothing that it refuses. It takes more
// than we do: members that stand twice, halves of surrogate pairs, text that is not UTF-8.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{`{"a":[1,2.5e3,-0,[],[[]],{}],"b":"x\"]}\\","c":null}`, " [ 1 , \"a,b\" , [ true , false ] , { \"k\" : [ ] } ] ", `["]",["[\""],-1]`,
		`[-1E+2, {"a":"\ud83d\ude00","":[null]}]`, `[[[[[[1],2],3],4],5],6]`, `"\\"`, `[1,]`, `[,1]`, `{"a":1,"a":2}`, `01`, `[NaN,-Infinity]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, err := parseJSON([]byte(text), 50, false)
		var want any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if wrong := d.Decode(&want); err == nil && wrong != nil {
			t.Fatalf("%q is taken, and encoding/json says %v", text, wrong)
		}
		if err != nil {
			if strings.Contains(err.Error(), "no value") && json.Valid([]byte(text)) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if got := plainJSON(x); !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	})
}

func TestNumbersThatAreNotFinite(t *testing.T) {
	x, err := parseJSON([]byte(`{"x":[NaN,-Infinity,Infinity,[-Infinity,"NaN"],-1]}`), 10, true)
	if err != nil {
		t.Fatal(err)
	}
	v, _ := x.(*object).get("x")
	want := []any{json.Number("NaN"), json.Number("-Infinity"), json.Number("Infinity"), []any{json.Number("-Infinity"), "NaN"}, json.Number("-1")}
	if got := plainJSON(v); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if _, err := parseJSON([]byte(`[NaN]`), 10, false); err == nil {
		t.Error("NaN is taken in strict JSON")
	}
}
