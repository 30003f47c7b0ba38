package nn

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// A Vocabulary numbers words, or categories that are integers, from 1 up; 0 stands for all unknown
// words. It is part of a model and saved with it, also inside of functions.
type Vocabulary struct {
	Sorted tensor.Tensor // string[words] or int64[words], in ascending order
	IDs    tensor.Tensor // int64[words], the id of each
	Names  Names         `tenon:"static"` // Out: the features of OneHot
}

// Unlearned marks a Vocabulary as having no parameters.
func (Vocabulary) Unlearned() {}

// NewVocabulary returns a vocabulary of words in the order of their ids. Duplicate words are an
// error.
func NewVocabulary[W string | int64](words []W) Vocabulary {
	order := make([]int64, len(words))
	for i := range order {
		order[i] = int64(i)
	}
	slices.SortFunc(order, func(a, b int64) int { return cmp.Compare(words[a], words[b]) })
	sorted := make([]W, len(words))
	for i, at := range order {
		if sorted[i] = words[at]; i > 0 && sorted[i-1] == sorted[i] {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: "nn.NewVocabulary", Where: fmt.Sprintf("words[%d]", at), Msg: fmt.Sprintf("%v occurs twice", words[at])})
		}
		order[i]++
	}
	return Vocabulary{Sorted: tensor.Of(sorted), IDs: tensor.Of(order)}
}

// VocabularyOptions are the options of [Tally.Vocabulary]. The zero value takes all words.
type VocabularyOptions struct {
	Least int // how often a word must occur
	Most  int // number of words, the most frequent first; 0: any number
}

// A Tally counts how often words occur, batch by batch. The zero value is an empty tally. It is not safe for concurrent
// use.
type Tally struct {
	texts map[string]int
	ints  map[int64]int
}

// Update counts all elements of x, strings or integers, that are not missing.
func (t *Tally) Update(x tensor.Tensor) (err error) {
	defer tenon.Catch(&err)
	words := flatWords("nn.Tally", x)
	if words.DType() == dtype.String {
		t.texts = counted(t.texts, words.(*tensor.Strings).Slice())
	} else {
		t.ints = counted(t.ints, tensor.Data[int64](words))
	}
	if len(t.texts) > 0 && len(t.ints) > 0 {
		return tenon.NewError(tenon.ErrDType, "nn.Tally", "a tally counts either strings or integers, not both")
	}
	return nil
}

func counted[W comparable](m map[W]int, words []W) map[W]int {
	if m == nil {
		m = map[W]int{}
	}
	for _, w := range words {
		m[w]++
	}
	return m
}

// Merge adds the counts of another tally.
func (t *Tally) Merge(o Tally) {
	t.texts, t.ints = merged(t.texts, o.texts), merged(t.ints, o.ints)
}

func merged[W comparable](m, o map[W]int) map[W]int {
	if m == nil {
		m = map[W]int{}
	}
	for w, n := range o {
		m[w] += n
	}
	return m
}

// Vocabulary returns the words sorted by frequency, the most frequent first; words that are equally
// frequent are in ascending order.
func (t *Tally) Vocabulary(options ...VocabularyOptions) Vocabulary {
	o := option(options)
	if len(t.ints) > 0 {
		return NewVocabulary(ranked(t.ints, o))
	}
	return NewVocabulary(ranked(t.texts, o))
}

