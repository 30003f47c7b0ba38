package protoio

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/message"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// EncodeSequenceExamples writes a tf.SequenceExample message for each row of the context's
// columns, as [EncodeExamples] does, and of the lists, which have one feature for each step.
// It also returns the Features with which [ParseSequenceExamples] reads both back. Without
// columns there are no messages.
//
// The rows of a list are its steps:
//
//	ragged [rows, (steps), (values)]   each step has any number of values: a Ragged feature
//	ragged [rows, (steps), shape…]     each step has as many: a Sequence, which is read padded,
//	dense  [rows, steps, shape…]       with the numbers of steps in [Sequences.Lengths]
//
// The lengths of further ragged dimensions become separate lists, just as EncodeExamples makes
// them separate features.
func EncodeSequenceExamples(context, lists map[string]tensor.Tensor) (messages [][]byte, c, l Features, err error) {
	defer tenon.Catch(&err)
	rows := -1
	parts, c, err := encodeColumns(context, &rows)
	if err != nil {
		return nil, nil, nil, err
	}
	l = Features{}
	var all []encodedList
	for _, name := range sortedKeys(lists) {
		list, f, err := encodeList(name, lists[name])
		if err != nil {
			return nil, nil, nil, err
		}
		if err := sameRows(name, len(list[0].steps)-1, &rows); err != nil {
			return nil, nil, nil, err
		}
		all, l[name] = append(all, list...), f
	}
	messages = make([][]byte, max(rows, 0))
	for i := range messages {
		var features []byte
		for j := range all {
			features = all[j].appendEntry(features, i)
		}
		messages[i] = message.AppendBytes(message.AppendBytes(nil, 1, appendEntries(nil, parts, i)), 2, features)
	}
	return messages, c, l, nil
}

// encodedList is a list to write: its features, with one row for each step, and the splits that
// divide the steps among the examples.
type encodedList struct {
	encoded
	steps []int64
}

func encodeList(name string, x tensor.Tensor) ([]encodedList, Feature, error) {
	var steps []int64
	var values tensor.Tensor
	switch t, inRows := ragged.As(x); {
	case inRows:
		steps, values = splitsOf(t.RowSplits()), t.Values()
	case tenon.IsLeaf(x.Spec()):
		if x.Shape().Rank() < 2 {
			return nil, nil, fail(tenon.ErrShape, name, "a list must have rows and steps, which %v does not", x.Spec())
		}
		rows, n := x.Shape().Dim(0), x.Shape().Dim(1)
		steps = evenSplits(rows, n)
		values = reshape(x, x.Shape().Tail(2).Insert(0, rows*n))
	default:
		return nil, nil, fail(tenon.ErrUnsupported, name, "sequence examples cannot represent %s, only dense and ragged tensors", tenon.String(x.Spec()))
	}
	parts, f, err := encodeColumn(name, values)
	if err != nil {
		return nil, nil, err
	}
	if fixed, ok := f.(Fixed); ok {
		if fixed.Shape.Size() == 0 {
			return nil, nil, fail(tenon.ErrUnsupported, name, "a dimension of size 0 cannot be read back from an example")
		}
		f = Sequence{DType: fixed.DType, Shape: fixed.Shape}
	}
	list := make([]encodedList, len(parts))
	for i, e := range parts {
		list[i] = encodedList{e, steps}
	}
	return list, f, nil
}

// appendEntry appends the entry of an example to a FeatureLists message.
func (e *encodedList) appendEntry(b []byte, row int) []byte {
	var list []byte
	for step := e.steps[row]; step < e.steps[row+1]; step++ {
		list = message.AppendBytes(list, 1, e.feature(int(step)))
	}
	entry := message.AppendBytes(nil, 1, e.key)
	return message.AppendBytes(b, 1, message.AppendBytes(entry, 2, list))
}

// Structured returns the context and the lists as the fields of a tensor of records, one record for
// each message. Two fields of the same name are an error, and so is a [VarLen] feature, because
// records cannot have sparse fields.
func (s *Sequences) Structured() (*structured.Tensor, error) {
	for _, name := range sortedKeys(s.Lists) {
		if _, both := s.Context[name]; both {
			return nil, fail(tenon.ErrInvalid, name, "is both a feature of the context and a list; read one of them under a different name with Key")
		}
	}
	fields := append(recordFields(s.Context), recordFields(s.Lists)...)
	for _, f := range fields {
		if _, ok := f.Value.(*sparse.Tensor); ok {
			return nil, fail(tenon.ErrUnsupported, f.Name, noSparseField)
		}
	}
	return structured.FromFieldsAndRank(fields, 1, structured.Options{})
}
