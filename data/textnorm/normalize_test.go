package textnorm

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

func TestNormalize(t *testing.T) {
	x := tensor.Of([]string{"e\u0301", "\u00e9", "\ufb01", "", "plain", "\xff"}, 2, 3)
	for f, want := range map[Form][]string{
		NFC:  {"\u00e9", "\u00e9", "\ufb01", "", "plain", "\xff"},
		NFD:  {"e\u0301", "e\u0301", "\ufb01", "", "plain", "\xff"},
		NFKC: {"\u00e9", "\u00e9", "fi", "", "plain", "\xff"},
		NFKD: {"e\u0301", "e\u0301", "fi", "", "plain", "\xff"},
	} {
		y := Normalize(x, f)
		if got := tensor.Data[string](y); !cmp.Equal(got, want) || !y.Shape().Equal(x.Shape()) {
			t.Errorf("%s: %q, want %q", f, got, want)
		}
	}
}

// More strings than one worker takes at a time keep their order.
func TestNormalizeMany(t *testing.T) {
	in, want := make([]string, 3*chunk+5), make([]string, 3*chunk+5)
	for i := range in {
		in[i], want[i] = strings.Repeat("e\u0301", i%7), strings.Repeat("\u00e9", i%7)
	}
	if got := tensor.Data[string](Normalize(in, NFC)); !cmp.Equal(got, want) {
		t.Error("the strings differ")
	}
}

func TestNothingToDo(t *testing.T) {
	x := tensor.Of([]string{"plain", "text"})
	if Normalize(x, NFKC) != x {
		t.Error("normal strings were copied")
	}
}

func TestErrors(t *testing.T) {
	if _, err := tenon.Try(func() any { return Normalize([]int{1}, NFC) }); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("integers: %v", err)
	}
	if _, err := tenon.Try(func() any { return Normalize([]string{"a"}, "nfc") }); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("an unknown form: %v", err)
	}
}
