package protoio

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// Features describes what to read from an example: for each result, by name, the feature it comes
// from and its form.
type Features map[string]Feature

// A Feature is one of [Fixed], [VarLen], [Ragged] and [Sequence]. Elements are Int64, Float32 or
// String, like the lists of an example. The key in the example is the key in [Features], unless Key
// is set.
type Feature interface {
	// source returns the key of the feature's values, and their type.
	source(name string) (key string, d dtype.DType)
}

// Fixed reads lists of equal length as a dense tensor.
//
//	[rows, shape…]
//
// An example without the feature gets Default, which has one element or as many as the shape. If
// Default is nil, a missing feature is an error. A list of a different length is an error, too.
type Fixed struct {
	DType   dtype.DType
	Shape   shape.Shape
	Default any
	Key     string
}

// VarLen reads lists of any length as a sparse tensor with as many columns as the longest list has
// elements. A missing feature is an empty list.
//
//	sparse [rows, longest]
type VarLen struct {
	DType dtype.DType
	Key   string
}

// Sequence reads lists of any length as a dense tensor, padded to the longest one. Each list holds
// a whole number of items of the given shape. Padding is Default, which is one element or one item;
// if it is nil, zeros or empty strings.
//
//	[rows, longest, shape…]
type Sequence struct {
	DType   dtype.DType
	Shape   shape.Shape
	Default any
	Key     string
}

// Ragged reads lists of any length as a ragged tensor. A missing feature is an empty
// row.
//
//	[rows, (row)]
//
// Partitions, outermost first, further divide the values of each row: each adds a dimension, whose
// sizes are given by other features of the example.
type Ragged struct {
	DType      dtype.DType
	Key        string // key of the values
	Partitions []Partition
	Splits     dtype.DType // Int64 or Int32; None means Int64
}

// A Partition names the feature, an integer list of the example, that divides the values of a row,
// or gives a length common to all rows. Exactly one field must be set.
type Partition struct {
	RowSplits     string // key of offsets from 0 to the number of values
	RowLengths    string
	RowStarts     string
	RowLimits     string
	ValueRowIDs   string // key of a row number for each value, in ascending order; there is a row for every number up to the last
	UniformLength int    // at least 1
}

// key returns the feature that a partition reads, or "" for a uniform one.
func (p Partition) key() string {
	for _, k := range []string{p.RowSplits, p.RowLengths, p.RowStarts, p.RowLimits, p.ValueRowIDs} {
		if k != "" {
			return k
		}
	}
	return ""
}

func (p Partition) check() error {
	set := 0
	for _, k := range []string{p.RowSplits, p.RowLengths, p.RowStarts, p.RowLimits, p.ValueRowIDs} {
		if k != "" {
			set++
		}
	}
	if p.UniformLength != 0 {
		set++
	}
	if set != 1 || p.UniformLength < 0 {
		return fmt.Errorf("a partition must have exactly one field set, and a positive length: %+v", p)
	}
	return nil
}

func or(key, name string) string {
	if key != "" {
		return key
	}
	return name
}

func (f Fixed) source(name string) (string, dtype.DType)    { return or(f.Key, name), f.DType }
func (f VarLen) source(name string) (string, dtype.DType)   { return or(f.Key, name), f.DType }
func (f Sequence) source(name string) (string, dtype.DType) { return or(f.Key, name), f.DType }
func (f Ragged) source(name string) (string, dtype.DType)   { return or(f.Key, name), f.DType }

// ParseOptions control how examples are read. The zero value skips features that are not requested.
type ParseOptions struct {
	// RefuseExtra makes features that are not requested an error.
	RefuseExtra bool

	// MaxPadded limits the number of elements of a [Sequence], in which a single long list makes
	// all rows long; 0 means 1<<28.
	MaxPadded int
}

func (o ParseOptions) maxPadded() int {
	if o.MaxPadded > 0 {
		return o.MaxPadded
	}
	return 1 << 28
}

// kind is the field number of a list in a Feature message.
type kind uint8

const (
	noList     kind = 0
	bytesList  kind = 1
	floatList  kind = 2
	int64List  kind = 3
	otherLists kind = 4 // the first number that is not a list
)

// tag returns the tag of the list in a Feature message.
func (k kind) tag() byte { return byte(k)<<3 | 2 }

func kindOf(d dtype.DType) kind {
	switch d {
	case dtype.String:
		return bytesList
	case dtype.Float32:
		return floatList
	case dtype.Int64:
		return int64List
	}
	return noList
}

func (k kind) dtype() dtype.DType {
	return [...]dtype.DType{dtype.None, dtype.String, dtype.Float32, dtype.Int64}[k]
}

// plan is Features prepared for parsing.
type plan struct {
	index   map[string]int
	keys    []string
	kinds   []kind
	refuse  bool
	results []result
}

// result is one of the requested tensors.
type result struct {
	name    string
	source  int
	feature Feature
	parts   []int // sources of the partitions; -1 for a uniform one
}

func newPlan(fs Features, o ParseOptions) (*plan, error) {
	p := &plan{index: map[string]int{}, refuse: o.RefuseExtra}
	add := func(name, key string, d dtype.DType) (int, error) {
		k := kindOf(d)
		if k == noList {
			return 0, fail(tenon.ErrDType, name, "examples have no %v; read int64, float32 or string, and cast", d)
		}
		if i, ok := p.index[key]; ok {
			if p.kinds[i] != k {
				return 0, fail(tenon.ErrDType, name, "feature %q is requested both as %v and as %v", key, p.kinds[i].dtype(), d)
			}
			return i, nil
		}
		p.index[key] = len(p.keys)
		p.keys, p.kinds = append(p.keys, key), append(p.kinds, k)
		return len(p.keys) - 1, nil
	}
	for _, name := range sortedKeys(fs) {
		f := fs[name]
		if f == nil {
			return nil, fail(tenon.ErrInvalid, name, "the feature is nil")
		}
		key, d := f.source(name)
		i, err := add(name, key, d)
		if err != nil {
			return nil, err
		}
		r := result{name: name, source: i, feature: f}
		if f, ok := f.(Ragged); ok {
			if f.Splits != dtype.None && f.Splits != dtype.Int64 && f.Splits != dtype.Int32 {
				return nil, fail(tenon.ErrDType, name, "row splits must be int64 or int32, not %v", f.Splits)
			}
			for _, part := range f.Partitions {
				if err := part.check(); err != nil {
					return nil, fail(tenon.ErrInvalid, name, "%v", err)
				}
				j := -1
				if k := part.key(); k != "" {
					if j, err = add(name, k, dtype.Int64); err != nil {
						return nil, err
					}
				}
				r.parts = append(r.parts, j)
			}
		}
		p.results = append(p.results, r)
	}
	return p, nil
}
