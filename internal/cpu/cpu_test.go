package cpu

import (
	"slices"
	"testing"
)

// of returns families of one architecture, of which some are offered.
func of(offered ...string) []*Family {
	list := []*Family{Generic}
	for i, name := range []string{"narrow", "wide", "wider"} {
		list = append(list, &Family{name, i + 1, slices.Contains(offered, name)})
	}
	return list
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		offered []string
		asked   string
		want    string
	}{
		{[]string{"narrow", "wide", "wider"}, "", "wider"},
		{[]string{"narrow", "wide", "wider"}, "narrow", "narrow"},
		{[]string{"narrow", "wide", "wider"}, " Wide ", "wide"},
		{[]string{"narrow", "wide", "wider"}, "generic", "generic"},
		{[]string{"narrow", "wider"}, "wide", "narrow"},
		{[]string{"narrow"}, "wider", "narrow"},
		{nil, "wide", "generic"},
		{[]string{"narrow"}, "another", "narrow"},
	} {
		if got := choose(of(c.offered...), c.asked); got.String() != c.want {
			t.Errorf("of %v, %q gives %v, want %v", c.offered, c.asked, got, c.want)
		}
	}
}

func TestActiveIsOffered(t *testing.T) {
	if !Active().offered || !slices.Contains(known, Active()) {
		t.Errorf("%v is active and not offered", Active())
	}
}

func TestTable(t *testing.T) {
	defer func(f *Family) { active = f }(active)
	families := of("narrow", "wide")
	narrow, wide, wider := families[1], families[2], families[3]
	for _, c := range []struct {
		active *Family
		add    []*Family
		want   string
		each   []string
	}{
		{wide, []*Family{wide, narrow}, "wide", []string{"generic", "wide", "narrow"}},
		{wide, []*Family{narrow, wide}, "wide", []string{"generic", "narrow", "wide"}},
		{wide, []*Family{narrow, wider}, "narrow", []string{"generic", "narrow"}},
		{narrow, []*Family{wide, narrow}, "narrow", []string{"generic", "wide", "narrow"}},
		{Generic, []*Family{wide, narrow}, "generic", []string{"generic", "wide", "narrow"}},
		{wide, nil, "generic", []string{"generic"}},
	} {
		active = c.active
		table := NewTable("generic")
		for _, f := range c.add {
			table.Add(f, f.String())
		}
		if got := *table.Now(); got != c.want {
			t.Errorf("with %v of %v: %s, want %s", c.active, c.add, got, c.want)
		}
		var each []string
		for f, k := range table.Each() {
			if each = append(each, *table.Now()); *k != f.String() || *table.Now() != *k {
				t.Errorf("at %v there is %s", f, *k)
			}
		}
		if !slices.Equal(each, c.each) || *table.Now() != c.want {
			t.Errorf("each of %v is %v, want %v, and afterwards %s", c.add, each, c.each, *table.Now())
		}
		for range table.Each() {
			break
		}
		if *table.Now() != c.want {
			t.Errorf("after a break: %s", *table.Now())
		}
	}
}
