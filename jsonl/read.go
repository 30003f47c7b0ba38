package jsonl

import (
	"iter"

	"github.com/tenonml/tenon/internal/jsoncol"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// ReadFile reads the records in a file.
func ReadFile(name string, o Options) (*structured.Tensor, error) { return Read(Files(name), o) }

// Read reads the records of a source, which have to be objects: a tensor of rank 1 with
// a row for each. A fault in the text is an [*Error].
func Read(s Source, o Options) (*structured.Tensor, error) {
	t, b, err := read(s, o)
	if err != nil {
		return nil, failure("jsonl.Read", err)
	}
	out, err := b.records(t)
	if err != nil {
		return nil, failure("jsonl.Read", err)
	}
	return out, nil
}

// ReadValues is [Read] for values of any type: numbers, strings or lists as well as
// objects, with a row for each.
func ReadValues(s Source, o Options) (tensor.Tensor, error) {
	t, b, err := read(s, o)
	if err != nil {
		return nil, failure("jsonl.ReadValues", err)
	}
	v, err := b.value(t.Column)
	if err != nil {
		return nil, failure("jsonl.ReadValues", err)
	}
	return v, nil
}

func read(s Source, o Options) (*jsoncol.Table, *builder, error) {
	r, b, err := o.reading()
	if err != nil {
		return nil, nil, err
	}
	t, err := jsoncol.Read(s.inputs, r)
	if err != nil {
		return nil, nil, err
	}
	o.Report.add(t)
	return t, b, nil
}

// Batches reads the records of a source as tensors of a number of rows, the last of
// which may have fewer. The next ones are parsed while one is used. After an error there
// are no more.
//
// Where types are found in the data, those of a batch fit all the records up to
// there: they may be wider than those of the batch before. A Schema, such as that of
// [Infer], gives all batches one Spec.
func Batches(s Source, rows int, o Options) iter.Seq2[*structured.Tensor, error] {
	return func(yield func(*structured.Tensor, error) bool) {
		r, b, err := o.reading()
		if err == nil && rows < 1 {
			err = invalid("jsonl.Batches", "rows", "is %d, want 1 at least", rows)
		}
		if err != nil {
			yield(nil, failure("jsonl.Batches", err))
			return
		}
		for t, err := range jsoncol.Batches(s.inputs, rows, r) {
			var v *structured.Tensor
			if err == nil {
				o.Report.add(t)
				v, err = b.records(t)
			}
			if err != nil {
				yield(nil, failure("jsonl.Batches", err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// Infer returns the Spec of the first records of a source, or of all of them where rows
// is 0: the types that [Read] finds, with a number of rows that is not known. Options
// are those of Read. It is the Schema for reading the rest, or other sources like it. A
// reader has been used up then.
func Infer(s Source, rows int, o Options) (*structured.Spec, error) {
	if rows == 0 {
		t, err := Read(s, o)
		if err != nil {
			return nil, err
		}
		return rowsUnknown(t)
	}
	for t, err := range Batches(s, rows, o) {
		if err != nil {
			return nil, err
		}
		return rowsUnknown(t)
	}
	return structured.NewSpec(rowsOf(-1), nil)
}
