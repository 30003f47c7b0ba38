package named_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

var lengths = []int{3, 0, 2, 4}

// raggedWave returns {Batch, Token~, dims…}.
func raggedWave(dims ...named.Sized) T {
	n := 0
	for _, l := range lengths {
		n += l
	}
	names := []named.Name{named.Dynamic("all tokens")}
	for _, d := range dims {
		names = append(names, d.Name())
	}
	flat := named.Unnamed(wave(append([]named.Sized{names[0].Of(n)}, dims...)...), names...)
	return named.Of(tenon.Must(ragged.FromRowLengths(flat, lengths)), append([]named.Name{Batch{}, Token{}}, names[1:]...)...)
}

// row returns a row, dense: the rows inside of it have one length.
func row(x T, b int) T {
	y := named.Index[Batch](x, b)
	if m, ok := named.Unnamed(y, y.Dims()).(*masked.Tensor); ok {
		return named.Of(m.Values(), y.Dims())
	}
	r, ok := named.Unnamed(y, y.Dims()).(*ragged.Tensor)
	if !ok {
		return y
	}
	var sizes []int
	for _, n := range y.Dims().Names() {
		switch n {
		case named.Name(named.By(Token{})), named.Name(named.By(KeyToken{})):
			sizes = append(sizes, lengths[b])
		default:
			sizes = append(sizes, y.Size(n))
		}
	}
	return named.Of(ops.Reshape(r.FlatValues(), sizes), y.Dims())
}

// wantRows checks that each row of got is f of the rows of the inputs. Dense inputs
// without Batch are the same for all rows.
func wantRows(t *testing.T, got T, f func(x []T) T, in ...T) {
	t.Helper()
	for b := range lengths {
		rows := make([]T, len(in))
		for i, x := range in {
			if rows[i] = x; x.Has(Batch{}) {
				rows[i] = row(x, b)
			}
		}
		if err := near(f(rows), row(got, b)); err != nil {
			t.Errorf("row %d: %v", b, err)
		}
	}
}