func ranked[W string | int64](m map[W]int, o VocabularyOptions) []W {
	words := make([]W, 0, len(m))
	for w, n := range m {
		if n >= o.Least {
			words = append(words, w)
		}
	}
	slices.SortFunc(words, func(a, b W) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
	if o.Most > 0 && len(words) > o.Most {
		words = words[:o.Most]
	}
	return words
}

// flatWords returns the elements of x that are not missing as a vector of strings or int64.
func flatWords(fn string, x tensor.Tensor) tensor.Tensor {
	if t, ok := x.(dimensioned); ok {
		x = named.Unnamed(t, t.Dims().Names()...)
	}
	if t, ok := x.(someMissing); ok {
		items, axes := t.Carried()
		if axes != items.Shape().Rank() {
			_, there := ofItems(fn, t)
			return flatWords(fn, ops.BooleanMask(items, there, 0))
		}
		return flatWords(fn, ops.BooleanMask(items, t.Mask(), 0))
	}
	if t, ok := x.(tensor.Carrier); ok {
		items, _ := t.Carried()
		return flatWords(fn, items)
	}
	if t, ok := x.(tensor.Concreter); ok {
		x = tenon.Must(t.Concrete())
	}
	switch d := x.DType(); {
	case d.IsInteger():
		x = ops.Cast(x, dtype.Int64)
	case d != dtype.String:
		e := tenon.NewError(tenon.ErrDType, fn, fmt.Sprintf("%s holds no words; words are strings or integers", tenon.String(x.Spec())))
		tenon.Throw(e)
	}
	return ops.Reshape(x, []int{-1})
}

// Size returns the number of ids: one more than there are words.
func (v Vocabulary) Size() int { return v.Sorted.Shape().Dim(0) + 1 }

// Lookup returns the id of each word, or 0 if it is unknown. Missing elements stay missing.
//
//	x: strings or integers of any shape, dense, ragged, masked or named → int64, the same
func (v Vocabulary) Lookup(x tensor.Tensor) tensor.Tensor {
	const fn = "nn.Vocabulary"
	if ints := v.Sorted.DType() != dtype.String; ints != x.DType().IsInteger() {
		tenon.Throw(tenon.NewError(tenon.ErrDType, fn, fmt.Sprintf("the words are %s, not %s", v.Sorted.DType(), x.DType())))
	}
	return onAll(x, func(x tensor.Tensor) tensor.Tensor {
		if v.Size() == 1 {
			return ops.Zeros(dtype.Int64, ops.Shape(x))
		}
		if x.DType() != dtype.String {
			x = ops.Cast(x, dtype.Int64)
		}
		at := ops.Minimum(ops.SearchSorted(v.Sorted, x, false), int64(v.Size()-2))
		return ops.Where(ops.Equal(ops.Gather(v.Sorted, at, 0), x), ops.Gather(v.IDs, at, 0), int64(0))
	})
}

// Words returns the word of each id: "" or 0 for the id 0. An id outside the vocabulary is an
// error.
//
//	ids: integers of any shape, dense, ragged, masked or named → strings or int64, the same
func (v Vocabulary) Words(ids tensor.Tensor) tensor.Tensor {
	byID := ops.Gather(v.Sorted, ops.ArgSort(v.IDs, 0, ops.SortOptions{}), 0)
	all := ops.Concat([]any{ops.Zeros(v.Sorted.DType(), []int{1}), byID}, 0)
	return onAll(ids, func(ids tensor.Tensor) tensor.Tensor { return ops.Gather(all, ids, 0) })
}

// OneHot returns, for each word, a vector with a 1 at its id and 0 elsewhere.
//
//	x: as for Lookup → float32[..., Size]
func (v Vocabulary) OneHot(x tensor.Tensor, d ...dtype.DType) tensor.Tensor {
	return withFeatures("nn.Vocabulary", v.Lookup(x), v.Names, func(ids tensor.Tensor) tensor.Tensor {
		return ops.Cast(ops.OneHot(ids, v.Size(), -1, ops.OneHotOptions{}), floatType(option(d)))
	})
}

// Counts returns how often each word occurs in each row, with unknown words at 0: a bag of
// words.
//
//	x: [rows, (words)] → float32[rows, Size]
func (v Vocabulary) Counts(x *ragged.Tensor, d ...dtype.DType) tensor.Tensor {
	const fn = "nn.Vocabulary.Counts"
	if x.RaggedRank() != 1 || x.FlatValues().Shape().Rank() != 1 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("want rows of words, got %s", tenon.String(x.Spec()))))
	}
	ids := ops.Add(v.Lookup(x.FlatValues()), ops.Mul(ops.Cast(x.Partition().ValueRowIDs(), dtype.Int64), int64(v.Size())))
	rows := ops.Cast(x.NRows(), dtype.Int64)
	counts := ops.SegmentSum(ops.Ones(floatType(option(d)), ops.Shape(ids)), ids, ops.Mul(rows, int64(v.Size())))
	return ops.Reshape(counts, ops.Stack([]any{rows, int64(v.Size())}, 0))
}
