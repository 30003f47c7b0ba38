package structured

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Dictionary is a tensor of strings in which each distinct string is stored once.
// It consists of a code for each element and the words that the codes refer to,
// so that an element takes 4 bytes, however long its word is. It supports all
// operations: those that only move elements move the codes, and all others get
// the strings.
type Dictionary struct {
	codes tensor.Tensor // int32
	words tensor.Tensor // a vector of strings
	spec  *DictionarySpec
}

var (
	_ op.Handler       = (*Dictionary)(nil)
	_ tensor.Concreter = (*Dictionary)(nil)
	_ tenon.Batcher    = (*DictionarySpec)(nil)
)

// EncodeStrings converts strings to dictionary form, with the words in the order of their first
// appearance.
//
//	x: string[n…] → codes int32[n…], words string[m]
func EncodeStrings(x any) (d *Dictionary, err error) {
	defer tenon.Catch(&err)
	t := tenon.Must(tensor.Convert(x))
	if d, ok := t.(*Dictionary); ok {
		return d, nil
	}
	if t.DType() != dtype.String {
		return nil, failed(tenon.ErrDType, "structured.EncodeStrings", "", "%s does not contain strings", tenon.String(t.Spec()))
	}
	words, inverse, _, _ := ops.Unique(ops.Reshape(t, []int{-1}))
	return newDictionary(ops.Reshape(ops.Cast(inverse, dtype.Int32), ops.Shape(t)), words), nil
}

// NewDictionary returns the strings that codes, integers, select from words, a vector of strings. A
// code that is out of range is an error, if the codes are known.
func NewDictionary(codes, words any) (d *Dictionary, err error) {
	defer tenon.Catch(&err)
	c := tenon.Must(tensor.Convert(codes))
	w := tenon.Must(tensor.Convert(words))
	return checkedDictionary("structured.NewDictionary", c, w)
}

func checkedDictionary(fn string, c, w tensor.Tensor) (*Dictionary, error) {
	if !c.DType().IsInteger() || w.DType() != dtype.String || w.Shape().Rank() != 1 {
		return nil, failed(tenon.ErrDType, fn, "", "codes are integers and words a vector of strings, got %s and %s", tenon.String(c.Spec()), tenon.String(w.Spec()))
	}
	if k, ok := op.Known(c); ok && w.Shape().IsFull() {
		if codes, ok := op.Ints(k); ok {
			for i, n := range codes {
				if n < 0 || n >= w.Shape().Dim(0) {
					return nil, invalid(fn, fmt.Sprintf("codes[%d]", i), "is %d, there are %d words", n, w.Shape().Dim(0))
				}
			}
		}
	}
	if c.DType() != dtype.Int32 {
		c = ops.Cast(c, dtype.Int32)
	}
	return newDictionary(c, w), nil
}

func newDictionary(codes, words tensor.Tensor) *Dictionary {
	return &Dictionary{codes, words, &DictionarySpec{codes.Spec(), anyWords}}
}

// anyWords is the Spec of words in the Specs of values. It does not contain their number, so that
// calls with different texts have the same Spec.
var anyWords = tensor.NewSpec(dtype.String, shape.Of(shape.Unknown))

// Spec returns the *DictionarySpec.
func (d *Dictionary) Spec() tenon.Spec { return d.spec }

// DType returns dtype.String.
func (d *Dictionary) DType() dtype.DType { return dtype.String }

// Shape returns the shape of the codes.
func (d *Dictionary) Shape() shape.Shape { return d.codes.Shape() }

// Codes returns the number of each element's word, as int32.
func (d *Dictionary) Codes() tensor.Tensor { return d.codes }

// Words returns the words, a vector. It may contain words that no code selects.
func (d *Dictionary) Words() tensor.Tensor { return d.words }

// Decode returns the strings themselves.
func (d *Dictionary) Decode() tensor.Tensor { return ops.Gather(d.words, d.codes, 0) }

// Concrete returns the strings themselves.
func (d *Dictionary) Concrete() (t tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	t = d.Decode()
	if c, ok := t.(tensor.Concreter); ok {
		return c.Concrete()
	}
	return t, nil
}

// HandleOp moves codes, and passes the strings to any operation that looks at them. Codes of
// several dictionaries are first converted to those of a dictionary with the words of all.
func (d *Dictionary) HandleOp(c *op.Call) ([]tenon.Value, error) {
	values := c.Values()
	all, at := moves(c.Op), 0
	var list []*Dictionary
	for k, v := range c.Operands() {
		x, ok := v.(*Dictionary)
		if ok {
			list = append(list, x)
		}
		all = all && ok == c.Op.Moves.Has(k)
	}
	if !all {
		for i, v := range values {
			if x, ok := v.(*Dictionary); ok {
				values[i] = x.Decode()
			}
		}
		return wrapped(op.ApplyN(c, values...), func(t tensor.Tensor) tenon.Value { return t })
	}
	codes, words := common(list)
	for i, v := range values {
		if _, ok := v.(*Dictionary); ok {
			values[i], at = codes[at], at+1
		}
	}
	return wrapped(op.ApplyN(c, values...), func(t tensor.Tensor) tenon.Value { return newDictionary(t, words) })
}

