package jsoncol

import "context"

// Missing says what is stored where a record lacks a field, and for null.
type Missing uint8

// The policies for missing values.
const (
	// MissingInherit takes the policy of the Options. In the Options it is
	// MissingError.
	MissingInherit Missing = iota
	// MissingError refuses the input and names the path and the row.
	MissingError
	// MissingDefault stores the schema's Default, or else the zero of the type:
	// false, 0, the empty string, the empty list, a struct of defaults.
	MissingDefault
	// MissingMasked stores a placeholder and clears the row's validity.
	MissingMasked
	// MissingEmpty stores an empty list. A missing value that is no list is an
	// error.
	MissingEmpty
)

// Duplicate says which value counts when a key occurs twice in one object.
type Duplicate uint8

// The policies for duplicate keys.
const (
	DuplicateError Duplicate = iota
	DuplicateLast
	DuplicateFirst
)

// Overflow says what becomes of an integer that int64 cannot hold in a column
// whose type is inferred.
type Overflow uint8

// The policies for overflow.
const (
	OverflowError Overflow = iota
	OverflowFloat          // the column becomes float64
)

// Unicode says what becomes of invalid UTF-8 and of lone surrogates.
type Unicode uint8

// The policies for invalid text.
const (
	UnicodeError   Unicode = iota
	UnicodeReplace         // each becomes U+FFFD
)

// Format says how records follow each other in the input.
type Format uint8

// The formats.
const (
	// Lines is one record per line. A record may not contain a line break; blank
	// lines are skipped.
	Lines Format = iota
	// Concatenated is records that follow each other with or without white space
	// between them, each over as many lines as it likes.
	Concatenated
	// Document is one JSON value: an array, whose elements are the records, or
	// anything else, which is the only record.
	Document
	// Auto is Lines if the first line that is not blank holds a whole value,
	// otherwise Document if the input begins with '[', otherwise Concatenated.
	Auto
)

// Options says how to read. The zero value reads JSON lines strictly and
// infers every type.
type Options struct {
	// Schema is the type of a record. Nil, and every Null in it, means that the
	// type is found in the data: integers and floating point numbers in one place
	// become float64, other mixtures are an error unless Unions is set.
	Schema *Schema
	// Paths, if not empty, are the only fields that are read, as names from the
	// root; lists on the way are passed through, and a path includes all below
	// it. The rest is checked for syntax and skipped. Only inferred structs are
	// pruned; a given schema lists what it wants and sets SkipUnknown.
	Paths [][]string
	// Maps are paths of objects that are read as maps, Raw those of values that are read
	// as their JSON text, and Exclude those of fields that are skipped, as Paths has them;
	// "*" stands for what is in a map. They count where types are inferred.
	Maps, Raw, Exclude [][]string
	// MaxKeys is how many keys inferred objects in one place have at most; if they have
	// more, they are maps. 0 is 1000.
	MaxKeys int
	// Widen says that Schema is where inference begins: what it does not take widens it
	// as if it had been found in the data, except for elements whose DType it names.
	Widen bool
	// SkipUnknown skips keys that a given schema lacks, after a syntax check.
	// Otherwise they are an error.
	SkipUnknown bool

	Missing    Missing
	Duplicates Duplicate
	Overflow   Overflow
	Unicode    Unicode
	// Unions lets an inferred column hold values of several kinds.
	Unions bool
	// NonFinite accepts the literals NaN, Infinity and -Infinity as numbers.
	NonFinite bool
	// MaxDepth limits how deep arrays and objects nest; 0 is 1000.
	MaxDepth int
	// MaxColumns limits how many columns inference makes; 0 is 65,536.
	MaxColumns int

	Format Format
	// Lenient skips a line that is in error and counts it. It needs Lines.
	Lenient bool
	// MaxBad limits how many bad lines are kept with their errors; all are
	// counted. 0 is 1000.
	MaxBad int

	// Context ends reading when it ends, with its cause as the error, also while a
	// reader hangs. Nil is a context that does not end.
	Context context.Context
	// Workers is how many goroutines parse; 0 is GOMAXPROCS.
	Workers int
	// ChunkSize is how many bytes a worker takes at a time; 0 is 256 KiB. A
	// longer record makes its chunk longer. The result does not depend on it.
	ChunkSize int
	// Progress, if not nil, is called after each chunk, one call at a time, with
	// the bytes read so far and the total, or -1 where that is not known.
	Progress func(done, total int64)
}

const (
	defaultMaxDepth   = 1000
	defaultMaxColumns = 1 << 16
	defaultMaxBad     = 1000
	defaultMaxKeys    = 1000
	defaultChunkSize  = 256 << 10
)
