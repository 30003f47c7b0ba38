package jsonl

import (
	"context"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/jsoncol"
	"github.com/tenonml/tenon/structured"
)

// Format says how records follow each other in the text.
type Format uint8

// The formats.
const (
	Lines        = Format(jsoncol.Lines)        // one record per line; blank lines are skipped
	Concatenated = Format(jsoncol.Concatenated) // records over as many lines as they like
	Document     = Format(jsoncol.Document)     // one array of records, or a single record
	Auto         = Format(jsoncol.Auto)         // whichever of these the beginning looks like
)

// Duplicates says which value counts where a key occurs twice in one object.
type Duplicates uint8

// The policies for duplicate keys.
const (
	DuplicateError = Duplicates(jsoncol.DuplicateError)
	DuplicateLast  = Duplicates(jsoncol.DuplicateLast)
	DuplicateFirst = Duplicates(jsoncol.DuplicateFirst)
)

// Overflow says what becomes of an integer that no int64 holds, in a column whose type is
// found in the data.
type Overflow uint8

// The policies for overflow.
const (
	OverflowError = Overflow(jsoncol.OverflowError)
	OverflowFloat = Overflow(jsoncol.OverflowFloat) // the column becomes float64
)

// Unicode says what becomes of invalid UTF-8 and of half surrogate pairs.
type Unicode uint8

// The policies for invalid text.
const (
	UnicodeError   = Unicode(jsoncol.UnicodeError)
	UnicodeReplace = Unicode(jsoncol.UnicodeReplace) // each becomes U+FFFD
)

// NonFinite says how NaN and the infinities are written, for which JSON has no form.
type NonFinite uint8

// The policies for numbers that are not finite.
const (
	NonFiniteError   = NonFinite(jsoncol.NonFiniteError)
	NonFiniteNull    = NonFinite(jsoncol.NonFiniteNull)
	NonFiniteLiteral = NonFinite(jsoncol.NonFiniteLiteral) // NaN, Infinity, -Infinity: [Options].NonFinite reads them
)

// Options say how to read. The zero value reads lines, finds all types in the data and
// refuses whatever is wrong or missing.
type Options struct {
	Format Format

	// Schema is the Spec of the records: those of rank 1, or of one. Its static sizes of
	// dimensions below the first hold, that of the first does not. Masked fields are
	// optional, dictionaries are strings. Nil: found in the data.
	Schema *structured.Spec

	// SkipUnknown skips keys that the Schema lacks, after a check of their syntax.
	// Otherwise they are an error.
	SkipUnknown bool

	// Paths are the only fields to find, as structured.PathString writes them; what is
	// below a path comes with it. Empty: all. Where a Schema is given, it alone says what
	// is read.
	Paths []string

	// Exclude are fields that are skipped, after a check of their syntax. Where a Schema is
	// given, it alone says what is read.
	Exclude []string

	// Maps are objects whose keys are data: they become a [structured.Map] in place of a
	// record. "*" in a path stands for what is in a map, and "$" is the record itself. An
	// object that has more than MaxKeys keys in all records, or so many of which each record
	// has so few that columns would be nearly all gaps, is a map without being named.
	Maps []string

	// Raw are values, of any and also of changing types, that are kept as their JSON text: a
	// string each.
	Raw []string

	// Widen takes the Schema for where the search for types begins: integers become float64
	// where a fraction comes, a field that is not in it, or that a record lacks, becomes
	// optional, and so on, as where types are found in the data. Element types that are
	// neither int64 nor float64 stay.
	Widen bool

	// Uniform gives all that [Batches] returns one Spec, that of all records. Where types
	// are found in the data they are looked for first, so that a source is read twice.
	Uniform bool

	// Missing is the policy for null and for fields that a record lacks. Beside a Schema,
	// MissingMasked makes a field optional that is not so by the Schema, where one is missing.
	Missing structured.Missing

	// Defaults are the values of MissingDefault by path, as structured.PathString writes
	// it: a bool, int64, float64 or string. A path that is named here has that policy
	// whatever Missing is.
	Defaults map[string]any

	Duplicates Duplicates
	Overflow   Overflow
	Unicode    Unicode

	// Unions lets a field have values of several types: it becomes a structured.Union.
	Unions bool

	// Dictionaries keeps strings as structured.Dictionary.
	Dictionaries bool

	// NonFinite reads NaN, Infinity and -Infinity as numbers.
	NonFinite bool

	MaxDepth   int // how deep arrays and objects nest; 0: 1000
	MaxColumns int // how many columns are found; 0: 65,536
	MaxKeys    int // how many keys an object has that is no map; 0: 1000

	// Lenient leaves out a line that is in error; Report says which. It needs Lines. Types
	// that are found in the data are those of most of the first lines.
	Lenient bool

	// MaxSkipped is the share of lines that lenient reading may leave out; more is an error.
	// 0: a half.
	MaxSkipped float64

	// Report, if not nil, is set to what has been read.
	Report *Report

	// Progress, if not nil, is called now and then, one call at a time, with the number
	// of bytes that have been read (after decompression) and of all there are, -1 where
	// that is not known.
	Progress func(done, total int64)

	// Context ends reading when it ends: with its cause as the error, also while a reader
	// hangs. Nil: nothing does.
	Context context.Context

	Workers int // goroutines that parse; 0: as many as run at once
}

// A Report tells what has been read.
type Report struct {
	Rows    int64    // records
	Skipped int64    // lines that lenient reading left out
	Bad     []*Error // what was wrong with the first thousand of them
}

// add adds what a table tells.
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

// judge returns an error if lenient reading has left out more than it may.
func (o *Options) judge(rows, skipped int64, bad []*jsoncol.Error) error {
	most := o.MaxSkipped
	if most == 0 {
		most = 0.5
	}
	if skipped == 0 || float64(skipped) <= most*float64(rows+skipped) {
		return nil
	}
	e := invalid("jsonl.Options.MaxSkipped", "", "%d of %d lines were left out, more than the share of %v", skipped, rows+skipped, most).(*tenon.Error)
	if len(bad) > 0 {
		e.Err = faultOf(bad[0])
	}
	return e
}

// reading returns the options for the reader of columns, and what makes values of them.
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

// splitPath reads a path as structured.PathString writes it.
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
