package op

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// A Formed is a Value that says what it is as data, and leaves to the statements of
// operations what they do with it. It needs no HandleOp: an operation is done on the tensors
// inside, which may be of any type, ragged, masked and symbolic ones among them, and the
// results are put together again. A Value that is a [Handler] too is asked as such.
//
//	type Quantity struct {
//		Value tensor.Tensor
//		Unit  Unit // a FormType
//	}
//
//	func (q Quantity) Form() op.Form { return op.Form{Columns: []tensor.Tensor{q.Value}, Type: q.Unit} }
//
// As traced functions take a value apart and put it together by its Spec, the same code
// runs at once and in a trace.
type Formed interface {
	tenon.Value
	Form() Form
}

// A Form is what a value is, as data.
type Form struct {
	// Columns are tensors with the same axes, those of the value. Operations compute
	// with the elements of a single one; elements of several, as those of a record,
	// only move.
	Columns []tensor.Tensor

	// Type is what stands around them. It is comparable.
	Type FormType
}

// A FormType puts values together.
type FormType interface {
	// Make returns the value of columns: as many as the operands had.
	Make(columns []tensor.Tensor) (tenon.Value, error)
}

// A Judge is a FormType that looks at an operation's statement before it runs, and refuses it or
// says of which type the results are: nil for plain tensors. Operands has an entry for each
// of [Call.Values], nil for what is of no such type. Without a Judge, the types of all
// operands have to be the same, and are that of the results.
//
// Results that are positions or numbers of elements are plain without asking.
type Judge interface {
	FormType
	Judge(c *Call, operands []FormType) (FormType, error)
}

// formHandler answers for a Formed.
type formHandler struct{ Formed }

// HandleOp does an operation on the columns of the operands.
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
				return nil, NotHandled // it says where or how many
			}
			types[k], columns[k] = form.Type, form.Columns
		case n > 1 && c.Op.Moves.Has(i):
			return nil, c.Errorf(tenon.ErrInvalid, "a %s does not go with %s", tenon.String(v.Spec()), name)
		}
		if n > 1 && ok && !c.Op.Moves.Has(i) && !c.Op.ShapeOnly.Has(i) {
			return nil, c.Errorf(tenon.ErrUnsupported, "the operation looks at elements, and those of %s only move", name)
		}
	}
	result, err := judged(c, own.Type, types)
	if err != nil {
		return nil, err
	}
	var outs [][]tensor.Tensor // of each column
	for j := range n {
		args := make([]tenon.Value, len(values))
		for i, v := range values {
			if args[i] = v; columns[i] != nil {
				args[i] = columns[i][j]
			}
		}
		outs = append(outs, ApplyN(c, args...))
		if c.Op.ShapeOnly != 0 {
			break // the other columns would say the same
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

// tells reports whether a result is no element of the operands but says something of them:
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
			return nil, c.Errorf(tenon.ErrInvalid, "operands of %v and %v do not go together", fmt.Sprint(own), fmt.Sprint(t))
		}
	}
	return own, nil
}

// HandleForm does an operation on the columns of a value, as it is done for a [Formed] that is no
// [Handler]: for one that is, and has something to say before.
func HandleForm(c *Call, f Formed) ([]tenon.Value, error) { return formHandler{f}.HandleOp(c) }
