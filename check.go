package tenon

// A Checker is a Spec that knows more of its values than their components say: sizes
// that go together, an order, numbers that are indices. Assemble does not ask, since
// gradients, batches and symbolic values are assembled too.
type Checker interface {
	Spec

	// CheckValue returns an error where v, a value of the receiver, is not sound. Data that
	// are not there, because v is symbolic, are not looked at.
	CheckValue(v Value) error
}

// Check checks a value that arrives from outside the program: the values it is made
// of, and then what each [Checker] among their Specs says. Whoever assembles values of
// files, messages or requests calls it; the readers of this module do. Opaque values are
// checked when they resolve.
func Check(v Value) error {
	if v == nil {
		return NewError(ErrInvalid, "tenon.Check", "the value is nil")
	}
	s := v.Spec()
	if IsLeaf(s) {
		return nil
	}
	parts, err := s.Disassemble(v)
	if err != nil {
		return err
	}
	fields := s.Components()
	if len(fields) != len(parts) {
		return CheckComponents(s, parts)
	}
	for i, c := range parts {
		if err := Check(c); err != nil {
			return inside(fields[i].Name, err)
		}
	}
	if c, ok := s.(Checker); ok {
		return check(c, v)
	}
	return nil
}

// check asks a Checker, which may throw.
func check(c Checker, v Value) (err error) {
	defer Catch(&err)
	return c.CheckValue(v)
}

// inside returns an error about a component as one about the whole.
func inside(name string, err error) error {
	e := *AsError(err)
	switch {
	case e.Where == "":
		e.Where = name
	case e.Where[0] == '[':
		e.Where = name + e.Where
	default:
		e.Where = name + "." + e.Where
	}
	return &e
}
