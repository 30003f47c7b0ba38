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

// Kind says what a parameter takes.
type Kind uint8

// The kinds of parameters.
const (
	Tensor  Kind = iota // a tensor or other Value; nil if optional
	Tensors             // a list of Values
	Attr                // static data
)

// Type is the type of an attribute. Binding converts to the Go type named.
type Type uint8

// The types of attributes.
const (
	AnyType     Type = iota // whatever it is
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
	Default  any  // of an attribute that may be left out; nil is a default where Optional is set
	Optional bool // may be left out or nil
	KeyOnly  bool // is given by name only

	// Convert makes an attribute of a Go type that another package defines of what a call
	// gives it, of its own data as well ([Attribute]). Type is not looked at then.
	Convert func(a any) (any, bool)

	// Takes are the element types that a tensor parameter takes, nil for all, and Rank is what
	// rank it has.
	Takes *Elements
	Rank  Rank

	// Group makes tensor parameters with the same number, above zero, agree on an
	// element type: constants take the others' type, and what then differs is
	// promoted by a recorded cast.
	Group uint8
}

// Op is an operation. Its fields are not changed once it is registered.
type Op struct {
	Name    string // snake_case, unique: "reduce_sum", "strings.length"
	GoName  string // the Go function that calls it, where it is not Name in camel case: "ops.Sum"
	Doc     string // one sentence
	Params  []Param
	Results int // how many; negative: it depends on the arguments

	// Version counts the changes to what calls mean or to what their arguments are called, after
	// which stored graphs would be read wrongly: those of earlier versions are upgraded
	// ([RegisterUpgrade]), and a program that knows an earlier one refuses them. It begins
	// at 1, for which 0 stands.
	Version int

	// Statement says what the operation does to axes and elements. It is required.
	Statement

	// Class is set by [Register]: it follows from the statement.
	Class Class

	// Elem returns the element type of the result, given that of the first operand that moves,
	// or else of the first one, and [dtype.None] where the operation is not defined for it. Without
	// it the result has that type, or int64 where it is positions or numbers of elements.
	Elem func(c *Call, d dtype.DType) dtype.DType

	// Shape returns the shape of the result, or of all results, where it does not follow from
	// the statement: it does for Map, Scatter, Join, Stack, for Reduce, Scan and Along, and for Insert with
	// a parameter for axes.
	Shape func(c *Call) (shape.Shape, error)

	// Check returns what is wrong with arguments beyond what parameters and statement say.
	Check func(c *Call) error

	// Infer takes the place of Elem and Shape where results differ. The tensor arguments may be
	// symbolic to all of these, so only element types and shapes are looked at, and values where
	// [Call.Const] or [Known] gives them. All checking that needs no data is done here; [Call.Infer]
	// runs before the kernel too.
	Infer func(c *Call) ([]tenon.Spec, error)

	// Kernel computes the results of concrete tensors, which Infer has accepted. Its operands
	// are lent to it: a traced function uses their memory again when nothing else reads
	// them, unless the operation is Stateful. A kernel that keeps an operand keeps a copy;
	// CheckKernels finds those that do not.
	Kernel func(c *Call) ([]tensor.Tensor, error)

	// Strided says that Kernel takes views with gaps; otherwise it gets row-major
	// tensors only.
	Strided bool

	// VJP returns the cotangents of the tensor arguments (flattened, as
	// [Call.Values] has them), given the results and their cotangents. A nil
	// cotangent is zero. It is written with operations, so that it can be
	// differentiated again, and throws errors. An operation without a VJP has no
	// gradient.
	VJP func(c *Call, out, ct []tensor.Tensor) []tensor.Tensor

	// Keep returns a call that computes the results of c, which are so many, and behind them what its
	// gradient needs besides. It takes the place of c where a gradient is recorded, and VJP gets all its results.
	Keep func(c *Call) (kept *Call, results int)

	// Batch runs the operation with an extra leading axis on the tensor arguments
	// for which batched is true; all results have that axis. Where it is nil, the rule
	// follows from the statement, if that tells the axes; other operations run row by row,
	// and so do those whose rule returns [NotHandled]. It may throw errors.
	Batch func(c *Call, batched []bool) ([]tensor.Tensor, error)

	// Stateful operations are neither dropped, merged nor reordered.
	Stateful bool

	// Nondifferentiable says that zero is the right gradient: the result is
	// piecewise constant or not a floating number. [Register] sets it where the statement
	// says as much: no operand has elements that count, or all results are positions or numbers.
	Nondifferentiable bool

	// Block returns the loop of an elementwise operation for operands of the given
	// element types, and the element type of its result; nil where there is none
	// that cannot fail. The interpreter of graphs fuses operations that have one.
	Block func(operands []dtype.DType) (BlockFunc, dtype.DType)

	// Rows is Block for an operation on rows: it returns how the operation runs on some
	// of them, given the element type of its first tensor argument; nil where it does not.
	// The last tensor argument is the row splits.
	Rows func(operand dtype.DType) *RowLoop

	fn      string // what Func returns
	tensors []int  // indices of the tensor parameters
	axis    int    // index of the parameter for axes, or -1
	keep    int    // index of the parameter keepdims, or -1
	groups  uint8  // the highest group of a parameter
	alike   bool   // what binding and inference come to may be remembered
	plain   bool   // all parameters are single tensors that are given by position
	place   source.Place
	memory  *remembered
	number  int
}

// A BlockFunc computes n elements of an elementwise operation. Bit i of scalars
// says that operand i is one element for all.
type BlockFunc func(dst unsafe.Pointer, operands [3]unsafe.Pointer, n int, scalars uint8)

// Number returns the number of the operation: those that are registered count from 0 on, so
// that what belongs to operations can stand in a list.
func (o *Op) Number() int { return o.number }

// String returns the operation's name.
func (o *Op) String() string { return o.Name }

// Func returns the name of the Go function that calls the operation: "ops.Sum".
func (o *Op) Func() string {
	if o.fn != "" {
		return o.fn
	}
	return o.named()
}

// named makes up what Func returns.
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

// Param returns the index of a parameter, and -1 where there is none of the name.
func (o *Op) Param(name string) int {
	return slices.IndexFunc(o.Params, func(p Param) bool { return p.Name == name })
}

var (
	opsMu sync.RWMutex
	all   = map[string]*Op{}
	count int // how many operations have been registered so far
)

// Register makes an operation known by its name and returns it. It throws where
// the name is taken or the definition is incomplete; call it from a package
// variable or init.
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

// Unregister removes an operation again, for tests that define their own.
func Unregister(o *Op) {
	opsMu.Lock()
	defer opsMu.Unlock()
	delete(all, o.Name)
}

// Lookup returns the operation with a name.
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
