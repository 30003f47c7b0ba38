package parquetio

import "fmt"

// A physical type is the storage type of the values of a column, by its number in files.
type physical int64

const (
	typeBoolean physical = iota
	typeInt32
	typeInt64
	typeInt96
	typeFloat
	typeDouble
	typeByteArray
	typeFixed // byte arrays whose length the schema gives
)

// String returns the name of the type in the format.
func (p physical) String() string {
	names := []string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}
	if p < 0 || int(p) >= len(names) {
		return fmt.Sprintf("type %d", int64(p))
	}
	return names[p]
}

// text reports whether the values are byte arrays.
func (p physical) text() bool { return p == typeByteArray || p == typeFixed }
