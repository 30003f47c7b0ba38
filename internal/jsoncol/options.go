package jsoncol

import "context"

// Missing is the policy for records that lack a field, and for null.
type Missing uint8

// The policies for missing values.
const (
	// MissingInherit uses the policy of the Options. In the Options it means MissingError.
	MissingInherit Missing = iota
	// MissingError rejects the input and reports the path and the row.
	MissingError
	// MissingDefault stores the schema's Default or, without one, the zero of the type: false, 0,
	// the empty string, the empty list, a struct of defaults.
	MissingDefault
	// MissingMasked stores a placeholder and clears the row's validity.
	MissingMasked
	// MissingEmpty stores an empty list. A missing value that is not a list is an error.
	MissingEmpty
)

// Duplicate is the policy for a key that occurs twice in one object.
type Duplicate uint8

// The policies for duplicate keys.
const (
	DuplicateError Duplicate = iota
	DuplicateLast
	DuplicateFirst
)

// Overflow is the policy for integers that int64 cannot hold in a column whose type is inferred.
type Overflow uint8

// The policies for overflow.
const (
	OverflowError Overflow = iota
	OverflowFloat          // the column becomes float64
)

// Unicode is the policy for invalid UTF-8 and lone surrogates.
type Unicode uint8

// The policies for invalid text.
const (
	UnicodeError   Unicode = iota
	UnicodeReplace         // each becomes U+FFFD
)

// Format is the way in which records follow each other in the input.
type Format uint8

// The formats.
const (
	// Lines is one record per line. A record must not contain a line break; blank lines are
	// skipped.
	Lines Format = iota
	// Concatenated is a sequence of records, with or without white space between them. A record may
	// span several lines.
	Concatenated
	// Document is one JSON value: an array, whose elements are the records, or
	// anything else, which is the only record.
	Document
	// Auto is Lines if the first line that is not blank holds a complete value; otherwise it is
	// Document if the input begins with '[', and Concatenated if not.
	Auto
)

// Options control reading. The zero value reads JSON lines strictly and infers every type.
type Options struct {
	// Schema is the type of a record. If it is nil, and for every Null in it, the type is inferred
	// from the data: integers and floating-point numbers in one place become float64; other
	// mixtures are an error unless Unions is set.
	Schema *Schema
	// Paths, if not empty, are the only fields that are read, as names from the root; lists on the
	// way are passed through, and a path includes everything below it. The rest is checked for
	// syntax and skipped. Paths apply only to inferred structs; a given schema lists the fields it
	// wants and sets SkipUnknown.
	Paths [][]string
	// Maps are the paths of objects that are read as maps, Raw those of values that are read as
	// their JSON text, and Exclude those of fields that are skipped. They have the form of Paths;
	// "*" stands for the values of a map. They apply where types are inferred.
	Maps, Raw, Exclude [][]string
	// MaxKeys is the largest number of keys that inferred objects in one place may have in total;
	// if they have more, they become maps. 0 means 1000.
	MaxKeys int
	// Widen says that Schema is only the starting point of inference: values that it does not
	// accept widen it as if it had been inferred, except for elements whose DType it specifies.
	Widen bool
	// SkipUnknown skips keys that a given schema lacks, after a syntax check.
	// Otherwise they are an error.
	SkipUnknown bool

	Missing    Missing
	Duplicates Duplicate
	Overflow   Overflow
	Unicode    Unicode
	// Unions lets an inferred column hold values of different kinds.
	Unions bool
	// NonFinite accepts the literals NaN, Infinity and -Infinity as numbers.
	NonFinite bool
	// MaxDepth limits the nesting of arrays and objects; 0 means 1000.
	MaxDepth int
	// MaxColumns limits the number of columns that inference creates; 0 means 65,536.
	MaxColumns int

	Format Format
	// Lenient skips and counts lines with errors. It requires Lines.
	Lenient bool
	// MaxBad limits the number of bad lines that are kept with their errors; all are counted. 0
	// means 1000.
	MaxBad int

	// Context ends reading when it ends, with its cause as the error, even while a reader hangs.
	// Nil means a context that never ends.
	Context context.Context
	// Workers is the number of goroutines that parse; 0 means GOMAXPROCS.
	Workers int
	// ChunkSize is the number of bytes that a worker takes at a time; 0 means 256 KiB. A longer
	// record makes its chunk longer. The result does not depend on it.
	ChunkSize int
	// Progress, if not nil, is called after each chunk, one call at a time, with the number of
	// bytes read so far and the total, or -1 if the total is not known.
	Progress func(done, total int64)
}

const (
	defaultMaxDepth   = 1000
	defaultMaxColumns = 1 << 16
	defaultMaxBad     = 1000
	defaultMaxKeys    = 1000
	defaultChunkSize  = 256 << 10
)