func TestRagged(t *testing.T) {
	x := raggedWave(Rep{}.Of(4))
	scores := raggedWave()
	w := wave(Kq{}.Of(3), Rep{}.Of(4))
	keys := named.Rename[Token, KeyToken](raggedWave(Kq{}.Of(3)))
	values := named.Rename[Token, KeyToken](raggedWave(Val{}.Of(2)))
	queries := raggedWave(Kq{}.Of(3))
	pairs := named.Contract[Kq](queries, keys)       // {Batch, Token~, KeyToken~}
	turned := named.Contract[Kq](keys, queries)      // the other way round
	heads := raggedWave(Head{}.Of(2), Kq{}.Of(3))    // {Batch, Token~, Head, Kq}
	headKeys := named.Rename[Token, KeyToken](heads) // {Batch, KeyToken~, Head, Kq}
	perBatch := wave(Batch{}.Of(4), Rep{}.Of(4))
	tests := []struct {
		name string
		in   []T
		f    func(x []T) T
	}{
		{"map", []T{x}, func(x []T) T { return named.Map(ops.Exp, x[0]) }},
		{"add a dense one of dimensions inside", []T{x, wave(Rep{}.Of(4))}, func(x []T) T { return named.Add(x[0], x[1]) }},
		{"add a scalar", []T{x}, func(x []T) T { return named.Add(x[0], 2) }},
		{"add one of the rows", []T{x, wave(Batch{}.Of(4))}, func(x []T) T { return named.Add(x[1], x[0]) }},
		{"add one of rows and inside", []T{x, perBatch}, func(x []T) T { return named.Mul(x[0], x[1]) }},
		{"add another ragged one", []T{x, scores}, func(x []T) T { return named.Sub(x[1], x[0]) }},
		{"add in another order", []T{raggedWave(Rep{}.Of(4), Kq{}.Of(3)), raggedWave(Kq{}.Of(3), Rep{}.Of(4))}, func(x []T) T { return named.Add(x[0], x[1]) }},
		{"outer", []T{scores, wave(Rep{}.Of(4))}, func(x []T) T { return named.Outer(ops.Mul, x[0], x[1]) }},
		{"add pairs and rows", []T{pairs, scores}, func(x []T) T { return named.Add(x[0], x[1]) }},
		{"where", []T{scores, x}, func(x []T) T { return named.Where(named.Map2(ops.Greater, x[0], 0.0), x[1], 0.0) }},
		{"sum over tokens", []T{x}, func(x []T) T { return named.Sum[Token](x[0]) }},
		{"mean inside", []T{x}, func(x []T) T { return named.Mean[Rep](x[0]) }},
		{"sum over both", []T{x}, func(x []T) T { return named.By(Token{}, Rep{}).Sum(x[0]) }},
		{"softmax over tokens", []T{x}, func(x []T) T { return named.Softmax[Token](x[0]) }},
		{"softmax inside", []T{x}, func(x []T) T { return named.Softmax[Rep](x[0]) }},
		{"layer norm", []T{x, wave(Rep{}.Of(4))}, func(x []T) T { return named.LayerNorm[Rep](x[0], x[1], nil, 1e-5) }},
		{"cumulative sum over tokens", []T{x}, func(x []T) T { return named.CumSum[Token](x[0], named.CumOptions{}) }},
		{"dot", []T{x, w}, func(x []T) T { return named.Dot[Rep](x[0], x[1]) }},
		{"dot, dense first", []T{w, x}, func(x []T) T { return named.Dot[Rep](x[0], x[1]) }},
		{"contract with the rows'", []T{x, perBatch}, func(x []T) T { return named.Contract[Rep](x[0], x[1]) }},
		{"contract of the same rows", []T{x, x}, func(x []T) T { return named.Contract[Rep](x[0], x[1]) }},
		{"contract over tokens", []T{x, queries}, func(x []T) T { return named.Contract[Token](x[0], x[1]) }},
		{"contract over tokens and inside", []T{x, x}, func(x []T) T { return named.By(Token{}, Rep{}).Contract(x[0], x[1]) }},
		{"contract over tokens with a batch inside", []T{heads, raggedWave(Head{}.Of(2), Val{}.Of(2))}, func(x []T) T { return named.Contract[Token](x[0], x[1]) }},
		{"contract of a sum over tokens", []T{x, w}, func(x []T) T { return named.Contract[Rep](named.Sum[Token](x[0]), x[1]) }},
		{"scores", []T{queries, keys}, func(x []T) T { return named.Contract[Kq](x[0], x[1]) }},
		{"scores with heads", []T{heads, headKeys}, func(x []T) T { return named.Contract[Kq](x[0], x[1]) }},
		{"softmax of scores", []T{pairs}, func(x []T) T { return named.Softmax[KeyToken](x[0]) }},
		{"softmax of turned scores", []T{turned}, func(x []T) T { return named.Softmax[KeyToken](x[0]) }},
		{"weighted values", []T{pairs, values}, func(x []T) T { return named.Contract[KeyToken](x[0], x[1]) }},
		{"weighted values, turned", []T{values, turned}, func(x []T) T { return named.Contract[KeyToken](x[0], x[1]) }},
		{"attention", []T{queries, keys, values}, func(x []T) T { return named.Attention[KeyToken, Kq](x[0], x[1], x[2], named.AttentionOptions{}) }},
		{"attention with a mask", []T{queries, keys, values, pairs}, func(x []T) T {
			mask := named.Map2(ops.Greater, x[3], -5.0)
			return named.Attention[KeyToken, Kq](x[0], x[1], x[2], named.AttentionOptions{Mask: mask, Scale: 0.3})
		}},
		{"split and merge inside", []T{x}, func(x []T) T {
			return named.By(Kq{}, Val{}).Merge(named.Split[Rep](x[0], Kq{}.Of(2), Val{}.Of(-1)), Foo{})
		}},
		{"index inside", []T{x}, func(x []T) T { return named.Index[Rep](x[0], 1) }},
		{"cast and rename", []T{x}, func(x []T) T { return named.Rename[Token, Seq](named.Cast(x[0], x[0].DType())) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantRows(t, tt.f(tt.in), tt.f, tt.in...)
			wantRows(t, function.New(tt.f).Call(tt.in), tt.f, tt.in...)
			loss := func(x []T) T { return named.From(ops.Sum(ops.Square(tt.f(x)))) }
			g := grad.Of(loss)(tt.in)
			for i := range g { // the gradient of each row is the gradient of its row
				if !tt.in[i].Has(Batch{}) {
					continue
				}
				for b := range lengths {
					rows := make([]T, len(tt.in))
					for k, x := range tt.in {
						if rows[k] = x; x.Has(Batch{}) {
							rows[k] = row(x, b)
						}
					}
					if rows[0].Shape().Size() == 0 || rows[len(rows)-1].Shape().Size() == 0 {
						continue
					}
					if err := near(grad.Of(loss)(rows)[i], row(g[i], b)); err != nil {
						t.Errorf("gradient of input %d, row %d: %v", i, b, err)
					}
				}
			}
		})
	}
}

