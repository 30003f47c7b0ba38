package jsoncol

import "github.com/tenonml/tenon/dtype"

// Kind is the kind of the rows of a column.
type Kind uint8

// The kinds. Null is a column in which nothing but null was seen; as the kind of a Schema it means
// that the type is inferred from the data.
const (
	Null Kind = iota
	Bool
	Int64   // integers; the DType may be a narrower or an unsigned type
	Float64 // floating point numbers; the DType may be a narrower type
	String
	List
	Struct
	Union
	Map // an object whose keys are data, as a list of {key, value}
)

var kindNames = [...]string{"null", "bool", "int64", "float64", "string", "list", "struct", "union", "map"}

// String returns the kind's name in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "invalid"
}

// dtype returns the default element type of a leaf of kind k, or None for kinds that are not
// leaves.
func (k Kind) dtype() dtype.DType {
	switch k {
	case Bool:
		return dtype.Bool
	case Int64:
		return dtype.Int64
	case Float64:
		return dtype.Float64
	case String:
		return dtype.String
	}
	return dtype.None
}

// class is what JSON itself distinguishes: the class of a value is known from its first byte. A
// union has at most one alternative of each class.
type class uint8

const (
	classNone class = iota // null, or not a value
	classBool
	classNumber
	classString
	classList
	classStruct
	numClasses
)

func (k Kind) class() class {
	switch k {
	case Bool:
		return classBool
	case Int64, Float64:
		return classNumber
	case String:
		return classString
	case List:
		return classList
	case Struct, Map:
		return classStruct
	}
	return classNone
}

// classOf returns the class of the value that begins with c.
func classOf(c byte) class {
	switch c {
	case '{':
		return classStruct
	case '[':
		return classList
	case '"':
		return classString
	case 't', 'f':
		return classBool
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'N', 'I':
		return classNumber
	}
	return classNone
}

var classNames = [...]string{"null", "boolean", "number", "string", "array", "object"}

func (c class) String() string { return classNames[c] }
