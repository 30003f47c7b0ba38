package dimtext

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTexts(t *testing.T) {
	keys := Operand{"left", []Dim{{"KeySeq", 8}, {"KqRep", 3}}, "head.go:18 Rename SeqLen→KeySeq"}
	other := Operand{"right", []Dim{{"Foo", 3}, {"ValueRep", 4}}, "weights.go:9"}
	tests := []struct {
		name      string
		msg, hint string
		text      func() (string, string)
	}{
		{"missing", `right operand has no KqRep
  left   {KeySeq:8 KqRep:3}  from head.go:18 Rename SeqLen→KeySeq
  right  {Foo:3 ValueRep:4}  from weights.go:9`,
			"shared: none. Foo has the same size as KqRep: did you mean named.Rename[Foo, KqRep](right)?",
			func() (string, string) { return Missing("KqRep", 1, keys, other) }},
		{"missing in one", "the tensor has no KqRepp\n  tensor  {KeySeq:8 KqRep:3}", "did you mean KqRep?",
			func() (string, string) { return Missing("KqRepp", 0, Operand{"tensor", keys.Dims, ""}) }},
		{"without sizes", "left operand has no ValueRep\n  left   {KqRep Seq}\n  right  {Seq ValueRep}", "shared: Seq.",
			func() (string, string) {
				return Missing("ValueRep", 0, Operand{"left", []Dim{{"KqRep", Absent}, {"Seq", Absent}}, ""}, Operand{"right", []Dim{{"Seq", Absent}, {"ValueRep", Absent}}, ""})
			}},
		{"sizes", "K has the sizes 2 and 3\n  left   {K:2}\n  right  {K:3 T~ N:?}", "",
			func() (string, string) {
				return SizesDiffer("K", Operand{"left", []Dim{{"K", 2}}, ""}, Operand{"right", []Dim{{"K", 3}, {"T", Ragged}, {"N", Open}}, ""})
			}},
		{"a slip of the pen", "neither operand has all names: left lacks {Token}, right lacks {Tokens}\n  left   {Tokens:3}\n  right  {Token:3}",
			"Tokens and Token have the same size: did you mean named.Rename[Token, Tokens](right)?",
			func() (string, string) {
				return NoSubset(Operand{"left", []Dim{{"Tokens", 3}}, ""}, Operand{"right", []Dim{{"Token", 3}}, ""})
			}},
		{"schema", "the schema is {Seq Rep}: missing {Rep}, extra {Kq}\n  tensor  {Seq:2 Kq:3}", "did you mean named.Rename[Kq, Rep](tensor)?",
			func() (string, string) {
				return Schema([]Dim{{"Seq", Absent}, {"Rep", Absent}}, Operand{"tensor", []Dim{{"Seq", 2}, {"Kq", 3}}, ""})
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			msg, hint := tt.text()
			if d := cmp.Diff(tt.msg, msg); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tt.hint, hint); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "ab", 2}, {"token", "tokens", 1}, {"kitten", "sitting", 3}, {"seq", "qes", 2}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
