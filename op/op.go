package op

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Kind says what a parameter accepts.
type Kind uint8

// The kinds of parameters.
const (
	Tensor  Kind = iota // a tensor or other Value; nil if optional
	Tensors             // a list of Values
	Attr                // static data
)

// Type is the type of an attribute. Binding converts its value to the Go type
// given here.
type Type uint8

// The types of attributes.
const (
	AnyType     Type = iota // any type
	BoolType                // bool
	IntType                 // int
	FloatType               // float64
	StringType              // string
	DTypeType               // dtype.DType
	ShapeType               // shape.Shape
	IntsType                // []int; a single integer is a list of one
	FloatsType              // []float64
	StringsType             // []string
	SpecType                // tenon.Spec
)

// Param is a parameter of an operation.
type Param struct {
	Name     string
	Kind     Kind
	Type     Type // of an attribute
	Default  any  // of an attribute that may be omitted; nil is a default if Optional is set
	Optional bool // may be omitted or nil
	KeyOnly  bool // can only be given by name

	// Convert converts the value given in a call to the Go type of an attribute that another
	// package defines. It also accepts the attribute's plain data ([Attribute]). If Convert is set,
	// Type is ignored.
	Convert func(a any) (any, bool)

	// Takes are the element types that a tensor parameter accepts, nil for all; Rank is the rank it
	// must have.
	Takes *Elements
	Rank  Rank

	// Group makes tensor parameters with the same positive number agree on an
	// element type: constants take the type of the others, and remaining
	// differences are promoted by recorded casts.
	Group uint8
}

// Op is an operation. Its fields must not be changed after it is registered.
type Op struct {
	Name    string // snake_case, unique: "reduce_sum", "strings.length"
	GoName  string // the Go function that calls it, if it is not Name in camel case: "ops.Sum"
	Doc     string // one sentence
	Params  []Param
	Results int // number of results; negative if it depends on the arguments

	// Version counts the changes to the meaning of calls or to the names of their arguments,
	// because of which stored graphs would be misread. Calls of earlier versions are upgraded
	// ([RegisterUpgrade]), and a program that has only an earlier version rejects later ones. It
	// begins at 1, which may be written as 0.
	Version int

	// Statement says what the operation does to axes and elements. It is required.
	Statement

	// Class is set by [Register]; it follows from the statement.
	Class Class

	// Elem returns the element type of the result, given the type d of the first operand that moves
	// or, if none does, of the first operand. It returns [dtype.None] if the operation is not
	// defined for d. Without Elem the result has type d, or int64 if it consists of positions or
	// counts.
	Elem func(c *Call, d dtype.DType) dtype.DType

	// Shape returns the shape of the result, or of all results. It is needed only if the shape does
	// not follow from the statement, as it does for Map, Scatter, Join, Stack, Reduce, Scan and
	// Along, and for Insert with a parameter for axes.
	Shape func(c *Call) (shape.Shape, error)

	// Check returns an error if the arguments are invalid for reasons that parameters and statement
	// do not cover.
	Check func(c *Call) error

	// Infer replaces Elem and Shape if results differ. Since tensor arguments may be symbolic for
	// all of these functions, they look only at element types and shapes, and at values that
	// [Call.Const] or [Known] provides. All checks that need no data are made here; [Call.Infer]
	// also runs before the kernel.
	Infer func(c *Call) ([]tenon.Spec, error)

	// Kernel computes the results for concrete tensors, which Infer has accepted. It borrows its
	// operands: a traced function reuses their memory when nothing else reads them, unless the
	// operation is Stateful. A kernel must copy an operand to keep it; CheckKernels finds kernels
	// that do not.
	Kernel func(c *Call) ([]tensor.Tensor, error)

	// Strided means that Kernel accepts views with gaps; otherwise it gets only
	// row-major tensors.
	Strided bool

	// VJP returns the cotangents of the tensor arguments (flattened, as [Call.Values] has them),
	// given the results and their cotangents. A nil cotangent is zero, and so are those that the
	// returned list is too short for. It is called if a result that is differentiable has a
	// cotangent. It is written with operations, so that it can be differentiated again, and throws
	// errors. An operation without a VJP has no gradient.
	VJP func(c *Call, out, ct []tensor.Tensor) []tensor.Tensor

	// Keep returns a call that computes the results of c, whose number it also returns, followed by
	// further values that the gradient needs. It replaces c when a gradient is recorded, and VJP
	// then gets all of its results.
	Keep func(c *Call) (kept *Call, results int)

	// Batch runs the operation with an extra leading axis on the tensor arguments for which batched
	// is true; all results have that axis. If it is nil, the rule follows from the statement if
	// that describes the axes. All other operations run row by row, as do those whose rule returns
	// [NotHandled]. It may throw errors.
	Batch func(c *Call, batched []bool) ([]tensor.Tensor, error)

	// Stateful operations are never dropped, merged or reordered.
	Stateful bool

	// Nondifferentiable means that zero is the right gradient, because the result is piecewise
	// constant or not floating-point. [Register] sets it if this follows from the statement: no
	// operand's elements count, or all results are positions or counts.
	Nondifferentiable bool

	// Block returns the loop of an elementwise operation for operands of the given element types,
	// and the element type of its result. It returns nil if there is no loop that cannot fail. The
	// interpreter of graphs fuses operations that have one.
	Block func(operands []dtype.DType) (BlockFunc, dtype.DType)

	// Rows is like Block, for an operation on rows: it returns how the operation runs on some of
	// the rows, given the element type of its first tensor argument, or nil if it does not. The
	// last tensor argument must be the row splits.
	Rows func(operand dtype.DType) *RowLoop

	// Onto returns the sum of a tensor and the operation's only result in less time than an addition of
	// its own takes, or nil if it cannot for these operands. The interpreter of graphs calls it if nothing
	// else reads the result.
	Onto func(c *Call, to tensor.Tensor) tensor.Tensor

	fn      string // result of Func
	tensors []int  // indices of the tensor parameters
	axis    int    // index of the parameter for axes, or -1
	keep    int    // index of the parameter keepdims, or -1
	groups  uint8  // the highest group of a parameter
	alike   bool   // results of binding and inference may be remembered
	plain   bool   // all parameters are single tensors given by position
	place   source.Place
	memory  *remembered
	number  int
}

