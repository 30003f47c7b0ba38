package named_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// letters returns tensors whose names are the letters of the terms, of one size.
func letters(size int, terms ...string) []tenon.Value {
	out := make([]tenon.Value, len(terms))
	for i, term := range terms {
		var dims []named.Sized
		for _, r := range term {
			dims = append(dims, named.Dynamic(string(r)).Of(size))
		}
		out[i] = named.Mul(wave(dims...), 0.5)
	}
	return out
}

func lettersOf(s string) named.Dims {
	var names []named.Name
	for _, r := range s {
		names = append(names, named.Dynamic(string(r)))
	}
	return named.By(names...)
}

// The example of the documentation of opt_einsum with five operands: the transformation
// of the four indices of a tensor. One index after the other takes 4·10⁵ multiplications
// and as many additions, all at once 10⁸ of each product.
func TestTransformationOfFourIndices(t *testing.T) {
	operands := letters(10, "pi", "qj", "ijkl", "rk", "sl")
	over := lettersOf("ijkl")
	e := over.Explain(operands...)
	if len(e.Steps) != 4 || e.FLOPs != 8e5 || e.Naive < 2e8 {
		t.Errorf("%d steps of %.4g operations, %.4g in one loop, want 4 of 8e+05 and more than 2e+08\n%v", len(e.Steps), e.FLOPs, e.Naive, e)
	}
	for _, s := range e.Steps {
		if s.FLOPs != 2e5 || s.Product == nil {
			t.Errorf("a step of %.4g operations, want a matrix product of 2e+05", s.FLOPs)
		}
	}
	if text := e.String(); !strings.Contains(text, "\n800 kFLOP, ") {
		t.Errorf("got\n%s", text)
	}
	plain := make([]any, len(operands))
	for i, x := range operands {
		plain[i] = named.Unnamed(x, named.From(x).Dims())
	}
	want := named.Of(ops.Einsum("pi,qj,ijkl,rk,sl->pqrs", plain...), lettersOf("pqrs").Names()...)
	if err := close6(want, over.Contract(operands...)); err != nil {
		t.Error(err)
	}
}

// The order of five operands is found in well under a millisecond; where the sizes are those of
// an earlier call it is kept.
func BenchmarkOrderOfFive(b *testing.B) {
	over := lettersOf("ijkl")
	b.Run("first", func(b *testing.B) {
		for i := range b.N {
			var operands []tenon.Value // of sizes that have not been there
			for _, term := range []string{"pi", "qj", "ijkl", "rk", "sl"} {
				var dims []named.Sized
				for _, r := range term {
					size := 2
					if r == 'p' {
						size += i
					}
					dims = append(dims, named.Dynamic(string(r)).Of(size))
				}
				operands = append(operands, named.Zeros(dtype.Float32, dims...))
			}
			over.Explain(operands...)
		}
	})
	b.Run("kept", func(b *testing.B) {
		operands := letters(10, "pi", "qj", "ijkl", "rk", "sl")
		for b.Loop() {
			over.Explain(operands...)
		}
	})
}

// The example of five operands by which opt_einsum's documentation explains paths,
// bdik,acaj,ikab,ajac,ikbd without the diagonals: 80,680 operations, where one loop takes
// 238,680,000, and no intermediate result of more than 1,530 elements.
func TestPathOfFive(t *testing.T) {
	sizes := map[rune]int{'a': 10, 'b': 10, 'c': 13, 'd': 15, 'i': 17, 'j': 16, 'k': 9}
	var operands []tenon.Value
	for _, term := range []string{"bdik", "acj", "ikab", "ajc", "ikbd"} {
		var dims []named.Sized
		for _, r := range term {
			dims = append(dims, named.Dynamic(string(r)).Of(sizes[r]))
		}
		operands = append(operands, named.Mul(wave(dims...), 0.1))
	}
	over := lettersOf("abcdijk")
	e := over.Explain(operands...)
	if e.FLOPs != 80680 || e.Naive != 238680000 || len(e.Steps) != 4 {
		t.Errorf("%v of %v operations in %d steps, want 80680 of 238680000 in 4\n%v", e.FLOPs, e.Naive, len(e.Steps), e)
	}
	plain := make([]any, len(operands))
	for i, x := range operands {
		plain[i] = named.Unnamed(x, named.From(x).Dims())
	}
	if err := close6(named.Of(ops.Einsum("bdik,acj,ikab,ajc,ikbd->", plain...)), over.Contract(operands...)); err != nil {
		t.Error(err)
	}
}

