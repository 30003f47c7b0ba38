package jsonl

import (
	"context"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/jsoncol"
	"github.com/tenonml/tenon/structured"
)

// Format is the way in which records follow each other in the text.
type Format uint8

// The formats.
const (
	Lines        = Format(jsoncol.Lines)        // one record per line; blank lines are skipped
	Concatenated = Format(jsoncol.Concatenated) // consecutive records, which may span lines
	Document     = Format(jsoncol.Document)     // one array of records, or a single record
	Auto         = Format(jsoncol.Auto)         // detected from the beginning of the text
)

// Duplicates is the policy for keys that occur twice in one object.
type Duplicates uint8

// The policies for duplicate keys.
const (
	DuplicateError = Duplicates(jsoncol.DuplicateError)
	DuplicateLast  = Duplicates(jsoncol.DuplicateLast)
	DuplicateFirst = Duplicates(jsoncol.DuplicateFirst)
)

// Overflow is the policy for integers that int64 cannot hold, in a column whose type is inferred.
type Overflow uint8

// The policies for overflow.
const (
	OverflowError = Overflow(jsoncol.OverflowError)
	OverflowFloat = Overflow(jsoncol.OverflowFloat) // the column becomes float64
)

// Unicode is the policy for invalid UTF-8 and unpaired surrogates.
type Unicode uint8

// The policies for invalid text.
const (
	UnicodeError   = Unicode(jsoncol.UnicodeError)
	UnicodeReplace = Unicode(jsoncol.UnicodeReplace) // each becomes U+FFFD
)

// NonFinite is the policy for writing NaN and infinities, which JSON cannot represent.
type NonFinite uint8

// The policies for numbers that are not finite.
const (
	NonFiniteError   = NonFinite(jsoncol.NonFiniteError)
	NonFiniteNull    = NonFinite(jsoncol.NonFiniteNull)
	NonFiniteLiteral = NonFinite(jsoncol.NonFiniteLiteral) // NaN, Infinity, -Infinity, which can be read with [Options].NonFinite
)

// Options control reading. The zero value reads lines, infers all types, and treats everything
// invalid or missing as an error.
type Options struct {
	Format Format

	// Schema is the Spec of the records, of rank 1 or 0. The static sizes of its dimensions are
	// enforced, except that of the first. Masked fields are optional; dictionaries are strings. Nil
	// means that the schema is inferred.
	Schema *structured.Spec

	// SkipUnknown skips keys that the Schema lacks, after checking their syntax. Otherwise they are
	// an error.
	SkipUnknown bool

	// Paths are the only fields to read, in the form of structured.PathString; a path includes
	// everything below it. Empty means all fields. Paths does not apply if a Schema is given.
	Paths []string

	// Exclude are fields to skip, after checking their syntax. It does not apply if a Schema is
	// given.
	Exclude []string

	// Maps are the paths of objects whose keys are data; they become a [structured.Map]
	// instead of a record. "*" in a path stands for the values of a map, and "$" is the
	// record itself. An object becomes a map without being named here if it has more than
	// MaxKeys keys in all records together, or if its keys are so sparse that its columns
	// would consist almost entirely of gaps.
	Maps []string

	// Raw are the paths of values, of any type, that are kept as strings with their JSON text.
	Raw []string

	// Widen treats the Schema as the starting point of inference: integers become float64
	// if there are fractions, a field that is not in the Schema, or that a record lacks,
	// becomes optional, and so on, as with inferred types. Element types other than int64
	// and float64 are kept.
	Widen bool

	// Uniform makes [Batches] return batches of a single Spec, that of all records. If types are
	// inferred, they are inferred in advance, so that a source is read twice.
	Uniform bool

	// Missing is the policy for null and for fields that a record lacks. With a Schema,
	// MissingMasked makes a field optional if a value is missing, even if it is not optional in the
	// Schema.
	Missing structured.Missing

	// Defaults are the values for MissingDefault by path, in the form of structured.PathString: a
	// bool, int64, float64 or string. A path listed here has that policy regardless of Missing.
	Defaults map[string]any

	Duplicates Duplicates
	Overflow   Overflow
	Unicode    Unicode

	// Unions allows a field to have values of several types: it becomes a structured.Union.
	Unions bool

	// Dictionaries reads strings as structured.Dictionary.
	Dictionaries bool

	// NonFinite accepts NaN, Infinity and -Infinity as numbers.
	NonFinite bool

	MaxDepth   int // maximum nesting of arrays and objects; 0 means 1000
	MaxColumns int // maximum number of inferred columns; 0 means 65,536
	MaxKeys    int // maximum number of keys of an object that is not a map; 0 means 1000

	// Lenient skips lines with errors, which Report lists. It requires Lines. Inferred types are
	// those of the majority of the first lines.
	Lenient bool

	// MaxSkipped is the maximum share of lines that lenient reading may skip; skipping more is an
	// error. 0 means one half.
	MaxSkipped float64

	// Report, if not nil, is set to a report of what was read.
	Report *Report

	// Progress, if not nil, is called from time to time, one call at a time, with the number of
	// bytes read so far (after decompression) and the total, or -1 if the total is unknown.
	Progress func(done, total int64)

	// Context ends reading when it ends, with its cause as the error, even while a reader hangs.
	// Nil means no context.
	Context context.Context

	Workers int // number of goroutines that parse; 0 means GOMAXPROCS
}

