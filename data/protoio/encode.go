package protoio

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/anatomy"
	"github.com/tenonml/tenon/internal/message"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// EncodeExamples writes a tf.Example message for each row of columns, which are dense or ragged
// tensors with the same number of rows. It also returns the Features with which [ParseExamples]
// reads the columns back. Features are sorted by name.
//
// Integers and booleans become int64, and floating-point types of up to 32 bits float32;
// float64 and uint64 do not fit and are an error. If a ragged column has inner ragged
// dimensions, the lengths of their rows become separate features, called name/row_lengths_1 and
// so on, from the outermost dimension inwards. A column of a type defined elsewhere becomes one
// column for each of its components, called name/component.
func EncodeExamples(columns map[string]tensor.Tensor) (messages [][]byte, fs Features, err error) {
	defer tenon.Catch(&err)
	rows := -1
	parts, fs, err := encodeColumns(columns, &rows)
	if err != nil {
		return nil, nil, err
	}
	messages = make([][]byte, max(rows, 0))
	for i := range messages {
		messages[i] = message.AppendBytes(nil, 1, appendEntries(nil, parts, i))
	}
	return messages, fs, nil
}

// encodeColumns encodes columns, which must all have the given number of rows. If that is negative,
// it is set to the number of rows of the first column.
func encodeColumns(columns map[string]tensor.Tensor, rows *int) (parts []encoded, fs Features, err error) {
	fs = Features{}
	if columns, err = spread(columns); err != nil {
		return nil, nil, err
	}
	for _, name := range sortedKeys(columns) {
		list, f, err := encodeColumn(name, columns[name])
		if err != nil {
			return nil, nil, err
		}
		fs[name] = f
		for _, e := range list {
			if err := sameRows(name, len(e.splits)-1, rows); err != nil {
				return nil, nil, err
			}
		}
		parts = append(parts, list...)
	}
	return parts, fs, nil
}

