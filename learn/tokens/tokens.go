package tokens

import (
	"fmt"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A Tokenizer has the tokens of an encoding. It is safe for concurrent use.
type Tokenizer struct{ codec codec }

// New returns the tokenizer of an encoding by its name. An unknown one is an error of kind tenon.ErrNotFound.
func New(encoding string) (*Tokenizer, error) {
	c, err := tokenizer.Get(tokenizer.Encoding(encoding))
	if err != nil {
		e := tenon.NewError(tenon.ErrNotFound, "tokens.New", fmt.Sprintf("there is no encoding %q", encoding))
		e.Hint = `there are "r50k_base", "p50k_base", "p50k_edit", "cl100k_base" and "o200k_base"`
		return nil, e
	}
	return &Tokenizer{c}, nil
}

// Encode returns the ids of the tokens of each text. A tokenizer made by [New] reads special tokens like any other
// text; one made by [Read] finds them. A text that is not valid UTF-8 is an error of kind tenon.ErrInvalid that names
// it. Encode throws errors. It may be called in a traced function, which then cannot be saved.
//
//	texts: string[n…], dense, ragged or masked → int64[n…, (tokens)]; a single text gives int64[tokens]
func (t *Tokenizer) Encode(texts tensor.Tensor) tensor.Tensor {
	const fn = "tokens.Encode"
	if c, ok := texts.(tensor.Carrier); ok {
		items, _ := c.Carried()
		return tenon.Must(c.Carry(t.Encode(items)))
	}
	if texts.DType() != dtype.String {
		tenon.Throw(tenon.NewError(tenon.ErrDType, fn, fmt.Sprintf("%s holds no texts", tenon.String(texts.Spec()))))
	}
	one := func(d dtype.DType) tenon.Spec { return tensor.NewSpec(d, shape.Of(shape.Unknown)) }
	out := control.GoFunc(t.encode, []tenon.Spec{one(dtype.Int64), one(dtype.Int64)}, ops.Reshape(texts, []int{-1}))
	ids, splits := out[0].(tensor.Tensor), out[1].(tensor.Tensor)
	rank := texts.Shape().Rank()
	if rank == 0 {
		return ids
	}
	y := tenon.Must(ragged.FromRowSplits(ids, splits))
	sizes := ops.Cast(ops.Shape(texts), dtype.Int64)
	for axis := rank - 1; axis > 0; axis-- {
		lead := ops.Prod(ops.Slice(sizes, []int{0}, []int{axis}))
		y = tenon.Must(ragged.FromRowSplits(y, rows.Uniform(ops.Index(sizes, axis), lead)))
	}
	return y
}

// encode is Encode for a vector, in Go.
func (t *Tokenizer) encode(texts tensor.Tensor) ([]tenon.Value, error) {
	list := texts.(*tensor.Strings).Slice()
	flat, splits := []int64{}, make([]int64, 1, len(list)+1)
	for i, text := range list {
		if !utf8.ValidString(text) {
			return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "tokens.Encode", Where: fmt.Sprintf("texts[%d]", i), Msg: fmt.Sprintf("%q is not valid UTF-8", text)}
		}
		ids, _, err := t.codec.Encode(text)
		if err != nil {
			return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "tokens.Encode", Where: fmt.Sprintf("texts[%d]", i), Err: err}
		}
		for _, id := range ids {
			flat = append(flat, int64(id))
		}
		splits = append(splits, int64(len(flat)))
	}
	return []tenon.Value{tensor.Of(flat), tensor.Of(splits)}, nil
}

// Decode returns the text of each row of tokens. If a row ends within a character, the text is not valid UTF-8. An
// unknown id is an error of kind tenon.ErrRange that names its row. Decode throws errors.
//
//	ids: integers[n…, (tokens)] → string[n…]; a vector is a single text
func (t *Tokenizer) Decode(ids tensor.Tensor) tensor.Tensor {
	const fn = "tokens.Decode"
	if !ids.DType().IsInteger() || ids.Shape().Rank() < 1 {
		tenon.Throw(tenon.NewError(tenon.ErrDType, fn, fmt.Sprintf("%s holds no rows of ids", tenon.String(ids.Spec()))))
	}
	r, ok := ids.(*ragged.Tensor)
	if !ok {
		s := ops.Cast(ops.Shape(ids), dtype.Int64)
		lead := ops.Slice(s, []int{0}, []int{ids.Shape().Rank() - 1})
		return ops.Reshape(t.decoded(ops.Reshape(ids, []int{-1}), rows.Uniform(ops.Index(s, -1), ops.Prod(lead))), lead)
	}
	parts := r.Partitions()
	if r.FlatValues().Shape().Rank() > 1 { // the innermost dimension is uniform
		return tenon.Must(r.WithFlatValues(t.Decode(r.FlatValues())))
	}
	last := len(parts) - 1
	return tenon.Must(ragged.FromPartitions(t.decoded(r.FlatValues(), parts[last].RowSplits()), parts[:last]...))
}

// decoded returns the texts of rows of ids.
func (t *Tokenizer) decoded(ids, splits tensor.Tensor) tensor.Tensor {
	type args struct{ IDs, Splits tensor.Tensor }
	n := shape.Unknown
	if s := splits.Shape(); s.IsFull() {
		n = s.Dim(0) - 1
	}
	out := control.GoFunc(func(a args) ([]tenon.Value, error) {
		flat, at := tensor.Data[int64](a.IDs), tensor.Data[int64](a.Splits)
		texts := make([]string, len(at)-1)
		for i := range texts {
			var row []uint
			for _, id := range flat[at[i]:at[i+1]] {
				row = append(row, uint(id))
			}
			text, err := t.codec.Decode(row)
			if err != nil {
				return nil, &tenon.Error{Kind: tenon.ErrRange, Op: "tokens.Decode", Where: fmt.Sprintf("row %d", i), Msg: err.Error()}
			}
			texts[i] = text
		}
		return []tenon.Value{tensor.Of(texts)}, nil
	}, []tenon.Spec{tensor.NewSpec(dtype.String, shape.Of(n))}, args{ops.Cast(ids, dtype.Int64), ops.Cast(splits, dtype.Int64)})
	return out[0].(tensor.Tensor)
}
