package tensor

import (
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
)

// CloseOptions are those of [AllClose]. The zero value is the default.
type CloseOptions struct {
	// RTol and ATol allow a distance of ATol + RTol·|want|. If they are 0, they are 1e-5 and 1e-8,
	// or 1e-2 and 1e-3 for 16-bit types.
	RTol, ATol float64

	// Exact means that an RTol or ATol of 0 is taken literally instead of as the
	// default.
	Exact bool

	// NaN lets NaN be close to NaN.
	NaN bool
}

// AllClose returns nil if two values are equal except for small differences between their
// floating-point elements. Otherwise it returns an error of kind tenon.ErrInvalid that names the
// worst element. Values of any type are compared by their components. Element types, shapes and
// Specs must be the same; integers, booleans, strings and infinities must be equal.
func AllClose(got, want tenon.Value, o ...CloseOptions) error {
	c := closeness{}
	if len(o) > 0 {
		c.CloseOptions = o[0]
	}
	return c.values("", got, want)
}

type closeness struct{ CloseOptions }

func (c *closeness) fail(where, format string, args ...any) error {
	e := tenon.NewError(tenon.ErrInvalid, "tensor.AllClose", fmt.Sprintf(format, args...))
	e.Where = where
	return e
}

func (c *closeness) values(path string, got, want tenon.Value) error {
	if got == nil || want == nil {
		if got == nil && want == nil {
			return nil
		}
		return c.fail(path, "only one of the values is nil")
	}
	for _, v := range []*tenon.Value{&got, &want} {
		settled, err := Settled(*v)
		if err != nil {
			return err
		}
		*v = settled
	}
	s, w := got.Spec(), want.Spec()
	if !tenon.Equal(s, w) {
		return c.fail(path, "got %s, want %s", tenon.String(s), tenon.String(w))
	}
	switch x := got.(type) {
	case *Dense:
		if y, ok := want.(*Dense); ok {
			return c.dense(path, x, y)
		}
	case *Strings:
		if y, ok := want.(*Strings); ok {
			return c.strings(path, x, y)
		}
	}
	if tenon.IsLeaf(s) {
		if got != want {
			return c.fail(path, "two values of type %T cannot be compared", got)
		}
		return nil
	}
	xs, err := s.Disassemble(got)
	if err != nil {
		return err
	}
	ys, err := w.Disassemble(want)
	if err != nil {
		return err
	}
	fields := s.Components()
	if len(xs) != len(fields) || len(ys) != len(fields) {
		return c.fail(path, "the values have %d and %d components, their Spec has %d", len(xs), len(ys), len(fields))
	}
	for i, f := range fields {
		name := f.Name
		if path != "" {
			name = path + "." + name
		}
		if err := c.values(name, xs[i], ys[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *closeness) strings(path string, x, y *Strings) error {
	for i := range x.Len() {
		if x.At(i) != y.At(i) {
			return c.fail(at(path, i, x.Shape().Dims()), "got %q, want %q", x.At(i), y.At(i))
		}
	}
	return nil
}

func (c *closeness) dense(path string, x, y *Dense) error {
	d := x.DType()
	x, y = Contiguous(x), Contiguous(y)
	part := func(t *Dense, i int) (re, im float64) {
		switch {
		case d.IsComplex():
			z := t.complex(i)
			return real(z), imag(z)
		case d.IsFloat():
			return t.float(i), 0
		}
		return 0, 0
	}
	rtol, atol := c.tolerance(d)
	bad, worst, most := 0, -1, 0.0
	for i := range x.Len() {
		var over float64 // the distance as a multiple of the tolerance
		if d.IsFloat() || d.IsComplex() {
			a, b := part(x, i)
			e, f := part(y, i)
			over = math.Max(c.beyond(a, e, rtol, atol), c.beyond(b, f, rtol, atol))
		} else if x.word(i) != y.word(i) {
			over = math.Inf(1)
		}
		if over > 1 {
			if bad++; worst < 0 || over > most {
				worst, most = i, over
			}
		}
	}
	if bad == 0 {
		return nil
	}
	where := at(path, worst, x.Shape().Dims())
	if !d.IsFloat() && !d.IsComplex() {
		return c.fail(where, "got %s, want %s; %d of %d elements differ", x.word(worst), y.word(worst), bad, x.Len())
	}
	a, b := part(x, worst)
	e, f := part(y, worst)
	got, want := fmt.Sprint(a), fmt.Sprint(e)
	if d.IsComplex() {
		got, want = fmt.Sprint(complex(a, b)), fmt.Sprint(complex(e, f))
	}
	return c.fail(where, "got %s, want %s: the distance %.3g is beyond %g + %g·|want|; %d of %d elements are too far apart, this one the most",
		got, want, math.Hypot(a-e, b-f), atol, rtol, bad, x.Len())
}

func (c *closeness) tolerance(d dtype.DType) (rtol, atol float64) {
	if rtol, atol = c.RTol, c.ATol; rtol != 0 || atol != 0 || c.Exact {
		return rtol, atol
	}
	if d.Size() == 2 {
		return 1e-2, 1e-3
	}
	return 1e-5, 1e-8
}

// beyond returns the distance as a multiple of the tolerance.
func (c *closeness) beyond(x, y, rtol, atol float64) float64 {
	switch {
	case x == y, c.NaN && x != x && y != y:
		return 0
	case x != x, y != y, math.IsInf(x, 0), math.IsInf(y, 0):
		return math.Inf(1)
	}
	if over := math.Abs(x-y) / (atol + rtol*math.Abs(y)); over == over {
		return over
	}
	return math.Inf(1)
}

// at returns the path of an element.
func at(path string, i int, dims []int) string {
	index := make([]int, len(dims))
	for k := len(dims) - 1; k >= 0; k-- {
		index[k] = i % dims[k]
		i /= dims[k]
	}
	return path + fmt.Sprint(index)
}
