package jsoncol

import "github.com/tenonml/tenon/dtype"

// A Column holds one value per row of one path, in flat buffers without pointers. Which members are
// set depends on the Kind. A published Column is never modified. Every buffer has at least 64 bytes
// of capacity beyond its length, which may be read.
type Column struct {
	Kind Kind
	// DType is the type of a leaf's elements, or None for List, Struct, Union and Null.
	DType dtype.DType
	// Len is the number of rows.
	Len int
	// Valid tells which rows are present; nil means all of them. A missing row holds the zero of
	// its type, an empty list, or a struct whose fields are missing, so that each column's own
	// Valid is complete down to the next list: no other column has to be consulted. All rows of a
	// Null column are missing, and it has no Valid.
	Valid []bool
	// Values are the elements of a Bool, Int64 or Float64 column, as a slice of
	// DType's Go type, such as []bool, []int64, []float32 or []dtype.F16.
	Values any
	// Offsets has Len+1 elements and starts at 0. Row i of a String is
	// Bytes[Offsets[i]:Offsets[i+1]]; of a List, the rows Offsets[i] to Offsets[i+1] of Elem, so
	// that Offsets are the list's row splits.
	Offsets []int64
	// Bytes is the concatenation of the strings of a String column, in UTF-8.
	Bytes []byte
	// Elem holds the elements of all the lists of a List column.
	Elem *Column
	// Fields are the columns of a Struct, each with Len rows, in the order in
	// which they first appear in the data (or that the schema gives); or the
	// alternatives of a Union, each holding its own rows only.
	Fields []Field
	// Tags tells, for each row of a Union, which of the Fields it belongs to, or -1 if the row is
	// missing.
	Tags []int8
	// Index tells, for each row of a Union, which row of that alternative it is.
	Index []int64
}

// A Field is a named column of a Struct, or an alternative of a Union, which is
// named after its JSON type.
type Field struct {
	Name   string
	Column *Column
}

// Values returns the elements of leaf c if they are of type T, and nil otherwise.
func Values[T dtype.Native](c *Column) []T {
	v, _ := c.Values.([]T)
	return v
}

// Field returns the field of a Struct called name, or nil if there is none.
func (c *Column) Field(name string) *Column {
	if c.Kind != Struct {
		return nil
	}
	for i := range c.Fields {
		if c.Fields[i].Name == name {
			return c.Fields[i].Column
		}
	}
	return nil
}

// Path returns the column at the path of field names, passing through lists on the way, or nil if
// there is none. The empty path is c itself.
func (c *Column) Path(names ...string) *Column {
	for _, name := range names {
		for c != nil && c.Kind == List {
			c = c.Elem
		}
		if c == nil {
			return nil
		}
		c = c.Field(name)
	}
	return c
}

// IsValid reports whether row i is present.
func (c *Column) IsValid(i int) bool {
	return c.Kind != Null && (c.Valid == nil || c.Valid[i])
}

// StringAt returns a copy of row i of a String column.
func (c *Column) StringAt(i int) string { return string(c.Bytes[c.Offsets[i]:c.Offsets[i+1]]) }

// Size returns the number of bytes in the buffers of c and of all columns below it, without spare
// capacity.
func (c *Column) Size() int64 {
	n := int64(len(c.Valid)) + int64(c.DType.Size())*int64(c.Len) +
		8*int64(len(c.Offsets)) + int64(len(c.Bytes)) + int64(len(c.Tags)) + 8*int64(len(c.Index))
	if c.Elem != nil {
		n += c.Elem.Size()
	}
	for _, f := range c.Fields {
		n += f.Column.Size()
	}
	return n
}