// common returns the codes of dictionaries in terms of a dictionary with the words of all.
func common(list []*Dictionary) (codes []tensor.Tensor, words tensor.Tensor) {
	words = list[0].words
	one := true
	for _, d := range list {
		codes, one = append(codes, d.codes), one && d.words == words
	}
	if one {
		return codes, words
	}
	all := make([]any, len(list))
	for i, d := range list {
		all[i] = d.words
	}
	words, place, _, _ := ops.Unique(ops.Concat(all, 0))
	var first tensor.Tensor = tensor.Scalar(int64(0)) // the number of the current dictionary's first word among all words
	for i, d := range list {
		codes[i] = ops.Cast(ops.Gather(place, ops.Add(ops.Cast(d.codes, dtype.Int64), first), 0), dtype.Int32)
		first = ops.Add(first, ops.Index(ops.Shape(d.words), 0))
	}
	return codes, words
}

func wrapped(list []tensor.Tensor, f func(tensor.Tensor) tenon.Value) ([]tenon.Value, error) {
	out := make([]tenon.Value, len(list))
	for i, t := range list {
		out[i] = f(t)
	}
	return out, nil
}

// String returns the strings, or a placeholder for the codes of a symbolic one.
func (d *Dictionary) String() string { return d.text("%v") }

// Format prints the value for the verbs v and s as String does. A plus flag prints all elements.
func (d *Dictionary) Format(s fmt.State, verb rune) { tensor.Format(s, verb, d, d.text) }

func (d *Dictionary) text(verb string) string {
	if c, ok := op.Known(d.codes); ok {
		return fmt.Sprintf(verb, ops.Gather(d.words, c, 0))
	}
	return fmt.Sprintf("words("+verb+", "+verb+")", d.codes, d.words)
}

// DictionaryTypeName is the registered name of [*DictionarySpec].
const DictionaryTypeName = "structured.Dictionary"

// DictionarySpec describes strings in dictionary form: the Specs of codes and words.
type DictionarySpec struct{ codes, words tenon.Spec }

// NewDictionarySpec returns the Spec of strings of a shape with any number of words.
func NewDictionarySpec(s shape.Shape) *DictionarySpec {
	return &DictionarySpec{tensor.NewSpec(dtype.Int32, s), anyWords}
}

// DType returns dtype.String.
func (s *DictionarySpec) DType() dtype.DType { return dtype.String }

// Shape returns the static shape.
func (s *DictionarySpec) Shape() shape.Shape { return s.codes.(typedSpec).Shape() }

// TypeName returns "structured.Dictionary".
func (*DictionarySpec) TypeName() string { return DictionaryTypeName }

// Encode returns (codes, words).
func (s *DictionarySpec) Encode() tenon.Encoding {
	return tenon.Tuple{tenon.SpecOf{Spec: s.codes}, tenon.SpecOf{Spec: s.words}}
}

func init() { tenon.Register(DictionaryTypeName, decodeDictionary) }

func decodeDictionary(e tenon.Encoding) (tenon.Spec, error) {
	var codes, words tenon.SpecOf
	if err := tenon.Unpack(e, &codes, &words); err != nil {
		return nil, err
	}
	c, ok := codes.Spec.(typedSpec)
	w, ok2 := words.Spec.(*tensor.Spec)
	if !ok || !ok2 || c.DType() != dtype.Int32 || w.DType() != dtype.String || w.Shape().Rank() != 1 {
		return nil, tenon.NewError(tenon.ErrInvalid, DictionaryTypeName, "codes are int32 and words a vector of strings")
	}
	return &DictionarySpec{codes.Spec, words.Spec}, nil
}

// Components returns codes and words.
func (s *DictionarySpec) Components() []tenon.Field {
	return []tenon.Field{{Name: "codes", Spec: s.codes}, {Name: "words", Spec: s.words}}
}

// Disassemble returns codes and words.
func (s *DictionarySpec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	d, ok := v.(*Dictionary)
	if !ok {
		return nil, tenon.NewError(tenon.ErrDType, DictionaryTypeName, "the value is not a dictionary")
	}
	return []tenon.Value{d.codes, d.words}, nil
}

// Assemble makes a dictionary from codes and words, and checks the codes if they are known.
func (s *DictionarySpec) Assemble(components []tenon.Value) (tenon.Value, error) {
	if err := tenon.CheckComponents(s, components); err != nil {
		return nil, err
	}
	c, ok := components[0].(tensor.Tensor)
	w, ok2 := components[1].(tensor.Tensor)
	if !ok || !ok2 {
		return nil, tenon.NewError(tenon.ErrDType, DictionaryTypeName, "codes and words are tensors")
	}
	d, err := checkedDictionary(DictionaryTypeName, c, w)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Batched adds an outermost dimension to the codes; all rows share the words.
func (s *DictionarySpec) Batched(n int) (tenon.Spec, error) {
	return s.each(func(b tenon.Batcher) (tenon.Spec, error) { return b.Batched(n) })
}

// Unbatched removes the outermost dimension of the codes.
func (s *DictionarySpec) Unbatched() (tenon.Spec, error) { return s.each(tenon.Batcher.Unbatched) }

func (s *DictionarySpec) each(f func(tenon.Batcher) (tenon.Spec, error)) (tenon.Spec, error) {
	b, err := batcher(DictionaryTypeName, s.codes)
	if err != nil {
		return nil, err
	}
	c, err := f(b)
	if err != nil {
		return nil, err
	}
	return &DictionarySpec{c, s.words}, nil
}

// String returns "words string[3]".
func (s *DictionarySpec) String() string { return fmt.Sprintf("words string%v", s.Shape()) }
