package tenon

import "strconv"

// Difference returns the place where two Specs differ and a description of the difference. The
// place is the first one that keeps the Specs from having a common Spec or, if they have one, the
// first that is not equal; it is a path of names and indices. Both results are "" for equal Specs.
func Difference(a, b Spec) (where, what string) {
	if a == nil || b == nil || Equal(a, b) {
		if a != b && (a == nil || b == nil) {
			return "", "one of them is missing"
		}
		return "", ""
	}
	d := &differ{matches: func(x, y Spec) bool { _, ok := Merge(x, y); return ok }, loose: true}
	if d.matches(a, b) {
		d.matches, d.loose = Equal, false
	}
	if d.specs(a, b, "") {
		return d.where, d.what
	}
	return "", String(a) + " and " + String(b)
}

// HiddenDifference describes the difference between two Specs that print alike, for a message that
// shows both. It returns "" if their texts already differ.
func HiddenDifference(a, b Spec) string {
	if String(a) != String(b) {
		return ""
	}
	where, what := Difference(a, b)
	if what == "" {
		return ""
	}
	if where != "" {
		where = " in " + where
	}
	return "; they differ" + where + ": " + what
}

// differ searches for a difference.
type differ struct {
	matches     func(a, b Spec) bool
	loose       bool // shapes may differ
	where, what string
}

func (d *differ) found(where, what string) bool {
	d.where, d.what = where, what
	return true
}

func (d *differ) specs(a, b Spec, path string) bool {
	if a == nil || b == nil {
		return (a == nil) != (b == nil) && d.found(path, "only one of them has it")
	}
	if d.matches(a, b) {
		return false
	}
	if a.TypeName() != b.TypeName() {
		return d.found(path, "one is "+String(a)+", a "+a.TypeName()+", the other "+String(b)+", a "+b.TypeName())
	}
	if x, y := String(a), String(b); IsLeaf(a) && x != y {
		return d.found(path, "one is "+x+", the other "+y)
	}
	if d.encodings(a.Encode(), b.Encode(), path, false) {
		return true
	}
	if x, y := String(a), String(b); x != y {
		return d.found(path, "one is "+x+", the other "+y)
	}
	return d.found(path, "one is "+Text(a)+", the other "+Text(b))
}

// encodings searches two encodings for a difference. If numbered is set, the indices of list
// elements become steps of the path; the list around all fields is not numbered.
func (d *differ) encodings(a, b Encoding, path string, numbered bool) bool {
	if a == nil || b == nil {
		return false
	}
	_, nilA := a.(Nil)
	_, nilB := b.(Nil)
	if nilA != nilB {
		if s, ok := a.(SpecOf); ok {
			return d.found(path, "one has "+String(s.Spec)+", the other nothing")
		}
		if s, ok := b.(SpecOf); ok {
			return d.found(path, "one has nothing, the other "+String(s.Spec))
		}
	}
	switch x := a.(type) {
	case SpecOf:
		if y, ok := b.(SpecOf); ok {
			return d.specs(x.Spec, y.Spec, path)
		}
	case Shape:
		if _, ok := b.(Shape); ok && d.loose {
			return false
		}
	case List:
		if y, ok := b.(List); ok {
			return d.elems(x, y, path, numbered)
		}
	case Tuple:
		if y, ok := b.(Tuple); ok {
			return d.elems(x, y, path, numbered)
		}
	case NamedTuple:
		if y, ok := b.(NamedTuple); ok && x.Name == y.Name {
			return d.entries(x.Fields, y.Fields, path)
		}
	case Dict:
		if y, ok := b.(Dict); ok {
			return d.entries(x, y, path)
		}
	}
	if EqualEncoding(a, b) {
		return false
	}
	return d.found(path, "one has "+EncodingText(a)+", the other "+EncodingText(b))
}

func (d *differ) elems(a, b []Encoding, path string, numbered bool) bool {
	if len(a) != len(b) {
		return d.found(path, "one has "+strconv.Itoa(len(a))+" elements, the other "+strconv.Itoa(len(b)))
	}
	for i := range a {
		step := path
		if numbered {
			step += "[" + strconv.Itoa(i) + "]"
		}
		if d.encodings(a[i], b[i], step, numbered) {
			return true
		}
	}
	return false
}

func (d *differ) entries(a, b []Entry, path string) bool {
	for i := range min(len(a), len(b)) {
		if a[i].Name != b[i].Name {
			return d.found(path, "one has "+strconv.Quote(a[i].Name)+", the other "+strconv.Quote(b[i].Name))
		}
		step := a[i].Name
		if path != "" {
			step = path + "." + step
		}
		if d.encodings(a[i].Value, b[i].Value, step, true) {
			return true
		}
	}
	if len(a) != len(b) {
		return d.found(path, "one has "+strconv.Itoa(len(a))+" entries, the other "+strconv.Itoa(len(b)))
	}
	return false
}