// A Report describes what was read.
type Report struct {
	Rows    int64    // number of records
	Skipped int64    // number of lines skipped by lenient reading
	Bad     []*Error // the errors of the first thousand of them
}

// add adds the counts of a table.
func (r *Report) add(t *jsoncol.Table) {
	if r == nil {
		return
	}
	r.Rows += int64(t.Column.Len)
	r.Skipped += t.Skipped
	for _, e := range t.Bad {
		r.Bad = append(r.Bad, faultOf(e))
	}
}

// judge returns an error if lenient reading has skipped more lines than allowed.
func (o *Options) judge(rows, skipped int64, bad []*jsoncol.Error) error {
	most := o.MaxSkipped
	if most == 0 {
		most = 0.5
	}
	if skipped == 0 || float64(skipped) <= most*float64(rows+skipped) {
		return nil
	}
	e := invalid("jsonl.Options.MaxSkipped", "", "%d of %d lines were skipped, more than the allowed share of %v", skipped, rows+skipped, most).(*tenon.Error)
	if len(bad) > 0 {
		e.Err = faultOf(bad[0])
	}
	return e
}

// reading returns the options for package jsoncol, and a builder of values from its columns.
func (o *Options) reading() (jsoncol.Options, *builder, error) {
	r := jsoncol.Options{
		Format: jsoncol.Format(o.Format), SkipUnknown: o.SkipUnknown,
		Missing:    missing(o.Missing),
		Duplicates: jsoncol.Duplicate(o.Duplicates), Overflow: jsoncol.Overflow(o.Overflow), Unicode: jsoncol.Unicode(o.Unicode),
		Unions: o.Unions, Widen: o.Widen, MaxKeys: o.MaxKeys, NonFinite: o.NonFinite, MaxDepth: o.MaxDepth, MaxColumns: o.MaxColumns,
		Lenient: o.Lenient, Workers: o.Workers, Progress: o.Progress, Context: o.Context,
	}
	if o.Widen && r.Missing == jsoncol.MissingError {
		r.Missing = jsoncol.MissingMasked
	}
	for _, list := range []struct {
		name  string
		paths []string
		to    *[][]string
	}{{"Paths", o.Paths, &r.Paths}, {"Maps", o.Maps, &r.Maps}, {"Raw", o.Raw, &r.Raw}, {"Exclude", o.Exclude, &r.Exclude}} {
		for _, p := range list.paths {
			var names []string
			if p != "$" {
				var err error
				if names, err = splitPath(p); err != nil {
					return r, nil, invalid("jsonl.Options."+list.name, p, "%v", err)
				}
			}
			*list.to = append(*list.to, names)
		}
	}
	b := &builder{dictionaries: o.Dictionaries, spec: o.Schema, loose: o.Widen || o.Missing == structured.MissingMasked}
	var err error
	if r.Schema, err = o.schema(b); err != nil {
		return r, nil, err
	}
	if o.Report != nil {
		*o.Report = Report{}
	}
	return r, b, nil
}

func missing(m structured.Missing) jsoncol.Missing {
	switch m {
	case structured.MissingDefault:
		return jsoncol.MissingDefault
	case structured.MissingMasked:
		return jsoncol.MissingMasked
	case structured.MissingEmpty:
		return jsoncol.MissingEmpty
	}
	return jsoncol.MissingError
}

// splitPath parses a path in the form of structured.PathString.
func splitPath(text string) ([]string, error) {
	var names []string
	for rest := text; ; {
		var name string
		if strings.HasPrefix(rest, `"`) {
			var err error
			if name, rest, err = unquoted(rest); err != nil {
				return nil, err
			}
		} else if i := strings.IndexByte(rest, '.'); i >= 0 {
			name, rest = rest[:i], rest[i:]
		} else {
			name, rest = rest, ""
		}
		if name == "" {
			return nil, errEmptyName
		}
		names = append(names, name)
		if rest == "" {
			return names, nil
		}
		if rest[0] != '.' {
			return nil, errAfterQuote
		}
		rest = rest[1:]
	}
}
