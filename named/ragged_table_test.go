package named_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// raggedTable holds, for every operation that may get a ragged tensor, calls with one. What a
// call gives is compared with what it gives for the rows, one by one.
func raggedTable() []operation {
	x := raggedWave(Rep{}.Of(4))
	y := raggedWave(Rep{}.Of(4), Kq{}.Of(3))
	scores := raggedWave()
	whole := func(below int, x T) T {
		return named.Cast(named.Map2(ops.Mod, named.Map(ops.Floor, named.Mul(x, 37)), float64(below)), dtype.Int64)
	}
	mask := named.Map2(ops.Greater, scores, 0.0)
	ids := whole(5, scores)
	table := wave(Vocab{}.Of(5), Rep{}.Of(4))
	logits := raggedWave(Vocab{}.Of(5))
	w := wave(Rep{}.Of(4), Kq{}.Of(3))
	scale := wave(Rep{}.Of(4))
	keys, values := named.Rename[Token, KeyToken](raggedWave(Kq{}.Of(3))), named.Rename[Token, KeyToken](raggedWave(Val{}.Of(2)))
	queries := raggedWave(Kq{}.Of(3))

	list := []operation{
		single("Dot", func(x []T) T { return named.Dot[Rep](x[0], x[1]) }, x, w),
		single("Dot over all", func(x []T) T { return named.By(Rep{}, Kq{}).Dot(x[0], x[1]) }, y, w),
		single("Contract", func(x []T) T { return named.Contract[Rep](x[0], x[1]) }, x, y),
		single("Contract over tokens", func(x []T) T { return named.Contract[Token](x[0], x[1]) }, x, queries),
		single("Contract of three", func(x []T) T { return named.By(Rep{}, Kq{}).Contract(x[0], x[1], x[2]) }, x, w, wave(Kq{}.Of(3), Val{}.Of(2))),
		single("Contract of one", func(x []T) T { return named.By(Token{}, Kq{}).Contract(x[0]) }, y),
		single("Einsum", func(x []T) T {
			return named.Einsum(texts(x)+" -> "+strings.ReplaceAll(texts(x[:1]), "Rep", "Kq"), x[0], x[1])
		}, x, w),
		single("Einsum", func(x []T) T { return named.Einsum("... Rep, Rep Kq -> ... Kq", x[0], x[1]) }, x, w),
		single("Add", func(x []T) T { return named.Add(x[0], x[1]) }, x, scale),
		single("Sub", func(x []T) T { return named.Sub(x[0], x[1]) }, scores, y),
		single("Mul", func(x []T) T { return named.Mul(x[0], x[1]) }, y, w),
		single("Div", func(x []T) T { return named.Div(x[0], x[1]) }, x, scores),
		single("Pow", func(x []T) T { return named.Pow(named.Add(x[0], 2), x[1]) }, x, scale),
		single("Maximum", func(x []T) T { return named.Maximum(x[0], x[1]) }, x, scores),
		single("Minimum", func(x []T) T { return named.Minimum(x[0], x[1]) }, x, scale),
		single("SquaredDifference", func(x []T) T { return named.SquaredDifference(x[0], x[1]) }, x, x),
		single("Map", func(x []T) T { return named.Map(ops.Tanh, x[0]) }, y),
		single("Map2", func(x []T) T { return named.Map2(ops.Less, x[0], x[1]) }, x, scale),
		single("Outer", func(x []T) T { return named.Outer(ops.Sub, x[0], x[1]) }, scores, w),
		single("Where", func(x []T) T { return named.Where(x[0], x[1], x[2]) }, mask, x, scale),
		single("Masked", func(x []T) T { return named.Masked(x[0], x[1], -1) }, x, mask),
		single("Cast", func(x []T) T { return named.Cast(x[0], dtype.Float32) }, x),
		single("Softmax over tokens", func(x []T) T { return named.Softmax[Token](x[0]) }, y),
		single("Softmax", func(x []T) T { return named.Softmax[Rep](x[0]) }, y),
		single("Softmax over two", func(x []T) T { return named.By(Kq{}, Rep{}).Softmax(x[0]) }, y),
		single("Softmax over tokens and inside", func(x []T) T { return named.By(Rep{}, Token{}).Softmax(x[0]) }, y),
		single("LogSoftmax over tokens", func(x []T) T { return named.LogSoftmax[Token](x[0]) }, x),
		single("LogSoftmax", func(x []T) T { return named.LogSoftmax[Rep](x[0]) }, x),
		single("LayerNorm", func(x []T) T { return named.LayerNorm[Rep](x[0], x[1], x[1], 1e-5) }, y, scale),
		single("LayerNorm over tokens", func(x []T) T { return named.Mul(named.LayerNorm[Token](x[0], nil, nil, 1e-5), x[1]) }, x, scale),
		single("LayerNorm over two", func(x []T) T { return named.By(Kq{}, Rep{}).LayerNorm(x[0], nil, nil, 1e-5) }, y),
		single("RMSNorm", func(x []T) T { return named.RMSNorm[Rep](x[0], x[1], 1e-5) }, y, scale),
		single("RMSNorm over tokens", func(x []T) T { return named.Mul(named.RMSNorm[Token](x[0], nil, 1e-5), x[1]) }, x, scale),
		single("Norm over tokens", func(x []T) T { return named.Norm[Token](x[0], 2) }, x),
		single("Norm", func(x []T) T { return named.Norm[Rep](x[0], 3) }, y),
		single("Shift over tokens", func(x []T) T { return named.Shift[Token](x[0], -1) }, x),
		single("Shift", func(x []T) T { return named.Shift[Rep](x[0], 1) }, y),
		single("LogCumSumExp over tokens", func(x []T) T { return named.LogCumSumExp[Token](x[0], named.CumOptions{Exclusive: true}) }, x),
		single("LogCumSumExp", func(x []T) T { return named.LogCumSumExp[Rep](x[0], named.CumOptions{}) }, y),
		single("CumSum over tokens", func(x []T) T { return named.CumSum[Token](x[0], named.CumOptions{Exclusive: true}) }, x),
		single("CumSum", func(x []T) T { return named.CumSum[Rep](x[0], named.CumOptions{Reverse: true}) }, y),
		single("CumProd over tokens", func(x []T) T { return named.CumProd[Token](x[0], named.CumOptions{Reverse: true}) }, x),
		single("CumProd", func(x []T) T { return named.CumProd[Rep](x[0], named.CumOptions{}) }, x),
		single("CumMax over tokens", func(x []T) T { return named.CumMax[Token](x[0], named.CumOptions{}) }, x),
		single("CumMax", func(x []T) T { return named.CumMax[Rep](x[0], named.CumOptions{}) }, y),
		single("CumMin over tokens", func(x []T) T { return named.CumMin[Token](x[0], named.CumOptions{}) }, x),
		single("CumMin", func(x []T) T { return named.CumMin[Rep](x[0], named.CumOptions{}) }, x),
		single("Sort over tokens", func(x []T) T { return named.Sort[Token](x[0], named.SortOptions{}) }, x),
		single("Sort", func(x []T) T { return named.Sort[Rep](x[0], named.SortOptions{Descending: true}) }, y),
		single("ArgSort over tokens", func(x []T) T { return named.ArgSort[Token](x[0], named.SortOptions{}) }, x),
		single("ArgSort", func(x []T) T { return named.ArgSort[Rep](x[0], named.SortOptions{}) }, y),
		{"TopK", []T{y}, func(x []T) []T { v, i := named.TopK[Rep](x[0], 2); return []T{v, i} }},
		{"TopK over tokens", []T{x}, func(x []T) []T {
			// A row that is shorter has fewer.
			k := min(2, max(x[0].Size(Token{}), 0))
			if x[0].Has(Batch{}) {
				k = 2
			}
			v, i := named.TopK[Token](x[0], k)
			return []T{v, i}
		}},
		single("BroadcastTo", func(x []T) T {
			to := []named.Sized{Foo{}.Of(2)}
			for _, n := range x[0].Dims().Names() {
				to = append(to, n.Of(-1))
			}
			return named.BroadcastTo(x[0], to...)
		}, y),
		single("ScatterAdd", func(x []T) T { return named.ScatterAdd[Vocab](x[0], x[1], x[2]) }, logits, ids, scores),
		single("ScatterUpdate", func(x []T) T { return named.ScatterUpdate[Vocab](x[0], x[1], x[2]) }, logits, ids, scores),
		single("ScatterMax", func(x []T) T { return named.ScatterMax[Vocab](x[0], x[1], x[2]) }, logits, ids, scores),
		single("ScatterMin", func(x []T) T { return named.ScatterMin[Vocab](x[0], x[1], x[2]) }, logits, ids, scores),
		single("ScatterAdd of rows", func(x []T) T { return named.ScatterAdd[Vocab](x[0], x[1], x[2]) }, wave(Batch{}.Of(4), Vocab{}.Of(5), Rep{}.Of(4)), ids, x),
		single("Reverse over tokens", func(x []T) T { return named.Reverse[Token](x[0]) }, x),
		single("Reverse", func(x []T) T { return named.By(Kq{}, Rep{}).Reverse(x[0]) }, y),
		single("Roll", func(x []T) T { return named.Roll[Rep](x[0], 3) }, y),
		single("Pad over tokens", func(x []T) T { return named.Pad[Token](x[0], 1, 2, named.PadOptions{Value: 0.5}) }, x),
		single("Roll over tokens", func(x []T) T { return named.Roll[Token](x[0], 1) }, x),
		single("Stack", func(x []T) T { return named.Stack[Head](x[0], x[1]) }, x, named.Mul(x, 2)),
		single("Concat over tokens", func(x []T) T { return named.Concat[Token](x[0], x[1]) }, x, named.Mul(x, 2)),
		single("Concat", func(x []T) T { return named.Concat[Rep](x[0], x[1]) }, x, named.Mul(x, 2)),
		{"Unstack", []T{y}, func(x []T) []T { return named.Unstack[Kq](x[0]) }},
		{"Pieces", []T{y}, func(x []T) []T { return named.Pieces[Rep](x[0], 1, 3) }},
		single("Merge", func(x []T) T { return named.By(Rep{}, Kq{}).Merge(x[0], Val{}) }, y),
		single("Split", func(x []T) T { return named.Split[Rep](x[0], Head{}.Of(2), Val{}.Of(-1)) }, y),
		single("Reshape", func(x []T) T { return named.By(Rep{}, Kq{}).Reshape(x[0], Head{}.Of(6), Val{}.Of(2)) }, y),
		single("ExpandDims", func(x []T) T { return named.ExpandDims(x[0], Head{}) }, x),
		single("Squeeze", func(x []T) T { return named.Squeeze[Head](x[0]) }, named.ExpandDims(y, Head{})),
		single("Index", func(x []T) T { return named.Index[Rep](x[0], -1) }, y),
		single("Index of a range", func(x []T) T { return named.Index[Rep](x[0], key.Range(nil, nil, -2)) }, y),
		single("Index of a range of tokens", func(x []T) T { return named.Index[Token](x[0], key.Range(1, nil, nil)) }, x),
		single("Take", func(x []T) T { return named.Take[Vocab](x[0], x[1]) }, table, ids),
		single("Take with a batch", func(x []T) T { return named.Take[Vocab](x[0], x[1]) }, logits, ids),
		single("Take with the rows", func(x []T) T { return named.Take[Vocab](x[0], x[1]) }, logits, ints(5, Batch{}.Of(4))),
		single("Take inside", func(x []T) T { return named.Take[Rep](x[0], x[1]) }, y, ints(4, Foo{}.Of(2))),
		single("OneHot", func(x []T) T { return named.OneHot[Vocab](x[0], 5, named.OneHotOptions{}) }, ids),
		single("Pad", func(x []T) T { return named.Pad[Rep](x[0], 1, 2, named.PadOptions{Value: 0.5}) }, y),
		single("Conv", func(x []T) T { return named.Conv[Rep, Window, Kq](x[0], x[1], named.ConvOptions{Same: true}) }, y, wave(Window{}.Of(2), Kq{}.Of(3), Val{}.Of(2))),
		single("Conv over tokens", func(x []T) T {
			return named.Conv[Token, Window, Rep](x[0], x[1], named.ConvOptions{Same: true})
		}, y, wave(Window{}.Of(3), Rep{}.Of(4), Val{}.Of(2))),
		single("Conv over tokens with steps", func(x []T) T {
			return named.Conv[Token, Window, Rep](x[0], x[1], named.ConvOptions{Stride: 2, Before: 2, After: 1})
		}, x, wave(Window{}.Of(2), Rep{}.Of(4), Val{}.Of(2))),
		single("CrossEntropy", func(x []T) T { return named.CrossEntropy[Vocab](x[0], x[1]) }, logits, ids),
		single("CrossEntropy of distributions", func(x []T) T { return named.CrossEntropy[Vocab](x[0], x[1]) }, logits, named.Softmax[Vocab](logits)),
		single("Attention", func(x []T) T {
			return named.Attention[KeyToken, Kq](x[0], x[1], x[2], named.AttentionOptions{})
		}, queries, keys, values),
		single("Attention with heads", func(x []T) T {
			return named.Attention[KeyToken, Kq](x[0], x[1], x[2], named.AttentionOptions{Scale: 0.3})
		}, raggedWave(Head{}.Of(2), Kq{}.Of(3)), named.Rename[Token, KeyToken](raggedWave(Kq{}.Of(3), Head{}.Of(2))), named.Rename[Token, KeyToken](raggedWave(Head{}.Of(2), Val{}.Of(2)))),
		single("Attention, causal", func(x []T) T {
			return named.Attention[KeyToken, Kq](x[0], x[1], x[2], named.AttentionOptions{Causal: true})
		}, queries, keys, values),
		single("Rename", func(x []T) T { return named.Rename[Rep, Foo](x[0]) }, x),
		single("Renaming", func(x []T) T { return named.Renaming(x[0], map[named.Name]named.Name{Rep{}: Kq{}, Kq{}: Rep{}}) }, y),
		single("Order", func(x []T) T { return named.From(ops.Neg(x[0])) }, y),
		single("From", func(x []T) T { return named.From(x[0]) }, x),
		single("MapUnnamed", func(x []T) T {
			return named.MapUnnamed(func(x tensor.Tensor) tensor.Tensor { return ops.CumSum(x, 0, ops.CumOptions{}) }, x[0], []named.Name{Rep{}}, Foo{})
		}, y),
		single("MapUnnamed over tokens", func(x []T) T {
			f := func(x tensor.Tensor) tensor.Tensor { return ops.CumSum(x, 0, ops.CumOptions{}) }
			return named.MapUnnamed(f, x[0], []named.Name{Token{}}, Token{})
		}, x),
		single("Lift", func(x []T) T {
			return named.Lift[Rep](func(x T) T { return named.Softmax[Token](x) })(x[0])
		}, y),
		single("LiftOver", func(x []T) T {
			return named.LiftOver(Kq{}, func(x, y T) T { return named.Dot[Rep](x, y) })(x[0], x[1])
		}, y, w),
	}
	for name, f := range reductions() {

		list = append(list,
			single(name, func(x []T) T { return f(named.By(Rep{}), x[0]) }, y),
			single(name+" over tokens", func(x []T) T { return f(named.By(Token{}), x[0]) }, y),
			single(name+" over tokens and inside", func(x []T) T { return f(named.By(Kq{}, Token{}), x[0]) }, y),
			single(name+" over none", func(x []T) T { return f(named.By(), x[0]) }, x))
	}
	return append(list,
		single("ArgMax", func(x []T) T { return named.ArgMax[Rep](x[0]) }, y),
		single("ArgMax over tokens", func(x []T) T { return named.ArgMax[Token](x[0]) }, y),
		single("ArgMin", func(x []T) T { return named.ArgMin[Rep](x[0]) }, y),
		single("ArgMin over tokens", func(x []T) T { return named.ArgMin[Token](x[0]) }, y),
		single("Any", func(x []T) T { return named.Any[Token](x[0]) }, mask),
		single("All", func(x []T) T { return named.All[Token](x[0]) }, mask),
	)
}

