package features

import (
	"errors"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// An Encoder turns records into vectors. [Schema.Encoder] makes one.
type Encoder struct {
	Root  Part
	DType dtype.DType `tenon:"static"`
}

// A Part encodes a field, the items of a list, or the records themselves. Fields that it does not
// need are nil.
type Part struct {
	Name     string        `tenon:"static"` // of the field
	Kind     Kind          `tenon:"static"`
	Optional bool          `tenon:"static"` // adds a last feature that is 0 if the value is missing, and 1 otherwise
	Numbers  int           `tenon:"static"` // of a Number in each record
	Scaler   nn.Scaler     // of a Number
	Words    nn.Vocabulary // of categories
	Table    nn.Embedding
	Each     *nn.Dense  // of the records of a list
	Pool     nn.Pooling `tenon:"static"` // of the items of a list
	Parts    []Part     // the fields of a record, or the items of a list
}

// width returns the number of features.
func (p Part) width() int {
	n := 0
	switch p.Kind {
	case Number:
		n = p.Numbers
	case OneHot:
		n = p.Words.Size()
	case Category:
		n = p.Table.Table.Shape().Dim(1)
	case list:
		n = p.Parts[0].width()
		if p.Each != nil {
			n = p.Each.Kernel.Shape().Dim(1)
		}
		n++
	case record, union:
		for _, in := range p.Parts {
			n += in.width()
		}
	}
	if p.Optional {
		n++
	}
	return n
}

// Width returns the number of features of a record.
func (e Encoder) Width() int { return e.Root.width() }

// Apply returns a vector for each record. Fields that the encoder does not know are ignored; if a
// field that it knows is absent or has another type, that is an error that names its path.
//
//	records: [rows] → [rows, Width]
func (e Encoder) Apply(records *structured.Tensor) tensor.Tensor {
	if records.Rank() != 1 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, "features.Encoder", fmt.Sprintf("%s is not a list of records", tenon.String(records.Spec()))))
	}
	return e.encode(e.Root, records, "")
}

// encode returns the features of the value at a path: [items, features].
func (e Encoder) encode(p Part, v tensor.Tensor, path string) tensor.Tensor {
	v, there := presence(v)
	var x tensor.Tensor
	switch p.Kind {
	case list:
		items, rows := itemsOf(v, path)
		y := e.encode(p.Parts[0], items, path)
		if p.Each != nil {
			y = p.Each.Apply(y)
		}
		y = nn.GlobalPool{Kind: p.Pool}.Apply(tenon.Must(ragged.FromPartition(y, rows)))
		count := ops.Log(ops.Add(ops.Cast(rows.RowLengths(), e.DType), 1.0))
		x = ops.Concat([]any{y, ops.ExpandDims(count, -1)}, -1)
	case record, union:
		var all []any
		for _, in := range p.Parts {
			if in.Kind != Skip {
				all = append(all, e.encode(in, partOf(v, p.Kind, in.Name, path), join(path, in.Name)))
			}
		}
		x = ops.Concat(all, -1)
	case Number:
		n := numbers(v, p.Numbers, path)
		if p.Optional {
			known := ops.LogicalNot(ops.Any(ops.IsNaN(n), -1))
			if there != nil {
				known = ops.LogicalAnd(known, there)
			}
			there = known
		}
		x = ops.Cast(p.Scaler.Apply(n), e.DType)
	default:
		ids, err := tenon.Try(func() tensor.Tensor { return lookup(p.Words, words(v)) })
		if err != nil {
			tenon.Throw(at(err, path))
		}
		if p.Kind == OneHot {
			x = ops.OneHot(ids, p.Words.Size(), -1, ops.OneHotOptions{})
			x = ops.Cast(x, e.DType)
		} else {
			x = p.Table.Apply(ids)
		}
	}
	if there != nil {
		x = ops.Where(ops.ExpandDims(there, -1), x, 0.0)
	}
	if p.Optional {
		if there == nil {
			there = ops.OnesLike(ops.Any(ops.IsNaN(x), -1))
		}
		x = ops.Concat([]any{x, ops.Cast(ops.ExpandDims(there, -1), e.DType)}, -1)
	}
	return x
}

