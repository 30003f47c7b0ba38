package jsoncol

// Infer reads all inputs like [Read] and returns the schema that Read would infer, without holding
// more than a part of them in memory.
func Infer(inputs []Input, o Options) (s *Schema, err error) {
	const rows = 1 << 15
	done := int64(0)
	for t, err := range Batches(inputs, rows, o) {
		if err != nil {
			return nil, err
		}
		if s != nil {
			if path, ok := t.Schema.join(s, o.Missing); !ok {
				return nil, &Error{Code: MissingValue, Row: done, Path: path,
					Detail: "first found in one of the rows from here on, but missing from earlier records (another policy for missing values would fill them in)"}
			}
		}
		s = t.Schema
		done += int64(t.Column.Len)
	}
	if s == nil {
		s = &Schema{}
	}
	s.settle()
	return s, nil
}

// join makes optional in s what is optional in the schema of earlier records, or was not there yet.
// It returns the path of a field that must not be missing.
func (s *Schema) join(before *Schema, policy Missing) (path string, ok bool) {
	if s.Kind == Union && before.Kind != Union && before.Kind != Null {
		s.optional(before.Missing == MissingMasked || before.nulls && s.Kind != Null && policy == MissingMasked)
		s.nulls = s.nulls || before.nulls
		return s.Fields[0].Schema.join(before, policy)
	}
	s.optional(before.Missing == MissingMasked)
	if s.Elem != nil && before.Elem != nil {
		if path, ok = s.Elem.join(before.Elem, policy); !ok {
			return path, false
		}
	}
	for i, f := range s.Fields {
		switch {
		case i < len(before.Fields):
			path, ok = f.Schema.join(before.Fields[i].Schema, policy)
		case s.Kind == Struct && before.Kind == Struct:
			ok = f.Schema.refuse(&Options{Missing: policy}) == nil
			f.Schema.optional(policy == MissingMasked)
		default:
			ok = true
		}
		if !ok {
			if s.Kind == Struct && path == "" {
				return quoteName(f.Name), false
			} else if s.Kind == Struct {
				path = quoteName(f.Name) + "." + path
			}
			return path, false
		}
	}
	return "", true
}

// settle makes optional any schema for which only null was seen.
func (s *Schema) settle() {
	s.optional(s.Kind == Null && s.nulls)
	if s.Elem != nil {
		s.Elem.settle()
	}
	for _, f := range s.Fields {
		f.Schema.settle()
	}
}

// optional makes a schema without a policy for missing values optional, if yes is set.
func (s *Schema) optional(yes bool) {
	if yes && s.Missing == MissingInherit {
		s.Missing = MissingMasked
	}
}

// Empty returns a column of the schema without rows.
func (s *Schema) Empty() *Column { return newSink(s).column() }
