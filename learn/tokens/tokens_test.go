package tokens_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/learn/tokens"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// The ids are those of OpenAI's tiktoken.
func TestEncodings(t *testing.T) {
	for encoding, c := range map[string]map[string][]int64{
		"r50k_base":   {"hello world": {31373, 995}, "antidisestablishmentarianism": {415, 29207, 44390, 3699, 1042}},
		"cl100k_base": {"hello world": {15339, 1917}, "tiktoken is great!": {83, 1609, 5963, 374, 2294, 0}, "2 + 2 = 4": {17, 489, 220, 17, 284, 220, 19}, "お誕生日おめでとう": {33334, 45918, 243, 21990, 9080, 33334, 62004, 16556, 78699}},
		"o200k_base":  {"hello world": {24912, 2375}},
	} {
		tok := tenon.Must(tokens.New(encoding))
		for text, want := range c {
			got := tok.Encode(tensor.Scalar(text))
			if ids := tensor.Data[int64](got); !slices.Equal(ids, want) {
				t.Errorf("%s: %q is %v, want %v", encoding, text, ids, want)
			}
			if back := fmt.Sprint(tok.Decode(got)); !strings.Contains(back, text) {
				t.Errorf("%s: %q comes back as %s", encoding, text, back)
			}
		}
	}
}

func TestTextsOfAllShapes(t *testing.T) {
	tok := tenon.Must(tokens.New("cl100k_base"))
	texts := []string{"hello world", "", "tiktoken is great!", "\x00 – é\n", "hello", " world"}
	flat := tensor.Of(texts)
	rows := tok.Encode(flat).(*ragged.Tensor)
	lists := tenon.Must(ragged.Slices[int64](rows))
	if !slices.Equal(lists[0], []int64{15339, 1917}) || len(lists[1]) != 0 || len(lists) != 6 {
		t.Errorf("rows: %v", lists)
	}
	same := func(name string, got, want tensor.Tensor) {
		t.Helper()
		if got == nil || !tensor.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	same("back", tok.Decode(rows), flat)
	grid := ops.Reshape(flat, []int{3, 2})
	ids := tok.Encode(grid).(*ragged.Tensor)
	if ids.RaggedRank() != 2 || ids.Shape().Rank() != 3 {
		t.Errorf("of %v: %v", grid.Shape(), ids.Spec())
	}
	same("a grid", tok.Decode(ids).(*ragged.Tensor).FlatValues(), flat)
	nested := tenon.Must(ragged.FromRowLengths(flat, []int64{1, 0, 5}))
	same("rows of texts", tok.Decode(tok.Encode(nested)).(*ragged.Tensor).FlatValues(), flat)
	hidden := tenon.Must(masked.New(flat, tensor.Of([]bool{true, false, true, true, true, true})))
	if m, ok := tok.Encode(hidden).(*masked.Tensor); !ok || tensor.Data[bool](m.Mask())[1] {
		t.Errorf("masked: %v", tok.Encode(hidden))
	}
	same("a matrix of ids", tok.Decode(tensor.Of([]int32{15339, 1917, 17, 489}, 2, 2)), tensor.Of([]string{"hello world", "2 +"}))
	same("no texts", tok.Decode(tok.Encode(tensor.Of([]string{}))), tensor.Of([]string{}))
	round := function.New(func(x tensor.Tensor) tensor.Tensor { return tok.Decode(tok.Encode(x)) }, function.Options{})
	same("traced", round.Call(flat), flat)
	same("traced, a grid", round.Call(grid).(*ragged.Tensor).FlatValues(), flat)
}

func TestWhatIsRefused(t *testing.T) {
	tok := tenon.Must(tokens.New("cl100k_base"))
	_, unknown := tokens.New("cl100k")
	try := func(f func(tensor.Tensor) tensor.Tensor, x tensor.Tensor) error {
		_, err := tenon.Try(func() tensor.Tensor { return f(x) })
		return err
	}
	for name, c := range map[string]struct {
		err  error
		kind error
		text string
	}{
		"another encoding": {unknown, tenon.ErrNotFound, "o200k_base"},
		"numbers":          {try(tok.Encode, tensor.Of([]int64{1})), tenon.ErrDType, "holds no texts"},
		"no UTF-8":         {try(tok.Encode, tensor.Of([]string{"a", "\xff"})), tenon.ErrInvalid, "texts[1]"},
		"texts":            {try(tok.Decode, tensor.Of([]string{"a"})), tenon.ErrDType, "no rows of ids"},
		"no such id":       {try(tok.Decode, tensor.Of([]int64{17, 17, -1, 17}, 2, 2)), tenon.ErrRange, "row 1"},
	} {
		if !errors.Is(c.err, c.kind) || !strings.Contains(fmt.Sprint(c.err), c.text) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}

func ExampleTokenizer() {
	t, err := tokens.New("cl100k_base")
	if err != nil {
		panic(err)
	}
	ids := t.Encode(tensor.Of([]string{"tiktoken is great!", "hello world"}))
	fmt.Println(ids)
	fmt.Println(t.Decode(ids))
	// Output:
	// [[83 1609 5963 374 2294 0] [15339 1917]] int64[2, ~]
	// ["tiktoken is great!" "hello world"] string[2]
}
