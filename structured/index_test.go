package structured_test

import (
	"errors"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func TestIndex(t *testing.T) {
	s := read(t, list{
		rec{"id": 1, "jets": list{rec{"pt": 1.5, "hits": list{1, 2}}, rec{"pt": 2.5, "hits": list{3}}}, "best": rec{"name": "x", "of": list{7}}},
		rec{"id": 2, "jets": list{}, "best": nil},
		rec{"id": 3, "jets": list{rec{"pt": 3.5, "hits": list{}}}, "best": rec{"name": "z", "of": list{}}},
	}, structured.NestedOptions{Missing: structured.MissingMasked})
	rows := plain(t, s).(list)
	for _, c := range []struct {
		name string
		keys []any
		want any
	}{
		{"a record", []any{0}, rows[0]},
		{"from the end", []any{-2}, rows[1]},
		{"a range", []any{key.Range(2, nil, -2)}, list{rows[2], rows[0]}},
		{"integers", []any{[]int{2, 2, 0}}, list{rows[2], rows[2], rows[0]}},
		{"truth values", []any{[]bool{true, false, true}}, list{rows[0], rows[2]}},
		{"a field of one", []any{0, "id"}, int64(1)},
		{"a field of all", []any{key.All, "id"}, list{int64(1), int64(2), int64(3)}},
		{"a field of some", []any{[]int{2, 0}, "id"}, list{int64(3), int64(1)}},
		{"a path", []any{0, "jets", key.All, "pt"}, list{1.5, 2.5}},
		{"a path through all", []any{key.All, "jets", key.All, "pt"}, list{list{1.5, 2.5}, list{}, list{3.5}}},
		{"an element on the way", []any{0, "jets", 1, "hits", 0}, int64(3)},
		{"ranges on the way", []any{key.From(1), "jets", key.To(1), "pt"}, list{list{}, list{3.5}}},
		{"the last of a list", []any{0, "jets", -1, "pt"}, 2.5},
		{"what may be missing", []any{0, "best", "name"}, "x"},
		{"what is missing", []any{1, "best", "name"}, nil},
		{"what may be missing of all", []any{key.All, "best", "name"}, list{"x", nil, "z"}},
		{"lists of what may be missing", []any{0, "best", "of", 0}, int64(7)},
	} {
		v, err := s.Index(c.keys...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		same(t, c.name, nestedAny(t, v), c.want)
		if _, slice := c.keys[0].([]int); !slice && c.name != "truth values" {
			same(t, c.name+", by ops.Index", nestedAny(t, ops.Index(s, c.keys...)), c.want)
		}
	}
	same(t, "At", nestedAny(t, s.At(0, "jets", key.All, "pt")), list{1.5, 2.5})
	one := s.At(0).(*structured.Tensor)
	same(t, "of a record", nestedAny(t, one.At("jets", 1, "pt")), 2.5)
	same(t, "no fields", nestedAny(t, nested(t, list{rec{}, rec{}, rec{}}).At(key.From(1))), list{rec{}, rec{}})
	lists := read(t, list{rec{"l": list{1, 2, 3}}, rec{"l": nil}, rec{"l": list{}}}, structured.NestedOptions{Missing: structured.MissingMasked})
	same(t, "parts of lists that may be missing", nestedAny(t, lists.At(key.All, "l", key.From(1))), list{list{int64(2), int64(3)}, nil, list{}})
	same(t, "a list that is missing", nestedAny(t, lists.At(1, "l")), nil)
	same(t, "a list that is empty", nestedAny(t, lists.At(2, "l", key.To(1))), list{})
	for _, c := range []struct {
		keys []any
		kind error
	}{
		{[]any{3}, tenon.ErrRange},
		{[]any{"id"}, tenon.ErrDType},
		{[]any{0, "nothing"}, tenon.ErrNotFound},
		{[]any{0, 0}, tenon.ErrInvalid},
		{[]any{key.Ellipsis}, tenon.ErrInvalid},
		{[]any{[]bool{true}}, nil},
		{[]any{0, "jets", "pt"}, nil},
	} {
		if _, err := s.Index(c.keys...); err == nil || c.kind != nil && !errors.Is(err, c.kind) {
			t.Errorf("%v: got %v, want %v", c.keys, err, c.kind)
		}
	}
}

// nestedAny is nestedOf for values of which some may be missing.
func nestedAny(t *testing.T, v tensor.Tensor) any {
	t.Helper()
	if _, ok := v.(*masked.Tensor); !ok {
		return nestedOf(t, v)
	}
	s, err := structured.FromFields([]structured.Field{{Name: "v", Value: v}}, shape.Of(), structured.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return plain(t, s).(rec)["v"]
}