// Every operation gives for ragged tensors what it gives for each of their rows, at once and
// in a trace, whatever the order in which the dimensions inside of rows and those of dense operands are stored.
func TestRaggedTable(t *testing.T) {
	for _, o := range raggedTable() {
		t.Run(o.name, func(t *testing.T) {
			if err := thrown(func() { compareRagged(t, o) }); err != nil {
				t.Error(err)
			}
		})
	}
}

func compareRagged(t *testing.T, o operation) {
	got := o.f(o.in)
	for b, length := range lengths {
		rows := make([]T, len(o.in))
		for i, x := range o.in {
			if rows[i] = x; x.Has(Batch{}) {
				rows[i] = row(x, b)
			}
		}
		var want []T
		if err := thrown(func() { want = o.f(rows) }); err != nil {
			if length > 0 {
				t.Fatal(err)
			}
			continue // there is no largest one of nothing
		}
		for k := range want {
			if err := near(want[k], row(got[k], b)); err != nil {
				t.Errorf("row %d, result %d: %v", b, k, err)
			}
		}
	}
	for k, y := range function.New(o.f).Call(o.in) {
		nearRagged(t, "traced", got[k], y)
	}
	for i, x := range o.in {
		storageOrders(x, func(y T) {
			in := slices.Clone(o.in)
			in[i] = y
			for k, z := range o.f(in) {
				nearRagged(t, "stored as "+y.Dims().String(), got[k], z)
			}
		})
	}
}

