package named_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A function that makes a slip, and what the error says.
type slip struct {
	name string
	f    func() any
	want []string // parts of the message and the hint
}

func checkSlips(t *testing.T, slips []slip) {
	t.Helper()
	for _, s := range slips {
		t.Run(s.name, func(t *testing.T) {
			out, err := tenon.Try(s.f)
			if err == nil {
				t.Fatalf("there is no error, but %v", out)
			}
			e := tenon.AsError(err)
			text := e.Op + ": " + e.Msg + "\n" + e.Hint
			for _, w := range s.want {
				if !strings.Contains(text, w) {
					t.Errorf("the error lacks %q:\n%s", w, text)
				}
			}
		})
	}
}

func TestASummedNameStandsInTwoOperands(t *testing.T) {
	weights := named.Softmax[KeySeq](wave(Seq{}.Of(5), KeySeq{}.Of(5)))
	values := wave(Seq{}.Of(5), Val{}.Of(2)) // not renamed
	checkSlips(t, []slip{
		{"values not renamed", func() any { return named.Contract[KeySeq](weights, values) }, []string{
			"named.Contract over KeySeq: KeySeq is summed over, and only left operand has it",
			"to sum what one operand has alone, use named.Sum[KeySeq](left)"}},
		{"a name of the same size", func() any { return named.Contract[KeySeq](weights, wave(Token{}.Of(5), Val{}.Of(2))) }, []string{
			"Token has the same size as KeySeq: did you mean named.Rename[Token, KeySeq](right)?"}},
		{"three operands", func() any { return named.By(KeySeq{}, Rep{}).Contract(weights, values, wave(Rep{}.Of(3))) }, []string{
			"only the operand 0 has it"}},
		{"no operand", func() any { return named.Contract[Rep](weights, values) }, []string{"left operand has no Rep"}},
		{"an explanation", func() any { return named.Explain[KeySeq](weights, values) }, []string{"only left operand has it"}},
	})
	for _, tt := range []struct {
		name string
		got  *named.Tensor
		want *named.Tensor
	}{
		{"one operand is summed", named.Contract[KeySeq](weights), named.Sum[KeySeq](weights)},
		{"a sum and a contraction", named.Contract[Seq](named.Sum[KeySeq](weights), values), named.Einsum("Seq KeySeq, Seq Val -> Val", weights, values)},
	} {
		if d := ops.Max(ops.Abs(ops.Sub(tt.got, tt.want))); tensor.Item[float64](d) > 1e-12 {
			t.Errorf("%s: got %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}

func TestASoftmaxUnderAMaskGoesOverItsKeys(t *testing.T) {
	scores := wave(Seq{}.Of(5), KeySeq{}.Of(5))
	wrong := named.CausalMask(KeySeq{}.Of(5), Seq{}.Of(5))
	masked := func(m *named.Tensor) *named.Tensor { return named.Masked(scores, m, math.Inf(-1)) }
	checkSlips(t, []slip{
		{"arguments exchanged", func() any { return named.Softmax[KeySeq](masked(wrong)) }, []string{
			"named.Softmax over KeySeq: the mask says which Seq each KeySeq attends to", "exchange its arguments, or use a softmax over Seq"}},
		{"of a window", func() any {
			return named.LogSoftmax[KeySeq](masked(named.WindowMask(KeySeq{}.Of(5), Seq{}.Of(5), 1, 1)))
		}, []string{"exchange its arguments"}},
		{"renamed on the way", func() any { return named.Softmax[Token](named.Rename[KeySeq, Token](masked(wrong))) }, []string{
			"each Token attends to"}},
		{"in attention", func() any {
			return named.Attention[KeySeq, Rep](wave(Seq{}.Of(5), Rep{}.Of(2)), wave(KeySeq{}.Of(5), Rep{}.Of(2)), wave(KeySeq{}.Of(5), Val{}.Of(2)), named.AttentionOptions{Mask: wrong})
		}, []string{"named.Attention over KeySeq", "exchange its arguments"}},
	})
	for _, m := range []*named.Tensor{named.CausalMask(Seq{}.Of(5), KeySeq{}.Of(5)), wrong} {
		over := named.Softmax[KeySeq]
		if m == wrong {
			over = named.Softmax[Seq]
		}
		if got := over(masked(m)); got.Size(KeySeq{}) != 5 {
			t.Errorf("got %v", got.Spec())
		}
	}
}

func TestAScaleHasWhatIsNormalised(t *testing.T) {
	x, scale := wave(Seq{}.Of(5), Rep{}.Of(3)), wave(Rep{}.Of(3))
	checkSlips(t, []slip{
		{"LayerNorm", func() any { return named.LayerNorm[Seq](x, scale, nil, 1e-5) }, []string{
			"named.LayerNorm over Seq: Seq is normalised, and the scale has {Rep}", "did you mean named.LayerNorm[Rep]?", "named.Mul of the result"}},
		{"its offset", func() any { return named.LayerNorm[Seq](x, nil, scale, 1e-5) }, []string{"the offset has {Rep}", "named.Add of the result"}},
		{"RMSNorm", func() any { return named.RMSNorm[Seq](x, scale, 1e-5) }, []string{"Seq is normalised"}},
		{"a part of a set", func() any { return named.By(Seq{}, Rep{}).LayerNorm(x, scale, nil, 1e-5) }, []string{"Seq is normalised"}},
	})
	for _, s := range []any{nil, scale, 2.0, named.Scalar(float32(2)), wave(Seq{}.Of(5), Rep{}.Of(3))} {
		if _, err := tenon.Try(func() *named.Tensor { return named.LayerNorm[Rep](x, s, nil, 1e-5) }); err != nil {
			t.Errorf("a scale %v: %v", s, err)
		}
	}
}

func TestNamesThatAreSpelledAlikeAreToldApart(t *testing.T) {
	type Seq struct{ named.Dim[Seq] } // another one
	own, other := wave(Rep{}.Of(2)), named.Ones(dtype.Float64, Seq{}.Of(3))
	checkSlips(t, []slip{
		{"missing", func() any { return named.Sum[Seq](seqOf(3)) }, []string{"two names that are spelled alike"}},
		{"text and type", func() any { return named.By(named.Dynamic("Rep")).Sum(own) }, []string{
			"the tensor has no Rep\n", "{github.com/tenonml/tenon/named_test.Rep:2}", "two names that are spelled alike"}},
		{"elementwise", func() any { return named.Add(seqOf(3), other) }, []string{
			"left lacks {github.com/tenonml/tenon/named_test.Seq#", "right lacks {github.com/tenonml/tenon/named_test.Seq}"}},
	})
}

// seqOf is outside of the function that has a Seq of its own.
func seqOf(n int) *named.Tensor { return named.Ones(dtype.Float64, Seq{}.Of(n)) }

func TestAListOfNoNamesHasNone(t *testing.T) {
	if got := (named.Dims{}).Names(); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
