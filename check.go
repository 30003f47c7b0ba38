package tenon

// A Checker is a Spec that can check more about its values than their components show: that sizes
// match, that offsets are sorted, that indices are in range. Assemble does not call it, since
// gradients, batches and symbolic values are assembled as well.
type Checker interface {
	Spec

	// CheckValue returns an error if v, a value of the receiver, is invalid. It does not look at
	// data that does not exist because v is symbolic.
	CheckValue(v Value) error
}

// Check checks a value that comes from outside the program. It checks the values that v consists
// of, and then calls each [Checker] among their Specs. Code that assembles values from files,
// messages or requests should call it, as the readers of this module do. Opaque values are checked
// when they are resolved.
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

// check calls a Checker, which may throw.
func check(c Checker, v Value) (err error) {
	defer Catch(&err)
	return c.CheckValue(v)
}

// inside turns an error about a component into one about the whole value.
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