// storageOrders calls f with the tensor in every order that it can be stored in.
func storageOrders(x T, f func(T)) {
	if !x.Has(Batch{}) {
		permutations(x, f)
		return
	}
	names := x.Dims().Names()
	first := 0
	for i, n := range names {
		if x.IsRagged(n) {
			first = i
		}
	}
	inner := names[first+1:]
	var each func(k int)
	each = func(k int) {
		if k == len(inner) {
			f(named.Order(x, names...))
			return
		}
		for i := k; i < len(inner); i++ {
			inner[k], inner[i] = inner[i], inner[k]
			each(k + 1)
			inner[k], inner[i] = inner[i], inner[k]
		}
	}
	each(0)
}

// nearRagged compares all elements, up to the order of dimensions and rounding.
func nearRagged(t *testing.T, what string, want, got T) {
	t.Helper()
	g, err := tenon.Try(func() T { return named.Order(got, want.Dims()) })
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	r, ok := named.Unnamed(want, want.Dims()).(*ragged.Tensor)
	s, okToo := named.Unnamed(g, want.Dims()).(*ragged.Tensor)
	switch {
	case ok != okToo:
		t.Errorf("%s: got %v, want %v", what, g, want)
	case !ok:
		if err := near(want, g); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	case !tensor.Equal(ops.ZerosLike(r), ops.ZerosLike(s), tensor.EqualOptions{}):
		t.Errorf("%s: got %v, want %v", what, g, want)
	default:
		plain := make([]named.Name, r.FlatValues().Shape().Rank())
		for i := range plain {
			plain[i] = named.Dynamic(fmt.Sprint("axis ", i))
		}
		if err := near(named.Of(r.FlatValues(), plain...), named.Of(s.FlatValues(), plain...)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Every operation that may get a ragged tensor is in the table.
func TestEveryOperationTakesRows(t *testing.T) {
	but := maps.Clone(shows)
	maps.Copy(but, map[string]string{
		"Dropout": "TestRaggedDropout: every element has a fate of its own", "Size": "TestRaggedTake", "GShape": "TestRaggedTake", "Has": "names only", "IsRagged": "TestRaggedTake",
		"Equal": "TestRaggedTake", "Unnamed": "what the rows are compared by", "Bind": "TestRaggedSchema", "Fits": "TestRaggedSchema", "As": "names only",
	})
	inTable(t, raggedTable(), but)
}

// Elements that are kept are divided by their probability; what is shared has one fate; the order
// of storage plays no part.
func TestRaggedDropout(t *testing.T) {
	x := named.From(ops.OnesLike(raggedWave(Rep{}.Of(4), Kq{}.Of(5))))
	k := ops.RandomKey(3)
	each := named.Dropout(k, x, 0.5)
	nearRagged(t, "in another order", each, named.Dropout(k, named.Order(x, Batch{}, Token{}, Kq{}, Rep{}), 0.5))
	if s := tensor.Item[float64](named.Unnamed(named.By(Batch{}, Token{}, Rep{}, Kq{}).Sum(each))); s < 90 || s > 270 {
		t.Errorf("the sum of 180 ones is %v", s)
	}
	shared := named.Dropout(k, x, 0.5, Token{}, Kq{})
	nearRagged(t, "in another order", shared, named.Dropout(k, named.Order(x, Batch{}, Token{}, Kq{}, Rep{}), 0.5, Token{}, Kq{}))
	for b, n := range lengths {
		sums := tensor.Data[float64](named.Unnamed(named.By(Token{}, Kq{}).Sum(row(shared, b))))
		for _, s := range sums {
			if s != 0 && s != float64(2*5*n) {
				t.Errorf("row %d: %v, want elements that share their fate", b, sums)
			}
		}
	}
	wantError(t, tenon.ErrUnsupported, "cannot be dropped together", func() { named.Dropout(k, x, 0.5, Batch{}) })
}

type tokenIn struct {
	*named.Tensor
	Batch
	Token `named:"ragged"`
	Rep
}

type evenIn struct {
	*named.Tensor
	Batch
	Token
	Rep
}

// A schema says which dimensions are ragged.
func TestRaggedSchema(t *testing.T) {
	x := raggedWave(Rep{}.Of(4))
	in := named.Bind[tokenIn](x)
	nearRagged(t, "bound", x, in.Tensor)
	if in.Token.Size() != -1 || in.Rep.Size() != 4 || !named.Fits[tokenIn](x) || named.Fits[evenIn](x) || named.Fits[tokenIn](wave(Batch{}.Of(1), Token{}.Of(1), Rep{}.Of(1))) {
		t.Errorf("got %v", in)
	}
	wantError(t, tenon.ErrInvalid, "mark it in the schema", func() { named.Bind[evenIn](x) })
}

// Lift over the rows and what lies along them takes a function over each token.
func TestLiftOverTokens(t *testing.T) {
	x, w := raggedWave(Rep{}.Of(4)), wave(Rep{}.Of(4), Kq{}.Of(3))
	f := func(x, w T) T { return named.Softmax[Kq](named.Dot[Rep](x, w)) }
	nearRagged(t, "lifted", f(x, w), named.LiftOver(named.By(Batch{}, Token{}), f)(x, w))
	wantError(t, tenon.ErrUnsupported, "lift over {Batch, Token} together", func() { named.Lift[Token](f)(x, w) })
}

// A position is one in each row, if they are long enough.
func TestIndexOfTokens(t *testing.T) {
	x := named.Pad[Token](raggedWave(Rep{}.Of(4)), 1, 0, named.PadOptions{Value: 7})
	wantNear(t, named.Full(7.0, Batch{}.Of(4), Rep{}.Of(4)), named.Index[Token](x, 0))
	last := named.Index[Token](x, -1)
	for b := range lengths {
		wantNear(t, named.Index[Token](row(x, b), -1), named.Index[Batch](last, b))
	}
	wantError(t, tenon.ErrRange, "row 1", func() { named.Index[Token](x, 1) })
}