func TestRaggedLift(t *testing.T) {
	w := wave(Rep{}.Of(4), Kq{}.Of(3))
	v := wave(Rep{}.Of(4), Val{}.Of(2))
	head := func(x T) T {
		queries, keys := named.Dot[Rep](x, w), named.Rename[Token, KeyToken](named.Dot[Rep](x, w))
		values := named.Rename[Token, KeyToken](named.Dot[Rep](x, v))
		return named.Dot[KeyToken](named.Softmax[KeyToken](named.Dot[Kq](queries, keys)), values)
	}
	x := raggedWave(Rep{}.Of(4))
	wantRows(t, named.Lift[Batch](head)(x), func(x []T) T { return head(x[0]) }, x)
}

func TestRaggedTake(t *testing.T) {
	ids := named.Of(ragged.FromSlices([][]int64{{1, 0}, {}, {4}}), Batch{}, Token{})
	table := wave(Vocab{}.Of(5), Rep{}.Of(3))
	x := named.Take[Vocab](table, ids)
	if got := fmt.Sprint(x.Spec()); got != "float64{Batch:3 Token~ Rep:3}" {
		t.Errorf("got %s", got)
	}
	wantNear(t, named.Index[Vocab](table, 4), named.Index[Token](row(x, 2), 0))
	flat := named.By(Batch{}, Token{}).Merge(x, Seq{})
	wantNear(t, named.Index[Vocab](table, 0), named.Index[Seq](flat, 1))
	if !x.IsRagged(Token{}) || x.IsRagged(Rep{}) || x.Size(Token{}) != -1 {
		t.Errorf("got %v", x)
	}
}

func TestRaggedErrors(t *testing.T) {
	x := raggedWave(Rep{}.Of(4))
	wantError(t, tenon.ErrUnsupported, "lie along", func() { named.Split[Token](x, Foo{}.Of(2), Seq{}.Of(-1)) })
	wantError(t, tenon.ErrInvalid, "different lengths", func() {
		y := named.Of(ragged.FromSlices([][]float64{{1, 2}, {1}, {2}, {3, 4, 5, 6, 7}}), Batch{}, Token{})
		named.Contract[Token](raggedWave(), y)
	})
	wantError(t, tenon.ErrUnsupported, "row by row", func() { named.Contract[Batch](x, named.Rename[Token, KeyToken](x)) })
	wantError(t, tenon.ErrNotFound, "has no Foo", func() { x.IsRagged(Foo{}) })
}

// An empty row has no largest score: its softmax is empty, its sum 0.
func TestEmptyRows(t *testing.T) {
	x := raggedWave()
	if s := tensor.Data[float64](named.Unnamed(named.Sum[Token](x))); s[1] != 0 {
		t.Errorf("the sum of an empty row is %v", s[1])
	}
	if m := tensor.Data[float64](named.Unnamed(named.Max[Token](x))); m[1] != math.Inf(-1) {
		t.Errorf("the maximum of an empty row is %v", m[1])
	}
}
