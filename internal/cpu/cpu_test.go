package cpu

import "testing"

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		offered Level
		asked   string
		want    Level
	}{
		{AVX512, "", AVX512},
		{AVX512, "avx2", AVX2},
		{AVX512, " AVX2 ", AVX2},
		{AVX512, "generic", Generic},
		{AVX2, "avx512", AVX2},
		{Generic, "avx512", Generic},
		{AVX2, "sse", AVX2},
	} {
		if got := choose(c.offered, c.asked); got != c.want {
			t.Errorf("choose(%v, %q) = %v, want %v", c.offered, c.asked, got, c.want)
		}
	}
}

func TestLevelStringParses(t *testing.T) {
	for _, l := range []Level{Generic, AVX2, AVX512} {
		if got, ok := parse(l.String()); !ok || got != l {
			t.Errorf("parse(%q) = %v, %v", l.String(), got, ok)
		}
	}
}

func TestActiveIsOffered(t *testing.T) {
	if Active() > Offered() {
		t.Errorf("active level %v is above the offered level %v", Active(), Offered())
	}
}