// spread replaces columns of types defined elsewhere by their components, as name/component.
func spread(columns map[string]tensor.Tensor) (map[string]tensor.Tensor, error) {
	out := map[string]tensor.Tensor{}
	var add func(name string, v tenon.Value) error
	add = func(name string, v tenon.Value) error {
		if v == nil {
			return fail(tenon.ErrInvalid, name, "the column is nil")
		}
		if a := anatomy.Of(v); a.Kind == anatomy.Parts || a.Kind == anatomy.Element {
			if shared, ok := rows.Components(v.Spec()); ok && !slices.Contains(shared, true) {
				for _, f := range a.Fields {
					if err := add(name+"/"+f.Name, f.Value); err != nil {
						return err
					}
				}
				return nil
			}
		}
		t, ok := v.(tensor.Tensor)
		if _, twice := out[name]; twice {
			return fail(tenon.ErrInvalid, name, "there are two columns with this name")
		} else if !ok {
			return fail(tenon.ErrUnsupported, name, "examples cannot represent %s", tenon.String(v.Spec()))
		}
		out[name] = t
		return nil
	}
	for _, name := range sortedKeys(columns) {
		if err := add(name, columns[name]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func sameRows(name string, n int, rows *int) error {
	if *rows >= 0 && n != *rows {
		return fail(tenon.ErrShape, name, "has %d rows, but other columns have %d", n, *rows)
	}
	*rows = n
	return nil
}

// appendEntries appends the entries of a row to a Features message.
func appendEntries(b []byte, parts []encoded, row int) []byte {
	for i := range parts {
		b = parts[i].appendEntry(b, row)
	}
	return b
}

// EncodeStructured is [EncodeExamples] for the fields of records of rank 1.
func EncodeStructured(t *structured.Tensor) ([][]byte, Features, error) {
	if t.Rank() != 1 {
		return nil, nil, fail(tenon.ErrShape, "", "the records have rank %d, not 1", t.Rank())
	}
	columns := map[string]tensor.Tensor{}
	for _, name := range t.FieldNames() {
		f, err := t.Field(name)
		if err != nil {
			return nil, nil, err
		}
		columns[name] = f
	}
	return EncodeExamples(columns)
}

// AppendExample appends the message of one example to b. A feature is an []int64, []float32 or
// []string, or a single such element.
func AppendExample(b []byte, features map[string]any) ([]byte, error) {
	var all []byte
	for _, name := range sortedKeys(features) {
		t, err := tensor.Convert(features[name])
		if err != nil {
			return b, err
		}
		e, err := encodeValues(name, ops.Reshape(t, []int{-1}))
		if err != nil {
			return b, err
		}
		e.splits = []int64{0, int64(t.Shape().Size())}
		all = e.appendEntry(all, 0)
	}
	return message.AppendBytes(b, 1, all), nil
}

// encoded is a feature to write: values and row splits.
type encoded struct {
	key    string
	kind   kind
	ints   []int64
	floats []float32
	texts  *tensor.Strings
	splits []int64
}

func encodeColumn(name string, x tensor.Tensor) ([]encoded, Feature, error) {
	a := anatomy.Of(x)
	switch a.Kind {
	case anatomy.Leaf:
		s := x.Shape()
		if s.Rank() < 1 {
			return nil, nil, fail(tenon.ErrShape, name, "a scalar has no rows")
		}
		rows := s.Dim(0)
		e, err := encodeValues(name, x)
		if err != nil {
			return nil, nil, err
		}
		item := s.Tail(1)
		e.splits = evenSplits(rows, item.Size())
		return []encoded{e}, Fixed{DType: e.kind.dtype(), Shape: item}, nil
	case anatomy.Lists:
		flat, ok := a.Inner.(tensor.Tensor)
		if ok && anatomy.Of(flat).Kind == anatomy.Leaf {
			return encodeRagged(name, a.Partitions, flat)
		}
	case anatomy.Words:
		return encodeColumn(name, ops.Gather(a.Words, a.Inner, 0))
	case anatomy.Named:
		return encodeColumn(name, a.Inner.(tensor.Tensor))
	}
	return nil, nil, fail(tenon.ErrUnsupported, name, "examples cannot represent %s, only dense and ragged tensors", tenon.String(x.Spec()))
}

// encodeRagged encodes the flat values, and the lengths of the inner rows.
func encodeRagged(name string, parts []*ragged.RowPartition, values tensor.Tensor) ([]encoded, Feature, error) {
	e, err := encodeValues(name, values)
	if err != nil {
		return nil, nil, err
	}
	f := Ragged{DType: e.kind.dtype(), Splits: parts[0].DType()}
	list := []encoded{}
	splits := splitsOf(parts[0].RowSplits())
	for i, inner := range parts[1:] {
		next := splitsOf(inner.RowSplits())
		lengths := make([]int64, len(next)-1)
		for i := range lengths {
			lengths[i] = next[i+1] - next[i]
		}
		key := fmt.Sprintf("%s/row_lengths_%d", name, i+1)
		list = append(list, encoded{key: key, kind: int64List, ints: lengths, splits: splits})
		f.Partitions = append(f.Partitions, Partition{RowLengths: key})
		through := make([]int64, len(splits))
		for i, s := range splits {
			through[i] = next[s]
		}
		splits = through
	}
	flat := values.Shape()
	for _, n := range flat.Tail(1).Dims() {
		f.Partitions = append(f.Partitions, Partition{UniformLength: n})
	}
	item := int64(flat.Tail(1).Size())
	if item == 0 {
		return nil, nil, fail(tenon.ErrUnsupported, name, "a dimension of size 0 cannot be read back from an example")
	}
	if item != 1 {
		scaled := make([]int64, len(splits))
		for i, s := range splits {
			scaled[i] = s * item
		}
		splits = scaled
	}
	e.splits = splits
	return append([]encoded{e}, list...), f, nil
}

// evenSplits returns the splits of rows of equal length.
func evenSplits(rows, length int) []int64 {
	splits := make([]int64, rows+1)
	for i := range splits {
		splits[i] = int64(i * length)
	}
	return splits
}

func splitsOf(t tensor.Tensor) []int64 { return tensor.Data[int64](ops.Cast(t, dtype.Int64)) }

// encodeValues returns the elements of a tensor as the kind of list they fit.
func encodeValues(name string, x tensor.Tensor) (encoded, error) {
	e := encoded{key: name}
	switch d := x.DType(); d {
	case dtype.String:
		e.kind, e.texts = bytesList, x.(*tensor.Strings)
	case dtype.Float32, dtype.Float16, dtype.BFloat16:
		e.kind, e.floats = floatList, tensor.Data[float32](ops.Cast(x, dtype.Float32))
	case dtype.Bool, dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64, dtype.Uint8, dtype.Uint16, dtype.Uint32:
		e.kind, e.ints = int64List, tensor.Data[int64](ops.Cast(x, dtype.Int64))
	default:
		return e, &tenon.Error{Kind: tenon.ErrDType, Op: "protoio", Where: name, Msg: fmt.Sprintf("examples cannot represent %v", d),
			Hint: "cast it to int64 or float32 if the loss is acceptable"}
	}
	return e, nil
}

// appendEntry appends the entry of a row to a Features message.
func (e *encoded) appendEntry(b []byte, row int) []byte {
	entry := message.AppendBytes(nil, 1, e.key)
	return message.AppendBytes(b, 1, message.AppendBytes(entry, 2, e.feature(row)))
}

// feature returns the Feature message of a row.
func (e *encoded) feature(row int) []byte {
	lo, hi := e.splits[row], e.splits[row+1]
	var list []byte
	switch e.kind {
	case int64List:
		var packed []byte
		for _, x := range e.ints[lo:hi] {
			packed = protowire.AppendVarint(packed, uint64(x))
		}
		list = appendList(packed)
	case floatList:
		var packed []byte
		for _, x := range e.floats[lo:hi] {
			packed = binary.LittleEndian.AppendUint32(packed, math.Float32bits(x))
		}
		list = appendList(packed)
	default:
		for i := lo; i < hi; i++ {
			list = message.AppendBytes(list, 1, e.texts.At(int(i)))
		}
	}
	return message.AppendBytes(nil, protowire.Number(e.kind), list)
}

// appendList returns a list with packed elements, which is empty if there are none.
func appendList(packed []byte) []byte {
	if len(packed) == 0 {
		return nil
	}
	return message.AppendBytes(nil, 1, packed)
}