// A network of five tensors, without a dimension left.
func TestOrderOfFive(t *testing.T) {
	sizes := map[rune]int{'d': 5, 'b': 9, 'f': 6, 'c': 10, 'a': 7, 'e': 8, 'g': 4}
	var operands []tenon.Value
	for _, term := range []string{"dbfa", "ed", "fg", "gac", "cbe"} {
		var dims []named.Sized
		for _, r := range term {
			dims = append(dims, named.Dynamic(string(r)).Of(sizes[r]))
		}
		operands = append(operands, wave(dims...))
	}
	over := lettersOf("dbfaegc")
	e := over.Explain(operands...)
	if len(e.Steps) != 4 || e.FLOPs > e.Naive/20 {
		t.Errorf("%v", e)
	}
	got := over.Contract(operands...)
	plain := make([]any, len(operands))
	for i, x := range operands {
		plain[i] = named.Unnamed(x, named.From(x).Dims())
	}
	ein := named.Of(ops.Einsum("dbfa,ed,fg,gac,cbe->", plain...))
	if err := close6(ein, got); err != nil {
		t.Error(err)
	}
}

// Whatever the number of operands and the way to order them, the result is that of the
// pairs in the order of the list.
func TestManyOperands(t *testing.T) {
	for n := 2; n <= 14; n++ {
		var terms []string
		sum := ""
		for i := range n {
			terms = append(terms, string(rune('a'+i))+string(rune('a'+i+1))+"z")
			if i > 0 {
				sum += string(rune('a' + i))
			}
		}
		operands := letters(2, terms...)
		over := lettersOf(sum)
		got := over.Contract(operands...)
		want := named.From(operands[0])
		for i, x := range operands[1:] {
			want = lettersOf(string(rune('a'+i+1))).Contract(want, x)
		}
		if err := close6(want, got); err != nil {
			t.Errorf("%d operands: %v", n, err)
		}
	}
}

func TestExplain(t *testing.T) {
	key := ops.RandomKey(1)
	x := named.Normal(key, dtype.Float32, 0, 1, Batch{}.Of(8), Seq{}.Of(512), Rep{}.Of(256))
	w := named.Normal(key, dtype.Float32, 0, 1, Head{}.Of(4), Rep{}.Of(256), Kq{}.Of(64))
	want := `1. {Batch:8 Seq:512 Rep:256} · {Head:4 Rep:256 Kq:64} over Rep → {Batch:8 Seq:512 Head:4 Kq:64}
   4 products of 4096×256 and 256×64, 537 MFLOP, 8.65 MB
537 MFLOP, 8.65 MB`
	if got := named.Explain[Rep](x, w).String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	chain := named.By(Rep{}, Kq{}).Explain(x, named.Zeros(dtype.Float32, Rep{}.Of(256), Kq{}.Of(64)), named.Zeros(dtype.Float32, Kq{}.Of(64), Val{}.Of(2)))
	if got := chain.String(); !strings.HasPrefix(got, "1. {Rep:256 Kq:64} · {Kq:64 Val:2} over Kq") || !strings.Contains(got, "in one loop") {
		t.Errorf("got\n%s", got)
	}
	if got := named.By().Explain(named.Scalar(1.0), named.Scalar(2.0)).String(); !strings.Contains(got, "elementwise product") {
		t.Errorf("got\n%s", got)
	}
	wantError(t, tenon.ErrNotFound, "has no Foo", func() { named.Explain[Foo](x) })
}

