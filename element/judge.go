package element

import (
	"fmt"
	"slices"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// A sense is what an operation means for elements.
type sense uint8

const (
	senseless sense = iota
	moving          // elements are moved; operands and results have the same type
	picking         // elements are moved after a comparison
	comparing       // two elements are compared
	adding          // a sum
	taking          // a difference
	scaling         // a sum of one operand, or a negation
	averaging       // a mean
	counting        // the number of nonzero elements
	product         // a product with numbers
	quotient        // a quotient
	division        // a floor division or its remainder
	turning         // elements are converted to another type
	numbering       // equal elements of all operands get the same number
)

// senses are the meanings of operations that do not follow from their statements.
var senses = map[string]sense{
	"equal": comparing, "not_equal": comparing, "less": comparing, "less_equal": comparing, "greater": comparing, "greater_equal": comparing,
	"maximum": picking, "minimum": picking, "clip": picking, "sort": picking, "ragged.sort": picking, "top_k": picking, "ragged.top_k": picking,
	"unique": picking, "ragged.unique_index": comparing, "ragged.group": numbering, "ragged.group_at": numbering, "ragged.match": numbering, "ragged.run_lengths": comparing,
	"searchsorted": comparing, "argsort": comparing, "ragged.argsort": comparing,
	"sub": taking, "neg": scaling, "abs": scaling, "floor_div": division, "mod": division, "cast": turning,
}

// senseOf returns the meaning of an operation, which follows from its statement or, if not, from
// its name.
func senseOf(o *op.Op, data op.Operands) sense {
	if s := senses[o.Name]; s != senseless {
		return s
	}
	switch {
	case o.ShapeOnly != 0, o.Moves != 0 && o.Moves&data == data, o.Checks:
		return moving
	case o.Monoid == nil:
	case o.Monoid.Picks:
		return picking
	case o.Counts != 0:
		return counting
	case o.Monoid == op.Sums && o.Axes != op.Contract:
		return scaling
	case o.Monoid == op.Means:
		return averaging
	}
	switch {
	case o.Class != op.BinaryElementwise:
	case o.Zero.LinearIn(op.First | op.Second):
		return adding
	case o.Zero.LinearIn(op.First) && o.Zero.LinearIn(op.Second):
		return product
	case o.Zero.LinearIn(op.First) && o.Zero.Dividend == op.First:
		return quotient
	}
	return senseless
}

// An operand is an element type, or plain numbers or strings.
type operand struct {
	Type
	plain tensor.Tensor // nil if there is an element type
	at    int           // the index among the values of the call
}

func (o operand) String() string {
	if o.plain != nil {
		return tenon.String(o.plain.Spec())
	}
	return o.Type.String()
}

// A ruling says what is to be done: the types to which the operands are converted, and the type of
// the results, whose Kind is None for plain numbers.
type ruling struct {
	want   []Type // for each operand; Kind None: unchanged
	result Type
	sense  sense
	sums   bool // many elements are summed to one
}

// operands returns the operands that have elements.
func operands(c *op.Call) (list []operand, data op.Operands) {
	k := -1
	for i, v := range c.Operands() {
		k++
		o := c.Op
		apart := o.Control.Has(i)
		if senses[o.Name] == comparing {
			apart = i > 0 && o.Params[i].Group == 0 // row splits are not data; the sorted row of a search is
		}
		if apart || o.Axes == op.Map && o.Moves != 0 && !o.Moves.Has(i) {
			continue
		}
		data |= 1 << i
		x := operand{at: k}
		switch e := v.(type) {
		case Tensor:
			x.Type = e.Type
		case tensor.Tensor:
			x.plain = e
		}
		list = append(list, x)
	}
	return list, data
}

// Judge returns the type of an operation's results, which follows from its statement.
func (t Type) Judge(c *op.Call, _ []op.FormType) (op.FormType, error) {
	r, err := judge(c)
	if err != nil || r.result.Kind == None {
		return nil, err
	}
	return r.result, nil
}

// judge decides what is to be done with the operands of a call.
func judge(c *op.Call) (ruling, error) {
	list, data := operands(c)
	r := ruling{want: make([]Type, len(list)), sense: senseOf(c.Op, data), sums: c.Op.Monoid != nil}
	err := r.decide(list)
	if err != nil {
		e := tenon.AsError(err)
		e.Kind = tenon.ErrInvalid
		return r, e
	}
	return r, nil
}

func refuse(hint, format string, args ...any) error {
	return &tenon.Error{Kind: tenon.ErrInvalid, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

const numbersHint = "element.Stored returns the stored numbers, and ops.Cast converts to floating point"

// decide sets the wanted types and the type of the result.
func (r *ruling) decide(list []operand) error {
	if len(list) == 0 {
		return refuse("", "there are no elements")
	}
	a := list[0]
	all := func() error {
		some := list
		if r.sense == moving { // fill values are numbers as they are stored
			some = slices.DeleteFunc(slices.Clone(list), func(o operand) bool { return o.plain != nil && !o.plain.DType().IsString() })
		}
		t, err := common(some)
		for i, o := range list {
			if o.plain == nil || o.plain.DType().IsString() || t.Kind == Decimal && r.sense != moving {
				r.want[i] = t
			}
		}
		r.result = t
		return err
	}
	switch r.sense {
	case moving, picking:
		return all()
	case comparing:
		if err := all(); err != nil {
			return err
		}
		r.result = Type{}
		for i, o := range list {
			if r.want[i].Kind == None {
				return refuse("use element.New to give numbers a unit", "%v and %v cannot be compared", list[0], o)
			}
		}
		return nil
	case turning, numbering, counting:
		return nil
	case scaling, averaging:
		switch {
		case a.Kind == Duration:
			r.result = a.Type
			return nil
		case a.Kind == Decimal && r.sense == averaging:
			r.result = quotientOf(DecimalOf(maxDigits, a.Scale))
			return nil
		case a.Kind == Decimal && r.sense == scaling && r.sums:
			r.result = DecimalOf(maxDigits, a.Scale)
			return nil
		case a.Kind == Decimal && r.sense == scaling:
			r.result = a.Type
			return nil
		case a.Kind == Timestamp && r.sense == averaging, a.Kind == Date && r.sense == averaging:
			return refuse("take the mean of the durations since some moment, and add it to that moment", "there is no mean of %v", a)
		}
	case adding, taking:
		if len(list) == 2 {
			return r.sum(list[0], list[1])
		}
	case product, quotient, division:
		if len(list) == 2 {
			return r.scaled(list[0], list[1])
		}
	}
	hint := numbersHint
	if a.Kind == Fixed || a.Kind == UUID {
		hint = "element.Stored gives the bytes"
	}
	return refuse(hint, "it has no meaning for %v", list)
}

// sum decides about sums and differences.
func (r *ruling) sum(a, b operand) error {
	want := func(x, y, result Type) error {
		r.want[0], r.want[1], r.result = x, y, result
		return nil
	}
	unit := finer(a.unit(), b.unit())
	switch {
	case a.Kind == Duration && b.Kind == Duration:
		t := DurationOf(unit)
		return want(t, t, t)
	case (a.Kind == Timestamp || a.Kind == Date) && b.Kind == Duration:
		t := TimestampOf(unit, a.Zone)
		return want(t, DurationOf(unit), t)
	case a.Kind == Duration && (b.Kind == Timestamp || b.Kind == Date) && r.sense == adding:
		t := TimestampOf(unit, b.Zone)
		return want(DurationOf(unit), t, t)
	case a.Kind == Time && b.Kind == Time && r.sense == taking:
		t := TimeOf(unit)
		return want(t, t, DurationOf(unit))
	case (a.Kind == Timestamp || a.Kind == Date) && (b.Kind == Timestamp || b.Kind == Date) && r.sense == taking:
		if (a.Zone == "") != (b.Zone == "") {
			return zones(a, b)
		}
		unit = min(unit, time.Second)
		x, y := TimestampOf(unit, a.Zone), TimestampOf(unit, b.Zone)
		return want(x, y, DurationOf(unit))
	case a.Kind == Decimal || b.Kind == Decimal:
		t, err := common([]operand{a, b})
		if err != nil {
			return err
		}
		t.Precision = min(t.Precision+1, maxDigits)
		return want(t, t, t)
	case a.plain != nil || b.plain != nil:
		return refuse("give a number a unit, as in element.New([]int64{90}, element.DurationOf(time.Second))", "there is no sum of %v and %v", a, b)
	case a.Kind == Timestamp && b.Kind == Timestamp:
		return refuse("the difference of two timestamps is a duration", "there is no sum of %v and %v", a, b)
	}
	return refuse(numbersHint, "there is no sum or difference of %v and %v", a, b)
}

// scaled decides about products and quotients.
func (r *ruling) scaled(a, b operand) error {
	number := func(o operand) bool {
		return o.plain != nil && o.plain.DType().IsNumeric() && !o.plain.DType().IsComplex()
	}
	switch {
	case r.sense == product && a.Kind == Duration && number(b), r.sense == quotient && a.Kind == Duration && number(b), r.sense == division && a.Kind == Duration && number(b):
		r.result = a.Type
		return nil
	case r.sense == product && number(a) && b.Kind == Duration:
		r.result = b.Type
		return nil
	case a.Kind == Duration && b.Kind == Duration && r.sense != product:
		t := DurationOf(finer(a.Unit, b.Unit))
		r.want[0], r.want[1] = t, t
		return nil // the quotient is a plain number; the remainder is a duration, which the handler takes care of
	case r.sense == quotient && a.Kind == Decimal && b.plain != nil && b.plain.DType().IsInteger():
		r.result = quotientOf(a.Type)
		return nil
	case r.sense == product && (a.Kind == Decimal || b.Kind == Decimal):
		p, q := a.asDecimal(), b.asDecimal()
		if p.Kind == None || q.Kind == None {
			return refuse("ops.Cast(x, dtype.Float64) computes in floating point", "there is no product of %v and %v", a, b)
		}
		if p.Scale+q.Scale > maxDigits {
			return refuse("reduce the scale with element.To first", "the product of %v and %v has more than %d digits after the point", a, b, maxDigits)
		}
		r.want[0], r.want[1] = p, q
		r.result = DecimalOf(min(p.Precision+q.Precision, maxDigits), p.Scale+q.Scale)
		return nil
	}
	hint := numbersHint
	if a.Kind == Decimal || b.Kind == Decimal {
		hint = "ops.Cast(x, dtype.Float64) computes in floating point"
	}
	return refuse(hint, "there is no product or quotient of %v and %v", a, b)
}

// quotientOf returns the type of decimals divided by integers, which have up to four more digits
// after the point.
func quotientOf(t Type) Type {
	more := min(4, maxDigits-t.Scale)
	return DecimalOf(min(t.Precision+more, maxDigits), t.Scale+more)
}

func finer(a, b time.Duration) time.Duration {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	}
	return min(a, b)
}

func zones(a, b operand) error {
	return refuse("convert one of them with element.Local or element.In", "%v and %v cannot be combined: only one of them has a zone", a, b)
}

// digitsOf gives the largest number of digits that integers of a type have.
var digitsOf = map[dtype.DType]int{dtype.Int8: 3, dtype.Uint8: 3, dtype.Int16: 5, dtype.Uint16: 5, dtype.Int32: 10, dtype.Uint32: 10, dtype.Int64: 19}

// asDecimal returns a decimal type that can hold an operand, with Kind None if there is none.
func (o operand) asDecimal() Type {
	if o.Kind == Decimal {
		return o.Type
	}
	if o.plain == nil {
		return Type{}
	}
	n := digitsOf[o.plain.DType()]
	if n == 0 {
		return Type{}
	}
	if k, ok := op.Known(o.plain); ok && n > narrowDigits-1 { // usually a constant in the program
		if d, ok := k.(*tensor.Dense); ok && d.Len() == 1 {
			n = max(1, len(fmt.Sprint(tensor.Data[int64](tensor.Contiguous(d))[0])))
		}
	}
	return DecimalOf(n, 0)
}

// common returns the type that holds the elements of all operands.
func common(list []operand) (Type, error) {
	at := slices.IndexFunc(list, func(o operand) bool { return o.plain == nil })
	if at < 0 {
		return Type{}, refuse("", "there are no elements")
	}
	t := list[at].Type
	for _, o := range list {
		if o.plain != nil && (t.Kind != Decimal || o.plain.DType().IsString()) {
			continue // a text is parsed as an element, and a number is taken as stored
		}
		switch {
		case t.Kind == Decimal && (o.Kind == Decimal || o.plain != nil):
			d := o.asDecimal()
			if d.Kind == None {
				return t, refuse("ops.Cast(x, dtype.Float64) computes in floating point", "%v and %v cannot be combined", t, o)
			}
			scale := max(t.Scale, d.Scale)
			t = DecimalOf(min(max(t.Precision-t.Scale, d.Precision-d.Scale)+scale, maxDigits), scale)
		case t.Kind == Timestamp && o.Kind == Date, t.Kind == Date && o.Kind == Timestamp, t.Kind == Timestamp && o.Kind == Timestamp:
			if (t.Zone == "") != (o.Zone == "") {
				return t, zones(operand{Type: t}, o)
			}
			zone := t.Zone
			if zone != o.Zone {
				zone = "UTC"
			}
			t = TimestampOf(finer(t.Unit, o.Unit), zone)
		case t.Kind != o.Kind || t.Width != o.Width:
			return t, refuse(numbersHint, "%v and %v cannot be combined", t, o)
		default:
			t.Unit = finer(t.Unit, o.Unit)
		}
	}
	return t, nil
}
