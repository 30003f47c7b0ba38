package source

import (
	"regexp"
	"slices"
	"testing"
)

func TestLine(t *testing.T) {
	form := regexp.MustCompile(`^source[/\\]source_test\.go:\d+$`)
	if got := Line(); !form.MatchString(got) {
		t.Errorf("got %q", got)
	}
	var inside string
	slices.SortFunc([]int{1, 2}, func(a, b int) int { inside = Line(); return a - b })
	if !form.MatchString(inside) {
		t.Errorf("called back by the standard library: %q", inside)
	}
}

func TestPlace(t *testing.T) {
	register := func() Place { return Here() }
	if got := register().String(); !regexp.MustCompile(`^source[/\\]source_test\.go:\d+$`).MatchString(got) {
		t.Errorf("got %q", got)
	}
	if got := (Place{}).String(); got != "" {
		t.Errorf("nowhere is %q", got)
	}
}
