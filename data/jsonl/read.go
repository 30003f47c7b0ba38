package jsonl

import (
	"iter"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/jsoncol"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// ReadFile reads the records in a file.
func ReadFile(name string, o Options) (*structured.Tensor, error) { return Read(Files(name), o) }

// Read reads the records of a source, which must be objects, as a tensor of rank 1 with one row for
// each. A fault in the text is an [*Error].
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

// ReadValues is [Read] for values of any type: numbers, strings or lists as well as objects. It
// returns one row for each.
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
	if err == nil {
		err = s.err
	}
	if err != nil {
		return nil, nil, err
	}
	t, err := jsoncol.Read(s.open(), r)
	if err != nil {
		return nil, nil, err
	}
	o.Report.add(t)
	if err := o.judge(int64(t.Column.Len), t.Skipped, t.Bad); err != nil {
		return nil, nil, err
	}
	return t, b, nil
}

// Batches reads the records of a source as tensors with the given number of rows; the last one may
// have fewer. The next batches are parsed while one is used. There are no more batches after an
// error.
//
// If types are inferred, those of a batch fit all records up to that point: they may be wider than
// those of the preceding batch. All batches have the same Spec with Options.Uniform, or with a
// Schema, such as one from [Infer], unless it may be widened.
func Batches(s Source, rows int, o Options) iter.Seq2[*structured.Tensor, error] {
	return func(yield func(*structured.Tensor, error) bool) {
		o, err := o.uniform(s)
		if err != nil {
			yield(nil, failure("jsonl.Batches", err))
			return
		}
		r, b, err := o.reading()
		if err == nil && rows < 1 {
			err = invalid("jsonl.Batches", "rows", "is %d, want at least 1", rows)
		}
		if err == nil {
			err = s.err
		}
		if err != nil {
			yield(nil, failure("jsonl.Batches", err))
			return
		}
		var done, skipped int64
		var bad []*jsoncol.Error
		for t, err := range jsoncol.Batches(s.open(), rows, r) {
			var v *structured.Tensor
			if err == nil {
				o.Report.add(t)
				done, skipped, bad = done+int64(t.Column.Len), skipped+t.Skipped, append(bad, t.Bad...)[:min(1, len(bad)+len(t.Bad))]
				if t.Column.Len == 0 && done > 0 {
					continue // only skipped lines at the end
				}
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
		if err := o.judge(done, skipped, bad); err != nil {
			yield(nil, failure("jsonl.Batches", err))
		}
	}
}

// uniform returns the options for reading all of a source in batches of one Spec, if that is
// requested.
func (o Options) uniform(s Source) (Options, error) {
	if !o.Uniform || o.Schema != nil {
		return o, nil
	}
	if !s.again() {
		e := invalid("jsonl.Options.Uniform", "", "a reader can be read only once, and the Spec is known only after reading everything").(*tenon.Error)
		e.Hint = "give a Schema, or read from memory or files"
		return o, e
	}
	var err error
	o.Schema, err = Infer(s, 0, o)
	o.SkipUnknown = true // for paths that are excluded or not wanted
	if o.Missing == structured.MissingMasked {
		o.Missing = structured.MissingError // each field now has its own policy
	}
	return o, err
}

// Infer returns the Spec of the first rows records of a source, or of all records if rows is 0: the
// types that [Read] would infer with the same options, with an unknown number of rows. It can be
// used as the Schema for reading the rest, or similar sources. A reader is used up by Infer. Only a
// part of the source is in memory at any time.
func Infer(s Source, rows int, o Options) (*structured.Spec, error) {
	if rows == 0 {
		return inferAll(s, o)
	}
	for t, err := range Batches(s, rows, o) {
		if err != nil {
			return nil, err
		}
		return rowsUnknown(t)
	}
	return structured.NewSpec(rowsOf(-1), nil)
}

// inferAll is [Infer] for all records.
func inferAll(s Source, o Options) (*structured.Spec, error) {
	r, b, err := o.reading()
	if err == nil {
		err = s.err
	}
	var found *jsoncol.Schema
	if err == nil {
		found, err = jsoncol.Infer(s.open(), r)
	}
	if err != nil {
		return nil, failure("jsonl.Infer", err)
	}
	if b.spec == nil {
		b.guide = found
	}
	t, err := b.records(&jsoncol.Table{Column: found.Empty(), Schema: found})
	if err != nil {
		return nil, failure("jsonl.Infer", err)
	}
	return rowsUnknown(t)
}