func TestEinsum(t *testing.T) {
	x, w := wave(Batch{}.Of(2), Seq{}.Of(3), Rep{}.Of(4)), wave(Rep{}.Of(4), Kq{}.Of(2))
	want := named.Contract[Rep](x, w)
	for _, text := range []string{
		"Batch Seq Rep, Rep Kq -> Batch Seq Kq",
		"rep seq batch, kq rep -> kq batch seq",
		named.Path(Rep{}) + " Seq Batch, Rep Kq -> Batch Kq Seq",
		"... rep, rep kq -> ... kq",
		"rep ..., ... rep kq -> kq ...", // an ellipsis may stand for nothing
		"... seq rep, rep kq -> seq ... kq",
	} {
		if err := near(want, named.Einsum(text, x, w)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if got := named.Einsum("Seq Rep Batch->Batch Seq", x).Dims().String(); got != "Batch, Seq" {
		t.Errorf("the result is stored as %s", got)
	}
	if got := named.Einsum("... rep, rep kq -> kq ...", x, w).Dims().String(); got != "Kq, Batch, Seq" {
		t.Errorf("the result is stored as %s", got)
	}
	bias := wave(Batch{}.Of(2), Kq{}.Of(2))
	if err := near(named.Mul(want, bias), named.Einsum("... rep, rep kq, ... kq -> ... kq", x, w, bias)); err != nil {
		t.Errorf("batches of two tensors: %v", err)
	}
	steps := named.Rename[Seq, Rep](named.Index[Rep](x, 0))
	steps = named.By(Rep{}).Rename(steps, named.Dynamic("time step"))
	if err := near(named.By(named.Dynamic("time step")).Sum(steps), named.Einsum("... time_step -> ...", steps)); err != nil {
		t.Error(err)
	}
	for text, words := range map[string]string{
		"... Rep, Rep Kq -> Kq":                    "the result lacks ..., which stands for {Batch, Seq}",
		"... Rep, Rep Kq -> Batch Kq":              "the result lacks ..., which stands for {Seq}",
		"..., Rep Kq -> ... Kq":                    "{Rep} of tensor 0 is under ... but is listed in another term: list it in term 0 too",
		"... Rep ..., Rep Kq -> ... Kq":            "... occurs twice in term 0",
		"... Rep, Rep Kq -> ... Kq ...":            "... occurs twice in the result",
		"Batch Seq Rep, Rep Kq":                    "no arrow",
		"Batch Seq Rep -> Batch":                   "1 terms for 2",
		"Batch Seq, Rep Kq -> Batch":               "lacks {Rep}",
		"Batch Seq Rep Rep, Rep Kq -> Batch":       "twice in term 0",
		"Batch Seq Foo, Rep Kq -> Batch":           "Foo is not a dimension",
		"Batch Seq Rep, Rep Kq -> Batch Batch":     "twice in the result",
		"Batch Seq Rep, Rep Kq -> Batch Seq Kq Id": "no tensor has Id",
	} {
		if err := thrown(func() { named.Einsum(text, x, w) }); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: got %v, want %q", text, err, words)
		}
	}
}

func TestNothingIsTransposed(t *testing.T) {
	x := wave(Batch{}.Of(2), Seq{}.Of(3), Rep{}.Of(4))
	w := wave(Head{}.Of(2), Rep{}.Of(4), Kq{}.Of(3))
	q := named.Dot[Rep](x, w)
	k := named.Rename[Seq, KeySeq](q)
	for name, y := range map[string]T{
		"projection": q, "scores": named.Contract[Kq](q, k), "values": named.Contract[KeySeq](named.Contract[Kq](q, k), k),
	} {
		if d := named.Unnamed(y, y.Dims()).(*tensor.Dense); !d.IsContiguous() {
			t.Errorf("%s is a view with gaps: %v", name, fmt.Sprint(y.Spec()))
		}
	}
}

// Of ragged tensors, Explain counts what is there.
func TestExplainRagged(t *testing.T) {
	x := raggedWave(Rep{}.Of(4)) // 9 tokens in 4 rows
	want := `1. {Batch:4 Token~ Rep:4} · {Rep:4 Kq:2} over Rep → {Batch:4 Token~ Kq:2}
   1 product of 9×4 and 4×2, 144 FLOP, 496 B
144 FLOP, 496 B`
	if got := named.Explain[Rep](x, wave(Rep{}.Of(4), Kq{}.Of(2))).String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