// presence returns the values, and the mask of those that are not missing, or nil if none is
// missing.
func presence(v tensor.Tensor) (values, there tensor.Tensor) {
	if m, ok := v.(masked.Optional); ok && m.Mask().Shape().Rank() == 1 {
		return m.Values(), m.Mask()
	}
	return v, nil
}

// stored returns the stored form of types such as dates, and the entries of maps.
func stored(v tensor.Tensor) tensor.Tensor {
	switch t := v.(type) {
	case *structured.Map:
		return t.Entries()
	case *element.Tensor:
		return tenon.Must(element.Stored(t))
	}
	return v
}

// isVector reports whether each item has the same known number of numbers.
func isVector(v tensor.Tensor) bool {
	switch v.(type) {
	case tensor.Carrier, *structured.Tensor, *structured.Union:
		return false
	}
	s := v.Shape()
	return s.Rank() > 1 && v.DType() != dtype.String && s.Slice(1, s.Rank()).Size() > 0
}

// itemsOf returns the items of lists and their row partition.
func itemsOf(v tensor.Tensor, path string) (tensor.Tensor, *ragged.RowPartition) {
	items, rows, err := structured.Undivide(stored(v))
	if err != nil {
		tenon.Throw(at(err, path))
	}
	return items, rows
}

// partOf returns a field of records, or a variant of a union.
func partOf(v tensor.Tensor, kind Kind, name, path string) tensor.Tensor {
	var out tensor.Tensor
	err := error(tenon.NewError(tenon.ErrDType, "features", fmt.Sprintf("%s holds no %ss", tenon.String(v.Spec()), string(kind))))
	switch t := v.(type) {
	case *structured.Tensor:
		if kind == record && t.Rank() == 1 {
			out, err = t.Field(name)
		}
	case *structured.Union:
		if kind == union {
			out, err = t.Variant(name)
		}
	}
	if err != nil {
		tenon.Throw(at(err, join(path, name)))
	}
	return out
}

// numbers returns width float64 numbers for each item.
func numbers(v tensor.Tensor, width int, path string) tensor.Tensor {
	v = stored(v)
	if d := v.DType(); !d.IsFloat() && !d.IsInteger() && d != dtype.Bool {
		tenon.Throw(at(tenon.NewError(tenon.ErrDType, "features", fmt.Sprintf("%s holds no numbers", tenon.String(v.Spec()))), path))
	}
	s := v.Shape()
	if s.HasRank() && !(s.Rank() == 1 && width == 1) && s.Slice(min(1, s.Rank()), s.Rank()).Size() != width {
		tenon.Throw(at(tenon.NewError(tenon.ErrShape, "features", fmt.Sprintf("%s does not have %d numbers for each record", tenon.String(v.Spec()), width)), path))
	}
	return ops.Reshape(ops.Cast(v, dtype.Float64), []int{-1, width})
}

// words returns the words of a field.
func words(v tensor.Tensor) tensor.Tensor { return stored(v) }

// lookup looks up each word of a dictionary once.
func lookup(v nn.Vocabulary, x tensor.Tensor) tensor.Tensor {
	if d, ok := x.(*structured.Dictionary); ok {
		return ops.Gather(v.Lookup(d.Words()), d.Codes(), 0)
	}
	return v.Lookup(x)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// at returns an error with the path of the field.
func at(err error, path string) error {
	e := &tenon.Error{Kind: tenon.ErrInvalid, Op: "features", Where: path, Msg: err.Error()}
	var t *tenon.Error
	if errors.As(err, &t) {
		e.Kind, e.Msg, e.Hint = t.Kind, t.Msg, t.Hint
	}
	return e
}

func floatType(d dtype.DType) dtype.DType {
	if d == dtype.None {
		return dtype.Float32
	}
	return d
}
