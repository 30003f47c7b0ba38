package structured_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

const odd = 1<<53 + 1 // no float64

func table(name string, v tensor.Tensor, ids ...int) *structured.Tensor {
	return tenon.Must(structured.FromFieldsAndRank([]structured.Field{{Name: name, Value: v}, {Name: "id", Value: tensor.Vector(ids)}}, 1, structured.Options{}))
}

func TestIntegersMeetFloatsByTheirExactValues(t *testing.T) {
	ints := table("n", tensor.Of([]int64{odd, 1 << 53, 3, math.MaxInt64, 0}), 0, 1, 2, 3, 4)
	floats := table("x", tensor.Of([]float64{1 << 53, 3, 3.5, 1 << 63, math.NaN(), math.Copysign(0, -1)}), 10, 11, 12, 13, 14, 15)
	o := structured.JoinOptions{LeftOn: []string{"n"}, RightOn: []string{"x"}, Suffix: "2"}
	same(t, "integers on the left", sprint(plain(t, ints.Join(floats, o).Select("id", "id2"))), "[map[id:1 id2:10] map[id:2 id2:11] map[id:4 id2:15]]")
	o.LeftOn, o.RightOn = o.RightOn, o.LeftOn
	same(t, "floats on the left", sprint(plain(t, floats.Join(ints, o).Select("id", "id2"))), "[map[id:10 id2:1] map[id:11 id2:2] map[id:15 id2:4]]")
	u := table("n", tensor.Of([]uint64{math.MaxUint64, 1 << 63}), 0, 1)
	same(t, "without a sign", sprint(plain(t, u.Join(floats, structured.JoinOptions{LeftOn: []string{"n"}, RightOn: []string{"x"}, Suffix: "2"}).Select("id", "id2"))), "[map[id:1 id2:13]]")

	// Conditions.
	both := tenon.Must(structured.FromFieldsAndRank([]structured.Field{
		{Name: "n", Value: tensor.Of([]int64{odd, odd - 1, 2, 3, math.MaxInt64, math.MinInt64, -2})},
		{Name: "x", Value: tensor.Of([]float64{odd - 1, odd - 1, 2.5, math.NaN(), 1 << 63, math.Inf(-1), -2.5})},
		{Name: "id", Value: tensor.Vector([]int{0, 1, 2, 3, 4, 5, 6})},
	}, 1, structured.Options{}))
	for cond, want := range map[string]string{
		"@.n == @.x": "[1]", "@.x == @.n": "[1]", "@.n > @.x": "[0 5 6]", "@.x < @.n": "[0 5 6]", "@.n < @.x": "[2 4]", "@.x > @.n": "[2 4]",
		"@.n >= @.x": "[0 1 5 6]", "@.n <= @.x": "[1 2 4]", "@.n > 2.5": "[0 1 3 4]", "@.n >= 9007199254740992.0 && @.n < 1e17": "[0 1]",
		"@.n > 9007199254740992.0": "[0 4]", "@.n == 9007199254740992.0": "[1]", "@.n < 1e300": "[0 1 2 3 4 5 6]", "@.n > -1e300": "[0 1 2 3 4 5 6]",
		"@.n < -2.5": "[5]", "2.5 > @.n": "[2 5 6]", "@.n != 2.0": "[0 1 3 4 5 6]",
	} {
		got, err := tenon.Try(func() any { return written(t, both.Filter(cond).Path("id")) })
		if err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %s", cond, got, err, want)
		}
	}

	_, err := structured.FromNested(list{rec{"n": 1.5}, rec{"n": odd}}, structured.NestedOptions{})
	var e *tenon.Error
	if !errors.As(err, &e) || !errors.Is(err, tenon.ErrInvalid) || e.Where != "n[1]" {
		t.Errorf("an integer that a float64 does not hold: got %v", err)
	}
	same(t, "integers that it holds", sprint(plain(t, read(t, list{rec{"n": 1.5}, rec{"n": 1 << 53}}, structured.NestedOptions{}))), "[map[n:1.5] map[n:9.007199254740992e+15]]")
}

func TestSumsOfSmallIntegersAreWide(t *testing.T) {
	for _, c := range []struct {
		v    tensor.Tensor
		want dtype.DType
	}{
		{tensor.Of([]int8{100, 100}), dtype.Int64}, {tensor.Of([]int32{100, 100}), dtype.Int64},
		{tensor.Of([]uint8{100, 100}), dtype.Uint64}, {tensor.Of([]float32{100, 100}), dtype.Float32}, {tensor.Of([]int64{100, 100}), dtype.Int64},
	} {
		s := table("n", c.v, 1, 1)
		sum := s.GroupBy("id").Aggregate(structured.Sum("n")).Path("n")
		run := s.GroupBy("id").Window(structured.Running("n").As("r")).Path("r")
		same(t, c.v.DType().String(), []any{written(t, sum), written(t, run), sum.DType(), run.DType()}, []any{"[200]", "[100 200]", c.want, c.want})
	}
}

