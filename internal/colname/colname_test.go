package colname_test

import (
	"slices"
	"testing"

	"github.com/tenonml/tenon/internal/colname"
)

func TestFilled(t *testing.T) {
	for _, c := range []struct{ in, want []string }{
		{nil, nil},
		{[]string{"a", "b"}, []string{"a", "b"}},
		{[]string{"a", "", "b", ""}, []string{"a", "column1", "b", "column3"}},
		{[]string{"a", "a", "a"}, []string{"a", "a_1", "a_2"}},
		{[]string{"a", "a", "a_1", "a"}, []string{"a", "a_2", "a_1", "a_3"}},
		{[]string{"", "column0", ""}, []string{"column0", "column0_1", "column2"}},
	} {
		if got := colname.Filled(c.in); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
	if got := colname.Unique([]string{"", "a", ""}); !slices.Equal(got, []string{"", "a", "_1"}) {
		t.Errorf("got %q", got)
	}
}
