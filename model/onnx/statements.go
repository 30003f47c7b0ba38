package onnx

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"

	_ "github.com/tenonml/tenon/linalg" // registers an operation
)

// A typeSet is the set of element types that an operation of ONNX accepts.
type typeSet func(d dtype.DType) bool

// The sets of the operations of version opsetWritten.
var (
	anyType   = typeSet(func(d dtype.DType) bool { return dtypeNumbers[d] != 0 })
	booleans  = typeSet(dtype.DType.IsBool)
	floating  = typeSet(dtype.DType.IsFloat)
	reals     = typeSet(func(d dtype.DType) bool { return d.IsReal() })
	integers  = typeSet(dtype.DType.IsInteger)
	compared  = typeSet(func(d dtype.DType) bool { return d.IsReal() || d.IsBool() })
	classic   = typeSet(func(d dtype.DType) bool { return d.IsFloat() && d != dtype.BFloat16 }) // operations of old versions
	negatable = typeSet(func(d dtype.DType) bool { return d.IsReal() && !d.IsUnsigned() })
	equalable = typeSet(func(d dtype.DType) bool { return d.IsReal() || d.IsBool() || d.IsString() })
	summed    = typeSet(func(d dtype.DType) bool {
		return d.IsFloat() && d != dtype.BFloat16 || d == dtype.Int32 || d == dtype.Int64
	})
	ordered  = typeSet(func(d dtype.DType) bool { return d.IsReal() && d != dtype.BFloat16 })
	products = typeSet(func(d dtype.DType) bool { return d.IsFloat() || d.IsInteger() && d.Size() >= 4 })
)

// wider returns the first type that the operation accepts and that holds all elements of d, which
// is d itself if possible; [dtype.None] if there is none.
func (s typeSet) wider(d dtype.DType) dtype.DType {
	candidates := []dtype.DType{d}
	switch {
	case d.IsFloat() && d.Size() == 2:
		candidates = append(candidates, dtype.Float32)
	case d.IsBool(), d.IsInteger() && d.Size() < 4:
		candidates = append(candidates, dtype.Int32, dtype.Int64)
	case d == dtype.Int32, d == dtype.Uint32:
		candidates = append(candidates, dtype.Int64)
	}
	for _, c := range candidates {
		if s(c) {
			return c
		}
	}
	return dtype.None
}

// A statement says that an operation of ONNX without attributes corresponds to one of Tenon, for
// elements of some types. It is both read and written by that.
type statement struct {
	onnx, op string
	types    typeSet
	others   func(x T) T // for elements of other types; nil: these are rejected
}

// itself and never are the results of some operations for integers.
func itself(x T) T { return ops.Identity(x) }

func never(x T) T { return ops.Fill(ops.Shape(x), false) }

// statements lists these operations.
var statements = []statement{
	{"Abs", "abs", reals, nil}, {"Acos", "acos", classic, nil}, {"Acosh", "acosh", classic, nil}, {"Asin", "asin", classic, nil}, {"Asinh", "asinh", classic, nil},
	{"Atan", "atan", classic, nil}, {"Atanh", "atanh", classic, nil}, {"Ceil", "ceil", floating, itself}, {"Cos", "cos", classic, nil}, {"Cosh", "cosh", classic, nil},
	{"Erf", "erf", floating, nil}, {"Exp", "exp", floating, nil}, {"Floor", "floor", floating, itself}, {"IsNaN", "is_nan", floating, never}, {"Log", "log", floating, nil},
	{"Neg", "neg", negatable, nil}, {"Not", "logical_not", booleans, nil}, {"Reciprocal", "reciprocal", floating, nil}, {"Relu", "relu", negatable, itself},
	{"Round", "round", classic, itself}, {"Sigmoid", "sigmoid", floating, nil}, {"Sign", "sign", reals, nil}, {"Sin", "sin", classic, nil}, {"Sinh", "sinh", classic, nil},
	{"Softplus", "softplus", classic, nil}, {"Softsign", "softsign", classic, nil}, {"Sqrt", "sqrt", floating, nil}, {"Tan", "tan", classic, nil},
	{"Tanh", "tanh", floating, nil}, {"BitwiseNot", "bitwise_not", integers, nil}, {"Mish", "mish", classic, nil}, {"Det", "linalg.det", classic, nil},
	{"Add", "add", reals, nil}, {"Sub", "sub", reals, nil}, {"Mul", "mul", reals, nil},
	{"And", "logical_and", booleans, nil}, {"Or", "logical_or", booleans, nil}, {"Xor", "logical_xor", booleans, nil}, {"Equal", "equal", equalable, nil},
	{"Less", "less", reals, nil}, {"LessOrEqual", "less_equal", reals, nil}, {"Greater", "greater", reals, nil}, {"GreaterOrEqual", "greater_equal", reals, nil},
	{"BitwiseAnd", "bitwise_and", integers, nil}, {"BitwiseOr", "bitwise_or", integers, nil}, {"BitwiseXor", "bitwise_xor", integers, nil},
	{"Where", "where", anyType, nil},
}

// read returns how the operation is computed when a model is read.
func (s statement) read() impl {
	o, _ := op.Lookup(s.op)
	return func(c *call) []any {
		args := make([]any, len(o.Params))
		for i := range args {
			args[i] = c.x(i)
		}
		return one(op.Eval(o, args...))
	}
}

// written returns how the operation is written.
func (s statement) written() export {
	x := export{write: func(e *node) []string {
		if s.others != nil && e.dtypeOf().IsInteger() && !s.types(e.dtypeOf()) {
			return nil
		}
		in := make([]string, len(e.Op.Params))
		for i := range in {
			in[i] = e.in(i)
		}
		return []string{e.typed(s.onnx, s.types, in)}
	}}
	if s.others != nil {
		x.expand = of1(s.others).expand
	}
	return x
}

// typed writes an operation that accepts elements of some types only. Other types are converted to
// one that holds them, and back; if there is none, that is an error.
func (e *node) typed(operation string, types typeSet, in []string, attrs ...attr) string {
	d, result := e.dtypeOf(), e.Outs[0].DType()
	if e.Op.Name == "where" {
		d = e.t(1).DType()
	}
	to := types.wider(d)
	if result.IsFloat() && d.IsInteger() || d.IsBool() && result.IsNumeric() { // the result has another type
		to = result
	}
	if to == dtype.None || !types(to) {
		refuse(tenon.ErrUnsupported, "ONNX's %s does not support elements of type %v", operation, d)
	}
	if to == d {
		return e.do(operation, in, attrs...)
	}
	in = slices.Clone(in)
	for k, v := range e.c.Values() {
		if v.(T).DType() == d && k < len(in) { // operands of that type are converted alike
			in[k] = e.cast(in[k], to)
		}
	}
	out := e.do(operation, in, attrs...)
	if result == d {
		out = e.cast(out, d)
	}
	return out
}