func TestUnionsInQueries(t *testing.T) {
	s := read(t, list{
		rec{"k": 0, "v": 2}, rec{"k": 1, "v": "b"}, rec{"k": 2, "v": nil}, rec{"k": 3, "v": list{1, 2}}, rec{"k": 4, "v": "a"},
		rec{"k": 5, "v": 1}, rec{"k": 6, "v": list{}}, rec{"k": 7, "v": 2}, rec{"k": 8, "v": rec{"x": 5}},
	}, structured.NestedOptions{Unions: true, Missing: structured.MissingMasked})
	for cond, want := range map[string]string{
		"@.v == 2":               "[0 7]",
		"@.v > 1":                "[0 7]",
		"@.v >= 'a'":             "[1 4]",
		"@.v != 2":               "[1 2 3 4 5 6 8]",
		"@.v == null":            "[2]",
		"@.v == @.v":             "[0 1 2 4 5 7]",
		"match(@.v, '[b-z]')":    "[1]",
		"any(@.v[*] == 2)":       "[3]",
		"@.v.x == 5":             "[8]",
		"@.v == @.k || @.v == 1": "[5]",
	} {
		same(t, cond, written(t, s.Filter(cond).Path("k")), want)
	}
	same(t, "the values of lists", written(t, s.Path("v[*]")), "[<nil> <nil> <nil> [1 2] <nil> <nil> [] <nil> <nil>]")
	g := s.GroupBy("v")
	same(t, "groups", written(t, g.Aggregate(structured.List("k")).Path("k")), "[[0 7] [1] [2] [3] [4] [5] [6] [8]]")
	same(t, "sorted groups", written(t, g.Sorted().Aggregate(structured.List("k")).Path("k")), "[[5] [0 7] [4] [1] [3] [6] [8] [2]]")
	up := tenon.Must(s.Sort(0, structured.By{Path: []string{"v"}}))
	same(t, "sorted", written(t, up.Path("k")), "[5 0 7 4 1 3 6 8 2]")
	down := tenon.Must(s.Sort(0, structured.By{Path: []string{"v"}, Descending: true}))
	same(t, "descending", written(t, down.Path("k")), "[8 3 6 1 4 0 7 5 2]")
	w := read(t, list{rec{"k": 0, "w": list{1, "a"}}, rec{"k": 1, "w": list{}}, rec{"k": 2, "w": list{"b"}}}, structured.NestedOptions{Unions: true})
	same(t, "flattened", sprint(plain(t, w.Flatten(structured.DropEmpty, "w"))), "[map[k:0 w:1] map[k:0 w:a] map[k:2 w:b]]")
	same(t, "any of a list", written(t, w.Filter("any(@.w == 'b')").Path("k")), "[2]")
	_, err := tenon.Try(func() any { return s.Join(s, structured.JoinOptions{On: []string{"v"}, Suffix: "2"}) })
	if !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "cannot be a key") {
		t.Errorf("a join by a union: got %v", err)
	}
}

func TestNestedDataOfGoTypes(t *testing.T) {
	type point struct {
		X    int32 `json:"x"`
		Tags []string
		skip int
	}
	type named string
	for what, c := range map[string]struct {
		x    any
		want string
	}{
		"[]int":            {map[string][]int{"a": {1, 2}}, "map[a:[1 2]]"},
		"map":              {map[named]int{"a": 1}, "map[a:1]"},
		"map of numbers":   {rec{"a": map[int]int{2: 1, 1: 2}}, "map[a:[map[key:1 value:2] map[key:2 value:1]]]"},
		"records":          {[]map[string]any{{"a": []float64{1.5}}, {"a": []float64{}}}, "[map[a:[1.5]] map[a:[]]]"},
		"structs":          {list{point{1, []string{"p"}, 3}, &point{X: 2}}, "[map[Tags:[p] x:1] map[Tags:[] x:2]]"},
		"arrays and names": {rec{"a": [2][]named{{"p"}, {}}}, "map[a:[[p] []]]"},
		"mixed":            {list{rec{"a": 1, "b": []int{1}}, rec{"a": 2, "b": list{2}}}, "[map[a:1 b:[1]] map[a:2 b:[2]]]"},
	} {
		v, err := structured.FromNested(c.x, structured.NestedOptions{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		same(t, what, sprint(plain(t, v)), c.want)
	}
	if _, err := structured.FromNested(map[[2]int]int{{1}: 2}, structured.NestedOptions{}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("keys that are arrays: got %v", err)
	}
}

func TestScalarsForAllRecords(t *testing.T) {
	s := read(t, list{rec{"r": rec{"a": 1}, "l": list{rec{"b": 1}}}, rec{"r": rec{"a": 2}, "l": list{}}}, structured.NestedOptions{})
	same(t, "with", plain(t, s.With("one", 1).With("l.s", "x")), list{
		rec{"r": rec{"a": int64(1)}, "l": list{rec{"b": int64(1), "s": "x"}}, "one": int64(1)},
		rec{"r": rec{"a": int64(2)}, "l": list{}, "one": int64(1)},
	})
}

func TestErrorsOfAggregationsNameTheLineOfTheCall(t *testing.T) {
	s := read(t, list{rec{"k": 1, "s": "x"}}, structured.NestedOptions{})
	_, err := tenon.Try(func() any { return s.GroupBy("k").Aggregate(structured.Sum("s")) })
	var e *tenon.Error
	if !errors.As(err, &e) || !strings.Contains(e.Line, "numbers_test.go") {
		t.Errorf("got %+v", err)
	}
}
