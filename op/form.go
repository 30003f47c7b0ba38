package op

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// A Formed is a Value that describes itself as data; what operations do with it follows from their
// statements. It needs no HandleOp: an operation is applied to the tensors inside, which may be of
// any type, including ragged, masked and symbolic ones, and the results are put together again. A
// Value that is also a [Handler] is asked as a Handler.
//
//	type Quantity struct {
//		Value tensor.Tensor
//		Unit  Unit // a FormType
//	}
//
//	func (q Quantity) Form() op.Form { return op.Form{Columns: []tensor.Tensor{q.Value}, Type: q.Unit} }
//
// Since traced functions take a value apart and put it together through its Spec, the same code
// runs eagerly and in a trace.
type Formed interface {
	tenon.Value
	Form() Form
}

// A Form describes a value as data.
type Form struct {
	// Columns are tensors that share the axes of the value. Operations compute with the elements of
	// a single column; elements of several columns, such as those of a record, can only be moved.
	Columns []tensor.Tensor

	// Type describes the value around the columns. It must be comparable.
	Type FormType
}

// A FormType puts values together.
type FormType interface {
	// Make makes a value from columns, as many as the operands had.
	Make(columns []tensor.Tensor) (tenon.Value, error)
}

// A Judge is a FormType that looks at an operation before it runs, and either rejects it or returns
// the type of the results, nil for plain tensors. Operands has an entry for each of [Call.Values],
// nil for a value that is not of such a type. Without a Judge, the types of all operands must be
// equal; the results have the same type.
//
// Results that are positions or counts are always plain.
type Judge interface {
	FormType
	Judge(c *Call, operands []FormType) (FormType, error)
}

// formHandler answers calls for a Formed.
type formHandler struct{ Formed }

// HandleOp applies an operation to the columns of the operands.
func (h formHandler) HandleOp(c *Call) ([]tenon.Value, error) {
	own := h.Form()
	n, name := len(own.Columns), h.Spec().TypeName()
	values := c.Values()
	types := make([]FormType, len(values))
	columns := make([][]tensor.Tensor, len(values))
	k := -1
	for i, v := range c.Operands() {
		k++
		f, ok := v.(Formed)
		switch {
		case ok && f.Spec().TypeName() == name:
			form := f.Form()
			if len(form.Columns) != n {
				return nil, c.Errorf(tenon.ErrInvalid, "operands have %d and %d columns", n, len(form.Columns))
			}
			if c.Op.Control.Has(i) {
				return nil, NotHandled // the column says where or how many
			}
			types[k], columns[k] = form.Type, form.Columns
		case n > 1 && c.Op.Moves.Has(i):
			return nil, c.Errorf(tenon.ErrInvalid, "a %s cannot be combined with %s", tenon.String(v.Spec()), name)
		}
		if n > 1 && ok && !c.Op.Moves.Has(i) && !c.Op.ShapeOnly.Has(i) {
			return nil, c.Errorf(tenon.ErrUnsupported, "the operation looks at elements, but those of %s can only be moved", name)
		}
	}
	result, err := judged(c, own.Type, types)
	if err != nil {
		return nil, err
	}
	var outs [][]tensor.Tensor // for each column
	for j := range n {
		args := make([]tenon.Value, len(values))
		for i, v := range values {
			if args[i] = v; columns[i] != nil {
				args[i] = columns[i][j]
			}
		}
		outs = append(outs, ApplyN(c, args...))
		if c.Op.ShapeOnly != 0 {
			break // the other columns would give the same
		}
	}
	list := make([]tenon.Value, len(outs[0]))
	for i, first := range outs[0] {
		if list[i] = first; result == nil || c.Op.tells(i) || len(outs) < n {
			continue
		}
		parts := make([]tensor.Tensor, n)
		for j := range parts {
			parts[j] = outs[j][i]
		}
		if list[i], err = result.Make(parts); err != nil {
			return nil, c.Fail(err)
		}
	}
	return list, nil
}

// tells reports whether a result does not consist of elements of the operands but describes them:
// where they are, how many there are, or how they are divided into rows.
func (o *Op) tells(i int) bool {
	return o.Places.Has(i) || o.Counts.Has(i) || o.By == ByRows && i > 0
}

// judged returns the type of the results of a call.
func judged(c *Call, own FormType, operands []FormType) (FormType, error) {
	if j, ok := own.(Judge); ok {
		t, err := j.Judge(c, operands)
		if err != nil {
			return nil, c.Fail(err)
		}
		return t, nil
	}
	for _, t := range operands {
		if t != nil && t != own {
			return nil, c.Errorf(tenon.ErrInvalid, "operands of %v and %v cannot be combined", fmt.Sprint(own), fmt.Sprint(t))
		}
	}
	return own, nil
}

// HandleForm applies an operation to the columns of a value, as is done for a [Formed] that is not
// a [Handler]. It is for Handlers that take care of only some calls themselves.
func HandleForm(c *Call, f Formed) ([]tenon.Value, error) { return formHandler{f}.HandleOp(c) }