// A BlockFunc computes n elements of an elementwise operation. Bit i of scalars
// means that operand i is a single element.
type BlockFunc func(dst unsafe.Pointer, operands [3]unsafe.Pointer, n int, scalars uint8)

// Number returns the number of the operation. Registered operations are numbered from 0, so that
// data about operations can be kept in a slice.
func (o *Op) Number() int { return o.number }

// String returns the operation's name.
func (o *Op) String() string { return o.Name }

// Func returns the name of the Go function that calls the operation, such as
// "ops.Sum".
func (o *Op) Func() string {
	if o.fn != "" {
		return o.fn
	}
	return o.named()
}

// named computes the result of Func.
func (o *Op) named() string {
	if o.GoName != "" {
		return o.GoName
	}
	pkg, name := "ops", o.Name
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		pkg, name = name[:i], name[i+1:]
	}
	var b strings.Builder
	up := true
	for _, r := range name {
		if r == '_' {
			up = true
			continue
		}
		if up {
			r = unicode.ToUpper(r)
		}
		b.WriteRune(r)
		up = false
	}
	return pkg + "." + b.String()
}

// Param returns the index of the parameter with the given name, or -1 if there is
// none.
func (o *Op) Param(name string) int {
	return slices.IndexFunc(o.Params, func(p Param) bool { return p.Name == name })
}

var (
	opsMu sync.RWMutex
	all   = map[string]*Op{}
	count int // number of operations registered so far
)

// Register registers an operation under its name and returns it. It throws if the
// name is taken or the definition is incomplete. Call it from a package variable
// or init.
func Register(o *Op) *Op {
	tenon.Throw(register(o))
	return o
}

func register(o *Op) error {
	fail := func(format string, args ...any) error {
		return tenon.NewError(tenon.ErrInvalid, "op.Register", fmt.Sprintf(format, args...))
	}
	if o.Name == "" || o.Kernel == nil || strings.Contains(o.Name, "@") {
		return fail("operation %q needs a name, without @, and a Kernel", o.Name)
	}
	o.plain, o.tensors = true, make([]int, 0, len(o.Params))
	for i, p := range o.Params {
		if p.Name == "" || o.Param(p.Name) < i {
			return fail("operation %s has two parameters called %q", o.Name, p.Name)
		}
		o.plain = o.plain && p.Kind == Tensor && !p.KeyOnly
		o.groups = max(o.groups, p.Group)
		if p.Kind != Attr {
			o.tensors = append(o.tensors, i)
		}
	}
	if wrong := o.Statement.check(o); wrong != "" {
		return fail("the statement of operation %s %s", o.Name, wrong)
	}
	o.Nondifferentiable = o.Nondifferentiable || o.VJP == nil && o.constant()
	o.axis, o.keep = o.axisParam(), o.Param("keepdims")
	if o.Infer == nil && o.Shape == nil && !o.shaped() {
		return fail("the shape of the results of operation %s does not follow from its statement: it needs Shape or Infer", o.Name)
	}
	o.alike = !o.Stateful
	o.fn, o.place, o.Class, o.memory = o.named(), source.Here(), o.class(), new(remembered)
	opsMu.Lock()
	defer opsMu.Unlock()
	if old, ok := all[o.Name]; ok {
		return fail("operation %s is already registered, at %s", o.Name, old.place)
	}
	all[o.Name] = o
	o.number = count
	count++
	return nil
}

// Unregister removes an operation. It is meant for tests that define their own.
func Unregister(o *Op) {
	opsMu.Lock()
	defer opsMu.Unlock()
	delete(all, o.Name)
}

// Lookup returns the operation with the given name.
func Lookup(name string) (*Op, bool) {
	opsMu.RLock()
	defer opsMu.RUnlock()
	o, ok := all[name]
	return o, ok
}

// All returns every registered operation in the order of their names.
func All() []*Op {
	opsMu.RLock()
	defer opsMu.RUnlock()
	list := make([]*Op, 0, len(all))
	for _, o := range all {
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b *Op) int { return strings.Compare(a.Name, b.Name) })
	return list
}
