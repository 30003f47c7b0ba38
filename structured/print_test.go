package structured_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/structured/gostruct"
	"github.com/tenonml/tenon/tensor"
)

func TestDatashape(t *testing.T) {
	o := structured.NestedOptions{Missing: structured.MissingMasked, Unions: true}
	for _, c := range []struct {
		x    any
		want string
	}{
		{rec{"a": 1, "b": "x"}, "{a: int64, b: string}"},
		{list{rec{"a": list{1.5}}, rec{"a": list{}}}, "2 * {a: var * float64}"},
		{list{list{rec{"a b": true}}, list{}}, `2 * var * {"a b": bool}`},
		{list{rec{"a": nil}, rec{"a": 2}}, "2 * {a: ?int64}"},
		{list{rec{"a": list{1, nil}}}, "1 * {a: var * ?int64}"},
		{list{rec{"a": nil}, rec{"a": list{1}}}, "2 * {a: ?var * int64}"},
		{list{rec{"a": nil}, rec{"a": rec{"b": list{rec{"c": 1}}}}}, "2 * {a: ?{b: var * {c: int64}}}"},
		{list{rec{"a": "x"}, rec{"a": 2}}, "2 * {a: union[string, int64]}"},
		{list{}, ""},
	} {
		v, err := structured.FromNested(c.x, o)
		if err != nil {
			t.Fatal(err)
		}
		if c.want == "" {
			c.want = "0 * float64"
		}
		if got := structured.Datashape(v.Spec()); got != c.want {
			t.Errorf("%v: got %s, want %s", c.x, got, c.want)
		}
	}
	s := structOf(t, tensor.Of([]int64{0, 1, 2, 3, 4, 5}, 2, 3))
	if got, want := s.Spec().(*structured.Spec).Datashape(), "2 * 3 * {id: int64, list: var * int64, name: string, pair: var * int64, pos: {opt: ?string, x: float64}, sub: var * {y: int64}}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestPrintLong(t *testing.T) {
	b := tenon.Must(gostruct.NewBuilder[struct {
		ID   int
		Text string
		Long []int
	}]())
	for i := range 1000 {
		tenon.Throw(b.Append(struct {
			ID   int
			Text string
			Long []int
		}{i, strings.Repeat("x", i), make([]int, i)}))
	}
	got := tenon.Must(b.Build()).String()
	want := `1000 * {ID: int64, Text: string, Long: var * int64}
     ID     Text                                      Long
     int64  string                                    var * int64
0    0      ""                                        []
1    1      "x"                                       [0]
2    2      "xx"                                      [0, 0]
3    3      "xxx"                                     [0, 0, 0]
4    4      "xxxx"                                    [0, 0, 0, 0]
…    …      …                                         …
995  995    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…  [0, 0, 0, 0, 0, 0, 0, 0, …]
996  996    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…  [0, 0, 0, 0, 0, 0, 0, 0, …]
997  997    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…  [0, 0, 0, 0, 0, 0, 0, 0, …]
998  998    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…  [0, 0, 0, 0, 0, 0, 0, 0, …]
999  999    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…  [0, 0, 0, 0, 0, 0, 0, 0, …]`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPrintEveryKind(t *testing.T) {
	for kind, n := range numbers(t) {
		s := structOf(t, n)
		if text := s.String(); !strings.HasPrefix(text, s.Spec().(*structured.Spec).Datashape()+"\n") || !strings.Contains(text, "and ") && strings.Contains(text, "!") {
			t.Errorf("%s: got %s", kind, text)
		}
	}
	wide := rec{}
	for i := range 30 {
		wide[fmt.Sprintf("field%02d", i)] = i
	}
	text := nested(t, list{wide}).String()
	if !strings.Contains(text, "\nand field") || !strings.HasSuffix(text, "field28, field29") {
		t.Errorf("got %s", text)
	}
	_, err := tenon.Try(func() any {
		return function.New(func(x *structured.Tensor) tensor.Tensor {
			if text := x.String(); !strings.HasPrefix(text, "symbolic ") {
				t.Errorf("traced: got %s", text)
			}
			return ops.Sum(tenon.Must(x.Field("id")))
		}).Call(structOf(t, tensor.Of([]int64{1, 2})))
	})
	if err != nil {
		t.Error(err)
	}
}
